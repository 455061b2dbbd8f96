"""Sums over integers and integrals over reals of a user's function, accurate to about 13 digits, in bounded time.

The range is cut into blocks, each with a value and an estimated error. The block of the largest error is halved until
all errors together are negligible. Long sums use Romberg's extrapolation, but extrapolate to step 1 (the sum) instead
of step 0 (the integral). By the Euler-Maclaurin formula, the trapezoid sum of step h is a polynomial in h^2, up to an
error that vanishes rapidly.

Two approximations of a block that agree prove nothing: at a kink of the function they may agree by chance. So the error
of an integral is estimated by the absolute values of the last coefficients of the function's Chebyshev series, in which
nothing cancels. The error of a sum is estimated from three extrapolations.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import Unsupported

Function = Callable[[NDArray[Any]], NDArray[np.float64]]
"""A function from an array of n points to an array whose first axis has n values."""

Block = tuple[Any, Any]
QuadratureRule = Callable[[Block], tuple[NDArray[np.float64], float, tuple[Block, ...]]]
"""A function from a block to its value, an estimate of its error, and its halves (none if the value is exact)."""

_DIRECT = 64  # blocks of integers up to this size are summed term by term
_LEVELS = 5  # Romberg's steps are h, 2h, ..., 2^5 h
_GAIN = 64  # least factor between errors of Romberg's levels in a smooth block; 4 at a kink
_DOUBTED = 8  # number of Chebyshev coefficients that estimate an error; at a kink or jump some of them are large
_SETTLED = 1e-6  # largest accepted error, as a fraction of the value
_FRUITLESS = 32  # after this many halvings with little effect, the error counts as rounding
_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A value (an array) and an estimate of its error."""

    value: NDArray[np.float64]
    error: float


def integer_sum(f: Function, blocks: list[tuple[int, int]], relative: float = 1e-13, scale: float = 0.0) -> Enclosed:
    """The sum of f over the integers of blocks [low, high), accurate enough to add it to a number of size ``scale``.

    >>> float(integer_sum(lambda n: 1.0 / n**2.0, [(1, 10**6)]).value)
    1.64493306684772...
    """

    def romberg(block: tuple[int, int]) -> tuple[NDArray[np.float64], float, tuple[Block, ...]]:
        low, high = block
        if high - low <= _DIRECT:
            return f(np.arange(low, high)).sum(axis=0), 0.0, ()
        cells = 1 << _LEVELS
        h = (high - 1 - low) // cells
        nodes = low + h * np.arange(cells + 1)
        # The terms after the last complete cell are added one by one.
        rest = np.arange(low + h * cells + 1, high)
        values = f(np.concatenate([nodes, rest]))
        ends = (values[0] + values[cells]) / 2
        spacings = (2**n for n in range(_LEVELS, -1, -1))
        sums = [(values[: cells + 1 : s].sum(axis=0) - ends) * float(h * s) for s in spacings]
        steps = [float(h) * 2.0 ** (_LEVELS - i) for i in range(_LEVELS + 1)]
        fine, coarse, coarsest = (_extrapolated(sums[:n], steps[:n]) for n in (_LEVELS + 1, _LEVELS, _LEVELS - 1))
        # Extrapolations of two orders may agree by chance, but those of three rarely do.
        doubt = np.maximum(np.abs(fine - coarse), np.abs(coarse - coarsest) / _GAIN)
        middle = (low + high) // 2
        # A sum counts its two ends fully, and the trapezoid rule counts them by half.
        value = fine + ends + values[cells + 1 :].sum(axis=0)
        return value, float(doubt.sum()), ((low, middle), (middle, high))

    return _Adaptive(romberg, scale).measured(blocks, relative)


