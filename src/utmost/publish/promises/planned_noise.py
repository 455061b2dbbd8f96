"""What is measured of a table, and how an answer at one level is drawn: as much of a noise as a release once needs.

`OnceNoise` is no more than that: the noise that is least at one level, which no memory keeps.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Unpack

from utmost.errors import OutOfRange
from utmost.laws.exact import Level, Number
from utmost.laws.noise.costs import Cost
from utmost.laws.noise.norm_staircase import CellCost
from utmost.laws.privacy.unit import RowWords, Unit, read_unit
from utmost.publish.counting.proved_table import ProvedTable
from utmost.publish.promises.declared_columns import check_size
from utmost.publish.promises.lattice import read_numbers
from utmost.publish.promises.plan import Planned, plan_release
from utmost.publish.promises.table_statements import Stated, promise
from utmost.publish.tables.adapters import brought
from utmost.publish.workloads.cells_together import TogetherKind


@dataclass(frozen=True, slots=True)
class PlannedNoise(ABC):
    """What is measured of a table, and how an answer at a level is drawn: all that is released once needs no more.

    Attributes:
        unit: what one individual changes.
        kind: what is noised, in words.
        needs_counted: whether a table must be a counted one, and the release of it is one document.
        names_rows: whether which rows there are is what is released, so that their number is part of the answer.
    """

    unit: Unit

    kind: ClassVar[str]
    needs_counted: ClassVar[bool] = False
    names_rows: ClassVar[bool] = False

    @property
    @abstractmethod
    def subject(self) -> str:
        """What is released, in the words of a page."""

    @abstractmethod
    def plan(self, level: Level, confidence: Number = "0.95") -> Planned:
        """What an answer at a level promises and how it is drawn, whatever other levels are answered."""

    @abstractmethod
    def margin(self, level: Level, confidence: Number) -> int | float:
        """The least distance within which a released value lies of the true one, with this confidence."""

    @abstractmethod
    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        """The promise at a level, in plain words."""

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

    def rows_of(self, table: Any, columns: Sequence[str]) -> Any:
        """The table as its adapter or engine reads it.

        Raises:
            WrongKind: for a table of another kind.
        """
        counted: Any = table if isinstance(table, ProvedTable) else None
        return brought(table) if counted is None else counted.in_steps(columns[0])

    def measured(self, rows: Any) -> tuple[Any, str | None]:
        """The columns to be noised, and of which kind answers are; None where they are of the kind of the table.

        Raises:
            OutOfRange: for a table that is not what the noise is promised for.
        """
        return rows, None

    def handed(
        self,
        level: Level,
        columns: Mapping[str, Any],
        kind: str,
        part: tuple[str, str] | None,
        table: Callable[[Mapping[str, Any]], Any],
    ) -> Any:
        """An answer as it is handed out.

        Args:
            columns: as they are published, see `Noise.written`.
            kind: of the table that was published.
            part: where individuals were counted in parts, which one this is.
            table: makes the table of such columns and their error bars.
        """
        return table(columns)


class ColumnNoise(PlannedNoise):
    """Noise of the columns of a table: what is said of an answer is what its plan says."""

    __slots__ = ()

    def margin(self, level: Level, confidence: Number) -> int | float:
        """The largest margin of the plan."""
        return self.plan(level, confidence).margin

    def column_bars(
        self, level: Level, columns: Sequence[str], confidence: Number
    ) -> dict[str, tuple[str, int | float]]:
        """The columns of margins, with the column that each stands behind, and the margin."""
        return self.plan(level, confidence).bars(columns)

    def warn(self, level: Level) -> None:
        """Warn of a level at which practically nobody is protected, see `warn_of_level`."""
        self.plan(level).warn()

    def check_unit(self, counted: Any) -> None:
        """Check that a unit of amounts is one that was counted, and that no sums and counts are noised together."""
        if counted is None:
            self.unit.check_plain()
        self.unit.check_each_cell("columns")

    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        """The promise at a level, in plain words."""
        return promise(level, self.unit, "the released columns", "released cell")

    def statement(self, at: Level, confidence: Fraction, stated: Stated) -> dict[str, Any]:
        """The statement that the plan makes."""
        return self.plan(at, confidence).statement(stated)


@dataclass(frozen=True, slots=True)
class OnceNoise(ColumnNoise):
    """Noise that is chosen for its level.

    It leads to no other level, or only by its own law, so that no memory takes it: see `Promise.noise`.

    Attributes:
        numbers: "integers" or "reals".
        choose: from a level, and the ``confidence`` of the error bars, to the plan.
        together: the columns that the plan noises together; none where each cell is by itself.
    """

    kind: ClassVar[str] = "columns with noise for one level"

    numbers: str
    choose: Callable[..., Planned]
    together: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """ "integers" or "reals"."""
        return self.numbers

    def plan(self, level: Level, confidence: Number = "0.95") -> Planned:
        """The least noise at a level."""
        return self.choose(level, confidence=confidence)

    def released(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """The columns; where they are noised together, those that the noise names."""
        if self.together and sorted(columns or self.together) != sorted(self.together):
            required = f"the released columns are those of the noise: {', '.join(self.together)}"
            raise OutOfRange(required, came=", ".join(columns), where="columns", remedy="Leave columns= out.")
        return self.together or columns


def once_cells(
    unit: Unit,
    *,
    cost: str | Cost = "absolute",
    numbers: str = "integers",
    relaxable: bool = False,
    grid: Number | None = None,
) -> OnceNoise:
    """The noise of cells that is least at its level: the words of `plan_release`.

    >>> from utmost.laws.exact import level
    >>> once_cells(Unit(5, 1), cost="squared").plan(level(8)).law
    DiscreteStaircase(epsilon=8, sensitivity=5, step=1)
    """
    words: dict[str, Any] = {"cost": cost, "numbers": numbers, "relaxable": relaxable, "grid": grid}
    plain = read_unit(unit)
    return OnceNoise(plain, read_numbers(numbers), partial(plan_release, unit=plain, **words))


def once_together(
    columns: Sequence[str],
    *,
    noise: TogetherKind | None = None,
    relaxable: bool = False,
    cost: CellCost = "absolute",
    halves: Any = None,
    **words: Unpack[RowWords],
) -> OnceNoise:
    """The noise of columns changed together that is least at its level: the words of `plan_together`.

    >>> from utmost.laws.exact import level
    >>> once_together(["applicants", "admitted"], sensitivity=1).plan(level(1)).way.kind
    'joint'
    """
    from utmost.publish.promises.together_plan import check_changed, plan_together, unit_of_row

    whom = unit_of_row(columns, words)
    check_changed(whom, columns)
    about: dict[str, Any] = {"noise": noise, "relaxable": relaxable, "cost": cost, "halves": halves}
    return OnceNoise(whom, "integers", partial(plan_together, tuple(columns), unit=whom, **about), tuple(columns))
