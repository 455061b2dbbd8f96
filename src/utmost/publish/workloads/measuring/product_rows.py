"""Rows that a plan lists along each axis, and their products, such that one individual is charged exactly the level.

Along an axis, each value j is measured by itself with the budget share c_j, and each integer row a_i with the share
1/N, such that

    c_j + sum_i a_ij / N = 1        for every value j,

so an individual who changes one value by 1 is charged the full level. With several axes, all products of rows are
measured, each with the product of its shares. The sum over all products of share times entry is then the product of the
sums above, which is 1. The values or rows with the same share form a **class**. A measured marginal takes one class of
each axis; all its sums have noise at the same level.

Source: p-identity plans and their products [mckenna2018]; here with integer rows, and a level for each class.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, integer, wrong_kind
from utmost.core.exact.arrays import frozen, with_room_for
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported, WrongKind
from utmost.publish.workloads.measuring.signed_axis import SignedAxis, signed_axis_of
from utmost.publish.workloads.row_unit import WholeRows
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.axes.hat_functions import class_code, class_number

MOST_MARGINALS, MOST_ROWS, MOST_PARTS = 4096, 2000, 1 << 20
"""The largest numbers of measured marginals, of rows along an axis, and of parts of the level."""

_MOST_WORK = 2 * 10**8  # products of Python integers in about a minute


@dataclass(frozen=True, slots=True, eq=False)
class AxisRows:
    """The sums that a plan measures along an axis: each value (or group of a level), and integer rows over the values.

    Args:
        level: Level of the axis; its groups are the values.
        rows: Nonnegative integers, (rows, values); no row of zeros.
        parts: The number N. Each row has the budget share 1/N; each value has the budget share 1 - (sum of its
            column)/N >= 1/N.

    Raises:
        OutOfRange: if an entry is negative, if a column adds up to N or more, or if N or the number of rows is too
            large.

    >>> rows = AxisRows(0, np.array([[1, 2, 2, 0]]), 4)
    >>> [(str(share), places.tolist()) for share, places in zip(rows.shares, rows.places, strict=True)]
    [('1', [3]), ('3/4', [0]), ('1/2', [1, 2]), ('1/4', [4])]
    """

    level: int
    rows: NDArray[np.int64]
    parts: int
    places: tuple[NDArray[np.intp], ...] = field(init=False, repr=False)
    shares: tuple[Fraction, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rows, parts = self.rows, self.parts
        if type(self.level) is not int or self.level < 0 or type(parts) is not int or not 1 <= parts <= MOST_PARTS:
            raise OutOfRange(f"listed rows must have a level, and 1 to {MOST_PARTS} parts", came="other facts")
        whole = isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind in "iu"
        if not whole or not rows.shape[1] or len(rows) > MOST_ROWS or int(rows.min(initial=0)) < 0:
            raise OutOfRange(
                f"listed rows must be at most {MOST_ROWS} rows of integers of at least 0", came="other rows"
            )
        if len(rows) ** 2 * rows.shape[1] > _MOST_WORK:
            raise OutOfRange(
                "the square of the number of listed rows, times the number of values, must be at most 2 10^8",
                came=rows.shape,
            )
        if int(rows.max(initial=0)) > parts or not rows.any(axis=1).all():
            raise OutOfRange(
                "the entries of listed rows must be at most `parts`, and no row may be all zeros", came="other rows"
            )
        left = parts - rows.sum(axis=0, dtype=np.int64)
        if left.min() < 1:
            raise OutOfRange(
                "each column of listed rows must add up to less than `parts`",
                came=f"{parts - int(left.min())} with parts={parts}",
            )
        steps = np.unique(left)[::-1]
        places = [np.flatnonzero(left == step) for step in steps]
        shares = [Fraction(int(step), parts) for step in steps]
        if len(rows):
            places.append(np.arange(rows.shape[1], sum(rows.shape)))
            shares.append(Fraction(1, parts))
        object.__setattr__(self, "rows", frozen(rows.astype(np.int64)))
        object.__setattr__(self, "places", tuple(map(frozen, places)))
        object.__setattr__(self, "shares", tuple(shares))

    def __reduce__(self) -> tuple[Any, ...]:
        return AxisRows, (self.level, self.rows, self.parts)

    @property
    def values(self) -> int:
        """The number of values along the axis, or of groups of ``level``."""
        return int(self.rows.shape[1])

    @property
    def entries(self) -> int:
        """The number of measured sums along the axis: one for each value and one for each row."""
        return sum(self.rows.shape)

    @property
    def largest(self) -> int:
        """An upper bound on the sum of a row's absolute entries, divided by the number of values."""
        return self.parts

    def words(self, axis: Axis, number: int) -> str:
        """Describe a class in words, such as "5 values of age"."""
        count = len(self.places[number])
        kind = "row" if len(self.rows) and number == len(self.places) - 1 else "value"
        return f"{count} {kind}{'s' * (count > 1)} of {axis.levels[0]}"

    def float_estimates(self, weights: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the matrix B of least squares, with estimates B y from measured sums y; (values, entries)."""
        if not len(self.rows):
            return np.eye(self.values)
        own = np.zeros(self.values)
        for places, weight in zip(self.places[:-1], weights, strict=False):
            own[places] = weight / weights[-1]
        H = self.rows.astype(float)
        across = H / own
        gain = np.linalg.solve(across @ H.T + np.eye(len(H)), across).T
        return np.concatenate([np.eye(self.values) - gain @ H, gain], axis=1)

    def loaded(self, spent: NDArray[Any]) -> NDArray[Any]:
        """For each class of values, return the charge of a value: its own share plus its part of the rows' shares.

        Args:
            spent: Share of each class, along the first axis of the array; the class of the rows comes last.
        """
        if not len(self.rows):
            return spent
        own = spent[:-1]
        loads = np.array([int(self.rows[:, places[0]].sum()) for places in self.places[:-1]], dtype=object)
        return np.asarray(own + loads.reshape(-1, *[1] * (own.ndim - 1)) * spent[-1])

    def measured(self, sums: NDArray[Any], place: int) -> NDArray[Any]:
        """Apply the rows to an array that has a number for each value along the axis ``place``; append the sums."""
        moved = np.moveaxis(sums, place, 0)
        across = np.tensordot(self.rows.astype(moved.dtype), moved, axes=1)
        return np.moveaxis(np.concatenate([moved, across]), 0, place)

    def facts(self, axis: Axis) -> dict[str, Any]:
        """Return the level, N (as "parts") and the rows as JSON values."""
        name = axis.level_name(self.level) if self.level < len(axis.levels) else ""
        return {"level": name, "parts": self.parts, "rows": self.rows.tolist()}


@dataclass(frozen=True, slots=True, eq=False)
class ProductRows:
    """The products of the rows that are listed along each axis.

    Args:
        domain: Domain of the rows.
        axes: Listed rows of each axis. If one individual changes whole rows of cells along an axis, this axis may have
            signed rows.

    Raises:
        OutOfRange: if rows are of other axes, if two axes have signed rows, or if there are more than 4096 measured
            marginals.

    >>> domain = Domain(age=range(4), sex=["men", "women"])
    >>> rows = ProductRows(domain, (AxisRows(0, np.array([[1, 1, 1, 1]]), 3), values_alone(domain.axes[1])))
    >>> [(domain.marginal_name(marginal), str(share)) for marginal, share in rows.shares.items()]
    [('age#1 sex#0', '1/3'), ('age#0 sex#0', '2/3')]
    """

    domain: Domain
    axes: tuple[AxisRows | SignedAxis, ...]

    def __post_init__(self) -> None:
        instance(self.domain, Domain, "domain")
        for listed in instance(self.axes, tuple, "axes"):
            instance(listed, (AxisRows, SignedAxis), "every element of axes")
        if sum(isinstance(listed, SignedAxis) for listed in self.axes) > 1:
            raise OutOfRange("only one axis may have signed rows", came="several axes")
        if len(self.axes) != len(self.domain.axes):
            raise OutOfRange(
                "every axis must have either listed rows or its values alone", came=f"{len(self.axes)} axes"
            )
        for axis, listed in zip(self.domain.axes, self.axes, strict=True):
            if listed.level > len(axis.levels) or axis.groups(listed.level) != listed.values:
                raise OutOfRange(
                    "listed rows must have an entry for each value", came=listed.values, where=axis.levels[0]
                )
        if prod(len(listed.places) for listed in self.axes) > MOST_MARGINALS:
            raise OutOfRange(f"the listed rows may have at most {MOST_MARGINALS} classes together", came="more classes")

    def __reduce__(self) -> tuple[Any, ...]:
        return ProductRows, (self.domain, self.axes)

    @property
    def together(self) -> str | None:
        """The name of the axis along which one individual changes whole rows; None for single cells."""
        named = zip(self.domain.columns, self.axes, strict=True)
        return next((name for name, listed in named if isinstance(listed, SignedAxis)), None)

    @property
    def shares(self) -> dict[Marginal, Fraction]:
        """The budget share of each measured marginal, in sorted order: the product of its classes' shares."""
        classes = [list(enumerate(listed.shares)) for listed in self.axes]
        shares = {
            tuple(class_code(number) for number, _ in chosen): prod((share for _, share in chosen), start=Fraction(1))
            for chosen in product(*classes)
        }
        return dict(sorted(shares.items()))

    @property
    def base(self) -> Marginal:
        """The marginal of the groups that are measured one by one."""
        return tuple(listed.level for listed in self.axes)

    def charge(self, shares: Mapping[Marginal, Fraction]) -> Fraction:
        """Return the largest charge of a cell, as a fraction of the level that separate noise of each cell spends.

        If one individual changes whole rows, return the largest charge of a row instead, as a fraction of the level
        that separate noise of its cells spends.
        """
        if set(shares) != set(self.shares):
            raise OutOfRange("the shares must be those of the classes of the listed rows", came="other shares")
        spent = np.empty([len(listed.places) for listed in self.axes], dtype=object)
        for marginal, share in shares.items():
            spent[self.classes(marginal)] = share
        for listed in self.axes:  # contract the first axis and move it to the end, once for each axis
            spent = np.moveaxis(listed.loaded(spent), 0, -1)
        return Fraction(max(spent.ravel().tolist()))

    def classes(self, marginal: Marginal) -> tuple[int, ...]:
        """Return the index of the class of a measured marginal on each axis."""
        numbers = tuple(class_number(level) for level in marginal)
        if len(numbers) != len(self.axes) or None in numbers:
            raise OutOfRange("a measured marginal must name one class of listed rows on each axis", came=marginal)
        return tuple(number for number in numbers if number is not None)

    def places(self, marginal: Marginal) -> list[NDArray[np.intp]]:
        """Return the indices of a measured marginal's entries on each axis, where values come before rows."""
        return [listed.places[number] for listed, number in zip(self.axes, self.classes(marginal), strict=True)]

    def shape(self, marginal: Marginal) -> tuple[int, ...]:
        """Return the number of sums of a measured marginal along each axis."""
        return tuple(map(len, self.places(marginal)))

    def sums(self, cells: NDArray[Any], marginals: Sequence[Marginal]) -> dict[Marginal, NDArray[Any]]:
        """Compute the sums that marginals measure, from an array with one number for each cell."""
        sums = self.domain.sums(cells, self.base)
        sums = with_room_for(sums, self.domain.size * prod(listed.largest for listed in self.axes))
        for place, listed in enumerate(self.axes):
            sums = listed.measured(sums, place)
        return {marginal: sums[np.ix_(*self.places(marginal))] for marginal in marginals}

    def joined(self, measured: Mapping[Marginal, NDArray[Any]]) -> NDArray[Any]:
        """Join the sums of all marginals into one array; each axis has its values first, then its rows."""
        whole = np.zeros([listed.entries for listed in self.axes], dtype=object)
        for marginal, sums in measured.items():
            whole[np.ix_(*self.places(marginal))] = np.asarray(sums, dtype=object).reshape(self.shape(marginal))
        return whole

    def words(self, marginal: Marginal) -> str:
        """Describe a measured marginal in words, such as "5 values of age by 3 rows of race"."""
        along = zip(self.domain.axes, self.axes, self.classes(marginal), strict=True)
        return " by ".join(listed.words(axis, number) for axis, listed, number in along)

    def facts(self) -> list[dict[str, Any]]:
        """Return each axis' rows as JSON values, for `of_facts`."""
        return [listed.facts(axis) for axis, listed in zip(self.domain.axes, self.axes, strict=True)]

    @classmethod
    def of_facts(cls, domain: Domain, facts: Any) -> "ProductRows":
        """Read the rows from JSON values."""
        instance(domain, Domain, "domain")
        if not isinstance(facts, Sequence) or len(facts) != len(domain.axes):
            raise wrong_kind("rows", "a list with the rows of each axis", facts)
        return cls(domain, tuple(_axis_rows(axis, listed) for axis, listed in zip(domain.axes, facts, strict=True)))


def check_rows(domain: Domain, unit: Unit, together: str | None, rows: ProductRows) -> None:
    """Check that listed rows are over this domain, and that the unit has the properties that signed rows need."""
    if not rows.domain.same_as(domain):
        raise OutOfRange("the listed rows must be over the domain of the plan", came="another domain", where="rows")
    if together != rows.together or unit.is_shared:
        remedy = "Leave out rows= or together=."
        raise Unsupported(
            "rows= cannot be combined with together=, nor with sums and counts that share noise", remedy=remedy
        )
    if together is not None:
        WholeRows.changed_by(unit, domain, together)
        if not unit.nonnegative or unit.needs_sizes:
            remedy = "Pass nonnegative=True in the unit, if no individual lowers a cell."
            raise OutOfRange("signed rows need a unit with nonnegative=True", came="another unit", remedy=remedy)


def values_alone(axis: Axis, level: int = 0) -> AxisRows:
    """Return rows that measure only the groups of a level of the axis, each with the share 1."""
    instance(axis, Axis, "axis")
    level = integer(level, "level")
    return AxisRows(level, np.zeros((0, axis.groups(level)), dtype=np.int64), 1)


def _axis_rows(axis: Axis, facts: Any) -> AxisRows | SignedAxis:
    if isinstance(facts, Mapping) and "signed" in facts:
        return signed_axis_of(axis, facts)
    if (
        not isinstance(facts, Mapping)
        or set(facts) != {"level", "parts", "rows"}
        or not isinstance(facts["rows"], list)
    ):
        raise wrong_kind("rows", 'a mapping with "level", "parts" and "rows"', facts)
    names = [*axis.levels, ""]
    if facts["level"] not in names:
        raise OutOfRange("listed rows must name a level of their axis", came=repr(facts["level"]))
    level = names.index(facts["level"])
    entries = facts["rows"]
    if not all(isinstance(row, list) and all(type(entry) is int for entry in row) for row in entries):
        raise WrongKind("the entries of listed rows must be integers", came="other entries")
    values = axis.groups(level)
    if any(len(row) != values or max(map(abs, row), default=0) > MOST_PARTS for row in entries):
        raise OutOfRange(
            "listed rows must have one small entry for each value of the axis",
            came="other entries",
            where=axis.levels[0],
        )
    return AxisRows(level, np.array(entries, dtype=np.int64).reshape(-1, values), facts["parts"])
