"""The protocol that all methods of measuring implement."""

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
from utmost.tables.axes.domain import Marginal
from utmost.tables.axes.few_cells import FewCells

ITS_SHARE = "each marginal has a share of epsilon, and its sums get noise at that share."
"""The first sentence of most proofs."""

FREE_ESTIMATES = (
    "The published tables are computed from the noisy sums, which costs nothing more, and without bias. Kept in "
    "a ledger, they can be made more accurate later with the same shares, and the total cost is then the larger "
    "epsilon alone"
)
"""The last sentences of all proofs."""

Shares = Mapping[Marginal, Fraction]
Sums = Iterator[tuple[Marginal, NDArray[Any]]]


class Measurement(Protocol):
    """A method of measuring sums of a domain: their charge, variances, estimates and bounds."""

    is_cleanable: ClassVar[bool]  # whether clean tables can be computed from the estimates
    method: ClassVar[str]  # the `method` of `choose_plan` for plans of this kind

    @property
    def pair(self) -> PairAxis | None:
        """The axis along which sums and differences are measured; None without such an axis."""

    def check(self, unit: Unit, shares: Shares) -> None:
        """Check that these shares can be measured for this unit, and spend the level exactly."""

    def charge(self, unit: Unit, shares: Shares) -> Fraction:
        """Return the privacy loss of one individual at these shares, divided by the level; see `unit_charge`."""

    def adds_to_one(self, shares: Shares) -> bool:
        """Whether the shares add up to 1; with rotated sums, whether those of sums do, and those of differences."""

    def shape(self, marginal: Marginal) -> tuple[int, ...]:
        """Return the shape of the array of a marginal's sums."""

    def words(self, marginal: Marginal) -> str:
        """Describe a marginal's sums for people."""

    def kind(self, marginal: Marginal) -> str:
        """Return the kind of a marginal's sums for people; "" for sums over groups."""

    def sums(self, cells: NDArray[Any] | FewCells, marginals: Iterable[Marginal]) -> Sums:
        """Yield each marginal with its true sums."""

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        """Check that the measured sums determine every wanted answer."""

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        """Return the mean variance of each part's answers at a level; inf if some answer is not determined."""

    def reconstruction(self, weights: Mapping[Marginal, int]) -> LeastSquares:
        """Return the least-squares estimator from the measured sums, with these weights."""

    def theorem(self, unit: Unit, shares: Shares) -> str:
        """Return sentences that prove that noise with these shares satisfies the level."""

    def bounds(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> WorkloadBounds:
        """Return lower bounds on the weighted error."""


def bounds_without_marginals(
    workload: Workload, unit: Unit, level: Level, why: str, together: str | None = None
) -> WorkloadBounds:
    """Return the lower bounds of all classes but "given marginals"; ``why`` says why that class has no bound."""
    rows = None if unit.needs_sizes else together
    # To protect individuals who change only one row is easier, so a lower bound for these holds for more rows, too.
    is_alone = unit.is_shared or (together is not None and rows is None)
    bounds = bounds_of(workload, replace(unit, cells=1) if is_alone else unit, level, together=rows)
    return replace(bounds, given_marginals=None, not_bounded={**bounds.not_bounded, "given marginals": why})


def laid_out(cells: NDArray[Any] | FewCells) -> NDArray[Any]:
    """Return an array of all cells; refuse a domain with too many cells for an array."""
    if isinstance(cells, FewCells):
        remedy = "Leave together= and rows= out of the plan, or count over fewer axes."
        raise Unsupported(
            "together= and rows= need a smaller domain", came="too many cells for an array", remedy=remedy
        )
    return cells
