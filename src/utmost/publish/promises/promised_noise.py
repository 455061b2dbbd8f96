"""The base classes of every kind of noise in a promise: `PlannedNoise` for one level, `Noise` for all levels.

A kind of noise is one class in one file: cells (`cell_noise`), the sums of a plan (`sum_noise`), points of the plane
(`point_noise`). The class says which columns get noise, how much noise at each level, and how an answer is drawn and
stated. Ledger, service and command line use only these base classes; `noise_kinds` lists the kinds.
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

Response = dict[str, Integers]
"""A response: {column: noisy values in steps}."""


@dataclass(frozen=True, slots=True)
class PlannedNoise(ABC):
    """The noise of a promise that can draw an answer at one level, which is enough for a release made once."""

    unit: Unit = field(
        metadata=form(
            "whom it protects",
            write=Unit.facts,
            read=lambda facts, name: Unit.of_facts({"neighbours": "add-remove"} | facts),
            parts=json_forms(Unit),
        )
    )

    kind: ClassVar[str]  # Kind of the released values, in words
    json_kind: ClassVar[str]  # Name of the kind in JSON, see `noise_of_facts`
    is_by_plan: ClassVar[bool] = False  # Whether the table must be counted, and the release is saved as one document
    # Whether every released value is a multiple of the unit's step, whatever the plan
    is_in_steps: ClassVar[bool] = False
    # Whether the noise labels the rows of the released table, which are sums of a counted table
    labels_rows: ClassVar[bool] = False
    # Whether the answer is a list of rows, such as selected keys, whose number is not known before
    names_rows: ClassVar[bool] = False
    # Whether the noise names its columns, in an order of its own
    orders_columns: ClassVar[bool] = False

    @property
    def needs_search(self) -> bool:
        """Whether a search must still find the noise; a statement can only describe noise that was found."""
        return False

    @property
    def rows(self) -> int | None:
        """The number of rows if the noise determines it, as for the sums of a plan; else None."""
        return None

    @property
    @abstractmethod
    def subject(self) -> str:
        """The released columns, as words on a page."""

    @abstractmethod
    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> NoiseAtLevel:
        """Return the noise of an answer at a level; it does not depend on other answers."""

    @abstractmethod
    def margin(self, level: Level, confidence: Number) -> int | float:
        """Return the margin of error at a level: with this confidence, a released value has at most this error."""

    @abstractmethod
    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        """Return the guarantee at a level, in plain words."""

    def as_drawn(self, noise: NoiseAtLevel) -> "PlannedNoise":
        """Return this noise; if it needs a search, insert the result of the search for ``noise``, at one level."""
        return self

    def facts(self) -> dict[str, Any]:
        """Return the noise as JSON with numbers as text, for promises, events and statements; see `noise_of_facts`."""
        return {"kind": self.json_kind, **facts_of(self)}

    def published_facts(self) -> dict[str, Any]:
        """Return the noise as JSON for a statement, which `noise_of_facts` also reads."""
        return self.facts()

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "PlannedNoise":
        """Read the noise that `facts` wrote."""
        return cls(**cls.arguments(facts))

    @classmethod
    def arguments(cls, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Read the fields of the noise that `facts` wrote."""
        written = {name: fact for name, fact in mapping(facts, "facts").items() if name != "kind"}
        return arguments_of(cls, written, "noise")

    def check_unit(self, counted: Any) -> None:  # noqa: B027, most kinds have nothing to check
        """Check that the unit fits a table, counted or not; raise Unsupported or OutOfRange if it does not."""

    def check_size(self, rows: int, columns: int) -> None:
        """Check that the table has cells, and at least as many as one individual changes."""
        check_size(self.unit, rows, columns)

    def released(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Return the released columns, given those of a promise; raise OutOfRange if this noise does not cover them."""
        return columns

    def labelled(self, public: tuple[str, ...]) -> tuple[str, ...]:
        """Return the public columns, given those of a promise; noise that labels rows adds the columns of labels."""
        return public

    def check_published(self, level: Level, columns: Mapping[str, Sequence[Any]]) -> None:  # noqa: B027
        """Check the cells of a published table; raise BadTable for a cell that this noise never gives."""

    def rows_of(self, table: Any, columns: Sequence[str]) -> Any:
        """Open a table for its adapter or engine; raise WrongKind for a kind of table that this noise does not take."""
        counted: Any = table if isinstance(table, CountedFacts) else None
        return opened_table(table) if counted is None else counted.in_steps(columns[0])

    def measured(self, rows: Any) -> tuple[Any, str | None]:
        """Return the columns that get noise, and the kind of the released table (None for the kind of ``rows``)."""
        return rows, None


@dataclass(frozen=True, slots=True)
class Noise(PlannedNoise):
    """Noise that is defined for every level, so that a ledger can store its responses.

    Attributes:
        is_relaxed: Whether answers at several levels are possible.
        has_margin_per_column: Whether each column has one margin.
    """

    is_relaxed: ClassVar[bool] = True
    has_margin_per_column: ClassVar[bool] = True

    @property
    def relation(self) -> str:
        """The neighbouring relation. Levels add up only between releases with the same relation."""
        return self.unit.neighbours

    @property
    def delta(self) -> Fraction | None:
        """The delta of (epsilon, delta); None for pure differential privacy."""
        return None

    @property
    def is_bounded(self) -> bool:
        """Whether a bound on the absolute value of the true values is declared."""
        return False

    @property
    def exponent(self) -> int | None:
        """The k of the width 2^-k of the grid to which true values are rounded; None if they are not rounded."""
        return None

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> NoiseAtLevel:
        """Return the noise of an answer at a level; it does not depend on other answers."""
        return AnyNoiseAtLevel(self, level, read_confidence(confidence))

    def named_bars(self, level: Level, confidence: Number, most: int) -> tuple[tuple[str, int | float], ...]:
        """Return pairs (released values in words, their margin), largest margin first, no more pairs than ``most``."""
        return (("each released value", self.margin(level, confidence)),)

    def per_step(self, level: Level) -> Level | None:
        """Return the level for a change of 1 in one count; None if the noise is not geometric on the integers."""
        return None

    def check(self) -> None:
        """Check everything that can fail before a table is read.

        Raises:
            Unsupported: if the noise could be drawn, but released values could not be computed with it.
        """

    def check_level(self, level: Level) -> None:
        """Check that a response at this level would have a margin; otherwise the response must not be drawn.

        Raises:
            OutOfRange: if the epsilon for one step of the noise is below 1e-50.
        """
        self.margin(level, DEFAULT_CONFIDENCE)

    def check_served(self) -> None:
        """Check that a service can answer at every level in short time.

        Raises:
            OutOfRange: if an answer might take minutes.
        """

    def check_tightened(self, level: Level, where: str) -> None:
        """Check that a smaller level can be computed from stored responses, without the table.

        Raises:
            NeedsTable: if the table is needed.
            Unsupported: if answers at several levels are not possible.
        """
        if not self.is_relaxed:
            raise at_one_level(level, where)

    def by_item(self) -> Lattice:
        """Return the lattice of the noise of one cell, for noise keyed by identifier.

        Raises:
            Unsupported: if the noise is not `CellNoise`.
        """
        remedy = "Leave out keyed_by_id; collect a table of an engine first, so that its noise is drawn for each row."
        required = "noise keyed by identifier must be that of CellNoise"
        raise Unsupported(required, came=self.kind, remedy=remedy)

    @abstractmethod
    def bound(self) -> tuple[Any, str]:
        """Return the bound on the absolute value of true values, in steps and as text."""

    @abstractmethod
    def word(self, level: Level) -> int:
        """Return the number of bytes of a stored cell; this number depends only on public facts."""

    def weakness(self, level: Level) -> str:
        """Return the reason why a level protects practically nobody, see `weakness_of`; empty if it protects."""
        return ""

    @abstractmethod
    def cells(self, column: Any, name: str, place: Callable[[int], str]) -> NDArray[Any]:
        """Read the values of a column, in the form to which noise is added.

        Raises:
            BadTable: if a cell cannot be released.
        """

    @abstractmethod
    def responder(self, response: NewResponse, values: Mapping[str, NDArray[Any]] | None) -> Responder:
        """Return the object that draws a new response."""

    @abstractmethod
    def written(self, level: Level, response: Response) -> dict[str, NDArray[Any]]:
        """Return the published numbers of a response."""

    def bars(self, columns: Sequence[str]) -> dict[str, str]:
        """Return {name of a column of margins: released column that it belongs to}."""
        return {f"{name}_margin": name for name in columns}

    def check_names(self, columns: Sequence[str], public: Sequence[str]) -> None:
        """Check that the columns of margins have names that no other column has.

        Raises:
            BadTable, OutOfRange: if a column, or a level of a domain, has the name of a column of margins.
        """
        check_margins_free(self.bars(columns), [*columns, *public])

    def drawn(self, level: Level) -> str:
        """Return the distribution of the noise at a level, in words."""
        return f"noise of {self.kind}"

    @property
    def theorem(self) -> str:
        """The optimality theorem about the noise in words, or a sentence that no optimality is claimed."""
        return "no optimality is claimed, only the promise"

    @property
    def whom(self) -> str:
        """The protected individual, in words."""
        return f"one individual, who {assumed_line(self.unit, 'released cell')}"


def at_one_level(level: Level, where: str) -> Unsupported:
    """Return the error for an answer at a second level, if the noise has `Noise.is_relaxed` False."""
    return Unsupported(
        "this noise can be drawn at one level only",
        came=level,
        where=where,
        remedy="Publish a new version, whose epsilon is added; counts with noise of another kind can be relaxed.",
    )


@dataclass(frozen=True, slots=True, repr=False)
class AnyNoiseAtLevel(Display):
    """The noise of an answer at a level; everything but the level comes from the promised noise."""

    noise: Noise
    level: Level
    confidence: Fraction

    @property
    def unit(self) -> Unit:
        return self.noise.unit

    @property
    def distribution(self) -> Any:
        """The distribution of the noise, in words."""
        return self.noise.drawn(self.level)

    @property
    def margin(self) -> int | float:
        return self.noise.margin(self.level, self.confidence)

    def with_confidence(self, confidence: Fraction) -> "AnyNoiseAtLevel":
        return replace(self, confidence=confidence)

    def bars(self, columns: Sequence[str]) -> Mapping[str, tuple[str, Margin]]:
        margin = self.margin
        return {name: (owner, margin) for name, owner in self.noise.bars(columns).items()}

    def weakness(self) -> str:
        return self.noise.weakness(self.level)

    def read(self, column: Any, name: str, place: RowName) -> NDArray[Any]:
        return self.noise.cells(column, name, place)

    def noised(self, cells: Mapping[str, NDArray[Any]], randomness: Randomness) -> dict[str, Any]:
        """Add noise to the columns, as for the first response of a release; return the published numbers."""
        from utmost.publish.promises.response_noise import FirstResponse

        size = sum(column.size for column in cells.values())
        secret = randomness.words(4, 64).tobytes()
        answer = self.noise.responder(FirstResponse(self.level, size, randomness, secret), cells)
        response = {
            name: joined(answer.blocks(name, None, None, column.size), column.size) for name, column in cells.items()
        }
        return self.noise.written(self.level, response)

    def facts(self) -> dict[str, Any]:
        return {"drawn": self.noise.drawn(self.level), "theorem": self.noise.theorem}
