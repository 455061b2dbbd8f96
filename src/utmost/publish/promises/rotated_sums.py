"""Convert columns to signed sums, and noisy signed sums back to columns; fractions stay or are rounded at random.

Two columns become their sum and difference, from which the columns are computed as multiples of 1/2; more columns
become the sums of `SignedCells`.
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
from utmost.publish.workloads.measuring.cells_together import CellsDistribution

Halves = Literal["toss", "keep"]
"""The treatment of fractions: "toss" rounds them up or down at random, "keep" leaves them as they are."""

_LARGEST = 1 << 52  # below it, floats hold every multiple of 1/2


def columns_of_pair(
    total: Any, difference: Any, *, halves: Halves = "keep", randomness: Randomness | None = None
) -> tuple[Any, Any]:
    """Compute two columns from their noisy sum and difference; "toss" rounds each multiple of 1/2 by a fair coin."""
    left, right = whole_numbers(total, "total"), whole_numbers(difference, "difference")
    if left.shape != right.shape:
        raise OutOfRange("the two responses must have the same length", came=(left.shape, right.shape))
    doubled = add(left, right), minus(left, right)
    if one_of(halves, Halves, "halves") == "keep":
        return _halved(doubled[0]), _halved(doubled[1])
    bits = secure(randomness)
    return _tossed(doubled[0], bits), _tossed(doubled[1], bits)


def signed_sums(columns: Sequence[Any], rows: Sequence[Sequence[int]]) -> list[Integers]:
    """Compute linear combinations of columns; each row of ``rows`` has the integer coefficients of one combination."""
    parts = [whole_numbers(column, "column") for column in sequence(columns, "columns")]
    return [_combined(parts, sequence_of(row, integer, "rows")) for row in sequence(rows, "rows")]


def columns_of_signed_sums(
    sums: Sequence[Any], estimate: tuple[Any, int], *, halves: Halves = "keep", randomness: Randomness | None = None
) -> list[Any]:
    """Compute columns as M sums / d from noisy signed sums, with (M, d) = ``estimate``; "toss" rounds without bias."""
    gain, denominator = estimate
    responses = [whole_numbers(column, "sums") for column in sequence(sums, "sums")]
    bits = secure(randomness) if one_of(halves, Halves, "halves") == "toss" else None
    columns = []
    for row in gain:
        numerators = _combined(responses, [int(entry) for entry in row])
        columns.append(_parts(numerators, denominator) if bits is None else _rounded(numerators, denominator, bits))
    return columns


def sums_of(distribution: CellsDistribution, columns: Sequence[Integers]) -> list[Integers]:
    """Return what gets noise in place of a group of columns: sum and difference, signed sums, or the columns."""
    if isinstance(distribution, SignedCells):
        return signed_sums(columns, distribution.rows)
    if not isinstance(distribution, RotatedPair):
        return list(columns)
    left, right = (whole_numbers(values, "column") for values in columns)
    if left.shape != right.shape:
        raise OutOfRange("the two columns must have the same length", came=(left.shape, right.shape))
    return [add(left, right), minus(left, right)]


def columns_of(
    distribution: CellsDistribution, sums: Sequence[Integers], *, halves: Halves, randomness: Randomness | None = None
) -> list[Any]:
    """Compute the columns of a group from the noisy numbers of `sums_of`."""
    if isinstance(distribution, SignedCells):
        return columns_of_signed_sums(sums, distribution.estimate, halves=halves, randomness=randomness)
    if isinstance(distribution, RotatedPair):
        return list(columns_of_pair(*sums, halves=halves, randomness=randomness))
    return list(sums)


def ratios_of(distribution: CellsDistribution) -> tuple[Level, ...]:
    """For each sum of a group with geometric noise, return the level for a change of 1."""
    if isinstance(distribution, SignedCells):
        return distribution.ratios
    assert isinstance(distribution, RotatedPair | Geometric), "geometric noise"
    return (distribution.ratio,) * (2 if isinstance(distribution, RotatedPair) else 1)


def _combined(columns: Sequence[Integers], row: Sequence[int]) -> Integers:
    """Compute a linear combination of columns, in Python integers if int64 might overflow."""
    times = sum(map(abs, row))
    wide = (with_room_for(column, times) * factor for column, factor in zip(columns, row, strict=True))
    return narrowed(sum(wide, np.zeros(columns[0].shape, np.int64)))


def whole_numbers(values: Any, name: str) -> Integers:
    array = plain_array(values, name)
    if array.ndim != 1 or (array.dtype != object and array.dtype.kind not in "iu") or array.dtype == np.uint64:
        array = objects(list(values)) if np.iterable(values) else array
    if array.ndim != 1 or (array.dtype == object and not all(isinstance(x, int | np.integer) for x in array)):
        raise OutOfRange(f"{name} must be a list of integers", came="another number")
    return array if array.dtype == object else array.astype(np.int64)


def _halved(doubled: Integers) -> NDArray[Any]:
    return _parts(doubled, 2)


def _parts(numerators: Integers, denominator: int) -> NDArray[Any]:
    """Return numerators / denominator: floats, or Fractions if a numerator or the denominator is 2^52 or more."""
    if not numerators.size or (int(np.abs(numerators).max()) < _LARGEST and denominator < _LARGEST):
        return numerators.astype(np.float64) / denominator
    return objects(Fraction(int(x), denominator) for x in numerators)


def _tossed(doubled: Integers, randomness: Randomness) -> Integers:
    """Divide each integer by 2; round up or down by a fair coin."""
    # A coin is drawn for every integer, also for even ones, so that the number of draws does not depend on the data.
    coins = (randomness.words(doubled.size, 8) & 1).astype(np.int64)
    return add(doubled, coins) >> 1


def _rounded(numerators: Integers, denominator: int, randomness: Randomness) -> Integers:
    """Round each numerator / denominator up with the probability of its fractional part, else down."""
    if denominator == 1:
        return numerators
    if denominator == 2:
        return _tossed(numerators, randomness)
    # floor((numerator + uniform in 0..denominator - 1) / denominator)
    total = add(numerators, uniform_integers(denominator, numerators.size, randomness))
    return narrowed((total if denominator < _LARGEST else total.astype(object)) // denominator)
