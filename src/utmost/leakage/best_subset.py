"""The set of secrets on which one guess gains most: a search that leaves out whatever cannot be best."""

from collections.abc import Callable
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from utmost.exact import Array, is_exact

Worth = Callable[[int, Any], Any]
"""What a set is worth, by its size k and by sum_y max over the set of C[x, y]: larger for larger sums."""


def best_subset(matrix: Array, worth: Worth) -> tuple[int, ...]:
    """The set S of rows with the largest worth(|S|, sum_y max_{x in S} C[x, y]).

    The sum grows by less and less as rows are added (it is submodular), so no j rows add more than the j that would
    each add most by themselves: that bounds all sets that contain what is chosen already.

    Args:
        matrix: (n, m), nonnegative.
        worth: must not grow when only the size does: then a row that adds nothing is never needed.

    Cost: exponential in n in the worst case, as the problem is NP-hard; a fraction of a second for random matrices with
    some tens of rows.

    >>> from utmost.exact import as_array
    >>> best_subset(as_array([["2/3", "1/3"], ["1/2", "1/2"], ["1/3", "2/3"]]), lambda k, f: (f - 1) / k)
    (0, 2)
    """
    scale = lcm(*(x.denominator for x in matrix.flat)) if is_exact(matrix) else None
    rows = matrix if scale is None else np.array([[int(x * scale) for x in row] for row in matrix], dtype=object)
    value: Worth = worth if scale is None else lambda k, f: worth(k, Fraction(f, scale))
    best: tuple[Any, tuple[int, ...]] = (value(1, rows[0].sum()), (0,))
    open_sets: list[tuple[tuple[int, ...], Array, Array]] = [((), np.zeros_like(rows[0]), np.arange(len(rows)))]
    while open_sets:
        chosen, reached, left = open_sets.pop()
        gains = np.maximum(rows[left] - reached, 0).sum(axis=1)
        order = np.argsort(-gains, kind="stable")
        left, gains = left[order][gains[order] > 0], gains[order][gains[order] > 0]
        if not left.size or _bound(value, len(chosen), reached.sum(), gains) <= best[0]:
            continue
        more, further = (*chosen, int(left[0])), np.maximum(reached, rows[left[0]])
        best = max(best, (value(len(more), further.sum()), more), key=lambda found: found[0])
        open_sets += [(chosen, reached, left[1:]), (more, further, left[1:])]
    return tuple(sorted(best[1]))


def _bound(value: Worth, size: int, total: Any, gains: Array) -> Any:
    """No set that holds the chosen rows, and some of those left, is worth more."""
    return max(value(size + j + 1, reached) for j, reached in enumerate(total + np.cumsum(gains)))
