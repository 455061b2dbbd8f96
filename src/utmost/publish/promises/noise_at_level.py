"""A noise at one level: the plan of an answer that no memory keeps, for every kind that has none of its own."""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from utmost.laws.exact import Level
from utmost.laws.exact.shown import Shown
from utmost.laws.privacy.unit import Unit
from utmost.laws.sampling.draw import CONSTANT_UP_TO
from utmost.laws.sampling.integers import joined
from utmost.laws.sampling.random_bits import Randomness
from utmost.provided import provided
from utmost.publish.promises.drawing import ResponseNoise
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.level_steps import Step
from utmost.publish.promises.response_noise import DrawnNoise
from utmost.publish.promises.table_statements import Stated
from utmost.publish.tables.columns import Place

if TYPE_CHECKING:
    from utmost.publish.promises.promise import Promise
    from utmost.publish.promises.promised_noise import Noise


@dataclass(frozen=True, slots=True, repr=False)
class NoiseAt(Shown):
    """A `Planned`: what an answer of a noise promises at a level, and how the first one is drawn.

    Attributes:
        noise: which is asked for all that is said of it.
        level: of the whole answer.
        confidence: of the error bars.
    """

    is_apart: ClassVar[bool] = False

    noise: "Noise"
    level: Level
    confidence: Fraction

    @property
    def is_document(self) -> bool:
        """Whether the release is one document."""
        return self.noise.needs_counted

    @property
    def unit(self) -> Unit:
        """What one individual changes."""
        return self.noise.unit

    @property
    def law(self) -> Any:
        """The noise, in words."""
        return self.noise.drawn(self.level)

    @property
    def margin(self) -> int | float:
        """The distance within which a released value lies of the true one."""
        return self.noise.margin(self.level, self.confidence)

    def bars(self, columns: Sequence[str]) -> dict[str, tuple[str, int | float]]:
        """The columns of margins, with the column that each stands behind, and the margin."""
        return self.noise.column_bars(self.level, columns, self.confidence)

    def warn(self) -> None:
        """Warn of a level at which practically nobody is protected."""
        self.noise.warn(self.level)

    def checked(self, table: Any, promise: "Promise") -> Any:
        """The table, with every check that a release makes before it draws."""
        self.noise.check()
        self.noise.check_level(self.level)
        return provided("checked_columns")(table, promise, self)

    def read(self, column: Any, name: str, place: Place) -> NDArray[Any]:
        """The values of a column, as a memory reads them."""
        return self.noise.cells(column, name, place)

    def noised(self, cells: Mapping[str, NDArray[Any]], randomness: Randomness) -> dict[str, Any]:
        """The first response that there would be, as it is published."""
        size = sum(column.size for column in cells.values())
        secret = randomness.words(4, 64).tobytes()
        answer = self.noise.answering(FirstDrawing(self.level, size, randomness, secret), cells)
        response = {
            name: joined(answer.blocks(name, cells, None, None, column.size), column.size)
            for name, column in cells.items()
        }
        return self.noise.written(self.level, response)

    def statement(self, stated: Stated) -> dict[str, Any]:
        """What is said publicly about the release of a table."""
        return self.noise.statement(self.level, self.confidence, stated)


@dataclass(frozen=True, slots=True)
class FirstDrawing:
    """A response before which there was none, and that nothing keeps; see `Drawing`.

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
