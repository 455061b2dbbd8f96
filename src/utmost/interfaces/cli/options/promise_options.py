"""Options from which a command makes a promise, in groups, or a file with a complete promise."""

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from utmost.core.exact.arguments import one_of
from utmost.errors import NotANumber, OutOfRange
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.options.people_options import split_names

if TYPE_CHECKING:
    from utmost.core.privacy.unit import Unit
    from utmost.publish.counting.counted import CountedTable
    from utmost.publish.promises.promise import Promise
    from utmost.publish.promises.promised_noise import Noise, PlannedNoise
    from utmost.publish.promises.until import Until
    from utmost.publish.workloads.planning.plan import Plan


Changes = Literal["any", "counts"]
NoiseBy = Literal["rows", "items"]
EXAMPLES = {"--columns": "--columns NAMES", "--sensitivity": "--sensitivity 1", "--cells": "--cells 1"}
"""Examples of the options that released columns need, as a user types them."""
TOGETHER_HELP = "One person changes cells of one row only: 'counts', all in one direction; 'any', each up or down."


PromiseFile = Annotated[
    file_options.File | None,
    file_options.file_option("FILE", "Promise that `utmost promise` wrote."),
]


@dataclass(frozen=True, slots=True)
class ReleasedColumnOptions:
    """Options for the role of each column: released, public or left out."""

    title: ClassVar[str] = "A table that was counted elsewhere"

    columns: Annotated[list[str] | None, option("NAMES", "Columns to release.")] = None
    public: Annotated[
        list[str] | None, option("NAMES", "Columns to publish without noise; no individual changes them.")
    ] = None
    drop: Annotated[list[str] | None, option("NAMES", "Columns to leave out.")] = None

    @property
    def released(self) -> list[str]:
        return split_names(self.columns or [])


@dataclass(frozen=True, slots=True)
class ColumnOptions(ReleasedColumnOptions):
    """Options for the role of each column, and for the rows of the table."""

    title: ClassVar[str] = "Columns and rows"

    rows: Annotated[
        str | None,
        option("ORIGIN", "Origin of the rows: declared (fixed beforehand; default) or observed (found in the data)."),
    ] = None
    id_column: Annotated[str | None, option("COLUMN", "Column of identifiers, all distinct.", "--id")] = None


@dataclass(frozen=True, slots=True)
class ChangeOptions:
    """Options for the largest change of the released cells by one individual."""

    title: ClassVar[str] = "A table that was counted elsewhere"

    sensitivity: Annotated[str | None, option("NUMBER", "One person's largest change of a cell.")] = None
    cells: Annotated[int | None, option("N", "Number of released cells that one person may change.")] = None


@dataclass(frozen=True, slots=True)
class UnitOptions(ChangeOptions):
    """Options for the largest change by one individual, and for the neighbouring relation."""

    title: ClassVar[str] = "Privacy unit"

    neighbours: Annotated[
        str | None,
        option("NAME", "Neighbours: add-remove (default), or change-one (twice the noise)."),
    ] = None


@dataclass(frozen=True, slots=True)
class PromiseTexts:
    """Options for the fields of a promise that are words for people."""

    title: ClassVar[str] = "Privacy unit"

    individual: Annotated[str | None, option("TEXT", 'Words for one individual, say "one household".')] = None

    @property
    def given(self) -> dict[str, Any]:
        """The texts that were given, by the names of the promise's fields."""
        return {each.name: words for each in fields(self) if (words := getattr(self, each.name)) is not None}


TEXT_OPTIONS = tuple(f"--{each.name.replace('_', '-')}" for each in fields(PromiseTexts))
"""Options for words for people; a release takes these words from its recipe or its promise."""


@dataclass(frozen=True, slots=True)
class EverydayNoiseOptions:
    """Options for the noise of a release: on integers, on reals, or on the sums of a plan."""

    title: ClassVar[str] = "Plans and promises"

    numbers: Annotated[str | None, option("NAME", "Kind of numbers: integers (default) or reals.")] = None
    plan: Annotated[
        file_options.File | None,
        file_options.file_option("FILE", "Plan that `utmost plan` wrote."),
    ] = None


@dataclass(frozen=True, slots=True)
class NoiseOptions(EverydayNoiseOptions):
    """Options for the promised noise: on integers, on a grid of reals, or on the sums of a plan."""

    title: ClassVar[str] = "Noise"

    grid: Annotated[
        str | None,
        option("NUMBER", "Width of the grid of released reals: a power of two, say 1/1024; with --planar any number."),
    ] = None


@dataclass(frozen=True, slots=True)
class LedgerNoiseOptions:
    """Options for noise that a ledger repeats; they do not apply to noise that is drawn once."""

    title: ClassVar[str] = "Noise in a ledger"

    largest: Annotated[str | None, option("NUMBER", "Public bound on true values; it makes ledgers smaller.")] = None
    half_step: Annotated[bool, flag("Use half-step staircase noise, for odd sensitivities above 1.")] = False
    distribution: Annotated[
        str | None, option("NAME", 'Noise of a release at one level: Geometric or "DiscreteStaircase(step=1)".')
    ] = None
    noise: Annotated[
        str | None,
        option(
            "BY",
            "How noise is drawn: rows (anew for each row; default) or items (as a function of --id).",
        ),
    ] = None
    together: Annotated[Changes | None, option("CHANGES", TOGETHER_HELP)] = None

    @property
    def of_cells(self) -> "LedgerNoiseOptions":
        """The options that only noise of single cells has."""
        return LedgerNoiseOptions(half_step=self.half_step, distribution=self.distribution)


