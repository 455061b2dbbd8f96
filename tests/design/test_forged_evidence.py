"""Forged evidence: whatever number, type or part of a certificate is changed, its check refuses it."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from utmost import losses, priors
from utmost.channels import Remap
from utmost.errors import PromiseBroken
from utmost.exact import objects
from utmost.optima import Multipliers, minimax_mechanism, optimal_mechanism, policy_mechanism
from utmost.privacy_types import PolicyType, PrivacyType
from utmost.spaces import Consumer, Policy, counts, discrete

LINE = PrivacyType(counts(3), alpha="1/2")


@pytest.fixture(scope="module")
def on_counts():
    return optimal_mechanism(LINE, Consumer(priors.uniform(4), losses.absolute)).certificate


@pytest.fixture(scope="module")
def with_multipliers():
    four = PrivacyType(discrete(4), alpha="1/2")
    return optimal_mechanism(four, Consumer(priors.uniform(4), losses.binary)).certificate


def test_a_dual_has_one_number_for_each_secret(on_counts):
    """A number that no inequality is asked of would add to the bound whatever it likes."""
    for dual in (objects([*on_counts.dual, Fraction(5)]), on_counts.dual[:2], on_counts.dual[:0]):
        with pytest.raises(PromiseBroken, match=r"dual.*4"):
            replace(on_counts, dual=dual, bounds=None)
        assert not replace(on_counts, dual=dual).verify()


def test_a_remap_takes_each_outcome(on_counts):
    """The outcomes left out would cost nothing."""
    short = Remap(on_counts.remap.actions[:1].tolist(), 4)
    with pytest.raises(PromiseBroken, match=r"remap.*4"):
        replace(on_counts, remap=short, theorem=None, hypotheses=(), bounds=None)


def test_a_matrix_is_that_of_the_consumer(with_multipliers):
    wider = objects([*with_multipliers.matrix.ravel(), *[Fraction(0)] * 4], (5, 4)).T
    for matrix in (with_multipliers.matrix[:3], with_multipliers.matrix[:, :3], wider[:4]):
        assert not replace(with_multipliers, matrix=matrix).verify()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), -0.5])
def test_numbers_that_are_none_prove_nothing(on_counts, with_multipliers, value):
    for proof in (on_counts, with_multipliers):
        dual = np.array(proof.dual, dtype=float)
        dual[0] = value if value != -0.5 else 5.0
        assert not replace(proof, dual=dual).verify()
        assert not replace(proof, dual=objects(dual.tolist())).verify()
    multipliers = np.array(with_multipliers.multipliers, dtype=float)
    multipliers[0, 0, 0] = value
    assert not replace(with_multipliers, multipliers=multipliers).verify()


def test_multipliers_in_floats_prove_nothing_exactly(with_multipliers):
    """A dual that is too large by 10^-18 would pass with sums that are rounded."""
    floats = np.array(with_multipliers.multipliers, dtype=float)
    edges = with_multipliers.ptype.space.edges
    e, side, action = np.nonzero(floats)
    listed = Multipliers(edges[e, side], edges[e, 1 - side], action, floats[e, side, action])
    more = objects([mu + Fraction(1, 10**18) for mu in with_multipliers.dual])
    for multipliers in (floats, listed, objects(floats.ravel().tolist(), floats.shape)):
        assert not replace(with_multipliers, dual=more, multipliers=multipliers).verify()


def test_a_minimax_bound_is_that_of_its_type():
    """The certificate of another level proves a bound above the loss."""
    found = minimax_mechanism(LINE, losses.binary)
    other = minimax_mechanism(PrivacyType(counts(3), alpha="9/10"), losses.binary)
    assert found.verify()
    assert other.lower > found.loss
    assert not replace(found, certificate=other.certificate).verify()
    assert not replace(found, loss=Fraction(1, 10)).verify()


@pytest.mark.parametrize("level", [{"alpha": "1/2"}, {"epsilon": 1}, {"epsilon": "0.01"}, {"epsilon": 5}])
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("directed", [True, False])
def test_the_numbers_of_a_policy_are_proved(level, exact, directed):
    """Also with floats: the channel is private exactly, and its loss and the bound are on the safe side."""
    policy = Policy.of_edges([("a", "b"), ("c", "d")], "abcd", directed=directed)
    belief = priors.uniform(4) if exact else np.array([0.1, 0.2, 0.3, 0.4])
    loss = losses.binary if exact else 0.1 * np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    found = policy_mechanism(PolicyType(policy, **level), Consumer(belief, loss))
    assert found.verify()
    assert 0 <= found.loss - found.lower <= 1e-9
    assert not replace(found, loss=found.loss / 2).verify()
    assert not replace(found, lower=found.lower * 2).verify()
    assert not replace(found, parts=(), lower=found.lower * 2).verify()
    if found.parts:
        assert not replace(found, parts=found.parts[::-1][:1] * len(found.parts)).verify() or exact
