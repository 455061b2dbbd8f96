"""A consumer's weighted losses p_i l(i, r), row by row or column by column, without forming the matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from flint import fmpz

from utmost.exact import Array, objects
from utmost.spaces import Consumer


@dataclass(frozen=True, slots=True, eq=False)
class LossRows:
    """p_i l(i, r) times ``denominator``: float64 with denominator 1, or long integers as objects.

    Attributes:
        prior: (n,) the prior, scaled.
        loss_row: l(i, .) of shape (k,), scaled.
        loss_column: l(., r) of shape (n,), scaled.
        actions: the number k of actions.
        denominator: what the products have been multiplied by.
    """

    prior: Array
    loss_row: Callable[[int], Array]
    loss_column: Callable[[int], Array]
    actions: int
    denominator: int

    @property
    def secrets(self) -> int:
        """The number n of secrets."""
        return len(self.prior)

    def row(self, i: int) -> Array:
        """p_i l(i, r) for all r, scaled."""
        return np.asarray(self.prior[i] * self.loss_row(i))

    def column(self, r: int) -> Array:
        """p_i l(i, r) for all i, scaled."""
        return self.prior * self.loss_column(r)


def float_rows(consumer: Consumer) -> LossRows:
    """The losses in float64, each prior entry and each loss rounded to nearest.

    A loss that depends on i - r alone costs O(n) memory; any other rule is evaluated row by row.
    """
    return _rows(consumer, lambda numbers: numbers.astype(np.float64), consumer.prior.astype(np.float64), 1)


def integer_rows(consumer: Consumer) -> LossRows:
    """The losses as integers, with their common denominator; floats are read as the rationals that they are.

    >>> from utmost.spaces import losses, priors
    >>> rows = integer_rows(Consumer(priors.uniform(3), losses.absolute))
    >>> [int(x) for x in rows.row(0)], rows.denominator
    ([0, 1, 2], 3)
    """
    prior, prior_scale = _integers(consumer.prior)
    values = _kernel(consumer) if _is_of_difference(consumer) else consumer.loss
    loss_scale = lcm(*{Fraction(x).denominator for x in values.flat})
    return _rows(consumer, lambda numbers: _scaled(numbers, loss_scale), prior, prior_scale * loss_scale)


def _rows(consumer: Consumer, convert: Callable[[Array], Array], prior: Array, denominator: int) -> LossRows:
    n, k = consumer.secrets, consumer.actions
    if _is_of_difference(consumer):
        kernel = convert(_kernel(consumer))
        return LossRows(
            prior,
            lambda i: kernel[n - 1 - i : n - 1 - i + k],
            lambda r: kernel[r : r + n][::-1],
            k,
            denominator,
        )
    if consumer.table is None and not consumer.is_exact:
        return LossRows(
            prior,
            lambda i: convert(consumer.loss_block(slice(i, i + 1), slice(None))[0]),
            lambda r: convert(consumer.loss_block(slice(None), slice(r, r + 1))[:, 0]),
            k,
            denominator,
        )
    table = convert(consumer.loss)
    return LossRows(prior, lambda i: table[i], lambda r: table[:, r], k, denominator)


def _is_of_difference(consumer: Consumer) -> bool:
    return consumer.rule is not None and consumer.rule.of_difference


def _kernel(consumer: Consumer) -> Array:
    """l(i, i + d) for d = -(n-1), ..., k-1."""
    assert consumer.rule is not None, "only a named loss is a function of the difference"
    return np.asarray(consumer.rule.rule(0, np.arange(1 - consumer.secrets, consumer.actions)))


def _integers(numbers: Array) -> tuple[Array, int]:
    scale = lcm(*(Fraction(x).denominator for x in numbers.flat))
    return _scaled(numbers, scale), scale


def _scaled(numbers: Array, scale: int) -> Array:
    values = (Fraction(x) for x in numbers.ravel().tolist())
    return objects((fmpz(x.numerator * (scale // x.denominator)) for x in values), numbers.shape)
