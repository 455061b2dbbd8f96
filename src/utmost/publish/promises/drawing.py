"""The protocol between a kind of noise and a ledger: who supplies random bits, and who computes a response."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from utmost.core.exact.levels import Level
from utmost.core.sampling.integers import Integers
from utmost.core.sampling.random_bits import Randomness
from utmost.publish.promises.lattice import Lattice

if TYPE_CHECKING:
    from utmost.publish.promises.level_steps import Step

BLOCK = 1 << 16
"""The number of cells in a stored block."""


class ResponseNoise(Protocol):
    """A source of noise for a new response, block by block, in steps of the geometric part of a `Lattice`."""

    def place(self, column: str, block: int, count: int) -> Integers | None:
        """Draw each cell's position in the block of the `Lattice`, for a new release; return None if the block is 1."""

    def at_highest(self, column: str, block: int, count: int, below: Integers | None) -> Integers:
        """Return the noise at a level above all others; ``below`` is the noise at the next lower level, or None."""

    def from_higher(self, column: str, block: int, count: int, apart: Integers | None) -> Integers:
        """Return the noise at the new level minus the noise at the next higher level.

        ``apart`` is the noise at the next lower level minus the noise at the next higher one, or None if no level is
        lower.
        """


class Responder(Protocol):
    """Computes the blocks of a new response from the stored responses at the neighbouring levels, or from values."""

    @property
    def known(self) -> tuple[Level | None, Level | None]:
        """The next lower and higher stored levels whose responses `blocks` reads; None for a level that it ignores."""

    def blocks(
        self,
        column: str,
        below: Iterator[Integers] | None,
        above: Iterator[Integers] | None,
        rows: int,
    ) -> Iterator[Integers]:
        """Yield the new response of one column in blocks; ``below`` and ``above`` yield the stored blocks."""


class NewResponse(Protocol):
    """Everything that a kind of noise needs for a new response: the step to its level, and sources of randomness."""

    @property
    def step(self) -> "Step":
        """The step from the stored levels to the new one."""

    @property
    def name(self) -> str:
        """The name of the release."""

    def derived(self, *purpose: str) -> bytes:
        """Return 32 bytes for one purpose, derived from the ledger's key and all facts that determine the answer."""

    def bits(self, *run: str) -> Randomness:
        """Return random bits for this response: drawn, or derived from the key."""

    def on(self, lattice: Lattice, *run: str) -> ResponseNoise:
        """Return the noise on a lattice: drawn, derived from the key, or keyed by identifier."""
