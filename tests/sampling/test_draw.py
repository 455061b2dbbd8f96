"""One function for exact draws: the right distribution, shape, type and method, for one draw or many."""

import threading
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from goodness import LEVEL, Written, chi_square, kolmogorov_smirnov
from noise.test_general_ways import TwoFormulas

# The segments of a staircase are compared with its distribution exactly, and how many draws are made ahead shows in no
# answer.
from utmost.core.sampling import draw
from utmost.errors import OutOfRange, Unsupported
from utmost.exact import Interval
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase
from utmost.sampling import sample
from utmost.testing import SeededRandomness

INTEGER_DISTRIBUTIONS = [
    TwoFormulas(DiscreteStaircase(1, 5, step=2)),
    Geometric(epsilon=1),
    Geometric(alpha="1/2"),
    Geometric(alpha="99/100"),
    Geometric(epsilon="1e-15"),
    Geometric(epsilon="1e-6", sensitivity=10**9),
    Geometric(epsilon=4),
    Geometric(epsilon=50),
    DiscreteStaircase(epsilon=1, sensitivity=5),
    DiscreteStaircase(epsilon=2, sensitivity=1),
    DiscreteStaircase(epsilon=1, sensitivity=10**9),
    DiscreteStaircase.half_step(epsilon="1/2", sensitivity=7),
    *(DiscreteStaircase(epsilon=epsilon, sensitivity=7, step=3) for epsilon in ("1e-6", "0.1", 5, 50)),
    *(DiscreteStaircase(1, period, step=step) for period, step in ((2, 1), (5, 5), (1000, 269), (10**15, 1))),
]
REAL_DISTRIBUTIONS = [
    Laplace(epsilon=1, sensitivity=2.5),
    Laplace(epsilon=1, sensitivity="0.1"),
    Laplace(epsilon="1e-6", sensitivity="1e9"),
    Staircase(epsilon=1, sensitivity=2.5),
    Staircase(epsilon=8, sensitivity="1/3"),
]


@pytest.mark.parametrize("distribution", INTEGER_DISTRIBUTIONS, ids=repr)
@pytest.mark.parametrize("method", ["constant", "table"])
def test_integer_draws_fit_the_distribution(distribution, method):
    draws = sample(distribution, 20_000, randomness=SeededRandomness(1), method=method)
    assert draws.dtype == np.int64
    assert chi_square(draws, distribution.cdf) > LEVEL
    assert kolmogorov_smirnov(draws, distribution.cdf) > LEVEL


def test_both_ends_of_the_words_are_ordinary_draws():
    """All zeros draw 0; nothing loops, whatever the level."""
    for epsilon in ("1e-15", "1e-6", "0.03", 1, 4, 50):
        assert sample(Geometric(epsilon), 4, randomness=Written(), method="constant").tolist() == [0] * 4


@given(st.fractions(Fraction(1, 99), Fraction(98, 99), max_denominator=99), st.integers(1, 9), st.data())
def test_segments_a_geometric_variable_and_a_place_make_the_staircase(a, period, data):
    """sum over segments and places of w/length (1-a) a^k = p(x), for every x of four periods on both sides."""
    step = data.draw(st.integers(1, period))
    segments = draw.Segments(lambda bits: Interval.of(a, bits), period, step)
    distribution, found = DiscreteStaircase(alpha=a, sensitivity=period, step=step), Counter()
    weights = [Fraction(step), a * (period - step), Fraction(step - 1), a * (period - step + 1)]
    for segment, probability in enumerate(segments.probabilities()):
        weight = weights[segment] / sum(weights)
        for bits in (64, 200):
            assert probability(bits).contains(weight)
            assert probability(bits).width <= Fraction(16, 1 << bits) / a
        for k, place in product(range(4), range(segments.lengths[segment])):
            x = (segments.starts[segment] + place + k * period) ^ -(segment >> 1)
            found[x] += weight / segments.lengths[segment] * (1 - a) * a**k
    assert all(distribution.pmf(x) == found[x] for x in range(-4 * period, 4 * period))


