"""The axis along which one individual changes whole rows, that is, all cells of a row together."""

from dataclasses import dataclass

from utmost.core.exact.arguments import instance, text
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.tables.axes.axes import label_text
from utmost.tables.axes.domain import Domain

MOST_TOGETHER = 5  # signed sums are searched along an axis of at most this number of values


@dataclass(frozen=True, slots=True, eq=False)
class WholeRows:
    """An axis of two to five values; a row has one cell for each of its values."""

    domain: Domain
    place: int  # the position of the axis among the domain's axes

    @classmethod
    def of(cls, domain: Domain, name: str) -> "WholeRows":
        """Return the axis with this name; it must have one level and two to five values."""
        instance(domain, Domain, "domain")
        place, level = domain.level_named(text(name, "name"))
        axis = domain.axes[place]
        if level or not 2 <= axis.size <= MOST_TOGETHER or len(axis.levels) != 1 or axis.extras:
            remedy = "Declare, for example, six columns as an axis of three pairs and an axis of two values."
            came = f"{axis.size} values, levels {', '.join(axis.levels)}"
            raise OutOfRange(
                f"together= must name an axis of 2 to {MOST_TOGETHER} values and one level", came=came, remedy=remedy
            )
        return cls(domain, place)

    @classmethod
    def changed_by(cls, unit: Unit, domain: Domain, together: str) -> "WholeRows":
        """Return the named axis; the unit's number of cells must be a multiple of the cells in a row."""
        rows = cls.of(domain, together)
        rows.check_whole(unit.cells)
        return rows

    @property
    def name(self) -> str:
        return self.domain.columns[self.place]

    @property
    def values(self) -> int:
        """The number of values of the axis, which is the number of cells in a row."""
        return self.domain.axes[self.place].size

    @property
    def words(self) -> str:
        """The labels of the values as text, joined by "and"."""
        return " and ".join(repr(label_text(label)) for label in self.domain.axes[self.place].labels[0])

    def check_whole(self, cells: int, where: str = "cells") -> None:
        """Check that a number of cells is a multiple of a row's cells; ``where`` names the argument in the error."""
        if cells % self.values:
            rows = -(-cells // self.values)
            remedy = f"Pass {where}={rows * self.values} for {rows} row{'s' * (rows > 1)} of {self.values} cells."
            raise OutOfRange(
                f"{where} must be a multiple of {self.values}, the cells in a row",
                came=f"{where}={cells}",
                remedy=remedy,
            )
