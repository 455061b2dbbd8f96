"""Universal optimality where alpha^d is irrational: proved exactly, and found again by programs in floats."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from utmost import losses
from utmost.channels import Channel, geometric_channel, randomized_response
from utmost.design.geometry.log_domain import LogPowers
from utmost.errors import NotAChannel, OutOfRange, PromiseBroken, Unsupported
from utmost.exact import Surd, level
from utmost.geometry import (
    PowerChannel,
    PowerField,
    exact_mechanism,
    kernels,
    universal_mechanism,
    universality,
    vertices,
)
from utmost.privacy_types import PrivacyType
from utmost.spaces import Space, counts, discrete, grid

CORNER = Space([[0, 1, Surd.sqrt(2)], [1, 0, 1], [Surd.sqrt(2), 1, 0]])
"""Three corners of a square."""


def least_loss(ptype, loss, prior):
    """The least expected loss by a program over all channels to actions, in floats: no vertices."""
    n, k = loss.shape
    rows = []
    distances = np.array(ptype.space.distances, dtype=float)
    for x in range(n):
        for z in range(n):
            for w in range(k if x != z else 0):
                row = np.zeros((n, k))
                row[x, w], row[z, w] = np.exp(-ptype.level.epsilon_float * distances[x, z]), -1
                rows.append(row.ravel())
    sums = np.kron(np.eye(n), np.ones(k))
    costs, zeros = (prior[:, None] * loss).ravel(), np.zeros(len(rows))
    return linprog(costs, A_ub=np.array(rows), b_ub=zeros, A_eq=sums, b_eq=np.ones(n)).fun


def expected(matrix, loss, prior):
    return sum(min((prior * column) @ loss) for column in matrix.T)


def in_floats(values):
    return np.array([[float(x) for x in row] for row in values])


def check(verdict, ptype, loss):
    """The regret is the largest found at random priors and at those of the certificate, by other programs."""
    table = in_floats(loss.matrix(ptype.space.size))
    matrix = verdict.mechanism.nearest.matrix
    rng = np.random.default_rng(7)
    own = [np.array([float(x) for x in p]) for p in verdict.certificate.cells.priors]
    priors = [p / p.sum() for p in [*own, *rng.dirichlet(np.ones(ptype.space.size), 40)]]
    regrets = [expected(matrix, table, p) - least_loss(ptype, table, p) for p in priors]
    assert max(regrets) == pytest.approx(float(verdict.regret), abs=1e-7)


@pytest.mark.parametrize(
    ("space", "level", "loss", "exists"),
    [
        (counts(2), {"epsilon": 1}, losses.binary, True),
        (counts(2), {"epsilon": "1/50"}, losses.nib, True),
        pytest.param(discrete(3), {"epsilon": 1}, losses.binary, False, marks=pytest.mark.slow),
        pytest.param(CORNER, {"epsilon": 1}, losses.binary, False, marks=pytest.mark.slow),
        pytest.param(CORNER, {"alpha": "1/2"}, losses.nib, False, marks=pytest.mark.slow),
        (Space([[0, Surd.sqrt(2)], [Surd.sqrt(2), 0]]), {"alpha": "1/2"}, losses.squared, True),
    ],
)
def test_verdicts_are_proved_and_found_again(space, level, loss, exists):
    """Existence or least regret; certificate and conflict verified exactly; the numbers by programs in floats."""
    ptype = PrivacyType(space, **level)
    verdict = universal_mechanism(ptype, loss)
    assert (verdict.exists, verdict.regret == 0) == (exists, exists)
    assert verdict.certificate.verify()
    assert exists or verdict.conflict.verify()
    assert verdict.mechanism.breach(ptype) is None
    check(verdict, ptype, loss)


def test_the_regret_on_three_equal_distances_is_the_formula():
    """Discrete 3, binary: where alpha is rational the regret is a rational function of it, and so it is at e^-1."""
    a = Fraction(1, 2)
    formula = lambda a: a * (1 - a) / (2 * (1 + a) * (1 + 2 * a))  # noqa: E731
    assert universal_mechanism(PrivacyType(discrete(3), alpha=a), losses.binary).regret == formula(a) == Fraction(1, 24)
    at_one = universal_mechanism(PrivacyType(discrete(3), epsilon=1), losses.binary)
    e = at_one.certificate.vertices.min(axis=0).min()
    assert float(e) == pytest.approx(np.exp(-1))
    assert at_one.regret == formula(e)


@pytest.mark.slow
@pytest.mark.parametrize("level", [{"alpha": "1/2"}, {"epsilon": 1}])
def test_the_square_has_no_universal_mechanism_for_binary_loss(level):
    """Four points of a Euclidean grid."""
    ptype = PrivacyType(grid(2, 2), **level)
    verdict = universal_mechanism(ptype, losses.binary)
    assert not verdict
    assert verdict.certificate.verify()
    assert verdict.conflict.verify()
    check(verdict, ptype, losses.binary)


def test_a_given_mechanism_is_judged():
    """Geometric noise at epsilon 1 as a kernel of the line serves binary loss; no other kernel does, nor rationals."""
    ptype = PrivacyType(counts(2), epsilon=1)
    near = geometric_channel(3, epsilon=1).matrix
    serving = []
    for k in range(len(kernels(ptype))):
        mechanism = exact_mechanism(ptype, kernels(ptype).support(k))
        verdict = universality(ptype, losses.binary, mechanism)
        assert verdict.certificate is None or verdict.certificate.verify()
        assert verdict or expected(verdict.better.matrix, losses.binary.matrix(3), verdict.prior) < expected(
            mechanism.matrix, losses.binary.matrix(3), verdict.prior
        )
        serving += [mechanism.nearest.matrix] if verdict else []
    assert len(serving) == 1
    assert np.allclose(sorted(serving[0].T.tolist()), sorted(near.T.tolist()))
    assert not universality(ptype, losses.binary, randomized_response(3, alpha="1/2"))


def test_false_certificates_are_refused():
    """A smaller slack, another dual, a missing cell, another regret: exactly, at epsilon 1."""
    verdict = universal_mechanism(PrivacyType(discrete(3), epsilon=1), losses.binary)
    proof, conflict = verdict.certificate, verdict.conflict
    assert not replace(proof, slack=proof.slack - Fraction(1, 10**40)).verify()
    prior, dual = next(iter(proof.duals.items()))
    assert not replace(proof, duals={**proof.duals, prior: tuple(z + Fraction(1, 10**40) for z in dual)}).verify()
    assert not replace(proof, cells=replace(proof.cells, cells=proof.cells.cells[1:])).verify()
    assert not replace(conflict, regret=conflict.regret + Fraction(1, 10**40)).verify()


def test_what_is_refused():
    ptype = PrivacyType(counts(2), epsilon=1)
    with pytest.raises(Unsupported, match="an exact channel"):
        universality(ptype, losses.binary, geometric_channel(3, epsilon=1))
    with pytest.raises(PromiseBroken):
        universality(ptype, losses.binary, Channel([["1", "0"], ["0", "1"], ["0", "1"]]))
    with pytest.raises(OutOfRange, match="one mechanism"):
        exact_mechanism(ptype, [0, 1, 2, 3])
    with pytest.raises(OutOfRange, match="rows"):
        exact_mechanism(ptype, kernels(ptype).support(0)).breach(PrivacyType(counts(3), epsilon=1))
    with pytest.raises(NotAChannel):
        PowerChannel(vertices(ptype).weights)


def test_tiny_levels_give_verdicts_without_warnings():
    """What floats say nothing of is infinitely uncertain: no infinity is multiplied by zero."""
    verdict = universal_mechanism(PrivacyType(discrete(3), epsilon="1e-12"), losses.binary)
    assert not verdict
    assert verdict.certificate.verify()
    assert verdict.conflict.verify()


@pytest.mark.parametrize("epsilon", [800, 100_000])
def test_high_levels_give_verdicts_without_warnings(epsilon):
    """The quotient of two powers may be above every float; its float is infinite, and it is compared exactly."""
    verdict = universal_mechanism(PrivacyType(discrete(3), epsilon=epsilon), losses.absolute)
    assert not verdict
    assert verdict.regret > 0
    assert verdict.certificate.verify()
    assert universal_mechanism(PrivacyType(counts(2), epsilon=epsilon), losses.absolute)
    power = PowerField.of(LogPowers(level(epsilon), (1,))).power((-1,))
    assert (float(power), float(-power)) == (np.inf, -np.inf)
    assert power < power * power
    assert power != 2 * power


@pytest.mark.parametrize("level", [{"epsilon": "1/2"}, {"alpha": "1/2"}], ids=str)
def test_distances_of_many_digits_are_refused_before_memory_is_full(level):
    """Polynomials of the degree 10^9 filled all memory, and the process was killed."""
    ptype = PrivacyType(Space([[0, "0.000000001", 1], ["0.000000001", 0, 1], [1, 1, 0]]), **level)
    with pytest.raises(Unsupported, match="Round the distances"):
        universal_mechanism(ptype, losses.binary)