@pytest.mark.parametrize("epsilon", ["1", "1/10"])
@pytest.mark.parametrize("period", [2**60, 2**61 + 1, 2**62, 2**63 - 1, 2**64 + 1, 10**30])
def test_no_number_of_periods_wraps(period, epsilon):
    """Drawn one by one and together: each array is of int64 exactly where that holds it."""
    distribution, bits = DiscreteStaircase(epsilon, period, step=period // 3), SeededRandomness(f"{period} {epsilon}")
    alone = [sample(distribution, 1, randomness=bits, method="constant") for _ in range(400)]
    assert all((one.dtype == np.int64) == (-(2**63) <= one[0] < 2**63) for one in alone)
    together = sample(distribution, 3000, randomness=bits, method="constant")
    small = DiscreteStaircase(epsilon, 10**6, step=333_333)
    for draws in ([int(one[0]) for one in alone], together.tolist()):
        assert max(map(abs, draws)) > 2 * period
        assert kolmogorov_smirnov(np.array([x * 10**6 // period for x in draws], np.int64), small.cdf) > LEVEL


@pytest.mark.parametrize("distribution", REAL_DISTRIBUTIONS, ids=repr)
def test_real_draws_are_grid_points_and_fit_the_distribution(distribution):
    """Against the distribution on the reals as well: the grid is far finer than what so many draws can see."""
    draws = sample(distribution, 30_000, randomness=SeededRandomness(2))
    lattice, exponent = draw.on_grid(distribution)
    points = np.ldexp(draws, exponent)
    assert draws.dtype == np.float64
    assert (points == np.floor(points)).all()
    assert chi_square(points.astype(np.int64), lattice.cdf) > LEVEL
    empirical = np.arange(1, draws.size + 1) / draws.size
    assert np.abs(np.sort(empirical) - distribution.cdf(np.sort(draws))).max() < 3 / np.sqrt(draws.size)


@pytest.mark.parametrize("distribution", [*INTEGER_DISTRIBUTIONS, *REAL_DISTRIBUTIONS], ids=repr)
def test_single_draws_are_plain_numbers_with_the_same_distribution(distribution):
    bits = SeededRandomness(3)
    single = [sample(distribution, randomness=bits) for _ in range(3_000)]
    lattice, exponent = draw.on_grid(distribution)
    assert {type(x) for x in single} == {int if exponent is None else float}
    points = single if exponent is None else [int(x * 2**exponent) for x in single]
    assert chi_square(np.array(points), lattice.cdf) > LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("distribution", INTEGER_DISTRIBUTIONS, ids=repr)
@pytest.mark.parametrize("method", ["constant", "table"])
def test_ten_million_draws_from_the_operating_system_fit_the_distribution(distribution, method):
    draws = sample(distribution, 10**7, method=method)
    assert chi_square(draws, distribution.cdf) > 1e-9
    assert kolmogorov_smirnov(draws, distribution.cdf) > 1e-9


@pytest.mark.slow
def test_a_million_single_draws_fit_the_distribution():
    for distribution in INTEGER_DISTRIBUTIONS[:1] + INTEGER_DISTRIBUTIONS[4:5]:
        assert chi_square(np.array([sample(distribution) for _ in range(10**6)]), distribution.cdf) > 1e-9


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        (0, (0,)),
        (3, (3,)),
        ((2, 3), (2, 3)),
        ((0, 4), (0, 4)),
        (np.int64(2), (2,)),
        ((1,), (1,)),
        ((2, np.int8(1)), (2, 1)),
    ],
)
def test_shapes(shape, found):
    for distribution, kind in ((Geometric(epsilon=1), np.int64), (Laplace(epsilon=1), np.float64)):
        noise = sample(distribution, shape)
        assert noise.shape == found
        assert noise.dtype == kind


@pytest.mark.parametrize("shape", [None, ()])
def test_no_shape_is_a_single_draw(shape):
    assert type(sample(Geometric(epsilon=1), shape)) is int
    assert type(sample(Staircase(epsilon=1), shape)) is float


@pytest.mark.parametrize("shape", [-1, (2, -1), 2.0, "3", (2, None), True, [2], (1.5,)])
def test_bad_shapes_are_refused(shape):
    with pytest.raises(OutOfRange, match="shape"):
        sample(Geometric(epsilon=1), shape)


@pytest.mark.parametrize("shape", [(), 3])
def test_bad_methods_are_refused(shape):
    with pytest.raises(OutOfRange, match=r'method.*"constant" or "table"'):
        sample(Geometric(epsilon=1), shape, method="fast")
    assert np.shape(sample(Geometric(epsilon=1), shape, method="table")) == np.shape(np.zeros(shape))


@pytest.mark.parametrize("shape", [(), 3])
@pytest.mark.parametrize("distribution", [None, "geometric", object(), 1, [], {}])
def test_what_has_no_sampler_is_refused(distribution, shape):
    with pytest.raises(Unsupported, match="exact draws need"):
        sample(distribution, shape)


@pytest.mark.parametrize("shape", [(), 3])
def test_what_is_no_source_is_refused(shape):
    with pytest.raises(Unsupported, match="source of random words"):
        sample(Geometric(epsilon=1), shape, randomness=1)


def test_a_million_draws_are_constant_time_by_default_and_more_go_by_table():
    assert draw.plan_for(None, 1_000_000) is draw.CONSTANT
    assert draw.plan_for(None, 1_000_001) is draw.TABLE


def test_noise_that_does_not_fit_int64_comes_as_python_integers():
    """Exactly then: the same distribution gives int64 when the draws happen to fit."""
    distribution = Geometric(epsilon=1, sensitivity=10**19)
    draws = sample(distribution, 1000, randomness=SeededRandomness(1))
    assert draws.dtype == object
    assert {type(x) for x in draws} == {int}
    assert max(abs(draws)) > 2**63
    small = [sample(distribution, 1, randomness=SeededRandomness(seed)) for seed in range(20)]
    assert {x.dtype for x in small} == {np.dtype(object), np.dtype(np.int64)}
    assert all((x.dtype == np.int64) == (-(2**63) <= x[0] < 2**63) for x in small)
    distribution = Geometric(epsilon=1, sensitivity=10**9)
    scaled = np.array([x // 10**10 for x in draws], np.int64)
    assert kolmogorov_smirnov(scaled, lambda x: distribution.cdf(x)) > LEVEL


def test_real_noise_beyond_int64_steps_is_still_drawn():
    draws = sample(Laplace(epsilon=100), 200, randomness=SeededRandomness(1))
    assert np.abs(draws).max() < 1
    assert 0.003 < np.abs(draws).mean() < 0.03


def test_draws_by_chunks_are_one_array(monkeypatch):
    distribution = DiscreteStaircase(epsilon=1, sensitivity=5)
    monkeypatch.setattr(draw, "CHUNK", 1000)
    draws = sample(distribution, (7, 1501), randomness=SeededRandomness(8))
    assert chi_square(draws.ravel(), distribution.cdf) > LEVEL
    parts = list(draw.draws(distribution, 2500, randomness=SeededRandomness(8), method=None))
    assert [part.size for part in parts] == [1000, 1000, 500]


def test_equal_seeds_give_equal_draws_and_the_system_does_not():
    distribution = DiscreteStaircase(epsilon="1e-3", sensitivity=100)
    first, again = (sample(distribution, 50, randomness=SeededRandomness(1)) for _ in range(2))
    assert (first == again).all()
    assert (sample(distribution, 50) != sample(distribution, 50)).any()


def test_draws_are_kept_by_distribution_and_never_mixed_up():
    """Many short-lived distributions, so that identities are given out again: each draw is of its own distribution.

    Single draws and arrays alike; so many distributions are kept at most, equal ones once.
    """
    bits = SeededRandomness(4)
    for round_ in range(100):
        wide, narrow = Geometric(epsilon=Fraction(1, 10**9 + round_ // 30)), Geometric(epsilon=60 + round_ // 30)
        assert abs(sample(narrow, randomness=bits)) < 5
        assert abs(sample(wide, randomness=bits)) > 1000
        assert np.abs(sample(narrow, 3, randomness=bits)).max() < 5
        assert np.abs(sample(wide, 3, randomness=bits)).max() > 1000
        del wide, narrow
    assert len(bits.ahead) <= draw._KEPT + 2
    assert len(draw._samplers) <= draw._KEPT


def test_single_draws_come_from_what_arrays_draw_and_each_is_used_once():
    """The first thousand single draws are one array, from its end; the next ones are the next array."""
    distribution, bits, again = Geometric(epsilon="1e-9"), SeededRandomness(5), SeededRandomness(5)
    first, second = (sample(distribution, draw._AHEAD, randomness=again).tolist() for _ in range(2))
    assert [sample(distribution, randomness=bits) for _ in range(2 * draw._AHEAD)] == first[::-1] + second[::-1]
    equal, other = Geometric(epsilon="1e-9"), Geometric(epsilon="1e-9", sensitivity=2)
    sample(distribution, randomness=bits)
    profiles = len(bits.ahead)
    sample(equal, randomness=bits)
    assert len(bits.ahead) == profiles + 1  # another identity, the same draws made ahead
    sample(other, randomness=bits)
    assert len(bits.ahead) == profiles + 3


def test_small_arrays_take_what_waits_for_single_draws_and_each_is_used_once(monkeypatch):
    bits, again = SeededRandomness(5), SeededRandomness(5)
    monkeypatch.setattr(draw, "SYSTEM", bits)
    distribution = Geometric(epsilon="1e-9")
    streams = {noise for _ in range(5) for noise in sample(distribution, draw._AHEAD, randomness=again).tolist()}
    drawn = [
        noise
        for count in (1, 7, 100, 128, 3) * 15
        for noise in [*sample(distribution, count).tolist(), sample(distribution)]
    ]
    assert len(set(drawn)) == len(drawn) == 15 * (239 + 5)
    assert set(drawn) < streams


@pytest.mark.parametrize("distribution", [Geometric(epsilon=1), Laplace(epsilon=1), DiscreteStaircase(2, 7)], ids=repr)
def test_small_arrays_have_the_distribution(distribution, monkeypatch):
    monkeypatch.setattr(draw, "SYSTEM", SeededRandomness(6))
    noise = np.concatenate([sample(distribution, (5, 20)).ravel() for _ in range(200)])
    lattice, exponent = draw.on_grid(distribution)
    points = noise if exponent is None else (noise * 2.0**exponent).astype(np.int64)
    assert chi_square(points, lattice.cdf) > LEVEL


def test_small_arrays_beyond_64_bits_are_of_integers(monkeypatch):
    monkeypatch.setattr(draw, "SYSTEM", SeededRandomness(7))
    wide = sample(Geometric(epsilon=Fraction(1, 10**30)), 9)
    assert wide.dtype == object
    assert {type(noise) for noise in wide.tolist()} == {int}


def test_threads_draw_different_noise():
    distribution, found = Geometric(epsilon=Fraction(1, 10**15)), []

    def many():
        found.extend(sample(distribution) for _ in range(100))
        found.extend(sample(distribution, 100).tolist())

    threads = [threading.Thread(target=many) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1200
    assert len(set(found)) > 1195


def timed(draws, rounds):
    """Noise and time of single releases, by the clock of the process."""
    from time import perf_counter_ns

    noise, times = np.empty(rounds), np.empty(rounds)
    for i in range(rounds):
        start = perf_counter_ns()
        x = draws()
        times[i] = perf_counter_ns() - start
        noise[i] = abs(x)
    return noise, times


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.01", "1"])
def test_time_does_not_tell_the_noise(epsilon):
    """|Spearman(|noise|, time)| <= 0.05, for single draws and for arrays of one; a rejection sampler is found out."""
    distribution = Geometric(epsilon=epsilon)
    for draws in (lambda: sample(distribution), lambda: sample(distribution, 1, method="constant")[0]):
        timed(draws, 2000)
        assert abs(spearmanr(*timed(draws, 20_000)).statistic) <= 0.05

    def by_trials():
        word, x = draw.SYSTEM.word, 0
        while word() > int(2**64 * np.exp(-float(epsilon))):
            x += 0
        while word() < int(2**64 * np.exp(-float(epsilon))):
            x += 1
        return x

    assert abs(spearmanr(*timed(by_trials, 20_000)).statistic) > 0.05
