"""Promises: all that is decided before anybody looks at the data, in one object, with one form as JSON and one digest.

What a second person approves, what a ledger publishes and what a program writes down for later is this object. Level,
name, dataset, version and request are no part of it: they belong to the call.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.core.exact.arguments import instance
from utmost.core.exact.kinds import checked
from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.numbers import Number, written_number
from utmost.core.exact.shown import Shown
from utmost.core.noise.costs import Cost
from utmost.core.privacy.amount import Amount
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported, WrongKind
from utmost.publish.counting.proved_table import ProvedTable
from utmost.publish.promises.cell_noise import least_like
from utmost.publish.promises.declared_columns import RowsFrom, listed_names, rows_origin
from utmost.publish.promises.noise_kinds import noise_of_words, stated_noise
from utmost.publish.promises.promised_noise import Noise, PlannedNoise

if TYPE_CHECKING:
    from utmost.publish.workloads.planning.strategy import Strategy

Part = tuple[str, str]
"""A partition of individuals into parts that share nobody, and one part of it."""


_WORDS = (
    "columns",
    "public",
    "drop",
    "rows",
    "unit",
    "sensitivity",
    "cells",
    "neighbours",
    "amount",
    "numbers",
    "grid",
    "largest",
    "half_step",
    "strategy",
    "per",
    "noise",
    "id_column",
    "part",
)


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Promise(Shown):
    """What is promised of a table at every level: which columns, whom it protects, what is public, which noise.

    Args:
        columns: the columns to release; None for a strategy, which says itself what is measured.
        public: columns to publish as they are. Every other column of a table must be dropped, or is refused.
        drop: columns that are neither released nor published.
        rows: where the list of rows comes from, "declared" before anybody was counted, or "observed" in the data.
        unit: what one individual changes; or sensitivity, cells, neighbours and amount instead, see `Unit`.
        strategy: instead of columns and unit, the families to measure of a table that `count_table` made.
        per: instead of a unit, for columns that are the coordinates of one point a row: the level is for each so much
            Euclidean distance, and so is the budget; several rows of one individual add their distances up. Any width
            is a ``grid=`` then.
        numbers: "integers" or "reals".
        grid: for reals, the width of the grid, a power of two; chosen by the sensitivity if left out.
        largest: a bound on the size of any true value there could be, known without looking at the data. It settles
            how many bytes a cell takes on disk, since a length must not depend on the values. If left out, 2^1278
            steps for up to 409 cells and 2^126 from 4096 cells on, at 160 to 16 bytes.
        half_step: for odd sensitivities above 1, half-step staircase noise, which is less than geometric noise up to a
            level of 2.5 a cell and as lossless to relax.
        noise: "rows"; or "items", a function of key and identifier, so that the rows may come in any order; or another
            kind of noise, which says itself whom it protects.
        id_column: the column of identifiers, or of an engine's frame the columns that together say which item a row is.
        part: where individuals were counted in parts that share nobody, the partition and which part this is. Levels of
            parts do not add up, so it must be that of the counted table.

    Attributes:
        identifiers: the columns of ``id_column``.
        by_item: whether the noise is addressed by item.
        planned: what is measured, and how an answer at a level is drawn; `noise`, if a memory can keep it.

    Raises:
        OutOfRange, NotANumber, WrongKind: for a word that is no such thing, or goes not with the others.

    >>> promise = Promise("admitted", public="department", sensitivity=1, cells=1)
    >>> promise.margin(epsilon=1), promise == Promise.of_facts(promise.facts())
    (3, True)
    >>> promise.guarantee(epsilon=1)
    'Whatever anyone concludes from the released columns, the chance of concluding it would have been at most 2.72 times
    larger or smaller if any one individual had been left out of the data or added to it (epsilon = 1). This assumes
    that one individual changes at most 1 released cell, and that by at most 1.'
    """

    _shown = ("columns", "public", "unit")

    columns: tuple[str, ...]
    public: tuple[str, ...]
    drop: tuple[str, ...]
    rows: RowsFrom
    identifiers: tuple[str, ...]
    by_item: bool
    planned: PlannedNoise
    part: Part | None

    def __init__(
        self,
        columns: str | Sequence[str] | None = None,
        *,
        public: str | Sequence[str] = (),
        drop: str | Sequence[str] = (),
        rows: str = "declared",
        unit: Unit | None = None,
        sensitivity: Number | None = None,
        cells: Number | None = None,
        neighbours: str | None = None,
        amount: Amount | Mapping[str, Any] | None = None,
        numbers: str = "integers",
        grid: Number | None = None,
        largest: Number | None = None,
        half_step: bool = False,
        strategy: "Strategy | None" = None,
        per: Number | None = None,
        noise: str | PlannedNoise = "rows",
        id_column: str | Sequence[str] | None = None,
        part: Part | None = None,
    ) -> None:
        chosen = () if columns is None else listed_names(columns, "columns")
        identifiers = () if id_column is None else _identifiers(id_column)
        about: dict[str, Any] = {
            "columns": columns,
            "public": public,
            "drop": drop,
            "unit": unit,
            "sensitivity": sensitivity,
            "cells": cells,
            "neighbours": neighbours,
            "amount": amount,
            "numbers": numbers,
            "grid": grid,
            "largest": largest,
            "half_step": half_step,
            "strategy": strategy,
            "per": per,
            "noise": noise,
            "id_column": id_column,
        }
        read = noise_of_words(chosen, about)
        released = read.released(chosen)
        by_item = noise == "items"
        _check_addressed(noise, identifiers, per)
        published, dropped = listed_names(public, "public"), listed_names(drop, "drop")
        self._set(released, published, dropped, rows_origin(rows), identifiers, by_item, read, _part(part))

    def _set(self, *values: Any) -> None:
        for name, value in zip(Promise.__slots__, values, strict=True):
            object.__setattr__(self, name, value)
        self.unit.check_part(self.part)

    def _with(self, **changed: Any) -> "Promise":
        """The same with other fields."""
        other = object.__new__(Promise)
        other._set(*(changed.get(name, getattr(self, name)) for name in Promise.__slots__))
        return other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Promise) and self.facts() == other.facts()

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def noise(self) -> Noise:
        """Unit, lattice and law at each level.

        Raises:
            Unsupported: for noise that is chosen for one level, which no memory keeps and no file says.
        """
        if isinstance(self.planned, Noise):
            return self.planned
        remedy = "Promise columns and a unit, whose noise can be relaxed; or release it once, by ut.release_table."
        required = "what is remembered has noise for every level"
        raise Unsupported(required, came=self.planned.kind, where="noise", remedy=remedy)

    @property
    def unit(self) -> Unit:
        """What one individual changes."""
        return self.planned.unit

    @property
    def id_column(self) -> str | None:
        """The column of identifiers, where it is one."""
        return self.identifiers[0] if len(self.identifiers) == 1 else None

    @property
    def id_columns(self) -> str | tuple[str, ...] | None:
        """The columns of identifiers as ``id_column`` names them: none, one, or several."""
        return self.identifiers if len(self.identifiers) > 1 else self.id_column

    def margin(
        self, epsilon: Number | Level | None = None, confidence: Number = "0.95", *, alpha: Number | None = None
    ) -> int | float:
        """The least distance within which a released value lies of the true one, with this confidence; see `Noise`."""
        return self.planned.margin(level_of(epsilon, alpha), confidence)

    def guarantee(self, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> str:
        """The promise at a level, in plain words."""
        return self.planned.guarantee(level_of(epsilon, alpha), self.columns)

    def facts(self) -> dict[str, Any]:
        """The promise as JSON: its words, numbers as text, so that none changes; `of_facts` reads them.

        Of a strategy its own text has the unit, since the order of its axes is part of it. Words that were added later
        are said where they say something, so that the facts of other promises stay what they were.
        """
        words = self.noise.words()
        facts: dict[str, Any] = {
            "columns": [] if self.noise.needs_counted else list(self.columns),
            "public": list(self.public),
            "drop": list(self.drop),
            "rows": self.rows,
            **{name: words[name] for name in ("sensitivity", "cells", "neighbours", "numbers", "grid", "largest")},
            "half_step": words["half_step"],
            "id_column": list(self.identifiers) if len(self.identifiers) > 1 else self.id_column,
            "strategy": words["strategy"],
        }
        later = {
            "part": None if self.part is None else list(self.part),
            "per": words["per"],
            "noise": "items" if self.by_item else words["noise"],
            "amount": words["amount"],
        }
        return facts | {name: fact for name, fact in later.items() if fact is not None}

    @classmethod
    def of_counted(
        cls,
        table: ProvedTable,
        columns: str | Sequence[str] | None = None,
        *,
        public: str | Sequence[str] = (),
        drop: str | Sequence[str] = (),
        unit: Unit | None = None,
        sensitivity: Number | None = None,
        cells: Number | None = None,
        neighbours: str | None = None,
        largest: Number | None = None,
        half_step: bool = False,
    ) -> "Promise":
        """What a counted table has proved, as a promise: its unit, its labels as public columns, and its part.

        Args:
            table: what `count_table` gave.
            columns: the name of the column of counts; the table's own if left out.
            public: further public columns; the labels are public unless they are dropped.
            drop: labels that are not published.
            unit, sensitivity, cells, neighbours: a larger unit than was proved; or one of its numbers alone.
            largest, half_step: as for `Promise`.

        Raises:
            WrongKind: for another table. OutOfRange: for a smaller unit than was proved. Unsupported: for a table whose
                columns one individual changes together: promise a strategy.
        """
        words: dict[str, Any] = {"columns": columns, "public": public, "drop": drop, "unit": unit, "cells": cells}
        words |= {"sensitivity": sensitivity, "neighbours": neighbours, "largest": largest, "half_step": half_step}
        counted = instance(table, ProvedTable, "table")
        return fitting(cls(**counted_words(counted, words)), counted)

    @classmethod
    @checked
    def of_facts(cls, facts: Mapping[str, Any]) -> "Promise":
        """The promise that JSON values describe; what is missing or null has its default.

        Raises:
            OutOfRange, NotANumber, WrongKind: for what describes none.
        """
        words = {name: fact for name, fact in facts.items() if fact is not None}
        unknown = sorted(words.keys() - {*_WORDS})
        if unknown:
            known = ", ".join(sorted(_WORDS))
            raise OutOfRange(f"the words of a promise are {known}", came=unknown[0], where="promise")
        if "strategy" in words:
            from utmost.publish.promises.sum_noise import read_strategy

            words["strategy"] = read_strategy(words["strategy"])
            words = {name: fact for name, fact in words.items() if fact != []}
        if isinstance(words.get("noise"), Mapping):
            words["noise"] = stated_noise(words["noise"])
        for name in ("sensitivity", "cells", "grid", "largest", "per"):
            if name in words:
                words[name] = written_number(words[name], name)
        return cls(**words)

    @property
    def digest(self) -> str:
        """The SHA-256 of its facts: two promises are one where this is one."""
        return sha256(json.dumps(self.facts(), sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()

    def save(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write it as JSON, for `read_promise` and ``utmost release --promise``.

        Raises:
            OutOfRange: for a file that does not end in .json. Unsupported: where it is there already.
        """
        from utmost.publish.promises.promise_files import save_promise

        save_promise(self, path, overwrite=overwrite)

    def check(self, table: Any) -> None:
        """Check that it says what a table has to be promised, where that is a counted one.

        Raises:
            OutOfRange: for another part, a smaller unit than was proved, and labels neither public nor dropped.
        """
        counted: Any = table if isinstance(table, ProvedTable) else None
        if self.part != (None if counted is None else counted.part):
            came = "a table of no part" if counted is None or counted.part is None else _part_in_words(counted.part)
            raise OutOfRange(
                "the promise must say of which part of a partition the counted table is",
                came=came,
                where="part",
                remedy="Promise it with part=(partition, part).",
            )
        self.planned.check_unit(counted)
        if counted is None or self.planned.needs_counted:
            return
        counted.check_covered(self.unit)
        unsaid = {*counted_labels(counted)} - {*self.public, *self.drop}
        if unsaid or len(self.columns) != 1:
            required = "the promise must say all that is promised of a counted table"
            remedy = "State columns=, public=, sensitivity=, cells= and neighbours=; or a strategy."
            raise OutOfRange(required, came="less", where="promise", remedy=remedy)

    def rows_of(self, table: Any) -> Any:
        """The table with the columns that it is about, as its adapter reads it; of a strategy a counted table.

        Raises:
            WrongKind: where a strategy is to measure anything else.
        """
        return self.planned.rows_of(table, self.columns)

    def as_read(
        self, columns: Sequence[str], public: Sequence[str], identifiers: Sequence[str] | None = None
    ) -> "Promise":
        """The same with the columns as a table has them, in their order."""
        named = self.identifiers if identifiers is None else tuple(identifiers)
        return self._with(columns=tuple(columns), public=tuple(public), identifiers=named)

    def least_once(self, cost: str | Cost, *, relaxable: bool) -> "Promise":
        """The same with the noise of cells that is least at the one level of a release, in place of that of any level.

        Raises:
            Unsupported: for a cost beside noise that a promise leaves no choice of.
        """
        return self._with(planned=least_like(self.planned, cost, relaxable=relaxable))

    def of_part(self, part: Part | None) -> "Promise":
        """The same of a part of a partition."""
        return self._with(part=_part(part))


