"""Shares and variances for a workload, whatever its domain: even levels, one uneven tree, sums and differences."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import isinf
from typing import Any

import numpy as np

from utmost.errors import NotALevel, Unsupported
from utmost.laws.exact import Level, level
from utmost.laws.privacy import Unit
from utmost.publish.workloads.blocks import Blocks, precision
from utmost.publish.workloads.candidates import (
    candidate_families,
    check_determined,
    finest_common,
    named_candidates,
    undetermined,
)
from utmost.publish.workloads.domain import Domain, Family
from utmost.publish.workloads.even_levels import EvenLevels
from utmost.publish.workloads.least_error import least_shares
from utmost.publish.workloads.measured_families import place_of_tents
from utmost.publish.workloads.sums_and_differences import PairAxis, least_turned, turned_variances
from utmost.publish.workloads.tent_errors import tent_variances
from utmost.publish.workloads.tent_search import axes_in_order, tent_shares
from utmost.publish.workloads.unequal_trees import TreeError, least_tree_shares
from utmost.publish.workloads.workload import Workload
from utmost.publish.workloads.workload_evidence import level_of_atoms

_LEAST = 1e-100
_EQUAL = 1e-9  # errors that are so near are the same, and the plainer strategy is taken


def is_unequal_tree(domain: Domain) -> bool:
    """Whether the domain is one axis with a level of groups of several sizes: these are measured, too."""
    return len(domain.axes) == 1 and domain.axes[0].blocks is None


def planned_shares(
    workload: Workload,
    unit: Unit,
    level: Level,
    candidates: Iterable[Any] | None = None,
    aim: str = "mean",
    pair: PairAxis | None = None,
    tents: bool | None = False,
) -> dict[Family, Fraction]:
    """The shares that the search for the domain's kind finds; with tents, without, or with less error where None.

    Raises:
        NotALevel: for a level so small that the squares of its errors are beyond the floats.
    """
    if level.epsilon_float < _LEAST:
        raise NotALevel("a plan needs a level of at least 1e-100", came=level, remedy="Its errors are no floats.")
    if pair is not None:
        return least_turned(pair, workload, lambda side: planned_shares(side, unit, level))
    if tents is not False and candidates is None and aim == "mean" and (tents or axes_in_order(workload)):
        return _with_tents(workload, unit, level, tents is None)
    if not is_unequal_tree(workload.domain):
        even = EvenLevels.of(workload)
        named = None if candidates is None else [even.reduced(workload.domain.family(name)) for name in candidates]
        families = candidate_families(even.workload) if named is None else named_candidates(even.workload, named)
        found = least_shares(even.workload, families, float(level_of_atoms(unit, level).epsilon_float), aim)
        return {even.whole(family): share for family, share in found.items()}
    if candidates is not None or aim != "mean":
        remedy = "Leave candidates= and aim= out, or declare levels whose groups have one size."
        raise Unsupported("over groups of several sizes all levels are candidates", came="others", remedy=remedy)
    return least_tree_shares(workload, unit, level)


def _with_tents(workload: Workload, unit: Unit, level: Level, or_without: bool) -> dict[Family, Fraction]:
    """The shares with tents; or those without where they have no more error."""
    whole = float(level_of_atoms(unit, level).epsilon_float)
    if not or_without:
        return tent_shares(workload, whole)[0]
    try:
        plain = planned_shares(workload, unit, level)
    except Unsupported:  # sums over a tree of unequal groups that are no groups
        return tent_shares(workload, whole)[0]
    try:
        found, error = tent_shares(workload, whole)
    except Unsupported:
        return plain
    variances = part_variances(workload, unit, plain, level)
    without = sum(float(part.weight) * variances[part.name] for part in workload.parts) * float(precision(whole))
    return found if error < without * (1 - _EQUAL) else plain


def check_measured(workload: Workload, unit: Unit, shares: Mapping[Family, Fraction], pair: PairAxis | None) -> None:
    """Check that the measured families determine every wanted answer.

    Raises:
        OutOfRange: where they do not.
    """
    if not is_unequal_tree(workload.domain) and pair is None and _along(workload, shares) is None:
        even = EvenLevels.of(workload)
        check_determined(even.workload, even.reduced_shares(shares))
        return
    for name, variance in part_variances(workload, unit, shares, level(1), pair).items():
        if isinf(variance):
            raise undetermined(name)


def part_variances(
    workload: Workload,
    unit: Unit,
    shares: Mapping[Family, Fraction],
    level: Level,
    pair: PairAxis | None = None,
) -> dict[str, float]:
    """Of each part the mean variance of its answers, by least squares from what these shares measure at a level."""
    if pair is not None:
        return turned_variances(pair, workload, shares, lambda side, of: part_variances(side, unit, of, level))
    whole = float(level_of_atoms(unit, level).epsilon_float)
    place = _along(workload, shares)
    if place is not None:
        even = EvenLevels.of(workload)
        found = tent_variances(even.workload, place, even.reduced_shares(shares), whole)
        return {name: one / float(precision(whole)) for name, one in found.items()}
    if not is_unequal_tree(workload.domain):
        even = EvenLevels.of(workload)
        blocks = Blocks.of(even.workload.domain, even.reduced_shares(shares), even.workload.eigenspaces)
        levels = np.array([float(share) for share in shares.values()]) * whole
        return {part.name: blocks.value(part.spectrum(blocks), levels) for part in even.workload.parts}
    by_level = np.zeros(len(workload.domain.axes[0].levels) + 1)
    for family, share in shares.items():
        by_level[family[0]] = float(share)
    errors = {part.name: TreeError.of(workload.reweighted({part.name: 1}), unit, level) for part in workload.parts}
    return {name: float(error(by_level)) / float(precision(whole)) for name, error in errors.items()}


def _along(workload: Workload, shares: Mapping[Family, Fraction]) -> int | None:
    """The axis along which errors are computed: that of tents, or of ranges over a tree of unequal groups."""
    place = place_of_tents(shares)
    return 0 if place is None and is_unequal_tree(workload.domain) and axes_in_order(workload) else place


def atoms_alone(workload: Workload, pair: PairAxis | None = None) -> dict[Family, Fraction]:
    """The coarsest family that may be measured and determines all that is wanted, by itself."""
    if pair is not None:
        return least_turned(pair, workload, atoms_alone)
    if is_unequal_tree(workload.domain):
        return {finest_common(workload.families): Fraction(1)}
    even = EvenLevels.of(workload)
    return {even.whole(finest_common(even.workload.families)): Fraction(1)}
