r"""Find the kind of report of one of k categories with which estimates have the least variance in the local model, and
prove that no kind of report has a smaller variance.

**Subset selection.** A client with category x reports a set S of d categories, with

.. math:: P(S \mid x) = \frac{1}{\binom{k}{d}}\cdot\frac{k}{d + (k-d)\alpha}\cdot
    \begin{cases} 1 & x \in S \\ \alpha & x \notin S \end{cases}, \qquad
    p = P(x \in S \mid x) = \frac{d}{d + (k-d)\alpha}.

With d = 1 this is randomised response. A category other than x is in the report with probability q = (d - p)/(k - 1).
If N_z of n reports contain the category z, (N_z - n q)/(p - q) is an unbiased estimate of the number of clients with
category z.

**No report has a smaller variance.** Let M be the channel of one client's report, M_y its columns, m_y the mean of a
column, and F = sum_y M_y M_y^T / m_y. For unbiased estimates the sum of the k variances, averaged over the categories,
is at least tr(F^-1) - 1. The vector of ones is an eigenvector of F with eigenvalue k. The trace of F is the mean, with
weights m_y, of k^2 |M_y|^2 / (k m_y)^2. The trace of F is convex in a column, so the trace is largest at the vertices
of the private columns: 1 on some d categories and alpha on the others. The harmonic mean of the k - 1 other eigenvalues
is at most their arithmetic mean, so

.. math:: V \ge \frac{(k-1)^2}{k^2 g - k} - \frac{k-1}{k},
    \qquad g = \max_d \frac{d + (k-d)\alpha^2}{(d+(k-d)\alpha)^2},

and subset selection with the d of the maximum attains the bound for every category.

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
# Numbers that agree to this many bits are treated as equal where the error does not matter.
_MOST_BITS = 1 << 13
_LARGEST_MATRIX = 1 << 20
_GUARD = 64
_CELLS = 1 << 20

Reports = NDArray[np.int64]
"""Reports: for each client, a row of categories or the index of a block."""
Alpha = TypeVar("Alpha", Fraction, Interval)
"""The type of number in which a formula in alpha is computed."""


class AlphaFormula(Protocol):
    """A rational function of alpha."""

    def __call__(self, alpha: Alpha, /) -> Alpha:
        """Return the value of the function at alpha."""


def value_at(at: Level, formula: AlphaFormula, bits: int = _BITS) -> Fraction | Interval:
    """Return the value of a rational function of alpha at a level: exact if alpha is rational, else an interval."""
    return formula(at.alpha_fraction()) if at.is_rational else formula(at.alpha_interval(bits + _lost_bits(at)))


def _lost_bits(at: Level) -> int:
    """Return the number of leading zero bits that alpha, 1 - alpha and their powers may have at extreme levels."""
    epsilon = at.epsilon_float
    return 4 * int(epsilon * 1.4427 + max(0.0, -math.log2(epsilon)) + 1)


class CategoryReport(ABC, Display):
    """A kind of report: a set of d of k categories, which contains the client's category more often than any other."""

    # The sets form a balanced family: a random set contains every category with the same probability, and every pair
    # with the same probability. A set with the client's category has 1/alpha times the probability, relative to its
    # weight, of a set without it. All probabilities, estimates and variances follow.
    __slots__ = ()

    categories: int
    size: int
    level: Level

    @property
    @abstractmethod
    def bits(self) -> int:
        """The length of a report, in bits."""

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Whether every set of d categories is a report."""

    @abstractmethod
    def sets(self) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """Yield the weight and the categories of every set; the weight of a set is the probability of the set in a
        random report.
        """

    @abstractmethod
    def read(self, reports: Any) -> NDArray[np.int64]:
        """Return reports, one row or one index for each client, as an array; raise OutOfRange if they are invalid."""

    @abstractmethod
    def weights(self, reports: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Fraction]]:
        """Return, for each report, the index of its weight in a list of weights, and the list itself."""

    @abstractmethod
    def members(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the categories of each report, (clients, size)."""

    def holders(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of reports that contain each category, (k,)."""
        seen, step = np.zeros(self.categories, np.int64), max(1, _CELLS // self.size)
        for start in range(0, len(reports), step):
            members = self.members(reports[start : start + step])
            seen += np.bincount(members.ravel(), minlength=self.categories)
        return seen

    @abstractmethod
    def holds(self, reports: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether reports[i] contains the category values[i], for each i."""

    @abstractmethod
    def drawn(self, values: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """Draw one report for each category in ``values``."""

    @abstractmethod
    def tightened(
        self, reports: NDArray[np.int64], higher: "CategoryReport", stays: NDArray[np.bool_], randomness: Randomness
    ) -> NDArray[np.int64]:
        """Draw a report for each of ``reports``, of kind ``higher``: a superset or subset of it if ``stays`` is true,
        else a random set.
        """

    @abstractmethod
    def relaxed(
        self,
        fresh: NDArray[np.int64],
        reports: NDArray[np.int64],
        values: NDArray[np.int64],
        near: NDArray[np.bool_],
        keeps: NDArray[np.bool_],
        randomness: Randomness,
    ) -> NDArray[np.int64]:
        """Return a report for each of ``reports``: a superset or subset of it, drawn here, if ``near`` is true, else
        that in ``fresh``.
        """
        # ``keeps`` says whether the new report contains the category in ``values``; this matters only if the given
        # report does not decide it.

    @abstractmethod
    def at(self, other: Level) -> "CategoryReport":
        """Return the kind of report that has the same sets, at another level."""

    @property
    def inside(self) -> Fraction | float:
        """The probability p that a report contains the client's own category."""
        return _rounded_value(self.level, self.inside_of)

    @property
    def outside(self) -> Fraction | float:
        """The probability q that a report contains a given other category."""
        return _rounded_value(self.level, self._outside_of)

    @property
    def variance(self) -> Fraction | float:
        """The sum of the variances of the k estimated counts, per client, rounded up. The sum is the same for all true
        categories.
        """
        return _rounded_value(self.level, self._variance_of, round_up)

    @property
    def variances(self) -> tuple[float, float]:
        """The variances that one client adds to the estimated count of its own category, and of any other category."""
        own, other = (
            _rounded_value(self.level, partial(self._variance_part_of, is_own=kind)) for kind in (True, False)
        )
        return float(own), float(other)

    @property
    def channel(self) -> Channel:
        """The channel from categories to sets; the name of an outcome is the tuple of its categories, as text."""
        k = self.categories
        if k > _LARGEST_MATRIX or k << self.bits > 2 * _LARGEST_MATRIX:
            raise Unsupported(
                "a channel of reports must have at most 2^20 entries",
                came=f"more for {k} categories",
                remedy="Use fewer categories.",
            )
        weighted = list(self.sets())
        own, other = (self.likelihood(is_own) for is_own in (True, False))
        rows = [[weight * (own if x in some else other) for weight, some in weighted] for x in range(k)]
        return Channel(rows, outcomes=[str(some) for _, some in weighted])

    def likelihood(self, is_own: bool) -> Fraction | float:
        """Return the probability of a set with (``is_own``) or without the client's category, divided by the weight of
        the set.
        """
        k, d, alpha = self.categories, self.size, self.level.alpha
        return k / (d + (k - d) * alpha) * (1 if is_own else alpha)

    def inside_of(self, alpha: Alpha) -> Alpha:
        """Return p as a function of alpha."""
        k, d = self.categories, self.size
        return 1 / (1 + alpha * Fraction(k - d, d))

    def _outside_of(self, alpha: Alpha) -> Alpha:
        return (self.size - self.inside_of(alpha)) * Fraction(1, self.categories - 1)

    def _variance_part_of(self, alpha: Alpha, is_own: bool) -> Alpha:
        """Return p(1-p)/(p-q)^2 if ``is_own``, else q(1-q)/(p-q)^2."""
        p, q = self.inside_of(alpha), self._outside_of(alpha)
        chance, spread = (p if is_own else q), p - q
        return chance * (1 - chance) / (spread * spread)

    def _variance_of(self, alpha: Alpha) -> Alpha:
        return self._variance_part_of(alpha, True) + self._variance_part_of(alpha, False) * (self.categories - 1)

    def bound_of(self, alpha: Alpha, size: int) -> Alpha:
        """Return the lower bound of the variance for channels whose columns have ``size`` large entries."""
        return _bound(alpha, self.categories, size)

    @property
    def least_variance(self) -> Fraction | float:
        """The least `variance` of any kind of report at this level, for the worst true categories, rounded down."""
        # The estimates are unbiased, and each client draws one report independently.
        size = best_size(self.categories, self.level)
        return _rounded_value(self.level, lambda a: self.bound_of(a, size), round_down)

    def verify(self) -> bool:
        """Check in O(k) that no other size has a smaller bound, and that the variance equals the bound."""
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
    """Return the number d of categories in a report for which the variance is least, an integer next to k alpha/(1 +
    alpha). If two sizes are equally good, the smaller size is returned.
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
    """Return whether a rational function of alpha is below another one at a level; False if the two values agree to
    8192 bits.
    """
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
    """Return the probability `inside` as draws need it: a Fraction, or a function that computes it to a given number of
    bits.
    """
    if how.level.is_rational:
        return how.inside_of(how.level.alpha_fraction())
    return lambda bits: within_unit(_irrational_value(how.level, how.inside_of, bits + _GUARD)).at(bits)


def within_unit(interval: Interval) -> Interval:
    unit = 1 << interval.bits
    return Interval(min(max(interval.low, 0), unit), min(max(interval.high, 0), unit), interval.bits)


def chances_of(formulas: Sequence[Callable[..., Any]], levels: Sequence[Level]) -> list[Any]:
    """Return the values of formulas at the alphas of levels, as draws need them: Fractions, or functions of a number of
    bits.
    """
    if all(at.is_rational for at in levels):
        return [formula(*(at.alpha_fraction() for at in levels)) for formula in formulas]
    return [partial(_value_to_bits, formula, levels) for formula in formulas]


def _value_to_bits(formula: Callable[..., Any], levels: Sequence[Level], bits: int) -> Interval:
    """Return the value of a formula to ``bits`` bits; compute with more bits if the levels are close."""
    inner = bits + _GUARD + max(map(_lost_bits, levels))
    while True:
        with suppress(OutOfRange):  # the interval around a divisor contains 0, so use more bits
            value: Interval = within_unit(formula(*(alpha_around(at, inner) for at in levels)))
            if (value.high - value.low) << bits <= 4 << value.bits:
                return value.at(bits)
        inner *= 2


def alpha_around(at: Level, bits: int) -> Interval:
    """Return an interval around alpha, computed with ``bits`` bits."""
    return Interval.of(at.alpha_fraction(), bits) if at.is_rational else at.alpha_interval(bits)
