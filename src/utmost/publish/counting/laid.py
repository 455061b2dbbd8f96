"""A table as a release reads it, whatever came: a frame with what was said of it, or a table that counted itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from utmost.laws.exact import Number
from utmost.laws.privacy.unit import Unit, read_unit
from utmost.publish.tables.adapters import brought


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A table as a release reads it; of a counted one the labels are public, and the unit is proved.

    Attributes:
        table, columns, public: as the arguments of `release_table`.
        labels: the columns of a counted table that were declared with its domain; none of another table.
        unit: what one individual changes.
        part: where individuals were split into parts that share nobody, the part of a counted table.
    """

    table: Any
    columns: str | Sequence[str]
    public: str | Sequence[str]
    labels: tuple[str, ...]
    unit: Unit
    part: tuple[str, str] | None = None

    @classmethod
    def of(
        cls,
        table: Any,
        columns: str | Sequence[str] | None,
        public: str | Sequence[str] = (),
        drop: str | Sequence[str] = (),
        unit: Unit | None = None,
        sensitivity: Number | None = None,
        cells: Number | None = None,
        neighbours: str | None = None,
    ) -> "Laid":
        """Read a table that may be a counted one; the columns of a counted one may be left out, and the unit too.

        A kind of table that knows its own labels and unit says so by a method ``_laid_out``, as `CountedTable` does.

        Raises:
            OutOfRange: for a unit smaller than the one that was proved, or none where nothing was proved; and for a
                counted table with several columns.
        """
        lay_out = getattr(type(table), "_laid_out", None)
        if lay_out is not None:
            laid: Laid = lay_out(table, columns, public, drop, unit, (sensitivity, cells, neighbours))
            return laid
        promised = read_unit(unit, sensitivity, cells, neighbours)
        promised.check_plain()
        return cls(brought(table), () if columns is None else columns, public, (), promised)
