"""Measure two columns of a row by their sum and their difference.

Let one individual change both cells of a row, each by at most s, in at most a fixed number of rows. For an axis of two
values, let x_+ be the sums and x_- the differences of the two cells of each row. A plan on x_+ and a plan on x_-
together cost no more than the more expensive of the two:

    sum over the rows of |d_+| + |d_-|  =  2 sum over the rows of max(|d_1|, |d_2|)  <= 2s rows.

Independent noise on the cells costs the same. The two cells of a row are (x_+ + x_-)/2 and (x_+ - x_-)/2, and have half
the variance of cells with such noise. The error of every answer is the error from the sums plus the error from the
differences, both in closed form.

In the budget shares of a plan, a marginal without this axis measures sums, and a marginal with this axis measures
differences. The shares of sums add up to 1, and so do those of differences. For some units each of these two sums of
shares may be above 1, see `unit_charge`. See proofs/theory/cells-together.md.
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
from utmost.tables.axes.domain import Domain, Marginal

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class PairAxis:
    """An axis of two values; plans measure sums and differences of the two cells of each row."""

    domain: Domain
    place: int  # the index of the axis in the domain
    rows: Domain  # the domain of sums and of differences, in which the axis has one value

    @classmethod
    def of(cls, domain: Domain, name: str) -> "PairAxis":
        """Return the axis with this name; it must have two values and one level."""
        instance(domain, Domain, "domain")
        place, level = domain.level_named(text(name, "name"))
        axis = domain.axes[place]
        if level or axis.size != 2 or len(axis.levels) != 1 or axis.extras:
            remedy = (
                "Declare two columns as an axis of two values, and four columns as an axis of two "
                "pairs and an axis of two values."
            )
            came = f"{axis.size} values, levels {', '.join(axis.levels)}"
            raise OutOfRange("together= must name an axis of two values and one level", came=came, remedy=remedy)
        single = plain([" and ".join(str(label_text(label)) for label in axis.labels[0])]).named(axis.levels[0])
        axes = {axis.levels[0]: axis for axis in (*domain.axes[:place], single, *domain.axes[place + 1 :])}
        return cls(domain, place, Domain(axes))

    @classmethod
    def changed_by(cls, unit: Unit, domain: Domain, together: str) -> "PairAxis":
        """Return the named axis; the unit must have an even number of cells, and no ``in_total``."""
        if unit.in_total is not None:  # in_total bounds the sum of the changes of single cells, not of rows
            remedy = "Leave out together=, or count without in_total=."
            raise Unsupported("only one of together= and in_total= may be given", came="both", remedy=remedy)
        if unit.cells % 2:
            remedy = "Pass Unit(s, 2) if one individual changes the two cells of one row, each by at most s."
            required = "the unit must have an even number of cells: one individual changes both cells of a row"
            raise OutOfRange(required, came=f"cells={unit.cells}", remedy=remedy)
        return cls.of(domain, together)

    @property
    def words(self) -> str:
        """The labels of the two values as text, joined by "and"."""
        return " and ".join(repr(label_text(label)) for label in self.domain.axes[self.place].labels[0])

    def is_difference(self, marginal: Marginal) -> bool:
        return marginal[self.place] == 0

    def of_rows(self, marginal: Marginal) -> Marginal:
        return (*marginal[: self.place], 1, *marginal[self.place + 1 :])

    def rotated(self, sums: NDArray[Any], marginal: Marginal) -> NDArray[Any]:
        """Return the measured numbers of a marginal from the sums over its groups: these sums, or their differences."""
        if not self.is_difference(marginal):
            return sums
        first, second = np.split(sums, 2, axis=self.place)
        return np.asarray(first - second)

    @property
    def name(self) -> str:
        return self.domain.columns[self.place]

    def of_sums(self, marginal: Marginal) -> Marginal:
        """Return the marginal of the domain that measures sums, for a marginal of `rows`."""
        return self.of_rows(marginal)

    def of_differences(self, marginal: Marginal) -> Marginal:
        """Return the marginal of the domain that measures differences, for a marginal of `rows`."""
        return (*marginal[: self.place], 0, *marginal[self.place + 1 :])

    def split(self, marginals: Mapping[Marginal, T]) -> tuple[dict[Marginal, T], dict[Marginal, T]]:
        """Split a mapping by marginals in two, for sums and for differences; both are by marginals of `rows`."""
        halves: tuple[dict[Marginal, T], dict[Marginal, T]] = ({}, {})
        for marginal, value in marginals.items():
            halves[self.is_difference(marginal)][self.of_rows(marginal)] = value
        return halves

    def joined(self, sums: Mapping[Marginal, T], differences: Mapping[Marginal, T]) -> dict[Marginal, T]:
        """Return the inverse of `split`: one mapping over marginals of the domain."""
        of_differences = {self.of_differences(marginal): value for marginal, value in differences.items()}
        return {**{self.of_sums(marginal): value for marginal, value in sums.items()}, **of_differences}

    def sides(self, workload: Workload) -> tuple[Workload | None, Workload | None]:
        """Return the workload of the sums and the workload of the differences; None if a workload is empty."""
        # An answer c_1 x_1 + c_2 x_2 of a row is (c_1 + c_2)/2 of its sum plus (c_1 - c_2)/2 of its difference.
        # The squares of these coefficients are in the weights, so that the two weighted errors add up to the workload's
        # error.
        return self._side(workload, 1), self._side(workload, -1)

    def has_no_covariance(self, part: WantedSums) -> bool:
        """Whether answers give both columns the same weight: then errors of sums and differences are uncorrelated."""
        squares = (part.sums[self.place].matrix(self.domain.axes[self.place]).astype(int) ** 2).sum(axis=0)
        return bool(squares[0] == squares[1])

    def _side(self, workload: Workload, sign: int) -> Workload | None:
        parts = []
        for part in workload.parts:
            along = part.sums[self.place].matrix(self.domain.axes[self.place]).astype(int)
            square = Fraction(int(((along[:, 0] + sign * along[:, 1]) ** 2).sum()), 4 * len(along))
            sums = (*part.sums[: self.place], Groups(1), *part.sums[self.place + 1 :])
            if square:
                answers = part.answers // len(along)
                parts.append(replace(part, weight=part.weight * square, sums=sums, answers=answers))
        return Workload.of_parts(self.rows, parts) if parts else None
