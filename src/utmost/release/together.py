"""Releasing columns of which one individual changes the cells of one row together, and no other cell.

Where that is so, the sum and the difference of two columns are released in their place: an individual who changes both
cells by at most s changes |sum| + |difference| by at most 2s, where two cells taken by themselves cost 2s each. What is
then read off for a column is (sum + difference)/2, a multiple of 1/2, and everything that geometric noise can do is
done on sum and difference: relaxed, tightened, asked at any level in any order.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from math import ceil
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable, OutOfRange
from utmost.exact import Level, Number, checked, objects
from utmost.exact import level as level_of
from utmost.noise import Geometric, JointCells, RotatedPair
from utmost.noise.law import read_confidence
from utmost.privacy.unit import Unit, read_unit
from utmost.release.counted import Laid
from utmost.release.gradual_release import GradualRelease
from utmost.release.plan import plan_release
from utmost.release.statements import cells_digest, level_facts, promise_text
from utmost.release.table import CheckedTable
from utmost.release.values import secure
from utmost.sampling import Randomness, sample, sample_joint_cells
from utmost.sampling.integers import Integers, add, minus
from utmost.version import __version__
from utmost.workloads import CellsTogether, TogetherKind, ways_together

Halves = Literal["toss", "keep"]
"""What becomes of multiples of 1/2: rounded up or down by a fair coin, or kept."""

KIND, FORMAT = "utmost release of cells changed together", 1
_NEARLY = 1.02
_LARGEST = 1 << 52  # below it, floats hold every multiple of 1/2


@checked
def turned(first: Any, second: Any) -> tuple[Any, Any]:
    """The sum and the difference of two columns of integers: what to put in a `Ledger` or `GradualRelease`, cells=2.

    >>> turned([601, 370], [332, 222])
    (array([933, 592]), array([269, 148]))
    """
    one, two = (_whole(values, "column") for values in (first, second))
    if one.shape != two.shape:
        raise OutOfRange("the two columns must have one length", came=(one.shape, two.shape))
    return add(one, two), minus(one, two)


@checked
def turned_back(
    total: Any, apart: Any, *, halves: Halves = "keep", randomness: Randomness | None = None
) -> tuple[Any, Any]:
    """Two columns from a response to their sum and one to their difference.

    Args:
        total, apart: the responses, integers.
        halves: "keep" gives multiples of 1/2, as floats (or Fractions where floats do not hold them); "toss" rounds
            them by a fair coin each, which leaves the mean of |error| as it is.
        randomness: of the coins; the operating system's if left out.

    >>> turned_back([933, 592], [270, 148])
    (array([601.5, 370. ]), array([331.5, 222. ]))
    """
    one, two = _whole(total, "total"), _whole(apart, "apart")
    if one.shape != two.shape:
        raise OutOfRange("the two responses must have one length", came=(one.shape, two.shape))
    doubled = add(one, two), minus(one, two)
    if _choice(halves, Halves, "halves") == "keep":
        return _halved(doubled[0]), _halved(doubled[1])
    bits = secure(randomness)
    return _tossed(doubled[0], bits), _tossed(doubled[1], bits)


def _whole(values: Any, name: str) -> Integers:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype != object and array.dtype.kind not in "iu") or array.dtype == np.uint64:
        array = objects(list(values))
    if array.dtype == object and not all(isinstance(x, int | np.integer) for x in array):
        raise OutOfRange(f"{name} must be a list of integers", came="another number")
    return array if array.dtype == object else array.astype(np.int64)


def _halved(doubled: Integers) -> NDArray[Any]:
    if not doubled.size or int(np.abs(doubled).max()) < _LARGEST:
        return doubled.astype(np.float64) / 2
    return objects(Fraction(int(x), 2) for x in doubled)


def _tossed(doubled: Integers, randomness: Randomness) -> Integers:
    """Half of each, rounded up or down by a coin of its own, which is drawn whether it is needed or not."""
    coins = (randomness.words(doubled.size, 8) & 1).astype(np.int64)
    return add(doubled, coins) >> 1


@dataclass(frozen=True, slots=True)
class TogetherPlan:
    """What a release of columns changed together promises, and how.

    Attributes:
        level: of the whole release.
        unit: what one individual changes: the cells of one row in all released columns, and no other cell.
        way: the kind of noise, and its law for each group of columns.
        columns: the released columns, in the order of the groups.
        halves: what becomes of multiples of 1/2.
        confidence: the probability with which a released cell lies within its radius of the true one.
        radii: for each column.
    """

    level: Level
    unit: Unit
    way: CellsTogether
    columns: tuple[str, ...]
    halves: Halves
    confidence: Fraction
    radii: tuple[int | float, ...]

    @property
    def guarantee(self) -> str:
        """The promise in plain words."""
        where = f"only the {self.unit.cells} released cells of one row, each by at most {self.unit.sensitivity}"
        return promise_text(self.level, self.unit.neighbours, "the released columns", where)

    @property
    def drawn(self) -> str:
        """What was drawn, in plain words."""
        law = self.way.laws[0]
        if self.way.kind == "joint":
            return f"one draw for each row, all its released cells together: {law!r}; it cannot be relaxed later"
        if self.way.kind == "independent":
            return f"noise of its own for each cell: {law!r}"
        ends = {"toss": "rounded to an integer by a fair coin", "keep": "a multiple of 1/2"}[self.halves]
        pairs = " and ".join(" with ".join(pair) for pair in self._groups if len(pair) == 2)
        alone = "".join(f"; {group[0]} by itself" for group in self._groups if len(group) == 1)
        return (
            f"geometric noise on the sum and on the difference of each pair of columns ({pairs}), from which the "
            f"columns are read, {ends}{alone}; it can be relaxed later without loss"
        )

    @property
    def _groups(self) -> list[tuple[str, ...]]:
        return grouped(self.columns, self.way.groups)


def grouped(columns: Sequence[Any], groups: Sequence[int]) -> list[tuple[Any, ...]]:
    """The columns, cut into groups of these sizes.

    >>> grouped("abc", (2, 1))
    [('a', 'b'), ('c',)]
    """
    ends = list(accumulate(groups))
    return [tuple(columns[end - n : end]) for end, n in zip(ends, groups, strict=True)]


@checked
def plan_together(
    columns: Sequence[str],
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    unit: Unit | None = None,
    sensitivity: Number | None = None,
    neighbours: str | None = None,
    noise: TogetherKind | None = None,
    relaxable: bool = False,
    halves: Halves = "toss",
    confidence: Number = "0.95",
) -> TogetherPlan:
    """Choose the noise of columns of which one individual changes the cells of one row together; draws nothing.

    Args:
        columns: at least two; pairs are taken in this order, and an odd one is left by itself.
        epsilon, alpha: what the whole release spends, one of the two.
        unit: what one individual changes; its cells must be as many as the columns. Or sensitivity and neighbours.
        noise: "joint", "rotated" or "independent". If left out, the one of least mean error; "rotated" where that is
            less than 2 per cent more, since it can be relaxed later.
        relaxable: only noise that can be relaxed later without loss, which "joint" cannot.
        halves: for "rotated", "toss" or "keep".
        confidence: of the radii.

    Raises:
        OutOfRange: for fewer than two columns, a unit of another number of cells, a sensitivity that is no integer, and
            noise that is not relaxable where that is asked for.

    >>> plan = plan_together(["applicants", "admitted"], epsilon="1/2", sensitivity=1, relaxable=True)
    >>> plan.way.kind, plan.radii
    ('rotated', (8, 8))
    """
    names, spent = tuple(columns), level_of(epsilon, alpha)
    whom = unit or read_unit(None, sensitivity, len(names), neighbours, needs=("sensitivity",))
    if len(names) < 2 or whom.cells != len(names):
        raise OutOfRange(
            f"an individual must change the cells of one row, as many as there are columns, {len(names)}, two at least",
            came=f"cells={whom.cells}",
            remedy="Release columns that individuals change apart from each other with release_table.",
        )
    ways = {way.kind: way for way in ways_together(spent, whom, relaxable=relaxable)}
    kind = _chosen(ways) if noise is None else _choice(noise, TogetherKind, "noise")
    if kind not in ways:
        raise OutOfRange("noise that is relaxable is rotated or independent", came=noise)
    sure, ends = read_confidence(confidence), _choice(halves, Halves, "halves")
    way = ways[kind]
    radii = [radius for law, n in zip(way.laws, way.groups, strict=True) for radius in [_radius(law, sure, ends)] * n]
    return TogetherPlan(spent, whom, way, names, ends, sure, tuple(radii))


def _chosen(ways: Mapping[TogetherKind, CellsTogether]) -> TogetherKind:
    """The least noise; but what can be relaxed later is preferred where it is nearly as good."""
    best, relaxable = next(iter(ways.values())), next(way for way in ways.values() if way.kind == "rotated")
    return relaxable.kind if relaxable.mean_size <= best.mean_size * _NEARLY else best.kind


def _radius(law: Any, sure: Fraction, halves: Halves) -> int | float:
    radius: int | float = law.radius(sure)
    if isinstance(law, RotatedPair) and halves == "toss":  # a coin moves only odd halves, by one half
        return ceil(radius)
    return radius


def _choice(value: Any, among: Any, name: str) -> Any:
    if value not in get_args(among):
        raise OutOfRange(f"{name} must be one of {', '.join(get_args(among))}", came=value)
    return value


@dataclass(frozen=True, slots=True, eq=False)
class TogetherRelease:
    """A released table and what was promised about it.

    Attributes:
        table: of the kind that came in, with the released and the public columns alone, and the radii.
        plan: the promise.
        rows: how many rows there are.
        public: the columns that were declared public.
        rows_from: where the list of rows comes from, "declared" or "observed".
    """

    table: Any = field(repr=False)
    plan: TogetherPlan
    rows: int
    public: tuple[str, ...]
    rows_from: str

    @property
    def spent(self) -> Level:
        """What the whole release cost."""
        return self.plan.level

    @property
    def sidecar(self) -> dict[str, Any]:
        """The statement to publish beside the table, ready for JSON."""
        plan = self.plan
        return {
            "kind": KIND,
            "format": FORMAT,
            "utmost": __version__,
            "guarantee": plan.guarantee,
            **level_facts(plan.level),
            "neighbours": plan.unit.neighbours,
            "sensitivity": str(plan.unit.sensitivity),
            "cells": plan.unit.cells,
            "charged": plan.unit.charged,
            "noise": plan.way.kind,
            "drawn": plan.drawn,
            "laws": [repr(law) for law in plan.way.laws],
            "groups": [list(group) for group in grouped(plan.columns, plan.way.groups)],
            "shares": [str(share) for share in plan.way.shares],
            "relaxable": plan.way.is_relaxable,
            "halves": plan.halves,
            "confidence_exactly": str(plan.confidence),
            "radii": dict(zip(plan.columns, plan.radii, strict=True)),
            "released": list(plan.columns),
            "public": list(self.public),
            "rows": self.rows,
            "rows_from": self.rows_from,
            "table": cells_digest(self.table),
        }


def release_together(
    table: Any,
    *,
    columns: Sequence[str],
    public: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    rows: str = "declared",
    id_column: str | None = None,
    randomness: Randomness | None = None,
    **promise: Any,
) -> TogetherRelease:
    """Noise columns of counts of which one individual changes the cells of one row, and no other cell, together.

    Applicants and admitted of a department: who applies is counted in one row, in one of the columns or in both. Beside
    `release_table` with as many cells, at epsilon 1 and two columns, the error is a quarter less.

    Args:
        table, public, drop, rows, id_column, randomness: as for `release_table`.
        columns: at least two columns of integers; pairs are taken in this order.
        promise: the level, the unit, and how, as for `plan_together`.

    Raises:
        As `release_table` and `plan_together`.

    Source: docs/theory/cells-together.md.

    >>> release = release_together(
    ...     {"department": ["A", "B"], "applicants": [933, 585], "admitted": [601, 370]},
    ...     columns=["applicants", "admitted"],
    ...     public="department",
    ...     epsilon=1,
    ...     sensitivity=1,
    ... )
    >>> list(release.table)
    ['department', 'applicants', 'applicants_radius', 'admitted', 'admitted_radius']
    >>> release.plan.way.kind, release.plan.radii
    ('joint', (4, 4))
    """
    plan = plan_together(columns, **promise)
    bits = secure(randomness)
    plain = plan_release(plan.level, unit=plan.unit)  # for the checks alone
    laid = Laid.of(table, plan.columns, public, drop, plan.unit)
    read = CheckedTable.of(laid, plain, drop=drop, rows_from=rows, id_column=id_column)
    noised = _noised(plan, [read.cells[name] for name in plan.columns], bits)
    radii = {f"{name}_radius": np.full(read.rows, r) for name, r in zip(plan.columns, plan.radii, strict=True)}
    after = {f"{name}_radius": name for name in plan.columns}
    bare = read.adapter.without(read.table, read.dropped)
    whole = read.adapter.with_columns(bare, {**dict(zip(plan.columns, noised, strict=True)), **radii}, after)
    return TogetherRelease(whole, plan, read.rows, read.public, read.rows_from)


def _noised(plan: TogetherPlan, cells: Sequence[Integers], randomness: Randomness) -> list[Any]:
    """The columns with their noise, group by group."""
    found: list[Any] = []
    for group, law in zip(grouped(cells, plan.way.groups), plan.way.laws, strict=True):
        rows = len(group[0])
        if isinstance(law, JointCells):
            noise = sample_joint_cells(law, rows, randomness=randomness)
            found += [add(column, noise[:, i]) for i, column in enumerate(group)]
        elif isinstance(law, RotatedPair):
            one = Geometric(law.ratio)
            sums = [add(column, sample(one, rows, randomness=randomness)) for column in turned(*group)]
            found += turned_back(*sums, halves=plan.halves, randomness=randomness)
        else:
            found += [add(column, sample(law, rows, randomness=randomness)) for column in group]
    return found


class GradualTogether:
    """Columns of which one individual changes the cells of one row together, answered at any levels in any order.

    Pairs of columns are kept as sum and difference in a `GradualRelease`; an odd column by itself.

    Args:
        table: {column: integers}, at least two columns of one length; pairs are taken in this order.
        unit: what one individual changes; its cells must be as many as the columns. Or sensitivity and neighbours.
        halves: "toss" or "keep"; coins are tossed once for each level.
        randomness: the operating system's if left out; a seeded source is refused.

    Promise: all answers together keep the level `spent`, for an individual who changes the cells of one row, each by at
        most the sensitivity, and no other cell.
    Source: docs/theory/cells-together.md.

    >>> answer = GradualTogether({"applicants": [933, 585], "admitted": [601, 370]}, sensitivity=1)
    >>> strict, loose = answer.at(epsilon="1/4"), answer.at(epsilon=1)
    >>> answer.spent, bool((answer.at(epsilon="1/4")["admitted"] == strict["admitted"]).all())
    (Level(epsilon=1), True)
    """

    __slots__ = ("_coins", "_halves", "_inner", "_lock", "_names", "_read", "_way", "unit")

    @checked
    def __init__(
        self,
        table: Mapping[str, Any],
        *,
        unit: Unit | None = None,
        sensitivity: Number | None = None,
        neighbours: str | None = None,
        halves: Halves = "toss",
        randomness: Randomness | None = None,
    ) -> None:
        plan = plan_together(
            list(table), 1, unit=unit, sensitivity=sensitivity, neighbours=neighbours, noise="rotated", halves=halves
        )
        cells = [_whole(column, "column") for column in table.values()]
        if len({column.shape for column in cells}) != 1:
            raise BadTable("columns that are noised together must have one length", came="different lengths")
        self.unit, self._way, self._halves, self._names = plan.unit, plan.way, plan.halves, plan.columns
        self._coins = secure(randomness)
        kept: dict[Any, Any] = {}
        for group in grouped(list(zip(self._names, cells, strict=True)), self._way.groups):
            (name, column), *other = group
            if other:
                kept[name, "sum"], kept[name, "difference"] = turned(column, other[0][1])
            else:
                kept[name, "itself"] = column
        self._inner = GradualRelease(kept, self.unit.sensitivity, randomness=self._coins)
        self._read: dict[Level, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def at(self, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> dict[str, Any]:
        """The columns at a level of the whole release; asked again, the same answer.

        Raises:
            NotALevel: for what is no level; nothing is spent then.
        """
        asked = level_of(epsilon, alpha)
        with self._lock:
            if asked not in self._read:
                self._read[asked] = self._columns(self._inner.at(self._levels(asked)))
            return {name: column.copy() for name, column in self._read[asked].items()}

    @property
    def levels(self) -> tuple[Level, ...]:
        """Every level that has been answered, strictest first."""
        return tuple(sorted(self._read))

    @property
    def spent(self) -> Level | None:
        """The largest level answered: that of all answers together. None before the first answer."""
        return max(self._read, default=None)

    def _levels(self, asked: Level) -> dict[Any, Level]:
        """The level of each series of noise: a pair's share, divided between its sum and its difference."""
        presence = asked.scaled(Fraction(self.unit.cells, self.unit.charged))
        found: dict[Any, Level] = {}
        for group, share in zip(grouped(self._names, self._way.groups), self._way.shares, strict=True):
            if len(group) == 2:
                half = presence.scaled(share / 2)
                found[group[0], "sum"], found[group[0], "difference"] = half, half
            else:
                found[group[0], "itself"] = presence.scaled(share)
        return found

    def _columns(self, answers: Mapping[Any, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for group in grouped(self._names, self._way.groups):
            if len(group) == 2:
                pair = answers[group[0], "sum"], answers[group[0], "difference"]
                found |= dict(zip(group, turned_back(*pair, halves=self._halves, randomness=self._coins), strict=True))
            else:
                found[group[0]] = answers[group[0], "itself"]
        return found

    def __repr__(self) -> str:
        return f"GradualTogether({len(self._names)} columns, spent={self.spent})"