@dataclass(frozen=True, slots=True)
class StopOptions:
    """The option for a rule by which a release stops below its epsilon, as soon as it is accurate."""

    title: ClassVar[str] = "Accuracy first"

    until: Annotated[
        str | None,
        option(
            "RULE",
            'Raise epsilon until each margin is at most this part of its value: "10 %", or "10 % where sex=women".',
        ),
    ] = None

    @property
    def rule(self) -> "Until | None":
        """The rule for stopping; None for a release at --epsilon."""
        from utmost.publish.promises.until import within

        if self.until is None:
            return None
        share, _, selections = self.until.partition(" where ")
        where: dict[str, list[str]] = {}
        for selection in selections.split(" and ") if selections else ():
            example = '--until "10 % where sex=women"'
            name, labels = options.named_value(
                selection, "chosen cells must be written as COLUMN=LABEL,LABEL", "--until", example
            )
            where[name.strip()] = split_names([labels])
        try:
            return within(share, where)
        except NotANumber:
            required = "--until must begin with a share of the released value"
            raise OutOfRange(required, came=repr(share), where="--until", remedy='Write --until "10 %".') from None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseOptions:
    """Options for a complete promise in all groups, or a file in place of these options."""

    # `stated` is the promise in the file; None without a file.

    title: ClassVar[str] = "Columns and rows"

    columns: ColumnOptions
    protected: UnitOptions
    texts: PromiseTexts
    promise: PromiseFile = None
    noise: NoiseOptions
    plane: options.PlanarOptions
    lasting: LedgerNoiseOptions
    stopping: StopOptions

    stated: "Promise | None" = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.promise is None:
            return
        from utmost.publish.promises.promise import PROMISE_FORM

        groups = (self.columns, self.protected, self.texts, self.noise, self.plane, self.lasting, self.stopping)
        options.refuse("cannot be combined with --promise, which contains the complete promise", *groups)
        object.__setattr__(self, "stated", PROMISE_FORM.read(self.promise))

    def check(self) -> None:
        """Check that the options are compatible, and that no option for the released columns is missing."""
        of_cells = self.lasting.of_cells
        if self.stated is not None:
            return
        if self.lasting.together is not None:
            lasting = replace(self.lasting, together=None, largest=None)
            protected = UnitOptions(cells=self.protected.cells)
            options.refuse("cannot be combined with --together", protected, self.noise, self.plane, lasting)
            self.check_columns("columns", "sensitivity")
        elif self.plane != options.PlanarOptions():
            options.refuse("cannot be combined with --planar", self.protected, replace(self.noise, grid=None), of_cells)
            if not self.plane.planar:
                raise OutOfRange("--per needs --planar", remedy="Add --planar, or leave out --per.")
            if not self.columns.columns:
                remedy = "Add, for example, --columns x,y."
                raise OutOfRange("--planar needs --columns, the columns of the coordinates", came="none", remedy=remedy)
        elif self.noise.plan is not None:
            protected, noise = replace(self.protected, neighbours=None), replace(self.noise, plan=None)
            options.refuse("cannot be combined with --plan", self.columns, protected, noise, of_cells)
        elif self.lasting.distribution is not None:
            half_step = LedgerNoiseOptions(half_step=self.lasting.half_step)
            options.refuse("cannot be combined with --distribution", self.noise, half_step)

    def check_columns(self, *names: str) -> None:
        """Refuse a promise of columns if one of these options is missing."""
        one = self.protected
        found = {"columns": self.columns.columns, "sensitivity": one.sensitivity, "cells": one.cells}
        missing = [f"--{name}" for name in names if found[name] is None]
        if missing and self.stated is None:
            raise OutOfRange(
                "a release needs --columns, and the largest change by one individual: --sensitivity and --cells",
                came=f"no {' and no '.join(missing)}",
                remedy=f"Add {' '.join(EXAMPLES[name] for name in missing)}, if this is true of your data: "
                "utmost cannot check what one person changes. Or count people first.",
            )

    @property
    def is_of_cells(self) -> bool:
        """Whether the promise is about cells of columns, each with separate noise."""
        return not (self.is_planned or self.is_of_points or self.lasting.together is not None)

    @property
    def is_of_points(self) -> bool:
        """Whether the columns are coordinates of points."""
        return self.plane != options.PlanarOptions() if self.stated is None else self._stated_kind == "points"

    @property
    def needs_no_options(self) -> bool:
        """Whether the promise needs no other options: a promise of points, or of a noise that options cannot name."""
        return self.is_of_points or self._stated_kind not in (None, "cells", "sums")

    @property
    def _stated_kind(self) -> str | None:
        return None if self.stated is None else self.stated.noise.json_kind

    @property
    def is_planned(self) -> bool:
        """Whether the sums of a plan are measured."""
        return self.noise.plan is not None if self.stated is None else self.stated.noise.is_by_plan

    @property
    def neighbours(self) -> str:
        return self.protected.neighbours or "add-remove" if self.stated is None else self.stated.unit.neighbours

    @property
    def plan(self) -> "Plan | None":
        """The plan whose sums are measured; None for columns."""
        if self.stated is not None:
            from utmost.publish.promises.sum_noise import SumNoise

            return self.stated.noise.plan if isinstance(self.stated.noise, SumNoise) else None
        if self.noise.plan is None:
            return None
        from utmost.publish.statements.plan_files import PLAN_FORM

        return PLAN_FORM.read(self.noise.plan)

    def of(self, counted: "CountedTable | None" = None, noise: "PlannedNoise | Plan | None" = None) -> "Promise":
        # Every promise of a command is made here. `noise` replaces the noise of the options.
        from utmost.publish.promises.declared_columns import rows_origin
        from utmost.publish.promises.promise import Promise, promise_for

        if self.stated is not None:
            return promise_for(self.stated, counted)
        noise, columns, by = noise or self._noise(counted), self.columns, self.lasting.noise or "rows"
        released, public, drop = columns.released, split_names(columns.public or []), split_names(columns.drop or [])
        if counted is None:
            promise = Promise(released, public=public, drop=drop, noise=noise)
        else:
            promise = Promise.of_counted(counted, released, public=public, drop=drop, noise=noise)
        promise = replace(
            promise,
            until=self.stopping.rule,
            rows=rows_origin(columns.rows or "declared"),
            id_column=() if columns.id_column is None else (columns.id_column,),
            keyed_by_id=one_of(by, NoiseBy, "noise") == "items",
            **self.texts.given,
        )
        if counted is not None:
            promise.check(counted)
        return promise

    def _noise(self, counted: "CountedTable | None") -> "Noise":
        """Return the noise of the options; the unit of cells comes from a counted table, if there is one."""
        from utmost.core.privacy.unit import Unit, read_unit
        from utmost.publish.promises.cell_noise import CellNoise

        largest, released = self.lasting.largest, self.columns.released
        if self.lasting.together is not None:
            from utmost.publish.promises.noise_together import together_noise

            return together_noise(released, unit=self.unit_of_row(released), largest=largest)
        if (plan := self.plan) is not None:
            from utmost.publish.promises.sum_noise import SumNoise

            return SumNoise(plan, largest=largest)
        if self.is_of_points:
            from utmost.publish.promises.point_noise import PointNoise

            if counted is not None:
                remedy = "Leave out the counted table: points are released by utmost release TABLE --promise FILE."
                raise OutOfRange("--planar cannot be combined with a counted table", came="both", remedy=remedy)
            per, dimensions = self.plane.per or "1", max(len(released), 1)
            return PointNoise(per, grid=self.noise.grid, largest=largest, dimensions=dimensions)
        one = self.protected
        if counted is not None and counted.unit.needs_sizes:
            of_cells = one, self.noise, self.lasting.of_cells
            options.refuse("is for the noise of single cells: it does not go with --mean or --in-total", *of_cells)
            from utmost.publish.promises.sum_noise import SumNoise
            from utmost.publish.workloads.planning.cells_plan import cells_plan

            return SumNoise(cells_plan(counted.domain, counted.unit), largest=largest)
        if counted is None:
            unit = read_unit(None, one.sensitivity, one.cells, one.neighbours)
        else:
            proved = counted.unit
            if one.sensitivity is None or one.cells is None:
                proved.check_each_cell("columns")
            wide = proved.sensitivity if one.sensitivity is None else counted.sensitivity_in_steps(one.sensitivity)
            unit = Unit(wide, one.cells or proved.cells, one.neighbours or proved.neighbours, proved.amount)
            small = ["--sensitivity"] if unit.sensitivity < proved.sensitivity else []
            small += ["--cells"] if unit.cells < proved.cells else []
            if small:
                named = " and ".join(small)
                required = f"{named} must not be below the bound that counting has proved"
                remedy = f"Leave out {named}; or count again with a smaller --at-most, --per-cell or --in-total."
                raise OutOfRange(required, came=f"{unit.sensitivity} in {unit.cells} cells", remedy=remedy)
        if self.lasting.distribution is not None:
            from utmost.publish.promises.distribution_noise import DistributionNoise

            return DistributionNoise(unit, self.lasting.distribution, largest=largest)
        numbers, half_step = self.noise.numbers or "integers", self.lasting.half_step
        return CellNoise(unit, numbers, grid=self.noise.grid, largest=largest, half_step=half_step)

    def unit_of_row(self, columns: list[str], together: "Changes | None" = None) -> "Unit":
        """Return the privacy unit if one individual changes only cells of one row."""
        from utmost.core.privacy.unit import Unit

        only_upwards = "counts" in (together, self.lasting.together)
        return Unit(self.protected.sensitivity or 1, len(columns), self.neighbours, nonnegative=only_upwards)
