"""One step from known levels to a new one: of responses, or of noise."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.gradual.steps import Bridge, Relaxing, Tightening
from utmost.core.noise.geometric import Geometric
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.draw import DrawMethod, draws
from utmost.core.sampling.integers import Integers, add, joined, minus
from utmost.core.sampling.level_draws import bridge_noise, tightening_noise
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.errors import OutOfRange
from utmost.publish.promises.lattice import Lattice
from utmost.tables.cells.cell_values import CellValues, where_is

if TYPE_CHECKING:
    from utmost.publish.promises.cell_noise import CellNoise

StepLaw = Geometric | Relaxing | Tightening | Bridge


@dataclass(frozen=True, slots=True)
class Step:
    """The step from the known levels to a new level between its two neighbours."""

    to: Level
    lower: Level | None  # Largest known level below the new one, or None
    higher: Level | None  # Smallest known level above the new one, or None

    @classmethod
    def from_known(cls, known: Iterable[Level], to: Level) -> "Step":
        levels = list(known)
        if to in levels:
            raise OutOfRange("a new level must not be known already", came=to)
        lower = max((other for other in levels if other < to), default=None)
        higher = min((other for other in levels if to < other), default=None)
        return cls(to, lower, higher)

    @property
    def how(self) -> str:
        """The kind of the step: "relax" upwards, "tighten" downwards, "bridge" between two levels, or "fresh"."""
        if self.higher is None:
            return "fresh" if self.lower is None else "relax"
        return "tighten" if self.lower is None else "bridge"

    def law(self, lattice: Lattice) -> StepLaw:
        """The conditional distribution of the noise V_to at the new level."""
        # Relaxing: V_to given V_lower. Tightening: V_to - V_higher. Bridge: V_to - V_higher given V_lower - V_higher.
        to = lattice.of(self.to)
        if self.higher is None:
            return Geometric(to) if self.lower is None else Relaxing(lattice.of(self.lower), to)
        if self.lower is None:
            return Tightening(to, lattice.of(self.higher))
        return Bridge(lattice.of(self.lower), to, lattice.of(self.higher))

    def drawn(
        self,
        lattice: Lattice,
        below: Integers | None,
        above: Integers | None,
        count: int,
        randomness: Randomness,
        method: DrawMethod | None,
    ) -> Integers:
        """The noise at the new level, in geometric steps, from the noise (or the response) below and above."""
        # If ``above`` is given, a common shift of ``below`` and ``above`` shifts the result: responses can replace
        # noise.
        to = lattice.of(self.to)
        if self.lower is None and self.higher is None:
            return joined(draws(Geometric(to), count, randomness=randomness, method=method), count)
        if self.lower is None or below is None:
            assert self.higher is not None
            assert above is not None
            step = Tightening(to, lattice.of(self.higher))
            return add(above, tightening_noise(step, count, randomness=randomness, method=method))
        law = Bridge(lattice.of(self.lower), to, None if self.higher is None else lattice.of(self.higher))
        if above is None:
            return bridge_noise(law, below, randomness=randomness, method=method)
        return add(above, bridge_noise(law, minus(below, above), randomness=randomness, method=method))


def tighten(
    response: Any,
    strict: Number | Level,
    loose: Number | Level,
    *,
    cell_noise: "CellNoise | None" = None,
    randomness: Randomness | None = None,
    method: DrawMethod | None = None,
) -> Any:
    """Compute a response at the smaller level ``strict`` from a response at the level ``loose``, without the data.

    Args:
        response: Response at ``loose``, as it was released: a number, list or array.
        strict, loose: Epsilons, or levels such as ``ut.level(alpha="1/2")``; ``strict`` at most ``loose``.
        cell_noise: Noise of the release; if left out, that of integers of which one individual changes one by 1.
        randomness: Source of random bits, the operating system's if left out.
        method: "constant" or "table".

    Returns:
        The new response in the shape of ``response``; ints on the integers, floats on the reals, as from
        `GradualRelease.at`.

    Raises:
        OutOfRange: if ``strict`` is above ``loose``.
        NotANumber: if a response is not a number.

    Source: [koufogiannis2015], Section 3.1.2.

    >>> int(tighten(100, strict=2, loose=2))
    100
    """
    lattice, bits = _lattice_of(cell_noise), secure(randomness)
    read = lattice.read(response)
    transition = Tightening(lattice.of(level(strict)), lattice.of(level(loose)))
    noise = tightening_noise(transition, read.size, randomness=bits, method=method)
    return lattice.write(read.shape, add(lattice.steps(read), lattice.times(noise)))


def relax(
    noise: Any,
    strict: Number | Level,
    loose: Number | Level,
    *,
    cell_noise: "CellNoise | None" = None,
    randomness: Randomness | None = None,
    method: DrawMethod | None = None,
) -> Any:
    """Draw the noise at the larger level ``loose``, given the noise at the level ``strict``.

    The new response is the value plus this noise; both responses together are private at ``loose``.

    Args:
        noise: Response minus value, at ``strict``; a number, list or array.
        strict, loose: Epsilons or levels; ``strict`` at most ``loose``.
        cell_noise, randomness, method: Arguments of `tighten`.

    Raises:
        OutOfRange: if ``strict`` is above ``loose``, or the noise is not on the grid.

    Source: [koufogiannis2015], Algorithm 1.

    >>> abs(int(relax(-3, strict=1, loose=40))) <= 3
    True
    """
    lattice, bits = _lattice_of(cell_noise), secure(randomness)
    read = lattice.read(noise)
    place, coarse = lattice.split(_on_grid(lattice, read, noise))
    ends = lattice.of(level(strict)), lattice.of(level(loose))
    moved = lattice.times(relaxed(coarse, *ends, bits, method))
    return lattice.write(read.shape, moved if place is None else add(place, moved))


def bridge(
    low: Any,
    high: Any,
    strict: Number | Level,
    at: Number | Level,
    loose: Number | Level,
    *,
    cell_noise: "CellNoise | None" = None,
    randomness: Randomness | None = None,
) -> Any:
    """Draw a response at a level between two levels, given the responses there, without the data.

    Args:
        low: Response, or noise, at ``strict``.
        high: Response, or noise, at ``loose``.
        strict, at, loose: Epsilons or levels, with strict <= at <= loose.
        cell_noise, randomness: Arguments of `tighten`.

    Raises:
        OutOfRange: if the levels are out of order, or the responses differ in shape or cannot come from one release.

    Source: [koufogiannis2015], Theorem 12: the responses of one release are a Markov chain.

    >>> int(bridge(17, 12, strict=1, at=2, loose=2))
    12
    """
    lattice, bits = _lattice_of(cell_noise), secure(randomness)
    first, last = lattice.read(low), lattice.read(high)
    if first.shape != last.shape:
        raise OutOfRange("the two responses must have one shape", came=(first.shape, last.shape))
    below = _on_grid(lattice, last, high)
    apart = minus(_on_grid(lattice, first, low), below)
    _, coarse = lattice.split(apart)
    if lattice.block > 1 and (apart != lattice.times(coarse)).any():
        raise OutOfRange(
            "both responses must be of one release",
            came="two that differ by no multiple of the sensitivity",
            remedy="Pass responses of one release.",
        )
    levels = (lattice.of(level(strict)), lattice.of(level(at)), lattice.of(level(loose)))
    return lattice.write(last.shape, add(below, lattice.times(bridged(coarse, *levels, bits, None))))


def _lattice_of(cell_noise: "CellNoise | None") -> Lattice:
    from utmost.publish.promises.cell_noise import CellNoise

    read = CellNoise(Unit(1, 1)) if cell_noise is None else instance(cell_noise, CellNoise, "cell_noise")
    read.unit.check_plain()
    return read.lattice


def relaxed(noise: Integers, start: Level, to: Level, randomness: Randomness, method: DrawMethod | None) -> Integers:
    """The geometric noise at the level ``to``, given the noise at ``start``, per step."""
    if start == to:
        return noise
    if to < start:
        raise OutOfRange(f"to relax, the level must be above {start}", came=to, remedy="Call tighten instead.")
    return bridge_noise(Bridge(start, to, None), noise, randomness=randomness, method=method)


def bridged(
    apart: Integers, start: Level, at: Level, to: Level, randomness: Randomness, method: DrawMethod | None
) -> Integers:
    """V_at - V_to given ``apart`` = V_start - V_to."""
    if at in (start, to):
        return apart if at == start else np.zeros_like(apart)
    return bridge_noise(Bridge(start, at, to), apart, randomness=randomness, method=method)


def _on_grid(lattice: Lattice, read: CellValues, values: Any) -> Integers:
    """The values in steps; refuse values off the grid."""
    integers = lattice.steps(read)
    if lattice.exponent is not None:
        back = np.asarray(lattice.write(read.shape, integers), dtype=object).reshape(-1)
        off = np.flatnonzero(back != np.asarray(values, dtype=object).reshape(-1))
        if off.size:
            raise OutOfRange(
                f"the numbers must be multiples of 2^{-lattice.exponent}",
                came="another one",
                where=where_is(int(off[0]), read.shape),
                remedy="Pass the noise of the release as cell_noise=, with its grid.",
            )
    return integers
