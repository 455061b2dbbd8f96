"""A release: the history of all answers to one promise about one table, as a ledger or process remembers it."""

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
    """A store of releases: a ledger in a file, on a server or in this process, or a service.

    All answers to a release have one joint distribution, in whatever order they are requested, and never change.
    """

    @property
    def identity(self) -> str | None:
        """The random name of this store; None if the caller cannot know it."""

    def levels(self, name: str, version: int | None = None) -> tuple[Level, ...]:
        """Return the levels at which a release was answered, smallest epsilon first."""

    def relax(self, name: str, table: Any, *, epsilon: Level, version: int | None = None) -> Answer[Any]:
        """Return the answer at any level, computed from the table."""

    def view(self, name: str, *, epsilon: Level, version: int | None = None) -> Answer[Any]:
        """Return the answer at a level up to the largest one answered, without the table."""


class Release(Display):
    """The history of all answers to one promise about one table, from `Answer.release` or ``ledger[name]``.

    A client of a service returns one, too: ``client[name]``. A release has no values of its own: `at` returns the
    answer at a level. The answers at all levels have one joint distribution, and together cost the largest level.

    Args:
        memory: Ledger, or client of a service, that stores the release.
        name, version: Name and version of the release in ``memory``.
        table: True values, if available. Without these values, a level above the largest one answered needs the table
            again.

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
        except UtmostError:  # nothing was answered, or the memory cannot be reached
            return f"Release(name={brief(self.name)}, version={self.version})"

    def at(self, epsilon: Number | Level | None = None, *, table: Any = None) -> Answer[Any]:
        """Return the answer at a level; a repeated call returns the same answer.

        A level up to the largest one answered costs nothing more, and needs no table. There are two exceptions: points
        need the table at every new level, and a release of an engine's frame needs the frame at every level.

        Args:
            epsilon: Level; if left out, the level of the only answer.
            table: True values, if the release does not store them.

        Raises:
            NotALevel: if the level is invalid; or if no level is given, and there are no answers or several.
            NeedsTable: if the table is left out, and the level is above the largest one answered or, in a release of
                points, is new.
            Unsupported: if the frame is left out, and an engine computes the answers of the release.
            DataChanged: if the table has other values than those released.
            BudgetExceeded: if the limit of the dataset does not allow the level.
        """
        at = level_of_answer(epsilon, lambda: self.levels, repr(self.name))
        values = self._table if table is None else table
        # The engine computes its frame's answer at every level, since a ledger does not store it.
        if values is None or (at in self.levels and not is_engine_frame(values)):
            return self._with_history(self._memory.view(self.name, epsilon=at, version=self.version))
        return self._with_history(self._memory.relax(self.name, values, epsilon=at, version=self.version))

    def relax(self, table: Any = None, *, epsilon: Number | Level) -> Answer[Any]:
        """Return the answer at another level, from the table; see `Ledger.relax`.

        Args:
            table: True values; if left out, the values that the release stores.
            epsilon: Level of the answer.

        Raises:
            NeedsTable, Unsupported: as for `at`, if the release stores no values.
            DataChanged, BudgetExceeded: as for `at`.
        """
        return self.at(level(epsilon), table=table)

    def view(self, *, epsilon: Number | Level) -> Answer[Any]:
        """Return the answer at a level up to the largest one answered; this costs nothing, see `Ledger.view`.

        Args:
            epsilon: Level of the answer.

        Raises:
            NeedsTable: if the level is above the largest one answered or, in a release of points, is new.
            Unsupported: if an engine computes the answers of the release. Call `at` with the frame.
        """
        return self._with_history(self._memory.view(self.name, epsilon=level(epsilon), version=self.version))

    @property
    def memory_identity(self) -> str | None:
        """The random name of the memory that stores the release; None if this process does not know it."""
        return self._memory.identity

    @property
    def levels(self) -> tuple[Level, ...]:
        """All levels that were answered, smallest epsilon first."""
        return self._memory.levels(self.name, self.version)

    @property
    def spent(self) -> Level:
        """The cost of all answers to this version of the release together: the largest level."""
        levels = self.levels
        if not levels:
            remedy = "Answer the release first: release.at(epsilon, table=table)."
            raise NeedsTable(
                "spent is known only after an answer",
                came="no answer that you may see",
                where=repr(self.name),
                remedy=remedy,
            )
        return max(levels)

    def _with_history(self, answer: Answer[Any]) -> Answer[Any]:
        """Return the answer with this release as its history, so that ``answer.release`` gives further answers."""
        return replace(answer, _release=self)


def level_of_answer(epsilon: Number | Level | None, levels: Callable[[], Sequence[Level]], where: str) -> Level:
    """Return the requested level; without a level, that of the only answer of the release."""
    # There is no default among several answers, since it might show the least noisy one by mistake.
    if epsilon is not None:
        return level(epsilon)
    answered = levels()
    if len(answered) == 1:
        return answered[0]
    if not answered:
        remedy = "Pass epsilon=, or call at(epsilon) first."
        raise NotALevel("epsilon must be given before the first answer", came="none", where=where, remedy=remedy)
    raise NotALevel(
        "epsilon must be given where a release has several answers",
        came=f"none, beside answers at epsilon = {', '.join(map(level_words, answered))}",
        where=where,
        remedy="Pass epsilon= with one of these levels.",
    )
