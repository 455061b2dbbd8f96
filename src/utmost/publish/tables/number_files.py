"""Files of numbers: a prior or a loss as CSV, read exactly as it is written."""

from fractions import Fraction
from pathlib import Path
from typing import Any

from utmost.errors import BadTable, NotANumber
from utmost.laws.exact import exact
from utmost.publish.tables import csv_table
from utmost.publish.tables.cell_values import kind_of


def number_rows(path: Path) -> list[list[Fraction]]:
    """The rows of a CSV file of numbers: all of one length, without the header where there is one.

    The first row is a header when no cell of it is a number.

    Raises:
        BadTable: naming the place of a cell that is no number, and for rows of different lengths or no row at all.
    """
    rows: list[list[Fraction]] = []
    for at, (line, record) in enumerate(csv_table.records(path)):
        if at == 0 and not any(map(is_number, record)):
            continue
        rows.append([number_in(cell, f"{path}, line {line}, column {k + 1}") for k, cell in enumerate(record)])
        if len(rows[-1]) != len(rows[0]):
            came = f"{len(rows[-1])} after rows of {len(rows[0])}"
            raise BadTable("every row must have as many numbers", came=came, where=f"{path}, line {line}")
    if not rows:
        raise BadTable("the file must hold numbers", came="none", where=str(path))
    return rows


def number_in(cell: Any, where: str) -> Fraction:
    """The number in a cell, exactly; ``where`` names the place in the message."""
    try:
        return exact(cell)
    except NotANumber:
        raise BadTable("every cell must be a finite number", came=kind_of(cell), where=where) from None


def is_number(cell: str) -> bool:
    """Whether a cell spells a finite number."""
    try:
        exact(cell)
    except NotANumber:
        return False
    return True
