"""Read the cost of an error from a name or a file. This module imports no designs, so that a release starts fast."""

from pathlib import Path

from utmost.core.noise.costs import Cost, cost_named, tabled
from utmost.errors import BadTable
from utmost.tables.files.small_tables import number_rows

_ENDINGS = (".csv", ".tsv", ".txt")


def is_file(text: str) -> bool:
    """Check whether a text that names a cost, a prior or a loss ends like the name of a file."""
    return Path(text).suffix.lower() in _ENDINGS


def cost_of(text: str) -> Cost:
    """Return a cost by name, or from a file with two columns: the sizes of errors, from 0, and their costs."""
    if not is_file(text):
        return cost_named(text)
    rows = number_rows(Path(text))
    if len(rows[0]) != 2:
        raise BadTable("a file of costs needs two columns, size and cost", came=f"{len(rows[0])}", where=text)
    if len({size for size, _ in rows}) != len(rows):
        raise BadTable("a file of costs must name each size of error once", came="one size twice", where=text)
    return tabled({row[0]: row[1] for row in rows})
