"""One step between two levels, for whoever holds what it takes: a response, a noise, or two responses."""

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
    """The step from the levels known to one level more, which lies strictly between its two neighbours.

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

        >>> from utmost.exact import level
        >>> Step.from_known([level(1), level(3), level(4)], level(2)).how
        'bridge'
        """
        levels = list(known)
        if to in levels:
            raise OutOfRange("a new level must not be known already", came=to)
        strict = max((known_level for known_level in levels if known_level < to), default=None)
        loose = min((known_level for known_level in levels if to < known_level), default=None)
        return cls(to, strict, loose)

    @property
    def how(self) -> str:
        """Forward beyond the loosest level, backward below the strictest, a bridge in between, fresh where none is."""
        if self.loose is None:
            return "fresh" if self.strict is None else "relax"
        return "tighten" if self.strict is None else "bridge"

    def law(self, lattice: Lattice) -> StepLaw:
        """The law of one step of noise at the new level, given the noise at the neighbours.

        A relaxing law is the law of V_to given V_strict; a tightening that of V_to - V_loose; a bridge that of
        V_to - V_loose given V_strict - V_loose.
        """
        to = lattice.of(self.to)
        if self.loose is None:
            return Geometric(to) if self.strict is None else Relaxing(lattice.of(self.strict), to)
        if self.strict is None:
            return Tightening(to, lattice.of(self.loose))
        return Bridge(lattice.of(self.strict), to, lattice.of(self.loose))

    def drawn(
        self,
        lattice: Lattice,
        below: Integers | None,
        above: Integers | None,
        count: int,
        randomness: Randomness,
        method: DrawMethod | None,
    ) -> Integers:
        """The noise at the new level, in steps of the geometric part.

        Args:
            below: the noise at ``strict``, shape (count,).
            above: the noise at ``loose``, shape (count,). A common shift of both moves the result along with them, so
                below the loosest level responses do as well as noise.
        """
        law = self.law(lattice)
        if isinstance(law, Geometric):
            return joined(draws(law, count, randomness=randomness, method=method), count)
        if isinstance(law, Tightening):
            assert above is not None
            return add(above, tightening_noise(law, count, randomness=randomness, method=method))
        assert below is not None
        if isinstance(law, Relaxing):
            open_ended = Bridge(law.strict, law.loose, None)
            return bridge_noise(open_ended, below, randomness=randomness, method=method)
        assert above is not None
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
    """A response at the level ``strict`` from a response at the level ``loose``, without the data.

    Args:
        response: Response at ``loose``, as it was released: a number, list or array.
        strict, loose: epsilons, or levels such as ``ut.level(alpha="1/2")``; ``strict`` at most ``loose``.
        cell_noise: Noise with which the response was released; that of integers where one individual changes one value
            by 1, if left out.
        randomness: the operating system's if left out.
        method: "constant" or "table".

    Returns:
        The shape of ``response``; ints on the integers, floats on the reals, as `GradualRelease.at` gives them.

    Raises:
        OutOfRange: when ``strict`` is looser than ``loose``.
        NotANumber: where a response is no number.

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
    """The noise at the level ``loose``, given the noise at the level ``strict``.

    The new response is the value plus this noise; the two responses together are private at ``loose``.

    Args:
        noise: response minus value, at ``strict``; a number, list or array.
        strict, loose: epsilons or levels; ``strict`` at most ``loose``.
        cell_noise, randomness, method: Arguments of `tighten`.

    Raises:
        OutOfRange: when ``strict`` is looser than ``loose``, and for noise that is not on the grid.

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
    """A response at the level ``at``, between ``strict`` and ``loose``, given the responses at these two; no data.

    Args:
        low: the response at ``strict`` (or the noise there).
        high: the response at ``loose`` (or the noise there).
        strict, at, loose: epsilons or levels, with strict <= at <= loose.
        cell_noise, randomness: Arguments of `tighten`.

    Raises:
        OutOfRange: when the levels are out of order, the two responses differ in shape, or cannot come from one
            release.

    Source: [koufogiannis2015], Theorem 12: the responses of one release are one Markov chain.

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
    """The lattice of the noise of each cell."""
    from utmost.publish.promises.cell_noise import CellNoise

    read = CellNoise(Unit(1, 1)) if cell_noise is None else instance(cell_noise, CellNoise, "cell_noise")
    read.unit.check_plain()
    return read.lattice


def relaxed(noise: Integers, start: Level, to: Level, randomness: Randomness, method: DrawMethod | None) -> Integers:
    """Geometric noise at the level ``to`` of one step, given the noise at ``start``."""
    if start == to:
        return noise
    if to < start:
        raise OutOfRange(f"to relax, the level must be looser than {start}", came=to, remedy="Tighten instead.")
    return bridge_noise(Bridge(start, to, None), noise, randomness=randomness, method=method)


def bridged(
    apart: Integers, start: Level, at: Level, to: Level, randomness: Randomness, method: DrawMethod | None
) -> Integers:
    """How far the noise at ``at`` is from that at ``to``, given how far the noise at ``start`` is."""
    if at in (start, to):
        return apart if at == start else np.zeros_like(apart)
    return bridge_noise(Bridge(start, at, to), apart, randomness=randomness, method=method)


def _on_grid(lattice: Lattice, read: CellValues, values: Any) -> Integers:
    """The values in steps, all of which must lie on the grid."""
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
