r"""One of k categories reported by a client for itself: the report that tells most, and why none tells more.

**Subset selection.** A client with category x reports a set S of d categories, with

.. math:: P(S \mid x) = \frac{1}{\binom{k}{d}}\cdot\frac{k}{d + (k-d)\alpha}\cdot
    \begin{cases} 1 & x \in S \\ \alpha & x \notin S \end{cases}, \qquad
    p = P(x \in S \mid x) = \frac{d}{d + (k-d)\alpha}.

For d = 1 it is randomised response. Any other category is in the report with q = (d - p)/(k - 1), so that
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
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import comb
from typing import Any

from utmost.design.channels import Channel
from utmost.errors import Unsupported
from utmost.laws.exact import Interval, Level, Number, checked, level, natural, nearest, round_down, round_up
from utmost.laws.exact.shown import Shown

_BITS = 192
# Beyond so many bits two numbers that are not told apart are taken for equal, where equality does no harm.
_MOST_BITS = 1 << 13
_LARGEST_MATRIX = 1 << 20

Formula = Callable[[Any], Any]
"""A rational function of alpha, in Fractions or in Intervals."""


def value_at(at: Level, formula: Formula, bits: int = _BITS) -> Fraction | Interval:
    """A rational function of alpha: exactly where alpha is rational, else an interval of so many bits and some more."""
    value: Fraction | Interval = formula(
        at.alpha_fraction() if at.is_rational else at.alpha_interval(bits + _lost_bits(at))
    )
    return value


def _lost_bits(at: Level) -> int:
    """The leading bits that alpha, 1 - alpha and their powers may lack at a large or a small level."""
    epsilon = at.epsilon_float
    return 4 * int(epsilon * 1.4427 + max(0.0, -math.log2(epsilon)) + 1)


@dataclass(frozen=True, slots=True, repr=False)
class SubsetSelection(Shown):
    """Reports of d of k categories, with the own one among them as often as the level allows.

    Args:
        categories: k >= 2.
        size: d, from 1 (randomised response) to k - 1.
        level: what one report loses, whatever else is known.

    Raises:
        OutOfRange: for other sizes.

    >>> best = best_report(4, alpha="1/3")
    >>> best, best.inside, best.outside
    (SubsetSelection(categories=4, size=1, level=Level(alpha=1/3)), Fraction(1, 2), Fraction(1, 6))
    """

    categories: int
    size: int
    level: Level

    _shown = ("categories", "size", "level")

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", natural(self.categories, "categories", least=2))
        object.__setattr__(self, "size", natural(self.size, "size", 1, self.categories - 1))
        object.__setattr__(self, "level", level(self.level))

    @property
    def inside(self) -> Fraction | float:
        """p, the chance that a report holds the client's own category."""
        return _number(self.level, self.inside_of)

    @property
    def outside(self) -> Fraction | float:
        """q, the chance that a report holds any other category."""
        return _number(self.level, self._outside_of)

    @property
    def variance(self) -> Fraction | float:
        """The sum over categories of the variances of the estimated numbers of clients, for each client; rounded up.

        It is the same whatever the clients' categories are.
        """
        return _number(self.level, self._variance_of, round_up)

    @property
    def variances(self) -> tuple[float, float]:
        """What one client adds to the variance of its own category's estimate, and to that of each other one."""
        own, other = (_number(self.level, partial(self._part_of, is_own=kind)) for kind in (True, False))
        return float(own), float(other)

    @property
    def channel(self) -> Channel:
        """The law of a report as a channel: rows are categories, outcomes are sets as tuples.

        Raises:
            Unsupported: for more than 2^20 entries.
        """
        k, d = self.categories, self.size
        if k * comb(k, d) > _LARGEST_MATRIX:
            raise Unsupported("a channel of reports must have at most 2^20 entries", came=f"{k} x {comb(k, d)}")
        sets = list(combinations(range(k), d))
        alpha = self.level.alpha
        whole = comb(k - 1, d - 1) + comb(k - 1, d) * alpha
        rows = [[(1 if x in some else alpha) / whole for some in sets] for x in range(k)]
        return Channel(rows, outcomes=[str(some) for some in sets])

    def inside_of(self, alpha: Any) -> Any:
        """p as a function of alpha."""
        k, d = self.categories, self.size
        return 1 / (1 + alpha * Fraction(k - d, d))

    def _outside_of(self, alpha: Any) -> Any:
        return (self.size - self.inside_of(alpha)) * Fraction(1, self.categories - 1)

    def _part_of(self, alpha: Any, is_own: bool) -> Any:
        """p(1-p)/(p-q)^2, or q(1-q)/(p-q)^2."""
        p, q = self.inside_of(alpha), self._outside_of(alpha)
        chance, spread = (p if is_own else q), p - q
        return chance * (1 - chance) / (spread * spread)

    def _variance_of(self, alpha: Any) -> Any:
        return self._part_of(alpha, True) + self._part_of(alpha, False) * (self.categories - 1)

    def bound_of(self, alpha: Any, size: int) -> Any:
        """The bound of V that columns with ``size`` large entries give."""
        k = self.categories
        whole = size + alpha * (k - size)
        g = (size + alpha * alpha * (k - size)) / (whole * whole)
        return Fraction((k - 1) ** 2) / (g * (k * k) - k) - Fraction(k - 1, k)

    @property
    def least_variance(self) -> Fraction | float:
        """What no private report of one of k categories has less than, whatever it consists of; rounded down.

        Of the sum over categories of the variances of unbiased estimates of the numbers of clients, a client, for the
        worst categories of the clients. Each client draws a report for itself, once, and keeps the level.
        """
        best = best_report(self.categories, self.level)
        return _number(self.level, lambda a: self.bound_of(a, best.size), round_down)

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


