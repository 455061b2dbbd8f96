"""Noise need not depend on the query's output: Lemmas 14 and 15, and Theorems 2 and 10 that follow from them.

The hypothesis is that the family of noise laws is periodic in the query's output (and, on the reals, constant on the
cells of a grid): then finitely many translates of it exhaust all translates, and their average no longer depends on
the output. The period may be anything; on the integers, proofs/theory/independent-noise.md removes the hypothesis by a
limit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, Literal

import numpy as np

from utmost.core.exact.arrays import Array, as_array, frozen, is_exact, same_numbers, unpickler
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact, exact_integer
from utmost.core.noise.costs import Cost, Moment
from utmost.core.noise.integer_law import IntegerLaw
from utmost.core.noise.polynomials import eulerian
from utmost.errors import NotAChannel, OutOfRange, PromiseBroken, Unsupported

# A sum of this many terms takes about a second; a ratio so near 1 is no work for a sum.
_MOST_TERMS = 1_000_000


def discounted(
    cost: Cost, x: int, stride: int, ratio: Fraction | float, settled: int | None = None
) -> Fraction | float:
    """sum over k >= 0 of ratio^k L(x + k stride).

    The sum is a closed form for an integer moment and for a cost that is constant from some error on, and exact where
    the ratio is a Fraction. For every other cost it is summed in floats until the rest is below half a unit in the last
    place, given that L grows slower than ratio^(-k/2).

    Args:
        cost: L, even, of integers.
        x: Start of the tail.
        stride: Step away from zero, not 0: positive on the right, negative on the left.
        ratio: Ratio in [0, 1).
        settled: Error from which on L is constant, if there is one.

    Raises:
        OutOfRange: when the ratio is no such number.
        Unsupported: when the sum would take more than a million terms.

    >>> from utmost.core.noise import costs
    >>> discounted(costs.squared, 0, 2, Fraction(1, 2)), discounted(lambda x: min(abs(x), 1), 0, 1, 0.5, settled=1)
    (Fraction(24, 1), 1.0)
    """
    if not 0 <= ratio < 1:
        raise OutOfRange("the ratio of a tail must lie in [0, 1)", came=ratio)
    total, weight, k = 0 * ratio, 1 + 0 * ratio, 0
    while ratio and not _is_closed(cost, x + k * stride, stride, settled):
        total, weight, k = total + weight * _cost_at(cost, x + k * stride, ratio), weight * ratio, k + 1
        if k > _MOST_TERMS:
            raise Unsupported("the tail must end within a million terms", came=f"ratio {ratio}")
        # What is left is below the rounding of the sum, for a cost that grows slower than its weights fall.
        if weight < 2.0**-120 and not _has_closed_form(cost, settled):
            return float(total)
    return total + weight * _closed_form(cost, x + k * stride, stride, ratio, settled)


def _has_closed_form(cost: Cost, settled: int | None) -> bool:
    return settled is not None or (isinstance(cost, Moment) and cost.is_integer)


def _is_closed(cost: Cost, x: int, stride: int, settled: int | None) -> bool:
    """Whether the rest of the tail, from x on, is a sum in closed form."""
    return _has_closed_form(cost, settled) and x * stride >= 0 and abs(x) >= (settled or 0)


def _closed_form(cost: Cost, x: int, stride: int, ratio: Fraction | float, settled: int | None) -> Fraction | float:
    if not ratio or settled is not None:
        return _cost_at(cost, x, ratio) / (1 - ratio)
    assert isinstance(cost, Moment)
    m = cost.order.numerator
    tail: Fraction | float = sum(
        comb(m, i) * abs(x) ** (m - i) * abs(stride) ** i * _power_series(i, ratio) for i in range(m + 1)
    )
    return tail


def _power_series(order: int, ratio: Fraction | float) -> Fraction | float:
    """sum over k >= 0 of k^order ratio^k."""
    series: Fraction | float = sum(c * ratio**n for n, c in enumerate(eulerian(order))) / (1 - ratio) ** (order + 1)
    return series


def _cost_at(cost: Cost, x: int, ratio: Fraction | float) -> Fraction | float:
    """L(x) in the ratio's kind of number."""
    value = cost(x)
    if isinstance(ratio, Fraction) and not isinstance(value, float):
        return Fraction(value)
    if not math.isfinite(value):
        raise OutOfRange("a cost must be finite", came=value, where=f"cost({x})")
    return float(value)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class PeriodicNoise:
    """A family of noise laws, one for each query output, that repeats after T outputs.

    Output t, or on the reals any output of the t-th cell [t h, (t+1) h), gets the law of row t mod T:

        P(noise = start + k) = pmf[t mod T, k],    0 <= k < m,

    and beyond these m places each tail repeats its last ``period`` places, ``ratio`` times as high each time. On the
    reals a place is the cell [(start+k) h, (start+k+1) h), over which its mass is spread evenly; the width h must
    divide the sensitivity, which is then counted in cells. One row is noise that does not depend on the query's output.

    Args:
        pmf: (T, m), float64 or Fraction.
        start: Noise of the first column; by default the columns are centred on 0.
        period: Number of places that each tail repeats, in 1..m.
        ratio: Ratio in [0, 1); 0 is noise without tails, which has no level.
        numbers: "integers" or "reals".
        tolerance: Largest distance of the mass of a float64 row from 1; exact rows have mass 1.

    Raises:
        NotAChannel: for a negative entry, and for a row whose mass, tails included, is not 1.
        OutOfRange: for a period outside 1..m or a ratio outside [0, 1).

    Source: [geng2012], (30) and (72): the families of Theorems 2 and 10.

    >>> from utmost.core.noise import costs
    >>> geometric = PeriodicNoise([["1/3"]], ratio="1/2")
    >>> geometric.mass(0, -3), geometric.worst_ratio(1), geometric.worst_cost(costs.absolute)
    (Fraction(1, 24), Fraction(1, 2), Fraction(4, 3))
    """

    pmf: Array
    start: int
    period: int
    ratio: Any
    numbers: Literal["integers", "reals"]

    def __init__(
        self,
        pmf: object,
        start: int | None = None,
        *,
        period: int = 1,
        ratio: Number = 0,
        numbers: Literal["integers", "reals"] = "integers",
        tolerance: float = 1e-9,
    ) -> None:
        rows, decay = same_numbers(as_array(pmf, "pmf", ndim=2), as_array(ratio, "ratio", ndim=0))
        if rows.size == 0 or not 1 <= exact_integer(period, "period") <= rows.shape[1]:
            raise OutOfRange("period must lie in 1..m for an array of m >= 1 columns", came=(period, rows.shape))
        if not 0 <= decay < 1:
            raise OutOfRange("the ratio of the tails must lie in [0, 1)", came=ratio, where="PeriodicNoise")
        if numbers not in ("integers", "reals"):
            raise OutOfRange('numbers must be "integers" or "reals"', came=numbers, where="PeriodicNoise")
        first = -((rows.shape[1] - 1) // 2) if start is None else exact_integer(start, "start")
        for name, value in {"pmf": rows, "start": first, "period": int(period), "ratio": decay.item()}.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "numbers", numbers)
        for i, k in np.argwhere(self.pmf < 0)[:1]:
            raise NotAChannel(f"entry [{i}, {k}] of the pmf must not be negative", came=self.pmf[i, k])
        tail = self.ratio / (1 - self.ratio)
        P, sums = self.period, self.pmf.sum(axis=1)
        masses = sums + tail * (self.pmf[:, :P].sum(axis=1) + self.pmf[:, -P:].sum(axis=1))
        wrong = masses != 1 if self.is_exact else abs(masses - 1) > tolerance
        for i in np.flatnonzero(wrong)[:1]:
            raise NotAChannel(f"row {i} of the pmf has mass {masses[i]} with its tails, expected 1")

    @classmethod
    def of_law(cls, law: IntegerLaw) -> "PeriodicNoise":
        """A law on the integers as noise that depends on no output; its period sets the window.

        >>> from utmost.noise import DiscreteStaircase
        >>> PeriodicNoise.of_law(DiscreteStaircase(alpha="1/2", sensitivity=3, step=2)).worst_ratio(3)
        Fraction(1, 2)
        """
        periodicity = law.periodicity
        if periodicity is None:
            raise Unsupported("noise of which finitely many probabilities say all must be periodic", came=law)
        period, at, start = periodicity
        reach = period + start - 1
        places = np.array(range(-reach, reach + 1), dtype=object if at.is_rational else np.int64)
        return cls([law.pmf(places)], period=period, ratio=at.alpha)

    @property
    def is_exact(self) -> bool:
        """Whether the probabilities are Fractions."""
        return is_exact(self.pmf)

    @property
    def is_independent(self) -> bool:
        """Whether all query outputs get the same noise."""
        return bool((self.pmf == self.pmf[0]).all())

    def window(self, low: int, high: int) -> Array:
        """(T, high - low + 1) the probabilities of the noise values low..high, tails included."""
        k = np.arange(low, high + 1) - self.start
        beyond = np.maximum(np.maximum(-k, k - self.pmf.shape[1] + 1), 0)
        # How many periods lie between a place of a tail and the one that it repeats, rounded up.
        turns = -(-beyond // self.period)
        powers = np.array([1 + 0 * self.ratio] + [self.ratio] * int(turns.max(initial=0))).cumprod()
        return frozen(self.pmf[:, k + np.where(k < 0, turns, -turns) * self.period] * powers[turns])

    def mass(self, output: int, x: int) -> Any:
        """P(noise = x) when the query's output is ``output`` (or its cell)."""
        return self.window(x, x)[output % len(self.pmf), 0]

    def worst_ratio(self, sensitivity: int) -> Fraction:
        """The least of P(one output releases y) / P(a neighbouring output releases y): alpha of the level that is kept.

        Floats are taken for the rationals that they are. Outputs are neighbours up to ``sensitivity`` apart, in
        integers or in cells. On the reals two outputs whose cells are g cells apart lie anywhere between g - 1 and
        g + 1 cells apart, so the noise that makes up for it is g - 1, g or g + 1 cells away, at most the sensitivity.

        Cost: O(T D (m + D)) for the sensitivity D.
        """
        value = exact_integer(sensitivity, "sensitivity")
        if value < 1:
            raise OutOfRange("the sensitivity must be at least 1", came=sensitivity)
        D, last = value, self.start + self.pmf.shape[1] - 1
        probabilities = self.window(self.start - D, last + D)
        worst = Fraction(1)
        for gap in range(-D, D + 1):
            theirs = probabilities[(np.arange(len(self.pmf)) - gap) % len(self.pmf)]
            for move in self._noise_shifts(gap, D):
                mine = probabilities[:, max(0, -move) : probabilities.shape[1] - max(0, move)]
                worst = min(worst, _least_ratio(mine, theirs[:, max(0, move) :][:, : mine.shape[1]]))
        return worst

    def check_keeps(
        self,
        sensitivity: int,
        epsilon: Number | Level | None = None,
        *,
        alpha: Number | None = None,
        tolerance: Number = 0,
    ) -> None:
        """Check that the family keeps a level; decided exactly.

        Args:
            sensitivity: D, in integers or cells.
            epsilon, alpha: Level, one of them.
            tolerance: Largest relative excess over the level: for results of a float solver, not for a release.

        Raises:
            PromiseBroken: with the ratio that breaks it.
        """
        promised, worst = level(epsilon, alpha), self.worst_ratio(sensitivity)
        allowed = worst / (1 - exact(tolerance, "tolerance"))
        if allowed <= 0 or (allowed < 1 and Level.of_alpha(allowed) > promised):
            raise PromiseBroken(f"likelihood ratios must be at least {promised.alpha}", came=worst, where="noise")

    def expected_costs(self, cost: Cost, settled: int | None = None) -> Array:
        """(T,) the expected cost L(noise) for each row; on the reals L(k) is the mean cost over cell k.

        Args:
            cost: L, of an integer.
            settled: Error from which on L is constant, if there is one: then the tails are summed exactly.
        """
        weights = np.array([self._weight(cost, k, settled) for k in range(self.pmf.shape[1])])
        return frozen(self.pmf @ weights)

    def worst_cost(self, cost: Cost, settled: int | None = None) -> Fraction | float:
        """The largest expected cost over the query outputs: what Theorems 2 and 10 minimise."""
        largest: Fraction | float = max(self.expected_costs(cost, settled))
        return largest

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.pmf, self.start, self.period, self.ratio, self.numbers)

    def _weight(self, cost: Cost, k: int, settled: int | None) -> Fraction | float:
        """The cost of column k and of the tail places that repeat it."""
        x, P, beta = self.start + k, self.period, self.ratio
        weight = discounted(cost, x, 1, 0 * beta, settled)
        if k >= self.pmf.shape[1] - P:
            weight = weight + beta * discounted(cost, x + P, P, beta, settled)
        return weight + beta * discounted(cost, x - P, -P, beta, settled) if k < P else weight

    def _noise_shifts(self, gap: int, D: int) -> list[int]:
        """How far apart two noise values may be that release the same for outputs ``gap`` apart."""
        if self.numbers == "integers":
            return [gap]
        return [move for move in (gap - 1, gap, gap + 1) if abs(move) <= D]


