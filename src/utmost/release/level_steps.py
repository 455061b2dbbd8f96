"""One step between two levels, for whoever holds what it takes: a response, a noise, or two responses."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, checked, level
from utmost.gradual import Bridge, Relaxing, Tightening
from utmost.noise import Geometric
from utmost.release.lattice import Lattice, minus, unit_of
from utmost.release.values import Cells, secure, where_is
from utmost.sampling.draw import Method, draws
from utmost.sampling.integers import Integers, add, joined
from utmost.sampling.level_draws import bridge_noise, tightening_noise
from utmost.sampling.random_bits import Randomness

Law = Geometric | Relaxing | Tightening | Bridge


@dataclass(frozen=True, slots=True)
class Step:
    """From the levels known to one level more, which lies strictly between its two neighbours.

    Attributes:
        to: the new level.
        strict: the loosest known level below it, or None.
        loose: the strictest known level above it, or None.
    """

    to: Level
    strict: Level | None
    loose: Level | None

    @classmethod
    def from_known(cls, known: Iterable[Level], to: Level) -> "Step":
        """The step that the known levels leave to a new one.

        Raises:
            OutOfRange: for a level that is known already.

        >>> from utmost.exact import level
        >>> Step.from_known([level(1), level(3), level(4)], level(2)).how
        'bridge'
        """
        levels = list(known)
        if to in levels:
            raise OutOfRange("a new level must not be known already", came=to)
        strict = max((one for one in levels if one < to), default=None)
        loose = min((one for one in levels if to < one), default=None)
        return cls(to, strict, loose)

    @property
    def how(self) -> str:
        """Forward beyond the loosest level, backward below the strictest, a bridge in between, fresh where none is."""
        if self.loose is None:
            return "fresh" if self.strict is None else "relax"
        return "tighten" if self.strict is None else "bridge"

    def law(self, unit: Lattice) -> Law:
        """The law of one step of noise at the new level, given the noise at the neighbours.

        A relax kernel is the law of V_to given V_strict; a tightening that of V_to - V_loose; a bridge that of
        V_to - V_loose given V_strict - V_loose.
        """
        to = unit.of(self.to)
        if self.loose is None:
            return Geometric(to) if self.strict is None else Relaxing(unit.of(self.strict), to)
        if self.strict is None:
            return Tightening(unit.of(self.loose), to)
        return Bridge(unit.of(self.strict), to, unit.of(self.loose))

    def drawn(
        self,
        unit: Lattice,
        below: Integers | None,
        above: Integers | None,
        count: int,
        randomness: Randomness,
        method: Method | None,
    ) -> Integers:
        """The noise at the new level, in steps of the geometric part.

        Args:
            below: the noise at ``strict``, shape (count,).
            above: the noise at ``loose``, shape (count,). A common shift of both moves the result along with them, so
                below the loosest level responses do as well as noise.
        """
        to = unit.of(self.to)
        if self.loose is None:
            if self.strict is None:
                return joined(draws(Geometric(to), count, randomness=randomness, method=method), count)
            assert below is not None
            return bridge_noise(Bridge(unit.of(self.strict), to, None), below, randomness=randomness, method=method)
        assert above is not None
        if self.strict is None:
            kernel = Tightening(unit.of(self.loose), to)
            return add(above, tightening_noise(kernel, count, randomness=randomness, method=method))
        assert below is not None
        between = Bridge(unit.of(self.strict), to, unit.of(self.loose))
        return add(above, bridge_noise(between, minus(below, above), randomness=randomness, method=method))


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


def _on_grid(unit: Lattice, read: Cells, values: Any) -> Integers:
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
