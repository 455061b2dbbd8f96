"""Check the proofs that a channel A refines a channel B (a remap of B), or that A does not refine B (a consumer who
prefers A).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpz, fmpz_mat

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, as_rationals, is_exact
from utmost.core.exact.display import Display
from utmost.core.exact.linear_algebra import by_integers, denominators, matrix_product, numerators
from utmost.design.channels.channel import Channel
from utmost.design.spaces.consumer import Consumer
from utmost.errors import NotAChannel

FLOAT_TOLERANCE = 1e-9
_ROUNDED_BITS = 60


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verdict(Display, ABC):
    """Whether the channel `worse` is below `better` in an order, with a proof. The object is true in a condition if
    `worse` is below `better`.
    """

    _shown = ("better", "worse", "tolerance")

    better: Channel
    worse: Channel
    tolerance: float  # the largest accepted difference of float entries, see `refines`

    @abstractmethod
    def __bool__(self) -> bool: ...

    @abstractmethod
    def verify(self) -> bool:
        """Return whether the stored proof proves the verdict. The proof is checked without a new search."""


def is_remap_between(better: Channel, remap: Channel, worse: Channel, tolerance: float = FLOAT_TOLERANCE) -> bool:
    """Return whether better @ remap equals ``worse``: exactly, or for floats up to the tolerance in every entry."""
    if (better.shape[0], better.shape[1], remap.shape[1]) != (worse.shape[0], remap.shape[0], worse.shape[1]):
        return False
    remapped = matrix_product(better.matrix, remap.matrix)
    if is_exact(remapped) and worse.is_exact:
        return bool((remapped == worse.matrix).all())
    rounding = (better.shape[1] + 2) * 2.0**-52  # bound on the rounding error of an entry of the product
    return bool((abs(remapped.astype(np.float64) - worse.matrix.astype(np.float64)) <= tolerance - rounding).all())


def prefers(consumer: Consumer, A: Channel, B: Channel, tolerance: float = FLOAT_TOLERANCE) -> bool:
    """Return whether a consumer's least expected loss is strictly smaller with channel A than with channel B.

    Numbers are converted to rationals exactly, and the sums are exact. If A, B and the consumer are exact, a preference
    for A proves that A is no refinement of B. For float64 channels, the difference of the two losses must exceed the
    effect of changing every entry by the tolerance. Such a difference proves that no remap of B is within the tolerance
    of A.

    Args:
        consumer: Consumer with a prior on n secrets.
        A, B: Channels with n rows.
        tolerance: Tolerance of float64 channels, as in `is_remap_between`.

    >>> from utmost.design.spaces import losses, priors
    >>> guess = Consumer(priors.uniform(2), losses.binary)
    >>> prefers(guess, Channel([[1, 0], [0, 1]]), Channel([[1], [1]]))
    True
    """
    instance(consumer, Consumer, "consumer")
    instance(A, Channel, "A")
    instance(B, Channel, "B")
    for channel in (A, B):
        if channel.shape[0] != consumer.secrets:
            raise NotAChannel(f"the channel must have {consumer.secrets} rows", came=channel.shape[0], where="prefers")
    joint = as_rationals(consumer.prior)[:, None] * as_rationals(consumer.loss)
    least = Fraction(0) if A.is_exact and B.is_exact else Fraction(tolerance) * joint.sum()
    if _least_loss_around(B.matrix, joint)[0] - _least_loss_around(A.matrix, joint)[1] > least:
        return True
    return bool(_least_loss(B.matrix, joint) - _least_loss(A.matrix, joint) > least)


def _least_loss(matrix: Array, joint: Array) -> Fraction:
    """Return the exact least expected loss sum_y min_w sum_x C[x, y] joint[x, w], where C = ``matrix``."""
    loss: Fraction = matrix_product(as_rationals(matrix).T, joint).min(axis=1).sum()
    return loss


def _least_loss_around(matrix: Array, joint: Array) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of `_least_loss`, from probabilities rounded to multiples of 2^-60."""
    integers, scales = by_integers(joint.reshape(1, -1))
    weights = integers.reshape(joint.shape)
    if is_exact(matrix):
        rounded = (numerators(matrix) << _ROUNDED_BITS) // denominators(matrix)
    else:
        rounded = np.floor(matrix * 2.0**_ROUNDED_BITS).astype(np.int64)  # the product is exact
    low = (fmpz_mat(rounded.T.tolist()) * fmpz_mat(weights.tolist())).tolist()
    more = [fmpz(int(total)) for total in weights.sum(axis=0)]
    high = [[value + by for value, by in zip(row, more, strict=True)] for row in low]
    unit = int(scales[0, 0]) << _ROUNDED_BITS
    below, above = (Fraction(sum(int(min(row)) for row in rows), unit) for rows in (low, high))
    return below, above


def same_secrets(better: Channel | object, worse: Channel | object) -> tuple[Channel, Channel]:
    """Return both arguments as channels; raise NotAChannel if they have different numbers of rows."""
    first, second = (C if isinstance(C, Channel) else Channel(C) for C in (better, worse))
    if first.shape[0] != second.shape[0]:
        raise NotAChannel(f"both channels must have {first.shape[0]} secrets", came=second.shape[0])
    return first, second
