"""Decide two orders on channels, both of which refinement implies: the max-case order and the privacy order."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Array, as_array, as_rationals, frozen, is_exact, objects, same_numbers
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.channels.channel import Channel
from utmost.design.geometry.refinement_proofs import Verdict
from utmost.design.leakage.channel_capacity import as_channel


@dataclass(frozen=True, slots=True, eq=False)
class NearestMixture:
    """The mixture of given points that is nearest to a target in the maximum norm."""

    distance: Fraction  # 0 if and only if the target is a mixture
    weights: Array  # (m,) nonnegative weights with the sum 1
    # (n,) vector f with sum |f| <= 1: f . target exceeds f . point by at least `distance` for every point.
    separator: Array


def nearest_mixture(points: Array, target: Array) -> NearestMixture:
    """Return the exact minimum over mixtures of max_x |sum_y weights[y] points[x, y] - target[x]|."""
    (n, m), wanted = points.shape, target.tolist()
    triplets: list[tuple[int, int, Any]] = [(2 * n, y, Fraction(1)) for y in range(m)]
    # The last variable bounds the absolute value of each coordinate difference.
    for sign, first in ((1, 0), (-1, n)):
        for x in range(n):
            triplets += [(first + x, y, sign * points[x, y]) for y in range(m) if points[x, y]]
            triplets.append((first + x, m, Fraction(-1)))
    rows, columns, values = zip(*triplets, strict=True)
    upper = as_array([*wanted, *(-t for t in wanted), 1])
    lower = objects([*[-math.inf] * (2 * n), Fraction(1)])
    cost = as_array([0] * m + [1])
    solution = solve_exactly(LinearProgram.of_triplets(cost, rows, columns, as_array(values), lower, upper))
    return NearestMixture(solution.value, solution.primal[:m], solution.duals[:n] - solution.duals[n : 2 * n])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MaxCaseVerdict(Verdict):
    """Whether every posterior of the worse channel is a mixture of posteriors of the better one."""

    before: Array  # (n, m) posteriors of the better channel for the uniform prior
    after: Array  # (n, k) posteriors of the worse channel
    # (m, k): posterior w after is sum_y weights[y, w] before[:, y]; None if a posterior is no mixture.
    weights: Array | None
    outcome: int | None  # the index in `after` of a posterior that is no mixture
    # (n,) vector g with g . after[:, outcome] > g . before[:, y] for all y.
    separator: Array | None

    def __bool__(self) -> bool:
        return self.weights is not None

    def verify(self) -> bool:
        """Check exactly that `weights`, or `outcome` and `separator`, prove the verdict."""
        known, wanted = same_numbers(_posteriors(self.better), _posteriors(self.worse))
        before, after = as_rationals(known), as_rationals(wanted)
        least = objects([Fraction(self.tolerance)])
        if self.weights is not None:
            weights = as_rationals(self.weights)
            fair = (weights >= 0).all() and (abs(weights.sum(axis=0) - 1) <= least).all()
            return bool(fair and (abs(before.dot(weights) - after) <= least).all())
        assert self.separator is not None, "a verdict has one of the two proofs"
        heights = self.separator.dot(before)
        gap = self.separator.dot(after[:, self.outcome]) - heights.max()
        return bool((gap > least * abs(self.separator).sum()).all())


def max_case_verdict(better: Channel, worse: Channel, tolerance: float) -> MaxCaseVerdict:
    """Decide the max-case order: whether max_y V(posterior y) is never larger for ``worse``, for all quasi-convex V."""
    # The order holds if and only if the posteriors of ``worse`` lie in the convex hull of the posteriors of ``better``.
    # Refinement implies this order, and also requires that the weights of both hypers agree. For linearly independent
    # posteriors of ``better`` both orders are equivalent. Source: [chatzikokolakis2021]; [fernandes2022], observation
    # b) after equation (7).
    known, wanted = same_numbers(_posteriors(better), _posteriors(worse))
    allowed = 0.0 if is_exact(known) and is_exact(wanted) else tolerance
    weights = []
    points = as_rationals(known)
    for w, target in enumerate(as_rationals(wanted).T):
        mixture = nearest_mixture(points, target)
        if mixture.distance > Fraction(allowed):
            return MaxCaseVerdict(better, worse, allowed, known, wanted, None, w, mixture.separator)
        weights.append(mixture.weights)
    mixtures = frozen(np.array(weights, dtype=object).T)
    return MaxCaseVerdict(better, worse, allowed, known, wanted, mixtures, None, None)


def _posteriors(channel: Channel) -> Array:
    """Return the posteriors for a uniform prior as columns, without impossible outcomes."""
    sums = channel.matrix.sum(axis=0)
    return np.asarray(channel.matrix[:, sums != 0] / sums[sums != 0])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivacyOrderVerdict(Verdict):
    """Whether the worse channel satisfies every metric privacy level that the better one satisfies."""

    better_ratios: Array  # (n, n) `induced_ratios` of the better channel; entries may be infinite
    worse_ratios: Array  # the induced ratios of the worse channel
    pair: tuple[int, int] | None  # secrets that the worse channel distinguishes more

    def __bool__(self) -> bool:
        return self.pair is None

    def verify(self) -> bool:
        """Check that the ratio of ``pair`` is larger for the worse channel; without a pair, that no ratio is larger."""
        better_ratios, worse_ratios = induced_ratios(self.better), induced_ratios(self.worse)
        above = np.greater(worse_ratios, better_ratios * (1 + Fraction(self.tolerance)))
        return not above.any() if self.pair is None else bool(above[self.pair])


def privacy_order_verdict(better: Channel, worse: Channel, tolerance: float) -> PrivacyOrderVerdict:
    """Decide the privacy order: whether ``worse`` satisfies every metric privacy level that ``better`` satisfies."""
    # A channel C satisfies a metric d if and only if d_C <= d, with d_C(x, z) = max_y |log C[x, y] / C[z, y]|. So the
    # question is whether d_worse <= d_better: then every type that contains ``better`` contains ``worse``. The max-case
    # order implies this order, because the ratio of two entries is quasi-convex on posteriors. Source:
    # [chatzikokolakis2021].
    better_ratios, worse_ratios = induced_ratios(better), induced_ratios(worse)
    allowed = 0.0 if better.is_exact and worse.is_exact else tolerance
    apart = np.argwhere(worse_ratios > better_ratios * (1 + Fraction(allowed))).tolist()
    pair = (int(apart[0][0]), int(apart[0][1])) if apart else None
    return PrivacyOrderVerdict(better, worse, allowed, better_ratios, worse_ratios, pair)


def induced_ratios(channel: Channel | object) -> Array:
    """Return exp(d_C): for each pair of secrets x, z, the largest of C[x, y] / C[z, y] and C[z, y] / C[x, y] over all
    outcomes y.

    Returns:
        Symmetric matrix (n, n) of Fractions, at least 1, or ``inf`` if an outcome is possible for only one of the two
        secrets. Floats are converted to rationals exactly.

    >>> from utmost.channels import geometric_channel
    >>> induced_ratios(geometric_channel(3, alpha="1/2")).tolist()[0]
    [Fraction(1, 1), Fraction(2, 1), Fraction(4, 1)]
    """
    matrix = as_channel(channel).matrix
    n = len(matrix)
    ratios = np.full((n, n), Fraction(1), dtype=object)
    near = matrix.astype(np.float64)
    for x in range(n):
        for z in range(x):
            # Floats find the outcomes whose ratio may be the largest, and rationals decide among them.
            larger, smaller = np.maximum(near[x], near[z]), np.minimum(near[x], near[z])
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.where(smaller > 1e-300, np.log(larger) - np.log(smaller), np.inf)
            most = logs[smaller > 1e-300].max(initial=0.0)
            ratio: Fraction | float = Fraction(1)
            for y in np.flatnonzero(logs >= most - 1e-9).tolist():
                p, q = sorted((Fraction(matrix[x, y]), Fraction(matrix[z, y])))
                if q:
                    ratio = max(ratio, q / p if p else float("inf"))
            ratios[x, z] = ratios[z, x] = ratio
    return frozen(ratios)
