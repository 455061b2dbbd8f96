"""Releases without history: the whole table is checked, then noise is drawn once for every cell, at one level."""

from dataclasses import dataclass
from typing import Any, Protocol

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import Unsupported
from utmost.publish.promises.declared_columns import check_margins_free
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel, NoiseAtLevel, warn_of_rows, warn_of_weakness
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.statement import Statement
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.source import Source, checked_source
from utmost.tables.frames.any_table import is_engine_table


class CheckedRelease(Protocol):
    def statement(self) -> dict[str, Any]:
        """Return the statement of the answer, without a digest, before the answer is drawn."""

    def released(self, randomness: Randomness) -> Answer[Any]:
        """Draw the answer."""


def statement_before(promise: Promise, at_level: NoiseAtLevel, rows: int) -> dict[str, Any]:
    """Return the statement of an answer that is not drawn yet, without a digest."""
    return Statement(promise, at_level, rows, None, None).facts()


def checked_table(
    table: object, promise: Promise, at: Level, confidence: Number = DEFAULT_CONFIDENCE
) -> CheckedRelease:
    """Make every check of a release of this table at this level; raise UtmostError if it cannot be released."""
    promise.check_fixed("once=True")
    noise = promise.noise
    if noise.is_by_plan:
        from utmost.publish.releases.checked_sums import CheckedSums

        return CheckedSums.of(table, promise, at, confidence)
    at_level = noise.at(at, confidence)
    if isinstance(noise, Noise):  # for other noise `at` has checked the level
        noise.check()
        noise.check_level(at)
    rows = promise.rows_of(table)
    if hasattr(type(rows), "pieces"):  # a file; look at the class, since a frame's columns are attributes
        if not isinstance(at_level, CellNoiseAtLevel):
            raise Unsupported(
                "a file that is read in pieces must be released with independent noise for each cell",
                came=noise.kind,
                where="promise",
            )
        from utmost.publish.releases.streamed import CheckedPieces

        return CheckedPieces.of(rows, promise, at_level)
    if isinstance(at_level, CellNoiseAtLevel) and is_engine_table(rows):
        from utmost.publish.releases.engine_release import CheckedFrame

        return CheckedFrame.of(rows, promise, at_level)
    return CheckedTable.of(table, rows, promise, at_level)


@dataclass(frozen=True, slots=True, eq=False)
class CheckedTable:
    source: Source
    noise: NoiseAtLevel

    @classmethod
    def of(cls, table: object, rows: object, promise: Promise, noise: NoiseAtLevel) -> "CheckedTable":
        """Make every check that a release makes before it draws."""
        source = checked_source(table, rows, promise, noise.read)
        margins = {margin: name for margin, (name, _) in noise.bars(promise.columns).items()}
        check_margins_free(margins, source.order)
        warn_of_weakness(noise.weakness())
        warn_of_rows(promise.rows)
        return cls(source, noise)

    def statement(self) -> dict[str, Any]:
        """Return the statement before the draw; it has 0 rows for selected keys, whose number is not known yet."""
        rows = 0 if self.source.promise.noise.names_rows else self.source.rows
        return statement_before(self.source.published_promise, self.noise, rows)

    def released(self, randomness: Randomness) -> Answer[Any]:
        return self.source.answer(self.noise, self.noise.noised(self.source.columns, randomness), None)