@unpickler
def _rebuilt(pmf: Array, start: int, period: int, ratio: Any, numbers: Literal["integers", "reals"]) -> PeriodicNoise:
    """The noise from its own parts, which are not checked again: a float ratio stays the float it is."""
    noise = object.__new__(PeriodicNoise)
    parts = {"pmf": frozen(np.array(pmf)), "start": start, "period": period, "ratio": ratio, "numbers": numbers}
    for name, value in parts.items():
        object.__setattr__(noise, name, value)
    return noise


def _least_ratio(mine: Array, theirs: Array) -> Fraction:
    """The least mine/theirs over the places where theirs is positive, exactly; 1 where none is smaller."""
    shown = theirs > 0
    if not shown.any():
        return Fraction(1)
    ratios = mine[shown] / theirs[shown]
    # The least quotient of floats may be that of a neighbour: all within their rounding are divided again, exactly.
    close = ratios <= ratios.min() * (1 if is_exact(ratios) else 1 + 1e-12)
    pairs = zip(mine[shown][close], theirs[shown][close], strict=True)
    return min(Fraction(1), *(Fraction(x) / Fraction(y) for x, y in pairs))


def translated(noise: PeriodicNoise, by: int) -> PeriodicNoise:
    """The family that gives output t the law which the old one gives output t + by (on the reals, ``by`` cells).

    Lemma 14: it keeps every level that the old one keeps, and has the same worst-case cost, for every cost.

    >>> two = PeriodicNoise([["1/2", "1/2", 0], [0, "1/2", "1/2"]])
    >>> translated(two, 1).pmf.tolist() == two.pmf[::-1].tolist()
    True
    """
    return _with_pmf(noise, np.roll(noise.pmf, -by, axis=0))


