"""Add exact noise to values: a number, a list or an array.

All numbers are read before any noise is drawn. The type of a number does not matter: 3, 3.0 and Decimal(3) are the same
value. An error names the position and the type of a cell, never its value.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from utmost.core.exact.numbers import Number
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.sampling.draw import CHUNK, DrawMethod, draws, on_grid, sample
from utmost.core.sampling.grid import unsnapped, unsnapped_one
from utmost.core.sampling.integers import Integers, add, joined
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.tables.cells.cell_values import CellValues, integer_cells, real_cells


def add_noise(
    values: Any,
    distribution: Distribution,
    *,
    randomness: Randomness | None = None,
    method: DrawMethod | None = None,
    grid: Number | None = None,
) -> Any:
    """Add independent noise to each value.

    With a distribution on the integers, values and results are integers. With a distribution on the reals, each value
    is rounded to the nearest point of a grid of width 2^-k, ties upwards. The noise that is added to this point has
    exactly the discrete distribution of `utmost.core.sampling.draw.on_grid`. The result is the float nearest to the
    noisy grid point; below 2^53 grid steps it equals this point.

    Args:
        values: A number, a list (nested or not), or an array of any shape; a list or an array may be empty. The
            argument is not changed.
        distribution: Distribution for the sensitivity and the level of one value. If one individual changes several
            values, make the distribution for the budget share of each value.
        randomness: Source of random bits, the operating system's if left out; a seeded source is refused.
        method: Method of `sample`.
        grid: Width of the grid, a power of two, for distributions on the reals. If left out, the width is chosen by
            sensitivity and level, never by the values.

    Returns:
        An int or a float for a number; else an array of the same shape. The array is of int64 or float64, or of Python
        integers if one of the *released* integers exceeds int64: the type depends on the distribution and the released
        values.

    Raises:
        NotANumber: if a value is missing, boolean, text, NaN or infinite, or if it is a fraction and the distribution
            is on the integers. The message names the position, never the value; only the curator may see it. Nothing
            was drawn then.
        PromiseBroken: if the source of randomness is not secure.
        OutOfRange: if the width of the grid is not a power of two.

    Guarantee: the level of the distribution, for values that one individual changes by at most its sensitivity.

    >>> from utmost.noise import Geometric
    >>> released = add_noise([[1198, 557], [1493, 1278]], Geometric(epsilon=1))
    >>> released.shape, released.dtype
    ((2, 2), dtype('int64'))
    """
    return noised(
        values,
        distribution,
        randomness=secure(randomness, instead="utmost.testing.seeded_release"),
        method=method,
        grid=grid,
    )


def noised(
    values: Any, distribution: Distribution, *, randomness: Randomness, method: DrawMethod | None, grid: Number | None
) -> Any:
    """Add noise as `add_noise` does, with a source of randomness that was checked already."""
    return noised_by(values, *on_grid(distribution, grid), randomness=randomness, method=method)


def noised_by(
    values: Any,
    lattice: IntegerDistribution,
    exponent: int | None,
    *,
    randomness: Randomness,
    method: DrawMethod | None = None,
) -> Any:
    """Add noise in steps of 2^-exponent, or of 1 if ``exponent`` is None; ``lattice`` is the distribution in steps."""
    if type(values) is int and exponent is None:
        return values + sample(lattice, randomness=randomness, method=method)
    cells = integer_cells(values) if exponent is None else real_cells(values, exponent)
    return noised_cells(cells, lattice, exponent, randomness=randomness, method=method)


def noised_cells(
    cells: CellValues,
    lattice: IntegerDistribution,
    exponent: int | None,
    *,
    randomness: Randomness,
    method: DrawMethod | None = None,
) -> Any:
    """Add noise as `noised_by` does, to cells that were read."""
    # A noisy count may be negative, and is released as drawn: cutting it off at 0 would make sums biased.
    if cells.shape is None:
        total = int(cells.integers(0, 1)[0]) + sample(lattice, randomness=randomness, method=method)
        return total if exponent is None else unsnapped_one(total, exponent)
    if exponent is None:
        return joined(_sums(cells, lattice, randomness, method), cells.size).reshape(cells.shape)
    released = np.empty(cells.size, np.float64)
    for start, part in zip(range(0, cells.size, CHUNK), _sums(cells, lattice, randomness, method), strict=True):
        released[start : start + part.size] = unsnapped(part, exponent)
    return released.reshape(cells.shape)


def _sums(
    cells: CellValues, distribution: IntegerDistribution, randomness: Randomness, method: DrawMethod | None
) -> Iterator[Integers]:
    noise = draws(distribution, cells.size, randomness=randomness, method=method)
    for start, part in zip(range(0, cells.size, CHUNK), noise, strict=True):
        yield add(cells.integers(start, start + part.size), part)
