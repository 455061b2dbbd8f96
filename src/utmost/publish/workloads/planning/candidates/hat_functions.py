"""Hat functions along one axis of which ranges or prefixes are wanted, beside marginals."""

from utmost.publish.workloads.measuring.marginal_spaces import is_vast
from utmost.publish.workloads.measuring.unit_charge import Room
from utmost.publish.workloads.measuring.wanted_sums import axes_in_order
from utmost.publish.workloads.planning.candidates.candidate import (
    Measured,
    Obstacle,
    PlanRequest,
    Shares,
    least_of_rooms,
    mean_alone,
)
from utmost.publish.workloads.planning.hat_search import hat_shares


class HatFunctions:
    """The search over spacings and shares."""

    name = "hat functions"

    def obstacle(self, request: PlanRequest) -> Obstacle | None:
        """Hat functions need an axis in order, and a domain that can be laid out."""
        remedy = 'Want Workload.ranges or Workload.prefixes of an axis, or pass method="marginals".'
        if not axes_in_order(request.workload):
            return Obstacle("hat functions serve ranges and prefixes of an axis of three values or more", remedy)
        if is_vast(request.workload.domain) or request.unit.is_distinct:
            return Obstacle("hat functions are measured over domains that can be laid out, of what adds up", remedy)
        return mean_alone(self.name, request)

    def search(self, request: PlanRequest) -> Measured:
        """The spacings and shares of least error that are found."""
        return Measured(least_of_rooms(request, _shares))


def _shares(request: PlanRequest, room: Room) -> Shares:
    return hat_shares(request.workload, request.level_of_cells, room)[0]
