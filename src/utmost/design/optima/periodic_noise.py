"""Replace noise that depends on the output of the query by noise that does not, at no larger worst-case cost.

The theorems assume that the noise distributions repeat after T outputs of the query (and, on the reals, are constant on
the cells of a grid). Noise that repeats after T outputs has T translates, and the average of the translates does not
depend on the output. T may be any number; on the integers, proofs/theory/independent-noise.md proves the theorems
without a period. Source: [geng2012], Lemmas 14 and 15, Theorems 2 and 10.
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
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.noise.polynomials import eulerian
from utmost.errors import NotAChannel, OutOfRange, PromiseBroken, Unsupported

# A sum of this many terms takes about a second.
_MOST_TERMS = 1_000_000


def discounted(
    cost: Cost,
    x: int,
    stride: int,
    ratio: Fraction | float,
    constant_from: int | None = None,
) -> Fraction | float:
    """Return sum over k >= 0 of ratio^k L(x + k stride), for an even cost L of integers and a ratio in [0, 1)."""
    # Integer moments, and costs that are constant from the error ``constant_from`` on, have a closed form, which is
    # exact if the ratio is a Fraction. For other costs, floats are added until the remainder is below half a unit in
    # the last place, if L grows slower than ratio^(-k/2). ``stride`` is positive for the right tail of the noise, and
    # negative for the left tail.
    if not 0 <= ratio < 1:
        raise OutOfRange("the ratio of a tail must lie in [0, 1)", came=ratio)
    has_closed_form = constant_from is not None or (isinstance(cost, Moment) and cost.is_integer)
    total, weight, terms = 0 * ratio, 1 + 0 * ratio, 0
    # Add the costs of errors on the other side of 0, or below ``constant_from``, one by one. The rest of the tail has a
    # closed form.
    while ratio and not (has_closed_form and x * stride >= 0 and abs(x) >= (constant_from or 0)):
        total, weight = total + weight * _cost_at(cost, x, ratio), weight * ratio
        x, terms = x + stride, terms + 1
        if terms > _MOST_TERMS:
            remedy = "Use a smaller ratio, or a cost with a closed form."
            raise Unsupported(
                "the sum over a tail must need at most a million terms", came=f"ratio {ratio}", remedy=remedy
            )
        # The remainder is now below the rounding error of the sum, if the cost grows more slowly than the weights
        # decrease.
        if weight < 2.0**-120 and not has_closed_form:
            return float(total)
    if not ratio or constant_from is not None:
        return total + weight * (_cost_at(cost, x, ratio) / (1 - ratio))
    assert isinstance(cost, Moment)
    m = cost.order.numerator
    tail: Fraction | float = 0
    for i in range(m + 1):
        # `series` is the sum over k >= 0 of k^i ratio^k.
        series = sum(c * ratio**n for n, c in enumerate(eulerian(i))) / (1 - ratio) ** (i + 1)
        tail += comb(m, i) * abs(x) ** (m - i) * abs(stride) ** i * series
    return total + weight * tail


def _cost_at(cost: Cost, x: int, ratio: Fraction | float) -> Fraction | float:
    """Return L(x) as a Fraction if the ratio is a Fraction, else as a float."""
    value = cost(x)
    if isinstance(ratio, Fraction) and not isinstance(value, float):
        return Fraction(value)
    if not math.isfinite(value):
        raise OutOfRange("a cost must be finite", came=value, where=f"cost({x})")
    return float(value)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class PeriodicNoise:
    """Noise whose distribution may depend on the output of the query, and repeats after T outputs."""

    # Output t (on the reals any output of cell [t h, (t+1) h)) has the distribution of row t mod T:
    # P(noise = start + k) = pmf[t mod T, k],    0 <= k < m.
    # Beyond these m values each tail repeats its last ``period`` probabilities, multiplied by ``ratio`` each time. On
    # the reals, the noise value start + k stands for the cell [(start+k) h, (start+k+1) h), with constant density; the
    # width h divides the sensitivity, which is counted in cells. Ratio 0 means noise without tails, which satisfies no
    # level. If ``pmf`` has one row, noise does not depend on the output. The mass of a float64 row may differ from 1 by
    # ``tolerance``. Source: [geng2012], (30) and (72).
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
            raise OutOfRange("period must lie between 1 and the number of columns of pmf", came=(period, rows.shape))
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
            required = f"row {i} of the pmf must have mass 1, tails included"
            raise NotAChannel(required, came=str(masses[i]))

    @classmethod
    def of_distribution(cls, distribution: IntegerDistribution) -> "PeriodicNoise":
        """Return a periodic integer distribution as noise that does not depend on the output of the query."""
        periodicity = distribution.periodicity
        if periodicity is None:
            raise Unsupported(
                "the noise must have probabilities that fall by one factor from each period of integers to the next",
                came=distribution,
                remedy="Use a geometric or a discrete staircase distribution.",
            )
        period, at, start = periodicity
        reach = period + start - 1
        values = np.array(range(-reach, reach + 1), dtype=object if at.is_rational else np.int64)
        return cls([distribution.pmf(values)], period=period, ratio=at.alpha)

    @property
    def is_exact(self) -> bool:
        return is_exact(self.pmf)

    @property
    def is_independent(self) -> bool:
        """Whether all query outputs have the same noise."""
        return bool((self.pmf == self.pmf[0]).all())

    def window(self, low: int, high: int) -> Array:
        """Return the probabilities of the noise values low..high for each row of `pmf`, (T, high - low + 1)."""
        k = np.arange(low, high + 1) - self.start
        beyond = np.maximum(np.maximum(-k, k - self.pmf.shape[1] + 1), 0)
        # The number of periods between a value in a tail and the value that it repeats, rounded up.
        turns = -(-beyond // self.period)
        powers = np.array([1 + 0 * self.ratio] + [self.ratio] * int(turns.max(initial=0))).cumprod()
        return frozen(self.pmf[:, k + np.where(k < 0, turns, -turns) * self.period] * powers[turns])

    def mass(self, output: int, x: int) -> Any:
        """Return P(noise = x) if the output of the query (or its cell) is ``output``."""
        return self.window(x, x)[output % len(self.pmf), 0]

    def worst_ratio(self, sensitivity: int) -> Fraction:
        """Return the alpha of the noise: the least likelihood ratio of a released value at neighbouring outputs."""
        # Neighbouring outputs differ by at most ``sensitivity``, in integers or cells. On the reals, outputs in cells
        # whose indices differ by g differ by g - 1 to g + 1 cells. So for the same released value, the noise differs by
        # g - 1, g or g + 1 cells, at most the sensitivity. Floats are converted to rationals exactly. Cost:
        # O(T D (m + D)) for sensitivity D.
        value = exact_integer(sensitivity, "sensitivity")
        if value < 1:
            raise OutOfRange("the sensitivity must be at least 1", came=sensitivity)
        D, last = value, self.start + self.pmf.shape[1] - 1
        probabilities = self.window(self.start - D, last + D)
        worst = Fraction(1)
        for gap in range(-D, D + 1):
            theirs = probabilities[(np.arange(len(self.pmf)) - gap) % len(self.pmf)]
            # List the possible differences of two noise values that give the same released value.
            cells = [move for move in (gap - 1, gap, gap + 1) if abs(move) <= D]
            for move in cells if self.numbers == "reals" else [gap]:
                mine = probabilities[:, max(0, -move) : probabilities.shape[1] - max(0, move)]
                other = theirs[:, max(0, move) :][:, : mine.shape[1]]
                shown = other > 0
                if not shown.any():
                    continue
                ratios = mine[shown] / other[shown]
                # Because of rounding, the least quotient is uncertain, so all quotients within the rounding error of it
                # are computed again, exactly.
                close = ratios <= ratios.min() * (1 if is_exact(ratios) else 1 + 1e-12)
                pairs = zip(mine[shown][close], other[shown][close], strict=True)
                worst = min(worst, *(Fraction(x) / Fraction(y) for x, y in pairs))
        return worst

    def check_level(
        self,
        sensitivity: int,
        epsilon: Number | Level | None = None,
        *,
        alpha: Number | None = None,
        tolerance: Number = 0,
    ) -> None:
        """Raise PromiseBroken if the noise violates a level by more than a relative ``tolerance``. This is decided
        exactly.
        """
        promised, worst = level(epsilon, alpha), self.worst_ratio(sensitivity)
        allowed = worst / (1 - exact(tolerance, "tolerance"))
        if allowed <= 0 or (allowed < 1 and Level.of_alpha(allowed) > promised):
            remedy = "Use more noise, or a larger epsilon."
            came = float(worst)
            raise PromiseBroken(
                f"likelihood ratios must be at least {promised.alpha}", came=came, where="noise", remedy=remedy
            )

    def expected_costs(self, cost: Cost, constant_from: int | None = None) -> Array:
        """Return the expected cost for each row of `pmf`, (T,). On the reals, ``cost(k)`` must be the mean cost over
        cell k.
        """
        # The weight of a column includes the costs of the tail values that repeat its probability.
        m, P, beta = self.pmf.shape[1], self.period, self.ratio
        weights = []
        for k in range(m):
            x = self.start + k
            weight = discounted(cost, x, 1, 0 * beta, constant_from)
            if k >= m - P:
                weight = weight + beta * discounted(cost, x + P, P, beta, constant_from)
            if k < P:
                weight = weight + beta * discounted(cost, x - P, -P, beta, constant_from)
            weights.append(weight)
        return frozen(self.pmf @ np.array(weights))

    def worst_cost(self, cost: Cost, constant_from: int | None = None) -> Fraction | float:
        """Return the largest expected cost over all query outputs; Theorems 2 and 10 of [geng2012] minimise this
        cost.
        """
        largest: Fraction | float = max(self.expected_costs(cost, constant_from))
        return largest

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.pmf, self.start, self.period, self.ratio, self.numbers)


@unpickler
def _rebuilt(pmf: Array, start: int, period: int, ratio: Any, numbers: Literal["integers", "reals"]) -> PeriodicNoise:
    """Unpickle noise without checks, so that a float ratio stays the same float."""
    noise = object.__new__(PeriodicNoise)
    parts = {"pmf": frozen(np.array(pmf)), "start": start, "period": period, "ratio": ratio, "numbers": numbers}
    for name, value in parts.items():
        object.__setattr__(noise, name, value)
    return noise


def translated(noise: PeriodicNoise, by: int) -> PeriodicNoise:
    """Return the noise that has, for each query output t, the distribution that ``noise`` has for the output t +
    ``by``.
    """
    # Lemma 14: the translate satisfies every level that ``noise`` satisfies, and has the same worst-case cost.
    return _with_pmf(noise, np.roll(noise.pmf, -by, axis=0))


def mixed(families: Sequence[PeriodicNoise], weights: object | None = None) -> PeriodicNoise:
    """Return the mixture of several `PeriodicNoise` with the same period, window and tail. The weights are equal by
    default.
    """
    # Lemma 15: the mixture satisfies every level that all of them satisfy, and its worst-case cost is at most the
    # largest of their worst-case costs.
    first = families[0]
    for other in families:
        if _common_parameters(other) != _common_parameters(first):
            required = f"all noises to mix must have the period, window and tail {_common_parameters(families[0])}"
            raise OutOfRange(required, came=_common_parameters(other))
    count = len(families)
    shares = as_array([Fraction(1, count)] * count if weights is None else weights, "weights", ndim=1)
    if len(shares) != count or (shares < 0).any() or abs(shares.sum() - 1) > (0 if is_exact(shares) else 1e-9):
        raise OutOfRange(f"weights must be {count} nonnegative numbers with sum 1", came=weights, where="mixed")
    *rows, shares = same_numbers(*(family.pmf for family in families), shares)
    return _with_pmf(first, sum(share * pmf for share, pmf in zip(shares, rows, strict=True)))


def averaged_translates(
    noise: PeriodicNoise,
    sensitivity: int,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    tolerance: Number = 0,
) -> PeriodicNoise:
    """Return noise with one distribution for all outputs, at the same level and at no larger worst-case cost."""
    # The result is the average of the T translates, P(x) = (p_0(x) + ... + p_{T-1}(x)) / T. Each translate satisfies
    # the level at the same worst-case cost (Lemma 14), so the average satisfies it at no larger cost (Lemma 15).
    # ``tolerance`` is passed to `PeriodicNoise.check_level`; it is 0 except for float solutions. Source: [geng2012],
    # theorems 2 (reals) and 10 (integers), lemmas 14 and 15.
    promised, T = level(epsilon, alpha), len(noise.pmf)
    noise.check_level(sensitivity, promised, tolerance=tolerance)
    average = _with_pmf(noise, noise.pmf.sum(axis=0, keepdims=True) / T)
    rounding = 0 if noise.is_exact else Fraction(T, 1 << 50)
    average.check_level(sensitivity, promised, tolerance=exact(tolerance, "tolerance") + rounding)
    return average


def _with_pmf(noise: PeriodicNoise, pmf: Array) -> PeriodicNoise:
    return PeriodicNoise(pmf, noise.start, period=noise.period, ratio=noise.ratio, numbers=noise.numbers)


def _common_parameters(noise: PeriodicNoise) -> tuple[object, ...]:
    return noise.pmf.shape, noise.start, noise.period, noise.ratio, noise.numbers