@checked
def best_report(
    categories: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> SubsetSelection:
    """The report of one of k categories from which the clients of each can be counted with the least variance.

    Class: each client draws one report for itself that keeps the level, by a law of any kind; the k numbers of clients
    are estimated without bias. Least: the sum of the k variances, for the worst categories of the clients, exactly and
    for any number of clients. The size is one of the two integers around k alpha/(1 + alpha); of two that are as good
    the smaller.

    Args:
        categories: k >= 2.
        epsilon: the level of a report, or alpha = exp(-epsilon) instead.

    Raises:
        NotALevel, OutOfRange: for what is no level, and fewer than two categories.

    Source: [ye2018], [pan2026]; the proof is in docs/theory/local-protocols.md.

    >>> [best_report(k, epsilon=1).size for k in (2, 4, 10, 1000)]
    [1, 1, 3, 269]
    >>> best_report(10, alpha="1/3").variance, best_report(10, alpha="1/3").verify()
    (Fraction(333, 14), True)
    """
    k, at = natural(categories, "categories", least=2), level(epsilon, alpha)
    bits = _BITS + 2 * k.bit_length()
    middle = at.alpha_interval(bits) * k / (at.alpha_interval(bits) + 1)
    first, last = int(middle.lower), int(middle.upper) + 1
    sizes = sorted({min(max(d, 1), k - 1) for d in range(first, last + 1)})
    best = SubsetSelection(k, sizes[0], at)
    for d in sizes[1:]:
        other = SubsetSelection(k, d, at)
        if is_less(at, partial(best.bound_of, size=d), partial(best.bound_of, size=best.size)):
            best = other
    return best


def is_less(at: Level, first: Formula, second: Formula) -> bool:
    """Whether one rational function of alpha is certainly below another; not where they agree to 8192 bits."""
    if at.is_rational:
        alpha = at.alpha_fraction()
        return bool(first(alpha) < second(alpha))
    bits = _BITS
    while bits <= _MOST_BITS:
        first_value, second_value = value_at(at, first, bits), value_at(at, second, bits)
        assert isinstance(first_value, Interval), "alpha is irrational"
        assert isinstance(second_value, Interval), "alpha is irrational"
        if first_value.is_below(second_value) or second_value.is_below(first_value):
            return first_value.is_below(second_value)
        bits *= 2
    return False


def _number(at: Level, formula: Formula, rounded: Callable[[Any], float] = nearest) -> Fraction | float:
    value = value_at(at, formula)
    return value if isinstance(value, Fraction) else rounded(value)
