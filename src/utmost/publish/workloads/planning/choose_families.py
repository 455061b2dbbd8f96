"""Shares and variances for a workload, whatever its domain: even levels, one uneven tree, sums and differences."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isinf
from typing import Any

import numpy as np

from utmost.core.exact.levels import Level, level
from utmost.core.privacy.unit import Unit
from utmost.errors import NotALevel, Unsupported
from utmost.publish.workloads.amount_pair import AmountPair
from utmost.publish.workloads.bounds.workload_evidence import level_of_cells
from utmost.publish.workloads.measuring.hat_errors import hat_variances
from utmost.publish.workloads.measuring.marginal_spaces import MarginalErrors, by_marginals
from utmost.publish.workloads.measuring.measured_families import place_of_hats
from utmost.publish.workloads.measuring.sums_and_differences import PairAxis, least_rotated
from utmost.publish.workloads.measuring.unequal_trees import TreeError, least_tree_shares
from utmost.publish.workloads.measuring.unit_charge import Room, charge_of, room_of_rows, rooms
from utmost.publish.workloads.measuring.variance_components import Blocks, precision
from utmost.publish.workloads.planning.candidates import (
    candidate_families,
    check_determined,
    finest_common,
    named_candidates,
    undetermined,
)
from utmost.publish.workloads.planning.even_levels import EvenLevels
from utmost.publish.workloads.planning.hat_search import axes_in_order, hat_shares
from utmost.publish.workloads.planning.least_error import least_shares
from utmost.publish.workloads.planning.marginal_search import marginal_shares, wants_marginals
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain, Family

_LEAST = 1e-100
_LOUDEST = 600.0  # levels above it have no variance that floats tell
_EQUAL = 1e-9  # errors that are so near are the same, and the plainer strategy is taken


def is_unequal_tree(domain: Domain) -> bool:
    """Whether the domain is one axis with a level of groups of several sizes: these are measured, too."""
    return len(domain.axes) == 1 and domain.axes[0].blocks is None


def planned_shares(
    workload: Workload,
    unit: Unit,
    level: Level,
    *,
    pair: PairAxis | None = None,
    candidates: Iterable[Any] | None = None,
    aim: str = "mean",
    hats: bool | None = False,
    signs: bool = False,
) -> dict[Family, Fraction]:
    """The shares that the search for the domain's kind finds; with hat functions, without, or with less error where
    None.

    Args:
        signs: whether differences of the values of axes of two may be measured, where many tables are wanted.

    Raises:
        NotALevel: for a level so small that the squares of its errors are beyond the floats.
        NotDetermined: for sums of distinct counts, of which the cells alone are measured.
    """
    if level.epsilon_float < _LEAST:
        raise NotALevel("a plan needs a level of at least 1e-100", came=level, remedy="Its errors are no floats.")
    if (amounts := AmountPair.of(workload.domain, unit)) is not None:
        # Both parts of an amount have the same errors: the shares are planned for one of them.
        planned = planned_shares(
            amounts.one_part(workload),
            amounts.one_part_unit(unit),
            level,
            candidates=None if candidates is None else amounts.named(candidates),
            aim=aim,
            hats=hats,
            signs=signs,
        )
        shares = amounts.of_both(planned)
        charge = max(Fraction(1), charge_of(workload.domain, unit, shares))
        return {family: share / charge for family, share in shares.items()}
    if unit.is_distinct:
        workload.check_adds(unit)
        return cells_alone(workload, unit)
    if pair is not None:
        plan = _Search(unit, level, candidates=None, aim=aim, hats=False, signs=False)
        return least_rotated(pair, workload, lambda side: plan.within(side, room_of_rows(unit, pair.rows.size)))
    plan = _Search(unit, level, candidates, aim, hats, signs)
    plans = [plan.within(workload, room) for room in rooms(unit, workload.domain.size, plan._whole)]
    return (
        plans[0] if len(plans) == 1 else min(plans, key=lambda shares: _error(workload, unit, shares, level, plan.aim))
    )


@dataclass(frozen=True, slots=True)
class _Search:
    """What is asked of the search, whichever shares keep the level."""

    unit: Unit
    level: Level
    candidates: Iterable[Any] | None
    aim: str
    hats: bool | None
    signs: bool

    def within(self, workload: Workload, room: Room) -> dict[Family, Fraction]:
        """The shares that are found among those that one rule allows."""
        if self.candidates is None and self.aim == "mean" and (self.signs or wants_marginals(workload)):
            even = EvenLevels.of(workload)
            shares_of_tables = marginal_shares(even.workload, self._whole, room, signs=self.signs)
            return {even.whole(family): share for family, share in shares_of_tables.items()}
        shares = self._with_hats(workload, room)
        if shares is not None:
            return shares
        if not is_unequal_tree(workload.domain):
            return self._of_families(workload, room)
        if self.candidates is not None or self.aim != "mean":
            remedy = "Leave candidates= and aim= out, or declare levels whose groups have one size."
            raise Unsupported("over groups of several sizes all levels are candidates", came="others", remedy=remedy)
        return least_tree_shares(workload, self.unit, self.level, room)

    def _of_families(self, workload: Workload, room: Room) -> dict[Family, Fraction]:
        even = EvenLevels.of(workload)
        if self.candidates is None:
            families = candidate_families(even.workload)
            families |= dict.fromkeys([even.workload.domain.family("")] if room.free else [], 1)
        else:
            named = [even.reduced(workload.domain.family(name)) for name in self.candidates]
            families = named_candidates(even.workload, named)
        shares = least_shares(even.workload, families, self._whole, self.aim, room)
        return {even.whole(family): share for family, share in shares.items()}

    def _with_hats(self, workload: Workload, room: Room) -> dict[Family, Fraction] | None:
        """The shares with hat functions; None where others serve, and where these have no more error."""
        served = self.candidates is None and self.aim == "mean" and self.hats is not False
        if not served or not (self.hats or axes_in_order(workload)):
            return None
        if self.hats:
            return hat_shares(workload, self._whole, room)[0]
        try:
            plain = replace(self, hats=False).within(workload, room)
        except Unsupported:  # sums over a tree of unequal groups that are no groups
            return hat_shares(workload, self._whole, room)[0]
        try:
            shares, error = hat_shares(workload, self._whole, room)
        except Unsupported:
            return plain
        return shares if error < _error(workload, self.unit, plain, self.level) * (1 - _EQUAL) else plain

    @property
    def _whole(self) -> float:
        return float(level_of_cells(self.unit, self.level).epsilon_float)


def _error(workload: Workload, unit: Unit, shares: Mapping[Family, Fraction], level: Level, aim: str = "mean") -> float:
    """The weighted sum of mean variances, or the largest of them."""
    variances = part_variances(workload, unit, shares, level)
    weighted = [float(part.weight) * variances[part.name] for part in workload.parts]
    return sum(weighted) if aim == "mean" else max(weighted)


def check_measured(workload: Workload, unit: Unit, shares: Mapping[Family, Fraction]) -> None:
    """Check that the sums over the groups of these families determine every wanted answer."""
    if by_marginals(workload.domain, shares):
        even = EvenLevels.of(workload)
        missing = MarginalErrors.of(even.workload, even.reduced_shares(shares)).undetermined()
        if missing is not None:
            raise undetermined(workload.parts[missing].name)
        return
    if not is_unequal_tree(workload.domain) and _along(workload, shares) is None:
        even = EvenLevels.of(workload)
        check_determined(even.workload, even.reduced_shares(shares))
        return
    for name, variance in part_variances(workload, unit, shares, level(1)).items():
        if isinf(variance):
            raise undetermined(name)


def part_variances(workload: Workload, unit: Unit, shares: Mapping[Family, Fraction], level: Level) -> dict[str, float]:
    """For each part, the mean variance of its answers, by least squares from sums over groups, or hat functions, at a
    level."""
    loudest = Fraction(max(1.0, _LOUDEST / max(1.0, float(level_of_cells(unit, level).epsilon_float))))
    shares = {family: min(share, loudest) for family, share in shares.items()}
    largest = max(Fraction(1), *shares.values())  # precisions are computed over that of the largest level
    whole = float(level_of_cells(unit, level).scaled(largest).epsilon_float)
    shares = {family: share / largest for family, share in shares.items()}
    if _goes_by_spaces(workload, shares):
        even = EvenLevels.of(workload)
        by_spaces = MarginalErrors.of(even.workload, even.reduced_shares(shares))
        levels = np.array([float(share) for share in shares.values()]) * whole
        of_parts = zip(workload.parts, by_spaces.variances(levels), strict=True)
        return {part.name: variance for part, variance in of_parts}
    place = _along(workload, shares)
    if place is not None:
        even = EvenLevels.of(workload)
        variances = hat_variances(even.workload, place, even.reduced_shares(shares), whole)
        return {name: variance / float(precision(whole)) for name, variance in variances.items()}
    if not is_unequal_tree(workload.domain):
        even = EvenLevels.of(workload)
        blocks = Blocks.of(even.workload.domain, even.reduced_shares(shares), even.workload.eigenspaces)
        levels = np.array([float(share) for share in shares.values()]) * whole
        return {part.name: blocks.value(part.spectrum(blocks), levels) for part in even.workload.parts}
    by_level = np.zeros(len(workload.domain.axes[0].levels) + 1)
    for family, share in shares.items():
        by_level[family[0]] = float(share)
    errors = {
        part.name: TreeError.of(workload.reweighted({part.name: 1}), unit, level.scaled(largest))
        for part in workload.parts
    }
    return {name: float(error(by_level)) / float(precision(whole)) for name, error in errors.items()}


def _goes_by_spaces(workload: Workload, shares: Mapping[Family, Fraction]) -> bool:
    """Whether errors are computed by the spaces of the tables: where estimates are, and where tables are many."""
    if by_marginals(workload.domain, shares):
        return True
    return place_of_hats(shares) is None and not is_unequal_tree(workload.domain) and wants_marginals(workload)


def _along(workload: Workload, shares: Mapping[Family, Fraction]) -> int | None:
    """The axis along which errors are computed: that of hat functions, or of ranges over a tree of unequal groups."""
    place = place_of_hats(shares)
    return 0 if place is None and is_unequal_tree(workload.domain) and axes_in_order(workload) else place


def cells_alone(workload: Workload, unit: Unit, pair: PairAxis | None = None) -> dict[Family, Fraction]:
    """The coarsest family that may be measured and determines all that is wanted, by itself, at all of the level."""
    if pair is not None:
        scale = room_of_rows(unit, pair.rows.size).scale
        return least_rotated(pair, workload, lambda side: {_coarsest(side): scale})
    family = _coarsest(workload)
    charge = charge_of(workload.domain, unit, {family: Fraction(1)})
    return {family: 1 / charge}


def _coarsest(workload: Workload) -> Family:
    if is_unequal_tree(workload.domain) or wants_marginals(workload):
        return finest_common(workload.families)
    even = EvenLevels.of(workload)
    return even.whole(finest_common(even.workload.families))
