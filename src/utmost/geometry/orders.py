"""Other orders on channels: max-case, privacy-based, and refinement of hypers by earth moves."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels import Channel
from utmost.exact import Array, as_array, checked, frozen, is_exact, objects, one_world
from utmost.geometry.refining import refinement
from utmost.geometry.witnesses import TOLERANCE, as_rationals, same_secrets
from utmost.leakage import Hyper, hyper
from utmost.leakage.channel_capacity import as_channel
from utmost.programs import LinearProgram, solve_exactly
from utmost.spaces.priors import prior as check_prior


@dataclass(frozen=True, slots=True, eq=False)
class NearestMixture:
    """The mixture of given points that comes nearest to a target in its worst coordinate.

    Attributes:
        distance: how far off it is there; 0 exactly if the target is a mixture.
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
    for sign, first in ((1, 0), (-1, n)):
        for x in range(n):
            triplets += [(first + x, y, sign * points[x, y]) for y in range(m) if points[x, y]]
            triplets.append((first + x, m, Fraction(-1)))
    rows, columns, values = zip(*triplets, strict=True)
    upper = as_array([*wanted, *(-t for t in wanted), 1])
    lower = objects([*[-math.inf] * (2 * n), Fraction(1)])
    cost = as_array([0] * m + [1])
    found = solve_exactly(LinearProgram.of_triplets(cost, rows, columns, as_array(values), lower, upper))
    return NearestMixture(found.value, found.primal[:m], found.duals[:n] - found.duals[n : 2 * n])


@dataclass(frozen=True, slots=True, eq=False)
class MaxCaseVerdict:
    """Whether every posterior of A is a mixture of posteriors of B; true or false in a condition.

    Attributes:
        B, A: the posteriors for the uniform prior, a column each, (n, m) and (n, k).
        weights: (m, k): posterior w of A is sum_y weights[y, w] B[:, y]; None where some posterior is no mixture.
        outcome: a posterior of A that is none, or None.
        separator: (n,) g with g . A[:, outcome] > g . B[:, y] for all y: an expectation that A can raise higher.
        tolerance: by how much float64 posteriors may be off; 0 for exact ones.
    """

    B: Array
    A: Array
    weights: Array | None
    outcome: int | None
    separator: Array | None
    tolerance: float

    def __bool__(self) -> bool:
        return self.weights is not None

    def verify(self) -> bool:
        """Whether weights or separator prove the verdict, in rationals."""
        B, A, least = as_rationals(self.B), as_rationals(self.A), Fraction(self.tolerance)
        if self.weights is not None:
            weights = as_rationals(self.weights)
            fair = (weights >= 0).all() and (abs(weights.sum(axis=0) - 1) <= least).all()
            return bool(fair and (abs(B.dot(weights) - A) <= least).all())
        assert self.separator is not None, "a verdict has one of the two witnesses"
        heights = self.separator.dot(B)
        return bool(self.separator.dot(A[:, self.outcome]) - heights.max() > least * abs(self.separator).sum())


@checked
def max_case_verdict(B: Channel | object, A: Channel | object, tolerance: float = TOLERANCE) -> MaxCaseVerdict:
    """Is A safer than B for whoever fears the worst outcome: max_y V(posterior y), whatever quasi-convex V?

    Exactly if the posteriors of A lie in the convex hull of those of B. Refinement implies it (the earth that arrives
    at a posterior of A mixes posteriors of B) and asks for more: that the weights add up as well. Where the posteriors
    of B are linearly independent they do, and both are the same.

    Args:
        B, A: n rows.
        tolerance: for float64: how far a mixture may be off in every entry of a posterior.

    Raises:
        NotAChannel: for another number of secrets.

    Source: [chatzikokolakis2021]; [fernandes2022], observation b) after
    equation (7). Cost: one linear program for each outcome of A.

    >>> B, A = [["1/2", "1/2", 0], [0, "1/2", "1/2"]], [["3/4", "1/4"], ["1/4", "3/4"]]
    >>> from utmost.geometry import refinement
    >>> bool(max_case_verdict(B, A)), refinement(B, A) is not None
    (True, True)
    """
    first, second = same_secrets(B, A)
    known, wanted = one_world(_posteriors(first), _posteriors(second))
    exactly = is_exact(known) and is_exact(wanted)
    allowed = 0.0 if exactly else tolerance
    weights = []
    points = as_rationals(known)
    for w, target in enumerate(as_rationals(wanted).T):
        found = nearest_mixture(points, target)
        if found.distance > Fraction(allowed):
            return MaxCaseVerdict(known, wanted, None, w, found.separator, allowed)
        weights.append(found.weights)
    return MaxCaseVerdict(known, wanted, frozen(np.array(weights, dtype=object).T), None, None, allowed)


