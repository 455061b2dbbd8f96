"""Adapters: they read the columns of a table of any kind, and put released columns into a table of the same kind."""

from collections.abc import Iterable, Mapping, Sequence, Set
from difflib import get_close_matches
from itertools import islice
from typing import Any, Protocol
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable
from utmost.tables.frames.table import Table

Column = Sequence[Any] | NDArray[Any]
"""The cells of one column, in the order of the rows."""


class LabelledTable(Protocol):
    """A table of labels and numbers: a dict of arrays, or a dataframe if the counted table was a dataframe."""

    def __getitem__(self, name: str, /) -> Any:
        """A column: an array, or the dataframe's own type."""


class TableAdapter(Protocol):
    """The operations on one kind of table. `register` adds an adapter."""

    def knows(self, table: Any) -> bool:
        """Whether ``table`` is of this kind."""

    def names(self, table: Any) -> list[str]:
        """The names of the table's columns, in order."""

    def column(self, table: Any, name: str, most: int | None = None) -> Column:
        """One column, or its first ``most`` cells: a NumPy array, or a list whose missing cells are None."""

    def label(self, table: Any, name: str) -> Column:
        """One public column, with each cell as it is published."""
        return self.column(table, name)

    def identifiers(self, table: Any, name: str) -> Column:
        """One column of identifiers, with the spelling of the table."""
        return self.column(table, name)

    def place(self, table: Any, row: int) -> str:
        """The name of a row in messages, from its position counted from 0."""
        return f"row {row + 1} (index {row})"

    def with_columns(self, table: Any, columns: Mapping[str, Column], after: Mapping[str, str]) -> Any:
        """A table of the same kind with new or replaced columns; a new column ``name`` comes after the column
        ``after[name]``.
        """

    def without(self, table: Any, names: Sequence[str]) -> Any:
        """A table of the same kind without these columns, without metadata, and without cells of removed rows."""

    def kind(self, table: Any, names: Sequence[str]) -> str:
        """A text that describes the kind of this table, from which `made` makes a table with columns of these names."""

    def made(self, kind: str, columns: Mapping[str, Column]) -> Any:
        """A table of the described kind with only these columns, or None if the kind belongs to another adapter."""


class _Columns(TableAdapter):
    """The adapter of dicts from name to column: a list stays a list, and an array stays an array."""

    def knows(self, table: Any) -> bool:
        return isinstance(table, Mapping)

    def names(self, table: Any) -> list[str]:
        for name, column in table.items():
            check_column(column, name)
        names = distinct_names(map(named, table))
        lengths = dict(zip(names, map(len, table.values()), strict=True))
        if len(set(lengths.values())) > 1:
            raise BadTable("all columns must have the same number of rows", came=str(lengths))
        # In a Series of pandas the index decides the row of a value, and in a list its position does.
        indexes = [column.index for column in table.values() if hasattr(getattr(column, "index", None), "equals")]
        if not all(index.equals(indexes[0]) for index in indexes[1:]):
            remedy = "Make a DataFrame of the Series, which aligns the rows; or pass lists in the same order."
            raise BadTable("columns that are Series must have the same index", came="several indexes", remedy=remedy)
        return names

    def column(self, table: Any, name: str, most: int | None = None) -> Column:
        column: Column = table[_own_name(table, name)]
        return column if most is None else list(islice(column, most))

    def with_columns(self, table: Any, columns: Mapping[str, Column], after: Mapping[str, str]) -> Any:
        own = {named(name): name for name in table}
        columns_as_known = {}
        for name in column_order(list(own), after):
            known = own.get(name, name)
            if name not in columns:
                columns_as_known[known] = table[known]
                continue
            # The result is an array if the table's own column was one, else a list of Python numbers.
            array = np.asarray(columns[name])
            columns_as_known[known] = array if isinstance(table.get(known), np.ndarray) else array.tolist()
        return Table(columns_as_known)

    def without(self, table: Any, names: Sequence[str]) -> Any:
        # Imported here, so that a release of a CSV file does not load it.
        from utmost.tables.frames.fresh_columns import fresh_column

        return Table({name: fresh_column(column) for name, column in table.items() if named(name) not in names})

    def kind(self, table: Any, names: Sequence[str]) -> str:
        marks = "".join("a" if isinstance(table[_own_name(table, name)], np.ndarray) else "l" for name in names)
        return f"columns:{marks}"

    def made(self, kind: str, columns: Mapping[str, Column]) -> Any:
        adapter, _, marks = kind.partition(":")
        if adapter != "columns" or len(marks) != len(columns):
            return None
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        marked = zip(marks, arrays.items(), strict=True)
        return Table({name: array if mark == "a" else array.tolist() for mark, (name, array) in marked})


