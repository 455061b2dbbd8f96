"""Gupte and Sundararajan: the worst case, by remap of G and by program in the channel."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from design.random_consumers import monotone_loss, random_type
from utmost import losses
from utmost.channels import geometric_channel
from utmost.errors import OutOfRange
from utmost.optima import derivation, minimax_mechanism, optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import counts, discrete, grid, hamming

F = Fraction
THREE = PrivacyType(counts(3), alpha="1/2")


@pytest.mark.parametrize(("loss", "value"), [("absolute", F(28, 39)), ("squared", F(5, 4)), ("binary", F(5, 9))])
def test_known_values(loss, value):
    found = minimax_mechanism(THREE, getattr(losses, loss))
    assert (found.loss, found.lower, found.gap, found.method) == (value, value, 0, "program")
    assert found.verify()


def test_a_truly_randomised_remap():
    """n = 3, alpha = 1/2, |i - r|: rows (10/13, 3/13, 0, 0), e_1, e_2, (0, 0, 3/13, 10/13)."""
    found = minimax_mechanism(THREE, losses.absolute)
    assert found.remap.matrix.tolist() == [
        [F(10, 13), F(3, 13), 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, F(3, 13), F(10, 13)],
    ]


def test_the_remap_of_g_is_as_good_as_any_private_channel():
    """For the consumer with the worst prior no channel is better, by the program in channels; and no row is worse."""
    rng, randomised, stubborn = random.Random(1), 0, 0
    for k in range(25):
        n = rng.randint(1, 4)
        ptype, loss = random_type(rng, n), monotone_loss(rng, n, strict=bool(k % 2))
        possible = sorted(rng.sample(range(n + 1), rng.randint(1, n + 1)))
        found = minimax_mechanism(ptype, loss, possible)
        reader = found.certificate.consumer
        best = optimal_mechanism(ptype, reader, method="program")
        assert best.loss == found.loss == found.lower
        assert max((found.matrix * reader.loss).sum(axis=1)[possible]) == found.loss
        assert (geometric_channel(n + 1, ptype.level) @ found.remap).same_as(found.channel)
        assert found.verify()
        randomised += any(0 < y < 1 for y in found.remap.matrix.ravel())
        stubborn += not derivation(best.channel, ptype.level).is_derivable
    assert randomised
    assert stubborn


def test_other_spaces_and_other_losses():
    for ptype, loss in (
        (THREE, losses.nib),
        (PrivacyType(discrete(3), alpha="1/2"), losses.binary),
        (PrivacyType(hamming(2), alpha="1/3"), losses.binary),
    ):
        found = minimax_mechanism(ptype, loss)
        assert found.gap == 0
        assert found.verify()
        assert found.remap is None


@pytest.mark.parametrize("loss", ["absolute", "nib"])
def test_an_irrational_level_is_bracketed(loss):
    found = minimax_mechanism(PrivacyType(counts(4), epsilon=1), getattr(losses, loss), possible=[0, 1, 3])
    assert 0 <= found.gap < 1e-12
    assert found.verify()


def test_one_possible_secret_is_answered_without_error():
    assert minimax_mechanism(THREE, losses.absolute, possible=[2]).loss == 0


def test_a_better_claim_does_not_verify():
    found = minimax_mechanism(THREE, losses.absolute)
    assert not replace(found, loss=found.loss - F(1, 1000)).verify()
    leaking = np.array(found.matrix)
    leaking[0] = [F(1), F(0), F(0), F(0)]
    assert not replace(found, matrix=leaking).verify()
    assert not replace(found, possible=(0, 1)).verify()


@pytest.mark.parametrize("possible", [[], [4], [-1], [1, 1]])
def test_misuse_is_refused(possible):
    with pytest.raises(OutOfRange, match="possible secrets"):
        minimax_mechanism(THREE, losses.absolute, possible)


@pytest.mark.parametrize(
    ("ptype", "loss"),
    [
        (PrivacyType(counts(12), alpha="1/2"), losses.absolute),
        (PrivacyType(counts(9), epsilon="1/3"), losses.squared),
        (PrivacyType(counts(6), alpha="1/2"), losses.nib),
        (PrivacyType(discrete(5), alpha="1/3"), losses.binary),
        (PrivacyType(grid(2, 2), epsilon=1), losses.binary),
    ],
)
def test_floats_repaired_come_as_near_as_they_say(ptype, loss):
    """Both routes enclose one value: the bounds of either meet those of the other."""
    near, exactly = (minimax_mechanism(ptype, loss, exactly=choice) for choice in (False, True))
    assert near.verify()
    assert near.lower <= exactly.loss
    assert exactly.lower <= near.loss
    assert near.gap <= 1e-7 * float(near.loss)


def test_hundreds_of_thousands_of_products_are_left_to_floats():
    found = minimax_mechanism(PrivacyType(counts(60), epsilon="1/2"), losses.absolute)
    assert found.remap is None
    assert found.verify()
    assert found.gap <= 1e-7 * found.loss


@pytest.mark.parametrize(
    "level", [{"epsilon": 50}, {"epsilon": "1e-6"}, {"alpha": "1/2"}, {"alpha": Fraction(1, 10**300)}]
)
def test_the_corners_of_minimax(level):
    """One secret is known whatever the level; on two at distance 1 the worst loss is alpha / (1 + alpha)."""
    alone = minimax_mechanism(PrivacyType(counts(0), **level), losses.absolute)
    assert alone.loss == alone.lower == 0
    assert alone.verify()
    found = minimax_mechanism(PrivacyType(counts(1), **level), losses.binary)
    alpha = PrivacyType(counts(1), **level).level.alpha
    assert float(found.loss) == pytest.approx(float(alpha / (1 + alpha)), rel=1e-9)
    assert found.verify()


def test_errors_that_no_float_holds_are_magnified():
    """At alpha = 1e-300 a wrong basis is off by alpha^3: the worst loss is alpha / (1 + alpha) at the ends."""
    alpha = Fraction(1, 10**300)
    found = minimax_mechanism(PrivacyType(counts(3), alpha=alpha), losses.binary)
    assert found.gap == 0
    assert 0 < found.loss < 3 * alpha
    assert found.verify()
