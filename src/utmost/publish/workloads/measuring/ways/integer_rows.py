"""Measure integer rows listed along each axis, and their products; one axis may have signed rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.publish.workloads.bounds.workload_evidence import WorkloadBounds, level_of_cells
from utmost.publish.workloads.measuring.product_errors import product_variances
from utmost.publish.workloads.measuring.product_rows import ProductRows, check_rows
from utmost.publish.workloads.measuring.wanted_sums import undetermined
from utmost.publish.workloads.measuring.ways.way import FREE_ESTIMATES, Shares, Sums, bounds_without_marginals, laid_out
from utmost.publish.workloads.reconstruction.estimates import LeastSquares
from utmost.publish.workloads.reconstruction.product_reconstruction import ProductReconstruction
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.axes.few_cells import FewCells

_OF_ROWS = (
    "each sum gets noise at the budget share of its class of listed rows. Epsilon is divided among all cells "
    "that one individual may change. For each cell, the weight of the cell times the share of the sum, added up over "
    f"all sums that contain the cell, is 1, as the listed rows show. {FREE_ESTIMATES}"
)

_OF_SIGNED = (
    "the signed sums of the cells of a row are measured, each combined with every listed row along the other axes; "
    "the share of a combination is the product of both shares. One individual raises cells of a row and lowers none. "
    "For every such change d by 0 or 1, the sum of share times |a.d| over the signed rows a is at most the level, as "
    "the rows show; and along the other axes the shares add up to at most the level at each value. "
    f"{FREE_ESTIMATES}"
)


@dataclass(frozen=True, slots=True)
class ListedRows:
    """Measure the products of listed rows, see `ProductRows`."""

    is_cleanable: ClassVar[bool] = False
    method: ClassVar[str] = "marginals"
    pair: ClassVar[None] = None
    domain: Domain
    rows: ProductRows
    together: str | None

    def check(self, unit: Unit, shares: Shares) -> None:
        unit.check_adds(is_one_cell=False, came="a plan that measures sums")
        check_rows(self.domain, unit, self.together, self.rows)
        charge = self.rows.charge(shares)
        if charge != 1:
            remedy = "Pass rows.shares, or let ut.choose_plan choose the shares."
            raise OutOfRange("the shares of listed rows must add up to exactly the level", came=charge, remedy=remedy)

    def charge(self, unit: Unit, shares: Shares) -> Fraction:
        """Return an upper bound on the loss; it is exact if one individual changes one cell."""
        return self.rows.charge(shares) * min(Fraction(1), self.domain.size * unit.sensitivity / unit.reach)

    def adds_to_one(self, shares: Shares) -> bool:
        return True  # for each cell, share times entry always adds up to 1

    def shape(self, marginal: Marginal) -> tuple[int, ...]:
        return self.rows.shape(marginal)

    def words(self, marginal: Marginal) -> str:
        return self.rows.words(marginal)

    def kind(self, marginal: Marginal) -> str:
        return self.words(marginal)

    def sums(self, cells: NDArray[Any] | FewCells, marginals: Iterable[Marginal]) -> Sums:
        return iter(self.rows.sums(laid_out(cells), list(marginals)).items())

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        for part in workload.parts:
            wanted = part.marginal(workload.domain)
            if any(level < base for level, base in zip(wanted, self.rows.base, strict=True)):
                raise undetermined(part.name)

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        return product_variances(workload, self.rows, shares, float(level_of_cells(unit, level).epsilon_float))

    def reconstruction(self, weights: Mapping[Marginal, int]) -> LeastSquares:
        return ProductReconstruction(self.rows, weights)

    def theorem(self, unit: Unit, shares: Shares) -> str:
        return _OF_ROWS if self.together is None else _OF_SIGNED

    def bounds(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> WorkloadBounds:
        return bounds_without_marginals(
            workload,
            unit,
            level,
            "a bound over marginals needs sums over groups, and this plan measures listed rows",
            self.together,
        )
