"""Compute the noise of a response, block by block: drawn from random bits, or derived from the ledger's key.

**Derived noise** is a function of the key, the release, its values and the level. So an older copy of the ledger gives
the same answers again, in any order of levels. The function evaluates the noise process lazily over a fixed tree of
levels:

- at epsilon = 2^10 the noise is geometric; from there it is tightened to 2^9, 2^8, ...;
- between 2^j and 2^(j+1) it is bridged at the middle, then at the middle of the half that contains the level, and so
  on, until the level itself is a middle, or the half is a 4096th of the whole interval: then the level is bridged
  between the ends of this half.

The noise at each node comes from a separate keystream, AES-256-CTR under

    HKDF(`noise_secret` of the release; run of a plan, column, block, level of the node),

so the answers at all levels have the joint distribution of the process, whatever their order. Two levels in the same
smallest interval would be bridged independently of each other, so the second is refused. Whoever has the key and a
response can remove the noise: the key must be protected like the data.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.draw import DrawMethod, method_for
from utmost.core.sampling.integers import Integers, add, joined, minus
from utmost.core.sampling.item_words import derived_secret
from utmost.core.sampling.random_bits import KeyedRandomness, Randomness
from utmost.errors import Unsupported
from utmost.publish.promises.drawing import BLOCK, ResponseNoise
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.level_steps import Step

_TOP, _HALVINGS = 10, 12

Derive = Callable[[str, int, str], bytes]
"""A function that returns a key, from the name of a column, the number of a block, and the name of a node."""


@dataclass(frozen=True, slots=True)
class DrawnNoise:
    """Noise drawn from a source of randomness."""

    step: Step
    lattice: Lattice
    randomness: Randomness
    method: DrawMethod

    def place(self, column: str, block: int, count: int) -> Integers | None:
        return self.lattice.place(count, self.randomness)

    def at_highest(self, column: str, block: int, count: int, below: Integers | None) -> Integers:
        return self.step.drawn(self.lattice, below, None, count, self.randomness, self.method)

    def from_higher(self, column: str, block: int, count: int, apart: Integers | None) -> Integers:
        return self.step.drawn(self.lattice, apart, None, count, self.randomness, self.method)


@dataclass(frozen=True, slots=True)
class FirstResponse:
    """The only response of a release that is made once; implements `NewResponse`."""

    level: Level
    size: int  # Number of cells of the response
    randomness: Randomness
    secret: bytes = field(repr=False)  # Random bytes in place of a ledger's key

    @property
    def step(self) -> Step:
        return Step(self.level, None, None)

    @property
    def name(self) -> str:
        return "release"

    def derived(self, *purpose: str) -> bytes:
        return derived_secret(self.secret, *purpose)

    def bits(self, *run: str) -> Randomness:
        return self.randomness

    def on(self, lattice: Lattice, *run: str) -> ResponseNoise:
        return DrawnNoise(self.step, lattice, self.randomness, method_for(self.size))


@dataclass(frozen=True, slots=True)
class DerivedNoise:
    """Noise derived from a key; noise that was stored earlier is compared with the noise that the key gives."""

    step: Step
    lattice: Lattice
    derive: Derive

    def place(self, column: str, block: int, count: int) -> Integers | None:
        return self.lattice.place(count, KeyedRandomness(self.derive(column, block, "place")))

    def at_highest(self, column: str, block: int, count: int, below: Integers | None) -> Integers:
        """Compute the noise at a level above all others; check ``below``, the stored noise at the next lower level."""
        path = self._path(column, block, count)
        if below is not None:
            assert self.step.lower is not None
            check_derived(below, path.at(self.step.lower))
        return path.at(self.step.to)

    def from_higher(self, column: str, block: int, count: int, apart: Integers | None) -> Integers:
        """Compute the new noise minus the noise at the higher level.

        Check ``apart``, the stored noise at the lower level minus the stored noise at the higher level.
        """
        path = self._path(column, block, count)
        assert self.step.higher is not None
        higher = path.at(self.step.higher)
        if apart is not None:
            assert self.step.lower is not None
            check_derived(apart, minus(path.at(self.step.lower), higher))
        return minus(path.at(self.step.to), higher)

    def _path(self, column: str, block: int, count: int) -> "_Path":
        return _Path(self.lattice, count, lambda node: KeyedRandomness(self.derive(column, block, node)), {})


@dataclass(frozen=True, slots=True)
class NoiseOnLattice:
    """Draws a response with noise on a lattice, from stored responses or from the values."""

    step: Step
    lattice: Lattice
    noise: ResponseNoise
    values: Mapping[str, Integers] | None  # True values by column; only a level above all stored ones needs them

    @property
    def known(self) -> tuple[Level | None, Level | None]:
        return self.step.lower, self.step.higher

    def blocks(
        self,
        column: str,
        below: Iterator[Integers] | None,
        above: Iterator[Integers] | None,
        rows: int,
    ) -> Iterator[Integers]:
        """Yield the new response of one column in blocks."""
        for block, start in enumerate(range(0, rows, BLOCK)):
            lower, higher = (None if stored is None else next(stored) for stored in (below, above))
            at = column, block, min(BLOCK, rows - start)
            if higher is not None:
                # Stored responses of a cell differ by multiples of the lattice's block.
                apart = None if lower is None else self.lattice.split(minus(lower, higher))[1]
                yield add(higher, self.lattice.times(self.noise.from_higher(*at, apart)))
                continue
            assert self.values is not None
            true = self.values[column][start : start + BLOCK]
            if lower is None:
                place, known = self.noise.place(*at), None
            else:
                # The noise at the lower level is response - value; it determines the position in the lattice's block.
                place, known = self.lattice.split(minus(lower, true))
            noise = self.lattice.times(self.noise.at_highest(*at, known))
            yield add(true, noise if place is None else add(place, noise))


def check_derived(stored: Integers, derived: Integers) -> None:
    """Check that stored noise is equal to the noise derived from a key."""
    if not np.array_equal(stored, derived):
        raise Unsupported(
            "the stored noise must be equal to the noise that the key determines",
            where="derived noise",
            remedy="Relax with the version of utmost that published the table, or publish a new version.",
        )


@dataclass(frozen=True, slots=True)
class NoiseByRuns:
    """The noise of a column that is divided into consecutive runs of cells, each with its own noise."""

    runs: tuple[tuple[int, ResponseNoise], ...]  # Number of cells and noise of each run
    block_size: int  # Number of cells of a block; a run may begin and end inside a block

    def place(self, column: str, block: int, count: int) -> Integers | None:
        return None

    def at_highest(self, column: str, block: int, count: int, below: Integers | None) -> Integers:
        return joined(
            (
                noise.at_highest(column, block, at.stop - at.start, None if below is None else below[at])
                for noise, at in self._pieces(block, count)
            ),
            count,
        )

    def from_higher(self, column: str, block: int, count: int, apart: Integers | None) -> Integers:
        return joined(
            (
                noise.from_higher(column, block, at.stop - at.start, None if apart is None else apart[at])
                for noise, at in self._pieces(block, count)
            ),
            count,
        )

    def _pieces(self, block: int, count: int) -> Iterator[tuple[ResponseNoise, slice]]:
        """For each run of cells that overlaps a block, yield the run's noise, and the part of the block in this run."""
        first, begins = block * self.block_size, 0
        for size, noise in self.runs:
            low, high = max(begins - first, 0), min(begins + size - first, count)
            if low < high:
                yield noise, slice(low, high)
            begins += size


