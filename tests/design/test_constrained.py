"""Mechanisms with constraints: the explicit fair mechanism is their optimum, and certificates hold their rows."""

import pickle
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from utmost import losses, priors
from utmost.channels import fair_channel, geometric_channel
from utmost.errors import OutOfRange, PromiseBroken, Unsupported, WrongKind
from utmost.optima import Bounds, Constraint, optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, counts, discrete

HALF = Fraction(1, 2)


def guesses(n):
    return Consumer(priors.uniform(n + 1), losses.binary)


def optimum(n, alpha, constraints):
    return _optimum(n, alpha, frozenset(constraints))


@cache
def _optimum(n, alpha, constraints):
    return optimal_mechanism(PrivacyType(counts(n), alpha=alpha), guesses(n), constraints=sorted(constraints))


def keeps(matrix, constraint):
    """The property as its definition says it, without the rows of the program."""
    X, n = np.asarray(matrix), len(matrix)
    diagonal = X.diagonal()

    def falls_outward(rows):
        return all((np.diff(row[: x + 1]) >= 0).all() and (np.diff(row[x:]) <= 0).all() for x, row in enumerate(rows))

    return {
        Constraint.WEAK_HONESTY: lambda: (diagonal >= Fraction(1, n)).all(),
        Constraint.ROW_HONESTY: lambda: (diagonal == X.max(axis=0)).all(),
        Constraint.COLUMN_HONESTY: lambda: (diagonal == X.max(axis=1)).all(),
        Constraint.ROW_MONOTONICITY: lambda: falls_outward(X.T),
        Constraint.COLUMN_MONOTONICITY: lambda: falls_outward(X),
        Constraint.FAIRNESS: lambda: (diagonal == diagonal[0]).all(),
        Constraint.SYMMETRY: lambda: (X[::-1, ::-1] == X).all(),
    }[constraint]()


@pytest.mark.parametrize("alpha", ["1/10", HALF, "9/10"])
@pytest.mark.parametrize("n", range(6))
def test_the_fair_mechanism_is_optimal_under_all_constraints_and_under_fairness_alone(n, alpha):
    """For the loss of a wrong answer and the uniform prior: least loss 1 - y, exactly."""
    closed = 1 - fair_channel(n + 1, alpha=alpha).matrix[0, 0]
    for constraints in (list(Constraint), [Constraint.FAIRNESS]):
        found = optimum(n, alpha, constraints)
        assert (found.loss, found.gap) == (closed, 0)
        assert found.certificate.verify()


@pytest.mark.parametrize("alpha", ["1/10", HALF, "9/10"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 7, 40])
def test_the_fair_mechanism_has_every_property_and_keeps_the_level(n, alpha):
    channel = fair_channel(n + 1, alpha=alpha)
    assert PrivacyType(counts(n), alpha=alpha).contains(channel)
    assert all(keeps(channel.matrix, constraint) for constraint in Constraint)


