"""Selection of cells of a declared universe, without a delta, as a kind of noise for a promise; see `select_cells`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from utmost.core.exact.arguments import mapping
from utmost.core.exact.field_forms import form
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.exact.written_levels import level_name
from utmost.core.noise.geometric import Geometric
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.promises.noise_of_keys import MOST_SERVED, KeysAndCounts, SelectionNoise, check_key_columns
from utmost.publish.promises.partition_selection import keys_of_one
from utmost.publish.promises.table_statements import promise_text
from utmost.publish.promises.vast_domains import (
    Texts,
    Tuples,
    check_places,
    least_threshold,
    read_false_keys,
    selected_cells,
    size_text,
)


@dataclass(frozen=True, slots=True)
class SelectedCellNoise(SelectionNoise):
    """Geometric noise on every cell of a universe; cells with a noisy count above a threshold are selected."""

    kind: ClassVar[str] = "selected cells of a universe"
    json_kind: ClassVar[str] = "selected cells"

    universe: Texts | Tuples = field(
        metadata=form(
            "all keys that are possible",
            write=lambda universe: universe.facts(),
            read=lambda facts, name: (Texts if "alphabet" in mapping(facts, name) else Tuples).of_facts(facts),
        )
    )
    # Largest expected number of selected keys that nobody has
    false_keys: Fraction = field(metadata=form("largest expected number of selected keys that nobody holds", write=str))

    @property
    def subject(self) -> str:
        return "cells of a declared universe"

    def check_served(self) -> None:
        """Check that a service accepts the number of false keys."""
        SelectionNoise.check_served(self)
        if self.false_keys > MOST_SERVED:
            required = f"false_keys must be at most {MOST_SERVED} in a service"
            raise OutOfRange(required, came=str(self.false_keys), where="terms")

    def check_counts(self, counts: Sequence[tuple[Any, int]]) -> None:
        check_places(counts, self.universe)

    def keys_written(self, parts: Sequence[str]) -> int:
        return self.universe.keys_written(parts)

    def selected(self, counts: Sequence[tuple[Any, int]], level: Level, bits: Randomness) -> KeysAndCounts:
        cells = selected_cells(counts, self.universe, level, self.unit.cells, self.false_keys, bits)
        return cells.keys, cells.noisy

    def _distribution(self, level: Level) -> Geometric:
        return Geometric(level.scaled(Fraction(1, self.unit.cells)))

    def margin(self, level: Level, confidence: Number) -> int:
        """Return the margin of error of a noisy count before selection, as if all noisy counts were published."""
        return int(self._distribution(level).margin(confidence))

    def threshold(self, level: Level) -> int:
        """Return the number that the noisy count of a selected cell must exceed."""
        return least_threshold(self._distribution(level).level, self.universe.size, self.false_keys)

    def drawn(self, level: Level) -> str:
        return (
            f"{self._distribution(level)!r} on every cell of the universe, also those that nobody holds; a cell is "
            f"selected if its noisy count is above {self.threshold(level)}, so that rare cells look more frequent than "
            "they are"
        )

    @property
    def theorem(self) -> str:
        """The theorem in words: noise on every cell would give the same distribution of the list."""
        return "the list has the same distribution as if every possible key got noise; only selected keys are drawn"

    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        changes = self.unit.changes_text("cell of the universe" if self.unit.cells == 1 else "cell")
        promised = promise_text(level, self.unit, "the selected cells and their counts", changes)
        wish = f"At most {self.false_keys} of the selected cells belong to nobody, on average ({level_name(level)})."
        return f"{promised} The universe has {size_text(self.universe)} cells and was declared beforehand. {wish}"

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "SelectedCellNoise":
        about = cls.arguments(facts)
        keys, false_keys = about["unit"].cells, about["false_keys"]
        return selected_cell_noise(about["columns"], about["universe"], keys=keys, false_keys=false_keys)


def selected_cell_noise(
    columns: Sequence[str], universe: Texts | Tuples, *, keys: int = 1, false_keys: Number = 1
) -> SelectedCellNoise:
    """Make the noise of a promise that selects cells of a declared universe, without a delta: see `select_cells`.

    Args:
        columns: Column of the key, or columns of its parts, and last the column with the number of individuals who have
            the key.
        universe: `Texts` or `Tuples`, chosen without looking at the data.
        keys: Largest number of keys of one individual, who adds at most 1 to the count of each.
        false_keys: Largest expected number of selected keys that nobody has.

    Raises:
        OutOfRange, NotANumber: if an argument is invalid.
        Unsupported: if the universe is of any other class, which no file could describe.

    >>> from utmost.exact import level
    >>> words = Texts("abcdefghijklmnopqrstuvwxyz", most=20)
    >>> selected_cell_noise(["word", "n"], words, false_keys="1e-9").threshold(level(1))
    85
    """
    if not isinstance(universe, Texts | Tuples):
        remedy = "Pass Texts or Tuples; or call select_cells, which works without a promise."
        raise Unsupported(
            "the universe of a promise must be Texts or Tuples",
            came=type(universe).__name__,
            where="universe",
            remedy=remedy,
        )
    unit = Unit(1, keys_of_one(keys))
    return SelectedCellNoise(unit, check_key_columns(columns), universe, read_false_keys(false_keys))
