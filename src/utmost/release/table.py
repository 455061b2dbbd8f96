"""Releasing a table: every cell of the chosen columns noised once, the whole table at one level."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable, OutOfRange
from utmost.exact import Level, Number
from utmost.noise import Law
from utmost.noise.costs import Cost
from utmost.release.columns import check_distinct, integer_column, real_column
from utmost.release.doors import Door, door_of, no_column
from utmost.release.plan import Plan, plan_release
from utmost.release.secure import secure
from utmost.release.statement import statement
from utmost.release.values import noised_by
from utmost.sampling import Randomness


@dataclass(frozen=True, slots=True, eq=False)
class TableRelease:
    """A released table and what was promised about it.

    Attributes:
        table: of the kind that came in, released values under their columns' own names, and ``<name>_radius`` behind.
        columns: the released columns.
        plan: level, unit, law, radius.
        rows: how many rows there are.
        as_they_are: the columns published without noise.
    """

    table: Any = field(repr=False)
    columns: tuple[str, ...]
    plan: Plan
    rows: int
    as_they_are: tuple[str, ...]

    @property
    def law(self) -> Law:
        """The noise of each released cell."""
        return self.plan.law

    @property
    def radius(self) -> int | float:
        """The distance within which a released cell lies of the true one, with confidence ``plan.confidence``."""
        return self.plan.radius

    @property
    def spent(self) -> Level:
        """What the whole release cost."""
        return self.plan.level

    @property
    def sidecar(self) -> dict[str, Any]:
        """The statement to publish beside the table, see `statement`."""
        return statement(self.plan, self.columns, self.as_they_are, self.rows)


def release_table(
    table: Any,
    *,
    columns: str | Sequence[str],
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    sensitivity: Number,
    cells: Number,
    cost: str | Cost = "absolute",
    domain: str = "integers",
    neighbours: str = "add-remove",
    relaxable: bool = False,
    confidence: Number = "0.95",
    id_column: str | None = None,
    grid: Number | None = None,
    randomness: Randomness | None = None,
) -> TableRelease:
    """Noise every cell of the chosen columns, so that the whole table costs one level.

    If one individual changes at most ``cells`` of the released cells, each by at most ``sensitivity``, independent
    noise of level epsilon/cells on every cell makes the table epsilon-private. That noise is the least for each cell at
    its share, and for the table as a whole where ``cells`` is 1 under add-remove. Everything is checked before any
    draw: a table with one bad cell is not released at all, and nothing is spent.

    Args:
        table: a dict of columns, a dataframe of any library, or a table read from a file.
        columns: the columns to release; all others are published as they are, and so are the rows' names and number.
        epsilon, alpha: what the whole table may spend, one of the two; alpha = exp(-epsilon).
        sensitivity: the most by which one individual changes one cell.
        cells: how many of the released cells one individual changes, over all of ``columns``.
        cost: what an error costs: "absolute", "squared", "moment:3", or any even function nondecreasing in |x|.
        domain: "integers" (every released cell must be a whole number) or "reals" (released on a grid).
        neighbours: "add-remove", or "change-one", under which the level is divided by twice the cells; see `Unit`.
        relaxable: choose a law that can later be relaxed to a larger epsilon without loss.
        confidence: of the radius that stands beside each released column.
        id_column: a column whose cells must all be there and distinct.
        grid: for reals, the grid's width, a power of two; chosen by level and sensitivity when None.
        randomness: the operating system's when None; a seeded source is refused.

    Returns:
        The table of the kind that came in, with released values and radii in it, and its statement.

    Raises:
        BadTable: for a column that is missing or a cell that cannot be released, with its row and column.
        NotALevel, NotANumber, OutOfRange: for a parameter that is no such thing.

    Cost: a few nanoseconds a cell beyond reading the table.
    Source: [geng2012], Theorems 4, 6, 11 and 12, for the law; composition over cells for the table.

    >>> release = release_table(
    ...     {"department": ["A", "B"], "admitted": [601, 370]}, columns="admitted", alpha="1/2", sensitivity=1, cells=1
    ... )
    >>> list(release.table), release.law, release.radius
    (['department', 'admitted', 'admitted_radius'], Geometric(alpha='1/2', sensitivity=1), 4)
    """
    plan = plan_release(
        epsilon,
        alpha=alpha,
        sensitivity=sensitivity,
        cells=cells,
        cost=cost,
        domain=domain,
        neighbours=neighbours,
        relaxable=relaxable,
        confidence=confidence,
        grid=grid,
    )
    bits = secure(randomness)
    checked = _Checked.of(table, columns, plan, id_column)
    noised = {
        name: noised_by(cells, plan.drawn, plan.exponent, randomness=bits) for name, cells in checked.cells.items()
    }
    return checked.released(noised)


def rehearse_table(
    table: Any, *, columns: str | Sequence[str], id_column: str | None = None, **promise: Any
) -> TableRelease:
    """Everything that `release_table` does up to the first draw: the same checks, law, radius and statement, no table.

    Args:
        table, columns, id_column: as for `release_table`.
        promise: the remaining arguments of `release_table`.

    Returns:
        A release whose ``table`` is None.

    >>> rehearse_table({"n": [3]}, columns="n", epsilon=1, sensitivity=1, cells=1).radius
    3
    """
    return _Checked.of(table, columns, plan_release(**promise), id_column).released(None)


@dataclass(frozen=True, slots=True, eq=False)
class _Checked:
    """A table that can be released: every chosen cell read and found to be a number."""

    table: Any
    door: Door
    names: tuple[str, ...]
    cells: dict[str, NDArray[Any]]
    plan: Plan
    rows: int

    @classmethod
    def of(cls, table: Any, columns: str | Sequence[str], plan: Plan, id_column: str | None) -> "_Checked":
        door = door_of(table)
        names = tuple(door.names(table))
        chosen = chosen_columns(columns, names, id_column)
        _check_radii_free(chosen, names)
        if id_column is not None:
            check_distinct(door.column(table, id_column), id_column, lambda row: door.place(table, row))
        read = integer_column if plan.law.domain == "integers" else real_column
        cells = {name: read(door.column(table, name), name, lambda row: door.place(table, row)) for name in chosen}
        rows = len(cells[chosen[0]])
        return cls(table, door, names, cells, plan, rows)

    def released(self, noised: dict[str, NDArray[Any]] | None) -> TableRelease:
        chosen = tuple(self.cells)
        kept = tuple(name for name in self.names if name not in chosen)
        if noised is None:
            return TableRelease(None, chosen, self.plan, self.rows, kept)
        radii: dict[str, NDArray[Any]] = {f"{name}_radius": np.full(self.rows, self.plan.radius) for name in chosen}
        after = {f"{name}_radius": name for name in chosen}
        return TableRelease(
            self.door.with_columns(self.table, {**noised, **radii}, after), chosen, self.plan, self.rows, kept
        )


def chosen_columns(columns: str | Sequence[str], names: tuple[str, ...], id_column: str | None) -> tuple[str, ...]:
    """The columns to release: at least one, each in the table, none twice, none an identifier.

    Raises:
        BadTable, OutOfRange: for columns that are not so.
    """
    chosen = (columns,) if isinstance(columns, str) else tuple(columns) if hasattr(columns, "__iter__") else ()
    if not chosen or not all(isinstance(name, str) and name for name in chosen):
        raise OutOfRange("columns must name at least one column", came=columns, mend='Pass columns=["n"], say.')
    if id_column is not None and not isinstance(id_column, str):
        raise OutOfRange("the identifier must be named by text", came=type(id_column).__name__, where="id_column")
    for name in (*chosen, *(() if id_column is None else (id_column,))):
        if name not in names:
            raise no_column(name, names)
    for name in chosen:
        if chosen.count(name) > 1:
            raise OutOfRange("a column can be released only once", came=f"{name!r} twice", where="columns")
        if name == id_column:
            raise OutOfRange("the identifier cannot be released as a number", came=repr(name), where="columns")
    return chosen


def _check_radii_free(chosen: tuple[str, ...], names: tuple[str, ...]) -> None:
    for name in chosen:
        if f"{name}_radius" in names:
            raise BadTable(
                f"the radius of {name!r} needs the name '{name}_radius'",
                came="a column of that name",
                mend="Rename it.",
            )
