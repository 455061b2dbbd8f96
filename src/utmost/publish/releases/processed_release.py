"""A gradual release behind a reading: a query before the noise, and any function of each answer after it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.exact.written_levels import level_facts, level_from_facts
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.random_bits import Randomness
from utmost.publish.promises.codec import StatementForm, does_not_follow, names_of, stated_rows
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.statement_kinds import PROCESSED_KIND
from utmost.publish.promises.table_statements import promise, taken_for_granted
from utmost.publish.releases.gradual_answers import AnsweredLevels, LaidOut, Said, Saving
from utmost.publish.releases.gradual_release import GradualRelease
from utmost.tables.files.saving import Digest
from utmost.tables.frames.adapters import Column

NO_BARS = "none: a function of the noisy values was published, and its error is not that of the noise"

Data = TypeVar("Data")
Processed = TypeVar("Processed")


class ProcessedRelease(AnsweredLevels, Generic[Processed]):
    """A gradual release of ``before(data)`` whose responses are read by ``after(response, level)``.

    What is published, and stated, is what a function makes of noisy values, which no promise of columns can say.

    The raw responses stay inside: what the reading hides, a clamped tail say, the next level still needs. Each level is
    read once and its reading kept, so that a reading that tosses coins is not asked twice.

    Args:
        data: anything that ``before`` takes.
        before: the query, evaluated once. It must not look at a level.
        sensitivity: Most by which one individual changes one of its values. It cannot be checked here.
        after: any function of the response and its level: clamp, round, a consumer's remap.
        cells, unit, numbers, grid, half_step, randomness: Arguments of `GradualRelease`.

    Promise: the level `spent`, for all readings together: they are functions of the responses.

    Source: [koufogiannis2015], Corollary 13.

    >>> ages = [34, 51, 12, 29]
    >>> adults = ProcessedRelease(
    ...     ages, before=lambda a: sum(x >= 18 for x in a), sensitivity=1, after=lambda y, _: min(max(y, 0), 4)
    ... )
    >>> 0 <= adults.at(epsilon="1/10") <= 4, adults.at(epsilon=60)
    (True, 3)
    """

    __slots__ = ("_after", "_raw", "_read")

    def __init__(
        self,
        data: Data,
        *,
        before: Callable[[Data], Any],
        after: Callable[[Any, Level], Processed],
        sensitivity: Number | Mapping[Any, Number] | None = None,
        unit: Unit | None = None,
        cells: Number | None = None,
        numbers: str | Mapping[Any, str] = "integers",
        grid: Number | None = None,
        half_step: bool = False,
        randomness: Randomness | None = None,
    ) -> None:
        for name, function in (("before", before), ("after", after)):
            if not callable(function):
                raise wrong_kind(name, "a function", function)
        self._raw = GradualRelease(
            before(data),
            sensitivity,
            unit=unit,
            cells=cells,
            numbers=numbers,
            grid=grid,
            half_step=half_step,
            randomness=randomness,
        )
        self._after = after
        self._read: dict[Level, Processed] = {}

    def at(
        self,
        epsilon: Number | Level | None = None,
    ) -> Processed:
        """The reading at a level; asked again, the same reading."""
        wanted = level(epsilon)
        with self._alone():
            if wanted not in self._read:
                self._check_owner()
                self._read[wanted] = self._after(self._raw.at(wanted), wanted)
            return self._read[wanted]

    @property
    def levels(self) -> tuple[Level, ...]:
        """Every level asked for so far, strictest first."""
        return self._raw.levels

    def save(  # type: ignore[override]  # no error bar holds of a reading
        self,
        path: Path | str,
        *,
        epsilon: Number | Level,
        name: str | None = None,
        public: Mapping[Any, Column] | None = None,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the reading at a level and, beside it, its statement; no error bar holds of what a function makes.

        Args:
            epsilon: the level; needed once several were asked for. A new one is answered and read,
                and so spent before it is known what the reading is: where it makes no table, or public columns are not
                as long, it is kept, and costs nothing when it is asked for again.
            name, public: Arguments of `GradualRelease.save`.
            path, format, sign, overwrite: Arguments of `saved`.

        Raises:
            NotALevel: where no level is named, and none or several were asked for.
            Unsupported: for a reading that is no number, array or table, and as `GradualRelease.save`.
            BadTable: for invalid public columns, or columns of different lengths, before anything is spent; and for
                columns of another length than the reading.
        """
        return super().save(
            path,
            epsilon=epsilon,
            name=name,
            public=public,
            format=format,
            sign=sign,
            overwrite=overwrite,
        )

    def _published(self, how: Saving) -> tuple[dict[str, Column], Said]:
        unit, _ = self._raw._promised()
        laid = LaidOut.of(self.at(how.level), how.public)
        parts = list(laid.released), list(laid.public), laid.rows

        def statement(digest: Digest | None, answered: LedgerFacts) -> dict[str, Any]:
            return READING_FORM.statement(StatedReading(how.level, unit, parts, answered), digest)

        return laid.with_margins({}), statement

    def __repr__(self) -> str:
        return f"ProcessedRelease(spent={self.spent})"


@dataclass(frozen=True, slots=True)
class StatedReading:
    """The subject of the statement of a reading: the promise that it inherits; nothing is known of its error.

    Attributes:
        level: Level of the reading.
        unit: Unit of privacy, before the noise.
        parts: Columns of the reading, columns published without noise, and the number of rows.
        ledger: Name of the release, and its other levels.
    """

    level: Level
    unit: Unit
    parts: tuple[Sequence[str], Sequence[str], int]
    ledger: LedgerFacts

    def _fields(self) -> dict[str, Any]:
        unit, (released, public, rows) = self.unit, self.parts
        promised = promise(self.level, unit, "what was read of the noisy values", "value before the noise")
        return {
            "guarantee": f"{promised} {taken_for_granted(public, 'declared')}",
            **level_facts(self.level),
            "neighbours": unit.neighbours,
            "sensitivity": str(unit.sensitivity),
            "cells": unit.cells,
            "charged": unit.charged,
            "error_bars": NO_BARS,
            "released": list(released),
            "public": list(public),
            "rows": rows,
            "rows_from": "declared",
            **self.ledger.facts(),
        }

    @classmethod
    def _of_fields(cls, document: Mapping[str, Any]) -> "StatedReading":
        level = level_from_facts(document)
        unit = Unit(document["sensitivity"], document["cells"], document["neighbours"])
        parts = names_of(document, "released"), names_of(document, "public"), stated_rows(document)
        ledger = LedgerFacts.of_statement(document, level)
        if not parts[0] or ledger is None:
            raise does_not_follow("name" if parts[0] else "released")
        return cls(level, unit, parts, ledger)


READING_FORM = StatementForm(
    PROCESSED_KIND, "a statement of a reading", StatedReading._fields, StatedReading._of_fields
)
"""Statements of readings: level, unit, columns and the other levels decide every field."""
