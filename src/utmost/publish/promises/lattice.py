"""The steps in which noise that can be relaxed is drawn, and the level of one step."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arrays import largest_size
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import IntegersOrReals, Number
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.grid import chosen_exponent, declared_exponent, steps, unsnapped, unsnapped_one
from utmost.core.sampling.integers import Integers, minus, narrowed, uniform_integers
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import NotANumber, OutOfRange
from utmost.publish.promises.declared_columns import read_numbers
from utmost.tables.cells.cell_values import CellValues, integer_cells, real_cells

_LARGEST = 10**100  # steps of a sensitivity; distributions allow no more, since their cost grows with the digits


# The grid of reals is chosen once, before the largest later level is known: fine enough for this level and all below.
_FINE = level(epsilon=16)


@dataclass(frozen=True, slots=True)
class Lattice:
    """The sum of uniform noise on ``block`` neighbouring integers and ``block`` times two-sided geometric noise.

    With ``block`` 1 the noise is geometric; with ``block`` equal to the (odd) sensitivity the noise is the half-step
    staircase. One individual changes ``cells`` values by at most ``sensitivity`` steps each, together ``cells *
    sensitivity / block`` steps of the geometric part. So the level of one step of this part is the whole level times
    block / (cells * sensitivity).

    Attributes:
        sensitivity: Sensitivity of one cell, in steps.
        cells: Number of cells that one individual changes; it may be a fraction if the unit bounds all cells together.
        block: Number of integers in the uniform part, a divisor of the sensitivity.
        exponent: Exponent k of the width 2^-k of a step; None for integers.
        share: Budget share of this noise; the rest of the level is spent by noise on other sums of the same data.
    """

    sensitivity: int
    cells: int | Fraction
    block: int
    exponent: int | None
    share: Fraction = Fraction(1)

    def of(self, level: Level) -> Level:
        """Return the level of one step of the geometric part, if the whole release has ``level``."""
        return level.scaled(self.share * self.block / (self.cells * self.sensitivity))

    def read(self, values: Any) -> CellValues:
        return integer_cells(values) if self.exponent is None else real_cells(values, self.exponent)

    @staticmethod
    def steps(cells: CellValues) -> Integers:
        """Return a flat copy of the values in steps, as int64 or Python integers."""
        row = cells.integers(0, cells.size)
        return row.copy() if row.dtype == object else row.astype(np.int64)

    def write(self, shape: tuple[int, ...] | None, released: Integers) -> Any:
        """Convert steps to an array of released values with this shape; the shape None stands for a single number."""
        # Floats on the reals; else int64, or Python integers if one exceeds int64: the type depends on released values
        # only.
        if shape is None:
            one = released.tolist()[0]
            return one if self.exponent is None else unsnapped_one(one, self.exponent)
        return (narrowed(released) if self.exponent is None else unsnapped(released, self.exponent)).reshape(shape)

    def split(self, noise: Integers) -> tuple[Integers | None, Integers]:
        """Split noise = position + block * steps into (position, steps); the position is None if the block is 1."""
        if self.block == 1:
            return None, noise
        half = self.block // 2
        # int64 if it can hold the block, and the noise plus or minus half a block
        noise_fits = noise.dtype == object or not noise.size or largest_size(noise) + half < 1 << 63
        wide = noise if self.block < 1 << 63 and noise_fits else noise.astype(object)
        coarse = (wide + half) // self.block
        return narrowed(wide - coarse * self.block), narrowed(coarse)

    def place(self, count: int, randomness: Randomness) -> Integers | None:
        """Return uniform positions in the block, drawn once and used at every level; None if the block is 1."""
        if self.block == 1:
            return None
        return minus(uniform_integers(self.block, count, randomness), np.array([self.block // 2]))

    def times(self, coarse: Integers) -> Integers:
        """Return the product block * steps, without overflow."""
        if self.block == 1:
            return coarse
        largest = largest_size(coarse)
        return coarse * self.block if max(largest, 1) * self.block < 1 << 63 else coarse.astype(object) * self.block


def whole_sensitivity(sensitivity: Fraction) -> int:
    if sensitivity.denominator != 1:
        raise NotANumber(
            'sensitivity must be an integer with numbers="integers"',
            came=sensitivity,
            remedy=f'Pass {-(-sensitivity // 1)}, or declare numbers="reals".',
        )
    return sensitivity.numerator


def lattice_of(numbers: str, unit: Unit, grid: Number | None = None, half_step: bool = False) -> Lattice:
    """Return the lattice of noise for a unit of privacy; half-step noise needs an odd sensitivity in steps."""
    unit.check_plain()
    return lattice_of_cells(read_numbers(numbers), unit, grid, half_step)


def lattice_of_cells(numbers: IntegersOrReals, unit: Unit, grid: Number | None, half_step: bool) -> Lattice:
    """Return the lattice as `lattice_of` does, also for amounts in steps, and for a bound on all cells together."""
    real = numbers == "reals"
    if grid is not None and not real:
        raise OutOfRange(
            'grid= needs numbers="reals"', came='numbers="integers"', remedy='Leave out grid=, or pass numbers="reals".'
        )
    if not isinstance(half_step, bool):
        raise OutOfRange(
            "half_step must be True or False",
            came=type(half_step).__name__,
            remedy="Pass True, or leave out half_step=.",
        )
    if not real:
        exponent, D = None, whole_sensitivity(unit.sensitivity)
    else:
        exponent = chosen_exponent(unit.sensitivity, _FINE) if grid is None else declared_exponent(grid)
        D = steps(unit.sensitivity, exponent)
        D += half_step and D % 2 == 0  # a bound that is one step larger also holds
    if D > _LARGEST:
        raise OutOfRange(
            "sensitivity must be at most 1e100 steps of the noise", came="more steps", remedy="Count in larger units."
        )
    if half_step and D % 2 == 0:
        raise OutOfRange("half_step=True needs an odd sensitivity", came=D, remedy=f"Pass sensitivity={D + 1}.")
    return Lattice(D, unit.epsilon_parts, D if half_step else 1, exponent)


WORD_WIDTHS = (1, 2, 4, 8)


def width_of(bits: int) -> int:
    """Return the least number of bytes that holds this many bits, among 1, 2, 4 and the multiples of 8."""
    return next((width for width in WORD_WIDTHS if bits <= 8 * width), -(-bits // 64) * 8)
