"""Earth moves, and the chain refinement => max-case => privacy-based, with what breaks each converse."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import priors
from utmost.channels import Channel, geometric_channel, randomized_response
from utmost.errors import NotAChannel, NotAPrior, OutOfRange
from utmost.exact import as_array
from utmost.geometry import earth_move, induced_ratios, prefers, refines
from utmost.leakage import hyper
from utmost.privacy_types import PrivacyType, smallest_epsilon
from utmost.spaces import Space
from utmost.testing import strategies

shapes = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
any_pairs = shapes.flatmap(
    lambda s: st.tuples(strategies.channels(*s[:2]), strategies.channels(s[0], s[2]))
) | shapes.flatmap(lambda s: strategies.refined_pairs(*s))


@given(any_pairs, st.data())
def test_refinement_is_an_earth_move_for_one_prior_without_zeros(pair, data):
    """[fernandes2022], (7): the hyper of B is refined by that of A for one full prior exactly if it is for all."""
    B, A = pair
    prior = data.draw(strategies.priors(B.shape[0], full_support=True))
    move = earth_move(prior, better=B, worse=A)
    assert (move is not None) == is_below(A, B)
    assert move is None or move.verify()


def test_secrets_that_a_prior_excludes_do_not_count():
    """With mass on two secrets only, channels that differ on the third have the same hyper."""
    B, A = Channel([[1, 0], [0, 1], [1, 0]]), Channel([["1/2", "1/2"], ["1/3", "2/3"], [0, 1]])
    assert earth_move(priors.uniform(3), better=B, worse=A) is None
    move = earth_move(["1/4", "3/4", 0], better=B, worse=A)
    assert move.verify()
    assert (move.before.prior == as_array(["1/4", "3/4", 0])).all()


def test_earth_moves_that_lose_or_misplace_earth_are_told():
    move = earth_move(
        priors.uniform(3), better=geometric_channel(3, alpha="1/4"), worse=geometric_channel(3, alpha="1/2")
    )
    assert move.verify()
    swapped = move.amounts[:, [1, 0, 2]]
    assert not replace(move, amounts=swapped).verify()
    assert not replace(move, amounts=move.amounts / 2).verify()
    floats = earth_move(
        [0.5, 0.25, 0.25], better=geometric_channel(3, epsilon=2), worse=geometric_channel(3, epsilon=1)
    )
    assert floats.verify()
    assert not floats.verify(0.0)
    with pytest.raises(NotAPrior):
        earth_move(["1/2"], better=[[1]], worse=[[1]])


@given(any_pairs)
def test_each_order_implies_the_next(pair):
    """Refinement => max-case => privacy-based; every verdict by its remap."""
    B, A = pair
    in_hull, private = refines(better=B, worse=A, order="max-case"), refines(better=B, worse=A, order="privacy")
    assert in_hull.verify()
    assert in_hull or refines(better=B, worse=A).remap is None
    assert private or not in_hull
    assert refines(better=B, worse=B, order="max-case")
    assert refines(better=B, worse=B, order="privacy")


@given(any_pairs)
def test_independent_posteriors_leave_no_difference(pair):
    """[fernandes2022], observation b) after (7): then being in the convex hull is enough for refinement."""
    B, A = pair
    posteriors = hyper(B, priors.uniform(B.shape[0])).posteriors
    if np.linalg.matrix_rank(posteriors.astype(float)) == posteriors.shape[1]:
        assert is_below(A, B, "max-case") == is_below(A, B)


def small_channels(secrets, outcomes, unit):
    rows = [row for row in itertools.product(range(unit + 1), repeat=outcomes) if sum(row) == unit]
    for chosen in itertools.combinations_with_replacement(rows, secrets):
        yield Channel([[Fraction(v, unit) for v in row] for row in chosen])


def test_a_counterexample_to_each_converse_is_found():
    """The first ones among two secrets and halves, and among three secrets and quarters.

    The hull of B holds the posteriors of A, but A gives the extreme ones more weight; and A keeps the metric of B
    although one of its posteriors lies outside the hull.
    """
    B, A = next(pairs_where(2, 3, 2, lambda B, A: not is_below(A, B) and is_below(A, B, "max-case")))
    assert refines(better=B, worse=A, order="max-case").verify()
    assert prefers(refines(better=B, worse=A).consumer, A, B)
    B, A = next(pairs_where(3, 2, 4, lambda B, A: is_below(A, B, "privacy") and not is_below(A, B, "max-case")))
    verdict = refines(better=B, worse=A, order="max-case")
    assert verdict.verify()
    assert verdict.outcome is not None


def is_below(A, B, order="refinement"):
    return bool(refines(better=B, worse=A, order=order))


def pairs_where(secrets, outcomes, unit, condition):
    listed = list(small_channels(secrets, outcomes, unit))
    return ((B, A) for B, A in itertools.product(listed, listed) if condition(B, A))


def test_the_counterexamples_of_the_page():
    """Two secrets, three outcomes against two; and the geometric mechanism against randomised response."""
    B, A = Channel([["1/2", "1/2", 0], [0, "1/2", "1/2"]]), Channel([[1, 0], [0, 1]])
    assert refines(better=B, worse=A, order="max-case")
    assert not refines(better=B, worse=A)
    line, equal = geometric_channel(3, alpha="1/2"), randomized_response(3, alpha="1/2")
    assert refines(better=line, worse=equal, order="privacy")
    assert not refines(better=line, worse=equal, order="max-case")


@given(any_pairs)
def test_the_privacy_order_is_about_all_spaces_at_once(pair):
    """d_A <= d_B: smallest_epsilon of A is at most that of B on any space; a refuting pair is a space where not."""
    B, A = pair
    n = B.shape[0]
    verdict = refines(better=B, worse=A, order="privacy")
    if verdict and n > 1:
        for distances in (np.ones((n, n), int) - np.eye(n, dtype=int), abs(np.subtract.outer(range(n), range(n)))):
            space = Space(distances)
            assert smallest_epsilon(A, space).value <= smallest_epsilon(B, space).value
    if not verdict:
        pair_of_secrets, apart = list(verdict.pair), Space([[0, 1], [1, 0]])
        mine, theirs = (smallest_epsilon(C.restrict(pair_of_secrets), apart).value for C in (A, B))
        assert mine > theirs or mine == theirs == float("inf")


def test_the_induced_metric_is_the_least_promise_kept():
    """For the geometric mechanism exp(d) = alpha^-|i - j|; zeros exclude, and equal rows are not apart."""
    ratios = induced_ratios(geometric_channel(4, alpha="1/3"))
    assert ratios[0].tolist() == [1, 3, 9, 27]
    ratios = induced_ratios([["1/2", "1/2", 0], ["1/4", "3/4", 0], [0, "1/2", "1/2"], [0, "1/2", "1/2"]])
    assert ratios[0, 1] == 2
    assert ratios[0, 2] == float("inf")
    assert ratios[2, 3] == 1
    tiny = Fraction(1, 10**400)
    assert induced_ratios([[tiny, 1 - tiny], [2 * tiny, 1 - 2 * tiny]])[0, 1] == 2
    space = Space([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert PrivacyType(space, alpha="1/2").contains(geometric_channel(3, alpha="1/2"))


def test_floats_are_compared_up_to_the_tolerance():
    """The same mechanism in floats, and a really different one."""
    higher, lower = geometric_channel(4, epsilon=2), geometric_channel(4, epsilon=1)
    for order in ("max-case", "privacy"):
        assert is_below(lower, higher, order)
        assert is_below(higher.to_floats(), higher, order)
        assert not is_below(higher, lower, order)
    assert refines(better=higher, worse=lower, order="max-case").verify()
    assert refines(better=lower, worse=higher, order="max-case").verify()


def test_false_witnesses_of_the_max_case_order_are_told():
    B, A = randomized_response(3, alpha="1/3"), randomized_response(3, alpha="1/2")
    yes, no = refines(better=B, worse=A, order="max-case"), refines(better=A, worse=B, order="max-case")
    assert not replace(yes, weights=yes.weights[:, ::-1]).verify()
    assert not replace(yes, weights=yes.weights / 2).verify()
    assert not replace(no, separator=-no.separator).verify()


def test_refusals():
    for order in ("refinement", "max-case", "privacy"):
        with pytest.raises(NotAChannel, match="2 secrets"):
            refines(better=[[1], [1]], worse=[[1]], order=order)
        with pytest.raises(OutOfRange, match="tolerance"):
            refines(better=[[1]], worse=[[1]], order=order, tolerance=0)
    with pytest.raises(OutOfRange, match="refinement, max-case, privacy"):
        refines(better=[[1]], worse=[[1]], order="lexicographic")


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(30))
def test_qif_agrees_on_both_orders(seed):
    """libqif's max_refined_by and priv_refined_by, in doubles."""
    qif = pytest.importorskip("qif")
    rng = np.random.default_rng(seed)
    n, m, k = rng.integers(2, 6, 3)
    B = Channel(rng.dirichlet(np.ones(m), n))
    A = B @ Channel(rng.dirichlet(np.ones(k), m)) if seed % 2 else Channel(rng.dirichlet(np.ones(k) * 3, n))
    theirs = qif.refinement.max_refined_by(B.matrix, A.matrix), qif.refinement.priv_refined_by(B.matrix, A.matrix)
    assert (is_below(A, B, "max-case"), is_below(A, B, "privacy")) == tuple(map(bool, theirs))


def test_verdicts_are_of_their_channels():
    """Posteriors and ratios that are none of the two channels prove nothing about them."""
    better, worse = Channel([["1/2", "1/2"], ["1/4", "3/4"]]), Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    points = refines(better=better, worse=worse, order="max-case")
    assert not points
    assert points.verify()
    same = as_array([["1", "0"], ["0", "1"]])
    assert not replace(points, before=points.after, weights=same, outcome=None, separator=None).verify()
    ratios = refines(better=better, worse=worse, order="privacy")
    assert not ratios
    assert ratios.verify()
    assert not replace(ratios, better_ratios=ratios.worse_ratios, pair=None).verify()