def fitting(promise: Promise, table: Any) -> Promise:
    """The promise, found to be one and to fit a table.

    Raises:
        WrongKind: for what is no promise. OutOfRange: for a table that needs another one.
    """
    stated = instance(promise, Promise, "promise")
    stated.check(table)
    return stated


def counted_words(table: Any, words: Mapping[str, Any]) -> dict[str, Any]:
    """Words with what a counted table brings: its unit, its labels as public columns, and which part it is."""
    columns = words.get("columns")
    names = (table.column,) if columns is None else listed_names(columns, "columns")
    if len(names) != 1:
        raise OutOfRange("a counted table has one column of counts", came=f"{len(names)} names", where="columns")
    completed = {"part": table.part, **words}
    proved = {name: getattr(table.unit, name) for name in ("sensitivity", "cells", "neighbours", "amount")}
    if words.get("unit") is None:
        if words.get("sensitivity") is None or words.get("cells") is None:
            table.unit.check_each_cell("columns")
        parts = {name: words.get(name) for name in proved}
        wide = words.get("sensitivity")
        if wide is not None:
            parts["sensitivity"] = table.in_unit(wide)
        completed |= {name: proved[name] if part is None else part for name, part in parts.items()}
    labels = counted_labels(table)
    listed, dropped = {*listed_names(words.get("public", ()), "public")}, {*listed_names(words.get("drop", ()), "drop")}
    public = [*(name for name in labels if name not in dropped), *sorted(listed - {*labels})]
    return {**completed, "columns": names, "public": public}


