"""A release: the history of all answers to one promise about one table, in one memory."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from utmost.core.exact.display import Display, brief, one_line
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.exact.written_levels import level_words
from utmost.errors import NeedsTable, NotALevel, UtmostError
from utmost.publish.releases.answer import Answer
from utmost.tables.engines.engines import is_engine_frame


class Memory(Protocol):
    """The place where releases are remembered: a `Ledger` in a file, on a server or in this process, or a service.

    All answers to a release have one joint law, in whatever order they are asked for, and none is ever another.
    """

    @property
    def identity(self) -> str | None:
        """Random name of the memory, by which two of them are told apart; None where it is not known here."""

    def levels(self, name: str, version: int | None = None) -> tuple[Level, ...]:
        """The levels at which a release was answered, strictest first."""

    def relax(self, name: str, table: Any, *, epsilon: Level, version: int | None = None) -> Answer[Any]:
        """The answer at any level, with the table at hand."""

    def view(self, name: str, *, epsilon: Level, version: int | None = None) -> Answer[Any]:
        """The answer at a level up to the largest that was answered."""


class Release(Display):
    """The history of all answers to one promise about one table; ``ledger[name]``, ``client[name]``, `Answer.release`.

    It has no values of its own: `at` gives the answer at a level. Answers at all levels have one joint law, and cost
    together the largest level alone.

    Args:
        memory: Memory in which the release is kept.
        name, version: Name and version of the release there.
        table: True values, where the caller has them at hand. Without them no level beyond the largest answered can be
            asked for, unless the table is passed again.

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
    ...     sharper, noisier = release.at(2, table=table), release.at("1/2")
    ...     release, release.spent, sharper.margin()
    (Release(name='admissions', version=1, spent=level(epsilon=2)), level(epsilon=2), 1)
    """

    __slots__ = ("_memory", "_table", "name", "version")

    _shown = ("name", "version", "spent")

    def __init__(self, memory: Memory, name: str, version: int, table: Any = None) -> None:
        self._memory, self._table, self.name, self.version = memory, table, name, version

    def __repr__(self) -> str:
        try:
            return one_line(self)
        except UtmostError:  # no answer that may be seen, or a memory that is out of reach: it still has its name
            return f"Release(name={brief(self.name)}, version={self.version})"

    def at(self, epsilon: Number | Level | None = None, *, table: Any = None) -> Answer[Any]:
        """The answer at a level. Asked again, it is the same answer.

        A level up to the largest one answered costs nothing more, and needs no table.

        Args:
            epsilon: Level; that of the only answer if left out.
            table: True values, where the release does not hold them.

        Raises:
            NotALevel: for what is no level, and where several answers could be meant.
            NeedsTable: beyond the largest level, without the table.
            DataChanged: for other values than those released. BudgetExceeded: where the dataset's limit is in the way.
        """
        at = level_of_answer(epsilon, lambda: self.levels, repr(self.name))
        values = self._table if table is None else table
        # An engine answers for its frame at every level: of its responses none is kept that could be viewed.
        if values is None or (at in self.levels and not is_engine_frame(values)):
            return self._kept(self._memory.view(self.name, epsilon=at, version=self.version))
        return self._kept(self._memory.relax(self.name, values, epsilon=at, version=self.version))

    def relax(self, table: Any = None, *, epsilon: Number | Level) -> Answer[Any]:
        """The answer at another level, with the table; see `Ledger.relax`.

        Args:
            table: True values; those that the release holds if left out.
            epsilon: Level.

        Raises:
            NeedsTable: beyond the largest level, where the release holds no values. DataChanged, BudgetExceeded: as
                `at`.
        """
        return self.at(level(epsilon), table=table)

    def view(self, *, epsilon: Number | Level) -> Answer[Any]:
        """The answer at a level up to the largest that was answered; nothing is spent, see `Ledger.view`.

        Args:
            epsilon: Level.

        Raises:
            NeedsTable: beyond the largest level.
        """
        return self._kept(self._memory.view(self.name, epsilon=level(epsilon), version=self.version))

    @property
    def memory_identity(self) -> str | None:
        """Random name of the memory, by which two of them are told apart; None where it is not known here."""
        return self._memory.identity

    @property
    def levels(self) -> tuple[Level, ...]:
        """Every level that was answered, smallest epsilon first."""
        return self._memory.levels(self.name, self.version)

    @property
    def spent(self) -> Level:
        """The loss of all answers to this version together: the largest level."""
        levels = self.levels
        if not levels:
            remedy = "Call answer() with the table first."
            raise NeedsTable(
                "spent needs an answer", came="none that you may see", where=repr(self.name), remedy=remedy
            )
        return max(levels)

    def _kept(self, answer: Answer[Any]) -> Answer[Any]:
        """The answer, with this release as its history: it holds the table where this one does."""
        return replace(answer, _release=self)


def level_of_answer(epsilon: Number | Level | None, levels: Callable[[], Sequence[Level]], where: str) -> Level:
    """The level of the answer that is meant: the one that is named, else that of the only answer there is.

    An answer belongs to the level of the call that made it, so nobody is given the least noisy of several unasked.

    Args:
        levels: gives those that have been answered, where none is named.
        where: Name of the release in messages.

    Raises:
        NotALevel: where none is named, and there is no answer or more than one.
    """
    if epsilon is not None:
        return level(epsilon)
    answered = levels()
    if len(answered) == 1:
        return answered[0]
    if not answered:
        remedy = "Pass epsilon=, or ask at() first."
        raise NotALevel("epsilon must be given before the first answer", came="none", where=where, remedy=remedy)
    raise NotALevel(
        "epsilon must be given where a release has several answers",
        came=f"none, beside answers at epsilon = {', '.join(map(level_words, answered))}",
        where=where,
        remedy="Pass epsilon= with one of these levels.",
    )
