"""The base class of noise on the integers. A subclass defines the formulas of two probabilities, and this class
computes everything else from them.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import Field
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import Any, Literal, NoReturn

import numpy as np

from utmost.core.exact.arrays import Floats, frozen
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.intervals import Interval, log_interval, round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, exact_integer, natural, precision, read_confidence
from utmost.core.noise.costs import Cost, read_cost
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.evaluation import Points, TailSearch, integer_quantiles
from utmost.core.noise.powers import ExactPowers, FloatPowers, IntervalPowers, Powers, cleared_bits
from utmost.core.noise.profiles import Profile, least_near
from utmost.core.noise.quadrature import integer_sum
from utmost.core.noise.shift_curves import LatticeCurve, ShiftCurve
from utmost.errors import PromiseBroken, Unsupported

Arithmetic = Callable[[Level], Powers]
"""A kind of numbers, as a function from a level to the powers of its alpha in this kind."""

# A product of a few intervals of probabilities loses a few units in the last place.
_GUARD = 64
_TIE_BITS = 4096  # numbers that agree to this many bits count as equal
_SLACK = Fraction(1, 10**12)  # a stated level may exceed the loss by this part of it
_FARTHEST_BITS = 1 << 17
_CHECKED = 1200  # bits: probabilities of 1e-280 keep some digits
_LEAST_TAIL = 1e-280  # sums end where the tail is smaller
_NEGLIGIBLE = 1e-17
_SUMMED = 1 << 20  # terms that are added one by one; longer sums are extrapolated
_FARTHEST = 1 << 60
_TIED, _COMPARED = 1e-11, 16  # floats of ratios that differ by less are compared by intervals, at most 16 of them


class IntegerDistribution(Distribution):
    """Noise on the integers, symmetric about 0, with probabilities that never grow with |x| and are never 0.

    A subclass defines ``level``, ``sensitivity``, `levels`, `mass` and `tail`, as docs/howto/add-a-noise.md shows. All
    other methods are computed from ``level``, ``sensitivity``, `levels`, `mass` and `tail`; a subclass may override
    them by faster or exact methods. Every general method is exact or certified, or has the error that its docstring
    states; otherwise it raises `Unsupported`.

    The result type of pmf, cdf and ccdf depends on their argument. For an int or a Fraction the result is a Fraction if
    all alphas are rational, else a float. The result is a float for a float, a float64 array for a numeric array or
    list, and an object array of Fractions for an object array. Floats are right to a few units in the last place, in
    both tails.
    """

    __slots__ = ()

    sensitivity: int

    @property
    @abstractmethod
    def levels(self) -> tuple[Level, ...]:
        """The levels whose alphas occur in the formulas of `mass` and `tail`."""

    @abstractmethod
    def mass(self, arithmetic: Arithmetic, i: Any) -> Any:
        """P(X = i) for i >= 0.

        Args:
            arithmetic: Function from a level to b = alpha, the complement 1 - b and ``power(k)`` = b^k, in fractions,
                intervals or floats. Write one formula of sums, products and quotients: it is evaluated in all three
                kinds of numbers. If the formula subtracts no nearly equal numbers, the floats are right to a few units
                in the last place.
            i: Integer, or for floats an array of integers.
        """

    @abstractmethod
    def tail(self, arithmetic: Arithmetic, i: Any) -> Any:
        """P(X >= i) for i >= 0, with the arguments of `mass`."""

    @property
    def is_rational(self) -> bool:
        """Whether all probabilities are rational."""
        return all(level.is_rational for level in self.levels)

    @property
    def numbers(self) -> Literal["integers", "reals"]:
        """The kind of numbers of the noise: "integers"."""
        return "integers"

    @property
    def ratio(self) -> Level | None:
        """For geometric noise the level per unit, from which `Combination` computes sums; None for other noise."""
        return None

    @property
    def canonical(self) -> "Profile | IntegerDistribution":
        """An object that is equal for all distributions with the same probabilities; caches use it as their key."""
        return self

    def pmf(self, x: Any) -> Any:
        """P(X = x), which is 0 unless x is an integer.

        Raises:
            NotANumber: if a value is a boolean, NaN, infinite or no number.
            Unsupported: if an exact answer has more than 2^24 bits (use logpmf), or if ``x`` is an object array and an
                alpha is irrational.
        """
        exactly = self._exactly(lambda n: self.mass(ExactPowers, abs(n)))
        return Points.of(x).answer(lambda n: self.mass(FloatPowers, abs(n)), exactly, elsewhere=0)

    def logpmf(self, x: Any) -> Any:
        """log P(X = x) in floats; finite also for probabilities that underflow."""
        return Points.of(x).answer(lambda n: self._log_mass(abs(n)), None, elsewhere=-np.inf)

    def cdf(self, x: Any) -> Any:
        """P(X <= x) for any real x. This method raises the same exceptions as `pmf`."""
        return self._at_most(x, mirrored=False)

    def ccdf(self, x: Any) -> Any:
        """P(X > x), accurate in the far tail where 1 - cdf(x) would be 0."""
        return self._at_most(x, mirrored=True)

    def icdf(self, p: Any) -> Any:
        """The least integer k with cdf(k) >= p, decided exactly; minus infinity at p = 0, infinity at p = 1.

        Irrational probabilities that agree to 4096 bits count as equal.

        Args:
            p: Number in [0, 1], or an array of such numbers. A float is read as the decimal that Python prints for it.

        Returns:
            An int, or an array of int64, or an object array of Python ints and infinite floats if int64 is too small.
        """
        return integer_quantiles(self.canonical, p, mirrored=False)

    def iccdf(self, q: Any) -> Any:
        """The least integer k with ccdf(k) <= q, the quantile of the upper tail, for q as small as 1e-300."""
        return integer_quantiles(self.canonical, q, mirrored=True)

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> int:
        """The margin of error: the least integer t with P(|X| <= t) >= confidence, decided exactly, as in `icdf`.

        Args:
            confidence: Number strictly between 0 and 1. A float is read as the decimal that Python prints for it.
        """
        return _margin(self.canonical, read_confidence(confidence))

    def first_at_most(self, q: Fraction) -> int:
        """The least i >= 0 with P(X >= i) <= q, for 0 < q < 1."""
        return least_near(lambda i: self._compare_tail(i, q) <= 0, 0)

    def last_at_least(self, q: Fraction) -> int:
        """The largest i >= 0 with P(X >= i) >= q, for 0 < q <= P(X >= 0)."""
        return least_near(lambda i: self._compare_tail(i, q) < 0, 0) - 1

    def expected_cost(self, cost: Cost) -> Fraction | float:
        """E L(X) as a float: the sum of L(x) P(X = x), term by term up to 2^20 terms, and extrapolated beyond.

        The relative error is about 1e-12 for costs that are smooth between finitely many kinks and jumps. The terms
        that are not summed are assumed to keep decreasing.

        Raises:
            NotALoss, NotMonotone: if the cost is not even, nonnegative and nondecreasing in |x| at the sizes tried.
            Unsupported: if the expectation is infinite, too large for a float, or has a relative error above 10^-6.
        """
        read = read_cost(cost, float(self.sensitivity), integers=True)

        def costs(i: Any) -> Floats:
            return read(np.asarray(i, np.float64))

        with np.errstate(over="ignore", invalid="ignore"):
            last = self._settled(costs)
            return self._summed(lambda i: self.mass(FloatPowers, i) * costs(i), last)

    def mean_beyond(self, steps: int) -> float:
        """E max(X - steps, 0) for steps >= 0, in floats."""
        return float(self.expected_cost(lambda x: np.maximum(np.abs(x) - steps, 0))) / 2

    def entropy(self) -> float:
        """-E log P(X) in nats, with a relative error of about 1e-12; summed as in `expected_cost`."""
        last = self._settled(lambda i: -self._log_mass(np.asarray(i)))

        def terms(i: Any) -> Floats:
            return np.asarray(self.mass(FloatPowers, i) * -self._log_mass(i))

        return self._summed(terms, last)

    def log_mean_exponential(self, s: float) -> float:
        """An upper bound of log E exp(s X) for s > 0; infinity if the expectation diverges."""
        try:
            mean = float(self.expected_cost(lambda x: np.cosh(s * np.asarray(x, np.float64))))
        except Unsupported:
            return math.inf
        return max(0.0, math.log(mean)) * (1 + 1e-9) + 1e-9  # rounded up, by more than the error of the sum

    def curve(self, distance: Fraction) -> ShiftCurve:
        """The trade-off curve of the best tests between X and X + distance."""
        return LatticeCurve(self, int(distance))

    @property
    def lipschitz_level(self) -> Level | None:
        """The smallest level per unit at which the noise is Lipschitz private."""
        return self.worst_level(Fraction(1))

    def worst_place(self, distance: int) -> int | None:
        """A y >= 0 at which P(X = y) / P(X = y + distance) is largest, for a distance of at least 1.

        The ratio at y is the largest one for all shifts up to the distance, since probabilities never grow with |x|. A
        subclass whose ratio approaches its supremum without reaching it returns None, and overrides `worst_level`. The
        search covers every y with P(X = y + distance) >= 1e-280, and up to 64 of the others with P(X = y) >= 1e-280.
        Ratios whose relative difference is below 1e-11 are compared to 4096 bits, for at most 16 values of y.

        Raises:
            Unsupported: if the ratio still grows at the end of the searched range, or the range has more than 2^22
                integers.
            PromiseBroken: if a probability grows with |x|, or is 0.
        """
        worst, last = self._searched_place(distance)
        if worst == last and worst:
            raise Unsupported(
                "the largest likelihood ratio must be attained where probabilities are at least 1e-280",
                came=type(self).__name__,
                remedy="Override worst_place.",
            )
        return worst

    def _searched_place(self, distance: int) -> tuple[int, int]:
        """Return the y of the largest ratio found, and the last y of the search."""
        masses = self.window()
        logs, inside = np.log(masses), max(0, masses.size - distance)
        outer = np.unique(np.linspace(inside, masses.size - 1, min(distance, masses.size, 64)).astype(np.int64))
        searched = np.concatenate((np.arange(inside), outer))
        losses = logs[searched] - np.concatenate((logs[distance:], self._log_mass(outer + distance)))
        tied = searched[losses >= float(losses.max()) - _TIED]
        places = sorted(set(tied[np.linspace(0, tied.size - 1, _COMPARED).astype(int)].tolist()))
        worst: int = places[0]
        for place in places[1:]:
            # A y replaces ``worst`` only if its ratio is certainly larger, by cross products of intervals.
            bits = 4096
            here, there = (self.pmf_interval(y, bits) for y in (place, worst))
            below, far = (self.pmf_interval(y + distance, bits) for y in (place, worst))
            if (there * below).is_below(here * far):
                worst = place
        return worst, masses.size - 1

    def worst_level(self, distance: Fraction) -> Level | None:
        """The largest privacy loss between X and X + d, over all d up to ``distance``, or None for the distance 0.

        The loss is largest at `worst_place`. If ``distance`` is the sensitivity, the result is ``level``, provided that
        this level exceeds the loss by at most one part in 10^12, and that intervals of about 400 bits do not show it to
        be below the loss. In all other cases the result is exact for rational probabilities, and has an epsilon rounded
        up to a float for irrational ones.
        """
        shift = int(distance)
        if shift == 0:
            return None
        place = self.worst_place(shift)
        if place is None:
            required = "a distribution must define worst_level if it defines no worst_place"
            raise Unsupported(required, came=type(self).__name__, remedy="Override worst_level.")
        return self._level_at(place, shift)

    def searched_level(self, distance: int) -> Level:
        """The largest privacy loss that the general search of `worst_place` finds, even if a subclass overrides that
        method. The true loss is at least this result, since the search covers only probabilities of at least 1e-280.

        Raises:
            OutOfRange, NotANumber: if the distance is no integer of at least 1.
            Unsupported: if more than 2^22 integers have probabilities of at least 1e-280.
            PromiseBroken: if a probability grows with |x|, or is 0.
        """
        shift = natural(distance, "distance", least=1)
        return IntegerDistribution._level_at(self, self._searched_place(shift)[0], shift)

    def _level_at(self, place: int, shift: int) -> Level:
        loss = self.ratio_level(place, shift)
        if shift != self.sensitivity:
            return loss
        low, high = self._ratio_epsilon(place, shift)
        own = self.level.epsilon_interval(low.bits)
        is_kept = loss <= self.level if self.is_rational else low.low <= own.high
        # A distribution that takes its level first can only approach it, since its parameters are found by a search.
        return self.level if is_kept and own.lower <= high.upper * (1 + _SLACK) else loss

    def ratio_level(self, place: int, distance: int) -> Level:
        """The level with alpha = P(X = place + distance) / P(X = place), for place >= 0 and distance >= 1.

        The level is exact for rational probabilities. For irrational probabilities, epsilon is rounded up to a float.

        Raises:
            PromiseBroken: if the probability at ``place + distance`` is 0, or not below that at ``place``.
        """
        if self.is_rational:
            near, far = (self.mass(ExactPowers, i) for i in (place, place + distance))
            if far == 0:
                _check_possible(self, place + distance)
            if far >= near:
                _refuse(self, f"the probability must be smaller than at i = {place}", place + distance)
            return Level.of_alpha(far / near)
        return Level.of_epsilon(Fraction(round_up(self._ratio_epsilon(place, distance)[1])))

    def _ratio_epsilon(self, place: int, distance: int) -> tuple[Interval, Interval]:
        """Return intervals around a lower and an upper bound of log(P(X = place) / P(X = place + distance))."""
        bits = 512 + 4 * math.ceil(-self._log_mass(np.array([place + distance]))[0])  # 4 > 2 / log 2
        near, far = self.pmf_interval(place, bits), self.pmf_interval(place + distance, bits)
        return log_interval(near.lower / far.upper, bits), log_interval(near.upper / far.lower, bits)

    def window(self, least: float = _LEAST_TAIL) -> Floats:
        """The probabilities P(X = i) for i = 0, 1, ..., as floats, as long as they are at least ``least``: at most 2^22
        of them.
        """
        return _window(self, least)

    def check_formulas(self) -> None:
        """Check that `mass`, `tail`, `tail_intervals` and `canonical` define the same distribution, and that
        probabilities never grow with |x| and are never 0.

        All i with P(X = i) >= 1e-280 are checked in floats, and 64 of these i in intervals of 1200 bits. `mass` and
        `tail` must agree, since samplers use `tail`, and privacy levels are computed from `mass`. The package calls
        this method before a distribution of a class defined elsewhere is first sampled or promised, once for all equal
        distributions.

        Raises:
            PromiseBroken: if the formulas disagree, or if a probability grows with |x| or is 0.
            Unsupported: if more than 2^22 values i have P(X = i) >= 1e-280.
        """
        masses = self.window()
        count = masses.size
        tails = np.asarray(self.tail(FloatPowers, np.arange(count + 1)), np.float64)
        unequal = np.flatnonzero(np.abs(tails[:-1] - tails[1:] - masses) > _TIED * tails[:-1])
        if unequal.size:
            _refuse(self, "P(X >= i) - P(X >= i + 1) must be P(X = i)", int(unequal[0]))
        places = np.unique(np.geomspace(1, count, 64).astype(np.int64) - 1).tolist()
        same = self.canonical
        if isinstance(same, Profile):
            powers = IntervalPowers(same.level, _CHECKED)
            sampled = [same.tail(powers, i) for i in places]
        else:
            sampled = same.tail_intervals(places, _CHECKED)
        for i, drawn in zip(places, sampled, strict=True):
            tail, next_tail = (self._enclosed(self.tail, j, _CHECKED) for j in (i, i + 1))
            if not _may_be_equal(tail - next_tail, self._enclosed(self.mass, i, _CHECKED)):
                _refuse(self, "P(X >= i) - P(X >= i + 1) must be P(X = i)", i)
            if not _may_be_equal(tail, drawn):
                _refuse(self, "canonical and tail_intervals must have the probabilities of tail", i)
        if not _may_be_equal(2 * self._enclosed(self.tail, 0, _CHECKED) - 1, self._enclosed(self.mass, 0, _CHECKED)):
            _refuse(self, "P(X >= 0) must be (1 + P(X = 0)) / 2, since noise is symmetric about 0", 0)

    def pmf_interval(self, k: Number, bits: int = 128) -> Interval:
        """An interval around P(X = k), a few units of ``2**-bits`` wide."""
        return self._enclosed(self.mass, abs(exact_integer(k, "k")), precision(bits))

    def cdf_interval(self, k: Number, bits: int = 128) -> Interval:
        """An interval around P(X <= k), a few units of ``2**-bits`` wide."""
        bits, n = precision(bits), exact_integer(k, "k")
        return self.tail_interval(-n, bits) if n < 0 else 1 - self.tail_interval(n + 1, bits)

    def tail_interval(self, i: int, bits: int = 128) -> Interval:
        """An interval around P(X >= i) for i >= 0, a few units of ``2**-bits`` wide."""
        return self._enclosed(self.tail, i, bits)

    def tail_intervals(self, places: Sequence[int], bits: int) -> list[Interval]:
        """The `tail_interval` at each i of ``places``."""
        return [self.tail_interval(i, bits) for i in places]

    def interval_between(self, first: int, last: int, bits: int = 128) -> Interval:
        """An interval around P(first <= X <= last)."""
        if first > 0:
            return self.tail_interval(first, bits) - self.tail_interval(last + 1, bits)
        if last < 0:
            return self.interval_between(-last, -first, bits)
        return 1 - self.tail_interval(1 - first, bits) - self.tail_interval(last + 1, bits)

    def _enclosed(self, formula: Callable[[Arithmetic, int], Any], i: int, bits: int) -> Interval:
        # The computation allows for formulas that lose twice as many bits as the levels have leading zeros in 1 -
        # alpha.
        inner = bits + _GUARD + 2 * max(map(cleared_bits, self.levels), default=0)
        while True:
            found: Interval = formula(partial(IntervalPowers, bits=inner), i)
            if found.high - found.low <= 1 << (inner - bits):
                return found.at(bits)
            inner *= 2

    def _exactly(self, formula: Callable[[int], Fraction]) -> Callable[[int], Fraction] | None:
        return formula if self.is_rational else None

    def _at_most(self, x: Any, *, mirrored: bool) -> Any:
        """P(X <= x), or P(X > x) if ``mirrored``. The result is a tail, or 1 minus a tail."""

        def one(n: int) -> Fraction:
            tail: Fraction = self.tail(ExactPowers, n + 1 if n >= 0 else -n)
            return tail if (n >= 0) == mirrored else 1 - tail

        def many(n: Any) -> Any:
            beyond = np.where(n >= 0, *(np.asarray(i, n.dtype) for i in (n + 1, -n)))
            tail = np.asarray(self.tail(FloatPowers, beyond), np.float64)
            return np.where((n >= 0) == mirrored, tail, 1.0 - tail)

        return Points.of(x).answer(many, self._exactly(one))

    def _log_mass(self, i: Any) -> Floats:
        """log P(X = i) for an array of i >= 0. Where a float underflows, the logarithm comes from an interval."""
        masses = np.asarray(self.mass(FloatPowers, i), np.float64)
        logs = np.array(np.log(np.maximum(masses, _LEAST_TAIL)))
        for place in map(tuple, np.argwhere(masses <= _LEAST_TAIL).tolist()):
            far, bits = int(np.asarray(i)[place]), 2048
            while (found := self._enclosed(self.mass, far, bits)).low < 1 << 128:
                bits *= 2
                if bits > _FARTHEST_BITS:
                    required = f"a probability must be at least 2^-{_FARTHEST_BITS}"
                    raise Unsupported(required, came=f"the probability of {far}")
            logs[place] = math.log(found.low) - bits * math.log(2)
        return logs

    def _compare_tail(self, i: int, q: Fraction) -> int:
        """The sign of P(X >= i) - q; 0 for irrational numbers that agree to 4096 bits."""
        bits = 128 + q.denominator.bit_length()
        while True:
            found = self.tail_interval(i, bits)
            if found.is_below(q):
                return -1
            if found.lower > q:
                return 1
            if self.is_rational:
                tail: Fraction = self.tail(ExactPowers, i)
                return (tail > q) - (tail < q)
            if bits > _TIE_BITS + q.denominator.bit_length():
                return 0
            bits *= 2

    def _settled(self, values: Callable[[Any], Floats]) -> int:
        """Find an n beyond which the sum of P(X = i) times nondecreasing ``values`` is negligible."""
        n, least = 32, 0.0
        while n < _FARTHEST:
            n *= 2
            tail = float(np.asarray(self.tail(FloatPowers, np.array([n])))[0])
            if tail == 0:
                return n
            here, there = values(np.array([n, 2 * n])).tolist()
            least = max(least, tail * here)
            if not math.isfinite(there) or (tail < _LEAST_TAIL and tail * there > _NEGLIGIBLE * least):
                break
            if 0 < tail * there <= _NEGLIGIBLE * least or (there == 0 and tail < _LEAST_TAIL):
                return n
        raise Unsupported(
            "the expected cost must be finite, and its sum must end where the probabilities underflow",
            came="probabilities that fall too slowly for this cost",
            remedy="Use a cost that grows more slowly, or override expected_cost.",
        )

    def _summed(self, terms: Callable[[Any], Floats], last: int) -> float:
        """Return terms(0) + 2 (terms(1) + ... + terms(last)); beyond 2^20 terms the sum is extrapolated."""
        near = np.asarray(terms(np.arange(min(last, _SUMMED))), np.float64)
        if not np.isfinite(near).all():
            raise Unsupported(
                "the expected cost must be finite, and at most the largest float",
                remedy="Use a cost that grows more slowly.",
            )
        total = 2 * float(near[1:].sum()) + float(near[0])
        edges = [_SUMMED << k for k in range((last // _SUMMED).bit_length())]
        if len(edges) > 1:
            blocks = list(pairwise(edges))
            total += 2 * float(integer_sum(terms, blocks, 1e-14, scale=total / 2).value)
        return total


@lru_cache(maxsize=1024)  # every copy of a release at a smaller epsilon needs the same margin
def _margin(tails: TailSearch, confidence: Fraction) -> int:
    return max(0, tails.first_at_most((1 - confidence) / 2) - 1)


_WIDEST = 1 << 22


@lru_cache(maxsize=8, typed=True)
def _window(distribution: IntegerDistribution, least: float) -> Floats:
    powers_of_2 = np.array([1 << k for k in range(6, _WIDEST.bit_length())])
    beyond = np.flatnonzero(np.asarray(distribution.mass(FloatPowers, powers_of_2), np.float64) < least)
    if not beyond.size:
        raise Unsupported(
            f"noise must have at most {_WIDEST} values with probabilities of at least {least}",
            came=distribution,
            remedy="If the probabilities fall geometrically, count in larger units or choose a larger epsilon.",
        )
    masses = np.asarray(distribution.mass(FloatPowers, np.arange(powers_of_2[beyond[0]] + 1)), np.float64)
    count = int(np.argmax(masses < least))
    grown = np.flatnonzero(masses[1:] > np.maximum(masses[:-1], least) * (1 + _TIED))
    if grown.size:
        _refuse(distribution, "probabilities must never grow with |x|", int(grown[0]) + 1)
    _check_possible(distribution, count)
    return frozen(masses[:count])


def largest_within(level: Level, loss: Callable[[Fraction], Level], low: Number, high: Number) -> Fraction:
    """The largest t from ``low`` to ``high``, to 60 bits, with loss(t) <= level, for a constructor that searches the
    parameters for a given level. The loss must be at most the level at ``low``, and never fall as t grows.

    >>> from utmost.exact import level
    >>> float(largest_within(level(1), lambda t: level(2).scaled(t), "1/4", 1))
    0.5
    """
    least, most = exact(low, "low"), exact(high, "high")
    if loss(most) <= level:
        return most
    step = (most - least) / 2
    while step > (most - least) / (1 << 60):
        if loss(least + step) <= level:
            least += step
        step /= 2
    return least


def check_formulas_once(distribution: IntegerDistribution) -> None:
    """Check the formulas of a distribution, unless its class is the package's own, whose formulas are proved."""
    if not type(distribution).__module__.startswith("utmost."):
        _check_state(distribution)
        _check_formulas(distribution)


