r"""Report several attributes: either all attributes, each with a part of epsilon, or one random attribute with all of
epsilon.

Let m be the number of attributes, and V_j(epsilon) the sum of the variances of the counts of attribute j, per client.
*Sharing* epsilon has the total variance sum_j V_j(epsilon/m). *Sampling* attribute j with probability s_j,
independently of the values, has

.. math:: \sum_j \frac{V_j(\epsilon) + 1}{s_j} - 1,

because counts are multiplied by 1/s_j. With sampling, one client's estimate has the second moment (variance + 1)/s_j
for the client's own category, and variance/s_j for another category. The best s_j are proportional to sqrt(V_j + 1).
For small epsilon, V is about 1/epsilon^2, so sharing multiplies each variance by m^2, and sampling by m. For large
epsilon, the random choice of the attribute adds more variance than the report.
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
    """A method to report several attributes such that all that a client sends together satisfies one level.

    Attributes:
        reports: Kind of report of each attribute.
        chances: For each attribute, the probability that a client reports this attribute; all 1 if every client reports
            all attributes.
        level: Level of all that a client sends together.
    """

    reports: tuple[CategoryReport, ...]
    chances: tuple[Fraction, ...]
    level: Level

    @property
    def is_sampled(self) -> bool:
        """Whether each client reports only one attribute."""
        return self.chances[0] < 1

    @property
    def variance(self) -> float:
        """The sum of the variances of the estimated counts of all categories of all attributes, per client."""
        pairs = zip(self.reports, self.chances, strict=True)
        return float(sum((exact(how.variance) + 1) / chance - 1 for how, chance in pairs))

    def report(self, values: Any, *, randomness: Randomness | None = None) -> list[tuple[NDArray[np.int64], Reports]]:
        """Draw reports; return, for each attribute, the clients who report it and their reports.

        Args:
            values: Integers (clients, attributes), each below the number of its attribute's categories.
            randomness: Source of random bits, by default the operating system.

        Raises:
            OutOfRange: if ``values`` has a wrong shape, or a value that is no category of its attribute.
        """
        table, random = plain_array(values, "table of categories"), secure(randomness)
        if table.ndim != 2 or table.shape[1] != len(self.reports) or table.dtype.kind not in "iu":
            required = f"values must be integers of the shape (clients, {len(self.reports)})"
            raise OutOfRange(required, came=f"{table.dtype} of shape {table.shape}", where="values")
        most = np.array([how.categories for how in self.reports])
        if table.size and not ((table >= 0) & (table < most)).all():
            client, attribute = np.argwhere((table < 0) | (table >= most))[0].tolist()
            required = f"attribute {attribute} must have values in 0..{most[attribute] - 1}"
            remedy = "Correct the value of this client; it is never shown."
            raise OutOfRange(required, came=f"another value for client {client}", where="values", remedy=remedy)
        if self.is_sampled:
            ends = list(accumulate(self.chances))[:-1]
            distribution = Categorical(lambda bits: [Interval.of(end, bits) for end in ends], word_bits=16, lookup=True)
            drawn = distribution.draw(len(table), random)
            clients = [np.flatnonzero(drawn == attribute) for attribute in range(len(self.reports))]
        else:
            clients = [np.arange(len(table)) for _ in self.reports]
        return [
            (rows, report_categories(table[rows, attribute], how, randomness=random))
            for attribute, (rows, how) in enumerate(zip(clients, self.reports, strict=True))
        ]

    def counts(self, attribute: int, reports: Any, clients: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return unbiased estimates of the numbers of clients in the categories of an attribute, and their standard
        errors.

        Args:
            attribute: Index of the attribute.
            reports: Reports of the clients who reported this attribute.
            clients: Number of all clients, including those who reported another attribute.
        """
        clients = integer(clients, "clients")
        index = natural(attribute, "attribute", 0, len(self.reports) - 1)
        how, chance = self.reports[index], float(self.chances[index])
        estimates = CategoryCounts.of(reports, how).estimates(how) / chance
        own, other = how.variances
        true = np.clip(estimates, 0, clients)
        spread = true * ((own + 1) / chance - 1) + (clients - true) * other / chance
        return np.asarray(estimates), np.asarray(np.sqrt(spread))


def best_attributes(
    categories: Iterable[int], epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> AttributeReports:
    """Return the better of two methods: report every attribute with a part of epsilon, or one random attribute with all
    of epsilon.

    Args:
        categories: Number of categories of each attribute.
        epsilon, alpha: Level of all that a client sends together, as epsilon or as alpha = exp(-epsilon).

    Raises:
        NotALevel, OutOfRange: if the level is invalid, if there is no attribute, or if an attribute has fewer than two
            categories.

    A method other than the two that are compared here may have a smaller error.

    >>> [best_attributes([4, 4, 4], epsilon).is_sampled for epsilon in (1, 12)]
    [True, False]
    """
    at = level(epsilon, alpha)
    sizes = [natural(k, "categories", least=2) for k in iterable(categories, "categories")]
    if not sizes:
        remedy = "Pass the number of categories of each attribute, such as [4, 2]."
        raise OutOfRange("there must be at least one attribute", came="none", where="categories", remedy=remedy)
    shares = at.scaled(Fraction(1, len(sizes)))
    shared = AttributeReports(tuple(best_report(k, shares) for k in sizes), (Fraction(1),) * len(sizes), at)
    if len(sizes) == 1:
        return shared
    whole = tuple(best_report(k, at) for k in sizes)
    roots = [max(1, isqrt(int((exact(how.variance) + 1) * _STEPS))) for how in whole]
    sampled = AttributeReports(whole, tuple(Fraction(root, sum(roots)) for root in roots), at)
    return sampled if sampled.variance < shared.variance else shared