def _posteriors(channel: Channel) -> Array:
    """The posteriors of a uniform prior: columns over their sums, without those of impossible outcomes."""
    sums = channel.matrix.sum(axis=0)
    return np.asarray(channel.matrix[:, sums != 0] / sums[sums != 0])


@dataclass(frozen=True, slots=True, eq=False)
class PrivacyOrderVerdict:
    """Whether A keeps every metric promise that B keeps; true or false in a condition.

    Attributes:
        B, A: the ratios exp(d_B) and exp(d_A) of the metrics that the channels induce, (n, n), maybe infinite.
        pair: secrets that A tells apart more than B does, or None.
        tolerance: by how much, relatively, ratios of floats may be off; 0 for exact ones.
    """

    B: Array
    A: Array
    pair: tuple[int, int] | None
    tolerance: float

    def __bool__(self) -> bool:
        return self.pair is None

    def verify(self) -> bool:
        """Whether the ratios say so: none of A above that of B, or the one of the pair."""
        allowed = self.B * (1 + Fraction(self.tolerance))
        above = np.greater(self.A, allowed)
        return not above.any() if self.pair is None else bool(above[self.pair])


@checked
def privacy_order_verdict(
    B: Channel | object, A: Channel | object, tolerance: float = TOLERANCE
) -> PrivacyOrderVerdict:
    """Does A keep every metric promise that B keeps?

    A channel C keeps a promise d exactly if d_C <= d for the metric d_C(x, z) = max_y |log C[x, y] / C[z, y]| that it
    induces, so the question is whether d_A <= d_B. Then for every space and level that contains B, A is contained too,
    and `smallest_epsilon` of A is at most that of B; a pair with d_A > d_B is a space of two secrets where it is not.
    The max-case order implies it: a ratio of two entries is quasi-convex on posteriors.

    Args:
        B, A: n rows.
        tolerance: for float64: by how much, relatively, a ratio may be larger.

    Raises:
        NotAChannel: for another number of secrets.

    Source: [chatzikokolakis2021]. Cost: O(n^2 (m + k)).

    >>> from utmost.channels import geometric_channel, randomized_response
    >>> line, equal = geometric_channel(2, alpha="1/2"), randomized_response(3, alpha="1/2")
    >>> bool(privacy_order_verdict(line, equal)), bool(privacy_order_verdict(equal, line))
    (True, False)
    """
    first, second = same_secrets(B, A)
    loose, strict = induced_ratios(first), induced_ratios(second)
    exactly = first.is_exact and second.is_exact
    allowed = 0.0 if exactly else tolerance
    apart = np.argwhere(strict > loose * (1 + Fraction(allowed))).tolist()
    pair = (int(apart[0][0]), int(apart[0][1])) if apart else None
    return PrivacyOrderVerdict(loose, strict, pair, allowed)


