"""Counting people: from events of persons to the table of a declared domain, and the unit of privacy that is proved.

Of each person at most so many atoms are kept, each changed by at most so much. What is kept is a function of the key
and of that person's own rows, so that without the person all others stand as they stood: the proof is in
docs/theory/counting.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from secrets import token_bytes, token_hex
from typing import Any, overload
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotDeclared, NothingCounted, OutOfRange
from utmost.laws.exact import Number, checked, exact_integer, wrong_kind
from utmost.laws.privacy import Unit
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.kept_pairs import in_one_part, in_rows
from utmost.publish.counting.measures import Measure
from utmost.publish.tables.account_tally import AccountTally
from utmost.publish.tables.adapters import check_there
from utmost.publish.tables.bounding import Pairs, Progress, Tally, added_by_cell, least_hashed, totals
from utmost.publish.tables.count_account import CountAccount
from utmost.publish.tables.engines import engine_frame, is_engine_frame
from utmost.publish.tables.event_batches import Batch, Events, read_events
from utmost.publish.tables.event_codes import Persons, Places, amounts_in, check_type, places_on
from utmost.publish.tables.persons_in_order import CELL, cell_totals, gathered_totals, take_events, totals_schema
from utmost.publish.tables.rows_alone import RowsAlone, row_pairs
from utmost.publish.workloads import Axis, Domain
from utmost.publish.workloads.axes import Label
from utmost.publish.workloads.sums_and_differences import PairAxis

KEY_BYTES = 32
_LARGEST_DOMAIN = 1 << 62

Bounds = Number | Sequence[Number]
"""What one person may add to one atom: at most so much from 0 on, or between two ends."""


@overload
def count_table(
    events: Any,
    *,
    person: str | None = ...,
    each_row: bool = ...,
    domain: Domain | Mapping[str, Any] | None = ...,
    by: str | Sequence[str] | None = ...,
    at_most: int | None = ...,
    per_atom: Bounds | None = ...,
    values: str | None = ...,
    step: Number | None = ...,
    each: Bounds | None = ...,
    part: None = ...,
    together: str | None = ...,
    key: bytes | None = ...,
    neighbours: str = ...,
    progress: Progress | None = ...,
) -> CountedTable: ...


@overload
def count_table(
    events: Any,
    *,
    person: str | None = ...,
    each_row: bool = ...,
    domain: Domain | Mapping[str, Any] | None = ...,
    by: str | Sequence[str] | None = ...,
    at_most: int | None = ...,
    per_atom: Bounds | None = ...,
    values: str | None = ...,
    step: Number | None = ...,
    each: Bounds | None = ...,
    part: str | Mapping[str, Sequence[Label]],
    together: str | None = ...,
    key: bytes | None = ...,
    neighbours: str = ...,
    progress: Progress | None = ...,
) -> dict[Label, CountedTable]: ...


@checked
def count_table(
    events: Any,
    *,
    person: str | None = None,
    each_row: bool = False,
    domain: Domain | Mapping[str, Any] | None = None,
    by: str | Sequence[str] | None = None,
    at_most: int | None = None,
    per_atom: Any = None,
    values: str | None = None,
    step: Number | None = None,
    each: Any = None,
    part: Any = None,
    together: str | None = None,
    key: bytes | None = None,
    neighbours: str = "add-remove",
    progress: Progress | None = None,
) -> CountedTable | dict[Label, CountedTable]:
    """Count the events of persons over a declared domain, so that one person changes no more than is said.

    Of each person and atom the events are counted, or their values summed, and the sum is moved into ``per_atom``; of a
    person's atoms whose sum is not 0 the ``at_most`` with the least hash of key, person and atom are kept, exactly so
    many where there are as many. Then the sums are added up over all persons; atoms with nobody in them hold 0.

    Args:
        events: one row an event: a dict of columns, a frame of any library that narwhals reads (pandas, Polars, Arrow;
            those of an engine, lazy ones of Polars, DuckDB and Spark, are counted where they are, and only the sums of
            cells come here), or the pathlib.Path of a CSV or Parquet file, or of a directory of Parquet files, which
            is read batch by batch; folders such as ``year=2020`` are columns, too.
        person: the column that says whose event it is: text or integers, in every row.
        each_row: instead, that each row is another person, as in a survey or a register: then one person changes one
            atom, and nothing proves it but your word that nobody has two rows.
        domain: the declared domain, or a mapping that `Domain.of_facts` reads. What lies outside it is left out, or put
            to an axis's ``other``, and is never published.
        by: which axes of the domain the table has, by the names of their columns, in this order; all when None.
        at_most: how many atoms one person may change, >= 1; of each row 1.
        per_atom: by how much one person may change one atom, a number s for sums within [0, s], or the pair of the
            lowest and the highest sum; 1 where nothing is said of it, ``step`` or ``each``, and of rows as ``each``.
        values: a column of amounts to be summed, integers unless a step is said; None, and events are counted.
        step: to the multiples of which amounts are rounded, half to even, as exactly what they are: a float is its
            binary value, a Decimal and text in a file the decimal. Bounds and tables are in the amounts' own unit.
        each: into what the amount of each event is moved first, like ``per_atom``.
        part: an axis of the domain, or {column: list of labels}, that splits the table into parts each person is in
            only one of: a person with events in several is kept in the one with the least hash.
        together: an axis of two values: the atoms of a person are kept row by row along it, both or neither, of
            ``at_most / 2`` rows. Sums and differences of the two can be released then, see `Strategy`.
        key: of the hashes: with the same key and events the same atoms are kept. New random bytes when None. The proof
            needs neither a secret key nor a good hash; who knows the key can choose names whose atoms are kept.
        neighbours: "add-remove" or "change-one", see `Unit`.
        progress: called as ``progress(done, rows)`` after every batch.

    Returns:
        The table with the unit that this counting proves: sensitivity max(|lowest|, |highest|) of ``per_atom``, of
        amounts in steps, and ``at_most`` cells, or as many as there are atoms. With ``part`` a dict of such tables by
        the label of the part, each over the other axes, with ``CountedTable.part`` saying that they share nobody. Their
        ``account`` says, to the curator alone, what became of the events; that of parts is of them all.

    Raises:
        NotDeclared: without a domain, or for a column that is no axis of it.
        BadTable: for an event without a person, persons or values of listed axes that are neither text nor integers,
            values of bins that are no numbers, amounts that are no finite numbers, or without a step no integers, and
            columns that are not there.
        OutOfRange: for bounds that leave nothing, and where nothing or two things say whose events these are.
        Unsupported: where a frame needs a package that is missing.

    Warns:
        NothingCounted: where every event lies outside the domain.

    Cost: seconds for a million events; memory goes with the distinct pairs of person and atom; for an engine's frame
        with the domain, and those pairs of a 256th of the persons (of the largest person, on Spark), while the events
        wait on the disk, in a file without a name.

    >>> events = {"user": ["ann", "ann", "bob", "ann"], "page": ["A", "B", "A", "A"]}
    >>> counted = count_table(events, person="user", domain=Domain(page=["A", "B", "C"]), at_most=2)
    >>> counted.table("page")["count"].tolist(), counted.unit
    ([2, 1, 0], Unit(sensitivity=Fraction(1, 1), cells=2, neighbours='add-remove'))
    """
    most = _most(person, at_most, together, each_row=each_row)
    measure = Measure.of(values, step, each, per_atom, each_row=each_row)
    plan = _Counting.of(_declared(domain, by), by, part, person, measure)
    pair = None if together is None else _pair_axis(plan, together, most)
    rule = _Kept(plan, most, pair, token_bytes(KEY_BYTES) if key is None else bytes(key))
    unit = Unit(measure.bound, min(most, plan.atoms), neighbours, measure.amount)
    flat, kind = _counted_by_engine(events, rule) if is_engine_frame(events) else _counted_here(events, rule, progress)
    atoms, account = flat.reshape(plan.parts, *plan.shape), rule.tally.account()
    if account.left_out == account.events > 0:
        axes = ", ".join(repr(name) for name in account.outside if account.outside[name] or account.missing[name])
        text = (
            f"Every event lies outside the declared domain, on {axes}: the table is zeros. Compare the declared values "
        )
        warn(f"{text}with the spelling and the type of the column's.", NothingCounted, stacklevel=3)
    if plan.part is None:
        return CountedTable(Domain(plan.named), atoms[0], unit, kind, together=together, account=account)
    return _split(plan, plan.part, atoms, unit, kind, together, account)


def _counted_here(events: Any, rule: "_Kept", progress: Progress | None) -> tuple[NDArray[Any], str]:
    """The sum of each cell, and of what kind tables made of it are."""
    read = read_events(events, rule.plan.columns, rule.plan.measure.column)
    if read.folders is not None:
        read.folders.check_labels(rule.plan.read)
    gathered = _of_rows if rule.plan.person is None else _of_persons
    return gathered(rule, read, progress or _nothing), read.kind


def _nothing(done: int, rows: int) -> None:
    """Show no progress."""


def _of_persons(rule: "_Kept", read: Events, progress: Progress) -> NDArray[Any]:
    persons, tally, done = Persons(rule.person), Tally(), 0
    for batch in read.batches():
        done += take_events(rule, batch, persons, tally, read.weight, done)
        progress(done, read.rows)
    return totals(rule.chosen(tally.pairs(), persons.texts), rule.size, rule.bound)


def _of_rows(rule: "_Kept", read: Events, progress: Progress) -> NDArray[Any]:
    """The same where each row is a person: what is kept of it is added up as it passes."""
    summed, done = np.zeros(rule.size, dtype=np.int64 if rule.bound < _LARGEST_DOMAIN else object), 0
    for batch in read.batches():
        cells, sums = added_by_cell(rule.chosen(row_pairs(rule, batch, done), ()))
        done += len(batch[rule.plan.columns[0]])
        if rule.bound * done >= _LARGEST_DOMAIN:  # beyond, int64 might wrap
            summed, sums = summed.astype(object), sums.astype(object)
        summed[cells] += sums
        progress(done, read.rows)
    return summed


def _counted_by_engine(events: Any, rule: "_Kept") -> tuple[NDArray[Any], str]:
    """The same, of a frame whose rows stay with the engine; persons come in order, and only sums of cells come here."""
    frame, plan = engine_frame(events), rule.plan
    schema = frame.schema()
    check_there(plan.columns, schema.names)
    for name in (*plan.who, *(axis.levels[0] for axis in plan.read)):
        check_type(schema.field(name), name)
    read = frame.select(plan.columns)
    if plan.person is None:
        batches = read.added_up(RowsAlone(rule), totals_schema(CELL))
    else:
        batches = read.kept(rule, totals_schema(CELL), is_weighed=plan.measure.column is not None)
    return gathered_totals(rule.tally.taken_from(batches), rule.size), frame.kind


@dataclass(frozen=True, slots=True, eq=False)
class _Counting:
    """Which columns are read, and into which cell an event falls: the part counts first, then the atom in it."""

    person: str | None
    measure: Measure
    axes: tuple[Axis, ...]
    part: Axis | None

    @classmethod
    def of(cls, domain: Domain, by: Any, part: Any, person: str | None, measure: Measure) -> "_Counting":
        axis = None if part is None else _part_axis(domain, part)
        axes = tuple(
            by_axis for by_axis in _chosen_axes(domain, by) if axis is None or by_axis.levels[0] != axis.levels[0]
        )
        counting = cls(person, measure, axes, axis)
        if len(set(counting.columns)) < len(counting.columns):
            raise OutOfRange(
                "persons, values and each axis must be columns of their own",
                came="one column twice",
                where=", ".join(counting.columns),
                remedy="The values of an axis are published, and persons are not.",
            )
        if not counting.columns:
            remedy = "Declare an axis; or name a column of persons, or of values."
            raise OutOfRange("rows must have a column to be counted by", came="none", where="domain", remedy=remedy)
        if counting.parts * counting.atoms >= _LARGEST_DOMAIN:
            raise OutOfRange("the domain must have fewer than 2^62 atoms", came=counting.atoms)
        return counting

    @property
    def named(self) -> dict[str, Axis]:
        """The axes by the columns that hold their values."""
        return {axis.levels[0]: axis for axis in self.axes}

    @property
    def shape(self) -> tuple[int, ...]:
        """The values of each axis."""
        return tuple(axis.size for axis in self.axes)

    @property
    def atoms(self) -> int:
        """How many atoms one part has."""
        return prod(self.shape)

    @property
    def parts(self) -> int:
        """How many parts there are; 1 where the table is whole."""
        return 1 if self.part is None else self.part.size

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        split = [] if self.part is None else [self.part.levels[0]]
        summed = [] if self.measure.column is None else [self.measure.column]
        return [*self.who, *split, *self.named, *summed]

    @property
    def who(self) -> list[str]:
        """The column of persons; none where each row is one."""
        return [] if self.person is None else [self.person]

    @property
    def read(self) -> tuple[Axis, ...]:
        """The axes whose values are read, the part's first."""
        return (*(() if self.part is None else (self.part,)), *self.axes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Kept:
    """How events are read, and what is kept of a person: pure functions of the key and the person's own events."""

    plan: _Counting
    at_most: int
    pair: PairAxis | None
    key: bytes
    tally: AccountTally = field(init=False)
    _readers: list[tuple[str, int, Places]] = field(default_factory=list)

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "tally",
            AccountTally(tuple(axis.levels[0] for axis in self.plan.read), has_each=self.plan.measure.each is not None),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, (self.plan, self.at_most, self.pair, self.key)

    @property
    def size(self) -> int:
        """How many cells there are, in all parts."""
        return self.plan.parts * self.plan.atoms

    @property
    def bound(self) -> int:
        """The largest size of what one person changes in a cell."""
        return self.plan.measure.bound

    @property
    def person(self) -> str:
        """The column that says whose event it is; nothing where each row is a person."""
        return self.plan.person or ""

    def placed(self, batch: Batch, weight: str | None, before: int) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
        """Of each event of a batch its cell, -1 outside the domain, and its amount."""
        if not self._readers:
            self._readers.extend(
                (axis.levels[0], axis.size, places_on(axis, axis.levels[0])) for axis in self.plan.read
            )
        rows = len(batch[self.plan.columns[0]])
        cells = np.zeros(rows, dtype=np.int64)
        inside, strays = np.ones(rows, dtype=bool), list[NDArray[np.int64]]()
        for name, size, place in self._readers:
            places = place(batch[name])
            inside &= places >= 0
            cells = cells * size + np.maximum(places, 0)
            strays.append(places)
        times = None if weight is None else amounts_in(batch[weight], weight, before)
        self.tally.read(inside, strays, times)
        amounts = self.plan.measure.amounts(batch, before)
        if amounts is None:
            return np.where(inside, cells, -1), times
        moved = self.plan.measure.within(amounts)
        self.tally.moved(int(np.count_nonzero(inside & (moved != amounts))))
        return np.where(inside, cells, -1), moved

    def chosen(self, pairs: Pairs, texts: Sequence[str]) -> Pairs:
        """What is kept of these persons, all of whose pairs these are."""
        (low, high), every = self.plan.measure.ends, pairs
        pairs = pairs.clipped(low, high)
        chosen = self._within(pairs, texts)
        self.tally.bound(every, low, high, len(pairs.cells) - len(chosen.cells))
        return chosen

    def _within(self, pairs: Pairs, texts: Sequence[str]) -> Pairs:
        """Of each person the pairs of one part, and of these no more than ``at_most``."""
        if self.plan.part is not None:
            pairs = in_one_part(pairs, self.plan.atoms, texts, self.key)
        inner = Pairs(pairs.persons, pairs.cells % self.plan.atoms, pairs.sums)
        if self.pair is not None:
            return pairs.where(in_rows(inner, self.pair, self.at_most // 2, texts, self.key))
        return pairs.where(least_hashed(inner, self.at_most, texts, key=self.key, purpose=b"atom"))

    def summed(self, pairs: Pairs, texts: Sequence[str]) -> Any:
        """What is kept of these persons, added up by cell; and what the account has gathered, in cells below 0."""
        return self.tally.given_to(cell_totals(self.chosen(pairs, texts)))


def _most(person: str | None, at_most: int | None, together: str | None, *, each_row: bool) -> int:
    """How many atoms one person may change.

    Raises:
        OutOfRange: where it is not said, or said twice, whose events these are; and for no atoms.
    """
    if not each_row:
        if person is None or at_most is None:
            came = "no person" if person is None else "no at_most"
            remedy = "Pass person= and at_most=; or each_row=True, where each row is another person."
            raise OutOfRange(
                "whose events these are must be said, and how many atoms one may change", came=came, remedy=remedy
            )
        if exact_integer(at_most, "at_most") < 1:
            remedy = "Give how many atoms a person may change."
            raise OutOfRange("at_most must be at least 1", came=at_most, remedy=remedy)
        return at_most
    if person is not None or together is not None or at_most not in (None, 1):
        came = "a person" if person is not None else "together" if together is not None else f"at_most={at_most}"
        remedy = "Leave person=, together= and at_most= out; or name the column of persons."
        raise OutOfRange("each row is a person, who changes one atom", came=came, where="each_row", remedy=remedy)
    return 1


def _declared(domain: Any, by: Any) -> Domain:
    if domain is None:
        raise NotDeclared(
            "which values there are must be declared before anybody is counted",
            came="no domain" if by is None else "columns without a domain",
            remedy='Pass domain=ut.Domain(page=["A", "B"]), say: values found in the data would themselves tell of '
            "people. Where nobody can list them, use ut.select_keys.",
        )
    return domain if isinstance(domain, Domain) else Domain.of_facts(domain)


def _chosen_axes(domain: Domain, by: Any) -> list[Axis]:
    if by is None:
        return list(domain.axes)
    known = dict(zip(domain.columns, domain.axes, strict=True))
    names = (by,) if isinstance(by, str) else tuple(by)
    if not names or len(set(names)) < len(names):
        raise OutOfRange("by must name at least one axis, none twice", came=names)
    for name in names:
        if name not in known:
            raise NotDeclared(
                "every column that is counted by must be an axis of the domain",
                came=repr(name),
                remedy=_axis_remedy(domain, name),
            )
    return [known[name] for name in names]


def _axis_remedy(domain: Domain, name: str) -> str:
    """Which axes there are; of a coarser level, which axis it is a level of."""
    finest = next((axis.levels[0] for axis in domain.axes if name in axis.levels), None)
    if finest is not None:
        return f"It is a level of {finest!r}: count by that, and its sums can be asked for afterwards."
    return f"The domain declares {', '.join(map(repr, domain.columns))}."


def _part_axis(domain: Domain, part: Any) -> Axis:
    if isinstance(part, str):
        if part not in domain.columns:
            raise NotDeclared(
                "the labels of the parts must be declared",
                came=repr(part),
                remedy=f'Make it an axis of the domain, or pass part={{"{part}": [its labels]}}.',
            )
        return domain.axes[domain.columns.index(part)]
    if not isinstance(part, Mapping):
        raise wrong_kind("part", "the name of an axis, or {column: list of labels}", part)
    if len(part) != 1:
        raise OutOfRange("part must name one column", came=f"{len(part)} columns")
    return Domain(part).axes[0]


def _pair_axis(plan: _Counting, together: str, at_most: int) -> PairAxis:
    """The axis along which a person's atoms are kept by rows.

    Raises:
        OutOfRange: for other than two values, and an odd number of atoms.
    """
    if at_most % 2:
        remedy = f"Pass at_most={at_most + 1} for {(at_most + 1) // 2} rows of two atoms."
        raise OutOfRange("at_most must be even where whole rows are kept", came=at_most, remedy=remedy)
    if not plan.axes:
        raise OutOfRange("together must be an axis of the table", came=together)
    return PairAxis.of(Domain(plan.named), together)


def _split(
    plan: _Counting,
    part: Axis,
    found: NDArray[Any],
    unit: Unit,
    kind: str,
    together: str | None,
    account: CountAccount,
) -> dict[Label, CountedTable]:
    """A table for each part; those of one call share an identity that no other call has."""
    identity, name = token_hex(16), part.levels[0]
    tables = {}
    for label, atoms in zip(part.labels[0], found, strict=True):
        domain = Domain(plan.named or {name: [label]})
        of_part = (identity, str(label))
        tables[label] = CountedTable(domain, atoms.reshape(domain.shape), unit, kind, of_part, together, account)
    return tables
