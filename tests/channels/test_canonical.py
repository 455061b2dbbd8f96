"""Canonical mechanisms of any space: the optimum for two secrets, tight constraints, planar geometric noise."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import losses, priors
from utmost.capacities import capacity
from utmost.channels import (
    Channel,
    abstract_staircase,
    exponential_mechanism,
    geometric_channel,
    planar_geometric_channel,
    randomized_response,
    tight_constraints,
    two_secret_optimum,
    unbounded_geometric_channel,
)
from utmost.errors import Infeasible, OutOfRange
from utmost.exact import Surd, level
from utmost.geometry import kernels, universality
from utmost.leakage import hyper, l_uncertainty
from utmost.noise import DiscreteStaircase
from utmost.privacy_types import PrivacyType, smallest_epsilon
from utmost.spaces import Space, counts, cycle, discrete, graph, grid, hamming
from utmost.testing import strategies


@given(strategies.alphas, st.integers(1, 4))
def test_the_two_secret_optimum_is_the_one_kernel_of_its_type(alpha, distance):
    """Corollary 9, equation 15: T = [[k e^d, k], [k, k e^d]], k = 1/(1 + e^d)."""
    T = two_secret_optimum(alpha=alpha, distance=distance)
    up = 1 / alpha**distance
    assert T.matrix.tolist() == [[up / (1 + up), 1 / (1 + up)], [1 / (1 + up), up / (1 + up)]]
    ptype = PrivacyType(Space([[0, distance], [distance, 0]]), alpha=alpha)
    assert smallest_epsilon(T, ptype.space).level == ptype.level
    (only,) = kernels(ptype)
    assert hyper(T, priors.uniform(2)).same_as(hyper(only, priors.uniform(2)))


@given(st.data(), strategies.alphas)
def test_the_two_secret_optimum_serves_everyone_best(data, alpha):
    """Theorem 8: no private channel has a smaller uncertainty, for any prior and loss."""
    T, ptype = two_secret_optimum(alpha=alpha), PrivacyType(discrete(2), alpha=alpha)
    share = data.draw(st.fractions(0, 1))
    C = data.draw(strategies.channels(2, 3))
    flat = Channel(np.array([C.matrix.mean(axis=0)] * 2))
    other = C.mix(flat, share)
    if ptype.contains(other):
        prior, loss = data.draw(strategies.priors(2)), data.draw(strategies.any_losses(2, 3))
        assert l_uncertainty(loss).posterior(T, prior) <= l_uncertainty(loss).posterior(other, prior)


def test_the_two_secret_optimum_is_universally_optimal_for_each_loss():
    for loss in (losses.binary, losses.nib, losses.asymmetric(1, 3)):
        assert universality(PrivacyType(discrete(2), alpha="1/3"), loss, two_secret_optimum(alpha="1/3"))


def test_irrational_distances_and_levels_of_two_secrets():
    a = math.exp(-(2**0.5))
    assert two_secret_optimum(epsilon=1, distance=Surd.sqrt(2)).matrix[0, 1] == pytest.approx(a / (1 + a))
    assert two_secret_optimum(epsilon="1/2", distance=2).matrix[0, 1] == pytest.approx(1 / (1 + math.e))
    assert two_secret_optimum(alpha="1/4", distance="1/2").is_exact


@pytest.mark.parametrize("alpha", [F(1, 2), F(9, 10)])
def test_tight_constraints_are_mechanisms_known_by_other_names(alpha):
    assert tight_constraints(counts(5), alpha=alpha).same_as(geometric_channel(6, alpha=alpha))
    assert tight_constraints(discrete(4), alpha=alpha).same_as(randomized_response(4, alpha=alpha))
    bit = randomized_response(2, alpha=alpha)
    assert tight_constraints(hamming(3), alpha=alpha).same_as(
        Channel(np.kron(np.kron(bit.matrix, bit.matrix), bit.matrix))
    )


@given(st.data(), st.integers(1, 5), strategies.alphas)
def test_every_constraint_of_tight_constraints_is_tight(data, n, alpha):
    """C[x, y] = alpha^d(x, y) C[y, y], rows sum to 1, the level is kept; the capacity is the magnitude sum w."""
    space = Space(data.draw(strategies.metrics(n)))
    try:
        C = tight_constraints(space, alpha=alpha)
    except (Infeasible, OutOfRange):
        return
    d = space.distances
    for x in range(n):
        for y in range(n):
            assert C.matrix[x, y] == alpha ** int(d[x, y]) * C.matrix[y, y]
    assert (C.matrix.sum(axis=1) == 1).all()
    assert PrivacyType(space, alpha=alpha).contains(C)
    assert capacity(C).value == sum(C.matrix.diagonal())


def test_tight_constraints_in_floats_and_where_there_are_none():
    """THEORY S8: at ln 2 the weighting of the 3 x 3 grid is -.0703 in the middle; the 4 x 4 grid has 3.534014968422."""
    with pytest.raises(Infeasible, match=r"-0\.070.* at secret \(1, 1\)"):
        tight_constraints(grid(3, 3), alpha="1/2")
    four = tight_constraints(grid(4, 4), alpha="1/2")
    assert capacity(four).value == pytest.approx(3.534014968422, abs=1e-11)
    assert PrivacyType(grid(4, 4), alpha="1/2").contains(four)
    assert four.outcomes[5] == (1, 1)
    star = graph([("hub", leaf) for leaf in range(6)])
    with pytest.raises(Infeasible, match=r"negative.*at secret hub"):
        tight_constraints(star, alpha="1/2")
    assert tight_constraints(star, alpha="1/9").is_exact
    assert not tight_constraints(cycle(5), epsilon=1).is_exact
    assert tight_constraints(counts(200), alpha="1/2").shape == (201, 201)
    assert tight_constraints(hamming(7), alpha="1/2").shape == (128, 128)


def brute_planar(rows, cols, rate, reach):
    i, j = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    mass = np.exp(-rate * np.hypot(i, j))
    mass /= mass.sum()
    matrix = np.zeros((rows * cols, rows * cols))
    for x in range(rows * cols):
        r, c = divmod(x, cols)
        ends = np.clip(r + i, 0, rows - 1) * cols + np.clip(c + j, 0, cols - 1)
        matrix[x] = np.bincount(ends.ravel(), mass.ravel(), minlength=rows * cols)
    return matrix


@pytest.mark.parametrize(
    ("rows", "cols", "rate"), [(1, 1, 1), (1, 4, 1), (4, 1, 0.7), (2, 2, 2), (3, 5, 0.5), (4, 3, 20)]
)
def test_planar_noise_by_brute_force(rows, cols, rate):
    C = planar_geometric_channel(rows, cols, epsilon=rate)
    np.testing.assert_allclose(C.matrix, brute_planar(rows, cols, rate, 60 + int(40 / rate)), atol=1e-14, rtol=1e-9)
    assert C.secrets == C.outcomes == tuple((r, c) for r in range(rows) for c in range(cols))


@pytest.mark.parametrize("epsilon", ["1/20", "1", "8"])
def test_planar_noise_keeps_its_level_along_the_euclidean_distance(epsilon):
    """And between neighbours it nearly attains it, which no clamping can make worse."""
    space = grid(4, 5)
    C = planar_geometric_channel(4, 5, epsilon=epsilon)
    assert PrivacyType(space, epsilon=epsilon).contains(C)
    attained = smallest_epsilon(C, space).value
    assert attained <= float(F(epsilon)) * (1 + 1e-9)
    assert Channel(C.matrix).same_as(C)


def test_a_line_of_places_has_a_planar_noise_of_its_own():
    """On 1 x n the second coordinate is noised too, and forgotten: more noise than the geometric mechanism needs."""
    C = planar_geometric_channel(1, 5, epsilon=1)
    assert PrivacyType(counts(4), epsilon=1).contains(C)
    assert capacity(C).value < capacity(geometric_channel(5, epsilon=1)).value


@given(st.integers(1, 5), strategies.alphas)
def test_the_exponential_mechanism_on_all_integers_is_the_geometric_one(n, alpha):
    """Row sums over the whole of Z are equal, so the whole level is used, with costs |i - j| and two tails."""
    costs = losses.absolute.matrix(n + 1)
    C = exponential_mechanism(costs, alpha=alpha, space=counts(n), tails=(1, 1))
    assert C.same_as(unbounded_geometric_channel(n + 1, alpha=alpha))
    assert C.outcomes == ("before", *range(n + 1), "after")
    assert smallest_epsilon(C, counts(n)).level == level(alpha=alpha)


def test_an_irrational_level_has_float_tails():
    C = exponential_mechanism(losses.absolute.matrix(3), 1, space=counts(2), tails=(1, 1))
    np.testing.assert_allclose(C.matrix, unbounded_geometric_channel(3, 1).matrix, rtol=1e-14)


@given(strategies.alphas, st.integers(1, 6), st.data())
def test_the_abstract_staircase_on_all_integers_is_the_discrete_one(alpha, sensitivity, data):
    """Costs |y - q| for q = 0 and q = D over Z: p(i) of the discrete staircase, one step in each D, and its tails."""
    step = data.draw(st.integers(1, sensitivity))
    distribution = DiscreteStaircase(alpha=alpha, sensitivity=sensitivity, step=step)
    window = np.arange(-3, sensitivity + 4)
    costs = [[abs(int(y) - q) for y in window] for q in (0, sensitivity)]
    C = abstract_staircase(costs, alpha=alpha, gamma=F(2 * step - 1, 2 * sensitivity), tails=(1, 1))
    assert C.matrix[0, 1:-1].tolist() == [distribution.pmf(int(y)) for y in window]
    assert C.matrix[1, -1] == distribution.ccdf(3)
    assert PrivacyType(discrete(2), alpha=alpha).contains(C)


@given(st.data(), strategies.alphas, st.sampled_from([exponential_mechanism, abstract_staircase]))
def test_any_costs_with_tails_keep_the_level(data, alpha, make):
    """Unequal row sums: half the level, and the fold is post-processing."""
    n, m = data.draw(st.integers(2, 3)), data.draw(st.integers(1, 4))
    costs = data.draw(strategies.any_losses(n, m))
    tails = data.draw(st.tuples(st.none() | st.fractions("1/3", 3, max_denominator=3), st.integers(0, 2)))
    if (costs == costs[0]).all():
        return
    C = make(costs, alpha=alpha, tails=tails)
    assert Channel(C.matrix).same_as(C)
    assert C.shape[1] == m + sum(bool(tail) for tail in tails)
    assert PrivacyType(discrete(n), alpha=alpha).contains(C, tolerance=1e-11)


def test_a_tail_is_the_limit_of_more_and_more_columns():
    costs = [[0, 2], [3, 1]]
    wide = [[*row, *(row[-1] + F(2, 3) * k for k in range(1, 400))] for row in costs]
    for make in (exponential_mechanism, abstract_staircase):
        C, long = make(costs, alpha="1/4", tails=(None, "2/3")), make(wide, alpha="1/4")
        np.testing.assert_allclose(C.matrix[:, :2].astype(float), long.matrix[:, :2].astype(float), rtol=1e-12)
