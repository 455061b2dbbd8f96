"""Search for budget shares for a workload: optimized, rounded, and never worse than simple shares."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.publish.workloads.measuring.unit_charge import SHARES_ADD_UP_TO_1, ShareCondition
from utmost.publish.workloads.measuring.variance_components import VarianceComponents
from utmost.publish.workloads.planning.candidate_marginals import plain_shares, search_starts
from utmost.publish.workloads.planning.share_exchange import WeighedError, best_shares, descended, lattice_shares
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal

AIMS = ("each", "mean", "largest")
"""The aims of a search: the weighted sum of mean variances, with a limit for each table ("each") or without limits
("mean"); or the largest weighted mean variance ("largest").
"""

_SHARE_STEPS = 1000
_MARGINALS_OF_STEPS = 50
_REWEIGHTINGS = 60


def least_shares(
    workload: Workload,
    marginals: dict[Marginal, int],
    level: float,
    aim: str = "mean",
    condition: ShareCondition = SHARES_ADD_UP_TO_1,
) -> dict[Marginal, Fraction]:
    """Search for rounded shares of little error over candidate marginals; prefer `plain_shares` if as good."""
    names = list(marginals)
    blocks = VarianceComponents.of(workload.domain, marginals, workload.eigenspaces)
    mean = WeighedError.of(blocks, [workload.spectrum(blocks)], level, condition)
    starts = search_starts(workload, marginals, mean)
    shares = best_shares(mean, starts)
    error, searched = mean, shares
    if aim == "largest" and len(workload.parts) > 1:
        error = WeighedError.of(
            blocks, [part.weight * part.spectrum(blocks) for part in workload.parts], level, condition
        )
        searched = best_shares(error, [*starts, _small_largest_error(error, shares)])
    steps = _SHARE_STEPS * -(-int((searched > 0).sum()) // _MARGINALS_OF_STEPS)
    rounded = [Fraction(int(count), steps) for count in lattice_shares(error, searched, steps)]
    plain = [
        [Fraction(1, int((shares > 0).sum())) if share else Fraction(0) for share in shares]
        for shares in plain_shares(workload, names)
    ]
    options = [*plain, rounded]
    values = [float(error(np.array(option, dtype=float))) for option in options]
    best = min(values)
    chosen = min(
        # Of options with equal errors up to rounding, take the one with the fewest marginals.
        (option for option, value in zip(options, values, strict=True) if value <= best * (1 + 1e-12)),
        key=lambda option: sum(share > 0 for share in option),
    )
    return condition.shares(workload.domain, dict(zip(names, chosen, strict=True)))


def _small_largest_error(largest: WeighedError, start: Floats) -> Floats:
    """Return shares with a small largest error; the heuristic may miss the smallest one."""
    # In each round, multiply the weight of each part by the square root of its error.
    weights, shares, best = np.ones(len(largest.spectra)), start, start
    for _ in range(_REWEIGHTINGS):
        errors = largest.each(largest.eigenvalues(shares))
        weights = weights * np.sqrt(errors)
        weights /= weights.sum()
        spectrum = (weights[:, None] * largest.spectra).sum(axis=0)
        _, (shares,) = descended(replace(largest, spectra=spectrum[None, :]), shares[None, :], sweeps=4)
        best = min(best, shares, key=lambda candidate: float(largest(candidate)))
    return best
