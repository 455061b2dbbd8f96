"""The protocol between a noise and a memory: how a response is drawn, and in how many bytes it is stored."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from utmost.core.exact.levels import Level
from utmost.core.sampling.integers import Integers
from utmost.core.sampling.random_bits import Randomness
from utmost.publish.promises.lattice import Lattice

if TYPE_CHECKING:
    from utmost.publish.promises.level_steps import Step

BLOCK = 1 << 16
"""How many cells are stored together."""

Blocks = Callable[[str], Iterator[Integers]]
"""A function from a column's name to the blocks of a stored response."""


class ResponseNoise(Protocol):
    """The noise of one step, block by block, in steps of the geometric part."""

    def place(self, column: str, block: int, count: int) -> Integers | None:
        """Places in the uniform block, for a release that has none yet; None where there are no blocks."""

    def beyond(self, column: str, block: int, count: int, below: Integers | None) -> Integers:
        """The noise at the new level, given that at the stricter neighbour, if there is one."""

    def within(self, column: str, block: int, count: int, apart: Integers | None) -> Integers:
        """V_to - V_loose, given V_strict - V_loose if there is a stricter neighbour."""


class Responder(Protocol):
    """How the blocks of a new response are made, from the stored ones at the neighbours of its level."""

    @property
    def known(self) -> tuple[Level | None, Level | None]:
        """The stricter and the looser level whose responses are looked at."""

    def blocks(
        self, column: str, values: Mapping[str, Integers] | None, below: Blocks | None, above: Blocks | None, rows: int
    ) -> Iterator[Integers]:
        """The new response of one column, block by block."""


class NewResponse(Protocol):
    """One new response of a release, and where its noise comes from."""

    @property
    def step(self) -> "Step":
        """The step from the levels that are stored to the new one."""

    def derived(self, *purpose: str) -> bytes:
        """32 bytes for one purpose, from the key of whatever remembers the release."""

    @property
    def about(self) -> tuple[str, int, bytes]:
        """The release's name and version, and the commitment to its values."""

    def bits(self, *run: str) -> Randomness:
        """Random bits of its own: drawn, or derived from the key, as the ledger says."""

    def on(self, lattice: Lattice, *run: str) -> ResponseNoise:
        """Noise on a lattice: drawn, or derived from the key or from each row's item, as ledger and release say."""
