"""Measure sums over groups, and differences of the two values of axes with two values."""

from dataclasses import dataclass
from typing import ClassVar

from utmost.publish.workloads.measuring.ways.marginal_sums import MarginalSums
from utmost.publish.workloads.measuring.ways.way import FREE_ESTIMATES, ITS_SHARE

_OF_DIFFERENCES = (
    f"{ITS_SHARE} Sums and differences are measured. One individual changes no "
    "more cells than are charged, each cell is added to one sum of a marginal or subtracted from it, "
    f"and the shares add up to 1. {FREE_ESTIMATES}"
)


@dataclass(frozen=True, slots=True)
class DifferenceSums(MarginalSums):
    """Measure sums over groups, and along axes of two values the first value minus the second."""

    proof: ClassVar[str] = _OF_DIFFERENCES
