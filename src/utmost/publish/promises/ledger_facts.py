"""The facts that a ledger adds to the statement of an answer: name and version of the release, answered levels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import read_confidence
from utmost.core.exact.written_levels import level_facts, level_from_facts, level_from_text, level_text
from utmost.errors import BadTable, UtmostError
from utmost.publish.promises.until import Stop

MOST_VERSIONS = 10**9
"""The largest version of the data of a release."""

PROCESS_NAME = "release"
"""The name, in a statement, of a release by `ut.release`, which is stored in memory and not in a ledger."""


@dataclass(frozen=True, slots=True)
class LedgerFacts:
    """The release of an answer: its name and version, and the levels that were answered when the answer was given.

    A statement never changes: later answers appear in their own statements.

    Attributes:
        name, data_version: Name and data version of the release.
        levels: Answered levels, including the level of this answer, smallest epsilon first.
        together: Epsilon that all these levels and all versions of the release cost together; None if nothing is spent.
        together_seen: ``together`` for a recipient who sees no answer, of any version, above the level of this answer.
        stop: Facts of the stopping rule; None if the promise has no such rule, or the rule did not try this level.
    """

    name: str
    data_version: int
    levels: tuple[Level, ...]
    together: Level | None
    together_seen: Level | None
    stop: Stop | None

    def facts(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "data_version": self.data_version,
            "levels": [level_text(level) for level in self.levels],
            "together": None if self.together is None else level_facts(self.together),
            **({} if self.stop is None else {"stopped": self.stop.facts()}),
        }

    def seen_at(self, level: Level) -> "LedgerFacts":
        """Return the facts for a recipient who may see no level above ``level``, the level of this answer."""
        seen = tuple(answered for answered in self.levels if not answered > level)
        return replace(self, levels=seen, together=self.together_seen)

    @classmethod
    def of_statement(cls, statement: Mapping[str, Any], level: Level) -> "LedgerFacts | None":
        """Read and check the ledger's facts in a statement of an answer at ``level``; return None if it has none."""
        # A statement without a release name has no facts of a ledger; if it has some of their fields, the comparison of
        # all fields will refuse them.
        if "name" not in statement:
            return None
        name, version, texts, total = (statement.get(each) for each in ("name", "data_version", "levels", "together"))
        if not isinstance(name, str) or not name:
            raise _does_not_follow("name")
        if type(version) is not int or not 1 <= version <= MOST_VERSIONS:
            raise _does_not_follow("data_version")
        levels = _stated_levels(texts)
        if level not in levels:
            raise _does_not_follow("levels")
        if not isinstance(total, Mapping):
            raise _does_not_follow("together")
        try:
            together = level_from_facts(total)
        except UtmostError:
            raise _does_not_follow("together") from None
        if together < max(levels) or dict(total) != level_facts(together):
            raise _does_not_follow("together")
        stop = None if "stopped" not in statement else stated_stop(statement["stopped"])
        return cls(name, version, tuple(levels), together, together, stop)


def _stated_levels(texts: Any) -> Sequence[Level]:
    """Return the levels in a statement; check that each is written once, in normal form, in ascending order."""
    try:
        levels = [level_from_text(text) for text in texts]
    except (UtmostError, TypeError, AttributeError):
        raise _does_not_follow("levels") from None
    # Other spellings are refused: one level could appear twice.
    if not isinstance(texts, list) or list(map(level_text, levels)) != texts or len(set(levels)) < len(levels):
        raise _does_not_follow("levels")
    if sorted(levels) != levels:
        raise _does_not_follow("levels")
    return levels


def stated_stop(facts: Any) -> Stop:
    """Read the facts of a stopping rule in a statement; `Statement` compares these facts with promise and level."""
    if not isinstance(facts, Mapping) or type(facts.get("met", 0)) not in (bool, NoneType):
        raise _does_not_follow("stopped")
    try:
        confidence = read_confidence(facts.get("confidence", ""))
    except UtmostError:
        raise _does_not_follow("stopped") from None
    return Stop(tuple(_stated_levels(facts.get("levels"))), facts["met"], confidence)


def _does_not_follow(field: str) -> BadTable:
    required = "the ledger's facts in a statement must fit its level"
    remedy = "Ask the curator for the statement as it was published."
    return BadTable(required, came="others: the statement was changed", where=field, remedy=remedy)
