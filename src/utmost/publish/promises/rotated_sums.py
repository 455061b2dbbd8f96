"""Columns as signed sums of them, and back: fractions, kept or rounded by a coin.

Two columns are their sum and difference, multiples of 1/2 when they are read back; more are the sums of `SignedCells`.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import integer, one_of, sequence, sequence_of
from utmost.core.exact.arrays import objects, plain_array, with_room_for
from utmost.core.exact.levels import Level
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.joint_cells import RotatedPair
from utmost.core.noise.signed_cells import SignedCells
from utmost.core.sampling.integers import Integers, add, minus, narrowed, uniform_integers
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.errors import OutOfRange
from utmost.publish.workloads.measuring.cells_together import CellsLaw

Halves = Literal["toss", "keep"]
"""Treatment of multiples of 1/2 and other fractions: rounded up or down by a coin, or kept."""

_LARGEST = 1 << 52  # below it, floats hold every multiple of 1/2


def turned(first: Any, second: Any) -> tuple[Any, Any]:
    """The sum and the difference of two columns of integers: what to put in a `Ledger` or `GradualRelease`, cells=2.

    >>> turned([601, 370], [332, 222])
    (array([933, 592]), array([269, 148]))
    """
    left, right = (whole_numbers(values, "column") for values in (first, second))
    if left.shape != right.shape:
        raise OutOfRange("the two columns must have one length", came=(left.shape, right.shape))
    return add(left, right), minus(left, right)


def turned_back(
    total: Any, apart: Any, *, halves: Halves = "keep", randomness: Randomness | None = None
) -> tuple[Any, Any]:
    """Two columns from a response to their sum and one to their difference.

    Args:
        total, apart: the responses, integers.
        halves: "keep" gives multiples of 1/2, as floats (or Fractions where floats do not hold them); "toss" rounds
            them by a fair coin each, which leaves the mean of |error| as it is.
        randomness: Source of the coins; the operating system's if left out.

    >>> turned_back([933, 592], [270, 148])
    (array([601.5, 370. ]), array([331.5, 222. ]))
    """
    left, right = whole_numbers(total, "total"), whole_numbers(apart, "apart")
    if left.shape != right.shape:
        raise OutOfRange("the two responses must have one length", came=(left.shape, right.shape))
    doubled = add(left, right), minus(left, right)
    if one_of(halves, Halves, "halves") == "keep":
        return _halved(doubled[0]), _halved(doubled[1])
    bits = secure(randomness)
    return _tossed(doubled[0], bits), _tossed(doubled[1], bits)


def signed_sums(columns: Sequence[Any], rows: Sequence[Sequence[int]]) -> list[Integers]:
    """The sums that integer rows take of columns.

    >>> [sums.tolist() for sums in signed_sums([[5, 1], [2, 2], [1, 0]], [[1, 0, 0], [1, -1, -1], [0, 1, -1]])]
    [[5, 1], [2, -1], [1, 2]]
    """
    parts = [whole_numbers(column, "column") for column in sequence(columns, "columns")]
    return [_combined(parts, sequence_of(row, integer, "rows")) for row in sequence(rows, "rows")]


def read_off(
    sums: Sequence[Any], estimate: tuple[Any, int], *, halves: Halves = "keep", randomness: Randomness | None = None
) -> list[Any]:
    """The columns from responses to their signed sums, by a matrix of integers over a denominator.

    Args:
        sums: the responses, one for each row.
        estimate: Estimate as of `SignedCells.estimate`.
        halves: "keep" gives the nearest floats of fractions (or Fractions where floats hold no half); "toss" rounds
            each up with the chance of its fraction, so that the mean stays what it is.
        randomness: Source of the coins; the operating system's if left out.

    >>> from utmost.noise import SignedCells
    >>> law = SignedCells(1, [[1, 0, 0], [1, -1, -1], [0, 1, -1]], ["8/15", "7/15", "7/15"])
    >>> [column.tolist() for column in read_off([[5, 1], [3, -1], [1, 2]], law.estimate)]
    [[5.0, 1.0], [1.5, 2.0], [0.5, 0.0]]
    """
    gain, denominator = estimate
    responses = [whole_numbers(column, "sums") for column in sequence(sums, "sums")]
    bits = secure(randomness) if one_of(halves, Halves, "halves") == "toss" else None
    columns = []
    for row in gain:
        numerators = _combined(responses, [int(entry) for entry in row])
        columns.append(_parts(numerators, denominator) if bits is None else _rounded(numerators, denominator, bits))
    return columns


def sums_of(law: CellsLaw, columns: Sequence[Integers]) -> list[Integers]:
    """The numbers that a group's noise is added to: sum and difference of a pair, signed sums, or the columns."""
    if isinstance(law, SignedCells):
        return signed_sums(columns, law.rows)
    return list(turned(*columns) if isinstance(law, RotatedPair) else columns)


