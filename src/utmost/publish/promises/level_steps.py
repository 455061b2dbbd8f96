"""Compute noise or a response at a new level from those at known levels: relax, tighten, bridge."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.gradual.steps import Bridge, Tightening
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


@dataclass(frozen=True, slots=True)
class Step:
    """The step to a new level from the next lower and the next higher known level."""

    to: Level
    lower: Level | None  # Largest known level below the new one, or None
    higher: Level | None  # Smallest known level above the new one, or None

    @classmethod
    def from_known(cls, known: Iterable[Level], to: Level) -> "Step":
        levels = list(known)
        if to in levels:
            raise OutOfRange("a new level must differ from all answered levels", came=to)
        lower = max((other for other in levels if other < to), default=None)
        higher = min((other for other in levels if to < other), default=None)
        return cls(to, lower, higher)

    @property
    def how(self) -> str:
        """Name of the step: "relax" to more epsilon, "tighten" to less, "bridge" between two levels, else "fresh"."""
        if self.higher is None:
            return "fresh" if self.lower is None else "relax"
        return "tighten" if self.lower is None else "bridge"

    def distribution(self, lattice: Lattice) -> Geometric | Tightening | Bridge:
        """Return the distribution of the noise at the new level, given the noise at the neighbouring levels."""
        # A `Tightening` is the distribution of V_to - V_higher; a `Bridge` is that of V_to - V_higher given V_lower -
        # V_higher. Without a higher level V_higher is 0.
        to = lattice.of(self.to)
        higher = None if self.higher is None else lattice.of(self.higher)
        if self.lower is not None:
            return Bridge(lattice.of(self.lower), to, higher)
        return Geometric(to) if higher is None else Tightening(to, higher)

    def drawn(
        self,
        lattice: Lattice,
        below: Integers | None,
        above: Integers | None,
        count: int,
        randomness: Randomness,
        method: DrawMethod | None,
    ) -> Integers:
        """Draw the noise (or response) at the new level, given the noise (or responses) at the neighbouring levels."""
        # A common shift of ``below`` and ``above`` shifts the result by the same amount, so that responses can stand
        # for noise. ``above`` is None without a higher level, or if the noise there was subtracted from ``below``.
        distribution = self.distribution(lattice)
        if isinstance(distribution, Geometric):
            return joined(draws(distribution, count, randomness=randomness, method=method), count)
        if isinstance(distribution, Tightening):
            noise = tightening_noise(distribution, count, randomness=randomness, method=method)
        else:
            assert below is not None
            apart = below if above is None else minus(below, above)
            noise = bridge_noise(distribution, apart, randomness=randomness, method=method)
        return noise if above is None else add(above, noise)


def tighten(
    response: Any,
    from_epsilon: Number | Level,
    to_epsilon: Number | Level,
    *,
    cell_noise: "CellNoise | None" = None,
    randomness: Randomness | None = None,
    method: DrawMethod | None = None,
) -> Any:
    """Compute a response at a lower epsilon from a released response, without the data.

    Args:
        response: Response at ``from_epsilon``, as it was released: a number, list or array.
        from_epsilon: Epsilon of the response, or its level, such as ``ut.level(alpha="1/2")``.
        to_epsilon: Epsilon of the new response, or its level; at most ``from_epsilon``.
        cell_noise: Noise of the release; if left out, the noise of integers for the unit ``Unit(1, 1)``.
        randomness: Source of random bits, the operating system's if left out.
        method: "constant" or "table".

    Returns:
        The new response in the shape of ``response``: integers for noise on the integers, floats for noise on the
        reals, as `GradualRelease.at` returns them.

    Raises:
        OutOfRange: if ``to_epsilon`` is above ``from_epsilon``.
        NotANumber: if a response is not a number.

    Source: [koufogiannis2015], Section 3.1.2.

    >>> int(tighten(100, from_epsilon=2, to_epsilon=2))
    100
    """
    lattice, bits = _lattice_of(cell_noise), secure(randomness)
    read = lattice.read(response)
    transition = Tightening(lattice.of(level(to_epsilon)), lattice.of(level(from_epsilon)))
    noise = tightening_noise(transition, read.size, randomness=bits, method=method)
    return lattice.write(read.shape, add(lattice.steps(read), lattice.times(noise)))


def relax(
    noise: Any,
    from_epsilon: Number | Level,
    to_epsilon: Number | Level,
    *,
    cell_noise: "CellNoise | None" = None,
    randomness: Randomness | None = None,
    method: DrawMethod | None = None,
) -> Any:
    """Draw the noise at a higher epsilon, given the noise at a lower epsilon.

    The new response is the value plus this noise. Old and new response together are private at ``to_epsilon``.

    Args:
        noise: Response minus value, at ``from_epsilon``; a number, list or array.
        from_epsilon: Epsilon of the noise, or its level.
        to_epsilon: Epsilon of the new noise, or its level; at least ``from_epsilon``.
        cell_noise, randomness, method: Arguments of `tighten`.

    Raises:
        OutOfRange: if ``to_epsilon`` is below ``from_epsilon``, or if the noise is not on the grid.

    Source: [koufogiannis2015], Algorithm 1.

    >>> abs(int(relax(-3, from_epsilon=1, to_epsilon=40))) <= 3
    True
    """
    lattice, bits = _lattice_of(cell_noise), secure(randomness)
    read = lattice.read(noise)
    place, coarse = lattice.split(_on_grid(lattice, read, noise))
    moved = lattice.times(relaxed(coarse, lattice.of(level(from_epsilon)), lattice.of(level(to_epsilon)), bits, method))
    return lattice.write(read.shape, moved if place is None else add(place, moved))


def bridge(
    response_at_lower: Any,
    response_at_higher: Any,
    lower: Number | Level,
    middle: Number | Level,
    higher: Number | Level,
    *,
    cell_noise: "CellNoise | None" = None,
    randomness: Randomness | None = None,
) -> Any:
    """Draw a response at a level between two levels, given the responses at these two levels, without the data.

    Args:
        response_at_lower: Response, or noise, at ``lower``.
        response_at_higher: Response, or noise, at ``higher``.
        lower, middle, higher: Epsilons or levels, with lower <= middle <= higher.
        cell_noise, randomness: Arguments of `tighten`.

    Raises:
        OutOfRange: if the levels are out of order, or if the responses differ in shape or cannot come from one release.

    Source: [koufogiannis2015], Theorem 12: the responses of one release are a Markov chain.

    >>> int(bridge(17, 12, lower=1, middle=2, higher=2))
    12
    """
    lattice, bits = _lattice_of(cell_noise), secure(randomness)
    first, last = lattice.read(response_at_lower), lattice.read(response_at_higher)
    if first.shape != last.shape:
        raise OutOfRange("the two responses must have the same shape", came=(first.shape, last.shape))
    above = _on_grid(lattice, last, response_at_higher)
    apart = minus(_on_grid(lattice, first, response_at_lower), above)
    _, coarse = lattice.split(apart)
    if lattice.block > 1 and (apart != lattice.times(coarse)).any():
        raise OutOfRange(
            "the two responses must come from the same release",
            came="a difference that is no multiple of the sensitivity",
            remedy="Pass two responses of the same release.",
        )
    levels = (lattice.of(level(lower)), lattice.of(level(middle)), lattice.of(level(higher)))
    return lattice.write(last.shape, add(above, lattice.times(bridged(coarse, *levels, bits, None))))


def _lattice_of(cell_noise: "CellNoise | None") -> Lattice:
    from utmost.publish.promises.cell_noise import CellNoise

    read = CellNoise(Unit(1, 1)) if cell_noise is None else instance(cell_noise, CellNoise, "cell_noise")
    read.unit.check_plain()
    return read.lattice


def relaxed(
    noise: Integers, lower: Level, higher: Level, randomness: Randomness, method: DrawMethod | None
) -> Integers:
    """Draw geometric noise at ``higher``, given the noise at ``lower``; both levels are for a change by 1 step."""
    if lower == higher:
        return noise
    if higher < lower:
        raise OutOfRange(
            f"to relax, the new level must be above {lower}", came=higher, remedy="Call tighten for a smaller level."
        )
    return bridge_noise(Bridge(lower, higher, None), noise, randomness=randomness, method=method)


def bridged(
    apart: Integers, lower: Level, middle: Level, higher: Level, randomness: Randomness, method: DrawMethod | None
) -> Integers:
    """Draw V_middle - V_higher for noise V, given ``apart`` = V_lower - V_higher."""
    if middle in (lower, higher):
        return apart if middle == lower else np.zeros_like(apart)
    return bridge_noise(Bridge(lower, middle, higher), apart, randomness=randomness, method=method)


def _on_grid(lattice: Lattice, read: CellValues, values: Any) -> Integers:
    """Return the values in steps of the lattice; refuse values that are not multiples of a step."""
    integers = lattice.steps(read)
    if lattice.exponent is not None:
        back = np.asarray(lattice.write(read.shape, integers), dtype=object).reshape(-1)
        off = np.flatnonzero(back != np.asarray(values, dtype=object).reshape(-1))
        if off.size:
            raise OutOfRange(
                f"the numbers must be multiples of 2^{-lattice.exponent}",
                came="another number",
                where=where_is(int(off[0]), read.shape),
                remedy="Pass cell_noise=, the noise of the release with its grid.",
            )
    return integers
