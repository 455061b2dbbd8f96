import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from utmost import losses, priors
from utmost.channels import Channel, Remap
from utmost.errors import PromiseBroken
from utmost.optima import Bounds, optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, counts, discrete, hamming

LINE = PrivacyType(counts(4), alpha="1/3")
FLAT = PrivacyType(discrete(3), alpha="1/3")
EXACT = {
    "remap": optimal_mechanism(LINE, Consumer(priors.uniform(5), losses.absolute)),
    "matrix": optimal_mechanism(LINE, Consumer(priors.uniform(5), losses.absolute), method="program"),
    "edges": optimal_mechanism(FLAT, Consumer(priors.uniform(3), losses.binary)),
}
FLOAT = {
    "remap": optimal_mechanism(PrivacyType(counts(4), epsilon=1), Consumer(priors.uniform(5), losses.absolute)),
    "edges": optimal_mechanism(PrivacyType(hamming(2), epsilon=1), Consumer(np.full(4, 0.25), losses.binary)),
}


@pytest.mark.parametrize("kind", EXACT)
def test_exact_evidence_has_no_gap_and_verifies_again(kind):
    certificate = EXACT[kind].certificate
    assert certificate.gap == 0
    assert certificate.verify()
    assert pickle.loads(pickle.dumps(certificate)).verify()


@pytest.mark.parametrize("kind", FLOAT)
def test_float_evidence_encloses_and_verifies_again(kind):
    certificate = FLOAT[kind].certificate
    assert 0 < certificate.gap < 1e-12
    assert pickle.loads(pickle.dumps(certificate)).verify()


@pytest.mark.parametrize("found", [*EXACT.values(), *FLOAT.values()])
def test_a_better_claim_does_not_verify(found):
    """Neither a higher lower bound nor a smaller loss than the numbers prove."""
    certificate, step = found.certificate, Fraction(1, 10**6)
    if isinstance(certificate.upper, float):
        step = 1e-6
    assert not replace(certificate, bounds=Bounds(certificate.lower + step, certificate.upper)).verify()
    assert not replace(certificate, bounds=Bounds(certificate.lower, certificate.upper - step)).verify()


@pytest.mark.parametrize("found", [*EXACT.values(), *FLOAT.values()])
def test_a_raised_dual_does_not_verify(found):
    dual = np.array(found.certificate.dual)
    dual[1] += type(dual[1])(1) / 1000
    assert not replace(found.certificate, dual=dual).verify()


def test_another_remap_is_another_loss():
    certificate = EXACT["remap"].certificate
    assert not replace(certificate, remap=Remap([0, 0, 0, 0, 0], size=5)).verify()


def test_a_matrix_that_leaks_does_not_verify():
    certificate = EXACT["matrix"].certificate
    leaking = np.array(certificate.matrix)
    leaking[0] = [Fraction(int(r == 0)) for r in range(5)]
    assert not replace(certificate, matrix=leaking).verify()


@pytest.mark.parametrize(
    ("change", "match"),
    [((0, 0, Fraction(1, 9)), "row 0 of the channel must sum to 1"), ((0, 0, Fraction(-1)), "sum to 1|negative")],
)
def test_what_is_no_channel_is_refused(change, match):
    matrix = np.array(EXACT["matrix"].certificate.matrix)
    matrix[change[0], change[1]] = change[2]
    with pytest.raises(PromiseBroken, match=match):
        replace(EXACT["matrix"].certificate, matrix=matrix).check()


def test_negative_entries_and_broken_levels_are_named():
    third, certificate = Fraction(1, 3), EXACT["edges"].certificate
    matrix = np.full((3, 3), third, dtype=object)
    matrix[0] = [2 * third, -third, 2 * third]
    with pytest.raises(PromiseBroken, match=r"entry \[0, 1\]"):
        replace(certificate, matrix=matrix).check()
    matrix[0] = [third / 8, third, 2 - third / 8 - 4 * third]
    with pytest.raises(PromiseBroken, match=r"secrets 0 and 1.*column 0"):
        replace(certificate, matrix=matrix).check()


def test_negative_multipliers_are_refused():
    certificate = EXACT["edges"].certificate
    multipliers = np.array(certificate.multipliers)
    multipliers[0, 0, 0] = Fraction(-1)
    with pytest.raises(PromiseBroken, match="negative"):
        replace(certificate, multipliers=multipliers).check()


def test_the_dual_of_edges_is_weak_duality_on_random_channels():
    """No private channel, drawn at random, loses less than the certified optimum."""
    rng = np.random.default_rng(3)
    found = EXACT["edges"]
    for _ in range(50):
        weights = np.array([Fraction(int(k), 64) for k in rng.multinomial(64, [1 / 3] * 3)] + [None], dtype=object)[:-1]
        share = Fraction(int(rng.integers(0, 65)), 64)
        mixed = share * found.channel.matrix + (1 - share) * np.array([weights] * 3)
        assert FLAT.contains(Channel(mixed))
        consumer = found.certificate.consumer
        assert (consumer.prior[:, None] * mixed * consumer.loss).sum() >= found.lower


def test_evidence_that_only_the_line_understands_proves_nothing_elsewhere():
    """The check of a dual alone, and the remap of the geometric mechanism, belong to counts."""
    certificate = EXACT["edges"].certificate
    assert not replace(certificate, multipliers=None).verify()
    assert not replace(certificate, matrix=None, remap=Remap([0, 1, 2], 3)).verify()