@pytest.mark.parametrize("n", [2, 3, 8, 9])
def test_the_closed_form_of_how_often_it_is_right(n):
    a = Fraction(3, 4)
    odd = (1 - a) / ((1 + a) * (1 - a ** ((n + 1) // 2)))
    even = (1 - a) / (1 + a - 2 * a ** (n // 2 + 1))
    assert fair_channel(n + 1, alpha=a).matrix[0, 0] == (odd if n % 2 else even)


def test_an_irrational_level_gives_floats():
    assert np.allclose(
        fair_channel(5, epsilon=1).matrix.astype(float), fair_channel(5, alpha=np.exp(-1)).matrix.astype(float)
    )


@pytest.mark.parametrize("constraint", Constraint)
@pytest.mark.parametrize("alpha", ["1/3", "4/5"])
def test_each_constraint_is_kept_and_costs_no_less(constraint, alpha):
    """The optimum keeps what was asked, and fewer constraints never cost more."""
    free = optimum(4, alpha, [])
    found = optimum(4, alpha, [constraint])
    assert keeps(found.certificate.matrix, constraint)
    assert free.loss <= found.loss <= optimum(4, alpha, list(Constraint)).loss
    for other in Constraint:
        assert optimum(4, alpha, [constraint, other]).loss >= found.loss


@pytest.mark.parametrize("alpha", ["1/4", HALF])
def test_the_geometric_mechanism_is_optimal_where_it_keeps_what_is_asked(alpha):
    """Row monotonicity, row honesty and symmetry hold for it anyhow: they cost nothing. So do all but fairness while
    alpha <= 1/2, where its ends are not too likely."""
    n = 5
    geometric = geometric_channel(n + 1, alpha=alpha).matrix
    kept = [c for c in Constraint if keeps(geometric, c)]
    assert set(kept) == set(Constraint) - {Constraint.FAIRNESS}
    assert optimum(n, alpha, kept).loss == optimum(n, alpha, []).loss


def test_beyond_one_half_honest_columns_cost():
    """From alpha > 1/2 the ends of the range are likelier than the truth next to them."""
    assert not keeps(geometric_channel(6, alpha="4/5").matrix, Constraint.COLUMN_HONESTY)
    assert optimum(5, "4/5", ["column honesty"]).loss > optimum(5, "4/5", []).loss


def test_symmetry_costs_nothing_beside_other_constraints():
    """Averaging a mechanism with its mirror image keeps every constraint, and the loss of a symmetric consumer."""
    for some in combinations([Constraint.COLUMN_HONESTY, Constraint.COLUMN_MONOTONICITY, Constraint.WEAK_HONESTY], 2):
        assert optimum(4, "4/5", some).loss == optimum(4, "4/5", [*some, Constraint.SYMMETRY]).loss


@pytest.mark.parametrize("consumer", [Consumer(np.full(4, 0.25), losses.power("3/2")), guesses(3)])
def test_float_consumers_and_irrational_levels_get_an_interval(consumer):
    ptype = PrivacyType(counts(3), epsilon=1)
    found = optimal_mechanism(ptype, consumer, constraints=["fairness", "column monotonicity"])
    assert 0 <= found.gap < 1e-12
    assert isinstance(found.loss, float)
    assert found.certificate.verify()
    assert keeps(found.certificate.matrix, Constraint.FAIRNESS)


def test_other_spaces_may_ask_for_fairness():
    """Randomised response is fair already."""
    ptype = PrivacyType(discrete(3), alpha=HALF)
    consumer = Consumer(priors.uniform(3), losses.binary)
    found = optimal_mechanism(ptype, consumer, constraints=["fairness", "row honesty"])
    assert found.loss == optimal_mechanism(ptype, consumer).loss == HALF


def test_forged_certificates_prove_nothing():
    certificate = optimum(3, HALF, ["weak honesty", "fairness"]).certificate
    assert pickle.loads(pickle.dumps(certificate)).verify()
    step = Fraction(1, 100)
    assert not replace(certificate, bounds=Bounds(certificate.lower + step, certificate.upper)).verify()
    assert not replace(certificate, dual=certificate.dual + step).verify()
    dear = np.array(certificate.prices)
    dear[0] -= 5
    for change, what in (
        ({"prices": dear}, "price"),
        ({"prices": certificate.prices[1:]}, "price"),
        ({"matrix": geometric_channel(4, alpha=HALF).matrix}, "constraint"),
        ({"multipliers": certificate.multipliers - 1}, "negative"),
    ):
        with pytest.raises(PromiseBroken, match=what):
            replace(certificate, **change).check()


@pytest.mark.parametrize(
    ("names", "space", "actions", "error"),
    [
        (["honesty"], counts(3), 4, OutOfRange),
        ("fairness", counts(3), 4, WrongKind),
        (["fairness"], counts(3), 5, OutOfRange),
        (["symmetry"], discrete(4), 4, Unsupported),
    ],
)
def test_what_cannot_be_asked_is_refused(names, space, actions, error):
    consumer = Consumer(priors.uniform(4), losses.binary, actions)
    with pytest.raises(error):
        optimal_mechanism(PrivacyType(space, alpha=HALF), consumer, constraints=names)


def test_constraints_do_not_mix_with_a_theorem():
    with pytest.raises(OutOfRange, match="need the method"):
        optimal_mechanism(PrivacyType(counts(2), alpha=HALF), guesses(2), method="theorem", constraints=["fairness"])
