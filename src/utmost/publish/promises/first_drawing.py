"""A response before which there was none, and that nothing keeps."""

import hmac
from dataclasses import dataclass, field
from hashlib import sha256

from utmost.laws.exact import Level
from utmost.laws.sampling.draw import CONSTANT_UP_TO
from utmost.laws.sampling.random_bits import Randomness
from utmost.publish.promises.drawing import ResponseNoise
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.level_steps import Step
from utmost.publish.promises.response_noise import DrawnNoise


@dataclass(frozen=True, slots=True)
class FirstDrawing:
    """The `Drawing` of such a response.

    Attributes:
        level: of the response.
        size: how many cells it has.
        randomness: from where its noise comes.
        secret: in the place of a ledger's key.
    """

    level: Level
    size: int
    randomness: Randomness
    secret: bytes = field(repr=False)

    @property
    def step(self) -> Step:
        """From no level to this one."""
        return Step(self.level, None, None)

    def derived(self, *purpose: str) -> bytes:
        """Of the secret."""
        return hmac.digest(self.secret, repr(purpose).encode(), sha256)

    @property
    def about(self) -> tuple[str, int, bytes]:
        """Of a release without a name."""
        return "release", 1, b""

    def bits(self, *run: str) -> Randomness:
        """The randomness itself."""
        return self.randomness

    def on(self, lattice: Lattice, *run: str) -> ResponseNoise:
        """Drawn."""
        return DrawnNoise(self.step, lattice, self.randomness, "constant" if self.size <= CONSTANT_UP_TO else "table")
