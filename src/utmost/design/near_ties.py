"""Which entries of a matrix may break privacy: floats settle nearly all, exact numbers need only see the rest."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from utmost.design.levels import alphas_above
from utmost.exact import Array, round_up
from utmost.privacy import PrivacyType

# Three roundings of 2^-53 separate a float product of nearest floats from the exact one.
_SURELY = 1 + 2.0**-50
# Products of floats at least this large do not lose places to underflow.
_LEAST = 1e-280
# Entries of a block of edges times outcomes: bounds the memory, not the answer.
_BLOCK = 1 << 20


def doubtful_ratios(ptype: PrivacyType, matrix: Array) -> Iterator[tuple[int, int, int, Fraction]]:
    """(x, y, r, alpha^d(x, y)) for all essential edges in both directions where X[x, r] >= alpha^d X[y, r] is not sure.

    Args:
        ptype: space and level.
        matrix: (n, k) Fractions, not negative.

    Cost: O(edges k) float operations, and one exact number for each doubt.
    """
    near = matrix.astype(np.float64)
    edges = ptype.space.edges
    factors = alphas_above(ptype, edges)
    rounded: dict[Fraction, float] = {factor: round_up(factor) for factor in set(factors.tolist())}
    above = np.array([rounded[factor] for factor in factors.tolist()], dtype=np.float64)
    step = max(1, _BLOCK // max(1, matrix.shape[1]))
    for start in range(0, len(edges), step):
        block = edges[start : start + step]
        for x, y in ((block[:, 0], block[:, 1]), (block[:, 1], block[:, 0])):
            needed = above[start : start + step, None] * near[y]
            here = near[x]
            doubt = (here < _SURELY * needed) | ((needed < _LEAST) & (here < _LEAST))
            for e, r in np.argwhere(doubt).tolist():
                yield int(x[e]), int(y[e]), r, factors[start + e]
