"""The spectra of sums over one axis: their squared lengths in the eigenspaces of the axis' levels, as exact rationals.

If all groups of each level of an axis have one size, their sizes are a chain of divisors 1 = b_0 | b_1 | ... | b_q = n.
Let P_t average over the groups of level t. Then Q_t = P_t - P_{t+1} projects on the vectors that are constant in each
group of level t and have mean 0 in each group of level t+1; Q_q = P_q is the mean. The **spectrum** of a row w is |Q_t
w|^2 for each t. The variance of the estimate of w depends on w only through its spectrum, since the least-squares
estimate from sums over levels is a sum over the Q_t. The spectrum of a product of rows is the product of their spectra.

Source: orthogonal block structure, [nelder1965].
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Chain = tuple[int, ...]
"""The sizes of an axis' groups by level, then the number of values; the first is 1, and each divides the next."""


def group_spectrum(chain: Chain, level: int) -> list[Fraction]:
    """Return |Q_t w|^2 for the sum w over one group of size b: b^2 (1/b_t - 1/b_{t+1}) from its level on, else 0."""
    size = chain[level]
    return _steps([Fraction(size) if t < level else Fraction(size * size, block) for t, block in enumerate(chain)])


def row_spectrum(chain: Chain, row: NDArray[np.bool_]) -> list[Fraction]:
    """Return |Q_t w|^2 for the sum w over the values for which ``row`` is true."""
    parts = [row.reshape(-1, block).sum(axis=1, dtype=np.int64) for block in chain]
    squares = [sum(int(number) ** 2 * int(times) for number, times in _counted(part)) for part in parts]
    return _steps([Fraction(square, block) for square, block in zip(squares, chain, strict=True)])


def rows_spectrum(chain: Chain, rows: NDArray[Any]) -> list[Fraction]:
    """Return the sum of |Q_t w|^2 over rows w of Python integers; ``rows`` has the shape (rows, values)."""
    parts = [rows.reshape(len(rows), -1, block).sum(axis=2) for block in chain]
    return _steps([Fraction(int((part * part).sum()), block) for part, block in zip(parts, chain, strict=True)])


def window_spectrum(chain: Chain, length: int) -> list[Fraction]:
    """Return the sum of |Q_t w|^2 over the sums w of ``length`` neighbouring values."""
    # A window consists of the end of a block, complete blocks, and the beginning of a block.
    starts = np.arange(chain[-1] + 1 - length)
    squares = []
    for block in chain:
        first = np.minimum(length, block - starts % block)
        whole, last = np.divmod(length - first, block)
        counted = _counted(first * first + whole * block * block + last * last)
        squares.append(Fraction(sum(square * times for square, times in counted), block))
    return _steps(squares)


def runs_spectrum(chain: Chain, starts: Sequence[int]) -> list[Fraction]:
    """Return the sum of |Q_t w|^2 over the sums w of runs that begin at ``starts`` and partition the axis."""
    # A run and a block are intervals, and so is their intersection; |P_t w|^2 is the sum over the blocks of the square
    # of the intersection's length over the block's length.
    squares = []
    for block in chain:
        cuts = np.union1d(np.asarray(starts), np.arange(0, chain[-1], block))
        lengths = np.diff(cuts, append=chain[-1])
        squares.append(Fraction(sum(size * size * times for size, times in _counted(lengths)), block))
    return _steps(squares)


def prefix_spectrum(chain: Chain) -> list[Fraction]:
    """Return the sum of |Q_t w|^2 over the n sums w of the first 1, 2, ..., n values."""
    # A prefix ends inside one block of level t+1, which has B values. If c = a f + r of these are in the prefix, where
    # 0 <= r < f = b_t, then |Q_t w|^2 = a f + r^2/f - c^2/B. Each c occurs n/B times.
    values = chain[-1]
    squares = []
    for inner, outer in pairwise(chain):
        groups = outer // inner
        whole = Fraction(inner * inner * groups * (groups - 1), 2)
        cut = Fraction(groups * _squares(inner - 1), inner) - Fraction(_squares(outer - 1), outer)
        squares.append(Fraction(values, outer) * (whole + cut))
    return [*squares, Fraction(_squares(values), values)]


def range_spectrum(chain: Chain) -> list[Fraction]:
    """Return the sum of |Q_t w|^2 over the n(n+1)/2 sums w of neighbouring values."""
    # A range is the difference of two of the n+1 prefixes x_i (one is empty), and over all pairs sum |x_i - x_j|^2 =
    # (n+1) sum |x_i|^2 - |sum x_i|^2. The prefixes add up to the row v = (n, n-1, ..., 1). In a block of g groups of
    # size f, the means of v over the groups decrease in steps of f, so |Q_t v|^2 = f^3 g (g^2 - 1)/12 for each block.
    values = chain[-1]
    straight = []
    for inner, outer in pairwise(chain):
        groups = outer // inner
        straight.append(Fraction(values, outer) * Fraction(inner**3 * groups * (groups**2 - 1), 12))
    straight.append(Fraction(values * (values + 1) ** 2, 4))
    return [(values + 1) * square - line for square, line in zip(prefix_spectrum(chain), straight, strict=True)]


def _steps(squares: Sequence[Fraction]) -> list[Fraction]:
    """Return |Q_t w|^2 = |P_t w|^2 - |P_{t+1} w|^2 for each t, from |P_t w|^2; the last is |P_q w|^2."""
    return [finer - coarser for finer, coarser in pairwise([*squares, Fraction(0)])]


def _counted(parts: NDArray[np.int64]) -> list[tuple[int, int]]:
    return list(zip(*(part.tolist() for part in np.unique(parts, return_counts=True)), strict=True))


def _squares(last: int) -> int:
    return last * (last + 1) * (2 * last + 1) // 6