def mixed(families: Sequence[PeriodicNoise], weights: object | None = None) -> PeriodicNoise:
    """The mixture of each output's laws in several families; by default in equal parts.

    Lemma 15: it keeps every level that all the families keep, and its worst-case cost is at most the largest of theirs.

    Args:
        families: Families with the same period T, window and tail.
        weights: (len(families),) nonnegative, sum 1.

    Raises:
        OutOfRange: when the families have no common shape, or the weights are no distribution.
    """
    first = families[0]
    for other in families:
        if _common_parameters(other) != _common_parameters(first):
            raise OutOfRange("families to be mixed must share period, window and tail", came=_common_parameters(other))
    *rows, shares = same_numbers(*(family.pmf for family in families), _weights(weights, len(families)))
    return _with_pmf(first, sum(share * pmf for share, pmf in zip(shares, rows, strict=True)))


def averaged_translates(
    noise: PeriodicNoise,
    sensitivity: int,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    tolerance: Number = 0,
) -> PeriodicNoise:
    """One law, the same for every output, that keeps the family's level at no greater worst-case cost.

    It is the average of the family's T translates, P(x) = (p_0(x) + ... + p_{T-1}(x)) / T. Each translate keeps the
    level at the same worst-case cost (Lemma 14), so does their average (Lemma 15); and in it every output gets each of
    the T laws once, so that it does not depend on the output. Floats are averaged up to rounding.

    Args:
        noise: Periodic family.
        sensitivity: Distance of neighbouring outputs, in integers or in cells.
        epsilon, alpha: Level that the family keeps, one of them.
        tolerance: Passed to `PeriodicNoise.check_keeps`: 0 unless the family is a float solver's answer.

    Returns:
        A family of one row, in the same kind of number.

    Raises:
        PromiseBroken: when the family does not keep the level, so that there is nothing to conclude from.

    Source: [geng2012], Theorem 2 (reals), Theorem 10 (integers), Lemmas 14 and 15.

    >>> even = PeriodicNoise([["1/6", 0, "1/3", 0, "1/6"], [0, "1/3", 0, "1/6", 0]], period=2, ratio="1/2")
    >>> [str(p) for p in averaged_translates(even, 1, alpha="1/2").pmf[0]]
    ['1/12', '1/6', '1/6', '1/12', '1/12']
    """
    promised, T = level(epsilon, alpha), len(noise.pmf)
    noise.check_keeps(sensitivity, promised, tolerance=tolerance)
    alone = _with_pmf(noise, noise.pmf.sum(axis=0, keepdims=True) / T)
    rounding = 0 if noise.is_exact else Fraction(T, 1 << 50)
    alone.check_keeps(sensitivity, promised, tolerance=exact(tolerance, "tolerance") + rounding)
    return alone


def _with_pmf(noise: PeriodicNoise, pmf: Array) -> PeriodicNoise:
    return PeriodicNoise(pmf, noise.start, period=noise.period, ratio=noise.ratio, numbers=noise.numbers)


def _common_parameters(noise: PeriodicNoise) -> tuple[object, ...]:
    return noise.pmf.shape, noise.start, noise.period, noise.ratio, noise.numbers


def _weights(weights: object | None, count: int) -> Array:
    shares = as_array([Fraction(1, count)] * count if weights is None else weights, "weights", ndim=1)
    if len(shares) != count or (shares < 0).any() or abs(shares.sum() - 1) > (0 if is_exact(shares) else 1e-9):
        raise OutOfRange(f"weights must be {count} nonnegative numbers of sum 1", came=weights, where="mixed")
    return shares
