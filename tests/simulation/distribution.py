"""The noise of many histories, against the distribution that it must have at each two levels."""

from collections import Counter
from itertools import combinations

import numpy as np
from scipy import stats

from simulation.calls import FIRST, LEVELS, noise
from utmost.exact import level
from utmost.gradual import joint_pmf

SPAN = 8
"""Noise up to here is counted by value."""


class Noise:
    """The noise of each cell at two levels, over many histories."""

    def __init__(self):
        self.pairs = {pair: Counter() for pair in combinations(LEVELS[1:], 2)}

    def take(self, history):
        """All that one history answered."""
        for name, version in {item[:2] for item in history.answers if item[0] in FIRST}:
            for pair, seen in self.pairs.items():
                items = [(name, version, epsilon) for epsilon in pair]
                if all(item in history.answers for item in items):
                    seen.update(zip(*(noise(item, history.answers[item]) for item in items), strict=True))

    def add(self, other):
        """All that others answered."""
        for pair, seen in other.pairs.items():
            self.pairs[pair] += seen

    def p_value(self):
        """The least of the p-values of chi-square tests against the joint distribution, one for each pair of levels."""
        return min(self._p_value(*pair) for pair in self.pairs.items())

    def _p_value(self, pair, seen):
        count, axis = sum(seen.values()), np.arange(-SPAN, SPAN + 1)
        if not count:
            return 1.0
        grid = np.meshgrid(axis, axis, indexing="ij")
        expected = count * joint_pmf(grid, [level(epsilon) for epsilon in pair]).astype(float).ravel()
        observed = np.array([seen[cell] for cell in zip(*(each.ravel().tolist() for each in grid), strict=True)])
        often = expected >= 5
        expected, observed = (np.append(each[often], count - each[often].sum()) for each in (expected, observed))
        return stats.chisquare(observed, expected).pvalue if often.any() else 1.0
