"""Sums over groups, and differences of the two values of axes of two."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from utmost.publish.workloads.measuring.marginal_spaces import by_marginals
from utmost.publish.workloads.measuring.measured_families import is_difference
from utmost.publish.workloads.measuring.product_rows import ProductRows
from utmost.publish.workloads.measuring.ways.marginal_sums import MarginalSums
from utmost.tables.axes.domain import Domain, Family

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

    @classmethod
    def of(
        cls, domain: Domain, families: Iterable[Family], together: str | None, rows: ProductRows | None
    ) -> Self | None:
        """Families of which some measure differences."""
        listed = tuple(families)
        is_this = any(map(is_difference, listed)) and by_marginals(domain, listed)
        return cls(domain) if together is None and rows is None and is_this else None