@dataclass(frozen=True, slots=True)
class _Path:
    """The noise process of the cells of a block, over the tree of levels; each node of the tree is evaluated once."""

    lattice: Lattice
    count: int
    bits: Callable[[str], Randomness]
    known: dict[Level, Integers]

    def at(self, to: Level) -> Integers:
        high = self._octave(_octave_of(to))
        if to == high:
            return self.known[high]
        for step in _halvings(to, self._octave(_octave_of(to) - 1), high):
            self._node(step)
        return self.known[to]

    def _octave(self, exponent: int) -> Level:
        """Evaluate the noise at epsilon = 2^10, 2^9, ..., 2^exponent; return the last of these levels."""
        above = None
        for j in range(_TOP, exponent - 1, -1):
            here = Level(None, Fraction(2) ** j)
            self._node(Step(here, None, above))
            above = here
        assert above is not None
        return above

    def _node(self, step: Step) -> None:
        if step.to not in self.known:
            below, above = (None if at is None else self.known[at] for at in (step.lower, step.higher))
            bits = self.bits(level_text(step.to))
            self.known[step.to] = step.drawn(self.lattice, below, above, self.count, bits, "constant")


def check_derived_level(levels: Iterable[Level], to: Level) -> None:
    """Check that derived noise can answer the level ``to``, given the stored levels."""
    if Level(None, Fraction(2) ** _TOP) < to:
        raise Unsupported(f"derived noise serves levels up to epsilon = {2**_TOP}", came=to)
    mine = _cell(to)
    for other in levels:
        if mine is not None and _cell(other) == mine:
            required = "two levels of derived noise must differ by a 4096th of epsilon or more"
            raise Unsupported(
                required,
                came=f"{to} and {other}",
                remedy="Pass the epsilon of the stored level, or an epsilon farther from the stored one.",
            )


def _octave_of(level: Level) -> int:
    """Return the j with 2^(j-1) < epsilon <= 2^j."""
    j = _TOP
    while level <= Level(None, Fraction(2) ** (j - 1)):
        j -= 1
    return j


def _halvings(to: Level, low: Level, high: Level) -> list[Step]:
    """Return the bisection steps towards a level: the middles of the halves that contain it, then the level itself."""
    steps = []
    for _ in range(_HALVINGS):
        middle = Level(None, (low.power + high.power) / 2)
        steps.append(Step(middle, low, high))
        if middle == to:
            return steps
        low, high = (low, middle) if to < middle else (middle, high)
    return [*steps, Step(to, low, high)]


def _cell(level: Level) -> tuple[Level | None, Level | None] | None:
    """Return the ends of the smallest interval of the tree around a level; None if the level is a node of the tree."""
    high = Level(None, Fraction(2) ** _octave_of(level))
    if level == high:
        return None
    steps = _halvings(level, Level(None, high.power / 2), high)
    return (steps[-1].lower, steps[-1].higher) if len(steps) > _HALVINGS else None
