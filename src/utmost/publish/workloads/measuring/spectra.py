"""How the sums over one axis lie among the eigenspaces of its levels, in exact rationals.

An axis whose levels have groups of one size each is a chain of block sizes 1 = b_0 | b_1 | ... | b_q = n. P_t is
averaging over the groups of level t, and Q_t = P_t - P_{t+1} projects on what level t shows and level t+1 does not;
Q_q = P_q is the mean. The **spectrum** of a row w is |Q_t w|^2 for each t: the only numbers by which w enters any
variance, since the least-squares estimate from sums over levels is a sum over the Q_t. A product of rows has the
product of spectra.

Source: orthogonal block structure, [nelder1965].
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Chain = tuple[int, ...]
"""The sizes of an axis's blocks, by level and then for "all": 1 first, each dividing the next."""


def group_spectrum(chain: Chain, level: int) -> list[Fraction]:
    """|Q_t w|^2 for w the sum over one group of a level: b^2 (1/b_t - 1/b_{t+1}) at and above the level, b its size.

    >>> [str(square) for square in group_spectrum((1, 25, 200), 1)]
    ['0', '175/8', '25/8']
    """
    size = chain[level]
    return _steps([Fraction(size) if t < level else Fraction(size * size, block) for t, block in enumerate(chain)])


def row_spectrum(chain: Chain, row: NDArray[np.bool_]) -> list[Fraction]:
    """|Q_t w|^2 for w the sum over the values that ``row`` takes.

    >>> [str(square) for square in row_spectrum((1, 2, 4), np.array([True, True, True, False]))]
    ['1/2', '1/4', '9/4']
    """
    parts = [row.reshape(-1, block).sum(axis=1, dtype=np.int64) for block in chain]
    squares = [sum(int(number) ** 2 * int(times) for number, times in _counted(part)) for part in parts]
    return _steps([Fraction(square, block) for square, block in zip(squares, chain, strict=True)])


def rows_spectrum(chain: Chain, rows: NDArray[Any]) -> list[Fraction]:
    """The sum of |Q_t w|^2 over rows w of Python integers; (rows, values).

    >>> [str(square) for square in rows_spectrum((1, 2), np.array([[2, -1], [1, 1]], dtype=object))]
    ['9/2', '5/2']
    """
    parts = [rows.reshape(len(rows), -1, block).sum(axis=2) for block in chain]
    return _steps([Fraction(int((part * part).sum()), block) for part, block in zip(parts, chain, strict=True)])


def window_spectrum(chain: Chain, length: int) -> list[Fraction]:
    """The sum of |Q_t w|^2 over the sums of so many neighbouring values.

    A window takes an end of its first block, whole blocks, and the beginning of its last.

    >>> [str(square) for square in window_spectrum((1, 2, 4), 2)]
    ['1', '2', '3']
    """
    starts = np.arange(chain[-1] + 1 - length)
    squares = []
    for block in chain:
        first = np.minimum(length, block - starts % block)
        whole, last = np.divmod(length - first, block)
        counted = _counted(first * first + whole * block * block + last * last)
        squares.append(Fraction(sum(square * times for square, times in counted), block))
    return _steps(squares)


def runs_spectrum(chain: Chain, starts: Sequence[int]) -> list[Fraction]:
    """The sum of |Q_t w|^2 over the sums of runs of values that begin at ``starts`` and partition the axis.

    A run and a block, both being intervals, share one interval or nothing; |P_t w|^2 is the sum over the blocks of the
    square of its length over the block's.

    >>> [str(square) for square in runs_spectrum((1, 3), [0, 1])]
    ['4/3', '5/3']
    """
    squares = []
    for block in chain:
        cuts = np.union1d(np.asarray(starts), np.arange(0, chain[-1], block))
        lengths = np.diff(cuts, append=chain[-1])
        squares.append(Fraction(sum(size * size * times for size, times in _counted(lengths)), block))
    return _steps(squares)


def prefix_spectrum(chain: Chain) -> list[Fraction]:
    """The sum of |Q_t w|^2 over the n sums of the first 1, 2, ..., n values.

    A prefix is cut inside one block of level t+1. If it takes c = a f + r of that block's B values, 0 <= r < f = b_t,
    then |Q_t w|^2 = a f + r^2/f - c^2/B; every c comes n/B times.

    >>> [str(square) for square in prefix_spectrum((1, 2))]
    ['1/2', '5/2']
    """
    values = chain[-1]
    squares = []
    for inner, outer in pairwise(chain):
        groups = outer // inner
        whole = Fraction(inner * inner * groups * (groups - 1), 2)
        cut = Fraction(groups * _squares(inner - 1), inner) - Fraction(_squares(outer - 1), outer)
        squares.append(Fraction(values, outer) * (whole + cut))
    return [*squares, Fraction(_squares(values), values)]


def range_spectrum(chain: Chain) -> list[Fraction]:
    """The sum of |Q_t w|^2 over the n(n+1)/2 sums of neighbouring values.

    A range is the difference of two of the n+1 prefixes (the empty one among them), and over all pairs
    sum |x_i - x_j|^2 = (n+1) sum |x_i|^2 - |sum x_i|^2. The prefixes add up to the row (n, n-1, ..., 1), which is
    straight: its means over the g groups of a block go down in steps of their size f, so |Q_t|^2 is
    f^3 g (g^2 - 1)/12 a block.

    >>> [str(square) for square in range_spectrum((1, 2))]
    ['1', '3']
    """
    values = chain[-1]
    straight = []
    for inner, outer in pairwise(chain):
        groups = outer // inner
        straight.append(Fraction(values, outer) * Fraction(inner**3 * groups * (groups**2 - 1), 12))
    straight.append(Fraction(values * (values + 1) ** 2, 4))
    return [(values + 1) * square - line for square, line in zip(prefix_spectrum(chain), straight, strict=True)]


def _steps(squares: Sequence[Fraction]) -> list[Fraction]:
    """|Q_t w|^2 = |P_t w|^2 - |P_{t+1} w|^2, with nothing above the last."""
    return [finer - coarser for finer, coarser in pairwise([*squares, Fraction(0)])]


def _counted(parts: NDArray[np.int64]) -> list[tuple[int, int]]:
    return list(zip(*(part.tolist() for part in np.unique(parts, return_counts=True)), strict=True))


def _squares(last: int) -> int:
    return last * (last + 1) * (2 * last + 1) // 6
