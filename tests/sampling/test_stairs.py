"""Segments, a geometric variable and a uniform place make the discrete staircase."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodness import LEVEL, chi_square, kolmogorov_smirnov

# Draws are proved word by word: which bits become which value shows in no public answer.
from utmost.core.sampling.draw import Segments, StaircaseSampler
from utmost.core.sampling.geometric_draws import CONSTANT, TABLE
from utmost.exact import Interval, level
from utmost.noise import DiscreteStaircase
from utmost.testing import SeededRandomness

stairs = st.integers(1, 9).flatmap(lambda period: st.tuples(st.just(period), st.integers(1, period)))
ratios = st.fractions(Fraction(1, 99), Fraction(98, 99), max_denominator=99)


def real(value):
    return lambda bits: Interval.of(value, bits)


def weights(a, period, step):
    """The four segments' weights as THEORY writes them, over their sum."""
    found = [Fraction(step), a * (period - step), Fraction(step - 1), a * (period - step + 1)]
    return [weight / sum(found) for weight in found]


@given(ratios, stairs)
def test_the_identity_holds_exactly(a, stair):
    """sum over segments and places of w/length (1-a) a^k = p(x), for every x of four periods on both sides."""
    period, step = stair
    segments, law = Segments(real(a), period, step), DiscreteStaircase(alpha=a, sensitivity=period, step=step)
    found = dict.fromkeys(range(-4 * period, 4 * period), Fraction(0))
    for segment, weight in enumerate(weights(a, period, step)):
        for k in range(4):
            for place in range(segments.lengths[segment]):
                x = (segments.starts[segment] + place + k * period) ^ -(segment >> 1)
                found[x] += weight / segments.lengths[segment] * (1 - a) * a**k
    assert all(law.pmf(x) == mass for x, mass in found.items())


@given(ratios, stairs, st.sampled_from([64, 200]))
def test_segment_probabilities_are_the_weights(a, stair, bits):
    probabilities = Segments(real(a), *stair).probabilities()
    for probability, weight in zip(probabilities, weights(a, *stair), strict=True):
        assert probability(bits).contains(weight)
        assert probability(bits).width <= Fraction(16, 1 << bits) / a


CASES = [(1, 1), (2, 1), (5, 5), (5, 2), (1000, 269), (10**6, 268942), (10**9, 268941422), (10**15, 1), (2**61, 2**60)]


@pytest.mark.parametrize(("period", "step"), CASES)
@pytest.mark.parametrize("plan", [CONSTANT, TABLE], ids=["constant", "table"])
def test_arrays_fit_the_law(period, step, plan):
    count = 60_000 if period < 2**60 else 20_000
    draws = StaircaseSampler(level(1).alpha_interval, period, step, plan).draw(count, SeededRandomness(period))
    law = DiscreteStaircase(epsilon=1, sensitivity=period, step=step)
    if draws.dtype == object:
        draws, period_cdf = np.array([x // 64 for x in draws], np.int64), lambda x: law.cdf(np.asarray(x) * 64.0 + 63)
    else:
        period_cdf = law.cdf
    assert chi_square(draws, period_cdf) > LEVEL
    assert kolmogorov_smirnov(draws, period_cdf) > LEVEL


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "5", "50"])
@pytest.mark.parametrize("plan", [CONSTANT, TABLE], ids=["constant", "table"])
def test_arrays_fit_the_law_at_any_level(epsilon, plan):
    draws = StaircaseSampler(level(epsilon).alpha_interval, 7, 3, plan).draw(60_000, SeededRandomness(epsilon))
    law = DiscreteStaircase(epsilon=epsilon, sensitivity=7, step=3)
    assert chi_square(draws, law.cdf) > LEVEL


@pytest.mark.parametrize("period", [2**62, 2**63 - 1, 2**63, 2**64 + 1, 10**30])
def test_draws_beyond_int64_are_python_integers(period):
    many = StaircaseSampler(level(1).alpha_interval, period, period // 3, CONSTANT)
    draws = many.draw(3000, SeededRandomness(1))
    assert draws.dtype == object
    assert {type(x) for x in draws} == {int}
    assert max(abs(draws)) > 2 * period
    law = DiscreteStaircase(epsilon=1, sensitivity=10**6, step=333_333)
    scaled = np.array([x * 10**6 // period for x in draws], np.int64)
    assert kolmogorov_smirnov(scaled, law.cdf) > LEVEL


@pytest.mark.parametrize("period", [2**61 + 1, 2**62])
def test_a_batch_widens_as_soon_as_one_period_more_would_not_fit(period):
    """Drawn one by one, so that each number of periods decides alone whether int64 will do."""
    many, bits = StaircaseSampler(level(1).alpha_interval, period, period // 3, CONSTANT), SeededRandomness(7)
    draws = [many.draw(1, bits).tolist()[0] for _ in range(1000)]
    law = DiscreteStaircase(epsilon=1, sensitivity=10**6, step=333_333)
    assert kolmogorov_smirnov(np.array([x * 10**6 // period for x in draws]), law.cdf) > LEVEL
    assert max(draws) >= 2**63


@pytest.mark.parametrize("period", [2**60, 2**61 + 1, 2**62, 2**63 - 1])
@pytest.mark.parametrize("k", range(9))
def test_no_number_of_periods_wraps(k, period):
    """Periods and place are added up as they are, or, turned, one below their negative."""
    many, bits = StaircaseSampler(level(1).alpha_interval, period, period // 3, CONSTANT), SeededRandomness(k)
    for segment in range(4):
        many._marked = SimpleNamespace(draw=lambda *_, at=segment: (np.array([k], np.int8), np.array([at], np.int8)))
        (drawn,) = many.draw(1, bits).tolist()
        size = drawn if segment < 2 else -1 - drawn
        assert k * period <= size < (k + 1) * period


PLANTED = {
    "a step off by one": lambda s: (s.starts, (s.lengths[0] + 1, s.lengths[1] - 1, *s.lengths[2:])),
    "turned segments as long as plain ones": lambda s: (s.starts, (*s.lengths[:2], *s.lengths[:2])),
    "a turned segment that starts late": lambda s: ((*s.starts[:3], s.starts[3] + 1), s.lengths),
}


@pytest.mark.parametrize("fault", [None, *PLANTED])
@pytest.mark.parametrize("plan", [CONSTANT, TABLE], ids=["constant", "table"])
def test_a_wrong_step_or_segment_is_found(fault, plan, monkeypatch):
    """Planted faults fail the test that the true sampler passes."""
    law = DiscreteStaircase(epsilon=1, sensitivity=9, step=3)
    if fault is not None:
        true = Segments.__init__

        def planted(self, ratio, period, step):
            true(self, ratio, period, step)
            self.starts, self.lengths = PLANTED[fault](self)

        monkeypatch.setattr(Segments, "__init__", planted)
    draws = StaircaseSampler(law.level.alpha_interval, 9, 3, plan).draw(300_000, SeededRandomness(2))
    assert (chi_square(draws, law.cdf) > LEVEL) == (fault is None)


def test_wrong_weights_are_found(monkeypatch):
    """Planted: the four segments weighed by their lengths alone."""
    law = DiscreteStaircase(epsilon=1, sensitivity=9, step=3)

    def by_length(self):
        return tuple(real(Fraction(length, sum(self.lengths))) for length in self.lengths)

    monkeypatch.setattr(Segments, "probabilities", by_length)
    draws = StaircaseSampler(law.level.alpha_interval, 9, 3, TABLE).draw(300_000, SeededRandomness(2))
    assert chi_square(draws, law.cdf) < LEVEL
