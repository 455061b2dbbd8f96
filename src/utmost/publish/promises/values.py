"""Values plus exact noise: numbers read, noised one for one.

**Reading the numbers that are to be released: every one of them, before anything is drawn.**

What is read is the number, in whatever type it came: 3, 3.0 and Decimal(3) are one and the same value to a release. A
refusal names the place and the kind of what stood there, never the value.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from utmost.core.exact.numbers import Number
from utmost.core.noise.integer_law import IntegerLaw
from utmost.core.noise.law import Law
from utmost.core.sampling.draw import CHUNK, DrawMethod, draws, on_grid, sample
from utmost.core.sampling.grid import unsnapped, unsnapped_one
from utmost.core.sampling.integers import Integers, add, joined
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.tables.cells.cell_values import CellValues, integer_cells, real_cells


def add_noise(
    values: Any,
    law: Law,
    *,
    randomness: Randomness | None = None,
    method: DrawMethod | None = None,
    grid: Number | None = None,
) -> Any:
    """``values`` plus independent noise of the law, one draw for each.

    For a law on the integers the values are integers and stay integers. For a law on the reals each value is snapped
    to the nearest point of a grid of width 2^-k, ties upwards, noised there by exactly the discrete law of
    `utmost.core.sampling.draw.on_grid`, and returned as the float nearest to the noised grid point, which is that point
    itself below 2^53 grid steps.

    Args:
        values: a number, a list (nested as you like), or an array of any shape, also an empty one. It is not changed.
        law: Law for the sensitivity and the level of one value. Where one individual changes several values, spend a
            share of the level on each.
        randomness: the operating system's if left out; a seeded source is refused.
        method: Arguments of `sample`.
        grid: the width of the grid, a power of two, for laws on the reals. If left out, the law chooses it, by its
            sensitivity and level and never by the values.

    Returns:
        An int or a float for a number; else an array of the same shape, of int64 or float64, or of Python ints where
        one of the *released* integers exceeds int64: the law, and what is released, decide the type.

    Raises:
        NotANumber: for a value that is missing, boolean, text, NaN, infinite or, for a law on the integers, no integer;
            it names the place, never the value, and is for the curator alone. Nothing has been drawn then.
        PromiseBroken: for a source of randomness that is not secure.
        OutOfRange: for a width that is no power of two.

    Promise: the level of the law, for values that one individual changes by at most its sensitivity.

    >>> from utmost.noise import Geometric
    >>> released = add_noise([[1198, 557], [1493, 1278]], Geometric(epsilon=1))
    >>> released.shape, released.dtype
    ((2, 2), dtype('int64'))
    """
    return noised(values, law, randomness=secure(randomness), method=method, grid=grid)


def noised(values: Any, law: Law, *, randomness: Randomness, method: DrawMethod | None, grid: Number | None) -> Any:
    """`add_noise`, with whatever randomness is given."""
    return noised_by(values, *on_grid(law, grid), randomness=randomness, method=method)


def noised_by(
    values: Any, lattice: IntegerLaw, exponent: int | None, *, randomness: Randomness, method: DrawMethod | None = None
) -> Any:
    """The values with noise of just this law, in steps of 2^-exponent, or on the integers where that is None."""
    if type(values) is int and exponent is None:
        return values + sample(lattice, randomness=randomness, method=method)
    cells = integer_cells(values) if exponent is None else real_cells(values, exponent)
    if cells.shape is None:
        total = int(cells.integers(0, 1)[0]) + sample(lattice, randomness=randomness, method=method)
        return total if exponent is None else unsnapped_one(total, exponent)
    if exponent is None:
        return joined(_sums(cells, lattice, randomness, method), cells.size).reshape(cells.shape)
    released = np.empty(cells.size, np.float64)
    for start, part in zip(range(0, cells.size, CHUNK), _sums(cells, lattice, randomness, method), strict=True):
        released[start : start + part.size] = unsnapped(part, exponent)
    return released.reshape(cells.shape)


def _sums(cells: CellValues, law: IntegerLaw, randomness: Randomness, method: DrawMethod | None) -> Iterator[Integers]:
    noise = draws(law, cells.size, randomness=randomness, method=method)
    for start, part in zip(range(0, cells.size, CHUNK), noise, strict=True):
        yield add(cells.integers(start, start + part.size), part)
