"""Checks of a gradual release that the faults of `test_planted_faults` must not pass; each says whether all is well."""

import os
from fractions import Fraction

import numpy as np
from scipy import stats

from auditing import epsilon_refuted
from goodness import Written, chi_square

# Faults are planted in the code itself.
# Draws are compared with the streams that they are made of.
from utmost.core.sampling import geometric_draws
from utmost.core.sampling.random_bits import SystemRandomness
from utmost.errors import PromiseBroken, Unsupported
from utmost.exact import level
from utmost.gradual import Relaxing, Tightening, joint_pmf
from utmost.noise import DiscreteStaircase, Geometric
from utmost.publish.promises import level_steps
from utmost.releases import GradualRelease
from utmost.testing import SeededRandomness, seeded_gradual_release

LEVELS = [level(epsilon="1/2"), level(epsilon=1), level(epsilon=2)]
N = 30_000
DOUBT = 1e-9


def noise_in(order, sensitivity=1, **options):
    """Noise of many cells at each of `LEVELS`, asked for in this order."""
    values = np.arange(N)
    answer = seeded_gradual_release(values, sensitivity, seed=f"{order} {sensitivity}", **options)
    asked = {i: answer.at(LEVELS[i]) - values for i in order}
    return np.array([asked[i] for i in range(3)])


def margins():
    """At each level the noise has the law of that level, for the sensitivity given."""
    return all(
        chi_square(noise, Geometric(one, sensitivity).cdf) > DOUBT
        for sensitivity in (1, 3)
        for one, noise in zip(LEVELS, noise_in((0, 2, 1), sensitivity), strict=True)
    )


def joint_law():
    """Triples of noise have the joint law, whatever the order of requests."""
    axis = np.arange(-2, 3)
    expected = joint_pmf(np.meshgrid(axis, axis, axis, indexing="ij"), LEVELS).ravel() * N
    for order in ((0, 1, 2), (2, 1, 0), (0, 2, 1)):
        noise = noise_in(order)
        near = (np.abs(noise) <= 2).all(axis=0)
        index = np.ravel_multi_index(tuple(noise[:, near] + 2), (5, 5, 5))
        seen = np.bincount(index, minlength=125)
        often = expected >= 8
        e, o = np.append(expected[often], N - expected[often].sum()), np.append(seen[often], N - seen[often].sum())
        if stats.chisquare(o, e).pvalue < DOUBT:
            return False
    return True


def audit():
    """An audit refutes no more than the largest level."""

    def responses(value):
        answer = seeded_gradual_release(np.full(N, value), 1, seed=f"audit {value}")
        return np.column_stack([answer.at(one) for one in LEVELS])

    here, there = responses(0), responses(1)
    return max(epsilon_refuted(here, there), epsilon_refuted(1 - there, 1 - here)) <= 2


def kernels():
    """V_higher + W has the law of V_lower, and the relaxing law is Bayes' rule on that sum: in rationals."""
    lower, higher = level(alpha="1/2"), level(alpha="1/3")
    W, R, near = Tightening(lower, higher), Relaxing(lower, higher), range(-2, 3)
    at_lower, at_higher = Geometric(lower), Geometric(higher)
    return all(R.pmf(y, x) * at_lower.pmf(x) == W.pmf(x - y) * at_higher.pmf(y) for x in near for y in near) and sum(
        W.pmf(k) for k in range(-40, 41)
    ) > 1 - Fraction(1, 10**11)


def half_step():
    """Half-step noise has the law of the staircase, on every residue of its block."""
    answer = seeded_gradual_release(np.zeros(N, int), 5, seed="half", half_step=True)
    return chi_square(answer.at(epsilon=1), DiscreteStaircase.half_step(1, 5).cdf) > DOUBT


def same_answer_again():
    answer = seeded_gradual_release(np.arange(1000), 1, seed="again")
    first = answer.at(epsilon="1/2")
    answer.at(epsilon=1)
    return (answer.at(epsilon="1/2") == first).all()


def seeded_sources_refused():
    try:
        GradualRelease([1], sensitivity=1, randomness=SeededRandomness(1))
        level_steps.tighten(1, 2, 1, randomness=SeededRandomness(1))
    except PromiseBroken:
        return True
    return False


def seeds_and_clocks_refused():
    try:
        GradualRelease([1], sensitivity=1, randomness=np.random.default_rng(1))
    except Unsupported:
        return True
    return False


def no_tail_is_cut():
    """Bits that name the last cell of the table again and again lead as far out as they go on."""
    sampler = geometric_draws.MarkedGeometricSampler(
        level(epsilon=1).alpha_interval, [_certain], geometric_draws.CONSTANT
    )
    drawn, _ = sampler.draw(1, Written(arrays=[[2**32 - 1], [2**64 - 1]] * 3))
    return int(drawn[0]) >= 3 * sampler._values << sampler._shift


def _certain(bits):
    return level(epsilon=1).alpha_interval(bits) * 0 + 1


def reals_are_on_the_grid():
    """Every real response is a multiple of the declared width, whatever the value."""
    answer = seeded_gradual_release(np.full(N, 1 / 3), 1, seed="grid", numbers="reals", grid="1/1024")
    return all((np.mod(answer.at(one), 1 / 1024) == 0).all() for one in LEVELS)


def nothing_wraps():
    """At the ends of int64 responses go on as Python's integers."""
    values = [2**63 - 1, -(2**63)] * 8
    answer = seeded_gradual_release(np.array(values), 1, seed="ends").at(epsilon="1/1000000")
    return all(abs(int(given) - value) < 10**9 for given, value in zip(answer, values, strict=True))


def children_draw_their_own():
    """Two children of a fork, and their parent, draw different words."""
    randomness = SystemRandomness()
    randomness.word()
    found = []
    for _ in range(2):
        receive, send = os.pipe()
        if os.fork() == 0:
            try:
                os.write(send, np.array([randomness.word() for _ in range(8)], np.uint64).tobytes())
            finally:
                os._exit(0)
        found.extend(np.frombuffer(os.read(receive, 64), np.uint64).tolist())
        os.wait()
        os.close(receive), os.close(send)
    found.extend(randomness.word() for _ in range(8))
    return len(set(found)) == 24


def children_answer_nothing_new():
    """A child of a fork refuses a level that its parent has not answered: it would answer differently."""
    answer = GradualRelease(np.arange(10), sensitivity=1)
    answer.at(epsilon=1)
    receive, send = os.pipe()
    if os.fork() == 0:
        verdict = b"drew"
        try:
            answer.at(epsilon=2)
        except Unsupported:
            verdict = b"no"
        finally:
            os.write(send, verdict)
            os._exit(0)
    verdict = os.read(receive, 8)
    os.wait()
    os.close(receive), os.close(send)
    return verdict == b"no"


CHECKS = {
    check.__name__: check
    for check in (
        margins,
        joint_law,
        audit,
        kernels,
        half_step,
        same_answer_again,
        seeded_sources_refused,
        seeds_and_clocks_refused,
        no_tail_is_cut,
        reals_are_on_the_grid,
        nothing_wraps,
        children_draw_their_own,
        children_answer_nothing_new,
    )
}
