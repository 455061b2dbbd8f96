"""The noise of a promise: what is measured, how it is noised at every level, and how an answer is read and stated.

A kind of noise is one class in one file: cells (`cell_noise`), the sums of a plan (`sum_noise`), points of the
plane (`point_noise`). Ledger, service and command line know this protocol and no kind; `noise_kinds` lists them. A
release that nothing remembers needs `PlannedNoise` alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from numpy.typing import NDArray

from utmost.core.exact.arguments import mapping
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.field_forms import arguments_of, facts_of, form, json_forms
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, read_confidence
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.integers import Integers, joined
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import Unsupported
from utmost.publish.counting.counted_facts import CountedFacts
from utmost.publish.promises.declared_columns import check_margins_free, check_size
from utmost.publish.promises.drawing import NewResponse, Responder
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.noise_at_level import Margin, NoiseAtLevel
from utmost.publish.promises.table_statements import assumed_line
from utmost.tables.cells.columns import RowName
from utmost.tables.frames.any_table import opened_table

CONFIDENCE = Fraction(19, 20)
"""Confidence of the error bars of a response, unless another is asked for."""

Response = dict[str, Integers]
"""A response in steps, by column."""


def _read_unit(facts: dict[str, Any], name: str) -> Unit:
    return Unit.of_facts({"neighbours": "add-remove"} | facts)


@dataclass(frozen=True, slots=True)
class PlannedNoise(ABC):
    """The noise of a promise, and how an answer at a level is drawn: all that is released once needs no more.

    Attributes:
        unit: Unit of privacy.
        kind: Kind of the noised values, in words.
        json_kind: the name of the kind in JSON, see `noise_of_facts`.
        is_by_plan: whether a table must be a counted one, and the release of it is one document.
        is_in_steps: whether every released value is a multiple of the unit's step, whatever its plan is.
        labels_rows: whether it names the rows of the released table itself, which are sums of a counted table.
        names_rows: whether which rows there are is what is released, so that their number is part of the answer.
    """

    unit: Unit = field(metadata=form("whom it protects", write=Unit.facts, read=_read_unit, parts=json_forms(Unit)))

    kind: ClassVar[str]
    json_kind: ClassVar[str]
    is_by_plan: ClassVar[bool] = False
    is_in_steps: ClassVar[bool] = False
    labels_rows: ClassVar[bool] = False
    names_rows: ClassVar[bool] = False

    @property
    def needs_search(self) -> bool:
        """Whether the noise still has to be searched for; a statement needs noise that is found."""
        return False

    @property
    def rows(self) -> int | None:
        """The number of rows, where the noise decides it: that of the sums of a plan."""
        return None

    @property
    @abstractmethod
    def subject(self) -> str:
        """The released columns, in the words of a page."""

    @abstractmethod
    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> NoiseAtLevel:
        """The promise of an answer at a level and how it is drawn, whatever other levels are answered."""

    @abstractmethod
    def margin(self, level: Level, confidence: Number) -> int | float:
        """The least distance within which a released value lies of the true one, with this confidence."""

    @abstractmethod
    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        """The promise at a level, in plain words."""

    def as_drawn(self, noise: NoiseAtLevel) -> "PlannedNoise":
        """The same noise, with the result of a search that its plan made."""
        return self

    def facts(self) -> dict[str, Any]:
        """The noise as JSON, numbers as text: what promises, events and statements keep; see `noise_of_facts`."""
        return {"kind": self.json_kind, **facts_of(self)}

    def published_facts(self) -> dict[str, Any]:
        """The form in which a statement has it, which `noise_of_facts` reads, too."""
        return self.facts()

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "PlannedNoise":
        """The noise of this kind that `facts` wrote."""
        return cls(**cls.arguments(facts))

    @classmethod
    def arguments(cls, facts: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of the noise of this kind that `facts` wrote."""
        told = {name: fact for name, fact in mapping(facts, "facts").items() if name != "kind"}
        return arguments_of(cls, told, "noise")

    def check_unit(self, counted: Any) -> None:  # noqa: B027, most kinds have nothing to check
        """Check that the unit goes with a table, counted or not.

        Raises:
            Unsupported, OutOfRange: where it does not.
        """

    def check_size(self, rows: int, columns: int) -> None:
        """Check that there is something to release; see `utmost.publish.promises.declared_columns.check_size`."""
        check_size(self.unit, rows, columns)

    def released(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """The columns that are released, of those that a promise names.

        Raises:
            OutOfRange: for columns that have no such noise.
        """
        return columns

    def labelled(self, public: tuple[str, ...]) -> tuple[str, ...]:
        """The public columns, of those that a promise names, with those that the noise adds."""
        return public

    def rows_of(self, table: Any, columns: Sequence[str]) -> Any:
        """The table as its adapter or engine reads it.

        Raises:
            WrongKind: for a table of another kind.
        """
        counted: Any = table if isinstance(table, CountedFacts) else None
        return opened_table(table) if counted is None else counted.in_steps(columns[0])

    def measured(self, rows: Any) -> tuple[Any, str | None]:
        """The columns to be noised, and of which kind answers are; None where they are of the kind of the table.

        Raises:
            OutOfRange: for a table that is not what the noise is promised for.
        """
        return rows, None


@dataclass(frozen=True, slots=True)
class Noise(PlannedNoise):
    """The noise that is promised, whatever the level, and that a memory keeps.

    Attributes:
        is_relaxed: whether there are answers at several levels.
        is_charted: whether the error bar is one of each column.
    """

    is_relaxed: ClassVar[bool] = True
    is_charted: ClassVar[bool] = True

    @property
    def relation(self) -> str:
        """The neighbouring relation. Levels add up only between releases with the same relation."""
        return self.unit.neighbours

    @property
    def delta(self) -> Fraction | None:
        """The chance that the bound of epsilon does not cover; None where there is none."""
        return None

    @property
    def is_bounded(self) -> bool:
        """Whether a bound on the size of a true value is declared."""
        return False

    @property
    def exponent(self) -> int | None:
        """The k of the grid 2^-k on which true values are read; None where they are read as they are."""
        return None

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> NoiseAtLevel:
        """The promise of an answer at a level and how it is drawn, whatever other levels are answered."""
        return AnyNoiseAtLevel(self, level, read_confidence(confidence))

    def named_bars(self, level: Level, confidence: Number, most: int) -> tuple[tuple[str, int | float], ...]:
        """The error bars, each with what it is of; the widest ``most`` of many."""
        return (("each released value", self.margin(level, confidence)),)

    def per_step(self, level: Level) -> Level | None:
        """The level of one unit of a count, for a reader; None where the noise is not geometric on the integers."""
        return None

    def check(self) -> None:
        """Check all that can fail before a table is read.

        Raises:
            Unsupported: for what could be drawn and not be read.
        """

    def check_level(self, level: Level) -> None:
        """Check that a response at a level would have an error bar, so that it can be drawn, shown and stated.

        Raises:
            OutOfRange: for a level so strict that it has none: below epsilon 1e-50 for one step of the noise.
        """
        self.margin(level, DEFAULT_CONFIDENCE)

    def check_served(self) -> None:
        """Check that a service can answer for it at every level: no request may take minutes.

        Raises:
            OutOfRange: where one might.
        """

    def check_tightened(self, level: Level, where: str) -> None:
        """Check that stored responses lead to a stricter level without the table.

        Raises:
            NeedsTable: where they do not.
        """

    def by_item(self) -> Lattice:
        """The lattice of the noise of one cell, where a function of its item can be that noise.

        Raises:
            Unsupported: for noise that is of more than one cell.
        """
        remedy = "Collect the table first, and publish it without an engine."
        required = "noise keyed by identifier needs columns of single cells"
        raise Unsupported(required, came=self.kind, remedy=remedy)

    @abstractmethod
    def bound(self) -> tuple[Any, str]:
        """The size that a true value may have, as it is read; and in words."""

    @abstractmethod
    def word(self, level: Level) -> int:
        """The bytes that each cell of a response takes on disk: a function of public facts alone."""

    def warn(self, level: Level) -> None:
        """Warn of a level at which practically nobody is protected, see `warn_of_level`."""

    @abstractmethod
    def cells(self, column: Any, name: str, place: Callable[[int], str]) -> NDArray[Any]:
        """The values of a column as they are noised.

        Raises:
            BadTable: for a cell that cannot be released.
        """

    @abstractmethod
    def responder(self, response: NewResponse, values: Mapping[str, NDArray[Any]] | None) -> Responder:
        """How a new response is made."""

    @abstractmethod
    def written(self, level: Level, response: Response) -> dict[str, NDArray[Any]]:
        """A response as the numbers that are published."""

    def bars(self, columns: Sequence[str]) -> dict[str, str]:
        """The names of the columns of margins, and behind which column each stands."""
        return {f"{name}_margin": name for name in columns}

    def check_names(self, columns: Sequence[str], public: Sequence[str]) -> None:
        """Check that the columns of margins have names of their own.

        Raises:
            BadTable, OutOfRange: where a column, or a level of a domain, has such a name.
        """
        check_margins_free(self.bars(columns), [*columns, *public])

    def column_bars(self, level: Level, columns: Sequence[str], confidence: Number) -> Mapping[str, tuple[str, Margin]]:
        """The columns of margins, with the column that each stands behind, and the margin."""
        margin = self.margin(level, confidence)
        return {name: (owner, margin) for name, owner in self.bars(columns).items()}

    def drawn(self, level: Level) -> str:
        """The distribution that is drawn at a level, in words."""
        return f"noise of {self.kind}"

    @property
    def theorem(self) -> str:
        """The theorem about it."""
        return "nothing is claimed of it but its promise"

    @property
    def whom(self) -> str:
        """Whom it protects, in words."""
        return f"one individual, who {assumed_line(self.unit, 'released cell')}"


@dataclass(frozen=True, slots=True, repr=False)
class AnyNoiseAtLevel(Display):
    """The plan of any noise that a memory keeps: it asks the noise for all that is said of it.

    Attributes:
        noise: Noise that answers all questions about this one.
        level: Level of the whole answer.
        confidence: Confidence of the error bars.
    """

    noise: Noise
    level: Level
    confidence: Fraction

    @property
    def unit(self) -> Unit:
        """The unit of privacy."""
        return self.noise.unit

    @property
    def law(self) -> Any:
        """The noise, in words."""
        return self.noise.drawn(self.level)

    @property
    def margin(self) -> int | float:
        """The distance within which a released value lies of the true one."""
        return self.noise.margin(self.level, self.confidence)

    def with_confidence(self, confidence: Fraction) -> "AnyNoiseAtLevel":
        """This noise with margins of another confidence."""
        return replace(self, confidence=confidence)

    def bars(self, columns: Sequence[str]) -> Mapping[str, tuple[str, Margin]]:
        """The columns of margins, with the column that each stands behind, and the margin."""
        return self.noise.column_bars(self.level, columns, self.confidence)

    def warn(self) -> None:
        """Warn of a level at which practically nobody is protected."""
        self.noise.warn(self.level)

    def read(self, column: Any, name: str, place: RowName) -> NDArray[Any]:
        """The values of a column, as a memory reads them."""
        return self.noise.cells(column, name, place)

    def noised(self, cells: Mapping[str, NDArray[Any]], randomness: Randomness) -> dict[str, Any]:
        """The first response that there would be, as it is published."""
        from utmost.publish.promises.response_noise import FirstResponse

        size = sum(column.size for column in cells.values())
        secret = randomness.words(4, 64).tobytes()
        answer = self.noise.responder(FirstResponse(self.level, size, randomness, secret), cells)
        response = {
            name: joined(answer.blocks(name, cells, None, None, column.size), column.size)
            for name, column in cells.items()
        }
        return self.noise.written(self.level, response)

    def facts(self) -> dict[str, Any]:
        """The noise as JSON values, for a statement."""
        return {"drawn": self.noise.drawn(self.level), "theorem": self.noise.theorem}
