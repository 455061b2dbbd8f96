"""Countable ranges of outcomes: columns that go on without end, at costs that rise evenly, folded into one outcome."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.exact import Array, Number, exact

Tails = tuple[Number | None, Number | None]
"""By how much each further outcome before the first and after the last one costs more; None or 0 where there is none.

What lies in a tail says of the secret just what its first outcome says, whatever the secret, up to the turn of a
staircase: so folding a tail into one outcome loses little or nothing.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """Outcomes by their steps and base weights; a column in a tail stands for itself and infinitely many after it.

    Attributes:
        steps: (n, w): each column has the weight weights alpha^steps.
        weights: (w,).
        falls: (w,): a column of a tail stands for steps s, s + fall, s + 2 fall, ..., others have 0.
        owner: (w,): the outcome to which each column belongs.
        names: what the outcomes are called, where there is a tail.
    """

    steps: Array
    weights: Array
    falls: Array
    owner: NDArray[np.intp]
    names: tuple[str | int, ...] | None

    def sums_agree(self) -> bool:
        """Whether all rows have the same sum for every alpha.

        Times the product of 1 - X^fall over the tails, a sum is a polynomial in X = alpha: coefficients are compared.
        """
        return len({frozenset(self._polynomial(row).items()) for row in self.steps}) == 1

    def folded(self, joint: Array) -> Array:
        """Columns added up by the outcome that owns them."""
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        return np.asarray(np.add.reduceat(joint, starts, axis=1))

    def _polynomial(self, row: Array) -> dict[Fraction, Fraction]:
        tails = set(self.falls.tolist()) - {0}
        total: dict[Fraction, Fraction] = {}
        for step, weight, fall in zip(row, self.weights, self.falls, strict=True):
            terms = {step: Fraction(weight)}
            for other in tails - {fall}:
                terms = _times_one_less_power(terms, other)
            for power, coefficient in terms.items():
                total[power] = total.get(power, Fraction(0)) + coefficient
        return {power: coefficient for power, coefficient in total.items() if coefficient}


def with_tails(costs: Array, weights: Array, tails: Tails | None, unit: Fraction, *, whole_steps: bool) -> Range:
    """The finite columns, and before and after them one period of each tail.

    Args:
        costs: (n, m) in units of the sensitivity.
        weights: (m,).
        tails: see `Tails`, in the units of the user.
        unit: the sensitivity in the units of the user.
        whole_steps: whether steps will be whole, as a staircase's are: a tail that rises by p/q of a unit then repeats
            itself after q outcomes, p steps lower; else after one.
    """
    left, right = (_rise(tail, unit) for tail in (tails or (None, None)))
    before = [(costs[:, 0] + left * j, left) for j in range(_period(left, whole_steps), 0, -1)]
    after = [(costs[:, -1] + right * j, right) for j in range(1, _period(right, whole_steps) + 1)]
    m = costs.shape[1]
    columns = [*(c for c, _ in before), *costs.T, *(c for c, _ in after)]
    falls = [rise * _period(rise, whole_steps) for _, rise in before] + [Fraction(0)] * m
    falls += [rise * _period(rise, whole_steps) for _, rise in after]
    owner = [0] * len(before) + [k + bool(before) for k in range(m)] + [m + bool(before)] * len(after)
    names = (*(["before"] if before else []), *range(m), *(["after"] if after else []))
    return Range(
        np.array(columns, dtype=object).T.reshape(len(costs), -1),
        np.concatenate([weights[:1].repeat(len(before)), weights, weights[-1:].repeat(len(after))]),
        np.array(falls, dtype=object),
        np.array(owner, dtype=np.intp),
        names if before or after else None,
    )


def _times_one_less_power(terms: dict[Fraction, Fraction], power: Fraction) -> dict[Fraction, Fraction]:
    product = dict(terms)
    for at, coefficient in terms.items():
        product[at + power] = product.get(at + power, Fraction(0)) - coefficient
    return product


def _rise(tail: Number | None, unit: Fraction) -> Fraction:
    rise = exact(0 if tail is None else tail, "tails")
    if rise < 0:
        raise OutOfRange("costs must rise along a tail, or their sum is infinite", came=tail, where="tails")
    return rise / unit


def _period(rise: Fraction, whole_steps: bool) -> int:
    return 0 if rise == 0 else rise.denominator if whole_steps else 1