def named(name: Any) -> str:
    """The name of a column as text. A year becomes its digits, and a pair of names in a crosstab is joined by a
    comma.
    """
    return ", ".join(map(named, name)) if isinstance(name, tuple) else str(name)


def _own_name(table: Mapping[Any, Any], name: str) -> Any:
    """The key of a dict whose text, by `named`, is ``name``."""
    return name if name in table else next((own for own in table if named(own) == name), name)


COLUMNS = _Columns()
"""The adapter of dicts of columns, which is tried first."""

_adapters: list[TableAdapter] = [COLUMNS]


def register(adapter: TableAdapter) -> None:
    """Add an adapter. Adapters are tried in the order in which they were registered."""
    if adapter not in _adapters:
        _adapters.append(adapter)


def known_adapters() -> tuple[TableAdapter, ...]:
    return tuple(_adapters)


def check_column(column: Any, name: str) -> None:
    """Check that a column has ordered rows: it is a list, tuple, array or series, and not a text, a set or an
    iterator.
    """
    if isinstance(column, str | bytes | Mapping | Set) or not hasattr(column, "__len__"):
        raise BadTable("a column must be a list or an array", came=type(column).__name__, where=f"column {name!r}")


def no_column(name: str, names: Sequence[Any]) -> BadTable:
    """Return the error for a missing column. The message shows only the name of a similar column.

    >>> print(no_column("admited", ["ward", "admitted"]), no_column("n", ["9876543"]), sep=" ")
    there is no column 'admited'. Did you mean 'admitted'? there is no column 'n'. None of the 1 columns has a name
    like it: see whether the file begins with a header, or name its columns (on the command line by --header).
    """
    # Other names are not shown: in a file without a header they are the cells of the first row.
    texts = [known for known in names if isinstance(known, str)]
    folded = _folded_name(name)
    near = [known for known in texts if _folded_name(known) == folded] or get_close_matches(name, texts, n=1)
    near = near or [known for known in texts if len(folded) > 3 and folded in _folded_name(known)]
    hint = f"None of the {len(names)} columns has a name like it: see whether the file begins with a header, or name "
    hint += "its columns (on the command line by --header)."
    if near:
        looks_same = normalize("NFKC", near[0]) == normalize("NFKC", name)  # they may differ by Unicode composition
        hint = f"Did you mean {ascii(near[0]) if looks_same else repr(near[0])}?"
        is_split = near[0] != near[0].strip() or "," in near[0]
        hint += " On the command line, put the name in additional quotes: '\"...\"'." * is_split
    return BadTable(f"there is no column {name!r}", remedy=hint)


def _folded_name(name: str) -> str:
    """A name without case, blanks and differences of Unicode composition, for comparisons."""
    return "".join(normalize("NFKC", name).casefold().split())


def check_columns_exist(wanted: Sequence[str], names: Sequence[str]) -> None:
    known = set(names)
    for name in wanted:
        if name not in known:
            raise no_column(name, names)


def distinct_names(names: Iterable[str], where: str | None = None) -> list[str]:
    """Check that the names of the columns of a table are distinct."""
    places: dict[str, int] = {}
    for at, name in enumerate(names, 1):
        first = places.setdefault(name, at)
        if first != at:
            raise BadTable("column names must be distinct", came=f"columns {first} and {at}", where=where)
    return list(places)


def column_order(names: Sequence[str], after: Mapping[str, str]) -> list[str]:
    """List the names, each followed by the new names that ``after`` assigns to it: a column of margins comes after its
    released column.
    """
    of_owner: dict[str, list[str]] = {}
    for new, owner in after.items():
        of_owner.setdefault(owner, []).append(new)
    return [name for old in names for name in (old, *of_owner.get(old, ()))]
