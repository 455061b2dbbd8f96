"""Check that a promise names every column of a table, as released, public or dropped."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, Literal

from utmost.core.exact.arguments import one_of
from utmost.core.exact.arrays import plain_cells
from utmost.core.exact.numbers import IntegersOrReals, spelled
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable, NotDeclared, OutOfRange
from utmost.tables.frames.adapters import Column, check_columns_exist, named


def check_released(columns: Sequence[str], names: Sequence[str], id_column: str | None) -> None:
    """Check the columns to release: at least one, each in the table, none named twice, and no identifier."""
    if not columns:
        raise OutOfRange(
            "columns must name at least one column", came="none", remedy='Pass, for example, columns=["n"].'
        )
    check_columns_exist((*columns, *(() if id_column is None else (id_column,))), names)
    times = Counter(columns)
    for name in columns:
        if times[name] > 1:
            raise OutOfRange(
                "columns must name each column once", came=f"{name!r} twice", remedy="Leave out one of the two."
            )
        if name == id_column:
            raise OutOfRange(
                "columns must not name the column of identifiers",
                came=repr(name),
                remedy="Leave this column out of columns=.",
            )


def declared_columns(
    names: Sequence[str], columns: Sequence[str], public: Sequence[str], drop: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the public and the dropped columns in the table's order; refuse a column that is in none of the lists
    of released, public and dropped columns, or in several.
    """
    check_columns_exist((*public, *drop), names)
    of_lists = {said: frozenset(of) for said, of in (("columns", columns), ("public", public), ("drop", drop))}
    for name in names:
        lists = [said for said, of in of_lists.items() if name in of]
        if len(lists) > 1:
            required = f"column {name!r} must be in only one of " + " and ".join(f"{each}=" for each in lists)
            raise OutOfRange(
                required, came="both" if len(lists) == 2 else "all three", remedy=f"Leave {name!r} out of {lists[-1]}=."
            )
    declared = frozenset().union(*of_lists.values())
    silent = [name for name in names if name not in declared]
    if silent:
        unnamed = next((name for name in silent if re.fullmatch(r"column \d+", name)), None)
        them = "it" if len(silent) == 1 else "them"
        hint = "" if unnamed is None else f" A column without a name is named by its position: {unnamed!r}."
        raise NotDeclared(
            "every column must be released, declared public or dropped",
            came=", ".join(map(repr, silent)),
            remedy=(
                f'Pass drop="{",".join(silent)}" to leave {them} out, or name {them} in public= if no cell of {them} '
                f"depends on any individual.{hint}"
            ),
        )
    of_public, of_drop = of_lists["public"], of_lists["drop"]
    return tuple(name for name in names if name in of_public), tuple(name for name in names if name in of_drop)


RowsFrom = Literal["declared", "observed"]
"""Whether the list of rows was declared before the data were seen, or observed in the data."""


def rows_origin(value: str) -> RowsFrom:
    origin: RowsFrom = one_of(value, RowsFrom, "rows")
    return origin


def read_numbers(numbers: object) -> IntegersOrReals:
    read: IntegersOrReals = one_of(numbers, IntegersOrReals, "numbers")
    return read


def check_size(unit: Unit, rows: int, columns: int) -> None:
    """Refuse a table without rows, and a unit by which one individual changes more cells than the table has."""
    if rows == 0:
        raise BadTable(
            "a table must have at least one row", came="no row", remedy="Release the table when it has rows."
        )
    if unit.cells > rows * columns:
        raise OutOfRange(
            f"cells must be at most {rows * columns}, the number of released cells of the table",
            came=unit.cells,
            where="cells",
            remedy="Pass the number of released cells that one individual changes, over all released columns.",
        )


def listed_names(names: str | Sequence[str], where: str) -> tuple[str, ...]:
    """Read one or several names of columns; names that are integers or tuples, as in dataframes, become text."""
    if isinstance(names, str | int) and not isinstance(names, bool):
        names = (str(names),)
    listed: tuple[Any, ...] = (None,)
    if hasattr(names, "__iter__"):
        listed = tuple(
            named(name) if isinstance(name, Integral | tuple) and not isinstance(name, bool) else name for name in names
        )
    if not all(isinstance(name, str) and name for name in listed):
        remedy = 'Pass, for example, columns=["n"].' if where == "columns" else f'Pass, for example, {where}=["name"].'
        required = "columns must name at least one column" if where == "columns" else f"{where} must name columns"
        raise OutOfRange(required, came=names, remedy=remedy)
    return listed


def check_margins_free(margins: Mapping[str, str], names: Iterable[str], *, folds_case: bool = False) -> None:
    """Check that no column has the name of a column of margins; with ``folds_case``, case does not matter."""
    names = {name.casefold() for name in names} if folds_case else set(names)
    for margin, name in margins.items():
        if (margin.casefold() if folds_case else margin) in names:
            required = f"no column may have the name {margin!r}, which the column of margins of {name!r} gets"
            raise BadTable(required, came="a column of that name", remedy="Rename the column.")


_FIRST = 64
_CODE = re.compile(r"\s*0[0-9]")


def check_no_copy(name: str, column: Callable[..., Column], cells: Mapping[str, Column]) -> None:
    """Refuse a public column that has a released column's true values; ``column(most=5)`` returns its first 5 cells."""
    first = plain_cells(column(most=_FIRST))
    for released, true in cells.items():
        if all(map(_same, first, plain_cells(true[:_FIRST]))) and same_cells(column(), true):
            raise repeated_values_error(name, released)


def repeated_values_error(name: str, released: str) -> BadTable:
    """Return the error for a public column that contains the true values of a released one."""
    return BadTable(
        f"a public column must not repeat the released column {released!r}",
        came="the same value in every row",
        where=f"column {name!r}",
        remedy=f"Pass drop={name!r}, and leave it out of public=: whoever reads this column knows the true values.",
    )


def same_cells(column: Column, true: Column) -> bool:
    """Whether a column contains the true values in every row, as numbers or as text."""
    if len(column) != len(true) or not all(map(_same, plain_cells(column[:_FIRST]), plain_cells(true[:_FIRST]))):
        return False
    return all(map(_same, plain_cells(column), plain_cells(true)))


def _same(cell: Any, value: Any) -> bool:
    """Whether two cells are the same number or the same text; "01" is a code, not the number 1."""
    if isinstance(cell, str) and isinstance(value, str):
        return cell.strip() == value.strip()
    if isinstance(cell, str) or isinstance(value, str):
        written, number = (cell, value) if isinstance(cell, str) else (value, cell)
        if _CODE.match(written):
            return False
        try:
            return spelled(written.strip()) == Fraction(number)
        except (TypeError, ValueError, OverflowError):  # missing, or infinite
            return False
    if isinstance(cell, Decimal) and cell.is_snan():  # a signalling NaN raises when it is compared
        return False
    return isinstance(cell, Real | Decimal) and bool(cell == value)
