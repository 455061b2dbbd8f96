"""Coarser orders on channels than refinement: by the worst posterior, and by the metric promises kept."""

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
    """The mixture of given points that comes nearest to a target in its worst coordinate.

    Attributes:
        distance: Distance of the target; 0 exactly if it is a mixture.
        weights: (m,) of the points, nonnegative, summing to 1.
        separator: (n,) with absolute values that sum to at most 1, such that its product with the target is larger
            by ``distance`` than with any of the points.
    """

    distance: Fraction
    weights: Array
    separator: Array


def nearest_mixture(points: Array, target: Array) -> NearestMixture:
    """min over mixtures of max_x |sum_y weights[y] points[x, y] - target[x]|, exactly.

    Args:
        points: (n, m) Fractions, a point in each column. target: (n,) Fractions.

    Cost: a linear program of m + 1 variables and 2 n + 1 rows.

    >>> found = nearest_mixture(as_array([[0, 1], [1, 0]]), as_array(["1/4", "3/4"]))
    >>> found.distance, found.weights.tolist()
    (Fraction(0, 1), [Fraction(3, 4), Fraction(1, 4)])
    """
    (n, m), wanted = points.shape, target.tolist()
    triplets: list[tuple[int, int, Any]] = [(2 * n, y, Fraction(1)) for y in range(m)]
    # The largest difference is the last variable: above each difference and above its negative.
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
    """Whether every posterior of the worse channel is a mixture of posteriors of the better one.

    Attributes:
        before, after: Posteriors of better and of worse for the uniform prior, a column each, (n, m) and (n, k).
        weights: (m, k): posterior w after is sum_y weights[y, w] before[:, y]; None where some posterior is no mixture.
        outcome: Posterior of the worse channel that is none, or None.
        separator: (n,) g with g . after[:, outcome] > g . before[:, y] for all y: an expectation that the worse channel
            can raise higher.
    """

    before: Array
    after: Array
    weights: Array | None
    outcome: int | None
    separator: Array | None

    def __bool__(self) -> bool:
        return self.weights is not None

    def verify(self) -> bool:
        """Whether weights or separator prove the verdict, in rationals."""
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
    """Is one channel safer for whoever fears the worst outcome: max_y V(posterior y), whatever quasi-convex V?

    Exactly if its posteriors lie in the convex hull of those of the other. Refinement implies it (the earth that
    arrives at a posterior mixes posteriors of the better channel) and asks for more: that the weights add up as well.
    Where the posteriors of the better channel are linearly independent they do, and both are the same.

    Args:
        better, worse: n rows.
        tolerance: Largest error of a float64 mixture in an entry of a posterior.

    Source: [chatzikokolakis2021]; [fernandes2022], observation b) after
    equation (7). Cost: one linear program for each outcome of the worse channel.
    """
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
    """The posteriors of a uniform prior: columns over their sums, without those of impossible outcomes."""
    sums = channel.matrix.sum(axis=0)
    return np.asarray(channel.matrix[:, sums != 0] / sums[sums != 0])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivacyOrderVerdict(Verdict):
    """Whether the worse channel keeps every metric promise that the better one keeps.

    Attributes:
        loose, strict: Ratios exp(d) of the metrics d that better and worse induce, (n, n), maybe infinite.
        pair: Secrets that the worse channel distinguishes more than the better one does, or None.
    """

    loose: Array
    strict: Array
    pair: tuple[int, int] | None

    def __bool__(self) -> bool:
        return self.pair is None

    def verify(self) -> bool:
        """Whether the ratios say so: none of the worse channel above that of the better one, or that of the pair."""
        loose, strict = induced_ratios(self.better), induced_ratios(self.worse)
        above = np.greater(strict, loose * (1 + Fraction(self.tolerance)))
        return not above.any() if self.pair is None else bool(above[self.pair])


def privacy_order_verdict(better: Channel, worse: Channel, tolerance: float) -> PrivacyOrderVerdict:
    """Does one channel keep every metric promise that the other keeps?

    A channel C keeps a promise d exactly if d_C <= d for the metric d_C(x, z) = max_y |log C[x, y] / C[z, y]| that it
    induces, so the question is whether d_worse <= d_better. Then every space and level that contains the better one
    contains the worse one, whose `smallest_epsilon` is no larger; a pair that breaks it is a space of two secrets where
    it is not. The max-case order implies it: a ratio of two entries is quasi-convex on posteriors.

    Args:
        better, worse: n rows.
        tolerance: Largest relative excess of a float64 ratio.

    Source: [chatzikokolakis2021]. Cost: O(n^2 (m + k)).
    """
    loose, strict = induced_ratios(better), induced_ratios(worse)
    allowed = 0.0 if better.is_exact and worse.is_exact else tolerance
    apart = np.argwhere(strict > loose * (1 + Fraction(allowed))).tolist()
    pair = (int(apart[0][0]), int(apart[0][1])) if apart else None
    return PrivacyOrderVerdict(better, worse, allowed, loose, strict, pair)


def induced_ratios(channel: Channel | object) -> Array:
    """exp(d_C): the largest C[x, y] / C[z, y] or its inverse over all outcomes, for each pair of secrets.

    Returns:
        (n, n) symmetric Fractions at least 1, or ``inf`` where an outcome excludes one of the two; floats are taken as
        the rationals that they are.

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
            ratios[x, z] = ratios[z, x] = _largest_ratio(matrix[x], matrix[z], near[x], near[z])
    return frozen(ratios)


def _largest_ratio(first: Array, second: Array, near_first: Array, near_second: Array) -> Fraction | float:
    """Floats narrow down where the largest ratio is, rationals decide; where a float is 0 they look anyway."""
    larger, smaller = np.maximum(near_first, near_second), np.minimum(near_first, near_second)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(smaller > 1e-300, np.log(larger) - np.log(smaller), np.inf)
    most = logs[smaller > 1e-300].max(initial=0.0)
    ratio: Fraction | float = Fraction(1)
    for y in np.flatnonzero(logs >= most - 1e-9).tolist():  # all that may be the largest once rounding is taken off
        p, q = sorted((Fraction(first[y]), Fraction(second[y])))
        if q:
            ratio = max(ratio, q / p if p else float("inf"))
    return ratio
