"""Distances that are zero, infinite or one-sided: the promise, designs and capacities, against routes of their own."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost import losses, priors
from utmost.capacities import capacity, policy_capacity
from utmost.channels import Channel, geometric_channel, randomized_response
from utmost.errors import NotAChannel, NotAMetric, OutOfRange, Unsupported, UtmostError, WrongKind
from utmost.optima import optimal_mechanism, policy_mechanism
from utmost.privacy_types import PolicyType, PrivacyType
from utmost.spaces import Consumer, Policy, Space, counts, discrete, grid

INF = math.inf


@st.composite
def policies(draw, symmetric):
    n = draw(st.integers(1, 5))
    entries = st.sampled_from([0, 1, 2, 3, INF, INF])
    table = [[0 if x == y else draw(entries) for y in range(n)] for x in range(n)]
    if symmetric:
        table = [[table[min(x, y)][max(x, y)] for y in range(n)] for x in range(n)]
    return Policy(table)


@st.composite
def consumers(draw, n):
    weights = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any))
    loss = [[draw(st.integers(0, 6)) for _ in range(3)] for _ in range(n)]
    return Consumer(priors.from_counts(weights), loss)


@given(policies(symmetric=False))
def test_what_binds_are_shortest_paths_and_zero_holds_both_ways(policy):
    """The distances are closed: d(x, z) <= d(x, y) + d(y, z), and d(x, y) = 0 exactly where d(y, x) = 0."""
    d, n = policy.distances, policy.size
    for x, y, z in np.ndindex(n, n, n):
        assert d[x, z] <= d[x, y] + d[y, z]
        assert (d[x, y] == 0) == (d[y, x] == 0)
    assert sorted(x for some in policy.classes for x in some) == list(range(n))
    assert sorted(x for some in policy.components for x in some) == list(range(n))


@given(st.data())
def test_part_by_part_loses_what_the_whole_program_loses(data):
    """Classes, components and the theorems on each give the optimum of the program that knows of none of them."""
    policy = data.draw(policies(symmetric=True).filter(lambda drawn: not drawn.is_public))
    consumer = data.draw(consumers(policy.size))
    ptype = PolicyType(policy, alpha="1/2")
    found = policy_mechanism(ptype, consumer)
    assert found.loss == found.lower
    assert found.verify()
    attained = (consumer.prior[:, None] * found.channel.matrix * consumer.loss).sum()
    assert attained == found.loss


@settings(max_examples=10)
@given(st.data())
def test_one_sided_distances_are_designed_for_and_checked(data):
    """The optimum is private, no worse than that of the symmetric policy of the smaller distances, nor free lunch."""
    policy = data.draw(policies(symmetric=False).filter(lambda drawn: not drawn.is_public))
    consumer = data.draw(consumers(policy.size))
    ptype = PolicyType(policy, alpha="1/2")
    found = policy_mechanism(ptype, consumer)
    assert found.loss == found.lower
    assert found.verify()
    lower = PolicyType(Policy(np.minimum(policy.distances, policy.distances.T)), alpha="1/2")
    both_ways = Policy(np.maximum(policy.distances, policy.distances.T))
    higher = [] if both_ways.is_public else [PolicyType(both_ways, alpha="1/2")]
    losses_of = [policy_mechanism(one, consumer).loss for one in (*higher, ptype, lower)]
    assert losses_of == sorted(losses_of)


def test_a_metric_is_a_policy_like_any_other():
    """Promise, design and capacities agree with those of the metric space."""
    space, alpha = counts(4), "1/2"
    ptype, along = PrivacyType(space, alpha=alpha), PolicyType(Policy.of_space(space), alpha=alpha)
    consumer = Consumer(priors.from_counts([1, 2, 3, 2, 1]), losses.absolute)
    assert policy_mechanism(along, consumer).loss == optimal_mechanism(ptype, consumer).loss
    for kind in ("multiplicative", "additive"):
        assert policy_capacity(along, kind).value == capacity(ptype, kind=kind).value
        assert policy_capacity(along, kind).verify()
    for channel in (geometric_channel(5, alpha="1/2"), geometric_channel(5, alpha="2/5"), randomized_response(5, 1)):
        assert along.contains(channel) == ptype.contains(channel)


def test_the_promise_is_decided_exactly_at_every_kind_of_distance():
    policy = Policy([[0, 1, INF], [2, 0, INF], [INF, INF, 0]])
    kept = Channel([["1/2", "1/2", 0], ["1/4", "3/4", 0], [0, 0, 1]])
    ptype = PolicyType(policy, alpha="1/2")
    assert ptype.contains(kept)
    assert ptype.breach([["5/8", "3/8", 0], ["1/4", "3/4", 0], [0, 0, 1]]) == (0, 1, 0)
    assert ptype.breach([["1/4", "3/4", 0], ["7/8", "1/8", 0], [0, 0, 1]]) == (0, 1, 1)
    assert PolicyType(Policy.hidden(2), 1).breach([["1/2", "1/2"], ["1/3", "2/3"]]) == (0, 1, 0)
    assert PolicyType(policy, epsilon=1).breach(np.array([[0.6, 0.4, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])) == (
        0,
        1,
        0,
    )
    with pytest.raises(OutOfRange, match="finite distance"):
        PolicyType(Policy.public(3), 1)
    with pytest.raises(NotAChannel):
        ptype.contains(np.eye(2))


def test_infinite_distances_are_the_limit_of_large_ones():
    """Capacities and losses of the metric with 60 in the place of infinity are those of the policy up to alpha^60."""
    far = [[0, 1, 60, 60], [1, 0, 60, 60], [60, 60, 0, 2], [60, 60, 2, 0]]
    policy = Policy([[INF if d == 60 else d for d in row] for row in far])
    ptype, near = PolicyType(policy, alpha="1/2"), PrivacyType(Space(far), alpha="1/2")
    value = policy_capacity(ptype).value
    assert value == Fraction(4, 3) + Fraction(8, 5)
    assert float(capacity(near).value) == pytest.approx(float(value), abs=1e-15)
    assert float(capacity(near, kind="additive").value) == pytest.approx(1)
    assert policy_capacity(ptype, "additive").value == 1
    consumer = Consumer(priors.uniform(4), losses.binary)
    assert float(optimal_mechanism(near, consumer).loss) == pytest.approx(float(policy_mechanism(ptype, consumer).loss))


def test_irrational_levels_are_rounded_to_the_safe_side():
    policy = Policy([[0, 1, INF], ["3/2", 0, 1], [INF, 2, 0]])
    ptype, consumer = PolicyType(policy, epsilon=1), Consumer(priors.uniform(3), losses.binary)
    found = policy_mechanism(ptype, consumer)
    assert found.verify()
    assert 0 <= found.loss - found.lower < Fraction(1, 10**12)


@pytest.mark.parametrize("epsilon", ["1e-6", "1/2", "3", "50"])
@pytest.mark.parametrize("exactly", [True, False])
@pytest.mark.parametrize("loss", [losses.binary, losses.absolute])
def test_floats_of_a_part_become_fractions_that_are_exactly_private(epsilon, exactly, loss):
    """At a rational epsilon a part's optimum is of floats, whose rounding may break the promise; the channel does not.

    The loss is what the channel loses, by the definition, and the bound is below it by rounding alone.
    """
    policy = Policy.of_edges([("a", "b"), ("b", "c"), ("d", "e", "1/3"), ("e", "f", 0)], "abcdefg")
    prior = priors.from_counts([1, 2, 3, 1, 1, 1, 2])
    consumer = Consumer(prior if exactly else prior.astype(float), loss)
    found = policy_mechanism(PolicyType(policy, epsilon=epsilon), consumer)
    assert found.verify()
    lost = sum(
        Fraction(consumer.prior[x]) * found.channel.matrix[x, y] * Fraction(consumer.loss[x, y])
        for x, y in np.ndindex(found.channel.matrix.shape)
    )
    assert found.lower <= lost <= found.loss
    assert found.loss - found.lower < 1e-9


def test_products_have_public_metric_and_hidden_attributes():
    """The public attribute may be told, the hidden one not at all, the metric one along its distance."""
    policy = Policy.product(Policy.public(2), counts(1), Policy.hidden(2))
    assert policy.labels[5] == (1, 0, 1)
    ptype = PolicyType(policy, alpha="1/2")
    told = [
        [int(public == (column // 2)) * Fraction(2 if count == column % 2 else 1, 3) for column in range(4)]
        for public, count, _ in policy.labels
    ]
    assert ptype.contains(told)
    assert not ptype.contains([[int(hidden == column) for column in range(2)] for _, _, hidden in policy.labels])
    assert [len(part.classes) for part in policy.parts] == [2, 2]


def test_what_the_theory_does_not_carry_is_refused_by_name():
    one_sided = Policy.of_edges([("a", "b")], "abc", directed=True)
    for call in (
        lambda: one_sided.parts,
        lambda: policy_capacity(PolicyType(one_sided, 1)),
        lambda: Policy.of_space(grid(2, 2)),
    ):
        with pytest.raises(Unsupported):
            call()
    for call in (
        lambda: Policy([[0, -1], [1, 0]]),
        lambda: Policy([[0, math.nan], [1, 0]]),
        lambda: Policy([[1, 1], [1, 0]]),
        lambda: Policy([[0, 1]]),
        lambda: Policy([]),
        lambda: Policy([[0]], ["a", "b"]),
        lambda: Policy.of_edges([("a", "z")], "ab"),
        lambda: Policy.of_edges([("a",)], "ab"),
        lambda: Space([[0, 0], [0, 0]]),
    ):
        with pytest.raises(NotAMetric):
            call()
    with pytest.raises(UtmostError, match="PolicyType"):
        PrivacyType(one_sided, 1)
    with pytest.raises(UtmostError):
        policy_mechanism(PolicyType(one_sided, 1), Consumer(priors.uniform(2), losses.binary))
    assert policy_capacity(PolicyType(Policy.of_space(discrete(3)), alpha="1/2")).value == Fraction(3, 2)


def test_functions_of_privacy_types_name_those_of_policies():
    """The remedy works: the function that the message names takes the type of the policy."""
    ptype = PolicyType(Policy.of_edges([("a", "b")], ["a", "b", "c"]), alpha="1/2")
    consumer = Consumer(priors.uniform(3), losses.binary)
    with pytest.raises(WrongKind, match=r"utmost\.capacities\.policy_capacity\(ptype, kind\)"):
        capacity(ptype)
    assert policy_capacity(ptype, "multiplicative").value == Fraction(7, 3)
    with pytest.raises(WrongKind, match=r"utmost\.optima\.policy_mechanism\(ptype, consumer\)"):
        optimal_mechanism(ptype, consumer)
    assert policy_mechanism(ptype, consumer).loss == Fraction(2, 9)
