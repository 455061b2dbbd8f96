"""Sums over groups, and differences of the two values of axes of two."""

from dataclasses import dataclass
from typing import ClassVar

from utmost.publish.workloads.measuring.ways.marginal_sums import MarginalSums

_OF_DIFFERENCES = (
    "each sum of a family is noised at the family's share of the level, one individual changes no more cells than are "
    "charged, each cell lies in one group of a family, where it is added or, in differences of two values, taken off, "
    "and the shares are together 1; what is computed of the sums costs nothing. Estimates are linear, unbiased "
    "exactly; lossless to relax with these shares"
)


@dataclass(frozen=True, slots=True)
class DifferenceSums(MarginalSums):
    """Sums over groups, and of axes of two values the first less the second."""

    proof: ClassVar[str] = _OF_DIFFERENCES
