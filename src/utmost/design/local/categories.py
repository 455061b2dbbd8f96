r"""One of k categories reported by a client for itself: the report that tells most, and why none tells more.

**Subset selection.** A client with category x reports a set S of d categories, with

.. math:: P(S \mid x) = \frac{1}{\binom{k}{d}}\cdot\frac{k}{d + (k-d)\alpha}\cdot
    \begin{cases} 1 & x \in S \\ \alpha & x \notin S \end{cases}, \qquad
    p = P(x \in S \mid x) = \frac{d}{d + (k-d)\alpha}.

With d = 1 it is randomised response. Any other category is in the report with q = (d - p)/(k - 1), so that
(N_z - n q)/(p - q) is an unbiased estimate of how many of n clients have the category z, from the N_z reports with z.

**No report tells more.** Let M be the law of one client's report, M_y its columns, m_y the mean of a column, and
F = sum_y M_y M_y^T / m_y. Of unbiased estimates the sum of the k variances, in the mean over the categories, is at
least tr(F^-1) - 1. F maps the vector of ones to k times itself, and its trace is a mean of k^2 |M_y|^2 / (k m_y)^2 with
weights m_y, which is convex in a column, so largest at the vertices of the private columns: 1 on some d categories and
alpha on the others. The harmonic mean of the k - 1 other eigenvalues is at most their arithmetic mean, so that

.. math:: V \ge \frac{(k-1)^2}{k^2 g - k} - \frac{k-1}{k},
    \qquad g = \max_d \frac{d + (k-d)\alpha^2}{(d+(k-d)\alpha)^2},

and subset selection of the maximal d attains it for every category.

Source: [kairouz2016] (vertices suffice), [wang2016] and [ye2018] (the subsets), [pan2026] (the bound of estimates).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, is_lower, nearest, round_down, round_up
from utmost.core.exact.levels import Level
from utmost.core.sampling.random_bits import Randomness
from utmost.design.channels.channel import Channel
from utmost.errors import OutOfRange, Unsupported

_BITS = 192
# Beyond so many bits two numbers that are not told apart are taken for equal, where equality does no harm.
_MOST_BITS = 1 << 13
_LARGEST_MATRIX = 1 << 20
_GUARD = 64
_CELLS = 1 << 20

Reports = NDArray[np.int64]
"""Reports of one kind: for each client a row of categories, or the number of a block."""
Alpha = TypeVar("Alpha", Fraction, Interval)
"""The kind of number in which a formula in alpha is computed."""


class AlphaFormula(Protocol):
    """A rational function of alpha."""

    def __call__(self, alpha: Alpha, /) -> Alpha:
        """The value at alpha."""


def value_at(at: Level, formula: AlphaFormula, bits: int = _BITS) -> Fraction | Interval:
    """A rational function of alpha: exactly where alpha is rational, else an interval of so many bits and some more."""
    return formula(at.alpha_fraction()) if at.is_rational else formula(at.alpha_interval(bits + _lost_bits(at)))


def _lost_bits(at: Level) -> int:
    """The leading bits that alpha, 1 - alpha and their powers may lack at a large or a small level."""
    epsilon = at.epsilon_float
    return 4 * int(epsilon * 1.4427 + max(0.0, -math.log2(epsilon)) + 1)


class CategoryReport(ABC, Display):
    """A report by a set of d of k categories from a balanced family, with the own one in it as often as can be.

    All kinds of reports have in common that every category is in a set with one chance, every two with one, and that a
    set with the client's category is 1/alpha times as likely as one without it. All chances, estimates and variances
    follow.

    Attributes:
        categories: k.
        size: d, the categories in a set.
        level: Level of one report, whatever else is known.
    """

    __slots__ = ()

    categories: int
    size: int
    level: Level

    @property
    @abstractmethod
    def bits(self) -> int:
        """The length of a report, as the number of its set."""

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Whether every set of d categories is a report."""

    @abstractmethod
    def sets(self) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """Every set with its weight, the chance that it is drawn blindly."""

    @abstractmethod
    def read(self, reports: Any) -> NDArray[np.int64]:
        """Reports as they are drawn: one row, or one number, for each client.

        Raises:
            OutOfRange: for what are no such reports.
        """

    @abstractmethod
    def weights(self, reports: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Fraction]]:
        """The index of each report in a list of probabilities of blind draws."""

    @abstractmethod
    def members(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        """The categories of each report, shape (clients, size)."""

    def holders(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of reports with each category, shape (k,)."""
        seen, step = np.zeros(self.categories, np.int64), max(1, _CELLS // self.size)
        for start in range(0, len(reports), step):
            members = self.members(reports[start : start + step])
            seen += np.bincount(members.ravel(), minlength=self.categories)
        return seen

    @abstractmethod
    def holds(self, reports: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each report holds the category beside it."""

    @abstractmethod
    def drawn(self, values: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """A report of each category."""

    @abstractmethod
    def stricter(
        self, reports: NDArray[np.int64], loose: "CategoryReport", stays: NDArray[np.bool_], randomness: Randomness
    ) -> NDArray[np.int64]:
        """Reports of this kind, near the looser ``reports`` where they stay, and drawn blindly elsewhere."""

    @abstractmethod
    def looser(
        self,
        fresh: NDArray[np.int64],
        reports: NDArray[np.int64],
        values: NDArray[np.int64],
        near: NDArray[np.bool_],
        keeps: NDArray[np.bool_],
        randomness: Randomness,
    ) -> NDArray[np.int64]:
        """Reports of this kind: near the ``reports`` at a smaller epsilon where these are there, and fresh elsewhere.

        Args:
            fresh: Reports of this kind.
            reports: Stricter ones.
            values: Categories.
            near: Whether a report is one of those around or within the stricter one.
            keeps: Whether it then holds the category, where that is open.
            randomness: Source of random bits for the rest.
        """

    @abstractmethod
    def at(self, other: Level) -> "CategoryReport":
        """Reports by the same sets at another level."""

    @property
    def inside(self) -> Fraction | float:
        """p, the chance that a report holds the client's own category."""
        return _rounded_value(self.level, self.inside_of)

    @property
    def outside(self) -> Fraction | float:
        """q, the chance that a report holds any other category."""
        return _rounded_value(self.level, self._outside_of)

    @property
    def variance(self) -> Fraction | float:
        """The sum over categories of the variances of the estimated numbers of clients, for each client; rounded up.

        It is the same whatever the clients' categories are.
        """
        return _rounded_value(self.level, self._variance_of, round_up)

    @property
    def variances(self) -> tuple[float, float]:
        """The variance that one client adds to its own category's estimate, and to that of each other one."""
        own, other = (
            _rounded_value(self.level, partial(self._variance_part_of, is_own=kind)) for kind in (True, False)
        )
        return float(own), float(other)

    @property
    def channel(self) -> Channel:
        """The law of a report as a channel: rows are categories, outcomes are sets as tuples.

        Raises:
            Unsupported: for more than 2^20 entries.
        """
        k = self.categories
        if k > _LARGEST_MATRIX or k << self.bits > 2 * _LARGEST_MATRIX:
            raise Unsupported("a channel of reports must have at most 2^20 entries", came=f"more, of {k} categories")
        weighted = list(self.sets())
        own, other = (self.likelihood(is_own) for is_own in (True, False))
        rows = [[weight * (own if x in some else other) for weight, some in weighted] for x in range(k)]
        return Channel(rows, outcomes=[str(some) for _, some in weighted])

    def likelihood(self, is_own: bool) -> Fraction | float:
        """The likelihood of a set with the own category, or of one without it, relative to a blind draw."""
        k, d, alpha = self.categories, self.size, self.level.alpha
        return k / (d + (k - d) * alpha) * (1 if is_own else alpha)

    def inside_of(self, alpha: Alpha) -> Alpha:
        """p as a function of alpha."""
        k, d = self.categories, self.size
        return 1 / (1 + alpha * Fraction(k - d, d))

    def _outside_of(self, alpha: Alpha) -> Alpha:
        return (self.size - self.inside_of(alpha)) * Fraction(1, self.categories - 1)

    def _variance_part_of(self, alpha: Alpha, is_own: bool) -> Alpha:
        """p(1-p)/(p-q)^2, or q(1-q)/(p-q)^2."""
        p, q = self.inside_of(alpha), self._outside_of(alpha)
        chance, spread = (p if is_own else q), p - q
        return chance * (1 - chance) / (spread * spread)

    def _variance_of(self, alpha: Alpha) -> Alpha:
        return self._variance_part_of(alpha, True) + self._variance_part_of(alpha, False) * (self.categories - 1)

    def bound_of(self, alpha: Alpha, size: int) -> Alpha:
        """The bound of V that columns with ``size`` large entries give."""
        return _bound(alpha, self.categories, size)

    @property
    def least_variance(self) -> Fraction | float:
        """The least variance of any private report of one of k categories; rounded down.

        It is the sum over categories of the variances of unbiased estimates of the numbers of clients, for each client,
        at the worst categories of the clients. Each client draws a report for itself, once, and keeps the level.
        """
        size = best_size(self.categories, self.level)
        return _rounded_value(self.level, lambda a: self.bound_of(a, size), round_down)

    def verify(self) -> bool:
        """Whether no other size has a smaller bound than this one, over all of them, and the variance is the bound.

        Cost: O(k) evaluations.
        """
        sizes = range(1, self.categories)
        if self.level.is_rational:
            alpha = self.level.alpha_fraction()
            own = self._variance_of(alpha)
            return bool(own == self.bound_of(alpha, self.size) and all(own <= self.bound_of(alpha, d) for d in sizes))
        near = self.level.alpha_interval(_BITS + _lost_bits(self.level) + 4 * self.categories.bit_length())
        variance, bound = self._variance_of(near), self.bound_of(near, self.size)
        if variance.is_below(bound) or bound.is_below(variance):
            return False
        return not any(self.bound_of(near, d).is_below(variance) for d in sizes)


def _bound(alpha: Alpha, k: int, size: int) -> Alpha:
    whole = size + alpha * (k - size)
    g = (size + alpha * alpha * (k - size)) / (whole * whole)
    return Fraction((k - 1) ** 2) / (g * (k * k) - k) - Fraction(k - 1, k)


def best_size(categories: int, at: Level) -> int:
    """The size of sets with the least variance, the smaller at a tie: one of the integers around k alpha/(1 + alpha).

    >>> from utmost.exact import level
    >>> best_size(1000, level(1))
    269
    """
    k, bits = categories, _BITS + 2 * categories.bit_length()
    middle = at.alpha_interval(bits) * k / (at.alpha_interval(bits) + 1)
    first, last = int(middle.lower), int(middle.upper) + 1
    sizes = sorted({min(max(d, 1), k - 1) for d in range(first, last + 1)})
    best = sizes[0]
    for d in sizes[1:]:
        if is_less(at, partial(_bound, k=k, size=d), partial(_bound, k=k, size=best)):
            best = d
    return best


def is_less(at: Level, first: AlphaFormula, second: AlphaFormula) -> bool:
    """Whether one rational function of alpha is certainly below another; not where they agree to 8192 bits."""
    if at.is_rational:
        alpha = at.alpha_fraction()
        return bool(first(alpha) < second(alpha))
    return bool(is_lower(partial(_irrational_value, at, first), partial(_irrational_value, at, second), _MOST_BITS))


def _irrational_value(at: Level, formula: AlphaFormula, bits: int) -> Interval:
    value = value_at(at, formula, bits)
    assert isinstance(value, Interval), "alpha is irrational"
    return value


def _rounded_value(at: Level, formula: AlphaFormula, rounded: Callable[[Any], float] = nearest) -> Fraction | float:
    value = value_at(at, formula)
    return value if isinstance(value, Fraction) else rounded(value)


def chance_inside(how: CategoryReport) -> Any:
    """p, ready to be drawn: a Fraction, or a number known to any precision."""
    if how.level.is_rational:
        return how.inside_of(how.level.alpha_fraction())
    return lambda bits: within_unit(_irrational_value(how.level, how.inside_of, bits + _GUARD)).at(bits)


def within_unit(interval: Interval) -> Interval:
    """The interval cut to 0..1, where a chance lies."""
    unit = 1 << interval.bits
    return Interval(min(max(interval.low, 0), unit), min(max(interval.high, 0), unit), interval.bits)


def chances_of(formulas: Sequence[Callable[..., Any]], levels: Sequence[Level]) -> list[Any]:
    """Functions of the alphas of different levels, ready to be drawn: Fractions, or numbers known to any precision."""
    if all(at.is_rational for at in levels):
        return [formula(*(at.alpha_fraction() for at in levels)) for formula in formulas]
    return [partial(_value_to_bits, formula, levels) for formula in formulas]


def _value_to_bits(formula: Callable[..., Any], levels: Sequence[Level], bits: int) -> Interval:
    """The value to so many bits: levels that are close take more bits on the way."""
    inner = bits + _GUARD + max(map(_lost_bits, levels))
    while True:
        with suppress(OutOfRange):  # a divisor that is not yet known to differ from 0
            value: Interval = within_unit(formula(*(alpha_around(at, inner) for at in levels)))
            if (value.high - value.low) << bits <= 4 << value.bits:
                return value.at(bits)
        inner *= 2


def alpha_around(at: Level, bits: int) -> Interval:
    """An interval of so many bits around alpha."""
    return Interval.of(at.alpha_fraction(), bits) if at.is_rational else at.alpha_interval(bits)