def integral(f: Function, blocks: list[tuple[float, float]], relative: float = 1e-13, scale: float = 0.0) -> Enclosed:
    """The integral of f over all blocks [low, high], accurate enough to add it to a number of size ``scale``.

    >>> float(integral(np.sqrt, [(0.0, 1.0)]).value)
    0.66666666666...
    """

    def clenshaw_curtis(block: tuple[float, float]) -> tuple[NDArray[np.float64], float, tuple[Block, ...]]:
        # Both ends of a block are nodes, so that no jump near them is missed.
        low, high = block
        half, middle = (high - low) / 2, (low + high) / 2
        nodes, weights, last = _cosine_rule(32)
        values = f(middle + half * nodes)
        value = half * np.tensordot(weights, values, axes=1)
        doubt = half * float(np.abs(np.tensordot(last, values, axes=1)).max(axis=0).sum())
        halves = ((low, middle), (middle, high)) if low < middle < high else ()
        return np.asarray(value), doubt, halves

    return _Adaptive(clenshaw_curtis, scale).measured(blocks, relative)


class _Adaptive:
    """Halves the block with the largest error until the sum of all errors is negligible."""

    def __init__(self, rule: QuadratureRule, scale: float) -> None:
        self.rule, self.scale = rule, scale
        self.total: Any = 0.0
        self.error = 0.0
        self.count = 0
        self.doubtful: list[tuple[float, int, Any, tuple[Block, ...]]] = []

    def measured(self, blocks: list[Block], relative: float) -> Enclosed:
        for block in blocks:
            self._measure(block)
        fruitless = 0
        while self.doubtful and self.error > relative * self._size() and fruitless < _FRUITLESS and self.count < _LIMIT:
            negative, _, value, halves = heapq.heappop(self.doubtful)
            self.total, self.error = self.total - value, self.error + negative
            fruitless += sum([self._measure(half) for half in halves]) > -0.75 * negative
        if self.error > _SETTLED * self._size():
            raise Unsupported(
                f"the expected cost must be computable to one part in {1 / _SETTLED:.0e}",
                came=f"a relative error of {self.error / max(self._size(), 1e-300):.1e}",
                remedy="Pass a cost function with fewer jumps.",
            )
        return Enclosed(np.asarray(self.total), max(self.error, 0.0))

    def _measure(self, block: Block) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            value, doubt, halves = self.rule(block)
        if not np.isfinite(value).all():
            raise Unsupported(
                "the expected cost must be finite, and at most the largest float",
                remedy="Use a cost that grows more slowly.",
            )
        self.total, self.error, self.count = self.total + value, self.error + doubt, self.count + 1
        if halves and doubt > 0:
            heapq.heappush(self.doubtful, (-doubt, self.count, value, halves))
        return doubt

    def _size(self) -> float:
        return max(float(np.abs(self.total).sum()), self.scale)


def _extrapolated(sums: list[Any], steps: list[float]) -> Any:
    """Neville's value at h^2 = 1 of the polynomial in h^2 through the trapezoid sums."""
    table = list(sums)
    for width in range(1, len(table)):
        for i in range(len(table) - width):
            near, far = steps[i + width] ** 2 - 1, steps[i] ** 2 - 1
            table[i] = table[i + 1] + (table[i + 1] - table[i]) * (near / (far - near))
    return table[0]


@lru_cache(maxsize=1)
def _cosine_rule(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the nodes cos(pi i/n) in ascending order, their weights, and the matrix that computes the last Chebyshev
    coefficients.
    """
    angles, even = np.pi * np.arange(n + 1) / n, np.arange(2, n + 1, 2)
    factors = np.where(even == n, 1.0, 2.0) / (even**2 - 1.0)
    weights = (2.0 / n) * (1.0 - np.cos(np.outer(angles, even)) @ factors)
    last = (2.0 / n) * np.cos(np.outer(np.arange(n - _DOUBTED + 1, n + 1), angles))
    weights[[0, n]] /= 2
    last[:, [0, n]] /= 2
    last[-1] /= 2
    return -np.cos(angles), weights, last
