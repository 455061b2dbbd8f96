"""One step between two levels, for whoever holds what it takes: a response, a noise, or two responses."""

from typing import Any

import numpy as np

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, checked, level
from utmost.noise.gradual import Bridge, Tightening
from utmost.release.gradual.unit import Unit, minus, unit_of
from utmost.release.reading import Cells, where_is
from utmost.release.secure import secure
from utmost.sampling.bits import Randomness
from utmost.sampling.draw import Method
from utmost.sampling.gradual import bridge_noise, tightening_noise
from utmost.sampling.wide import Integers, add


@checked
def tighten(
    response: Any,
    start: Number | Level,
    to: Number | Level,
    *,
    sensitivity: Number = 1,
    cells: Number = 1,
    domain: str = "integers",
    grid: Number | None = None,
    half_step: bool = False,
    randomness: Randomness | None = None,
    method: Method | None = None,
) -> Any:
    """A response at the stricter level ``to`` from a response at ``start``, without the data.

    Args:
        response: a number, list or array, as it was released.
        start, to: epsilons, or levels such as ``ut.level(alpha="1/2")``; ``to`` at most ``start``.
        sensitivity, cells, domain, grid, half_step: as the response was released with.
        randomness: the operating system's if left out.
        method: "constant" or "table".

    Returns:
        The shape of ``response``; ints on the integers, floats on the reals, as `GradualRelease.at` gives them.

    Raises:
        OutOfRange: when ``to`` is looser than ``start``.
        NotANumber: where a response is no number.

    Source: koufogiannis2015, Section 3.1.2.

    >>> int(tighten(100, start=2, to=2))
    100
    """
    bits = secure(randomness)
    unit = unit_of(domain, sensitivity, cells, grid, half_step)
    read = unit.read(response)
    kernel = Tightening(unit.of(level(start)), unit.of(level(to)))
    noise = tightening_noise(kernel, read.size, randomness=bits, method=method)
    return unit.write(read.shape, add(unit.steps(read), unit.times(noise)))


@checked
def relax(
    noise: Any,
    start: Number | Level,
    to: Number | Level,
    *,
    sensitivity: Number = 1,
    cells: Number = 1,
    domain: str = "integers",
    grid: Number | None = None,
    half_step: bool = False,
    randomness: Randomness | None = None,
    method: Method | None = None,
) -> Any:
    """The noise at the looser level ``to``, given the noise at ``start``.

    The new response is the value plus this noise; the two responses together are private at ``to``.

    Args:
        noise: response minus value, at ``start``; a number, list or array.
        start, to: epsilons or levels; ``to`` at least ``start``.
        sensitivity, cells, domain, grid, half_step, randomness, method: as for `tighten`.

    Raises:
        OutOfRange: when ``to`` is stricter than ``start``, and for noise that is not on the grid.

    Source: koufogiannis2015, Algorithm 1.

    >>> abs(int(relax(-3, start=1, to=40))) <= 3
    True
    """
    bits = secure(randomness)
    unit = unit_of(domain, sensitivity, cells, grid, half_step)
    read = unit.read(noise)
    place, coarse = unit.split(_on_grid(unit, read, noise))
    moved = unit.times(relaxed(coarse, unit.of(level(start)), unit.of(level(to)), bits, method))
    return unit.write(read.shape, moved if place is None else add(place, moved))


@checked
def bridge(
    low: Any,
    high: Any,
    start: Number | Level,
    to: Number | Level,
    at: Number | Level,
    *,
    sensitivity: Number = 1,
    cells: Number = 1,
    domain: str = "integers",
    grid: Number | None = None,
    half_step: bool = False,
    randomness: Randomness | None = None,
    method: Method | None = None,
) -> Any:
    """A response at the level ``at``, between ``start`` and ``to``, given the responses at these two; without the data.

    Args:
        low: the response at ``start``, the stricter level (or the noise there).
        high: the response at ``to``, the looser level (or the noise there).
        start, to, at: epsilons or levels, with start <= at <= to.
        sensitivity, cells, domain, grid, half_step, randomness, method: as for `tighten`.

    Raises:
        OutOfRange: when the levels are out of order, the two responses differ in shape, or cannot come from one
            release.

    Source: koufogiannis2015, Theorem 12: the responses of one release are one Markov chain.

    >>> int(bridge(17, 12, start=1, to=2, at=2))
    12
    """
    bits = secure(randomness)
    unit = unit_of(domain, sensitivity, cells, grid, half_step)
    strict, loose = unit.read(low), unit.read(high)
    if strict.shape != loose.shape:
        raise OutOfRange("the two responses must have one shape", came=(strict.shape, loose.shape))
    below = _on_grid(unit, loose, high)
    apart = minus(_on_grid(unit, strict, low), below)
    _, coarse = unit.split(apart)
    if unit.block > 1 and (apart != unit.times(coarse)).any():
        raise OutOfRange("responses of one half-step release differ by multiples of the sensitivity")
    levels = (unit.of(level(start)), unit.of(level(at)), unit.of(level(to)))
    return unit.write(loose.shape, add(below, unit.times(bridged(coarse, *levels, bits, method))))


def relaxed(noise: Integers, start: Level, to: Level, randomness: Randomness, method: Method | None) -> Integers:
    """Geometric noise at the level ``to`` of one step, given the noise at ``start``."""
    if start == to:
        return noise
    if to < start:
        raise OutOfRange(f"to relax, the level must be looser than {start}", came=to, mend="Tighten instead.")
    return bridge_noise(Bridge(start, to, None), noise, randomness=randomness, method=method)


def bridged(
    apart: Integers, start: Level, at: Level, to: Level, randomness: Randomness, method: Method | None
) -> Integers:
    """How far the noise at ``at`` is from that at ``to``, given how far the noise at ``start`` is."""
    if at in (start, to):
        return apart if at == start else np.zeros_like(apart)
    return bridge_noise(Bridge(start, at, to), apart, randomness=randomness, method=method)


def _on_grid(unit: Unit, read: Cells, values: Any) -> Integers:
    """The values in steps, all of which must lie on the grid."""
    integers = unit.steps(read)
    if unit.exponent is not None:
        back = np.asarray(unit.write(read.shape, integers), dtype=object).reshape(-1)
        off = np.flatnonzero(back != np.asarray(values, dtype=object).reshape(-1))
        if off.size:
            raise OutOfRange(
                f"the numbers must be multiples of 2^{-unit.exponent}",
                came="one that is none",
                where=where_is(int(off[0]), read.shape),
                mend="Pass the grid of the release as grid=.",
            )
    return integers
