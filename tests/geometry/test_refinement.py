"""Refinement: exactly one of the two proofs exists, it proves the verdict, and outside judges agree."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import losses, priors
from utmost.channels import Channel, geometric_channel, randomized_response
from utmost.errors import Infeasible, NotAChannel, NotANumber, OutOfRange, SolverFailed
from utmost.geometry import prefers, refines
from utmost.programs import LinearProgram, solve_exactly
from utmost.spaces import Consumer
from utmost.testing import strategies

shapes = st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5))


@given(shapes.flatmap(lambda shape: strategies.refined_pairs(*shape)))
def test_a_post_processed_channel_is_a_refinement(pair):
    """B @ P is a refinement of B, and the remap that is found proves it; nobody prefers it."""
    B, A = pair
    P = refines(better=B, worse=A).remap
    assert (P.matrix >= 0).all()
    assert (B @ P).same_as(A)
    assert refines(better=B, worse=A).consumer is None


@given(
    shapes.flatmap(lambda shape: st.tuples(strategies.channels(*shape[:2]), strategies.channels(shape[0], shape[2])))
)
def test_exactly_one_witness_exists(pair):
    """Either A = B @ P, or some consumer loses strictly less with A: the theorem of Coriaceous."""
    B, A = pair
    verdict = refines(better=B, worse=A)
    assert verdict.verify()
    assert (verdict.remap is None) != (verdict.consumer is None)
    assert verdict.remap is not None or loss_of(A, verdict.consumer) < loss_of(B, verdict.consumer)


def loss_of(channel, consumer):
    joint = consumer.prior[:, None] * consumer.loss
    return sum(min(column @ joint) for column in channel.matrix.T)


def halves(outcomes):
    return [[Fraction(v, 2) for v in row] for row in itertools.product(range(3), repeat=outcomes) if sum(row) == 2]


@pytest.mark.parametrize(("n", "m", "k"), [(2, 2, 2), (3, 2, 2), (2, 3, 2), (2, 2, 3)])
def test_all_small_pairs_against_a_simplex_method_in_whole_numbers(n, m, k):
    """Every pair of channels whose entries are 0, 1/2 and 1 (one in seven of them for larger shapes)."""
    left = [np.array(rows) for rows in itertools.product(halves(m), repeat=n)]
    right = [np.array(rows) for rows in itertools.product(halves(k), repeat=n)]
    for B, A in list(itertools.product(left, right))[:: 1 if len(left) * len(right) < 100 else 7]:
        verdict = refines(better=B, worse=A)
        assert verdict.verify()
        assert bool(verdict) == has_remap(B, A)


def has_remap(B, A):
    """Whether {P >= 0: B P = A, P 1 = 1} has a point, by the simplex method on the whole system."""
    (n, m), k = B.shape, A.shape[1]
    entries = [(x * k + w, y * k + w, B[x, y]) for x in range(n) for w in range(k) for y in range(m)]
    entries += [(n * k + y, y * k + w, Fraction(1)) for y in range(m) for w in range(k)]
    right = np.array([*A.ravel(), *[Fraction(1)] * m], dtype=object)
    rows, columns, values = map(list, zip(*entries, strict=True))
    try:
        solve_exactly(LinearProgram.of_triplets([Fraction(0)] * (m * k), rows, columns, values, right, right))
    except Infeasible:
        return False
    return True


def random_channel(rng, n, m, size=30, least=0):
    weights = rng.integers(least, size, (n, m))
    weights[:, 0] += 1
    return Channel([[Fraction(int(w), int(row.sum())) for w in row] for row in weights])


@pytest.mark.parametrize(("n", "m", "k"), [(12, 12, 12), (20, 12, 9), (12, 25, 8), (8, 20, 30)])
@pytest.mark.parametrize("is_below", [True, False])
def test_larger_pairs(n, m, k, is_below):
    """Square, tall and wide B; the wide ones are corrected from an interior remap."""
    rng = np.random.default_rng(n * m + k)
    B = random_channel(rng, n, m)
    A = B @ random_channel(rng, m, k, least=1) if is_below else random_channel(rng, n, k)
    verdict = refines(better=B, worse=A)
    assert bool(verdict) == is_below
    assert verdict.verify()


def test_a_coarsening_of_many_outcomes_is_found():
    """Where each outcome becomes one other the remap has no interior: it is recognised by its small denominators."""
    rng = np.random.default_rng(5)
    B = random_channel(rng, 12, 24)
    P = Channel(np.eye(6, dtype=int)[rng.integers(0, 6, 24)])
    verdict = refines(better=B, worse=B @ P)
    assert verdict
    assert verdict.verify()


@pytest.mark.parametrize("off", ["1/100", "1/1000000000000", "1/100000000000000000000000000000000000000000000"])
@pytest.mark.parametrize("outcomes", [4, 7])
def test_verdicts_next_to_the_boundary(off, outcomes):
    """A mass moved where B cannot follow is noticed however small, and one that B can follow is forgiven."""
    rng, shift = np.random.default_rng(1), Fraction(off)
    B = random_channel(rng, 5, outcomes - 1)
    B = Channel(np.concatenate([B.matrix / 2, np.full((5, 1), Fraction(1, 2))], axis=1))
    P = random_channel(rng, outcomes, 3, least=1).matrix.copy()
    P[0] = [0, Fraction(1, 2), Fraction(1, 2)]
    A = B.matrix.dot(P)
    inside, outside = A.copy(), A.copy()
    moved = B.matrix[:, -1] * shift
    inside[:, 0], inside[:, 1] = inside[:, 0] + moved, inside[:, 1] - moved
    outside[0, 0], outside[0, 1] = outside[0, 0] - 10 * shift / 1000, outside[0, 1] + 10 * shift / 1000
    for matrix in (inside, outside):
        verdict = refines(better=B, worse=matrix)
        assert verdict.verify()
    assert refines(better=B, worse=inside)
    assert outcomes > 5 or not refines(better=B, worse=outside)


def test_the_order_of_channels():
    """Reflexive and transitive; telling all comes first, telling nothing last."""
    rng = np.random.default_rng(2)
    B = random_channel(rng, 4, 5)
    A, tell_all, tell_nothing = B @ random_channel(rng, 5, 3), Channel(np.eye(4, dtype=int)), Channel([[1]] * 4)
    assert refines(better=B, worse=B)
    assert refines(better=tell_all, worse=B).remap.same_as(B)
    assert refines(better=B, worse=tell_nothing)
    assert refines(better=B, worse=A @ random_channel(rng, 3, 3))
    assert not refines(better=tell_nothing, worse=B)
    assert not refines(better=B, worse=tell_all)


def test_geometric_mechanisms_at_lower_levels_are_refinements():
    """Gradual release of counts: G(1/2) is G(1/4), post-processed, and never the other way round; so for responses."""
    for family in (lambda a: geometric_channel(7, alpha=a), lambda a: randomized_response(5, alpha=a)):
        higher, lower = family("1/4"), family("1/2")
        assert (higher @ refines(better=higher, worse=lower).remap).same_as(lower)
        assert prefers(refines(better=lower, worse=higher).consumer, higher, lower)


def test_outcomes_that_say_the_same_or_cannot_occur():
    """Proportional and zero columns, in B and in A: the remap covers all outcomes, by their names."""
    B = Channel([["1/2", "1/4", 0, "1/4"], ["1/4", "1/8", 0, "5/8"]], outcomes=["a", "b", "never", "c"])
    A = Channel([["1/4", 0, "1/2", "1/4"], ["5/8", 0, "1/4", "1/8"]], outcomes=["p", "q", "r", "s"])
    P = refines(better=B, worse=A).remap
    assert (B @ P).same_as(A)
    assert (P.secrets, P.outcomes) == (B.outcomes, A.outcomes)
    assert P.matrix.sum(axis=1).tolist() == [1, 1, 1, 1]
    assert refines(better=A, worse=B)


def test_one_secret_has_nothing_to_tell():
    assert refines(better=[["1/2", "1/2"]], worse=[["1/3", "2/3"]])
    assert refines(better=[[0, 1]], worse=[[0.25, 0.75]])


@given(st.integers(0, 10**6), st.booleans())
def test_floats_are_decided_up_to_the_tolerance(seed, is_below):
    """A remap within the tolerance, or a consumer whose preference the tolerance does not explain."""
    rng = np.random.default_rng(seed)
    n, m, k = rng.integers(2, 7, 3)
    B = Channel(rng.dirichlet(np.ones(m), n))
    A = B @ Channel(rng.dirichlet(np.ones(k), m)) if is_below else Channel(rng.dirichlet(np.ones(k), n))
    verdict = refines(better=B, worse=A)
    assert verdict or not is_below
    assert verdict.verify()
    if verdict:
        assert not verdict.remap.is_exact
        assert abs((B @ verdict.remap).matrix - A.matrix).max() <= 1e-9
        assert refines(better=B, worse=A).consumer is None
    else:
        assert not verdict.consumer.is_exact


def test_what_the_tolerance_forgives():
    """A change by 1e-10 is forgiven, one by 1e-6 refuted; with a smaller tolerance so is the first."""
    B, A = np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([[0.75, 0.25], [0.25, 0.75]])
    for off, tolerance, forgiven in ((1e-10, 1e-9, True), (1e-6, 1e-9, False), (1e-10, 1e-11, False)):
        moved = A + off * np.array([[1, -1], [0, 0]])
        verdict = refines(better=B, worse=moved, tolerance=tolerance)
        assert bool(verdict) == forgiven
        assert verdict.verify()


def test_a_tie_with_the_tolerance_is_not_decided():
    """The nearest remap is exactly as far off as the tolerance: floats cannot decide on which side."""
    B, off = np.array([[1.0, 0.0], [0.5, 0.5]]), 2.0**-20
    with pytest.raises(SolverFailed, match="rounding"):
        refines(better=[[0.5, 0.5], [0.5, 0.5]], worse=[[0.5 + off, 0.5 - off], [0.5 - off, 0.5 + off]], tolerance=off)
    assert refines(better=B, worse=B, tolerance=off)


def test_a_float_among_exact_channels_makes_both_floats():
    verdict = refines(better=geometric_channel(3, alpha="1/3"), worse=geometric_channel(3, epsilon=2))
    assert not verdict.better.is_exact
    assert not verdict
    assert verdict.verify()


def test_witnesses_that_prove_nothing_are_told():
    """A remap of another pair, and a consumer with no or the opposite preference."""
    higher, lower = geometric_channel(3, alpha="1/4"), geometric_channel(3, alpha="1/2")
    P, consumer = refines(better=higher, worse=lower).remap, refines(better=lower, worse=higher).consumer
    assert not replace(refines(better=lower, worse=higher), remap=P, consumer=None).verify()
    assert not prefers(consumer, lower, higher)
    assert not prefers(Consumer(priors.uniform(3), [[1], [1], [1]]), higher, lower)
    assert not prefers(consumer, higher, higher)
    verdict = refines(better=higher, worse=lower)
    assert not replace(verdict, remap=Channel(np.eye(3, dtype=int))).verify()
    assert not replace(verdict, remap=None).verify()
    with pytest.raises(NotAChannel, match="3 rows"):
        prefers(consumer, higher, geometric_channel(2, alpha="1/2"))


def test_losses_have_few_digits():
    """Rounded to as few bits as keep the preference; equal actions are one."""
    for k in (2, 3, 6):
        consumer = refines(
            better=randomized_response(k, alpha="1/2"), worse=randomized_response(k, alpha="1/3")
        ).consumer
        assert max(consumer.loss.flat) <= 64
        assert consumer.actions == 2


def test_preferences_closer_than_rounding_are_settled_exactly():
    """A difference of 10^-40, far below what sums of rounded probabilities show."""
    tiny = Fraction(1, 10**40)
    B = Channel([["1/2", "1/2"], ["1/2", "1/2"]])
    A = Channel([[Fraction(1, 2) + tiny, Fraction(1, 2) - tiny], ["1/2", "1/2"]])
    guess = Consumer(priors.uniform(2), losses.binary)
    assert prefers(guess, A, B)
    assert not prefers(guess, B, A)
    assert not refines(better=B, worse=A)


def test_refusals():
    with pytest.raises(NotAChannel, match="2 secrets"):
        refines(better=[[1], [1]], worse=[[1]])
    with pytest.raises(NotAChannel):
        refines(better=[[1, 1]], worse=[[1]])
    for wrong in (0, 2, float("nan")):
        with pytest.raises((OutOfRange, NotANumber), match="tolerance"):
            refines(better=[[1.0]], worse=[[1.0]], tolerance=wrong)


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(40))
def test_qif_agrees(seed):
    """libqif's linear program, in doubles, on pairs away from the boundary."""
    qif = pytest.importorskip("qif")
    rng = np.random.default_rng(seed)
    n, m, k = rng.integers(2, 9, 3)
    B = random_channel(rng, n, m)
    A = B @ random_channel(rng, m, k, least=1) if seed % 2 else random_channel(rng, n, k)
    theirs = qif.refinement.refined_by(B.matrix.astype(float), A.matrix.astype(float))
    assert bool(refines(better=B, worse=A)) == (theirs is not None and theirs is not False)
