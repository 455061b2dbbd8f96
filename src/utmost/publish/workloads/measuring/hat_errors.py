"""The error of plans with hat functions along one axis, computed without a matrix over all cells.

In each eigenspace T of the other axes, least squares is a problem along this axis. With C = (H H' + diag(d/w))^-1 as in
`hat_reconstruction`, the sum of the variances of answers w with the Gram matrix M = sum of w w' is

    (tr M - tr(C H M H')) / d.

H M H' is computed from cumulative sums, since each range is a difference of two prefixes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.publish.workloads.measuring.axis_sums import AxisSums, Groups, Prefixes, Ranges, Taken, Windows
from utmost.publish.workloads.measuring.measured_marginals import load_of
from utmost.publish.workloads.measuring.row_sets import base_of, check_hats_fit, row_sums, row_values, rows_of
from utmost.publish.workloads.measuring.unit_charge import SHARES_ADD_UP_TO_1, ShareCondition, is_total
from utmost.publish.workloads.measuring.variance_components import relative_precision
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain, Marginal, is_finer


@dataclass(frozen=True, slots=True, eq=False)
class HatErrors:
    """The error of a workload as a function of budget shares, in units of the noise's variance at ``largest``."""

    workload: Workload  # over a domain in which the groups of each level have one size
    place: int  # the index of the axis of hat functions
    marginals: tuple[Marginal, ...]  # the marginals that may be measured
    level: float  # epsilon of the noise at share 1, before `condition` scales it
    condition: ShareCondition = SHARES_ADD_UP_TO_1  # the condition on the shares under which the level holds
    _free: Floats = field(init=False, repr=False)
    _spaces: tuple["_ErrorSpace", ...] = field(init=False, repr=False)
    _loads: Floats = field(init=False, repr=False)
    _known: dict[bytes, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_spaces", _spaces(self.workload, self.place, self.marginals))
        object.__setattr__(self, "_loads", np.array([load_of(marginal) for marginal in self.marginals], dtype=float))
        object.__setattr__(self, "_known", {})
        totals = [is_total(self.workload.domain, marginal) for marginal in self.marginals]
        object.__setattr__(self, "_free", self.condition.free_of(totals))

    @property
    def largest(self) -> float:
        """The epsilon of the noise at the largest share that a marginal may have."""
        return self.level * float(self.condition.scale) * (1 + float(self._free.max()))

    def __call__(self, shares: Floats) -> Floats:
        """Return the error for each row of shares, (..., marginals); inf if an answer is not determined."""
        read_shares = np.asarray(shares, dtype=float)
        rows = read_shares.reshape(-1, len(self.marginals))
        return np.array([self._error(row) for row in rows]).reshape(read_shares.shape[:-1])

    def _error(self, shares: Floats) -> float:
        whole_shares = (shares + self._free) / (1 + self._free.max())
        precisions = relative_precision(whole_shares / self._loads, self.largest)
        measured = whole_shares > 0
        error = 0.0
        for number, space in enumerate(self._spaces):
            key = bytes([number]) + measured.tobytes()
            if key not in self._known:
                self._known[key] = space.problem(measured)
            problem = self._known[key]
            if problem is None:
                return float("inf")
            error += problem.error(precisions)
        return error


@dataclass(frozen=True, slots=True, eq=False)
class _ErrorSpace:
    """Least squares along the axis, in one eigenspace T of the other axes; some answer depends on this eigenspace."""

    axis: Axis
    rows: tuple[int, ...]  # the row set that each marginal measures along the axis, see `row_sets`; 0 if none in T
    cells: Floats  # the number of cells in a group on the other axes, for each marginal
    parts: tuple[tuple[AxisSums, float], ...]  # wanted sums along the axis, and the weight of their variances

    def problem(self, measured: NDArray[np.bool_]) -> "_HatProblem | None":
        """Return the least-squares equations of these marginals; None if they do not determine the answers."""
        chosen = [rows for rows, on in zip(self.rows, measured, strict=True) if on and rows]
        if any(rows < 0 for rows in chosen) and 1 not in chosen:
            return None  # hat functions without groups determine no answer
        base = base_of(chosen)
        if not base or any(self.axis.size // self.axis.groups(sums.level(self.axis)) % base for sums, _ in self.parts):
            return None
        sets = tuple(sorted({rows for rows in chosen if rows != base}))
        check_hats_fit(self.axis.size, sets)
        columns, products = _rows_along(self.axis.size, base, sets)
        trace, weighted = 0.0, np.zeros((columns.shape[1], columns.shape[1]))
        for sums, weight in self.parts:
            alone, crossed = _moments(sums, self.axis, base, columns)
            trace, weighted = trace + weight * alone, weighted + weight * crossed
        member = (
            np.array([[rows == row_set for rows in self.rows] for row_set in (base, *sets)]) * self.cells * measured
        )
        counts = [len(row_sums(np.zeros(self.axis.size // base), self.axis.size, base, row_set)) for row_set in sets]
        return _HatProblem(trace, weighted, products, member, np.array(counts, dtype=np.intp))


@dataclass(frozen=True, slots=True, eq=False)
class _HatProblem:
    """The equations of least squares in one eigenspace; H and M as in the module's docstring."""

    trace: float  # tr M
    weighted: Floats  # H M H'
    products: Floats  # H H'
    member: Floats  # (row sets, marginals): cells in a group if the marginal measures the row set, else 0
    counts: NDArray[np.intp]  # the number of rows in each row set after the base

    def error(self, precisions: Floats) -> float:
        """Return the sum of the answers' variances, from the precision of each marginal's noise."""
        known = self.member @ precisions
        if not len(self.counts):
            return self.trace / float(known[0])
        # Rows that no marginal measures get an infinite diagonal entry, and so no weight in the solution.
        with np.errstate(divide="ignore"):
            inner = self.products + np.diag(np.repeat(known[0] / known[1:], self.counts))
        gained = float(np.trace(np.linalg.solve(inner, self.weighted)))
        return (self.trace - gained) / float(known[0])


def _spaces(workload: Workload, place: int, marginals: Sequence[Marginal]) -> tuple[_ErrorSpace, ...]:
    axes = workload.domain.axes
    rest = Domain({axis.levels[0]: axis for a, axis in enumerate(axes) if a != place} or {"all": ["all"]})
    others = [(*marginal[:place], *marginal[place + 1 :]) or (0,) for marginal in marginals]
    blocks = Reconstruction(rest, dict.fromkeys(others, 1))
    spaces = []
    for space in blocks.spaces():
        parts = []
        for part in workload.parts:
            # Compute the sum of |Q_T w|^2 over the sums w on the other axes.
            beside = [sums for a, sums in enumerate(part.sums) if a != place]
            energy = Fraction(1)
            for axis, axis_sums, chain, at in zip(rest.axes, beside, blocks.chains, space, strict=False):
                even = axis.blocks
                assert even is not None, "the levels of the other axes are even"
                after = chain.index(at) + 1
                end = chain[after] if after < len(chain) else len(even)
                energy *= sum(axis_sums.spectrum(even)[at:end], start=Fraction(0))
            if energy:
                parts.append((part.sums[place], float(part.weight * energy / part.answers)))
        if parts:
            entering = [is_finer(blocks.canonical(other), space) for other in others]
            rows = [
                rows_of(axes[place], marginal[place]) * on for marginal, on in zip(marginals, entering, strict=True)
            ]
            cells = np.array([blocks.cells_in(other) for other in others], dtype=float)
            spaces.append(_ErrorSpace(axes[place], tuple(rows), cells, tuple(parts)))
    return tuple(spaces)


@lru_cache(maxsize=8)
def _rows_along(size: int, base: int, sets: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return H', which has the measured rows as columns, (groups of the base, rows); and H H'."""
    groups = size // base
    pieces = [np.zeros((groups, 0))]
    for row_set in sets:
        count = len(row_sums(np.zeros(groups), size, base, row_set))
        pieces.append(row_values(np.eye(count), size, base, row_set))
    columns = np.concatenate(pieces, axis=1)
    return columns, columns.T @ columns


def _moments(sums: AxisSums, axis: Axis, base: int, columns: Floats) -> tuple[float, Floats]:
    """Return tr M and H M H' for the wanted sums along the axis, in groups of the base."""
    if isinstance(sums, Ranges | Prefixes):
        # All prefixes, or all ranges, which are the differences of two of the n + 1 prefixes.
        size = len(columns)
        across = np.cumsum(columns, axis=0)
        if not isinstance(sums, Ranges):
            return size * (size + 1) / 2, across.T @ across
        added = across.sum(axis=0)
        return size * (size + 1) * (size + 2) / 6, (size + 1) * across.T @ across - np.outer(added, added)
    if isinstance(sums, Windows):
        across = np.cumsum(np.vstack([np.zeros(columns.shape[1]), columns]), axis=0)
        taken = across[sums.length :] - across[: -sums.length]
        return float(sums.length * len(taken)), taken.T @ taken
    if isinstance(sums, Taken):
        row = sums.row[::base].astype(float)
        return float(row.sum()), np.outer(row @ columns, row @ columns)
    if isinstance(sums, Groups):
        starts = axis.group_starts(sums.at) // base
        across = np.add.reduceat(columns, starts, axis=0)
        taken = across if sums.only is None else across[[sums.only]]
        groups = len(columns) / (1 if sums.only is None else len(starts))
        return groups, taken.T @ taken
    rows = sums.matrix(axis)[:, ::base].astype(float)
    return float((rows * rows).sum()), (rows @ columns).T @ (rows @ columns)


def hat_variances(
    workload: Workload, place: int, shares: Mapping[Marginal, Fraction], level: float
) -> dict[str, float]:
    """Return the mean variance of each part's answers, in units of the variance of noise at ``level``."""
    read_shares = np.array([float(share) for share in shares.values()])
    return {
        part.name: float(HatErrors(workload.reweighted({part.name: 1}), place, tuple(shares), level)(read_shares))
        for part in workload.parts
    }
