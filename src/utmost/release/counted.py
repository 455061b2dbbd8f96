"""A table that was counted from people: its atoms, and the unit of privacy that the counting proved."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable, OutOfRange
from utmost.exact import frozen
from utmost.privacy import Unit
from utmost.release.adapters import table_of
from utmost.workloads import Domain, Family


@dataclass(frozen=True, slots=True, eq=False)
class CountedTable:
    """The true counts, or sums, of every atom of a declared domain; made by `count_table`.

    It holds true values: it is released and never published.

    Args:
        domain: the declared domain.
        atoms: an integer for each atom, of the domain's shape.
        unit: what one individual's presence changes, proven by how the table was counted.
        kind: of what kind the tables made of it are, as an adapter names it.
        part: where individuals were split into parts that share nobody: the partition and this part of it.

    Raises:
        BadTable: for atoms of another shape, or that are no integers.
    """

    domain: Domain
    atoms: NDArray[Any] = field(repr=False)
    unit: Unit
    kind: str = "columns:"
    part: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        atoms = np.asarray(self.atoms)
        if atoms.shape != self.domain.shape or atoms.dtype.kind not in "iuO":
            came = f"{atoms.dtype} of shape {atoms.shape}"
            raise BadTable(f"there must be an integer for each atom, of shape {self.domain.shape}", came=came)
        object.__setattr__(self, "atoms", frozen(atoms.copy()))

    def check_covered(self, unit: Unit) -> None:
        """Check that a unit of privacy is no smaller than the one that was proven.

        Raises:
            OutOfRange: for a smaller one, or another relation of neighbours.
        """
        mine = self.unit
        if unit.neighbours != mine.neighbours or unit.sensitivity < mine.sensitivity or unit.cells < mine.cells:
            raise OutOfRange(
                f"the unit of privacy must cover the one that the counting proved, {mine}",
                came=unit,
                remedy="Leave it out, and the proven one is taken.",
            )

    def table(self, family: str | Sequence[str] | Family = (), column: str = "count") -> Any:
        """The true sums over one family as a table: its labels, and the sums in one column; by default the total."""
        chosen = self.domain.family(family)
        if column in self.domain.level_names(chosen):
            raise OutOfRange("the column of counts must have a name of its own", came=repr(column))
        labels = self.domain.group_labels(chosen)
        sums = self.domain.sums(self.atoms, chosen).ravel()
        columns = {**{name: np.array(values) for name, values in labels.items()}, column: sums}
        marks = "a" * len(columns)
        return table_of(self.kind if self.kind.startswith("dataframe:") else f"columns:{marks}", columns)
