"""The axis of which one individual changes whole rows: all cells along it together, and no others."""

from dataclasses import dataclass

from utmost.core.exact.arguments import instance, text
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.tables.axes.axes import label_text
from utmost.tables.axes.domain import Domain

MOST_TOGETHER = 5
"""Along an axis of more values no signed sums are searched."""


@dataclass(frozen=True, slots=True, eq=False)
class WholeRows:
    """An axis of two to five values; a row has a cell for each.

    Attributes:
        domain: Domain of the axis.
        place: Place of the axis.
    """

    domain: Domain
    place: int

    @classmethod
    def of(cls, domain: Domain, name: str) -> "WholeRows":
        """The axis of this name.

        >>> WholeRows.of(Domain(row=list("ABC"), quarter=["q1", "q2", "q3"]), "quarter").words
        "'q1' and 'q2' and 'q3'"
        """
        instance(domain, Domain, "domain")
        place, level = domain.level_named(text(name, "name"))
        axis = domain.axes[place]
        if level or not 2 <= axis.size <= MOST_TOGETHER or len(axis.levels) != 1 or axis.extras:
            remedy = "Declare more columns as an axis of pairs and one of two."
            came = f"{axis.groups(level)} values of {len(axis.levels)} levels"
            raise OutOfRange(f"together must name an axis of 2 to {MOST_TOGETHER} values", came=came, remedy=remedy)
        return cls(domain, place)

    @classmethod
    def changed_by(cls, unit: Unit, domain: Domain, together: str) -> "WholeRows":
        """The axis whose cells in a row one individual changes together."""
        rows = cls.of(domain, together)
        rows.check_whole(unit.cells)
        return rows

    @property
    def name(self) -> str:
        """The name of the axis."""
        return self.domain.columns[self.place]

    @property
    def values(self) -> int:
        """Number of cells in a row."""
        return self.domain.axes[self.place].size

    @property
    def words(self) -> str:
        """The values."""
        return " and ".join(repr(label_text(label)) for label in self.domain.axes[self.place].labels[0])

    def check_whole(self, cells: int, where: str = "cells") -> None:
        """Check that so many cells are whole rows."""
        if cells % self.values:
            whole = -(-cells // self.values) * self.values
            remedy = f"Pass {where}={whole} for {whole // self.values} rows of {self.values} cells."
            raise OutOfRange("one individual must change whole rows", came=f"{where}={cells}", remedy=remedy)