@lru_cache(maxsize=64, typed=True)  # a class may be equal to the one that it inherits from
def _check_formulas(distribution: IntegerDistribution) -> None:
    IntegerDistribution.check_formulas(distribution)  # a class that inherits closed forms may change the formulas


def _check_state(distribution: IntegerDistribution) -> None:
    """Check that equal distributions have equal noise, now and later: samplers and checks are cached by equality."""
    cls = type(distribution)
    params = getattr(cls, "__dataclass_params__", None)
    declared: dict[str, Field[Any]] = getattr(cls, "__dataclass_fields__", {})
    compared = {name for name, field in declared.items() if field.compare and field.hash is not False}
    classes = [vars(base) for base in cls.__mro__]
    slots = set[str]()
    for own in classes:
        names = own.get("__slots__", ())  # one name, or several
        slots |= {name for name in ([names] if isinstance(names, str) else names) if hasattr(distribution, name)}
    state = {*getattr(distribution, "__dict__", ()), *slots} - {"__dict__", "__weakref__"}
    computed = {name for own in classes for name, value in own.items() if isinstance(value, cached_property)}
    other = sorted(state - compared - computed)
    if other or (state and not (params and params.frozen and params.eq)):
        raise PromiseBroken(
            "a class of noise must be a frozen dataclass, and equal fields must mean equal noise",
            came=f"another attribute: {other[0]}" if other else "a class that can change",
            where=cls.__name__,
            remedy="Write @dataclass(frozen=True) above the class, and each attribute as a field in it.",
        )


def _may_be_equal(first: Interval, second: Interval) -> bool:
    return not (first.is_below(second) or second.is_below(first))


def _refuse(distribution: IntegerDistribution, required: str, place: int) -> NoReturn:
    remedy = "Correct mass or tail of the class."
    raise PromiseBroken(
        required, came=f"another value at i = {place}", where=type(distribution).__name__, remedy=remedy
    )


def _check_possible(distribution: IntegerDistribution, place: int) -> None:
    """Check that a probability is positive, by intervals of growing precision, up to 2^17 bits."""
    bits = 1 << 11
    while (found := distribution.pmf_interval(place, bits)).low <= 0:
        bits *= 2
        if found.high <= 0 or bits > _FARTHEST_BITS:
            raise PromiseBroken(
                "every integer must have a positive probability, else the privacy loss is infinite",
                came=f"the probability 0 at i = {place}",
                where=type(distribution).__name__,
                remedy="Give mass and tail positive values everywhere, such as powers of alpha.",
            )
