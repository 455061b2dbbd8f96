"""Search for budget shares of marginals with little weighted error, by exchanges between two marginals at a time.

The error is not convex in the shares (at half the level, the variance is more than four times as large). So the search
has no proof of optimality: it starts from many shares. Lower bounds show how far its plan can be from the best. The
search is deterministic.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, Floats
from utmost.publish.workloads.measuring.unit_charge import SHARES_ADD_UP_TO_1, ShareCondition
from utmost.publish.workloads.measuring.variance_components import VarianceComponents, relative_precision

_SCAN = np.linspace(0, 1, 9)
GOLDEN = (5**0.5 - 1) / 2
_SWEEPS = 300
_LEAST_SWEEP_GAIN = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class WeighedError:
    """The error of a workload as a function of budget shares, in units of the variance of noise at ``level``."""

    # (spectra, eigenspaces). The error of a spectrum is the sum over eigenspaces of spectrum / eigenvalue; for several
    # spectra, the error is the largest of these sums.
    spectra: Floats
    loads: Floats  # (marginals, eigenspaces): cells in a group if the marginal is nowhere coarser, else 0
    level: float  # epsilon of the noise at the largest budget share that a marginal may have
    free: Floats  # additional budget share of each marginal; (marginals,)
    _positive: tuple[tuple[NDArray[np.bool_], Floats], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_positive", tuple((row > 0, row[row > 0]) for row in self.spectra))

    @classmethod
    def of(
        cls,
        blocks: VarianceComponents,
        spectra: Sequence[Array],
        level: float,
        condition: ShareCondition = SHARES_ADD_UP_TO_1,
    ) -> "WeighedError":
        """Prepare the error for these spectra over the marginals of ``blocks``; ``level`` is the level of share 1."""
        squares = np.array([np.asarray(spectrum, dtype=float) for spectrum in spectra])
        present = (squares > 0).any(axis=0)
        free = condition.free_of(blocks.sizes == blocks.cells)
        loads = blocks.sizes[:, None] * blocks.below.T[:, present]
        return cls(squares[:, present], loads, level * float(condition.scale) * (1 + free.max()), free)

    def __call__(self, shares: Floats) -> Floats:
        """Return the error for each row of shares, (..., marginals); inf if an answer is not determined."""
        return self.weighed(self.eigenvalues(shares))

    def eigenvalues(self, shares: Floats) -> Floats:
        """Return the eigenvalues at the shares (..., marginals), divided by the precision at level ``level``."""
        return np.asarray(self.precisions(shares) @ self.loads)

    def precisions(self, shares: Floats, of: Any = slice(None)) -> Floats:
        """Return the precisions at the shares of the marginals ``of``, divided by the precision at level ``level``."""
        return np.asarray(relative_precision((shares + self.free[of]) / (1 + self.free.max()), self.level))

    def values(self, precisions: Floats) -> Floats:
        return self.weighed(np.asarray(precisions @ self.loads))

    def slopes(self, precisions: Floats) -> Floats:
        """Return the derivatives of the first spectrum's error with respect to the precisions; (marginals,)."""
        eigenvalues = precisions @ self.loads
        return np.asarray(-self.loads @ (self.spectra[0] / eigenvalues**2))

    def each(self, eigenvalues: Floats) -> list[Floats]:
        """For each spectrum, return the sum of spectrum / eigenvalue, (...), from eigenvalues (..., eigenspaces)."""
        with np.errstate(divide="ignore", over="ignore"):
            inverses = 1 / eigenvalues
        return [inverses[..., present] @ squares for present, squares in self._positive]

    def weighed(self, eigenvalues: Floats) -> Floats:
        """Return the largest over the spectra of the sums that `each` returns; (...)."""
        sums = self.each(eigenvalues)
        return sums[0] if len(sums) == 1 else np.asarray(np.maximum.reduce(sums))


def best_shares(error: WeighedError, starts: Sequence[Floats]) -> Floats:
    """Return the best shares that exchanges reach from these starts; they are never worse than any start."""
    # Run all starts briefly, and the best three to the end.
    values, tried = descended(error, np.array(starts), sweeps=4)
    values, descents = descended(error, tried[np.argsort(values, kind="stable")[:3]])
    return np.asarray(descents[values.argmin()])


def descended(error: WeighedError, starts: Floats, sweeps: int = _SWEEPS) -> tuple[Floats, Floats]:
    """Return the errors and the shares, (starts, marginals), after exchanges between pairs of marginals."""
    # A start is finished if a sweep over all marginals gains less than one part in 10^9.
    shares, values = starts.copy(), error(starts)
    going = np.arange(len(starts))
    for _ in range(sweeps):
        before = values.copy()
        for marginal in range(shares.shape[1]):
            moved = _exchanged(error, shares[going], marginal)
            after = error(moved)
            better = after < values[going]
            shares[going[better]], values[going[better]] = moved[better], after[better]
        with np.errstate(invalid="ignore"):  # two infinite errors have no difference
            going = going[before[going] - values[going] > _LEAST_SWEEP_GAIN * values[going]]
        if not len(going):
            break
    return values, shares


