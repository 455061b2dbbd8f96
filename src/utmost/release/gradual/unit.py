"""The unit of gradual noise: on which lattice a release lives, and what a level means for one step of it."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, exact, exact_integer, level
from utmost.release.reading import Cells, integer_cells, real_cells
from utmost.sampling.bits import Randomness
from utmost.sampling.grid import chosen_exponent, declared_exponent, steps, unsnapped, unsnapped_one
from utmost.sampling.uniform import uniform
from utmost.sampling.wide import Integers, narrowed

# The grid is chosen once, before anyone knows how far the level will be relaxed; so fine a one serves up to epsilon 16.
_FINE = level(epsilon=16)


@dataclass(frozen=True, slots=True)
class Unit:
    """Noise that is a uniform block of ``block`` integers plus ``block`` times two-sided geometric noise.

    For ``block`` 1 this is geometric noise; for ``block`` the (odd) sensitivity it is the half-step staircase. One
    individual moves ``cells`` values by at most ``sensitivity`` steps each, which is ``cells * sensitivity / block``
    steps of the geometric part, so that part has the level scaled by block / (cells * sensitivity).

    Attributes:
        sensitivity: of one cell, in steps.
        cells: how many cells one individual changes.
        block: a divisor of the sensitivity.
        exponent: the steps are of width 2^-exponent; None for integers.
    """

    sensitivity: int
    cells: int
    block: int
    exponent: int | None

    def of(self, level: Level) -> Level:
        """The level of one step of the geometric part."""
        return level.scaled(Fraction(self.block, self.cells * self.sensitivity))

    def read(self, values: Any) -> Cells:
        """The values in steps."""
        return integer_cells(values) if self.exponent is None else real_cells(values, self.exponent)

    @staticmethod
    def steps(cells: Cells) -> Integers:
        """The values read, in a row of int64 or of Python ints; the row is a copy."""
        row = cells.integers(0, cells.size)
        return row.copy() if row.dtype == object else row.astype(np.int64)

    def write(self, shape: tuple[int, ...] | None, released: Integers) -> Any:
        """What was released, in the shape and kind of what came; the shape None is that of a bare number."""
        if shape is None:
            one = released.tolist()[0]
            return one if self.exponent is None else unsnapped_one(one, self.exponent)
        return (released if self.exponent is None else unsnapped(released, self.exponent)).reshape(shape)

    def split(self, noise: Integers) -> tuple[Integers | None, Integers]:
        """Noise as (place in the block, steps of the geometric part): noise = place + block * steps.

        The place is None where there are no blocks.
        """
        if self.block == 1:
            return None, noise
        half = self.block // 2
        wide = noise if self._leaves_room(noise, half) else noise.astype(object)
        coarse = (wide + half) // self.block
        return narrowed(wide - coarse * self.block), narrowed(coarse)

    def _leaves_room(self, noise: Integers, half: int) -> bool:
        """Whether int64 holds the block, and the noise with half a block added or taken away."""
        if noise.dtype == object or not noise.size:
            return self.block < 1 << 63
        most = max(int(noise.max()), -int(noise.min())) + half
        return max(most, self.block) < 1 << 63

    def place(self, count: int, randomness: Randomness) -> Integers | None:
        """Places in the uniform block, drawn once and kept at every level; None where there are no blocks."""
        if self.block == 1:
            return None
        return minus(uniform(self.block, count, randomness), np.array([self.block // 2]))

    def times(self, coarse: Integers) -> Integers:
        """block * steps, never wrapped."""
        if self.block == 1:
            return coarse
        largest = max(abs(int(coarse.max())), abs(int(coarse.min()))) if coarse.size else 0
        return coarse * self.block if max(largest, 1) * self.block < 1 << 63 else coarse.astype(object) * self.block


def unit_of(
    values: Any, sensitivity: Number, cells: Number = 1, grid: Number | None = None, half_step: bool = False
) -> Unit:
    """The unit for these values.

    Args:
        values: integers, or numbers that live on a grid: which of the two is all that is looked at.
        sensitivity: how much one individual changes a value at most.
        cells: how many values one individual changes at most.
        grid: a power of two; if left out, reals get one that depends on the sensitivity alone.
        half_step: half-step staircase noise instead of geometric noise.

    Raises:
        OutOfRange: for a sensitivity or a number of cells below 1 (for reals: not positive), and for half-step noise
            with an even number of steps.
    """
    number = exact_integer(cells, "cells")
    if number < 1:
        raise OutOfRange("cells must be at least 1", came=cells)
    if grid is None and not are_real(values):
        exponent, D = None, exact_integer(sensitivity, "sensitivity")
    else:
        width = exact(sensitivity, "sensitivity")
        if width <= 0:
            raise OutOfRange("sensitivity must be positive", came=sensitivity)
        exponent = chosen_exponent(width, _FINE) if grid is None else declared_exponent(grid)
        D = steps(width, exponent)
        D += half_step and D % 2 == 0  # a sensitivity of one step more is true as well
    if D < 1:
        raise OutOfRange("sensitivity must be at least 1", came=sensitivity)
    if half_step and D % 2 == 0:
        raise OutOfRange("the half-step staircase needs an odd sensitivity", came=D, mend=f"Pass {D + 1}.")
    return Unit(D, number, D if half_step else 1, exponent)


def minus(x: Integers, y: Integers) -> Integers:
    """The differences, never wrapped."""
    if x.size and x.dtype != object and y.dtype != object:
        smallest, largest = int(x.min()) - int(y.max()), int(x.max()) - int(y.min())
        if smallest >= -(1 << 63) and largest < 1 << 63:
            return np.subtract(x, y, dtype=np.int64)
    return narrowed(x.astype(object) - y.astype(object))


def are_real(values: Any) -> bool:
    """Whether any of the values is a real number rather than an integer."""
    if isinstance(values, list | tuple):
        return any(are_real(value) for value in values)
    array = np.asarray(values)
    if array.dtype == object:
        return any(_is_real(value) for value in array.reshape(-1))
    return array.dtype.kind == "f"


def _is_real(value: Any) -> bool:
    return isinstance(value, float | np.floating | Decimal | Fraction)
