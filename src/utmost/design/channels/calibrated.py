"""Build mechanisms of a given level from a matrix of costs: the exponential mechanism and the abstract staircase.

Both mechanisms give outcome y for secret x with a probability proportional to a weight, which decreases as the cost of
y for x grows. The weights satisfy a level, but dividing each row by its sum can double epsilon unless all row sums are
equal. So the weights use half of the given epsilon if row sums may differ, and all of it if row sums are equal.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, sequence
from utmost.core.exact.arrays import Array, as_array, as_integers, as_rationals, frozen, is_exact
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, between_0_and_1, exact
from utmost.design.channels.channel import Channel, stochastic
from utmost.design.spaces.families import discrete
from utmost.design.spaces.losses import loss_matrix
from utmost.design.spaces.space import Space
from utmost.errors import NotALoss, OutOfRange, Unsupported

Tails = tuple[Number | None, Number | None]
"""Pair (left, right): the increase of the cost with each further outcome to the left of the first column, and to the
right of the last.

None or 0 stands for a side without further outcomes. An outcome in a tail has the same likelihood ratios as the first
outcome of the tail, up to its position in a staircase period, so merging a tail into one outcome loses little or no
information.
"""


@dataclass(frozen=True, slots=True, eq=False)
class WeightedOutcomes:
    """The columns weights * alpha^steps of a mechanism, before each row is divided by its sum. A column of a tail
    represents infinitely many outcomes.
    """

    steps: Array  # (n, w) exponents of alpha
    weights: Array  # (w,) base weights of the columns
    falls: Array  # (w,): a column of a tail sums the steps s, s + fall, s + 2 fall, ...; 0 for other columns
    owner: NDArray[np.intp]  # (w,) the outcome to which each column belongs
    names: tuple[str | int, ...] | None  # names of the outcomes, if there is a tail

    def sums_agree(self) -> bool:
        """Return whether all rows have the same sum, for every alpha."""
        # Multiplied by 1 - X^fall for each tail, a row sum is a polynomial in X = alpha. Compare the coefficients of
        # these polynomials.
        tails, sums = set(self.falls.tolist()) - {0}, set()
        for row in self.steps:
            total: dict[Fraction, Fraction] = {}
            for step, weight, fall in zip(row, self.weights, self.falls, strict=True):
                terms = {step: Fraction(weight)}
                for other in tails - {fall}:
                    # Multiply by 1 - X^other.
                    moved = {at + other: coefficient for at, coefficient in terms.items()}
                    terms = {at: terms.get(at, Fraction(0)) - moved.get(at, Fraction(0)) for at in {**terms, **moved}}
                for power, coefficient in terms.items():
                    total[power] = total.get(power, Fraction(0)) + coefficient
            sums.add(frozenset((power, coefficient) for power, coefficient in total.items() if coefficient))
        return len(sums) == 1

    def folded(self, joint: Array) -> Array:
        """Return the matrix with columns of the same outcome added up."""
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        return np.asarray(np.add.reduceat(joint, starts, axis=1))


def with_tails(costs: Array, weights: Array, tails: Tails, unit: Fraction, *, integer_steps: bool) -> WeightedOutcomes:
    """Return the columns of the costs, between one period of the left tail and one period of the right tail."""
    # ``costs`` are in units of the sensitivity, ``tails`` in the units of the user. With integer steps, a tail whose
    # cost increases by p/q of a unit with each outcome repeats after q outcomes, times alpha^p; otherwise it repeats
    # after one outcome.
    rises = []
    for tail in tails:
        rise = exact(0 if tail is None else tail, "tails")
        if rise < 0:
            remedy = "Pass a positive number, or None if there is no tail."
            raise OutOfRange(
                "the increase of the cost along a tail must be positive", came=tail, where="tails", remedy=remedy
            )
        rises.append(rise / unit)
    left, right = rises
    before = [(costs[:, 0] + left * j, left) for j in range(_tail_period(left, integer_steps), 0, -1)]
    after = [(costs[:, -1] + right * j, right) for j in range(1, _tail_period(right, integer_steps) + 1)]
    m = costs.shape[1]
    columns = [*(c for c, _ in before), *costs.T, *(c for c, _ in after)]
    falls = [rise * _tail_period(rise, integer_steps) for _, rise in before] + [Fraction(0)] * m
    falls += [rise * _tail_period(rise, integer_steps) for _, rise in after]
    owner = [0] * len(before) + [k + bool(before) for k in range(m)] + [m + bool(before)] * len(after)
    names = (*(["before"] if before else []), *range(m), *(["after"] if after else []))
    return WeightedOutcomes(
        np.array(columns, dtype=object).T.reshape(len(costs), -1),
        np.concatenate([weights[:1].repeat(len(before)), weights, weights[-1:].repeat(len(after))]),
        np.array(falls, dtype=object),
        np.array(owner, dtype=np.intp),
        names if before or after else None,
    )


def _tail_period(rise: Fraction, integer_steps: bool) -> int:
    return 0 if rise == 0 else rise.denominator if integer_steps else 1


def exponential_mechanism(
    costs: object,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    space: Space | None = None,
    base: object | None = None,
    tails: Tails | None = None,
) -> Channel:
    """Return the exponential mechanism of a cost matrix: C[x, y] is proportional to base[y] alpha^(costs[x, y] / D).

    D is the sensitivity of the costs, the largest |costs[x, y] - costs[z, y]| / d(x, z), so multiplying all costs by a
    constant does not change the channel. If row sums of the weights may differ, sqrt(alpha) replaces alpha. Row sums
    cannot differ if every row has the same pairs of a cost and a base weight, in any order.

    Args:
        costs: Nonnegative matrix (n, m): the cost of outcome y for secret x.
        epsilon, alpha: Level of one unit of distance, as epsilon or as alpha.
        space: Space of n secrets; all at distance 1 from each other (`discrete`) when left out.
        base: Positive weights of the m outcomes; all 1 when left out.
        tails: Tails (left, right) of a countable range, see `Tails`. Each outcome to the left of the first column costs
            ``left`` more than its right neighbour, and has the base weight of the first column; each outcome to the
            right of the last column costs ``right`` more than its left neighbour, and has the base weight of the last
            column. Pass None or 0 on a side where the range ends.

    Returns:
        Channel (n, m), exact if costs, tails and base are exact and every power is rational, else float64. Each tail
        adds one outcome, so with two tails the shape is (n, m + 2).

    Raises:
        NotALoss: if costs are invalid, have a wrong number of rows, or are the same for every secret.
        OutOfRange: if the base or the tails are invalid.

    Source: [koufogiannis2015], proposition 7, which holds only if all row sums are equal.

    >>> [str(p) for p in exponential_mechanism([[0, 1], [1, 0]], alpha="1/2", tails=(1, 1)).matrix[0]]
    ['1/3', '1/3', '1/6', '1/6']
    >>> exponential_mechanism([[0, 1, 1], [1, 0, 1], [1, 1, 0]], alpha="1/2").matrix[0].tolist()
    [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    """
    cost, where = _read_costs(costs, space)
    weights = _read_base(base, cost.shape[1])
    unit = _sensitivity(cost, where)
    weighted = with_tails(as_rationals(cost) / unit, weights, _read_tails(tails), unit, integer_steps=False)
    return _normalised(weighted, level(epsilon, alpha), is_exact(cost))


def abstract_staircase(
    costs: object,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    gamma: Number = "1/2",
    space: Space | None = None,
    base: object | None = None,
    tails: Tails | None = None,
) -> Channel:
    """Return the staircase mechanism of a cost matrix: C[x, y] is proportional to base[y] alpha^k(x, y).

    k(x, y) is the number of steps between 0 and costs[x, y]. Each interval [j D, (j + 1) D), with D the sensitivity of
    the costs, has one step, at j D + gamma D. If row sums may differ (see `exponential_mechanism`), sqrt(alpha)
    replaces alpha.

    Args:
        costs: Nonnegative matrix (n, m): the cost of outcome y for secret x.
        epsilon, alpha: Level of one unit of distance, as epsilon or as alpha.
        gamma: Position of the step in each interval, between 0 and 1; with 1/2, the mechanism attains the trade-off
            curve of its level.
        space: Space of n secrets at integer distances; all at distance 1 (`discrete`) when left out.
        base: Positive weights of the m outcomes; all 1 when left out.
        tails: Tails (left, right) of a countable range, see `Tails`. Each outcome to the left of the first column costs
            ``left`` more than its right neighbour, and has the base weight of the first column; each outcome to the
            right of the last column costs ``right`` more than its left neighbour, and has the base weight of the last
            column. Pass None or 0 on a side where the range ends.

    Returns:
        Channel (n, m), exact if costs, tails and base are exact and alpha (or its root) is rational, else float64. Each
        tail adds one outcome, so with two tails the shape is (n, m + 2).

    Raises:
        NotALoss: if costs are invalid, have a wrong number of rows, or are the same for every secret.
        OutOfRange: if the base, the tails or gamma are invalid.
        Unsupported: if a distance is not an integer, because the probability may then change by a whole factor alpha
            between costs that differ by less than D.

    Source: [geng2012], definition 4; theorem 13 there holds only if all row sums are equal.

    >>> abstract_staircase([[0, 1, 2], [2, 0, 1], [1, 2, 0]], alpha="1/2", gamma=1).matrix[0].tolist()
    [Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)]
    """
    cost, where = _read_costs(costs, space)
    weights = _read_base(base, cost.shape[1])
    turn = between_0_and_1(gamma, "gamma", "abstract_staircase", strictly=False)
    if where.distances.dtype != np.int64:
        remedy = "Use `exponential_mechanism`, or round distances up to integers."
        raise Unsupported("an abstract staircase needs integer distances", came=repr(where), remedy=remedy)
    steps = np.frompyfunc(lambda t: Fraction(floor(t) + (t - floor(t) >= turn)), 1, 1)
    unit = _sensitivity(cost, where)
    weighted = with_tails(as_rationals(cost) / unit, weights, _read_tails(tails), unit, integer_steps=True)
    return _normalised(replace(weighted, steps=steps(weighted.steps)), level(epsilon, alpha), is_exact(cost))


def _read_costs(costs: object, space: Space | None) -> tuple[Array, Space]:
    if space is not None:
        instance(space, Space, "space")
    cost = loss_matrix(costs)
    where = discrete(len(cost)) if space is None else space
    if where.size != len(cost):
        raise NotALoss(
            f"costs must have {where.size} rows, one for each secret",
            came=len(cost),
            remedy="Pass one row of costs for each secret.",
        )
    return cost, where


def _read_base(base: object | None, outcomes: int) -> Array:
    weights = as_array([1] * outcomes if base is None else base, "base", ndim=1)
    if len(weights) != outcomes or (weights <= 0).any():
        raise OutOfRange(
            f"the base must have {outcomes} positive weights, one for each outcome",
            came=base,
            remedy="Leave out base= for equal weights.",
        )
    return weights


def _read_tails(tails: Tails | None) -> Tails:
    if tails is None:
        return None, None
    read = sequence(tails, "tails")
    if len(read) != 2:
        raise OutOfRange(
            "tails must be a pair: the tail before the first outcome and the tail after the last",
            came=tails,
            where="tails",
            remedy="Pass (left, right), with None for a side without a tail.",
        )
    return read[0], read[1]


def _sensitivity(cost: Array, space: Space) -> Fraction:
    """Return the largest |costs[x, y] - costs[z, y]| / d(x, z), rounded up if a distance is irrational."""
    integers, denominator = as_integers(as_rationals(cost))
    sensitivity = Fraction(0)
    for x, z in space.edges.tolist():
        gap, length = Fraction(abs(integers[x] - integers[z]).max(), denominator), space.length(x, z)
        sensitivity = max(sensitivity, gap / (length if isinstance(length, Fraction) else length.interval(128).lower))
    if sensitivity == 0:
        remedy = "Pass (n, m) costs whose rows differ."
        raise NotALoss("costs must depend on the secret", came="the same costs for every secret", remedy=remedy)
    return sensitivity


def _normalised(weighted: WeightedOutcomes, at: Level, exactly: bool) -> Channel:
    """Return the channel with rows proportional to weights * alpha^steps, at half the epsilon unless `sums_agree`."""
    used = at if weighted.sums_agree() else at.scaled("1/2")
    steps = weighted.steps - weighted.steps.min(axis=1)[:, None]  # steps are reduced so that no row underflows to 0
    each = {step: used.scaled(step) for step in {*steps.flat, *weighted.falls} if step}
    if exactly and is_exact(weighted.weights) and all(power.is_rational for power in each.values()):
        power = np.frompyfunc(lambda step: each[step].alpha_fraction() if step else Fraction(1), 1, 1)
        powers, repeats, weights = (
            power(steps),
            [1 / (1 - power(fall)) if fall else 1 for fall in weighted.falls],
            weighted.weights,
        )
    else:
        rate, falls = used.epsilon_float, weighted.falls.astype(np.float64)
        powers, weights = np.exp(-rate * steps.astype(np.float64)), weighted.weights.astype(np.float64)
        repeats = [-1 / np.expm1(-rate * fall) if fall else 1.0 for fall in falls]
    joint: Array = weighted.folded(np.asarray(powers * weights * np.array(repeats, dtype=powers.dtype)))
    return stochastic(frozen(joint / joint.sum(axis=1)[:, None]), outcomes=weighted.names)
