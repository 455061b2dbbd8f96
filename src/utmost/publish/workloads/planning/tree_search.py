"""Search for the budget shares of one axis' levels, whose groups differ in size, by exchanges between two levels."""

from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.privacy.unit import Unit
from utmost.publish.workloads.measuring.unequal_trees import TreeError
from utmost.publish.workloads.measuring.unit_charge import ShareCondition, share_conditions
from utmost.publish.workloads.planning.share_exchange import GOLDEN, lattice_shares
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal

_SCAN = 9
_SWEEPS = 100
_LATTICE = 1000


def least_tree_shares(
    workload: Workload, unit: Unit, epsilon: Number | Level, condition: ShareCondition | None = None
) -> dict[Marginal, Fraction]:
    """Return shares of little error, multiples of 1/1000; ``condition`` is by default the first one for the unit."""
    # Start from the share 1 of each single level, from equal shares of the wanted levels, and from equal shares of all.
    # The result is never worse than a start, but not proved to be the best.
    chosen = share_conditions(unit, workload.domain.size)[0] if condition is None else condition
    error = TreeError.of(workload, unit, epsilon, chosen)
    count = len(error.tree.groups)
    wanted = np.array([float(bool(weights.any())) for weights in error.weights])
    starts = [*np.eye(count), wanted / wanted.sum(), np.full(count, 1 / count)]
    searched = min((_descended(error, start) for start in starts), key=lambda descent: descent[0])[1]
    # Round the starts, too: the result of the search may lose more by rounding than it has gained.
    options = [lattice_shares(error, shares, _LATTICE) / _LATTICE for shares in (searched, *starts)]
    best = min(options, key=lambda shares: float(error(shares)))
    steps = np.rint(best * _LATTICE).astype(int).tolist()
    return chosen.shares(workload.domain, {(at,): Fraction(step, _LATTICE) for at, step in enumerate(steps)})


def _descended(error: TreeError, start: Floats) -> tuple[float, Floats]:
    """Exchange shares between pairs of levels until a sweep gains less than one part in 10^8."""
    shares, value = start.copy(), float(error(start))
    for _ in range(_SWEEPS):
        before = value
        for level in range(len(shares)):
            for finer_level in range(level):
                value, shares = min(
                    (value, shares), _exchanged(error, shares, level, finer_level), key=lambda exchange: exchange[0]
                )
        if not value < before * (1 - 1e-8):  # any shares satisfy the level, so the search may end early
            break
    return value, shares


def _exchanged(error: TreeError, shares: Floats, level: int, finer_level: int) -> tuple[float, Floats]:
    """Return the error and the shares after the best exchange between two levels."""
    total = shares[level] + shares[finer_level]

    def at(part: float) -> tuple[float, Floats]:
        moved = shares.copy()
        moved[level], moved[finer_level] = part, total - part
        return float(error(moved)), moved

    # The error may have several local minima along the line: the scan chooses one, golden section refines it.
    parts = np.linspace(0, total, _SCAN)
    scanned = [at(part) for part in parts]
    best = min(range(_SCAN), key=lambda place: scanned[place][0])
    low, high = parts[max(best - 1, 0)], parts[min(best + 1, _SCAN - 1)]
    # Shares are rounded to thousandths at the end.
    while high - low > 1e-5:
        inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if at(inner)[0] < at(outer)[0]:
            high = outer
        else:
            low = inner
    return min(scanned[best], at((low + high) / 2), key=lambda exchange: exchange[0])