def columns_of(
    law: CellsLaw, sums: Sequence[Integers], *, halves: Halves, randomness: Randomness | None = None
) -> list[Any]:
    """The columns of a group, read off the noisy sums that `sums_of` gave."""
    if isinstance(law, SignedCells):
        return read_off(sums, law.estimate, halves=halves, randomness=randomness)
    if isinstance(law, RotatedPair):
        return list(turned_back(*sums, halves=halves, randomness=randomness))
    return list(sums)


def ratios_of(law: CellsLaw) -> tuple[Level, ...]:
    """The level of one unit of each sum of a group whose noise is geometric."""
    if isinstance(law, SignedCells):
        return law.ratios
    assert isinstance(law, RotatedPair | Geometric), "geometric noise"
    return (law.ratio,) * (2 if isinstance(law, RotatedPair) else 1)


def _combined(columns: Sequence[Integers], row: Sequence[int]) -> Integers:
    """The sum of columns times integers, in Python ints where int64 might not hold it."""
    times = sum(map(abs, row))
    wide = (with_room_for(column, times) * factor for column, factor in zip(columns, row, strict=True))
    return narrowed(sum(wide, np.zeros(columns[0].shape, np.int64)))


def whole_numbers(values: Any, name: str) -> Integers:
    """A list of integers as a row of int64, or of Python ints."""
    array = plain_array(values, name)
    if array.ndim != 1 or (array.dtype != object and array.dtype.kind not in "iu") or array.dtype == np.uint64:
        array = objects(list(values)) if np.iterable(values) else array
    if array.ndim != 1 or (array.dtype == object and not all(isinstance(x, int | np.integer) for x in array)):
        raise OutOfRange(f"{name} must be a list of integers", came="another number")
    return array if array.dtype == object else array.astype(np.int64)


def _halved(doubled: Integers) -> NDArray[Any]:
    return _parts(doubled, 2)


def _parts(numerators: Integers, denominator: int) -> NDArray[Any]:
    """The fraction of each numerator."""
    if not numerators.size or (int(np.abs(numerators).max()) < _LARGEST and denominator < _LARGEST):
        return numerators.astype(np.float64) / denominator
    return objects(Fraction(int(x), denominator) for x in numerators)


def _tossed(doubled: Integers, randomness: Randomness) -> Integers:
    """Half of each, rounded up or down by a coin of its own, which is drawn whether it is needed or not."""
    coins = (randomness.words(doubled.size, 8) & 1).astype(np.int64)
    return add(doubled, coins) >> 1


def _rounded(numerators: Integers, denominator: int, randomness: Randomness) -> Integers:
    """Round each fraction to the integer below or above, above with the chance of its distance from the one below: a
    number below the denominator is added, and the rest dropped.
    """
    if denominator == 1:
        return numerators
    if denominator == 2:
        return _tossed(numerators, randomness)
    total = add(numerators, uniform_integers(denominator, numerators.size, randomness))
    return narrowed((total if denominator < _LARGEST else total.astype(object)) // denominator)
