"""One response more of a release: drawn block by block from what is stored, and from the values where it must be."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from utmost.errors import NeedsTable
from utmost.release.gradual.chain import Step
from utmost.release.gradual.unit import Unit as Lattice
from utmost.release.gradual.unit import minus
from utmost.release.ledger.numbers import BLOCK
from utmost.sampling.bits import Randomness
from utmost.sampling.draw import CONSTANT_UP_TO, Method
from utmost.sampling.wide import Integers, add

Blocks = Callable[[str], Iterator[Integers]]
"""From a column's name to the blocks of a stored response."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a response is drawn.

    Attributes:
        step: from the levels that are stored.
        lattice: on which the noise lives.
        size: how many cells are answered in all.
    """

    step: Step
    lattice: Lattice
    size: int

    @property
    def needs_values(self) -> bool:
        """Only beyond the loosest stored level."""
        return self.step.loose is None

    def blocks(
        self,
        column: str,
        values: Mapping[str, Integers] | None,
        below: Blocks | None,
        above: Blocks | None,
        rows: int,
        randomness: Randomness,
    ) -> Iterator[Integers]:
        """The new response of one column, block by block.

        Raises:
            NeedsTable: where values are needed and there are none.
        """
        if self.needs_values and values is None:
            raise NeedsTable(f"a response at {self.step.to} needs the values", where="view", mend="Call relax.")
        method: Method = "constant" if self.size <= CONSTANT_UP_TO else "table"
        stored = [None if blocks is None else blocks(column) for blocks in (below, above)]
        for start in range(0, rows, BLOCK):
            strict, loose = (None if blocks is None else next(blocks) for blocks in stored)
            count = min(BLOCK, rows - start)
            if self.needs_values:
                assert values is not None
                true = values[column][start : start + count]
                yield self._from_values(true, strict, count, randomness, method)
            else:
                assert loose is not None
                yield self._from_responses(strict, loose, count, randomness, method)

    def _from_values(
        self, true: Integers, strict: Integers | None, count: int, randomness: Randomness, method: Method
    ) -> Integers:
        """The noise at the strict level is response - value; it tells its place in the uniform block, too."""
        if strict is None:
            place, coarse = self.lattice.place(count, randomness), None
        else:
            place, coarse = self.lattice.split(minus(strict, true))
        noise = self.lattice.times(self.step.drawn(self.lattice, coarse, None, count, randomness, method))
        return add(true, noise if place is None else add(place, noise))

    def _from_responses(
        self, strict: Integers | None, loose: Integers, count: int, randomness: Randomness, method: Method
    ) -> Integers:
        """Responses of one cell differ by multiples of the uniform block."""
        apart = None if strict is None else self.lattice.split(minus(strict, loose))[1]
        level = np.zeros(count, np.int64)
        moved = self.step.drawn(self.lattice, apart, level, count, randomness, method)
        return add(loose, self.lattice.times(moved))
