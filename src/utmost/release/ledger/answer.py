"""One response more of a release: drawn block by block from what is stored, and from the values where it must be."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from utmost.release.gradual.chain import Step
from utmost.release.gradual.unit import Unit as Lattice
from utmost.release.gradual.unit import minus
from utmost.release.ledger.noise import Noise
from utmost.release.ledger.numbers import BLOCK
from utmost.sampling.wide import Integers, add

Blocks = Callable[[str], Iterator[Integers]]
"""From a column's name to the blocks of a stored response."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a response is made.

    Attributes:
        step: from the levels that are stored.
        lattice: on which the noise lives.
        noise: of the step.
    """

    step: Step
    lattice: Lattice
    noise: Noise

    def blocks(
        self, column: str, values: Mapping[str, Integers] | None, below: Blocks | None, above: Blocks | None, rows: int
    ) -> Iterator[Integers]:
        """The new response of one column, block by block.

        Args:
            values: true values by column; needed beyond the loosest level, and not looked at elsewhere.
            below, above: the stored responses at the neighbours of the level.
        """
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
        """The noise at the strict level is response - value; it tells its place in the uniform block, too."""
        if strict is None:
            place, below = self.noise.place(*at), None
        else:
            place, below = self.lattice.split(minus(strict, true))
        noise = self.lattice.times(self.noise.beyond(*at, below))
        return add(true, noise if place is None else add(place, noise))

    def _from_responses(self, at: tuple[str, int, int], strict: Integers | None, loose: Integers) -> Integers:
        """Responses of one cell differ by multiples of the uniform block."""
        apart = None if strict is None else self.lattice.split(minus(strict, loose))[1]
        return add(loose, self.lattice.times(self.noise.within(*at, apart)))
