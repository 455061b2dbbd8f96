"""A kind of noise that is defined outside the library, in one file: geometric noise at half the level that each cell
could have, hence twice the necessary noise. Once it is entered in the table of kinds (`know`), it can be published,
relaxed, stored, served and stated."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from utmost.noise import Geometric
from utmost.privacy import Unit
from utmost.promises import Noise

# Whoever adds a noise imports these modules, see docs/howto/add-a-noise.md.
from utmost.publish.promises import noise_kinds
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.response_noise import NoiseOnLattice
from utmost.tables.cells.columns import integer_column

HALF = Lattice(1, 1, 1, None, share=Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class DoubledNoise(Noise):
    kind: ClassVar[str] = "doubled cells"
    json_kind: ClassVar[str] = "doubled"

    @property
    def subject(self):
        return "counts with twice the noise"

    def margin(self, level, confidence):
        return int(Geometric(HALF.of(level)).margin(confidence))

    def bound(self):
        return 2**62, "2^62"

    def word(self, level):
        return 32

    def cells(self, column, name, place):
        return integer_column(column, name, place)

    def responder(self, response, values):
        return NoiseOnLattice(response.step, HALF, response.on(HALF), values)

    def written(self, level, response):
        return dict(response)

    def guarantee(self, level, columns):
        return "Twice what anybody needs."


DOUBLED = DoubledNoise(Unit(1, 1))


def know(patch):
    """Enter this noise in the table of kinds, until the patch is undone."""
    patch.setitem(noise_kinds.KINDS, "doubled", lambda: DoubledNoise)
