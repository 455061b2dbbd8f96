"""Properties that a mechanism on counts may be asked to have besides privacy, as rows of its program.

The names are those of [cormode2018], whose matrix is the transpose of ours: their rows are the
answers and their columns the true counts. X[x, r] is, as everywhere here, the probability of answer r for the count x.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from utmost.errors import OutOfRange, Unsupported
from utmost.spaces import LineMetric, Space

Entry = tuple[int, int]


class Constraint(StrEnum):
    """What may be asked of a square mechanism X.

    >>> Constraint("fairness") is Constraint.FAIRNESS
    True
    """

    WEAK_HONESTY = "weak honesty"
    """X[x, x] >= 1/n: the truth is at least as likely as a blind guess."""

    ROW_HONESTY = "row honesty"
    """X[x, x] >= X[z, x]: no other count makes the answer x likelier than x itself."""

    COLUMN_HONESTY = "column honesty"
    """X[x, x] >= X[x, r]: no other answer is likelier than the truth."""

    ROW_MONOTONICITY = "row monotonicity"
    """X[z, x] does not rise as z moves away from x, to either side."""

    COLUMN_MONOTONICITY = "column monotonicity"
    """X[x, r] does not rise as r moves away from x, to either side."""

    FAIRNESS = "fairness"
    """X[x, x] is the same for every x."""

    SYMMETRY = "symmetry"
    """X[x, r] = X[n-1-x, n-1-r]."""


_ON_COUNTS = {Constraint.ROW_MONOTONICITY, Constraint.COLUMN_MONOTONICITY, Constraint.SYMMETRY}


@dataclass(frozen=True, slots=True)
class Row:
    """``sum of coefficient * X[entry]`` is at least ``least``, or equal to it.

    Attributes:
        entries: the entries (secret, answer), each with its coefficient.
        least: the right-hand side.
        is_equal: whether it is an equation.
    """

    entries: tuple[tuple[Entry, int], ...]
    least: Fraction = Fraction(0)
    is_equal: bool = False


def read_constraints(names: Sequence[Constraint | str], space: Space, actions: int) -> tuple[Constraint, ...]:
    """The constraints, each once and in a fixed order.

    Raises:
        OutOfRange: for a name that is none, and where answers are not as many as secrets.
        Unsupported: for an order of secrets that are not counts.
    """
    if isinstance(names, str):
        raise OutOfRange("constraints must be given as a list", came=names, mend=f"Write [{names!r}].")
    try:
        wanted = {Constraint(name) for name in names}
    except ValueError:
        known = ", ".join(Constraint)
        raise OutOfRange("a constraint must be one that is known", came=list(names), mend=f"Known: {known}.") from None
    if wanted and actions != space.size:
        raise OutOfRange(f"constraints need {space.size} answers, one for each secret", came=actions)
    if wanted & _ON_COUNTS and not isinstance(space.metric, LineMetric):
        raise Unsupported(f"{', '.join(sorted(wanted & _ON_COUNTS))} speak of counts", came=repr(space))
    return tuple(name for name in Constraint if name in wanted)


def constraint_rows(constraints: Sequence[Constraint], n: int) -> list[Row]:
    """The rows of the program for an n by n mechanism, constraint after constraint.

    >>> constraint_rows([Constraint.FAIRNESS], 3)[0].entries
    (((0, 0), 1), ((1, 1), -1))
    """
    return [row for constraint in constraints for row in _ROWS[constraint](n)]


def _above(larger: Entry, smaller: Entry) -> Row:
    return Row(((larger, 1), (smaller, -1)))


def _weak_honesty(n: int) -> Iterator[Row]:
    return (Row((((x, x), 1),), Fraction(1, n)) for x in range(n))


def _row_honesty(n: int) -> Iterator[Row]:
    return (_above((x, x), (z, x)) for x in range(n) for z in range(n) if z != x)


def _column_honesty(n: int) -> Iterator[Row]:
    return (_above((x, x), (x, r)) for x in range(n) for r in range(n) if r != x)


def _row_monotonicity(n: int) -> Iterator[Row]:
    return (_above((near, x), (far, x)) for x in range(n) for near, far in _outward(x, n))


def _column_monotonicity(n: int) -> Iterator[Row]:
    return (_above((x, near), (x, far)) for x in range(n) for near, far in _outward(x, n))


def _fairness(n: int) -> Iterator[Row]:
    return (Row((((x, x), 1), ((x + 1, x + 1), -1)), is_equal=True) for x in range(n - 1))


def _symmetry(n: int) -> Iterator[Row]:
    last = n - 1
    pairs = (((x, r), (last - x, last - r)) for x in range(n) for r in range(n))
    return (Row(((one, 1), (other, -1)), is_equal=True) for one, other in pairs if one < other)


def _outward(x: int, n: int) -> Iterator[tuple[int, int]]:
    """Neighbours on the way out from x to both ends: the nearer and the farther."""
    yield from ((k, k - 1) for k in range(x, 0, -1))
    yield from ((k, k + 1) for k in range(x, n - 1))


_ROWS = {
    Constraint.WEAK_HONESTY: _weak_honesty,
    Constraint.ROW_HONESTY: _row_honesty,
    Constraint.COLUMN_HONESTY: _column_honesty,
    Constraint.ROW_MONOTONICITY: _row_monotonicity,
    Constraint.COLUMN_MONOTONICITY: _column_monotonicity,
    Constraint.FAIRNESS: _fairness,
    Constraint.SYMMETRY: _symmetry,
}
