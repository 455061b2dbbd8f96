"""Certified margins of sums of geometric noise, such as the error of a total or a difference of noisy counts."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, narrow_interval, round_down, round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, between_0_and_1, exact, natural, read_confidence
from utmost.core.noise.distribution import distribution_level
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.inversion import Chernoff, OnIntegers, Smoothed, TermGroups, not_zero
from utmost.errors import OutOfRange

# Within these bounds no float overflows.
_LARGEST_SIZE = 10**100
_MOST_TERMS = 10**30
_MOST_LISTED = 10**8
# A common divisor of the coefficients is used as lattice step if it is at least this fraction of the largest.
_LEAST_STEP = Fraction(1, 1 << 40)
_LEAST_INVERTED = 8e-16
"""The least probability that an inversion of the characteristic function can give. Smaller results are rounding
errors.
"""
_PARTS = 1 << 24  # a sum on no lattice has margins in multiples of Chernoff's margin / 2^24
_ALIASED = 2.0**-30
"""The largest aliasing error of a bound that is used once, as a fraction of the probability to which it is compared."""
_FEW_GROUPS, _MOST_MARGINS = 64, 4096
_margins: dict[tuple[Any, ...], int | float] = {}
"""A cache of margins. Its keys are the terms of a sum S and the allowed probability of |S| > margin."""
_MOST_INVERSIONS = 2
_inversions: dict[tuple[Any, ...], OnIntegers | None] = {}
"""The latest two inversions (some MB each), by the terms of the sum. Two are kept because a table may have counts and
amounts.
"""
_DECAY, _MOST_POINTS = 40.0, 1 << 20


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Combination(Display):
    r"""S = sum of c_i G_i, the G_i independent with P(G_i = x) proportional to exp(-e_i |x|) on the integers.

    All bounds are certified: after rounding they are on the safe side. If all coefficients are multiples of one step
    (integers, or fractions with a common denominator), S is on a lattice, and probabilities err by at most 1e-13 as
    long as the standard deviation of S is below about 10^4 steps. For wider sums, and for other coefficients, a margin
    is too large by at most 1.6 % of a standard deviation (0.6 % for few terms). The margin of a single term is exact.

    Args:
        coefficients: Coefficients c_i, any numbers. Floats are read as the decimals that Python prints. The signs of
            the coefficients do not matter.
        levels: Levels of the G_i: one epsilon or `Level` for each, or one for all. For noise of sensitivity D, the
            level is ``Geometric(...).ratio``.
        counts: Number of independent terms of each coefficient and level, or one number for all. A million equal terms
            take as long as one term.

    Attributes:
        coefficients: |c| of each group of equal terms as a Fraction, without zeros.
        levels: Level of each group.
        counts: Number of terms of each group.

    Raises:
        NotANumber, NotALevel, OutOfRange, WrongKind: if an argument is invalid, or if lists have different lengths.

    Cost: 1 ms to 1 s for the first margin, depending on the number of groups, and some MB of memory.
    Source: proofs/theory/error-bars.md.

    >>> total = Combination([1], 1, counts=[24])
    >>> total.margin(0.95), total.coverage(13) > 0.95 > total.coverage(12)
    (13, True)
    >>> Combination(["1/3", "-1/2"], [1, 1]).margin(0.95)
    1.6666666666666667
    """

    coefficients: tuple[Fraction, ...]
    levels: tuple[Level, ...]
    counts: tuple[int, ...]

    def __init__(
        self,
        coefficients: Sequence[Number] | Any,
        levels: Number | Level | Sequence[Number | Level] | Any,
        counts: int | Sequence[int] | Any = 1,
    ) -> None:
        # Keys are integers and identities, since the hash of a Fraction or a level is slow.
        sizes: list[Fraction] = []
        levels_of: list[Level] = []
        groups: dict[tuple[int, int, int], int] = {}
        same, equal = dict[int, int](), dict[Level, int]()
        for size, of, count in _terms(coefficients, levels, counts):
            if size and count:
                number = same.get(id(of))
                if number is None:
                    number = same[id(of)] = equal.setdefault(of, len(equal))
                key = size.numerator, size.denominator, number
                before = groups.get(key)
                if before is None:
                    sizes.append(size)
                    levels_of.append(of)
                groups[key] = (before or 0) + count
        # Each term is symmetric: equal sizes at equal levels are one group, whatever their signs.
        object.__setattr__(self, "coefficients", tuple(sizes))
        object.__setattr__(self, "levels", tuple(levels_of))
        object.__setattr__(self, "counts", tuple(groups.values()))

    def __repr__(self) -> str:
        return f"Combination of {sum(self.counts)} terms in {len(self.counts)} groups"

    @staticmethod
    def signed(coefficients: Sequence[Number] | Any) -> list[Fraction]:
        """The coefficients as Fractions, with their signs.

        >>> Combination.signed(["-1/2", 0.1])
        [Fraction(-1, 2), Fraction(1, 10)]
        """
        return _read(_listed(coefficients, "coefficients"), _coefficient)

    @property
    def step(self) -> Fraction | None:
        """The largest common divisor of all coefficients, or None if the divisor is below 2^-40 times the largest
        coefficient.

        >>> Combination([2, "4/3"], 1).step
        Fraction(2, 3)
        """
        return self._step

    @property
    def variance(self) -> Fraction | float:
        """E S^2: a Fraction if every alpha is rational, else a float rounded up.

        >>> Combination([1, -2], Level.of_alpha("1/2")).variance
        Fraction(20, 1)
        """
        if all(of.is_rational for of in self._weights):
            alphas = {of.alpha_fraction(): weight for of, weight in self._weights.items()}
            return sum((weight * 2 * a / (1 - a) ** 2 for a, weight in alphas.items()), Fraction(0))
        return round_up(narrow_interval(self.variance_interval))

    def variance_interval(self, bits: int = 128) -> Interval:
        """An interval around E S^2 = sum of c^2 2 alpha/(1 - alpha)^2, a few units of 2^-bits wide.

        >>> Combination([1], 1).variance_interval(20).lower > Fraction("1.8413")
        True
        """
        inner = natural(bits, "bits", least=1, most=1 << 18) + 16 + len(self.counts).bit_length()
        total = Interval.of(0, inner)
        for of, weight in self._weights.items():
            # The multiplication by the weight and a small 1 - alpha both lose bits of precision.
            before_the_point = max(0, weight.numerator.bit_length() - weight.denominator.bit_length() + 1)
            of_one_minus_alpha = 3 * max(0, -math.frexp(min(1.0, of.epsilon_float))[1])
            alpha = of.alpha_interval(inner + before_the_point + 16 + of_one_minus_alpha)
            total += ((alpha * 2) / ((1 - alpha) * (1 - alpha)) * weight).at(inner)
        return total.at(bits)

    @property
    def mean_size(self) -> float:
        r"""E|S| in floats, from the characteristic function f of S.

        On a lattice, E|S| is the mean of (1 - f(t))/(2 sin^2(t/2)) over one period of f; the error of its sum over n
        points decreases geometrically in n. If S is on no lattice, or if the sum needs more than 10^6 points, the
        integral for Laplace noise is used instead.

        >>> round(Combination([1], 1).mean_size, 12), round(Combination([1, 1], 1e-9).mean_size * 1e-9, 9)
        (0.850918128239, 1.5)
        """
        if not self.coefficients:
            return 0.0
        epsilons, counts = self._groups.epsilons, self._groups.counts
        sizes = self._groups.sizes
        points = math.ceil(_DECAY * float((sizes / epsilons).max()))
        # On a lattice the integral is over one period. The integrand is analytic, so that equidistant points give the
        # integral up to rounding.
        if self._step is not None and points <= _MOST_POINTS:
            t = 2 * np.pi * (np.arange(points + 8) + 0.5) / (points + 8)
            ratios = np.sin(np.multiply.outer(t, sizes) / 2) / np.sinh(np.minimum(epsilons, 700) / 2)
            missing = -np.expm1(-np.log1p(ratios**2) @ counts)
            return float(self._unit) * float((missing / (2 * np.sin(t / 2) ** 2)).mean())
        scales = sizes / np.minimum(2 * np.sinh(np.minimum(epsilons, 700) / 2), 1e300)
        # Otherwise the integral is over log t for all t: the trapezoidal rule is exact up to rounding for a function
        # that vanishes at both ends.
        u = np.arange(-40, 40, 0.05) - math.log(float(scales.max()))
        missing = -np.expm1(-np.log1p(np.multiply.outer(np.exp(u), scales) ** 2) @ counts)
        return float(self._unit) * float((missing * np.exp(-u)).sum()) * 0.05 * 2 / math.pi

    def tail(self, margin: Number) -> float:
        """A certified upper bound of P(|S| > margin).

        For probabilities below about 1e-13, the result is Chernoff's bound, which may exceed a probability of 1e-20 by
        a factor of 200.

        >>> Combination([1], "0.1", counts=[2]).tail(1000) < 1e-38
        True
        """
        r = exact(margin, "margin")
        return 1.0 if r < 0 else self._exceeded(r, None)

    def is_certified(self, margin: Number, miss: Number) -> bool:
        """Whether P(|S| > margin) <= miss is certified. The check is faster than `tail`."""
        chance, r = round_down(between_0_and_1(miss, "miss", "Combination")), exact(margin, "margin")
        return r >= 0 and self._exceeded(r, chance, once=True) <= chance

    def rejects(self, value: Number, miss: Number) -> bool:
        """Whether P(|S| >= |value|) <= miss is certified, so that a test at the level ``miss`` rejects this value. The
        value 0 is never rejected.

        >>> [Combination([1], 1).rejects(value, "0.05") for value in (0, 3, -4)]
        [False, False, True]
        """
        size = abs(exact(value, "value"))
        # P(|S| >= v) is at most P(|S| > w) for each w below v.
        return size > 0 and self.is_certified(size - size / (1 << 60), miss)

    def coverage(self, margin: Number) -> float:
        """A certified lower bound of P(|S| <= margin).

        >>> 0.9502 < Combination([1], 1).coverage(2) + 0.0267 < 0.99
        True
        """
        exceeded = self.tail(margin)
        return max(0.0, math.nextafter(1 - exceeded, 0)) if exceeded > 0 else 1.0

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> int | float:
        """The least r with a certificate that P(|S| <= r) >= confidence.

        Returns:
            An int if all coefficients are integers, else a float that is rounded up.

        Raises:
            OutOfRange: if the confidence is not strictly between 0 and 1.

        >>> [Combination([1], 1, counts=[n]).margin(0.95) for n in (1, 2, 4, 6, 12, 24)]
        [3, 4, 5, 7, 9, 13]
        """
        miss = 1 - read_confidence(confidence)
        return self.margin_for_miss(miss)

    def quick_margin(self, miss: Number) -> float:
        """A certified margin computed without inversion, larger than `margin_for_miss`; 0 if P(S is not 0) <= miss."""
        chance = between_0_and_1(miss, "miss", "Combination")
        if not self.counts or self._not_zero <= chance:
            return 0.0
        return self._chernoff.margin(_log(chance)) * float(self._unit)

    def margin_for_miss(self, miss: Number) -> int | float:
        """The least r with a certificate that P(|S| > r) <= miss. Unlike a confidence, ``miss`` may be tiny: 1e-40."""
        miss = between_0_and_1(miss, "miss", "Combination")
        if len(self.counts) > _FEW_GROUPS:
            return self._least_margin(miss)
        terms = self.coefficients, self.levels, self.counts, miss
        # The cells of a table have few different margins.
        margin = _margins.get(terms)
        if margin is None:
            if len(_margins) >= _MOST_MARGINS:
                _margins.clear()
            margin = _margins[terms] = self._least_margin(miss)
        return margin

    def _least_margin(self, miss: Fraction) -> int | float:
        if self._single is not None:
            return _number(self.coefficients[0] * self._single.margin(1 - miss), self.coefficients)
        # Chernoff's margin is certified, so the least margin is at most that. False position on the logarithm of the
        # tail converges fast, since tails fall like exponentials. If one end of the bracket stays twice, its value is
        # halved (the Illinois rule); if it stays a third time, the midpoint is tried.
        chance, largest = round_down(miss), self._chernoff.margin(_log(miss)) if self.counts else 0.0
        low, high, stays = -1, max(1, math.ceil(largest)) if self.counts else 0, 0
        step = self._step
        if step is None:
            if self._exceeded(Fraction(0), chance) <= chance:
                return 0.0
            low, high, step = 0, _PARTS, Fraction(largest) * self._unit / _PARTS
        target = math.log(chance) if chance > 0 else -math.inf
        above, below = -target, -math.inf  # logarithms at both ends, minus the target
        while high - low > 1:
            tried, width = (low + high) // 2, high - low
            if -math.inf < below and above < math.inf and abs(stays) < 3:
                tried = min(max(low + round(width * above / (above - below)), low + 1), high - 1)
            value = self._exceeded(tried * step, chance)
            excess = (math.log(value) if value > 0 else -math.inf) - target
            if value <= chance:
                high, below, stays = tried, excess, max(stays, 0) + 1
                above /= 1 + (stays > 1)
            else:
                low, above, stays = tried, excess, min(stays, 0) - 1
                below /= 1 + (stays < -1)
        return round_up(high * step) if self._step is None else _number(high * step, self.coefficients)

    def _exceeded(self, margin: Fraction, miss: float | None, *, once: bool = False) -> float:
        """An upper bound of P(|S| > margin) for margin >= 0: the least of three bounds."""
        # With ``once``, the inversion serves only this margin and ``miss``, and is about half as large.
        if not self.counts:
            return 0.0
        if self._single is not None:
            return round_up(_geometric_tail(self._single, math.floor(margin / self.coefficients[0])))
        steps = margin / self._unit
        if self._step is not None:
            steps = Fraction(math.floor(steps))
        near = round_down(steps)
        sure = min(self._not_zero, self._chernoff.tail(near))
        if sure <= (_LEAST_INVERTED if miss is None else miss):
            return sure
        if self._on_integers is not None:
            return min(sure, self._on_integers.exceeded(int(steps)))
        # An integer S exceeds floor(r) only if it reaches floor(r) + 1: the margin may be half a step larger.
        near += 0.0 if self._step is None else 0.5
        if once and miss is not None:
            distribution = Smoothed.of(self._groups, self._chernoff, farthest=near, aliased=miss * _ALIASED)
        else:
            distribution = self._smoothed
        return min(sure, distribution.exceeded(near, miss))

    @cached_property
    def _weights(self) -> dict[Level, Fraction]:
        """The sum of c^2 over the terms of each level."""
        # Integers over one denominator, with levels by identity, because Fractions and hashes of levels are slow.
        below, sums = math.lcm(*(c.denominator for c in self.coefficients)), dict[int, int]()
        for c, of, count in zip(self.coefficients, self.levels, self.counts, strict=True):
            sums[id(of)] = sums.get(id(of), 0) + (c.numerator * (below // c.denominator)) ** 2 * count
        weights: dict[Level, Fraction] = {}
        for of in {id(of): of for of in self.levels}.values():
            weights[of] = weights.get(of, Fraction(0)) + Fraction(sums[id(of)], below * below)
        return weights

    @cached_property
    def _single(self) -> Geometric | None:
        """The noise G of the only term of S, or None if S has several terms."""
        return Geometric(self.levels[0]) if self.counts == (1,) else None

    @cached_property
    def _step(self) -> Fraction | None:
        if not self.coefficients:
            return Fraction(1)
        least = max(self.coefficients) * _LEAST_STEP
        step = Fraction(0)
        for size in self.coefficients:
            common = math.lcm(step.denominator, size.denominator)
            step = Fraction(math.gcd(int(step * common), int(size * common)), common)
            # Floats cannot represent a smaller step accurately: such a sum is inverted as if its terms had no common
            # step.
            if step < least:
                return None
        return step

    @cached_property
    def _unit(self) -> Fraction:
        return self._step or max(self.coefficients, default=Fraction(1))

    @cached_property
    def _groups(self) -> TermGroups:
        sizes = [c / self._unit for c in self.coefficients]
        return TermGroups(
            sizes=np.array([float(size) for size in sizes]),
            epsilons=np.array([of.epsilon_float for of in self.levels]),
            counts=np.array(self.counts, np.float64),
            residues=None if self._step is None else tuple(size.numerator for size in sizes),
        )

    @cached_property
    def _not_zero(self) -> float:
        return not_zero(self._groups)

    @cached_property
    def _chernoff(self) -> Chernoff:
        return Chernoff.of(self._groups)

    @cached_property
    def _on_integers(self) -> OnIntegers | None:
        """The inversion on the lattice of S, or None if it needs too many points; cached, since answers repeat."""
        terms = self.coefficients, self.levels, self.counts
        if self._step is None or len(self.counts) > _FEW_GROUPS:
            return OnIntegers.of(self._groups, self._chernoff)
        if terms not in _inversions:
            if len(_inversions) >= _MOST_INVERSIONS:
                del _inversions[next(iter(_inversions))]
            _inversions[terms] = OnIntegers.of(self._groups, self._chernoff)
        return _inversions[terms]

    @cached_property
    def _smoothed(self) -> Smoothed:
        return Smoothed.of(self._groups, self._chernoff)


def simultaneous_margins(
    combinations: Sequence[Combination], confidence: Number = DEFAULT_CONFIDENCE, *, independent: bool = False
) -> tuple[int | float, ...]:
    """A margin for each of m sums, such that *all* sums are within their margins with probability ``confidence`` or
    more.

    Args:
        combinations: The m sums, which may share noise.
        confidence: Confidence of all margins together.
        independent: Whether no two sums share noise; this is not checked. If True, each margin has the confidence
            ``confidence**(1/m)``, which is exact. If False, each margin has the confidence ``1 - (1 - confidence)/m``,
            by the union bound, which is always valid.

    Raises:
        OutOfRange: if there are no sums, or if the confidence is not strictly between 0 and 1.

    Cost: one margin for each different object in ``combinations``.

    >>> one = Combination([1], 1)
    >>> [simultaneous_margins([one] * m)[0] for m in (1, 24, 200, 1000)]
    [3, 6, 8, 10]
    """
    miss = 1 - read_confidence(confidence)
    if not isinstance(combinations, Sequence) or isinstance(combinations, str | bytes):
        raise wrong_kind("combinations", "a sequence", combinations)
    for combination in combinations:
        if not isinstance(combination, Combination):
            raise wrong_kind("every element of combinations", "a Combination", combination)
    if not combinations:
        raise OutOfRange("combinations must hold at least one sum", came="none", where="simultaneous_margins")
    each = missed_by_each(miss, len(combinations)) if independent else miss / len(combinations)
    margins = {id(combination): combination for combination in combinations}
    known = {key: combination.margin_for_miss(each) for key, combination in margins.items()}
    return tuple(known[id(combination)] for combination in combinations)


def missed_by_each(miss: Fraction, m: int) -> Fraction:
    """The solution q of (1 - q)^m = 1 - miss, rounded down: the allowed probability that one of m independent margins
    fails.
    """
    log_kept = math.log1p(-float(miss)) if 2 * miss < 1 else _log(1 - miss)
    # The guess is below q by more than its error. By Bernoulli's inequality miss / m is below q, too; for tiny ``miss``
    # it is larger than the guess.
    guess = Fraction(-math.expm1(log_kept / m) * (1 - 1e-12))
    return max(guess, miss / m)


def _terms(coefficients: Any, levels: Any, counts: Any) -> Iterable[tuple[Fraction, Level, int]]:
    def read_size(value: Any) -> Fraction:
        number = _coefficient(value)
        return number if number.numerator >= 0 else -number

    def read_level(value: Any) -> Level:
        return distribution_level(value, None, "Combination")

    def read_count(value: Any) -> int:
        return natural(value, "counts", most=_MOST_TERMS)

    sizes = _read(_listed(coefficients, "coefficients"), read_size)
    listed_levels = levels if _is_list(levels) else repeat(levels, len(sizes))
    listed_counts = counts if _is_list(counts) else repeat(counts, len(sizes))
    read_levels = _read(_listed(listed_levels, "levels") if _is_list(listed_levels) else listed_levels, read_level)
    read_counts = _read(_listed(listed_counts, "counts") if _is_list(listed_counts) else listed_counts, read_count)
    for entries, name in ((read_levels, "levels"), (read_counts, "counts")):
        if len(entries) != len(sizes):
            raise OutOfRange(
                f"{name} must be one value for all coefficients, or {len(sizes)} values",
                came=len(entries),
                where="Combination",
            )
    return zip(sizes, read_levels, read_counts, strict=True)


def _is_list(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _listed(values: Any, name: str) -> Sequence[Any]:
    """Check that ``values`` is a sequence of at most 10^8 values, and return it; an array becomes a list."""
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return list(values.tolist())
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise wrong_kind(name, "a sequence", values)
    if len(values) > _MOST_LISTED:
        raise OutOfRange(
            f"{name} must have at most {_MOST_LISTED} values: pass counts= for equal terms", came=len(values)
        )
    return values


_PLAIN = (int, float, str, Decimal, Level)


def _read(values: Iterable[Any], reader: Callable[[Any], Any]) -> list[Any]:
    """Read each value; equal numbers and texts are read only once. Levels are compared by identity, since their hash is
    slow.
    """
    known: dict[tuple[type, Any], Any] = {}
    read = []
    for value in values:
        if type(value) not in _PLAIN:
            read.append(reader(value))
            continue
        key = type(value), id(value) if type(value) is Level else value
        if key not in known:
            known[key] = reader(value)
        read.append(known[key])
    return read


def _coefficient(value: Any) -> Fraction:
    number = exact(value, "a coefficient")
    size, below = abs(number.numerator), number.denominator
    if number and not below <= size * _LARGEST_SIZE <= below * _LARGEST_SIZE**2:
        raise OutOfRange("a coefficient must be 0, or lie between 1e-100 and 1e100 in size", came=value)
    return number


def _geometric_tail(distribution: Geometric, margin: int) -> Fraction | Interval:
    """P(|G| > r) = 2 alpha^(r+1) / (1 + alpha), exactly or to 53 bits."""
    of = distribution.level
    if of.is_rational and (margin + 1) * of.alpha_fraction().denominator.bit_length() < 1 << 14:
        alpha = of.alpha_fraction()
        return 2 * alpha ** (margin + 1) / (1 + alpha)

    def around(bits: int) -> Interval:
        return of.scaled(margin + 1).alpha_interval(bits + 8) * 2 / (1 + of.alpha_interval(bits + 8))

    return narrow_interval(around)


def _log(miss: Fraction) -> float:
    """log(miss), rounded down. A ``miss`` that is too small for a float is allowed."""
    # 1e-14 covers the errors of two logarithms and their difference.
    return (math.log(miss.numerator) - math.log(miss.denominator)) * (1 + 1e-14) - 1e-14


def _number(margin: Fraction, coefficients: Sequence[Fraction]) -> int | float:
    return int(margin) if all(c.denominator == 1 for c in coefficients) else round_up(margin)
