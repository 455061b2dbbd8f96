"""Certificates of mechanisms that keep constraints besides privacy: the same proof, with more rows and multipliers."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.design.checker import Bounds, check_private, edge_slacks, matrix_loss
from utmost.design.constraints import Constraint, Row, constraint_rows
from utmost.design.evidence import Evidence
from utmost.errors import PromiseBroken
from utmost.exact import Array, frozen, round_down
from utmost.privacy import PrivacyType
from utmost.spaces import Consumer


@dataclass(frozen=True, slots=True, eq=False)
class ConstrainedCertificate(Evidence):
    """Evidence that no private channel with the constraints serves a consumer better by more than a gap.

    Attributes:
        ptype: the privacy type.
        consumer: prior and loss.
        constraints: what else the channel keeps.
        matrix: (n, n) Fractions, exactly private, each constraint kept exactly.
        dual: (n,) Fractions, the multipliers mu of the rows.
        multipliers: (edges, 2, n) Fractions >= 0, of privacy along each edge.
        prices: a Fraction for each of `constraint_rows`: >= 0 for an inequality, any for an equation.
        bounds: what they prove: equal Fractions where all numbers are rational, else floats rounded outward.
    """

    ptype: PrivacyType
    consumer: Consumer
    constraints: tuple[Constraint, ...]
    matrix: Array
    dual: Array
    multipliers: Array
    prices: Array
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        for name in ("matrix", "dual", "multipliers", "prices"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=object)))
        if self.bounds is None:
            object.__setattr__(self, "bounds", self.check())

    def __reduce__(self) -> tuple[Any, ...]:
        return ConstrainedCertificate, tuple(getattr(self, name) for name in self.__slots__)

    theorem = None
    hypotheses = ()
    remap = None

    def check(self) -> Bounds:
        """Compute the bounds again from primal and dual alone, in rationals.

        Raises:
            PromiseBroken: when the channel is not private or breaks a constraint, or the dual is not feasible.
        """
        rows = constraint_rows(self.constraints, self.ptype.space.size)
        check_private(self.ptype, self.matrix)
        _check_kept(rows, self.matrix)
        lower = _proven(self.ptype, self.consumer, rows, self.dual, self.multipliers, self.prices)
        exactly = self.consumer.is_exact and self.ptype.level.is_rational
        upper = matrix_loss(self.consumer, self.matrix, exactly)
        return Bounds(lower if exactly else round_down(lower), upper)


def constrained_slacks(
    ptype: PrivacyType, consumer: Consumer, rows: Sequence[Row], dual: Array, multipliers: Array, prices: Array
) -> Array:
    """p l - mu - (what privacy and the constraints combine to), (n, n) Fractions."""
    rational = consumer if consumer.is_exact else Consumer(_rational(consumer.prior), _rational(consumer.loss))
    slack = np.array(edge_slacks(ptype, rational, dual, multipliers, exactly=True))
    for row, price in zip(rows, prices, strict=True):
        for entry, coefficient in row.entries:
            slack[entry] -= coefficient * price
    return slack


def _proven(
    ptype: PrivacyType, consumer: Consumer, rows: Sequence[Row], dual: Array, multipliers: Array, prices: Array
) -> Fraction:
    """sum_x mu_x + sum of price * least, once the slacks prove it a lower bound."""
    if (multipliers < 0).any():
        raise PromiseBroken("multipliers of privacy must not be negative")
    if len(prices) != len(rows) or any(y < 0 and not row.is_equal for row, y in zip(rows, prices, strict=True)):
        raise PromiseBroken("every constraint needs a price, and an inequality one that is not negative")
    slack = constrained_slacks(ptype, consumer, rows, dual, multipliers, prices)
    for x, r in np.argwhere(slack < 0)[:1]:
        raise PromiseBroken(f"the dual must be feasible for secret {x} and action {r}", came=float(slack[x, r]))
    return sum(dual, Fraction(0)) + sum((y * row.least for row, y in zip(rows, prices, strict=True)), Fraction(0))


def _check_kept(rows: Sequence[Row], matrix: Array) -> None:
    for row in rows:
        value = sum((coefficient * matrix[entry] for entry, coefficient in row.entries), Fraction(0))
        if value < row.least or (row.is_equal and value != row.least):
            where = " and ".join(f"[{x}, {r}]" for (x, r), _ in row.entries)
            raise PromiseBroken(f"entries {where} of the channel must keep the constraint", came=float(value))


def _rational(numbers: Array) -> Array:
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(numbers))
