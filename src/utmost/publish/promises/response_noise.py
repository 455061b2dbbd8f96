"""The noise of a response: drawn from random bits, or derived from the ledger's key.

**Derived noise** is a function of the key, the release, its values and the level, so that a ledger that was put back to
an older copy repeats its answers in any order of levels. The function is the noise process, evaluated lazily over a
fixed tree of levels:

- at epsilon = 2^10 the noise is geometric; from there it is tightened to 2^9, 2^8, ...;
- between 2^j and 2^(j+1) it is bridged at the middle, then at the middle of the half that holds the level, and so on,
  to the level itself, or to a 4096th of the octave, between whose ends the level is bridged at last.

Each node draws from its own keystream, AES-256-CTR under

    HKDF(ledger key; name, version, lattice, commitment to the values, column, block, level of the node),

so the levels of a release have the joint distribution of the process, in any order of answers. Two levels in the same
last cell would be bridged independently of each other, so the second is refused. Whoever has the key and a response can
remove the noise: the key must be protected like the data.
"""

import hmac
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256

import numpy as np

from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.draw import CONSTANT_UP_TO, DrawMethod
from utmost.core.sampling.integers import Integers, add, joined, minus
from utmost.core.sampling.random_bits import KeyedRandomness, Randomness
from utmost.errors import Unsupported
from utmost.publish.promises.drawing import BLOCK, Blocks, ResponseNoise
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.level_steps import Step

_TOP, _HALVINGS = 10, 12

Derive = Callable[[str, int, str], bytes]
"""A function from the name of a column, the number of a block, and the name of a node to a key."""


@dataclass(frozen=True, slots=True)
class DrawnNoise:
    """Noise drawn from a source of randomness."""

    step: Step
    lattice: Lattice
    randomness: Randomness
    method: DrawMethod

    def place(self, column: str, block: int, count: int) -> Integers | None:
        return self.lattice.place(count, self.randomness)

    def beyond(self, column: str, block: int, count: int, below: Integers | None) -> Integers:
        return self.step.drawn(self.lattice, below, None, count, self.randomness, self.method)

    def within(self, column: str, block: int, count: int, apart: Integers | None) -> Integers:
        return self.step.drawn(self.lattice, apart, np.zeros(count, np.int64), count, self.randomness, self.method)


@dataclass(frozen=True, slots=True)
class FirstResponse:
    """The `NewResponse` of a release without history."""

    level: Level
    size: int  # Number of cells of the response
    randomness: Randomness
    secret: bytes = field(repr=False)  # Secret instead of a ledger's key

    @property
    def step(self) -> Step:
        return Step(self.level, None, None)

    def derived(self, *purpose: str) -> bytes:
        """32 bytes for one purpose, derived from the secret."""
        return hmac.digest(self.secret, repr(purpose).encode(), sha256)

    @property
    def about(self) -> tuple[str, int, bytes]:
        return "release", 1, b""

    def bits(self, *run: str) -> Randomness:
        return self.randomness

    def on(self, lattice: Lattice, *run: str) -> ResponseNoise:
        return DrawnNoise(self.step, lattice, self.randomness, "constant" if self.size <= CONSTANT_UP_TO else "table")


@dataclass(frozen=True, slots=True)
class DerivedNoise:
    """Noise that is a function of a key; stored noise must agree with it."""

    step: Step
    lattice: Lattice
    derive: Derive

    def place(self, column: str, block: int, count: int) -> Integers | None:
        return self.lattice.place(count, KeyedRandomness(self.derive(column, block, "place")))

    def beyond(self, column: str, block: int, count: int, below: Integers | None) -> Integers:
        """The noise at the new level; ``below`` is the stored noise at the level before, and must agree."""
        path = self._path(column, block, count)
        if below is not None:
            assert self.step.strict is not None
            check_derived(below, path.at(self.step.strict))
        return path.at(self.step.to)

    def within(self, column: str, block: int, count: int, apart: Integers | None) -> Integers:
        """The difference of the noise at two levels; ``apart`` is the stored difference, and must agree."""
        path = self._path(column, block, count)
        assert self.step.loose is not None
        loose = path.at(self.step.loose)
        if apart is not None:
            assert self.step.strict is not None
            check_derived(apart, minus(path.at(self.step.strict), loose))
        return minus(path.at(self.step.to), loose)

    def _path(self, column: str, block: int, count: int) -> "_Path":
        return _Path(self.lattice, count, lambda node: KeyedRandomness(self.derive(column, block, node)), {})


@dataclass(frozen=True, slots=True)
class NoiseOnLattice:
    """The method that draws a response with noise on a lattice, from stored responses or from the values."""

    step: Step
    lattice: Lattice
    noise: ResponseNoise

    @property
    def known(self) -> tuple[Level | None, Level | None]:
        return self.step.strict, self.step.loose

    def blocks(
        self, column: str, values: Mapping[str, Integers] | None, below: Blocks | None, above: Blocks | None, rows: int
    ) -> Iterator[Integers]:
        """The new response of one column, block by block; only a level above all stored ones reads ``values``."""
        stored = [None if blocks is None else blocks(column) for blocks in (below, above)]
        for block, start in enumerate(range(0, rows, BLOCK)):
            strict, loose = (None if blocks is None else next(blocks) for blocks in stored)
            place = column, block, min(BLOCK, rows - start)
            if loose is not None:
                yield self._from_responses(place, strict, loose)
            else:
                assert values is not None
                yield self._from_values(place, values[column][start : start + BLOCK], strict)

    def _from_values(self, at: tuple[str, int, int], true: Integers, strict: Integers | None) -> Integers:
        """A block at a level above all stored ones, from the values and the response at the next smaller level."""
        if strict is None:
            place, below = self.noise.place(*at), None
        else:
            # The noise at the smaller level is response - value; it determines the position in the uniform block, too.
            place, below = self.lattice.split(minus(strict, true))
        noise = self.lattice.times(self.noise.beyond(*at, below))
        return add(true, noise if place is None else add(place, noise))

    def _from_responses(self, at: tuple[str, int, int], strict: Integers | None, loose: Integers) -> Integers:
        """A block at a level below a stored one; stored responses differ by multiples of the uniform block."""
        apart = None if strict is None else self.lattice.split(minus(strict, loose))[1]
        return add(loose, self.lattice.times(self.noise.within(*at, apart)))


