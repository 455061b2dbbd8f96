"""Least squares along an axis of hat functions, in one eigenspace of the other axes, with integer arithmetic."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, Floats
from utmost.publish.workloads.measuring.row_sets import row_sums, row_values
from utmost.publish.workloads.reconstruction.certain_inverse import rounded_inverse
from utmost.tables.axes.domain import Marginal

_DIGITS = 56  # binary digits of C beyond those of the smallest d/w_K


@dataclass(frozen=True, slots=True, eq=False)
class HatSpace:
    """The equations of least squares along the axis of hat functions, in one eigenspace T of the other axes."""

    space: Marginal  # T: a level for each of the other axes
    size: int  # the number of values of the axis
    base: int  # the number of values in a group of the finest measured level in T; 0 if none is measured
    # the weight of each measured marginal in T, times the number of cells of its groups on the other axes
    weights: Mapping[Marginal, int]
    rows: Mapping[Marginal, int]  # the row set that each marginal measures along the axis, see `row_sets`
    cells: Mapping[Marginal, int]  # for each marginal, the number of cells of a group on the other axes
    project: Any  # function: projects on T and multiplies by the number of cells of the other axes

    @property
    def sets(self) -> list[int]:
        """The different row sets, the base first."""
        return [self.base, *sorted({row for row in self.rows.values() if row != self.base})]

    @property
    def totals(self) -> dict[int, int]:
        """For each row set, the sum of the weights of the marginals that measure it."""
        return {
            row_set: sum(self.weights[f] for f, rows in self.rows.items() if rows == row_set) for row_set in self.sets
        }

    @property
    def gain(self) -> Array:  # C times 2^shift; C as in `hat_errors`
        return _gain(self.size, tuple(self.sets), tuple(self.totals.values()))[0]

    @property
    def shift(self) -> int:
        """The number of binary digits after the point in C."""
        return _gain(self.size, tuple(self.sets), tuple(self.totals.values()))[1] if self.base else 0

    @property
    def places(self) -> dict[Marginal, int]:
        """For each marginal, the index of its row set in `sets`."""
        sets = self.sets
        return {marginal: sets.index(rows) for marginal, rows in self.rows.items()}

    def relative(self, marginal: Marginal) -> Fraction:
        """Return (weight of a marginal) / (total weight of its row set) / (number of cells in each of its groups)."""
        return Fraction(self.weights[marginal], self.totals[self.rows[marginal]] * self.cells[marginal])

    def coefficients(self, factor: NDArray[Any]) -> list[NDArray[Any]]:
        """Return an answer's coefficients times 2^shift: w - H' C H w for the base, C H w for the other row sets."""
        if not self.base:
            return []
        row = factor[:: self.base]
        sets, gain = self.sets[1:], self.gain
        across = [row_sums(row, self.size, self.base, row_set) for row_set in sets]
        taken = gain @ np.concatenate(across) if sets else np.zeros(0, dtype=object)
        pieces = np.split(taken, np.cumsum([len(transformed) for transformed in across])[:-1]) if sets else []
        rest = row * (1 << self.shift)
        for row_set, piece in zip(sets, pieces, strict=True):
            rest = rest - row_values(piece, self.size, self.base, row_set)
        return [rest, *pieces]

    def float_coefficients(self, rows: Floats) -> tuple[list[Floats], list[Floats]]:
        """Return `coefficients` of several answers as floats, and bounds on their errors.

        ``rows`` has the shape (base groups, answers). Each returned list has one array (rows of the set, answers) for
        each row set.
        """
        if not self.base:
            return [], []
        sets = self.sets[1:]
        gain = (self.gain / (1 << self.shift)).astype(np.float64)

        def applied(by: Floats, values: Floats, sign: int) -> list[Floats]:
            across = [row_sums(values, self.size, self.base, row_set) for row_set in sets]
            taken = by @ np.concatenate(across) if sets else np.zeros((0, values.shape[1]))
            pieces = np.split(taken, np.cumsum([len(transformed) for transformed in across])[:-1]) if sets else []
            spread = [
                row_values(piece, self.size, self.base, row_set) for row_set, piece in zip(sets, pieces, strict=True)
            ]
            return [np.asarray(values + sign * sum(spread, np.zeros(values.shape))), *pieces]

        # A sum of n products of floats has an error below n 2^-52 times the sum of their absolute values.
        sizes = applied(np.abs(gain), np.abs(rows), 1)
        return applied(gain, rows, -1), [size * ((len(rows) + len(gain) + 8) * 2.0**-51) for size in sizes]

    def estimate(self, lifted: Mapping[Marginal, NDArray[Any]]) -> tuple[NDArray[Any], int]:
        """Return (estimates of the base groups) * divisor * (number of cells of the other axes), and the divisor."""
        known: list[tuple[NDArray[Any], int]] = []
        for row_set in self.sets:
            entering = {
                marginal: Fraction(self.weights[marginal], self.cells[marginal])
                for marginal, rows in self.rows.items()
                if rows == row_set
            }
            least = math.gcd(*(int(weight) for weight in entering.values()))
            total = sum(lifted[marginal].astype(object) * int(weight / least) for marginal, weight in entering.items())
            known.append((self.project(np.asarray(total), self.space), self.totals[row_set] // least))
        common = math.lcm(*(weight for _, weight in known))
        first, *others = (sums * (common // weight) for sums, weight in known)
        estimate = first * (1 << self.shift)
        if others:
            sets = self.sets[1:]
            off = [
                sums - row_sums(first, self.size, self.base, row_set)
                for sums, row_set in zip(others, sets, strict=True)
            ]
            moved = np.tensordot(self.gain, np.concatenate(off), axes=1)
            for row_set, piece in zip(
                sets, np.split(moved, np.cumsum([len(row_set) for row_set in off])[:-1]), strict=True
            ):
                estimate = estimate + row_values(piece, self.size, self.base, row_set)
        return estimate, common << self.shift


@lru_cache(maxsize=32)
def _gain(size: int, sets: tuple[int, ...], totals: tuple[int, ...]) -> tuple[Array, int]:
    """Return C = (H H' + diag(d/w))^-1 as integers, and the binary logarithm of the divisor of these integers."""
    # Use integers: all readers of a release must compute the same estimates on every machine.
    base, *others = sets
    if not others:
        return np.zeros((0, 0), dtype=object), 0
    counts = [len(row_sums(np.zeros(size // base, dtype=np.int64), size, base, other)) for other in others]
    ratios = [Fraction(totals[0], weight) for weight in totals[1:]]
    fine = _DIGITS + max(0, *(_log2_above(1 / ratio) for ratio in ratios))
    rows = np.concatenate(
        [
            row_values(np.eye(count, dtype=np.int64), size, base, row_set).T
            for count, row_set in zip(counts, others, strict=True)
        ]
    )
    products = np.concatenate([row_sums(rows.T.copy(), size, base, other) for other in others]).astype(object) * (
        1 << fine
    )
    for place, ratio in enumerate(np.repeat(np.array(ratios, dtype=object), counts)):
        products[place, place] += round(ratio * (1 << fine))
    shift = _DIGITS + max(0, *(_log2_above(1 / ratio) for ratio in ratios))
    return rounded_inverse(products, 1 << (fine + shift)), shift


def _log2_above(number: Fraction) -> int:
    return number.numerator.bit_length() - number.denominator.bit_length() + 1
