"""Sums over groups, and differences of the two values of axes of two."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from utmost.publish.workloads.measuring.marginal_spaces import by_marginals
from utmost.publish.workloads.measuring.measured_families import is_difference
from utmost.publish.workloads.measuring.measured_theorems import OF_DIFFERENCES
from utmost.publish.workloads.measuring.product_rows import ProductRows
from utmost.publish.workloads.measuring.ways.marginal_sums import MarginalSums
from utmost.tables.axes.domain import Domain, Family


@dataclass(frozen=True, slots=True)
class DifferenceSums(MarginalSums):
    """Sums over groups, and of axes of two values the first less the second."""

    proof: ClassVar[str] = OF_DIFFERENCES

    @classmethod
    def of(
        cls, domain: Domain, families: Iterable[Family], together: str | None, rows: ProductRows | None
    ) -> Self | None:
        """Families of which some measure differences."""
        listed = tuple(families)
        is_this = any(map(is_difference, listed)) and by_marginals(domain, listed)
        return cls(domain) if together is None and rows is None and is_this else None
