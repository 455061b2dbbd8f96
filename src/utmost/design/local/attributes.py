r"""Several attributes of each client at one level: all reported at a share of it, or one, drawn blindly, at the whole.

With m attributes and V_j(epsilon) the summed variances of attribute j's counts for each client, *sharing* costs
sum_j V_j(epsilon/m). *Sampling* attribute j with the chance s_j, whatever the client has, costs

.. math:: \sum_j \frac{V_j(\epsilon) + 1}{s_j} - 1,

since a count is multiplied by 1/s_j: the own category's estimate has second moment (variance + 1)/s_j, another one's
variance/s_j. The best s_j are as the square roots of V_j + 1. At small levels V is about 1/epsilon^2, so that sharing
costs m^2 and sampling m for each; at large ones the chance that an attribute is not drawn costs more than its report.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import integer, iterable
from utmost.core.exact.arrays import plain_array
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact, natural
from utmost.core.sampling.categorical import Categorical
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.design.local.categories import CategoryReport, Reports
from utmost.design.local.category_reports import CategoryCounts, report_categories
from utmost.design.local.subset_selection import best_report
from utmost.errors import OutOfRange

_STEPS = 1 << 20


@dataclass(frozen=True, slots=True, repr=False)
class AttributeReports(Display):
    """How each client reports several attributes, so that all it sends keeps one level.

    Attributes:
        reports: Report of each attribute.
        chances: Probability of each attribute to be the one that a client reports; all 1 if all are reported.
        level: Level of all that a client sends.
    """

    reports: tuple[CategoryReport, ...]
    chances: tuple[Fraction, ...]
    level: Level

    @property
    def is_sampled(self) -> bool:
        """Whether each client reports one attribute alone."""
        return self.chances[0] < 1

    @property
    def variance(self) -> float:
        """The sum over all categories of all attributes of the variances of counts, for each client."""
        pairs = zip(self.reports, self.chances, strict=True)
        return float(sum((exact(how.variance) + 1) / chance - 1 for how, chance in pairs))

    def report(self, values: Any, *, randomness: Randomness | None = None) -> list[tuple[NDArray[np.int64], Reports]]:
        """The clients who report each attribute, and their reports.

        Args:
            values: (clients, attributes) integers, each below the number of its attribute's categories.
            randomness: Source of random bits, by default the operating system.

        Raises:
            OutOfRange: for another shape, and for what is no category.
        """
        table, random = plain_array(values, "table of categories"), secure(randomness)
        if table.ndim != 2 or table.shape[1] != len(self.reports) or table.dtype.kind not in "iu":
            required = f"values must be integers of the shape (clients, {len(self.reports)})"
            raise OutOfRange(required, came=table.shape, where="values")
        most = np.array([how.categories for how in self.reports])
        if table.size and not ((table >= 0) & (table < most)).all():
            raise OutOfRange("every value must be a category of its attribute", came="another", where="values")
        if self.is_sampled:
            ends = list(accumulate(self.chances))[:-1]
            law = Categorical(lambda bits: [Interval.of(end, bits) for end in ends], word_bits=16, lookup=True)
            drawn = law.draw(len(table), random)
            clients = [np.flatnonzero(drawn == attribute) for attribute in range(len(self.reports))]
        else:
            clients = [np.arange(len(table)) for _ in self.reports]
        return [
            (rows, report_categories(table[rows, attribute], how, randomness=random))
            for attribute, (rows, how) in enumerate(zip(clients, self.reports, strict=True))
        ]

    def counts(self, attribute: int, reports: Any, clients: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Unbiased numbers of all clients in each category of an attribute, and their standard errors.

        Args:
            attribute: Place of the attribute.
            reports: Reports of the clients who reported it.
            clients: Number of all clients, with those who reported another attribute.
        """
        clients = integer(clients, "clients")
        place = natural(attribute, "attribute", 0, len(self.reports) - 1)
        how, chance = self.reports[place], float(self.chances[place])
        estimates = CategoryCounts.of(reports, how).estimates(how) / chance
        own, other = how.variances
        true = np.clip(estimates, 0, clients)
        spread = true * ((own + 1) / chance - 1) + (clients - true) * other / chance
        return np.asarray(estimates), np.asarray(np.sqrt(spread))


def best_attributes(
    categories: Iterable[int], epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> AttributeReports:
    """The better of two ways to report several attributes at one level: shares of it for all, or one at the whole.

    Args:
        categories: Number of categories of each attribute.
        epsilon: Level of all that a client sends, or alpha = exp(-epsilon) instead.

    Raises:
        NotALevel, OutOfRange: for what is no level, no attribute, and fewer than two categories.

    Not claimed: that no third way has less error.

    >>> [best_attributes([4, 4, 4], epsilon).is_sampled for epsilon in (1, 12)]
    [True, False]
    """
    at = level(epsilon, alpha)
    sizes = [natural(k, "categories", least=2) for k in iterable(categories, "categories")]
    if not sizes:
        raise OutOfRange("there must be an attribute", came="none", where="categories")
    shares = at.scaled(Fraction(1, len(sizes)))
    shared = AttributeReports(tuple(best_report(k, shares) for k in sizes), (Fraction(1),) * len(sizes), at)
    if len(sizes) == 1:
        return shared
    whole = tuple(best_report(k, at) for k in sizes)
    roots = [max(1, isqrt(int((exact(how.variance) + 1) * _STEPS))) for how in whole]
    sampled = AttributeReports(whole, tuple(Fraction(root, sum(roots)) for root in roots), at)
    return sampled if sampled.variance < shared.variance else shared
