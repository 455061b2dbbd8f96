"""The protocol of the searches of `choose_plan`, with their request and their result."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from utmost.core.exact.levels import Level
from utmost.core.privacy.unit import Unit
from utmost.errors import NotALevel
from utmost.publish.workloads.bounds.workload_evidence import level_of_cells
from utmost.publish.workloads.measuring.even_levels import EvenLevels
from utmost.publish.workloads.measuring.product_rows import ProductRows
from utmost.publish.workloads.measuring.unit_charge import charge_of
from utmost.publish.workloads.measuring.wanted_sums import is_unequal_tree, wants_marginals
from utmost.publish.workloads.measuring.ways.way import Shares
from utmost.publish.workloads.measuring.ways_to_measure import measurement_of
from utmost.publish.workloads.row_unit import WholeRows
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal, finest_common

_LEAST = 1e-100


@dataclass(frozen=True, slots=True, eq=False)
class PlanRequest:
    """The arguments of `choose_plan`, as every search reads them."""

    workload: Workload
    unit: Unit
    level: Level  # the highest level of the release, where errors are compared
    candidates: tuple[Any, ...] | None  # marginals that may be measured; None for all
    aim: str  # one of `AIMS`
    together: WholeRows | None  # the axis along which one individual changes whole rows

    def __post_init__(self) -> None:
        if self.level.epsilon_float < _LEAST:
            remedy = "Pass a larger epsilon: the errors at this epsilon are too large for floats."
            raise NotALevel("a plan needs a level of at least 1e-100", came=self.level, remedy=remedy)

    @property
    def is_restricted(self) -> bool:
        """Whether the user gave ``candidates``, or the aim "largest"."""
        return self.candidates is not None or self.aim == "largest"

    @property
    def has_limits(self) -> bool:
        """Whether no table may have a larger error than with separate noise; see `table_limits`."""
        return self.aim == "each" and self.candidates is None

    @property
    def level_of_cells(self) -> float:
        """The epsilon that the noise of a marginal with share 1 has, for a change of a cell by 1."""
        return float(level_of_cells(self.unit, self.level).epsilon_float)


class SearchObstacle(NamedTuple):
    """The reason why a search does not apply, and a remedy."""

    reason: str
    remedy: str


class FoundSums(NamedTuple):
    """The result of a search: budget shares; the axis of rotated or signed sums or None; listed rows or None."""

    shares: Shares
    together: str | None = None
    rows: ProductRows | None = None

    def variances(self, request: PlanRequest) -> dict[str, float]:
        """Return the mean variance of each wanted part at the level of the request."""
        measurement = measurement_of(request.workload.domain, self.shares, self.together, self.rows)
        return measurement.variances(request.workload, request.unit, self.shares, request.level)

    def value(self, request: PlanRequest, *, aim: str = "mean") -> float:
        """Return the sum of weighted mean variances, or the largest one if ``aim`` is "largest"."""
        variances = self.variances(request)
        weighted = [float(part.weight) * variances[part.name] for part in request.workload.parts]
        return max(weighted) if aim == "largest" else sum(weighted)


class PlanSearch(Protocol):
    """A search for one kind of sums to measure."""

    name: str  # the kind of sums, for people

    def obstacle(self, request: PlanRequest) -> SearchObstacle | None:
        """Return the reason why the search does not apply to this request; None if it applies."""

    def search(self, request: PlanRequest) -> FoundSums:
        """Return the sums of least error found; raise Unsupported if the search turns out not to apply."""


def mean_alone(name: str, request: PlanRequest) -> SearchObstacle | None:
    """Return the obstacle for a search that cannot obey ``candidates`` or the aim "largest"; None without these."""
    if not request.is_restricted:
        return None
    remedy = 'Leave out candidates= and aim=, or pass method="marginals".'
    return SearchObstacle(f'{name} can be searched only without candidates= and aim="largest"', remedy)


def cells_alone(workload: Workload, unit: Unit) -> Shares:
    """Return the coarsest measurable marginal that determines all wanted sums, at a share that spends the level."""
    marginal = coarsest(workload)
    charge = charge_of(workload.domain, unit, {marginal: Fraction(1)})
    return {marginal: 1 / (charge or Fraction(1))}  # a public total costs nothing


def coarsest(workload: Workload) -> Marginal:
    """Return the coarsest measurable marginal that determines all wanted sums."""
    if is_unequal_tree(workload.domain) or wants_marginals(workload):
        return finest_common(workload.marginals)
    even = EvenLevels.of(workload)
    return even.restored(finest_common(even.workload.marginals))
