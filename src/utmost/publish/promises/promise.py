"""Promises: everything that is decided before anybody looks at the data, in one object with a digest.

A second person approves a promise, a ledger publishes tables under the promise, and a program saves it. Level, name,
dataset, version and request are arguments of a call, not parts of a promise.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.core.exact.arguments import instance, truth, wrong_kind
from utmost.core.exact.arguments import path as read_path
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.field_forms import arguments_of, facts_of, form, texts_of
from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.numbers import Number
from utmost.core.noise.costs import Cost
from utmost.core.privacy.unit import Unit, read_unit
from utmost.errors import IndividualLeftOut, OutOfRange, Unsupported, WrongKind, warn
from utmost.publish.counting.counted_facts import (
    EACH_ROW,
    INDIVIDUAL_FORM,
    PART_FORM,
    PROVED_FORM,
    CountedFacts,
    Part,
    read_individual,
    read_part,
)
from utmost.publish.promises.cell_noise import CellNoise, least_once
from utmost.publish.promises.codec import Form
from utmost.publish.promises.declared_columns import RowsFrom, listed_names, rows_origin
from utmost.publish.promises.noise_at_level import NoiseAtLevel
from utmost.publish.promises.noise_kinds import noise_of_facts
from utmost.publish.promises.promised_noise import Noise, PlannedNoise
from utmost.publish.promises.table_statements import taken_for_granted
from utmost.publish.promises.until import Stop, Until
from utmost.tables.files.atomic import write_together
from utmost.tables.files.json_files import write_json

if TYPE_CHECKING:
    from utmost.publish.workloads.planning.plan import Plan


_MOST_MARGINS = 48
"""The largest number of tables of a plan whose margins are listed."""
_FROM_COUNTED = (
    "Make the promise from this counted table: Promise.of_counted, or utmost promise COUNTED.json --out promise.json."
)

_ROWS: dict[str | bool, str] = {
    "declared": "the list of rows was fixed without looking at the data (declared)",
    "observed": "the list of rows was found in the data, and the promise does not cover it (observed)",
}


_COUNTED = "Utmost counted the table itself, and kept each {} within these limits. The table gives the {}."


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Promise(Display):
    """Everything that is decided about a table before anybody looks at the data: columns, protection, noise.

    Args:
        columns: Columns to release; leave them out if the noise names the released columns, as a plan does.
        public: Columns to publish unchanged. Every other column of a table must be in ``drop``; otherwise the table is
            refused.
        drop: Columns that are neither released nor published.
        unit: Unit of privacy: ``unit=Unit(1, 2)`` is short for ``noise=CellNoise(Unit(1, 2))``.
        noise: Noise instead of a unit, such as `CellNoise`, `PointNoise` or `SumNoise`; a plan (`Plan`) stands for its
            `SumNoise`.
        rows: Origin of the list of rows, "declared" before the data were seen, or "observed" in the data.
        id_column: Column of identifiers; for an engine's frame, the columns that together identify a row.
        keyed_by_id: Whether the noise of a row is a function of its identifier, so that rows may come in any order.
        part: Names of the partition and of the part, if individuals were counted in disjoint parts. A counted
            table must be of the same part, since a budget does not add up the levels of disjoint parts.
        individual: Who one individual is, such as "one household"; a table that utmost counted states it.
        proved: Whether utmost counts the table, which proves the unit. If True, only a table that utmost counted can be
            released under the promise.
        until: Rule by which a release stops before its epsilon is spent, as soon as it is accurate: `within`.

    Raises:
        OutOfRange, NotANumber, WrongKind: if an argument is invalid, or if arguments are incompatible.
        Unsupported: if ``keyed_by_id`` is True and the noise is not `CellNoise`, or if ``until`` is passed and the
            noise is neither `CellNoise` nor that of a plan.

    >>> promise = Promise("admitted", public="department", unit=Unit(1, 1))
    >>> promise.margin(epsilon=1), promise == Promise.of_facts(promise.facts())
    (3, True)
    >>> promise.guarantee(epsilon=1)
    'Adding or removing any one individual multiplies or divides the chance of any result in the released columns
    by at most 2.72 (epsilon = 1). This assumes that one individual changes at most 1 released cell, by at most 1.'
    >>> Promise("visits", unit=Unit(1, 1), individual="one household").sentences
    'One individual is one household.'
    """

    _shown = ("columns", "public", "unit")

    public: tuple[str, ...] = field(metadata=form("columns published as they are, without noise", write=list))
    columns: tuple[str, ...] = field(metadata=form("columns published with noise", write=list))
    drop: tuple[str, ...] = field(metadata=form("columns left out, not published", write=list))
    rows: RowsFrom = field(metadata=form("list of rows", words=_ROWS))
    id_column: tuple[str, ...] = field(metadata=form("columns of identifiers", write=list))
    keyed_by_id: bool = field(metadata=form("noise keyed by identifier: rows may come in any order"))
    part: Part | None = field(metadata=PART_FORM)
    individual: str | None = field(metadata=INDIVIDUAL_FORM)
    proved: bool = field(metadata=PROVED_FORM)
    noise: PlannedNoise = field(
        metadata=form("noise", write=lambda noise: noise.facts(), read=lambda facts, name: noise_of_facts(facts))
    )
    until: Until | None = field(
        metadata=form(
            "stops as soon as it is accurate", write=Until.facts, read=lambda facts, name: Until.of_facts(facts)
        )
    )

    def __init__(
        self,
        columns: str | Sequence[str] | None = None,
        *,
        public: str | Sequence[str] = (),
        drop: str | Sequence[str] = (),
        unit: Unit | None = None,
        noise: "PlannedNoise | Plan | None" = None,
        rows: str = "declared",
        id_column: str | Sequence[str] | None = None,
        keyed_by_id: bool = False,
        part: Part | None = None,
        individual: str | None = None,
        proved: bool = False,
        until: Until | None = None,
    ) -> None:
        drawn = _noise(unit, noise)
        object.__setattr__(self, "public", drawn.labelled(listed_names(public, "public")))
        object.__setattr__(self, "columns", drawn.released(_listed(columns)))
        object.__setattr__(self, "drop", listed_names(drop, "drop"))
        object.__setattr__(self, "rows", rows_origin(rows))
        object.__setattr__(self, "id_column", () if id_column is None else _identifiers(id_column))
        object.__setattr__(self, "keyed_by_id", truth(keyed_by_id, "keyed_by_id"))
        object.__setattr__(self, "part", read_part(part))
        object.__setattr__(self, "individual", read_individual(individual))
        object.__setattr__(self, "proved", truth(proved, "proved"))
        object.__setattr__(self, "noise", drawn)
        object.__setattr__(self, "until", until)
        self._check()

    def _check(self) -> None:
        self.unit.check_part(self.part)
        beside = [name for name in ("public", "drop", "id_column") if getattr(self, name)]
        if self.noise.is_by_plan and beside:
            required = f"only one of noise=plan and {beside[0]}= may be given, since a plan names its columns"
            raise OutOfRange(required, came="both", remedy=f"Leave out {beside[0]}=.")
        if (self.noise.is_by_plan or self.noise.names_rows) and self.rows != "declared":
            required = (
                'rows must be "declared" with a plan, whose rows are the groups of its domain'
                if self.noise.is_by_plan
                else 'rows must be "declared" with noise that selects the rows privately'
            )
            raise OutOfRange(required, came=self.rows, where="rows", remedy="Leave out rows=.")
        if self.keyed_by_id and isinstance(self.noise, Noise):
            self.noise.by_item()  # refuses noise that is not of single cells
        if self.keyed_by_id and not self.id_column:
            remedy = 'Pass the column that identifies the rows, for example id_column="person".'
            raise OutOfRange("keyed_by_id=True needs id_column=", came="none", remedy=remedy)
        if self.until is not None:
            if not isinstance(self.until, Until):
                raise wrong_kind("until", 'a rule on released values, such as within("10 %")', self.until)
            self.until.check_noise(self.noise)
            if not self.noise.is_by_plan:
                self.until.check_public(self.public)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Promise) and self.facts() == other.facts()

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def lasting_noise(self) -> Noise:
        """The noise, if it is defined for every level, so that a ledger can store its responses.

        Raises:
            Unsupported: if the noise is made for one level.
        """
        if isinstance(self.noise, Noise):
            return self.noise
        again = "in Python with ut.release(once=True), on the command line without --ledger"
        remedy = (
            f"Make the promise with columns and a unit, whose noise can be relaxed; or release the table once: {again}."
        )
        required, came = "a ledger or service needs noise that can be drawn at every level", self.noise.kind
        raise Unsupported(required, came=came, where="promise", remedy=remedy)

    @property
    def unit(self) -> Unit:
        """The unit of privacy: what one individual changes."""
        return self.noise.unit

    @property
    def single_id_column(self) -> str | None:
        """The column of identifiers if there is exactly one, else None."""
        return self.id_column[0] if len(self.id_column) == 1 else None

    def check_single_id(self) -> None:
        """Check that at most one column identifies the rows, as every table but an engine's frame requires.

        Raises:
            OutOfRange: if several columns identify the rows.
        """
        if len(self.id_column) > 1:
            required = "id_column must be one column for this table"
            remedy = "Join the columns into one: only a frame of Polars, DuckDB or Spark takes several columns."
            raise OutOfRange(required, came="several columns", remedy=remedy)

    def check_fixed(self, came: str) -> None:
        """Check that the promise has no stopping rule, for a release without stored answers.

        Args:
            came: Description of the release, for the message.

        Raises:
            Unsupported: if the promise has a stopping rule.
        """
        if self.until is not None:
            required = "until= needs a release that this process or a ledger remembers"
            remedy = "Leave out until= and pass the level; or release the table without once=True."
            raise Unsupported(required, came=came, remedy=remedy)

    def at_stop(self, level: Level, stop: Stop | None) -> NoiseAtLevel:
        """Return the noise of an answer at a level; its margins also hold if a stopping rule has chosen the level.

        Args:
            level: Level of the answer.
            stop: Facts of the stop; None for an answer at a level that was chosen beforehand.
        """
        if stop is None:
            return self.noise.at(level)
        if stop.is_met is None:
            return self.noise.at(level, stop.at_one_level(stop.confidence))
        assert self.until is not None, "a rule stopped it"
        return self.noise.at(level, self.until.cell_confidence(self.noise, stop.levels, stop.confidence))

    def margin(
        self,
        epsilon: Number | Level,
        confidence: Number = DEFAULT_CONFIDENCE,
    ) -> int | float:
        """Return the margin of error at a level: with this confidence, a released value has at most this error."""
        return self.noise.margin(level_of(epsilon), confidence)

    def margins(
        self,
        epsilon: Number | Level,
        confidence: Number = DEFAULT_CONFIDENCE,
    ) -> dict[str, int | float]:
        """Return {name: margin} before any draw; for a plan, the 48 largest margins of its measured tables.

        The number for a mean is the margin of the mean times the number of events: divide it by 100 for a group of 100
        events.

        >>> import utmost as ut
        >>> people = {"region": ["N", "N", "S"], "income": [20, 40, 30]}
        >>> paid = ut.mean("income", each=(0, 100))
        >>> table = ut.count_table(people, {"region": ["N", "S"]}, ut.Counting(each_row=True), measure=paid)
        >>> ut.Promise.of_counted(table).margins(epsilon=1)
        {'region: count': 4.11, 'region: income_sum': 300, 'region: income_mean times count': 300}
        """
        noise, level = self.noise, level_of(epsilon)
        if isinstance(noise, Noise):
            return dict(noise.named_bars(level, confidence, _MOST_MARGINS))
        return {"each released value": noise.margin(level, confidence)}

    def guarantee(
        self,
        epsilon: Number | Level,
    ) -> str:
        """Return the guarantee at a level, in plain words."""
        return f"{self.noise.guarantee(level_of(epsilon), self.columns)} {self.sentences}".rstrip()

    @property
    def assumed(self) -> str:
        """The assumption about the list of rows and the public columns; empty if the noise itself states it."""
        if self.noise.names_rows or self.noise.is_by_plan:
            return ""
        return taken_for_granted(self.public, self.rows)

    @property
    def texts(self) -> dict[str, str]:
        """The fields that have a text for readers, as {title: text}."""
        named = {title: getattr(self, name) for name, title in texts_of(Promise).items()}
        return {title: words for title, words in named.items() if words is not None}

    @property
    def sentences(self) -> str:
        """The texts for readers as sentences, and a sentence if the unit is proved; empty if there is neither."""
        said = [f"{title[0].upper()}{title[1:]} {words}." for title, words in self.texts.items()]
        counted = _COUNTED.format("row" if self.individual == EACH_ROW else "individual", self.quantity)
        return " ".join([*said, counted] if self.proved else said)

    @property
    def quantity(self) -> str:
        """The quantity in the released cells, in words: people, events or amounts; empty if utmost counts no table."""
        if not self.proved:
            return ""
        if self.unit.amount is None and self.individual == EACH_ROW:
            return "number of rows"
        return self.unit.quantity

    def facts(self) -> dict[str, Any]:
        """Return the promise as JSON, with numbers as text; `of_facts` reads it."""
        return facts_of(self)

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "Promise":
        """Read the promise that JSON values describe; a missing or null field has its default.

        Raises:
            OutOfRange, NotANumber, WrongKind: if a field is invalid or unknown.
        """
        return cls(**arguments_of(cls, facts, "promise"))

    @classmethod
    def of_counted(
        cls,
        table: CountedFacts,
        columns: str | Sequence[str] | None = None,
        *,
        public: str | Sequence[str] = (),
        drop: str | Sequence[str] = (),
        unit: Unit | None = None,
        noise: "PlannedNoise | Plan | None" = None,
        until: Until | None = None,
    ) -> "Promise":
        """Return the promise of a counted table: its unit, its labels as public columns, its part, and its individuals.

        Args:
            table: Table that `count_table` returned.
            columns: Name of the column of counts; the name in the table if left out.
            public: Further public columns; the labels are public unless they are dropped.
            drop: Labels that are not published.
            unit: Unit at least as large as the proved one, in the steps of the table; the proved unit if left out.
            noise: Noise instead of a unit; a plan determines all other arguments. If left out, each cell has separate
                noise; but if the table has a `mean`, or is bounded by ``in_total``, a plan for the cells determines the
                noise.
            until: Rule by which the release stops as soon as it is accurate: `within`.

        Raises:
            WrongKind: if the table is not a counted table.
            OutOfRange: if the unit is smaller than the proved one.
            Unsupported: if ``unit`` needs a plan.
        """
        counted: Any = instance(table, CountedFacts, "table")
        if noise is None and unit is None:
            from utmost.publish.workloads.planning.cells_plan import cells_plan

            needs_plan = counted.unit.needs_sizes
            noise, unit = (cells_plan(counted.domain, counted.unit), None) if needs_plan else (None, counted.unit)
        drawn = _noise(unit, noise)
        if drawn.is_by_plan or drawn.labels_rows:
            return cls(columns, public=public, drop=drop, noise=drawn, until=until).of_table(counted)
        names = _listed(columns) or (counted.column,)
        if len(names) != 1:
            raise OutOfRange(
                "columns must name one column, the column of counts",
                came=f"{len(names)} names",
                remedy='Pass columns="count", or leave it out.',
            )
        labels, listed, dropped = counted_labels(counted), listed_names(public, "public"), listed_names(drop, "drop")
        shown = [*(name for name in labels if name not in dropped), *sorted({*listed} - {*labels})]
        return cls(names, public=shown, drop=drop, noise=drawn, until=until).of_table(counted)

    @property
    def digest(self) -> str:
        """The SHA-256 of the promise's facts; equal promises have equal digests."""
        return sha256(json.dumps(self.facts(), sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()

    def save(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write the promise to a JSON file, for `read_promise` and ``utmost release --promise``.

        Raises:
            OutOfRange: if the file name does not end in .json.
            Unsupported: if the file exists and ``overwrite`` is False.
        """
        path = Path(path)
        if path.suffix.lower() != ".json":
            raise OutOfRange(
                "path must end in .json", came=path.name, remedy=f"Pass {str(path.with_suffix('.json'))!r}."
            )
        write_together({path: lambda file: write_json(PROMISE_FORM.document(self), file)}, overwrite=overwrite)

    def check(self, table: Any) -> None:
        """Check that the promise is compatible with a table, counted or not.

        Raises:
            OutOfRange: if the promise has another part or individual than the table, if its unit was not proved or is
                smaller than the proved one, or if a label of the table is neither public nor dropped.
        """
        counted: Any = table if isinstance(table, CountedFacts) else None
        part = None if counted is None else counted.part
        if self.part != part:
            raise OutOfRange(
                "the promise must name the same part as the counted table",
                came="a whole table" if part is None else f"a table of {part[1]!r} of {part[0]!r}",
                where="part",
                remedy=_FROM_COUNTED,
            )
        if counted is not None and counted.individual is not None and self.individual not in (None, counted.individual):
            required = f"the promise must name the individual that was counted, {counted.individual!r}"
            raise OutOfRange(required, came=repr(self.individual), remedy=_FROM_COUNTED)
        if self.proved and (counted is None or not counted.proved):
            raise OutOfRange(
                "a promise that was made from a counted table needs a table that utmost counted",
                came="a table that was counted elsewhere",
                where="proved",
                remedy="Count the people: ut.count_table, or utmost count; or promise columns and a unit of your own.",
            )
        self.noise.check_unit(counted)
        if counted is None or self.noise.is_by_plan or self.noise.labels_rows:
            return
        counted.check_covered(self.unit)
        unsaid = {*counted_labels(counted)} - {*self.public, *self.drop}
        if unsaid or len(self.columns) != 1:
            required = "the promise must name every column of the counted table"
            raise OutOfRange(
                required, came="a promise that leaves out some columns", where="promise", remedy=_FROM_COUNTED
            )

    def rows_of(self, table: Any) -> Any:
        """Return the rows of a table as its adapter reads them; for a plan, the counted table.

        Raises:
            WrongKind: if a plan gets a table that is not counted.
        """
        return self.noise.rows_of(table, self.columns)

    def as_read(
        self, columns: Sequence[str], public: Sequence[str], identifiers: Sequence[str] | None = None
    ) -> "Promise":
        """Return the promise with the released, public and identifying columns of a table, in the table's order."""
        named = self.id_column if identifiers is None else tuple(identifiers)
        return self._with({"columns": tuple(columns), "public": tuple(public), "id_column": named})

    def as_published(self, names: Sequence[str], public: Sequence[str]) -> "Promise":
        """Return the promise with these columns of a table, in the table's order unless the noise has its own."""
        columns = self.columns if self.noise.orders_columns else [name for name in names if name in self.columns]
        return self.as_read(columns, public)

    def _with(self, changed: Mapping[str, Any]) -> "Promise":
        """Return the promise with these fields changed; it is not checked again."""
        promise = object.__new__(Promise)
        for each in fields(Promise):
            object.__setattr__(promise, each.name, changed.get(each.name, getattr(self, each.name)))
        return promise

    def once(self, cost: str | Cost = "absolute", *, relaxable: bool = False) -> "Promise":
        """Return the promise for a single release: its noise of cells has the least error at the level of the release.

        Args:
            cost: Error of a cell that is minimised: "absolute", "squared", "moment:3" or any even function
                nondecreasing in |x|.
            relaxable: Whether to use only noise that can later be relaxed without loss.

        Raises:
            OutOfRange: if the noise has ``largest``, which only a ledger uses.
            Unsupported: if ``cost`` or ``relaxable`` is passed and the promise fixes the noise (points, sums, half
                steps), or if the promise has a stopping rule, which needs several levels.
        """
        self.check_fixed("once=True")
        if isinstance(self.noise, Noise) and self.noise.is_bounded:
            remedy = "Publish the table in a ledger, or make the promise without largest=."
            raise OutOfRange(
                "largest= is allowed only for a release in a ledger", came="once=True", where="promise", remedy=remedy
            )
        return self._with({"noise": least_once(self.noise, cost, relaxable=truth(relaxable, "relaxable"))})

    def at(self, epsilon: Number | Level | None = None, *, confidence: Number = DEFAULT_CONFIDENCE) -> NoiseAtLevel:
        """Return the noise of an answer at a level, before any table is read: its distribution and margins.

        Args:
            epsilon: Level of the answer.
            confidence: Confidence of the margins.

        >>> promise = Promise("n", unit=Unit(5, 1))
        >>> promise.at(8).distribution, promise.once().at(8).distribution
        (Geometric(epsilon=8, sensitivity=5), DiscreteStaircase(epsilon=8, sensitivity=5, step=1))
        """
        return self.noise.at(level_of(epsilon), confidence)

    def as_drawn(self, at_level: NoiseAtLevel) -> "Promise":
        """Return the promise with the noise that a search found for ``at_level``; unchanged if no search was needed."""
        noise = self.noise.as_drawn(at_level)
        return self if noise is self.noise else self._with({"noise": noise})

    def published_facts(self) -> dict[str, Any]:
        """Return the promise as JSON for a statement: without the names of dropped columns and of identifiers."""
        bare = self._with({"drop": (), "id_column": (), "keyed_by_id": False})
        return bare.facts() | {"noise": self.noise.published_facts()}

    def with_noise(self, noise: PlannedNoise) -> "Promise":
        """Return the promise with another noise, which must fit its columns."""
        return self._with({"noise": noise})

    def of_table(self, table: Any) -> "Promise":
        """Take from a counted table each fact that the promise leaves out; return the checked promise.

        Raises:
            OutOfRange: if `check` refuses the table.
        """
        promise = self
        if isinstance(table, CountedFacts):
            facts = table.counted_facts()
            left_out = [each.name for each in fields(Promise) if not getattr(self, each.name) and facts.get(each.name)]
            promise = replace(self, **{name: facts[name] for name in left_out})
        promise.check(table)
        return promise


def checked_promise(promise: Any) -> Promise:
    """Return a promise unchanged; refuse any other object, and say how a plan, noise or unit becomes a promise."""
    if not isinstance(promise, Promise):
        from utmost.publish.workloads.planning.plan import Plan

        came = "None" if promise is None else type(promise).__name__
        remedy = 'Pass, for example, ut.Promise("count", public="region", unit=ut.Unit(1, 1)).'
        if isinstance(promise, Plan):
            came, remedy = "a plan", "Pass ut.Promise(noise=plan)."
        elif isinstance(promise, PlannedNoise):
            name = type(promise).__name__
            came = f"only a noise, {name}"
            remedy = f"Pass ut.Promise(noise={name}(...)), with columns= if the noise does not name the columns."
        raise WrongKind("promise must be a Promise", came=came, remedy=remedy)
    return promise


def promise_for(promise: "Promise | Plan", table: Any) -> Promise:
    """Check a promise against a table, and add who was counted; a plan stands for the promise about its sums."""
    if not isinstance(promise, Promise):
        from utmost.publish.workloads.planning.plan import Plan

        if isinstance(promise, Plan):
            return Promise(noise=promise).of_table(table)
    checked_promise(promise).check(table)  # of_table must not fill in a part: budgets do not add up disjoint parts
    return promise.of_table(table)


def warn_of_left_out(promise: Promise, table: Any) -> None:
    """Warn (IndividualLeftOut) if the promise leaves out facts that a counted table states; do not change it."""
    if promise.of_table(table) != promise:
        required = (
            "The table states who one individual is and that utmost counted the table; the promise leaves this out"
        )
        remedy = (
            "Make the promise by Promise.of_counted(table), for a plan with noise=plan, before the promise is approved."
        )
        warn(f"{required}, and so does the statement. {remedy}", IndividualLeftOut)


def counted_labels(table: Any) -> tuple[str, ...]:
    """Return the label columns of a counted table; empty for any other table."""
    counted: Any = table if isinstance(table, CountedFacts) else None
    return () if counted is None else tuple(counted.domain.label_columns(counted.domain.finest))


def _noise(unit: Unit | None, noise: "PlannedNoise | Plan | None") -> PlannedNoise:
    if noise is None:
        return CellNoise(read_unit(unit))
    if unit is not None:
        required = "only one of unit= and noise= may be given, since a noise has its own unit"
        raise OutOfRange(required, came="both", where="noise", remedy="Pass one of the two.")
    if isinstance(noise, PlannedNoise):
        return noise
    from utmost.publish.promises.sum_noise import SumNoise
    from utmost.publish.workloads.planning.plan import Plan

    if not isinstance(noise, Plan):
        raise wrong_kind("noise", "a noise or a Plan", noise)
    return SumNoise(noise)


def _listed(columns: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if columns is None else listed_names(columns, "columns")


def _identifiers(columns: str | Sequence[str]) -> tuple[str, ...]:
    """Return the columns of identifiers; check that they are different texts."""
    names = (columns,) if isinstance(columns, str) else columns
    if not isinstance(names, list | tuple) or not all(type(name) is str for name in names):
        came = type(columns).__name__
        raise OutOfRange("id_column must be text, the name of a column", came=came, where="id_column")
    if len(set(names)) != len(names):
        raise OutOfRange("id_column must name one or more columns, each once", came=str(names), where="id_column")
    return tuple(names)


_BESIDE = {"kind", "format", "utmost", "digest"}


PROMISE_FORM = Form(
    "promise",
    "a promise",
    lambda promise: promise.facts() | {"digest": promise.digest},
    lambda facts: Promise.of_facts({name: fact for name, fact in facts.items() if name not in _BESIDE}),
)
"""The form of promises in files: the fields of `Promise.facts`, and the digest."""


def read_promise(path: Path | str) -> Promise:
    """Read the promise in a file that ``Promise.save`` or ``utmost promise`` wrote.

    Raises:
        BadTable: if the file does not contain a promise; the message names a missing, unknown or changed field.
        OutOfRange, NotANumber, WrongKind: if fields are incompatible.
        Unsupported: if the file has the format of a later version.

    >>> from utmost import Unit
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "promise.json"
    >>> promise = Promise("admitted", public="department", unit=Unit(1, 1))
    >>> promise.save(path)
    >>> read_promise(path) == promise
    True
    """
    return PROMISE_FORM.read(Path(read_path(path, "path")))
