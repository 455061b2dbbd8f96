r"""Relax or tighten reports between two families of blocks, by a distribution that favours blocks with more common
categories.

.. math:: P(S_1 \mid S_2) = w(S_1)\,\bigl(1 + \gamma\,(|S_1 \cap S_2| - d_1 d_2/k)\bigr), \qquad
    \gamma = \frac{k(k-1)(k p_1 - d_1)}{d_1 (k - d_1)(k p_2 - d_2)},

is a distribution of S_1, the report at the lower epsilon, if all values are nonnegative, because both families are
balanced: proofs/theory/local-protocols.md. Rejection sampling draws S_1 given S_2, and S_2 given S_1 and the category.
The number of tries depends on the category, so the client may observe how long a draw takes, but the collector must
not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from utmost.core.sampling.random_bits import Randomness
from utmost.design.local.bits import draw_bits
from utmost.design.local.categories import Alpha, CategoryReport, Reports, chances_of

_MOST_STATES = 200


@dataclass(frozen=True, slots=True)
class CommonMembers:
    """The joint distribution of a report at a lower and a report at a higher epsilon; the probability of two reports
    depends on the number of categories that both contain.
    """

    lower: CategoryReport
    higher: CategoryReport

    def slope(self, a1: Alpha, a2: Alpha) -> Alpha:
        k, d1, d2 = self.lower.categories, self.lower.size, self.higher.size
        own, most = self.lower.inside_of(a1) * k - d1, self.higher.inside_of(a2) * k - d2
        return own * (k * (k - 1)) / (most * (d1 * (k - d1)))

    def tightened(self, reports: Reports, randomness: Randomness) -> Reports:
        """Draw a report at the lower epsilon from each report at the higher epsilon."""

        def blind(rows: NDArray[np.intp]) -> Reports:
            return self.lower.tightened(reports[rows], self.higher, np.zeros(len(rows), np.bool_), randomness)

        return self._accepted(blind, self.lower, self.higher.members(reports), randomness)

    def relaxed(self, values: NDArray[np.int64], reports: Reports, randomness: Randomness) -> Reports:
        """Draw a report at the higher epsilon for each client with a report at the lower epsilon."""

        def fresh(rows: NDArray[np.intp]) -> Reports:
            return self.higher.drawn(values[rows], randomness)

        return self._accepted(fresh, self.higher, self.lower.members(reports), randomness)

    def _accepted(
        self, draw: Callable[[NDArray[np.intp]], Reports], how: CategoryReport, members: Reports, randomness: Randomness
    ) -> Reports:
        """Draw reports until all are accepted. A report is accepted with a higher probability if it shares more members
        with ``members``.
        """
        inside = np.zeros((len(members), how.categories), np.bool_)
        np.put_along_axis(inside, members, True, axis=1)
        left = np.arange(len(members))
        accepted = draw(left)
        while left.size:
            drawn = draw(left)
            common = np.take_along_axis(inside[left], how.members(drawn), axis=1).sum(axis=1)
            takes, levels = np.zeros(len(common), np.bool_), [self.lower.level, self.higher.level]
            counts = np.unique(common)
            for start in range(0, len(counts), _MOST_STATES):
                some = counts[start : start + _MOST_STATES]
                rows = np.flatnonzero(np.isin(common, some))
                states = np.searchsorted(some, common[rows]).astype(np.uint8)
                formulas = [partial(self._chance, common=int(count)) for count in some]
                takes[rows] = draw_bits(states, chances_of(formulas, levels), randomness)
            accepted[left[takes]] = drawn[takes]
            left = left[~takes]
        return accepted

    def _chance(self, a1: Alpha, a2: Alpha, common: int) -> Alpha:
        """Return the probability to accept a set with ``common`` common categories; 1 if one set contains the other."""
        k, d1, d2 = self.lower.categories, self.lower.size, self.higher.size
        mean, slope = Fraction(d1 * d2, k), self.slope(a1, a2)
        return (slope * (common - mean) + 1) / (slope * (min(d1, d2) - mean) + 1)
