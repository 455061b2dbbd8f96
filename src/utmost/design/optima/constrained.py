"""Find the best private mechanism that is also honest, monotone, fair or symmetric.

Each property (honesty, monotonicity, fairness or symmetry) of a mechanism adds rows to its linear program. The names of
the properties are those of [cormode2018]. The matrices in that paper are transposed: their rows are answers, and their
columns are true counts. Here X[x, r] is the probability of answer r for the count x.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import Array, as_rationals, frozen, objects
from utmost.core.exact.intervals import round_down
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.optima.checker import Bounds, check_private, edge_slacks, matrix_loss
from utmost.design.optima.consumer_program import split_duals, user_program
from utmost.design.optima.evidence import Evidence
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import LineMetric
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange, PromiseBroken, Unsupported

MatrixEntry = tuple[int, int]


class Constraint(StrEnum):
    """A constraint on a mechanism X with as many answers as secrets.

    >>> Constraint("fairness") is Constraint.FAIRNESS
    True
    """

    WEAK_HONESTY = "weak honesty"
    """X[x, x] >= 1/n: the true answer has at least the probability of a random guess."""

    ROW_HONESTY = "row honesty"
    """X[x, x] >= X[z, x]: no count gives the answer x with a larger probability than the count x."""

    COLUMN_HONESTY = "column honesty"
    """X[x, x] >= X[x, r]: no answer has a larger probability than the true answer."""

    ROW_MONOTONICITY = "row monotonicity"
    """X[z, x] does not increase as the count z moves away from x, on either side."""

    COLUMN_MONOTONICITY = "column monotonicity"
    """X[x, r] does not increase as the answer r moves away from x, on either side."""

    FAIRNESS = "fairness"
    """X[x, x] is the same for every x."""

    SYMMETRY = "symmetry"
    """X[x, r] = X[n-1-x, n-1-r]."""


_ON_COUNTS = {Constraint.ROW_MONOTONICITY, Constraint.COLUMN_MONOTONICITY, Constraint.SYMMETRY}


@dataclass(frozen=True, slots=True)
class ConstraintRow:
    """The constraint that the sum of coefficient * X[entry] is at least ``least``, or equals it if ``is_equal``."""

    entries: tuple[tuple[MatrixEntry, int], ...]  # pairs of an entry (secret, answer) and its coefficient
    least: Fraction = Fraction(0)
    is_equal: bool = False


def read_constraints(names: Sequence[Constraint | str], space: Space, actions: int) -> tuple[Constraint, ...]:
    """Return the named constraints, each once, in the order of `Constraint`; raise an error if one does not fit the
    space.
    """
    if isinstance(names, str):
        raise OutOfRange("constraints must be a list", came=names, remedy=f"Pass [{names!r}].")
    try:
        requested = {Constraint(name) for name in names}
    except ValueError:
        known = ", ".join(Constraint)
        raise OutOfRange(
            "constraints must be names of known constraints", came=list(names), remedy=f"Choose from: {known}."
        ) from None
    if requested and actions != space.size:
        remedy = "Leave out constraints=, or pass a consumer with as many actions as secrets."
        raise OutOfRange(f"constraints need {space.size} answers, one for each secret", came=actions, remedy=remedy)
    if requested & _ON_COUNTS and not isinstance(space.metric, LineMetric):
        remedy = "Use spaces.counts(n), or leave these constraints out."
        names_of_counts = ", ".join(sorted(requested & _ON_COUNTS))
        raise Unsupported(f"the constraints {names_of_counts} need counts", came=repr(space), remedy=remedy)
    return tuple(name for name in Constraint if name in requested)


def constraint_rows(constraints: Sequence[Constraint], n: int) -> list[ConstraintRow]:
    """Return the additional rows of the program of an n by n mechanism, in the order of the constraints."""
    return [row for constraint in constraints for row in _ROWS[constraint](n)]


def _is_larger(larger: MatrixEntry, smaller: MatrixEntry) -> ConstraintRow:
    return ConstraintRow(((larger, 1), (smaller, -1)))


def _steps_outward(x: int, n: int) -> Iterator[tuple[int, int]]:
    """Yield all pairs of neighbouring counts, each with the count nearer to x first."""
    yield from ((k, k - 1) for k in range(x, 0, -1))
    yield from ((k, k + 1) for k in range(x, n - 1))


_ROWS = {
    Constraint.WEAK_HONESTY: lambda n: (ConstraintRow((((x, x), 1),), Fraction(1, n)) for x in range(n)),
    Constraint.ROW_HONESTY: lambda n: (_is_larger((x, x), (z, x)) for x in range(n) for z in range(n) if z != x),
    Constraint.COLUMN_HONESTY: lambda n: (_is_larger((x, x), (x, r)) for x in range(n) for r in range(n) if r != x),
    Constraint.ROW_MONOTONICITY: lambda n: (
        _is_larger((near, x), (far, x)) for x in range(n) for near, far in _steps_outward(x, n)
    ),
    Constraint.COLUMN_MONOTONICITY: lambda n: (
        _is_larger((x, near), (x, far)) for x in range(n) for near, far in _steps_outward(x, n)
    ),
    Constraint.FAIRNESS: lambda n: (
        ConstraintRow((((x, x), 1), ((x + 1, x + 1), -1)), is_equal=True) for x in range(n - 1)
    ),
    Constraint.SYMMETRY: lambda n: (
        ConstraintRow((((x, r), 1), ((n - 1 - x, n - 1 - r), -1)), is_equal=True)
        for x in range(n)
        for r in range(n)
        if (x, r) < (n - 1 - x, n - 1 - r)
    ),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConstrainedCertificate(Evidence):
    """A proof that no private channel with the constraints has a loss that is smaller than the loss of ``matrix`` by
    more than a gap.
    """

    ptype: PrivacyType
    consumer: Consumer
    constraints: tuple[Constraint, ...]
    matrix: Array  # (n, n) Fractions, exactly private, and satisfying every constraint exactly
    dual: Array  # (n,) Fractions, the multipliers mu of the rows
    multipliers: Array  # (edges, 2, n) Fractions >= 0, the multipliers of the privacy constraints along each edge
    prices: Array  # the multiplier of each row of `constraint_rows`, a Fraction, >= 0 for an inequality
    bounds: Bounds | None = None  # Fractions if all numbers are rational, else floats rounded outward

    def __post_init__(self) -> None:
        for name in ("matrix", "dual", "multipliers", "prices"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=object)))
        if self.bounds is None:
            object.__setattr__(self, "bounds", self.check())

    theorem = None
    hypotheses = ()
    remap = None

    def check(self) -> Bounds:
        """Compute the bounds from channel and dual in rationals; raise PromiseBroken if one of them is invalid."""
        rows = constraint_rows(self.constraints, self.ptype.space.size)
        # The loss of the channel is an upper bound only if the channel is private and satisfies the constraints.
        check_private(self.ptype, self.matrix)
        for row in rows:
            value = sum((coefficient * self.matrix[entry] for entry, coefficient in row.entries), Fraction(0))
            if value < row.least or (row.is_equal and value != row.least):
                where = " and ".join(f"[{x}, {r}]" for (x, r), _ in row.entries)
                sums = f"sum of coefficient times entry {'=' if row.is_equal else '>='} {row.least}"
                raise PromiseBroken(f"entries {where} must satisfy the constraint: {sums}", came=float(value))
        # If no slack is negative, the sum of mu_x plus the sum of price * least is a lower bound.
        prices = self.prices
        if (self.multipliers < 0).any():
            raise PromiseBroken("multipliers must not be negative", came=float(self.multipliers.min()))
        if len(prices) != len(rows) or any(y < 0 and not row.is_equal for row, y in zip(rows, prices, strict=True)):
            required = f"there must be {len(rows)} prices, one for each constraint, nonnegative for inequalities"
            raise PromiseBroken(required, came=f"{len(prices)} prices from {min(prices, default=0)}")
        slack = constrained_slacks(self.ptype, self.consumer, rows, self.dual, self.multipliers, prices)
        for x, r in np.argwhere(slack < 0)[:1]:
            came = f"slack {float(slack[x, r])}"
            raise PromiseBroken(f"the dual must be feasible for secret {x} and action {r}", came=came)
        paid = sum((y * row.least for row, y in zip(rows, prices, strict=True)), Fraction(0))
        lower = max(sum(self.dual, Fraction(0)) + paid, Fraction(0))
        exactly = self.consumer.is_exact and self.ptype.level.is_rational
        upper = matrix_loss(self.consumer, self.matrix, exactly)
        return Bounds(lower if exactly else round_down(lower), upper)


def constrained_slacks(
    ptype: PrivacyType,
    consumer: Consumer,
    rows: Sequence[ConstraintRow],
    dual: Array,
    multipliers: Array,
    prices: Array,
) -> Array:
    """Return p l - mu - (the combination of privacy constraints and additional rows), (n, n) Fractions."""
    rational = consumer if consumer.is_exact else Consumer(as_rationals(consumer.prior), as_rationals(consumer.loss))
    slack = np.array(edge_slacks(ptype, rational, dual, multipliers, in_rationals=True))
    for row, price in zip(rows, prices, strict=True):
        for entry, coefficient in row.entries:
            slack[entry] -= coefficient * price
    return slack


def constrained_certificate(
    ptype: PrivacyType,
    consumer: Consumer,
    constraints: Sequence[Constraint],
) -> ConstrainedCertificate:
    """Return the certificate of an exact vertex of the consumer's program with the rows of the constraints."""
    # Floats of a consumer are converted to rationals exactly, and an irrational alpha^d is replaced by a float just
    # above, so the channel satisfies level and constraints exactly. Cost: some seconds for 20 counts. Source:
    # [cormode2018].
    rows = constraint_rows(constraints, consumer.secrets)
    program = user_program(ptype, consumer)
    before = program.shape[0]
    at, columns, values = [], [], []
    for number, row in enumerate(rows):
        for (x, r), coefficient in row.entries:
            at.append(before + number)
            columns.append(x * consumer.actions + r)
            values.append(Fraction(coefficient))
    own = np.repeat(np.arange(before), np.diff(program.starts))
    solution = solve_exactly(
        LinearProgram.of_triplets(
            program.cost,
            np.concatenate([own, np.array(at, dtype=np.int64)]),
            np.concatenate([program.columns, np.array(columns, dtype=np.int64)]),
            np.concatenate([program.values, objects(values)]),
            np.concatenate([program.lower, objects([row.least for row in rows])]),
            np.concatenate([program.upper, objects([row.least if row.is_equal else np.inf for row in rows])]),
        )
    )
    prices = solution.duals[before:]
    dual, multipliers = split_duals(solution.duals[:before], len(ptype.space.edges), consumer.actions)
    slack = constrained_slacks(ptype, consumer, rows, dual, multipliers, prices).min(axis=1)
    # The program uses a number slightly above an irrational alpha^d, so some mu may have to decrease.
    lowered = objects([mu + min(left, Fraction(0)) for mu, left in zip(dual, slack, strict=True)])
    matrix = solution.primal.reshape(consumer.secrets, consumer.actions)
    return ConstrainedCertificate(ptype, consumer, tuple(constraints), matrix, lowered, multipliers, prices)