def lattice_shares(error: Callable[[Floats], Floats], shares: Floats, steps: int) -> NDArray[np.int64]:
    """Round shares to integers >= 0 that add up to ``steps``, then move single steps while the error falls."""
    exact_steps = shares / shares.sum() * steps
    counts: NDArray[np.int64] = np.floor(exact_steps).astype(np.int64)
    short = steps - int(counts.sum())
    # Round the largest remainders up, ties in order, so that the result is reproducible.
    counts[np.argsort(counts - exact_steps, kind="stable")[:short]] += 1
    wanting = np.flatnonzero(shares > 1e-9)
    value = float(error(counts / steps))
    for _ in range(_SWEEPS):
        moves = [(giver, taker) for giver in wanting if counts[giver] for taker in wanting if taker != giver]
        if not moves:
            break
        moved = np.repeat(counts[None, :], len(moves), axis=0)
        rows, (givers, takers) = np.arange(len(moves)), np.array(moves).T
        moved[rows, givers] -= 1
        moved[rows, takers] += 1
        values = error(moved / steps)
        best = int(values.argmin())
        # Moves that gain less than the rounding error of floats could repeat for ever.
        if not values[best] < value * (1 - 1e-13):
            break
        counts, value = moved[best], float(values[best])
    return counts


def chord_shares(error: WeighedError) -> Floats:
    """Return the shares that would be best if precision were proportional to the share, as on its chord."""
    # Multiply each share by the square root of its gain, until all gains are 1.
    shares, spectrum = np.full(len(error.loads), 1 / len(error.loads)), error.spectra.sum(axis=0)
    for _ in range(3000):
        eigenvalues = shares @ error.loads
        gains = error.loads @ (spectrum / eigenvalues**2) / (spectrum / eigenvalues).sum()
        if gains.max() <= 1 + 1e-9:  # at the optimum no share gains more than the mean
            break
        shares = shares * np.sqrt(gains)
        shares /= shares.sum()
    return shares


def _exchanged(error: WeighedError, shares: Floats, marginal: int) -> Floats:
    """Return the shares after the best exchange between one marginal and any other, by 9 points and golden section."""
    others = np.delete(np.arange(shares.shape[1]), marginal)
    if not len(others):
        return shares
    total = shares[:, [marginal]] + shares[:, others]
    precisions = error.precisions(shares)
    precisions[:, marginal] = 0
    rest = (precisions @ error.loads)[:, None] - precisions[:, others, None] * error.loads[others]
    # Count the measured marginals of each eigenspace: a difference of floats would not be exactly 0.
    measured, loaded = (precisions > 0).astype(float), (error.loads > 0).astype(float)
    both = (measured @ loaded)[:, None] - measured[:, others, None] * loaded[others]
    rest = np.where(both > 0, np.maximum(rest, 0), 0.0)

    def along(part: Floats) -> Floats:
        own_precisions, other_precisions = (
            error.precisions(part, marginal)[..., None],
            error.precisions(total - part, others)[..., None],
        )
        return error.weighed(rest + own_precisions * error.loads[marginal] + other_precisions * error.loads[others])

    scanned = along(_SCAN[:, None, None] * total)
    best = scanned.argmin(axis=0)
    low, high = (_SCAN[np.clip(best + step, 0, len(_SCAN) - 1)] * total for step in (-1, 1))
    # Refine by golden section.
    inner = high - GOLDEN * (high - low)
    outer = low + GOLDEN * (high - low)
    at_inner, at_outer = along(inner), along(outer)
    # 20 steps reach 1/15 000 of the line, which suffices: shares are rounded to thousandths at the end.
    for _ in range(20):
        left = at_inner < at_outer
        low, high = np.where(left, low, inner), np.where(left, outer, high)
        new = np.where(left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        at_new = along(new)
        inner, outer = np.where(left, new, outer), np.where(left, inner, new)
        at_inner, at_outer = np.where(left, at_new, at_outer), np.where(left, at_inner, at_new)
    better = at_inner < at_outer
    inside, within = np.where(better, inner, outer), np.where(better, at_inner, at_outer)
    ends = scanned.min(axis=0)
    part = np.where(within < ends, inside, _SCAN[best] * total)
    rows, chosen = np.arange(len(shares)), np.minimum(within, ends).argmin(axis=1)
    moved = shares.copy()
    moved[:, marginal] = part[rows, chosen]
    moved[rows, others[chosen]] = (total - part)[rows, chosen]
    return moved
