"""The cost of an error, from a name or a file; without the rooms of designs, for which a release does not wait."""

from pathlib import Path

from utmost.core.noise.costs import Cost, cost_named, tabled
from utmost.errors import BadTable
from utmost.tables.files.small_tables import number_rows

_ENDINGS = (".csv", ".tsv", ".txt")


def is_file(text: str) -> bool:
    """Whether a cost, a prior or a loss is meant as a file: by its ending."""
    return Path(text).suffix.lower() in _ENDINGS


def cost_of(text: str) -> Cost:
    """The cost of an error that a name gives, or a file of two columns: sizes from 0 on, and what each costs.

    Raises:
        OutOfRange, NotALoss, NotMonotone: for what is no cost.
        BadTable: for a file that is no table of two columns of numbers.
    """
    if not is_file(text):
        return cost_named(text)
    rows = number_rows(Path(text))
    if len(rows[0]) != 2:
        raise BadTable("a file of costs needs two columns, size and cost", came=f"{len(rows[0])}", where=text)
    if len({size for size, _ in rows}) != len(rows):
        raise BadTable("a file of costs must name each size once", came="one twice", where=text)
    return tabled({row[0]: row[1] for row in rows})
