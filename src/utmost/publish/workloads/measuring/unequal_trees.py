"""Trees whose groups differ in size (states and their counties): variances and estimates in two passes, O(groups).

Each group of a measured level has noise of the level's precision p. Let pi_v be the precision of the estimate of a
group v's sum from the measurements inside v, and delta_v its precision from the measurements outside v. The first pass
goes up the tree, the second down:

    up      pi_v = p_v + 1 / sum over the children of 1/pi_c
    down    delta_c = r / (1 + r * sum over the siblings of 1/pi),  r = p_v + delta_v of the parent v;  0 at the top
    both    variance of the best linear unbiased estimate of v = 1 / (pi_v + delta_v)

These formulas hold for any positive precisions; with rational precisions the estimates are exactly unbiased rationals.

Source: [hay2010] for trees with groups of one size and equal precisions. The formulas hold for other trees, because the
noise inside a group is independent of the noise outside.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, sequence
from utmost.core.exact.arrays import Array, Floats, frozen, unpickler
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.numbers import Number
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.bounds.workload_evidence import level_of_cells
from utmost.publish.workloads.measuring.axis_sums import Groups
from utmost.publish.workloads.measuring.unit_charge import SHARES_ADD_UP_TO_1, ShareCondition
from utmost.publish.workloads.measuring.variance_components import relative_precision
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnequalTree(Display):
    """The groups of one axis as a tree: by level, up to the group of all values; groups may have any sizes."""

    groups: tuple[int, ...]  # the number of groups of each level; the last level is "all"
    # for each level above the finest, the index in the level below of each group's first child
    firsts: tuple[NDArray[np.intp], ...] = field(repr=False)
    parents: tuple[NDArray[np.intp], ...] = field(repr=False)  # by level below "all", the indices of parents

    @classmethod
    def of(cls, domain: Domain) -> "UnequalTree":
        instance(domain, Domain, "domain")
        if len(domain.axes) > 1:
            raise Unsupported(
                "the domain of a tree must have one axis",
                came=f"{len(domain.axes)} axes",
                remedy="Pass a Domain of one axis; for several axes call ut.choose_plan.",
            )
        axis = domain.axes[0]
        starts = [axis.group_starts(level) for level in range(len(axis.levels) + 1)]
        # A coarse group begins where one of its finer groups begins.
        firsts = [np.searchsorted(finer, coarser) for finer, coarser in pairwise(starts)]
        parents = [
            np.repeat(np.arange(len(first)), np.diff(first, append=len(finer)))
            for first, finer in zip(firsts, starts, strict=False)
        ]
        return cls(tuple(map(len, starts)), tuple(map(frozen, firsts)), tuple(map(frozen, parents)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _tree, (self.groups, self.firsts, self.parents)

    def added(self, values: Array, level: int) -> Array:
        """For each group of a level, add up the values of its children in the level below."""
        return np.asarray(np.add.reduceat(values, self.firsts[level - 1]))


@unpickler
def _tree(groups: tuple[int, ...], firsts: Sequence[Array], parents: Sequence[Array]) -> UnequalTree:
    return UnequalTree(
        groups, tuple(frozen(first.copy()) for first in firsts), tuple(frozen(parent.copy()) for parent in parents)
    )


def tree_variances(domain: Domain, precisions: Sequence[Any]) -> tuple[Array, ...]:
    """Return the variance of the best linear unbiased estimate of every group's sum, by level.

    Args:
        domain: Domain of one axis, whose groups are measured.
        precisions: Precision (1/variance) of the noise at each level of the axis and at "all"; 0 for a level that is
            not measured. Pass one number for a level, or an array with a number for each group, all positive or all 0.

    Returns:
        An array (groups,) for each level: Fractions if all precisions are rational. If the measurements do not
        determine a sum, its variance is the float infinity.

    Raises:
        OutOfRange: if precisions have another shape, if a precision is negative, or if no level is measured.
        Unsupported: if the domain has several axes.

    Cost: O(groups).

    >>> from utmost.workloads import hierarchy
    >>> places = Domain(place=hierarchy({"A": [1], "B": [2, 3]}, names=["region", "district"]))
    >>> [[str(one) for one in level] for level in tree_variances(places, [Fraction(1), Fraction(1), Fraction(0)])]
    [['1/2', '2/3', '2/3'], ['1/2', '2/3'], ['7/6']]
    """
    tree = UnequalTree.of(domain)
    known = _read(tree, sequence(precisions, "precisions", or_text=True))
    return tuple(frozen(variance.copy()) for variance in _variances(tree, known))


def _variances(tree: UnequalTree, known: Sequence[Array]) -> list[Array]:
    finest = _finest_measured(known)
    inside, spreads = _up(tree, known, finest)
    variances: list[Array] = [np.zeros(0)] * len(known)
    # No measurement lies outside the group of all, so delta is 0: a Fraction or a float, like the precisions.
    outside = known[-1] * 0
    variances[-1] = 1 / (inside[-1] + outside)
    for level in range(len(known) - 1, finest, -1):
        parents = tree.parents[level - 1]
        ratio = (known[level] + outside)[parents]
        # Sum over the siblings, which excludes the group itself; rounding of floats may make the sum negative.
        rest = spreads[level][parents] - 1 / inside[level - 1]
        if rest.dtype != object:
            rest = np.maximum(rest, 0.0)
        outside = ratio / (1 + ratio * rest)
        variances[level - 1] = 1 / (inside[level - 1] + outside)
    for level in range(finest):
        # A finer level with as many groups has the same groups; no other finer level is determined.
        same = tree.groups[level] == tree.groups[finest]
        variances[level] = variances[finest] if same else np.full(tree.groups[level], np.inf)
    return variances


def tree_estimate(domain: Domain, measured: Sequence[Any], precisions: Sequence[Any]) -> tuple[Array | None, ...]:
    """Return the best linear unbiased estimate of every group's sum, from noisy sums of some levels.

    The estimates of a group's parts add up to the group's estimate. The estimates are unbiased for any positive
    precisions, and have the least variance if the precisions are those of the noise.

    Args:
        domain: Domain of one axis, whose groups are measured.
        measured: Noisy sums of each level, (groups,); None for a level that is not measured.
        precisions: Precision of each level's noise, see `tree_variances`; 0 if ``measured`` has None for the level.

    Returns:
        Estimates of each level, (groups,); None for a level that is not determined. Integer sums with rational
        precisions give Fractions.

    Raises:
        OutOfRange: if `tree_variances` refuses the precisions, if a measured level has no precision, or if the number
            of its sums is not that of its groups.
        Unsupported: if the domain has several axes.

    Cost: O(groups).

    >>> from utmost.workloads import hierarchy
    >>> places = Domain(place=hierarchy({"A": [1], "B": [2, 3]}, names=["region", "district"]))
    >>> found = tree_estimate(places, [[3, 4, 5], [1, 12], None], [Fraction(1), Fraction(1), Fraction(0)])
    >>> [[str(one) for one in level] for level in found]
    [['2', '5', '6'], ['2', '11'], ['13']]
    """
    sums = sequence(measured, "measured", or_text=True)
    return estimates_of_groups(UnequalTree.of(domain), sums, sequence(precisions, "precisions", or_text=True))


def estimates_of_groups(
    tree: UnequalTree, measured: Sequence[Any], precisions: Sequence[Any]
) -> tuple[Array | None, ...]:
    """Return the result of `tree_estimate` for a tree."""
    known = _read(tree, precisions)
    finest = _finest_measured(known)
    values = [
        _sums(tree, level, level_sums, known[level])
        for level, level_sums in enumerate(_levels(tree, measured, "measured"))
    ]
    inside, spreads = _up(tree, known, finest)
    # Up the tree: estimate each group from the measurements inside it.
    means = {finest: values[finest]}
    below = {}
    for level in range(finest + 1, len(known)):
        below[level] = tree.added(means[level - 1], level)
        means[level] = (known[level] * values[level] + below[level] / spreads[level]) / inside[level]
    # Down the tree: divide the difference of a group's estimate and the sum of its children's among the children.
    estimates: list[Array | None] = [None] * len(known)
    estimates[-1] = upper = means[len(known) - 1]
    for level in range(len(known) - 1, finest, -1):
        parents = tree.parents[level - 1]
        excess = ((upper - below[level]) / spreads[level])[parents]
        estimates[level - 1] = upper = means[level - 1] + excess / inside[level - 1]
    for level in range(finest):
        estimates[level] = estimates[finest] if tree.groups[level] == tree.groups[finest] else None
    return tuple(None if estimate is None else frozen(estimate.copy()) for estimate in estimates)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TreeError(Display):
    """The error of a workload over a tree as a function of shares, in units of the variance of noise at ``level``."""

    tree: UnequalTree
    weights: tuple[Floats, ...] = field(repr=False)  # for each level, the weight of each group's variance; (groups,)
    level: float  # epsilon of the noise at the largest budget share that a level may have
    free: float = 0.0  # additional budget share of the total, which is the first level with one group

    @classmethod
    def of(
        cls, workload: Workload, unit: Unit, epsilon: Number | Level, condition: ShareCondition = SHARES_ADD_UP_TO_1
    ) -> "TreeError":
        """Prepare the error of a workload of groups; the domain has one axis."""
        instance(workload, Workload, "workload")
        instance(unit, Unit, "unit")
        instance(condition, ShareCondition, "condition")
        tree = UnequalTree.of(workload.domain)
        weights = [np.zeros(count) for count in tree.groups]
        for part in workload.parts:
            sums = part.sums[0]
            if not isinstance(sums, Groups):
                remedy = "Ask for groups of the levels of this axis, or declare groups that all have the same size."
                raise Unsupported(
                    "on an axis with groups of several sizes, only groups can be wanted", came=part.name, remedy=remedy
                )
            weights[sums.at][slice(None) if sums.only is None else sums.only] += float(part.weight / part.answers)
        largest = level_of_cells(unit, level_of(epsilon)).scaled(condition.scale * (1 + condition.free))
        return cls(tree, tuple(map(frozen, weights)), float(largest.epsilon_float), float(condition.free))

    def __call__(self, shares: Floats) -> Floats:
        """Return the error for each row of shares, (..., levels); inf if a wanted answer is not determined."""
        whole_shares = np.array(np.atleast_2d(shares), dtype=float)
        whole_shares[:, self.tree.groups.index(1)] += self.free
        rows = relative_precision(whole_shares / (1 + self.free), self.level)
        return np.array([self._at(row) for row in rows]).reshape(np.shape(shares)[:-1])

    def _at(self, precisions: Floats) -> float:
        if not (precisions > 0).any():
            return float("inf")
        # The search comes here thousands of times: these precisions need no check.
        known = list(map(np.full, self.tree.groups, precisions))
        pairs = zip(self.weights, _variances(self.tree, known), strict=True)
        return sum(float(weights[weights > 0] @ level_variances[weights > 0]) for weights, level_variances in pairs)


def _up(tree: UnequalTree, known: Sequence[Array], finest: int) -> tuple[list[Array], dict[int, Array]]:
    """Return pi of each level from the finest measured one on; and for each group the sum of 1/pi over its children."""
    inside, spreads = [known[0]] * finest + [known[finest]], {}
    for level in range(finest + 1, len(known)):
        spreads[level] = tree.added(1 / inside[level - 1], level)
        inside.append(known[level] + 1 / spreads[level])
    return inside, spreads


def _finest_measured(known: Sequence[Array]) -> int:
    return next(level for level, level_precisions in enumerate(known) if level_precisions[0] > 0)


def _levels(tree: UnequalTree, values: Sequence[Any], name: str) -> Sequence[Any]:
    if len(values) != len(tree.groups):
        raise OutOfRange(f"{name} must have an entry for each of the {len(tree.groups)} levels", came=len(values))
    return values


def _read(tree: UnequalTree, precisions: Sequence[Any]) -> list[Array]:
    """Return the precisions of each level, all as Fractions or all as floats."""
    rows = [np.asarray(level_precisions) for level_precisions in _levels(tree, precisions, "precisions")]
    rational = not any(row.dtype.kind == "f" for row in rows)
    precisions_read = []
    for row, count in zip(rows, tree.groups, strict=True):
        if row.shape not in ((), (count,)):
            raise OutOfRange(
                f"the precisions of a level must be one number, or {count} numbers", came=f"shape {row.shape}"
            )
        flat = np.broadcast_to(row, (count,))
        own = np.empty(count, dtype=object)
        own[:] = [Fraction(number) for number in flat.tolist()] if rational else flat.tolist()
        precisions_read.append(own if rational else own.astype(float))
    if any(not ((row > 0).all() or (row == 0).all()) for row in precisions_read) or not any(
        row[0] > 0 for row in precisions_read
    ):
        raise OutOfRange(
            "the precisions of a level must be all positive or all 0, and those of some level must be positive",
            came="other precisions",
        )
    return precisions_read


def _sums(tree: UnequalTree, level: int, values: Any, known: Array) -> Array:
    """Return the noisy sums of a level in the number type of its precisions; zeros if it is not measured."""
    if (values is None) != bool(known[0] == 0):
        remedy = "Pass sums and a positive precision for each level, or None and 0."
        raise OutOfRange(
            "sums and precisions must be given for the same levels",
            came=f"only one of them at level {level}",
            remedy=remedy,
        )
    if values is None:
        return known * 0
    sums = np.asarray(values)
    if sums.shape != (tree.groups[level],):
        raise OutOfRange(
            f"a level must have one sum for each of its {tree.groups[level]} groups", came=f"shape {sums.shape}"
        )
    if known.dtype != object:
        return sums.astype(float)
    own = np.empty(sums.shape, dtype=object)
    own[:] = [Fraction(number) for number in sums.tolist()]
    return own