def check_derived(stored: Integers, derived: Integers) -> None:
    """Check that stored noise is equal to the noise derived from a key."""
    if not np.array_equal(stored, derived):
        raise Unsupported(
            "the stored noise must be the noise that the key gives",
            where="derived noise",
            remedy="Relax with the version of utmost that published, or publish a new version.",
        )


@dataclass(frozen=True, slots=True)
class NoiseByRuns:
    """The noise of cells in consecutive runs, each run with its own noise."""

    runs: tuple[tuple[int, ResponseNoise], ...]  # Number of cells and noise of each run
    block_size: int  # Number of cells of a block; a run may begin and end inside a block

    def place(self, column: str, block: int, count: int) -> Integers | None:
        return None

    def beyond(self, column: str, block: int, count: int, below: Integers | None) -> Integers:
        pieces = self._pieces(block, count)
        return joined((noise.beyond(column, block, at.stop - at.start, _of(below, at)) for noise, at in pieces), count)

    def within(self, column: str, block: int, count: int, apart: Integers | None) -> Integers:
        """The difference of the noise at two levels, run by run."""
        pieces = self._pieces(block, count)
        return joined((noise.within(column, block, at.stop - at.start, _of(apart, at)) for noise, at in pieces), count)

    def _pieces(self, block: int, count: int) -> Iterator[tuple[ResponseNoise, slice]]:
        """The runs that overlap a block, each with its cells in the block."""
        first, begins = block * self.block_size, 0
        for size, noise in self.runs:
            low, high = max(begins - first, 0), min(begins + size - first, count)
            if low < high:
                yield noise, slice(low, high)
            begins += size


def _of(known: Integers | None, cells: slice) -> Integers | None:
    return None if known is None else known[cells]


@dataclass(frozen=True, slots=True)
class _Path:
    """The noise process of some cells; each node of the tree is evaluated once."""

    lattice: Lattice
    count: int
    bits: Callable[[str], Randomness]
    known: dict[Level, Integers]

    def at(self, to: Level) -> Integers:
        high = self._octave(_octave_of(to))
        if to == high:
            return self.known[high]
        low = self._octave(_octave_of(to) - 1)
        for middle in _middles(to, low.power, high.power):
            self._node(Step(middle, low, high))
            if middle == to:
                return self.known[to]
            low, high = (low, middle) if to < middle else (middle, high)
        return self._node(Step(to, low, high))

    def _octave(self, exponent: int) -> Level:
        """The level 2^exponent, after evaluating it and every power of two above it."""
        above = None
        for j in range(_TOP, exponent - 1, -1):
            here = Level(None, Fraction(2) ** j)
            self._node(Step(here, None, above))
            above = here
        assert above is not None
        return above

    def _node(self, step: Step) -> Integers:
        if step.to not in self.known:
            below, above = (None if at is None else self.known[at] for at in (step.strict, step.loose))
            bits = self.bits(level_text(step.to))
            self.known[step.to] = step.drawn(self.lattice, below, above, self.count, bits, "constant")
        return self.known[step.to]


def check_apart(levels: Iterable[Level], to: Level) -> None:
    """Check that derived noise can answer a level beside the stored ones."""
    if Level(None, Fraction(2) ** _TOP) < to:
        raise Unsupported(f"derived noise serves levels up to epsilon={2**_TOP}", came=to)
    mine = _cell(to)
    for other in levels:
        if mine is not None and _cell(other) == mine:
            raise Unsupported("levels of derived noise must not be so close", came=f"{to} beside {other}")


def _octave_of(level: Level) -> int:
    """The j with 2^(j-1) < epsilon <= 2^j."""
    j = _TOP
    while level <= Level(None, Fraction(2) ** (j - 1)):
        j -= 1
    return j


def _middles(to: Level, low: Fraction, high: Fraction) -> Iterable[Level]:
    """The midpoints of the halves that hold the level, down to the level or to the last cell."""
    for _ in range(_HALVINGS):
        middle = Level(None, (low + high) / 2)
        yield middle
        if middle == to:
            return
        low, high = (low, middle.power) if to < middle else (middle.power, high)


def _cell(level: Level) -> tuple[Fraction, Fraction] | None:
    """The last cell of the tree that holds a level; None for a level that is a node."""
    high = Fraction(2) ** _octave_of(level)
    low = high / 2
    if level == Level(None, high):
        return None
    for middle in _middles(level, low, high):
        if middle == level:
            return None
        low, high = (low, middle.power) if level < middle else (middle.power, high)
    return low, high
