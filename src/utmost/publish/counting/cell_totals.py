"""Sums of cells as Arrow batches, which an engine adds up; a cell occurs at most once in a batch."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import largest_size
from utmost.errors import Unsupported
from utmost.publish.counting.bounding import Pairs, added_by_cell
from utmost.tables.optional_imports import extra

CELL, TOTAL = "cell", "total"
_FITS = 1 << 62

CellTotals = tuple[NDArray[np.int64], NDArray[Any]]
"""Distinct cell numbers, and the sum of each of these cells over some persons."""


def cell_totals(pairs: Pairs) -> Any:
    """Add up pairs over all persons; return an Arrow batch of cells and totals."""
    arrow = extra("pyarrow", "tables")
    cells, totals = added_by_cell(pairs)
    return arrow.record_batch({CELL: arrow.array(cells, arrow.int64()), TOTAL: wide_integers(totals)})


def wide_integers(numbers: NDArray[Any]) -> Any:
    """Convert integers to an Arrow array of 38-digit decimals, the type in which engines add up."""
    arrow = extra("pyarrow", "tables")
    whole = arrow.decimal128(38, 0)
    if numbers.dtype != object:
        return arrow.array(numbers, arrow.int64()).cast(whole)
    try:
        return arrow.array([Decimal(int(number)) for number in numbers], whole)
    except arrow.ArrowInvalid:
        remedy = "Pass a smaller per_cell=, or collect the frame first."
        raise Unsupported(
            "a sum that an engine computes must have at most 38 digits", came="a larger sum", remedy=remedy
        ) from None


def totals_schema(keys: str, text: bool = False) -> Any:
    """Return the Arrow schema of totals by cell number, or with ``text`` the schema of totals by the text of a key."""
    arrow = extra("pyarrow", "tables")
    return arrow.schema([(keys, arrow.string() if text else arrow.int64()), (TOTAL, arrow.decimal128(38, 0))])


def gathered_totals(parts: Iterable[CellTotals], size: int) -> NDArray[Any]:
    """Add up the sums of all parts in an array of ``size`` cells: int64, or Python integers if int64 could overflow."""
    sums: NDArray[Any] = np.zeros(size, dtype=np.int64)
    largest = 0
    for cells, totals in parts:
        largest += largest_size(totals)
        if largest >= _FITS:
            sums = sums.astype(object)
        sums[cells] += totals.astype(sums.dtype)
    return sums


def read_totals(batches: Iterable[Any]) -> Iterator[CellTotals]:
    arrow = extra("pyarrow", "tables")
    for batch in batches:
        totals = batch.column(TOTAL)
        try:
            sums = np.asarray(totals.cast(arrow.int64()).to_numpy())
        except arrow.ArrowInvalid:  # decimals beyond int64
            sums = np.array([int(total) for total in totals.to_pylist()], dtype=object)
        yield np.asarray(batch.column(CELL).to_numpy()), sums
