r"""Two columns of one row as their sum and their difference: what is measured, at which shares, with which error.

Let one individual change both cells of a row, each by at most s, and no other row. For an axis of two values let x_+ be
the sums and x_- the differences of the two cells of each row. Any plan on x_+ and any on x_- cost together no more
than one of them by itself:

    sum over the rows of |d_+| + |d_-|  =  2 sum over the rows of max(|d_1|, |d_2|)  <=  2s rows,

which is what independent noise would pay for the cells. A cell is (x_+ +- x_-)/2, with half the variance, and the
errors of all answers fall into a part of the sums and a part of the differences, each in closed form.

In the shares of a plan, a family without the axis measures sums, one with it differences; each kind has shares
that add up to 1, or that `unit_charge` allows. See proofs/theory/cells-together.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, text
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.measuring.axis_sums import Groups
from utmost.publish.workloads.workload import WantedSums, Workload
from utmost.tables.axes.axes import label_text, plain
from utmost.tables.axes.domain import Domain, Family

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class PairAxis:
    """An axis of two values, whose sums and differences are measured.

    Attributes:
        domain: Domain of the axis.
        place: Place of the axis.
        rows: the domain of sums, and of differences: the axis has one value left.
    """

    domain: Domain
    place: int
    rows: Domain

    @classmethod
    def of(cls, domain: Domain, name: str) -> "PairAxis":
        """The axis of this name.

        >>> PairAxis.of(Domain(row=list("ABC"), column=["applied", "admitted"]), "column").words
        "'applied' and 'admitted'"
        """
        instance(domain, Domain, "domain")
        place, level = domain.level_named(text(name, "name"))
        axis = domain.axes[place]
        if level or axis.size != 2 or len(axis.levels) != 1 or axis.extras:
            remedy = (
                "Declare the two columns as an axis of two values; more columns as an axis of pairs and one of two."
            )
            came = f"{axis.groups(level)} values of {len(axis.levels)} levels"
            raise OutOfRange("together must name an axis of two values", came=came, remedy=remedy)
        single = plain([" and ".join(str(label_text(label)) for label in axis.labels[0])]).named(axis.levels[0])
        axes = {axis.levels[0]: axis for axis in (*domain.axes[:place], single, *domain.axes[place + 1 :])}
        return cls(domain, place, Domain(axes))

    @classmethod
    def changed_by(cls, unit: Unit, domain: Domain, together: str) -> "PairAxis":
        """The axis whose two cells in a row one individual changes together.

        Raises:
            OutOfRange: for a unit of an odd number of cells; as `of`.
            Unsupported: for cells that are bounded in all: that bound is of each cell by itself.
        """
        if unit.in_all is not None:
            remedy = "Leave together= out, or count without in_all=."
            raise Unsupported("only one of together= and in_all= may be given", came="both", remedy=remedy)
        if unit.cells % 2:
            remedy = "Pass Unit(s, 2) where one individual changes the two cells of one row, each by at most s."
            required = "the unit must have an even number of cells: one individual changes both cells of a row"
            raise OutOfRange(required, came=f"cells={unit.cells}", remedy=remedy)
        return cls.of(domain, together)

    @property
    def words(self) -> str:
        """The two values."""
        return " and ".join(repr(label_text(label)) for label in self.domain.axes[self.place].labels[0])

    def is_difference(self, family: Family) -> bool:
        """Whether a family of the domain measures differences."""
        return family[self.place] == 0

    def of_rows(self, family: Family) -> Family:
        """A family, over rows."""
        return (*family[: self.place], 1, *family[self.place + 1 :])

    def rotated(self, sums: NDArray[Any], family: Family) -> NDArray[Any]:
        """The measured numbers of a family, from the sums over its groups: these, or differences of two values."""
        if not self.is_difference(family):
            return sums
        first, second = np.split(sums, 2, axis=self.place)
        return np.asarray(first - second)

    @property
    def name(self) -> str:
        """The name of the axis."""
        return self.domain.columns[self.place]

    def of_sums(self, family: Family) -> Family:
        """The family of the domain that measures the sums of a family over rows."""
        return self.of_rows(family)

    def of_differences(self, family: Family) -> Family:
        """The family of the domain that measures the differences of a family over rows."""
        return (*family[: self.place], 0, *family[self.place + 1 :])

    def split(self, families: Mapping[Family, T]) -> tuple[dict[Family, T], dict[Family, T]]:
        """Split a mapping by families of the domain into one of sums and one of differences, over rows."""
        halves: tuple[dict[Family, T], dict[Family, T]] = ({}, {})
        for family, value in families.items():
            halves[self.is_difference(family)][self.of_rows(family)] = value
        return halves

    def joined(self, sums: Mapping[Family, T], differences: Mapping[Family, T]) -> dict[Family, T]:
        """Join mappings of sums and of differences over rows into one by families of the domain; see `split`."""
        apart = {self.of_differences(family): value for family, value in differences.items()}
        return {**{self.of_sums(family): value for family, value in sums.items()}, **apart}

    def sides(self, workload: Workload) -> tuple[Workload | None, Workload | None]:
        """The workload as one of the sums and one of the differences; None for a side on which nothing is wanted.

        The weighted error of the workload is that of the two together: an answer with the coefficients c_1 and c_2 in
        a row has (c_1 + c_2)/2 of its sum and (c_1 - c_2)/2 of its difference, and the squares are in the weights.

        >>> domain = Domain(row=list("ABC"), column=["applied", "admitted"])
        >>> for side in PairAxis.of(domain, "column").sides(Workload(domain, {"row column": 1, "row": 1})):
        ...     print(side)
        Workload(row column: 3 answers, weight 5/4)
        Workload(row column: 3 answers, weight 1/4)
        """
        return self._side(workload, 1), self._side(workload, -1)

    def is_alike(self, part: WantedSums) -> bool:
        """Whether answers take as much of one column as of the other, so that sums and differences do not mix."""
        squares = (part.sums[self.place].matrix(self.domain.axes[self.place]).astype(int) ** 2).sum(axis=0)
        return bool(squares[0] == squares[1])

    def _side(self, workload: Workload, sign: int) -> Workload | None:
        parts = [half for part in workload.parts if (half := self._part(part, sign)) is not None]
        return Workload.of_parts(self.rows, parts) if parts else None

    def _part(self, part: WantedSums, sign: int) -> WantedSums | None:
        along = part.sums[self.place].matrix(self.domain.axes[self.place]).astype(int)
        square = Fraction(int(((along[:, 0] + sign * along[:, 1]) ** 2).sum()), 4 * len(along))
        sums = (*part.sums[: self.place], Groups(1), *part.sums[self.place + 1 :])
        answers = part.answers // len(along)
        return replace(part, weight=part.weight * square, sums=sums, answers=answers) if square else None
