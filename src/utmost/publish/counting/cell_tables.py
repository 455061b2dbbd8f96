"""Read tables that were counted elsewhere, with one row for each cell, or with cumulative columns of counts."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, mapping, optional, text
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable, NotDeclared, OutOfRange, WrongKind
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.declared_axes import declared_domain
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.axis_places import reader_of
from utmost.tables.cells.columns import SMALLER_UNIT, integer_column, number_cells
from utmost.tables.cells.event_batches import spelling_of_table
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling
from utmost.tables.frames.adapters import TableAdapter, no_column
from utmost.tables.frames.any_table import adapter_of


def cells_table(
    table: Any,
    domain: Domain | Mapping[str, Any],
    *,
    unit: Unit,
    counts: str | None = None,
    nested: Mapping[str, Sequence[str]] | None = None,
    spelling: Spelling = PLAIN_SPELLING,
    individual: str | None = None,
) -> CountedTable:
    """Read a table of counts with one row for each cell of a declared domain.

    The table does not prove how it was counted: ``unit`` is taken as declared.

    Args:
        table: A dict of columns, a dataframe, or a table read from a file, with a column for each axis and a column of
            counts.
        domain: Declared domain, or a mapping that `Domain.of_facts` reads.
        unit: Unit of privacy: the largest change of the whole table by one individual.
        counts: Name of the column of counts. Pass either ``counts`` or ``nested``.
        nested: Mapping from one axis of the domain to the columns that count its values cumulatively: the first column
            counts the first value, each later column its value and all values before it. With ``outcome=["admitted",
            "rejected"]``, ``{"outcome": ["admitted", "applicants"]}`` reads "applicants" as the sum of both outcomes.
        spelling: Spelling of numbers and missing cells, see `count_table`.
        individual: Who one individual is, such as "one household".

    Returns:
        The counted table; cells without a row are 0.

    Raises:
        BadTable: if a column is missing, a count is no integer, a row lies outside the domain (unless its axis has
            ``other``), two rows give one cell, or nested columns decrease.
        NotDeclared: if ``nested`` names an axis that the domain does not have.
        OutOfRange: if both or neither of ``counts`` and ``nested`` are given, or if ``nested`` has more or fewer
            columns than the axis has values.

    >>> domain = Domain(department=["A", "B"], outcome=["admitted", "rejected"])
    >>> table = {"department": ["A", "B"], "applicants": [933, 585], "admitted": [601, 370]}
    >>> nested = {"outcome": ["admitted", "applicants"]}
    >>> cells_table(table, domain, nested=nested, unit=Unit(1, 1)).cells.tolist()
    [[601, 332], [370, 215]]
    """
    declared = declared_domain(domain, None)
    unit, counts = instance(unit, Unit, "unit"), optional(counts, text, "counts")
    nested = optional(nested, mapping, "nested")
    adapter = adapter_of(table)
    names = tuple(adapter.names(table))
    if (counts is None) == (nested is None):
        came = "neither" if counts is None else "both"
        remedy = 'Pass counts="n", the column that holds the count of each cell.'
        raise OutOfRange("exactly one of counts= and nested= must be given", came=came, remedy=remedy)
    axis, columns = (None, [str(counts)]) if nested is None else _nested_axis(nested, declared)
    read = [name for place, keys in enumerate(declared.axes) if place != axis for name in keys.columns]
    for name in (*read, *columns):
        if name not in names:
            raise no_column(name, names)
    spelling = spelling_of_table(table, spelling)
    numbers = [
        integer_column(
            number_cells(adapter.label(table, name), spelling),
            name,
            lambda row: adapter.place(table, row),
            not_whole=SMALLER_UNIT,
        ).astype(object)
        for name in columns
    ]
    places = _rows(adapter, table, declared, axis, spelling)
    if axis is not None:
        # The events that each nested column counts beyond the column before it
        numbers = [numbers[0], *(after - before for before, after in pairwise(numbers))]
        for inner, column, more in zip(["0", *columns], columns, numbers, strict=False):
            # A row with more admitted than applicants, a nested column above the one around it, is refused.
            short = np.flatnonzero(more < 0)
            if len(short):
                raise BadTable(
                    f"{column} must be at least {inner} in every row",
                    came="a smaller number",
                    where=adapter.place(table, int(short[0])),
                    remedy="Correct the row: each nested column must count at least the events of the "
                    "column before it.",
                )
    values = np.stack(numbers, axis=-1)
    # The nested axis is the last axis of `values`; the next line moves it to its position in the domain.
    place = len(declared.axes) if axis is None else axis
    outer = [size for at, size in enumerate(declared.shape) if at != place]
    sums = np.full((int(np.prod(outer, dtype=object)) if outer else 1, values.shape[-1]), 0, dtype=object)
    np.add.at(sums, places, values)
    cells = np.moveaxis(sums.reshape(*outer, values.shape[-1]), -1, place).reshape(declared.shape)
    if all(abs(number) < 1 << 62 for number in cells.ravel()):
        cells = cells.astype(np.int64)
    return CountedTable(declared, cells, unit, adapter.kind(table, names), individual=individual)


def _nested_axis(nested: Mapping[str, Sequence[str]], domain: Domain) -> tuple[int, list[str]]:
    if len(nested) != 1:
        raise OutOfRange(
            "nested= must name one axis", came=len(nested), remedy='Pass {"outcome": ["admitted", "applicants"]}.'
        )
    ((name, columns),) = nested.items()
    if isinstance(columns, str) or not all(isinstance(column, str) for column in columns):
        raise WrongKind(
            "nested columns must be a list of names",
            came=type(columns).__name__,
            remedy='Pass {"outcome": ["admitted", "applicants"]}.',
        )
    if name not in domain.columns:
        remedy = f'Declare the axis in the domain: "{name}": ["admitted", "rejected"].'
        raise NotDeclared("nested= must name an axis of the domain", came=repr(name), remedy=remedy)
    place = domain.columns.index(name)
    if len(columns) != domain.shape[place] or len(set(columns)) < len(columns):
        raise OutOfRange(
            f"nested= must list {domain.shape[place]} different columns, one for each value of {name!r}",
            came=len(set(columns)),
            remedy="List the columns so that each counts at least the events of the column before it; the "
            "last counts all events.",
        )
    return place, list(columns)


def _rows(
    adapter: TableAdapter, table: Any, domain: Domain, nested: int | None, spelling: Spelling
) -> NDArray[np.int64]:
    """Return the index of each row's cell over all axes except the nested one."""
    cells: Any = 0
    for place, axis in enumerate(domain.axes):
        if place == nested:
            continue
        rows = reader_of(axis, spelling)({name: adapter.label(table, name) for name in axis.columns})
        if len(rows) and rows.min() < 0:
            raise BadTable(
                "the domain must contain the values of every row",
                came="an undeclared value",
                where=f"{adapter.place(table, int(rows.argmin()))}, column {axis.columns[-1]!r}",
                remedy="Declare the value, or other= on the axis, a label for all undeclared values.",
            )
        cells = cells * axis.size + rows
    rows = np.atleast_1d(np.asarray(cells, dtype=np.int64))
    ordered = np.sort(rows)
    if not any(axis.extras for axis in domain.axes) and (ordered[1:] == ordered[:-1]).any():
        raise BadTable(
            "a cell must have at most one row",
            came="two rows for one cell",
            remedy="Add up the rows of each cell first.",
        )
    return rows
