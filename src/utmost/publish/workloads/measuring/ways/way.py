"""The protocol of all ways to measure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.privacy.unit import Unit
from utmost.errors import Unsupported
from utmost.publish.workloads.bounds.workload_bounds import bounds_of
from utmost.publish.workloads.bounds.workload_evidence import WorkloadBounds
from utmost.publish.workloads.measuring.pair_axis import PairAxis
from utmost.publish.workloads.reconstruction.estimates import LeastSquares
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Family
from utmost.tables.axes.few_cells import FewCells

ITS_SHARE = "each query group has a share of epsilon, and its sums get noise at that share."
"""How most ways begin their proofs."""

FREE_ESTIMATES = (
    "The published tables are computed from the noisy sums, which costs nothing more, and without bias. Kept in "
    "a ledger, they can be made more accurate later with the same shares, and the total cost is then the larger "
    "epsilon alone"
)
"""How all ways end their proofs."""

Shares = Mapping[Family, Fraction]
Sums = Iterator[tuple[Family, NDArray[Any]]]


class Measurement(Protocol):
    """The sums that are measured of a domain, and all that follows from them.

    Attributes:
        is_cleanable: whether clean tables can be made from its estimates.
        method: the method of `choose_plan` that plans the same kind of sums for other weights.
    """

    is_cleanable: ClassVar[bool]
    method: ClassVar[str]

    @property
    def pair(self) -> PairAxis | None:
        """The axis whose sums and differences are measured; None where cells are."""

    def check(self, unit: Unit, shares: Shares) -> None:
        """Check that this can be measured for a unit, at shares that spend the level."""

    def charge(self, unit: Unit, shares: Shares) -> Fraction:
        """How much of its level these shares spend on one individual; see `unit_charge`."""

    def adds_to_one(self, shares: Shares) -> bool:
        """Whether the shares add up to 1, as they always may."""

    def shape(self, family: Family) -> tuple[int, ...]:
        """The shape of what a family measures."""

    def words(self, family: Family) -> str:
        """The sums of a family, in words."""

    def kind(self, family: Family) -> str:
        """The kind of a family's sums in words, where they are not of groups alone."""

    def sums(self, cells: NDArray[Any] | FewCells, families: Iterable[Family]) -> Sums:
        """The true sums of each family, one family after the other, from a number for each cell."""

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        """Check that every wanted answer follows from what is measured."""

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        """The mean variance of each wanted part's answers at a level; inf where it is not determined."""

    def reconstruction(self, weights: Mapping[Family, int]) -> LeastSquares:
        """The estimates from what is measured, by weights, with their covariances for margins."""

    def theorem(self, unit: Unit, shares: Shares) -> str:
        """Why the noise of these shares keeps the level."""

    def bounds(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> WorkloadBounds:
        """Lower bounds of the weighted error."""


def bounds_without_families(
    workload: Workload, unit: Unit, level: Level, why: str, together: str | None = None
) -> WorkloadBounds:
    """All lower bounds but that of the measured families, which is not known for a reason."""
    rows = None if unit.needs_sizes else together
    # Of individuals who change several rows, those who change one are fewer, so that a bound for them holds.
    is_alone = unit.is_shared or (together is not None and rows is None)
    bounds = bounds_of(workload, replace(unit, cells=1) if is_alone else unit, level, together=rows)
    return replace(bounds, these_families=None, not_bounded={**bounds.not_bounded, "these families": why})


def laid_out(cells: NDArray[Any] | FewCells) -> NDArray[Any]:
    """Every cell's number."""
    if isinstance(cells, FewCells):
        remedy = "Plan without together= and without rows, or count over fewer axes."
        raise Unsupported("a domain of so many cells is measured by its tables", came="others", remedy=remedy)
    return cells
