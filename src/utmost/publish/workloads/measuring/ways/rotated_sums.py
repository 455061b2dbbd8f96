"""Measure the sum and the difference of the two cells of each row, if one individual changes both cells."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, isinf
from typing import Any, ClassVar

from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.bounds.workload_evidence import WorkloadBounds
from utmost.publish.workloads.measuring.measured_marginals import marginal_in_words, place_of_hats
from utmost.publish.workloads.measuring.pair_axis import PairAxis
from utmost.publish.workloads.measuring.unit_charge import condition_of_rows
from utmost.publish.workloads.measuring.wanted_sums import undetermined
from utmost.publish.workloads.measuring.ways.group_sums import GroupSums, exactly_charged
from utmost.publish.workloads.measuring.ways.way import FREE_ESTIMATES, Shares, Sums, bounds_without_marginals, laid_out
from utmost.publish.workloads.reconstruction.estimates import LeastSquares
from utmost.publish.workloads.reconstruction.rotated_reconstruction import RotatedReconstruction
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal
from utmost.tables.axes.few_cells import FewCells

_OF_ROTATED = (
    "sums and differences of the two cells of a row are measured, and |d_1 + d_2| + |d_1 - d_2| = 2 max(|d_1|, |d_2|): "
    "one individual changes sums and differences together by no more than independent noise would pay for the cells. "
    "Each marginal has a share of epsilon, and its sums get noise at that share. A row is in one sum of a "
    "marginal, "
    f"and the shares of sums add up to 1, as do those of differences. {FREE_ESTIMATES}"
)


@dataclass(frozen=True, slots=True)
class RotatedSums:
    """Measure sums and differences along an axis of two values; a marginal without this axis measures sums."""

    is_cleanable: ClassVar[bool] = True
    method: ClassVar[str] = "rotated"
    pair: PairAxis

    def check(self, unit: Unit, shares: Shares) -> None:
        PairAxis.changed_by(unit, self.pair.domain, self.pair.name)
        if place_of_hats(shares) is not None:
            remedy = "Leave out together=, or measure groups."
            raise Unsupported("together= cannot be combined with hat functions", came="both", remedy=remedy)
        unit.check_adds(is_one_cell=False, came="a plan that measures sums")
        if not self.adds_to_one(shares) and (min(self._added(shares)) < 1 or self.charge(unit, shares) != 1):
            remedy = f"Pass shares of sums in tables without {self.pair.name!r}, and of differences in tables with it."
            required = "the shares of sums must be positive and add up to 1, and so must the shares of differences"
            raise OutOfRange(required, came="others", remedy=remedy)

    def charge(self, unit: Unit, shares: Shares) -> Fraction:
        """Return the loss by sums or by differences, whichever is larger: |d_+| + |d_-| is 2 max(|d_1|, |d_2|)."""
        return max(self._added(shares)) / condition_of_rows(unit, self.pair.rows.size).scale

    def adds_to_one(self, shares: Shares) -> bool:
        return all(total == 1 for total in self._added(shares))

    def _added(self, shares: Shares) -> list[Fraction]:
        return [sum(side.values(), Fraction(0)) for side in self.pair.split(shares) if side]

    def shape(self, marginal: Marginal) -> tuple[int, ...]:
        return self.pair.domain.group_shape(self.pair.of_rows(marginal))

    def words(self, marginal: Marginal) -> str:
        if not self.pair.is_difference(marginal):
            return marginal_in_words(self.pair.domain, marginal)
        rows = self.pair.domain.marginal_name(self.pair.of_rows(marginal))
        return f"{rows or 'total'}, differences of {self.pair.name}"

    def kind(self, marginal: Marginal) -> str:
        return f"{'differences' if self.pair.is_difference(marginal) else 'sums'} of {self.pair.words}"

    def sums(self, cells: NDArray[Any] | FewCells, marginals: Iterable[Marginal]) -> Sums:
        laid = laid_out(cells)
        return (
            (marginal, self.pair.rotated(self.pair.domain.sums(laid, marginal), marginal)) for marginal in marginals
        )

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        for name, variance in self.variances(workload, unit, shares, level_of(1)).items():
            # Any level serves: whether an answer is determined does not depend on the noise.
            if isinf(variance):
                raise undetermined(name)

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        """For each part, return the variance from the sums plus the variance from the differences."""
        rows = GroupSums(self.pair.rows)
        variances = {part.name: 0.0 for part in workload.parts}
        for part, sides in zip(workload.parts, _sides_of_parts(self.pair, workload), strict=True):
            for side, of in zip(sides, self.pair.split(shares), strict=True):
                if side is not None and not of:
                    variances[part.name] = inf
                elif side is not None:
                    each = rows.variances(side, unit, of, level)
                    variances[part.name] += sum(float(half.weight) * each[half.name] for half in side.parts)
        return variances

    def reconstruction(self, weights: Mapping[Marginal, int]) -> LeastSquares:
        return RotatedReconstruction(self.pair, weights)

    def theorem(self, unit: Unit, shares: Shares) -> str:
        return _OF_ROTATED if self.adds_to_one(shares) else exactly_charged(_OF_ROTATED)

    def bounds(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> WorkloadBounds:
        why = "a bound over marginals needs sums over groups, and this plan also measures differences"
        return bounds_without_marginals(workload, unit, level, why, self.pair.name)


@lru_cache(maxsize=8)
def _sides_of_parts(pair: PairAxis, workload: Workload) -> list[tuple[Workload | None, Workload | None]]:
    """For each part, return the workload of its sums and that of its differences, which are the same at every level."""
    return [pair.sides(workload.reweighted({part.name: 1})) for part in workload.parts]
