"""Draws between levels have exactly the law of the transitions; planted faults are seen."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats

# Draws are proved word by word: which bits become which value shows in no public answer.
# A step between levels is drawn alone; a release draws it after others.
from utmost.core.sampling import level_draws
from utmost.core.sampling.level_draws import bridge_noise, sample_path, tightening_noise
from utmost.core.sampling.random_bits import SystemRandomness
from utmost.exact import level
from utmost.gradual import Bridge, Relaxing, Tightening, jump_count_pmf
from utmost.noise import Geometric
from utmost.sampling import sample
from utmost.testing import SeededRandomness

N = 30_000
# One test in a million fails by chance; with a fixed seed none does.
SIGNIFICANCE = 1e-6

TRIPLES = [
    (level(epsilon="1/2"), level(epsilon=1), level(alpha="1/10")),
    (level(alpha="9/10"), level(alpha="1/2"), level(alpha="1/4")),
    (level(alpha="1/2").scaled("1/2"), level(alpha="1/2").scaled("3/2"), level(epsilon=3)),
    (level(epsilon=2), level(epsilon="2.001"), level(epsilon=30)),
]


def fits(drawn, pmf, reach=40):
    """Whether draws have this law, by a chi-square test that pools what is rare."""
    k = np.arange(-reach, reach + 1)
    expected = np.asarray(pmf(k), float) * drawn.size
    observed = np.array([(drawn == i).sum() for i in k])
    often = expected >= 8
    e = np.append(expected[often], drawn.size - expected[often].sum())
    o = np.append(observed[often], drawn.size - observed[often].sum())
    if e[-1] < 8:
        e[-2], o[-2] = e[-2] + e[-1], o[-2] + o[-1]
        e, o = e[:-1], o[:-1]
    return e.size == 1 or stats.chisquare(o, e * (o.sum() / e.sum())).pvalue > SIGNIFICANCE


@pytest.mark.parametrize("method", ["constant", "table"])
@pytest.mark.parametrize("levels", TRIPLES, ids=str)
@pytest.mark.parametrize("w", [0, 1, -4])
def test_bridges_and_relaxations_have_their_law(method, levels, w):
    strict, at, loose = levels
    for transition in (Bridge(strict, at, loose), Bridge(strict, at, None)):
        randomness = SeededRandomness(f"{method} {levels} {w}")
        drawn = bridge_noise(transition, np.full(N, w), randomness=randomness, method=method)
        assert fits(drawn, lambda k, transition=transition: transition.pmf(k, w))


@pytest.mark.parametrize("method", ["constant", "table"])
@pytest.mark.parametrize("levels", TRIPLES, ids=str)
def test_tightenings_have_their_law(method, levels):
    strict, _, loose = levels
    for transition in (Tightening(strict, loose), Tightening(strict, None)):
        drawn = tightening_noise(transition, N, randomness=SeededRandomness(f"{method} {levels}"), method=method)
        assert fits(drawn, transition.pmf)


@pytest.mark.parametrize("levels", TRIPLES, ids=str)
def test_relaxed_noise_has_the_law_of_its_level(levels):
    """Draw at the strict level, relax to the loose one, bridge to the one between: each margin is geometric."""
    strict, at, loose = levels
    randomness = SeededRandomness(f"chain {levels}")
    x = sample(Geometric(strict), N, randomness=randomness)
    y = bridge_noise(Bridge(strict, loose, None), x, randomness=randomness, method=None)
    k = bridge_noise(Bridge(strict, at, loose), x - y, randomness=randomness, method=None)
    assert fits(y, Geometric(loose).pmf)
    assert fits(y + k, Geometric(at).pmf)
    assert fits(x - y, Tightening(strict, loose).pmf)
    assert fits(x - y - k, Tightening(strict, at).pmf)
    assert fits(k, Tightening(at, loose).pmf)


FRESH = "fresh noise on relax"
FAULTS = {
    FRESH: lambda a, b, x, r: sample(Geometric(b), x.size, randomness=r),
    "levels mixed up": lambda a, b, x, r: bridge_noise(Bridge(a, b.scaled(2), None), x, randomness=r, method=None),
    "the bridge ignored": lambda a, b, x, r: (
        x + tightening_noise(Tightening(b, None), x.size, randomness=r, method=None)
    ),
    "never moved": lambda a, b, x, r: x,
}


def same_joint_law(drawn, x, strict, loose):
    """A test on pairs: given each of some x, the response follows the relaxing law."""
    transition = Relaxing(strict, loose)
    return all(
        fits(drawn[x == given], partial(lambda k, g: transition.pmf(k, g), g=given)) for given in (-3, -1, 0, 1, 2)
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_seen(fault):
    """The test on pairs passes the true transition and fails each planted fault."""
    strict, loose = level(epsilon="1/2"), level(epsilon=1)
    randomness = SeededRandomness(fault)
    x = sample(Geometric(strict), N, randomness=randomness)
    true = bridge_noise(Bridge(strict, loose, None), x, randomness=randomness, method=None)
    assert same_joint_law(true, x, strict, loose)
    faulty = FAULTS[fault](strict, loose, x, randomness)
    assert not same_joint_law(faulty, x, strict, loose)
    if fault == FRESH:
        assert fits(faulty, Geometric(loose).pmf), "the margin alone does not show it"


def test_a_wrong_weight_is_seen():
    """The stay probability w of the reals, (e1/e2)^2, is not that of the integers."""
    strict, loose = level(epsilon=1), level(epsilon=2)
    W = Tightening(strict, loose)
    drawn = tightening_noise(W, N, randomness=SeededRandomness("weight"), method=None)
    a = strict.alpha
    wrong = lambda k: 0.25 * (k == 0) + 0.75 * (1 - a) / (1 + a) * a ** np.abs(k)  # noqa: E731
    assert fits(drawn, W.pmf)
    assert not fits(drawn, wrong)


def test_far_and_wide():
    """Noise beyond int64, at both ends of the levels, and empty arrays."""
    strict = level(epsilon=1).scaled(Fraction(1, 10**25))
    transition = Bridge(strict, strict.scaled(2), None)
    given = np.array([10**25, -(10**25), 3 * 10**25, 0, 1], dtype=object)
    drawn = bridge_noise(transition, given, randomness=SeededRandomness("far"), method="constant")
    assert drawn.dtype == object
    assert max(abs(int(k)) for k in drawn) < 10**27
    tight = tightening_noise(
        Tightening(strict, strict.scaled(2)), 50, randomness=SeededRandomness("far"), method="constant"
    )
    assert any(abs(int(k)) > 10**20 for k in tight)
    edge = np.array([2**63 - 1, -(2**63) + 1])
    near = bridge_noise(
        Bridge(level(epsilon="1e-3"), level(epsilon="2e-3"), None),
        edge,
        randomness=SeededRandomness("edge"),
        method=None,
    )
    assert (np.abs(near.astype(object)) < 10**6).all(), "what is so far out comes home"
    sharp = Bridge(level(epsilon=1), level(epsilon=50), level(epsilon=51))
    assert (bridge_noise(sharp, np.full(1000, 2), randomness=SeededRandomness("sharp"), method=None) == 0).all()
    assert bridge_noise(transition, np.array([], np.int64), randomness=SeededRandomness(0), method=None).shape == (0,)
    assert tightening_noise(Tightening(strict, None), 0, randomness=SeededRandomness(0), method=None).shape == (0,)


@pytest.mark.parametrize("levels", TRIPLES[:3], ids=str)
def test_paths_have_the_joint_law(levels):
    """V at each level of a drawn path is geometric, its moves are tightenings, its jumps Poisson in number."""
    randomness = SeededRandomness(f"path {levels}")
    paths = [sample_path(levels[0], randomness=randomness) for _ in range(1500)]
    noise = np.array([[path.at(one) for one in levels] for path in paths])
    for i, one in enumerate(levels):
        assert fits(noise[:, i], Geometric(one).pmf)
    for i, k in ((0, 1), (0, 2), (1, 2)):
        assert fits(noise[:, i] - noise[:, k], Tightening(levels[i], levels[k]).pmf)
    jumps = np.array([len(path.jumps) for path in paths])
    assert fits(jumps, lambda n: jump_count_pmf(n, levels[0]))


@pytest.mark.parametrize("x", [0, 2, -5])
def test_paths_from_a_given_noise_are_relaxations(x):
    strict, loose, _ = TRIPLES[0]
    randomness = SeededRandomness(f"given {x}")
    paths = [sample_path(strict, noise=x, randomness=randomness) for _ in range(4000)]
    assert {path.at(strict) for path in paths} == {x}
    assert fits(np.array([path.at(loose) for path in paths]), lambda k: Relaxing(strict, loose).pmf(k, x))


def test_a_path_at_a_tiny_level():
    path = sample_path(level(epsilon="1e-12"), randomness=SeededRandomness("tiny"))
    assert path.at(level(epsilon=40)) in (-1, 0, 1)
    assert abs(path.at(level(epsilon="1e-12"))) < 10**14
    assert 10 < len(path.jumps) < 200


def test_levels_so_loose_that_everything_is_certain():
    """Probabilities such as e^-700 and 1 - e^-700 are drawn without fuss."""
    strict, at, loose = level(epsilon=600), level(epsilon=700), level(epsilon=800)
    for transition in (Bridge(strict, at, loose), Bridge(strict, at, None)):
        for method in ("constant", "table"):
            drawn = bridge_noise(transition, np.arange(-3, 4), randomness=SeededRandomness("certain"), method=method)
            assert (drawn == 0).all()
    for transition in (Tightening(strict, loose), Tightening(loose, loose), Tightening(strict, None)):
        drawn = tightening_noise(transition, 100, randomness=SeededRandomness("certain"), method=None)
        assert (drawn == 0).all()


@pytest.mark.parametrize("kind", [np.int64, object])
def test_marks_turn_machine_integers_and_larger_ones_alike(kind):
    """Mark 0 leaves k, 1 makes it -1 - k, and 2 and 3 make it 0: G and -1 - G are the two sides of the law."""

    class Marked:
        def draw(self, count, randomness):
            return np.array([0, 3, 0, 3, 3, 3]).astype(kind), np.array([0, 0, 1, 1, 2, 3], np.uint8)

    sampler = object.__new__(level_draws._ManyTightening)
    sampler._marked = Marked()
    assert sampler.draw(6, SystemRandomness()).tolist() == [0, 3, -1, -4, 0, 0]


def test_the_least_int64_is_bridged_as_pythons_integer_is():
    """Its absolute value is none of int64."""
    transition, apart = Bridge(level("1/2"), level(1), None), [-(1 << 63), 5, (1 << 63) - 1]
    drawn = [
        bridge_noise(transition, np.array(apart, kind), randomness=SeededRandomness(7), method=None).tolist()
        for kind in (np.int64, object)
    ]
    assert drawn[0] == drawn[1]
