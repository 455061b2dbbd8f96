"""A consumer's weighted losses p_i l(i, r), row by row or column by column, without forming the matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from utmost.design.integers import integers
from utmost.exact import Array, is_exact
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
    """The losses of an exact consumer as integers, with their common denominator.

    >>> from utmost.spaces import losses, priors
    >>> rows = integer_rows(Consumer(priors.uniform(3), losses.absolute))
    >>> [int(x) for x in rows.row(0)], rows.denominator
    ([0, 1, 2], 3)
    """
    prior, prior_scale = _integers(consumer.prior)
    table = consumer.loss if consumer.rule is None or not consumer.rule.of_difference else _kernel(consumer)
    loss_scale = lcm(*{Fraction(x).denominator for x in table.flat})
    return _rows(consumer, lambda numbers: _scaled(numbers, loss_scale), prior, prior_scale * loss_scale)


def _rows(consumer: Consumer, convert: Callable[[Array], Array], prior: Array, denominator: int) -> LossRows:
    n, rule = consumer.secrets, consumer.rule
    if rule is not None and rule.of_difference:
        kernel = convert(_kernel(consumer))
        mirrored = kernel[::-1]
        return LossRows(
            prior,
            lambda i: kernel[n - 1 - i : 2 * n - 1 - i],
            lambda r: mirrored[n - 1 - r : 2 * n - 1 - r],
            n,
            denominator,
        )
    if rule is not None and not is_exact(prior):
        everyone, evaluate = np.arange(n), rule.rule
        return LossRows(
            prior,
            lambda i: convert(np.broadcast_to(evaluate(np.array([i]), everyone), n)),
            lambda r: convert(np.broadcast_to(evaluate(everyone, np.array([r])), n)),
            n,
            denominator,
        )
    table = convert(consumer.loss)
    return LossRows(prior, lambda i: table[i], lambda r: table[:, r], table.shape[1], denominator)


def _kernel(consumer: Consumer) -> Array:
    """l(i, i + d) for d = -(n-1), ..., n-1."""
    n = consumer.secrets
    assert consumer.rule is not None
    differences = np.arange(-(n - 1), n)
    return np.asarray(consumer.rule.rule(np.maximum(-differences, 0), np.maximum(differences, 0)))


def _integers(numbers: Array) -> tuple[Array, int]:
    scale = lcm(*(x.denominator for x in numbers.flat))
    return _scaled(numbers, scale), scale


def _scaled(numbers: Array, scale: int) -> Array:
    values = (Fraction(x) for x in numbers.ravel().tolist())
    return integers(x.numerator * (scale // x.denominator) for x in values).reshape(numbers.shape)
