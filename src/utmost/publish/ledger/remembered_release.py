"""A release: a promise kept on a table, in a memory; one noun for what a process, a ledger or a service remembers."""

from functools import partial
from pathlib import Path
from typing import Any, Protocol

from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.numbers import Number
from utmost.core.exact.shown import Shown, brief, one_line
from utmost.errors import NeedsTable, UtmostError
from utmost.publish.ledger.source import AnswerTable
from utmost.publish.releases.gradual_answers import level_of_answer
from utmost.publish.releases.reader_verbs import AnswersReaders, Read, read_answer
from utmost.publish.releases.workload_release import Families
from utmost.tables.engines.engines import is_engine_frame


class Memory(Protocol):
    """Where releases are remembered: a `Ledger` in a file, on a server or in this process, or what `connect` gives.

    Whatever is asked of a release, in whatever order, its answers have one joint law, and none is ever another.
    """

    def levels(self, name: str, version: int | None = None) -> tuple[Level, ...]:
        """The levels at which a release was answered, strictest first."""

    def relax(self, name: str, table: Any, *, epsilon: Level, version: int | None = None) -> AnswerTable:
        """The answer at any level, with the table at hand."""

    def view(self, name: str, *, epsilon: Level, version: int | None = None) -> AnswerTable:
        """The answer at a level up to the loosest that was answered."""

    def margin(
        self, name: str, *, epsilon: Level, confidence: Number = "0.95", version: int | None = None
    ) -> int | float:
        """The error bar at any level."""

    def statement(self, name: str, *, epsilon: Level, version: int | None = None) -> dict[str, Any]:
        """What is said publicly of the answer at a level."""

    def save(
        self,
        name: str,
        path: Path | str,
        *,
        epsilon: Level,
        version: int | None = None,
        confidence: Number = "0.95",
        family: Families | None = None,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the answer at a level, with its statement; see `Ledger.save`."""


class Release(AnswersReaders, Shown):
    """An answer of a table's release, at the level of the call that made it; or the history of all its answers.

    `release` and `Ledger.publish` give an answer: its ``table``, ``statement``, ``save`` and all other verbs are those
    of its own level for ever, whatever is asked for later, here or in another process. ``ledger[name]`` is the history:
    once it has several answers, these verbs need the level that is meant. Both give further answers by `at`. Answers
    at all levels have one joint law, and cost together the largest level alone.

    Args:
        memory: where the release is remembered.
        name, version: under which it is.
        table: the true values, where whoever asks has them at hand; without them no level beyond the loosest answered
            can be asked for, unless they are brought again.
        answer: the level of the call that made it, and the released table; None for the history.

    Source: [koufogiannis2015], Theorems 1, 11 and 12.

    >>> from utmost import Unit
    >>> from tempfile import TemporaryDirectory
    >>> from utmost.ledger import Ledger
    >>> from utmost.promises import Promise
    >>> table = {"department": ["A", "B"], "admitted": [601, 370]}
    >>> promise = Promise("admitted", public="department", unit=Unit(1, 1))
    >>> with TemporaryDirectory() as here, Ledger.open(f"{here}/kept.db", create=True) as ledger:
    ...     _ = ledger.publish("admissions", table, promise, epsilon=1)
    ...     release = ledger["admissions"]
    ...     loose, strict = release.at(2, table=table), release.at("1/2")
    ...     release, release.spent, release.margin(epsilon=2)
    (Release(name='admissions', version=1, spent=level(epsilon=2)), level(epsilon=2), 1)
    """

    __slots__ = ("_answer", "_memory", "_table", "name", "version")

    _shown = ("name", "version", "spent")

    def __init__(
        self,
        memory: Memory,
        name: str,
        version: int,
        table: Any = None,
        answer: tuple[Level, AnswerTable] | None = None,
    ) -> None:
        self._memory, self._table, self.name, self.version, self._answer = memory, table, name, version, answer

    def __repr__(self) -> str:
        if self._answer is not None:
            return f"Release(name={brief(self.name)}, version={self.version}, level={self._answer[0]!r})"
        try:
            return one_line(self)
        except UtmostError:  # no answer that may be seen, or a memory that is out of reach: it still has its name
            return f"Release(name={brief(self.name)}, version={self.version})"

    def at(
        self, epsilon: Number | Level | None = None, *, alpha: Number | None = None, table: Any = None
    ) -> AnswerTable:
        """The answer at a level: the table of the kind that was released, or of a strategy a `WorkloadRelease`.

        Asked again, the same answer. A level up to the loosest one answered costs nothing more, and needs no table.

        Args:
            epsilon, alpha: the level, one of the two.
            table: the true values, where the release does not hold them.

        Raises:
            NotALevel: for what is no level. NeedsTable: beyond the loosest level, without the table.
            DataChanged: for other values than those released. BudgetExceeded: where the dataset's limit is in the way.
        """
        at = level_of(epsilon, alpha)
        if table is None and self._answer is not None and at == self._answer[0]:
            return self._answer[1]
        brought = self._table if table is None else table
        # An engine answers for its frame at every level: of its responses none is kept that could be viewed.
        if brought is None or (at in self.levels and not is_engine_frame(brought)):
            return self._memory.view(self.name, epsilon=at, version=self.version)
        return self._memory.relax(self.name, brought, epsilon=at, version=self.version)

    @property
    def levels(self) -> tuple[Level, ...]:
        """Every level that was answered, strictest first."""
        return self._memory.levels(self.name, self.version)

    @property
    def spent(self) -> Level:
        """What all answers of this version cost together: the largest level."""
        levels = self.levels
        if not levels:
            raise NeedsTable("a release must have an answer", came="none that may be seen", where=repr(self.name))
        return max(levels)

    @property
    def level(self) -> Level:
        """The level of this answer; of a history that of its only answer.

        Raises:
            NotALevel: for a history of several answers, or of none.
        """
        return self._level(None, None)

    def _level(self, epsilon: Number | Level | None, alpha: Number | None) -> Level:
        """The level that is named, else that of this answer; no answer is picked among several."""
        if epsilon is None and alpha is None and self._answer is not None:
            return self._answer[0]
        return level_of_answer(epsilon, alpha, lambda: self.levels, repr(self.name))

    @property
    def table(self) -> AnswerTable:
        """The released table, at the level of this answer; of a history `at` gives it once there are several."""
        return self.at(self.level)

    @property
    def statement(self) -> dict[str, Any]:
        """The public statement of this answer; of a history with several answers see `Ledger.statement`."""
        return self._memory.statement(self.name, epsilon=self.level, version=self.version)

    def margin(
        self, confidence: Number = "0.95", *, epsilon: Number | Level | None = None, alpha: Number | None = None
    ) -> int | float:
        """The distance within which a released value lies of the true one, at any level; this answer's if left out."""
        at = self._level(epsilon, alpha)
        return self._memory.margin(self.name, epsilon=at, confidence=confidence, version=self.version)

    def read(self, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Read:
        """The answer as its readers have it, with every verb; this one, or that at another level that was answered.

        Returns:
            A `WorkloadRelease` of sums; of a table of cells the same as `read_release` of its file.

        Raises:
            NotALevel: for a history of several answers, where no level is named.
            Unsupported: for points, columns changed together and named keys, whose numbers are not noised one by one.
        """
        at = self._level(epsilon, alpha)
        statement = partial(self._memory.statement, self.name, epsilon=at, version=self.version)
        return read_answer(self.at(at), statement)

    def save(
        self,
        path: Path | str,
        *,
        epsilon: Number | Level | None = None,
        alpha: Number | None = None,
        confidence: Number = "0.95",
        family: Families | None = None,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write this answer, or that at another level, and its statement beside it.

        Args:
            path, confidence, family, format, sign, overwrite: as for `Ledger.save`.
            epsilon, alpha: Level; this answer's if left out. A history of several answers needs it.
        """
        return self._memory.save(
            self.name,
            path,
            epsilon=self._level(epsilon, alpha),
            version=self.version,
            confidence=confidence,
            family=family,
            format=format,
            sign=sign,
            overwrite=overwrite,
        )