def induced_ratios(channel: Channel | object) -> Array:
    """exp(d_C): the largest C[x, y] / C[z, y] or its inverse over all outcomes, for each pair of secrets.

    Returns:
        (n, n) symmetric Fractions at least 1, or ``inf`` where an outcome excludes one of the two; floats are taken as
        the rationals that they are.

    >>> from utmost.channels import geometric_channel
    >>> induced_ratios(geometric_channel(2, alpha="1/2")).tolist()[0]
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


def _largest_ratio(one: Array, other: Array, near_one: Array, near_other: Array) -> Any:
    """Floats narrow down where the largest ratio is, rationals decide; where a float is 0 they look anyway."""
    larger, smaller = np.maximum(near_one, near_other), np.minimum(near_one, near_other)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(smaller > 1e-300, np.log(larger) - np.log(smaller), np.inf)
    most = logs[smaller > 1e-300].max(initial=0.0)
    ratio: Any = Fraction(1)
    for y in np.flatnonzero(logs >= most - 1e-9).tolist():
        p, q = sorted((Fraction(one[y]), Fraction(other[y])))
        if q:
            ratio = max(ratio, q / p if p else float("inf"))
    return ratio


@dataclass(frozen=True, slots=True, eq=False)
class EarthMove:
    """How much probability moves from which posterior of ``before`` to which one of ``after``.

    Attributes:
        before, after: the hypers of B and of A for one prior.
        amounts: (m, k): all that leaves posterior y of ``before`` is its weight, all that arrives at posterior w of
            ``after`` is its weight, and the mean of what arrives there is the posterior itself:
            sum_y amounts[y, w] before.posteriors[:, y] = after.weights[w] after.posteriors[:, w].
    """

    before: Hyper
    after: Hyper
    amounts: Array

    def __post_init__(self) -> None:
        frozen(self.amounts)

    @checked
    def verify(self, tolerance: float = TOLERANCE) -> bool:
        """Whether the amounts are as stated: exactly where all is exact, else up to the tolerance in every sum."""
        posteriors, amounts, joint = one_world(self.before.posteriors, self.amounts, self.after.joint)
        misses = (
            amounts.sum(axis=1) - self.before.weights,
            amounts.sum(axis=0) - self.after.weights,
            (posteriors @ amounts - joint).ravel(),
        )
        allowed = 0 if self.before.is_exact and self.after.is_exact else tolerance
        return bool((amounts >= 0).all() and all((abs(miss) <= allowed).all() for miss in misses))


@checked
def earth_move(
    B: Channel | object, A: Channel | object, prior: object, tolerance: float = TOLERANCE
) -> EarthMove | None:
    """The refining earth move from the hyper [prior, B] to the hyper [prior, A], or None where there is none.

    It exists exactly if A is a refinement of B on the secrets that the prior does not exclude: the remap P of merged
    outcomes moves weights[y] P[y, w]. For one prior without zeros it therefore decides refinement for all priors.

    Args:
        B, A: (n, m) and (n, k). prior: (n,).
        tolerance: for float64, as in `refinement`.

    Raises:
        NotAChannel, NotAPrior, OutOfRange: for what is none, and for other numbers of secrets.

    Source: [fernandes2022], equation (7) and observation a) after it.

    >>> from utmost.spaces import priors
    >>> move = earth_move([[1, 0], [0, 1]], [["3/4", "1/4"], ["1/4", "3/4"]], priors.uniform(2))
    >>> [[str(v) for v in row] for row in move.amounts], move.verify()
    ([['3/8', '1/8'], ['1/8', '3/8']], True)
    """
    belief = check_prior(prior)
    before, after = hyper(B, belief), hyper(A, belief)
    possible = np.flatnonzero(belief != 0)
    P = refinement(_rows_of(before, possible), _rows_of(after, possible), tolerance)
    if P is None:
        return None
    weights, remap = one_world(before.weights, P.matrix)
    return EarthMove(before, after, np.asarray(weights[:, None] * remap))


def _rows_of(of: Hyper, possible: Array) -> Channel:
    """The channel of a hyper on the secrets that its prior does not exclude."""
    joint = of.joint[possible]
    return Channel(joint / joint.sum(axis=1, keepdims=True))