def counted_labels(table: Any) -> tuple[str, ...]:
    """The columns of a counted table that were declared with its domain; none of another table."""
    counted: Any = table if isinstance(table, ProvedTable) else None
    return () if counted is None else tuple(counted.domain.label_columns(counted.domain.finest))


def _check_addressed(noise: str | PlannedNoise, identifiers: tuple[str, ...], per: Number | None) -> None:
    """Check that noise is addressed by what there is: rows, or items that have identifiers."""
    if isinstance(noise, PlannedNoise):
        return
    if noise not in ("rows", "items"):
        raise OutOfRange('noise must be "rows" or "items"', came=noise, where="noise")
    if noise == "items" and not identifiers:
        remedy = "Pass id_column=, the column that says which item a row is."
        raise OutOfRange("noise by item needs identifiers", came="none", where="id_column", remedy=remedy)
    if noise == "items" and per is not None:
        required = "points have paths of their own, and no noise by item"
        raise OutOfRange(required, where="noise", remedy="Leave it out.")


def _part(part: object) -> Part | None:
    """A partition, and one part of it."""
    if part is None:
        return None
    if not isinstance(part, list | tuple) or len(part) != 2 or not all(isinstance(name, str) for name in part):
        raise WrongKind("a part must be two names: of the partition, and of the part", where="part")
    return part[0], part[1]


def _part_in_words(part: Part) -> str:
    return f"a table of {part[1]!r} of {part[0]!r}"


def _identifiers(columns: str | Sequence[str]) -> tuple[str, ...]:
    """The columns of identifiers, each once, named by text."""
    names = (
        (columns,) if isinstance(columns, str) else tuple(columns) if isinstance(columns, list | tuple) else (columns,)
    )
    if not names or not all(type(name) is str for name in names):
        came = type(columns).__name__
        raise OutOfRange("the identifier must be named by text", came=came, where="id_column")
    if len(set(names)) != len(names):
        raise OutOfRange("identifiers are one or more columns, each once", came=str(names), where="id_column")
    return names
