"""Draw the noise of all cells of a table, or of all one-way tables of a domain, together, for a release made once.

Noise in one draw is made for one level, and no ledger stores it. The distribution of a draw is `CellsDraw` for cells,
and `TablesDraw` for one-way tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, mapping, text
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.field_forms import form
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, natural, read_confidence, written_number
from utmost.core.noise.cells_draw import CellsDraw
from utmost.core.noise.combination import Combination
from utmost.core.noise.draw_with_total import COMBINED, DrawWithTotal, drawn_distribution
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.one_draw import NOT_BETTER_KNOWN, DrawDistribution
from utmost.core.noise.tables_draw import MOST_GROUPS, TablesDraw
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.draw import sample
from utmost.core.sampling.integers import add, narrowed
from utmost.core.sampling.one_draws import answer_margin, sample_one_draw
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import OutOfRange, Unsupported, WrongKind
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.counted_facts import CountedFacts
from utmost.publish.promises.cell_noise import ColumnNoise
from utmost.publish.promises.declared_columns import check_size
from utmost.publish.promises.noise_at_level import Margin, NoiseAtLevel, weakness_of
from utmost.publish.promises.table_statements import promise_text
from utmost.publish.workloads.measuring.least_draw import least_draw
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.cells.columns import RowName, integer_column
from utmost.tables.frames.any_table import labelled

TABLE, GROUP, COUNT = "table", "group", "count"
"""Columns of a release of all one-way tables: name of the table, group, and count of the group."""

TOTAL_LABEL = "total"
"""Name of the table of the total, and of the only group of this table."""

MOST_CELLS_OF_A_DRAW = 1000
"""The most cells of one draw. To compute its distribution takes seconds for 50 cells, and a minute for 100."""


@dataclass(frozen=True, slots=True, repr=False)
class OneDrawAtLevel(Display):
    """The noise at one level of a release whose cells all get their noise in one draw.

    Attributes:
        level: Level of the whole release.
        unit: Unit of privacy.
        distribution: Joint distribution of the noise of all cells in the draw.
        confidence: Probability with which a released cell lies within its margin of the true one.
        rows: For each row of the released table, the index of its cell in the distribution, or None for the total.
            Empty if all cells have the same distribution.
        further_tables: For each table whose noise is not in the draw, the number of its groups, and the independent
            noise of one group. The rows of these tables come last.
    """

    level: Level
    unit: Unit
    distribution: DrawDistribution | DrawWithTotal
    confidence: Fraction
    rows: tuple[int | None, ...] = ()
    further_tables: tuple[tuple[int, Geometric], ...] = ()

    @property
    def margin(self) -> int | float:
        bar = self.bar
        return max(bar) if isinstance(bar, tuple) else bar

    @property
    def bar(self) -> Margin:
        """The margin of every cell, or a tuple with one margin for each row."""
        return _bar(self)

    def with_confidence(self, confidence: Fraction) -> "OneDrawAtLevel":
        return replace(self, confidence=confidence)

    def bars(self, columns: Sequence[str]) -> Mapping[str, tuple[str, Margin]]:
        """Return {name of the column of margins: (released column, margin or tuple of margins)}."""
        return {f"{name}_margin": (name, self.bar) for name in columns}

    def sum_margin(self, coefficients: Sequence[Fraction], confidence: Fraction) -> int | float:
        """Return the margin of a linear combination of cells; ``coefficients`` are in the order of rows and columns."""
        drawn, others = self._on_cells(coefficients)
        # The draw and the further tables are independent. If a sum has cells of both, each of the two margins may be
        # exceeded with half the probability.
        sure = 1 - (1 - confidence) / 2 if any(drawn) and others else confidence
        margin = answer_margin(self.distribution, drawn, sure) if any(drawn) or not others else Fraction(0)
        if others:
            distributions = [distribution for _, distribution in others]
            margin += exact(
                Combination(
                    [size for size, _ in others], [distribution.ratio for distribution in distributions]
                ).margin(sure)
            )
        return self.unit.margin(int(margin) if margin.denominator == 1 else float(margin))

    def sum_variance(self, coefficients: Sequence[Fraction]) -> float:
        """Return the variance of a linear combination of released cells."""
        drawn, others = self._on_cells(coefficients)
        variance = float(self.distribution.variance_of(drawn))
        variance += sum(float(size) ** 2 * float(distribution.variance()) for size, distribution in others)
        return variance * float(self.unit.step**2)

    def _on_cells(self, coefficients: Sequence[Fraction]) -> tuple[list[Fraction], list[tuple[Fraction, Geometric]]]:
        """Return the coefficients of cells in the draw, and nonzero coefficients of other cells with their noise."""
        if not self.rows:  # the noise of the cells is exchangeable: only the set of coefficients matters
            return sorted(coefficients, reverse=True), []
        cells = [Fraction(0)] * self.distribution.size
        for index, coefficient in zip(self.rows, coefficients[: len(self.rows)], strict=True):
            for cell in range(self.sizes[0]) if index is None else (index,):  # the total is the sum of the first table
                cells[cell] += coefficient
        distributions = [distribution for groups, distribution in self.further_tables for _ in range(groups)]
        further = zip(coefficients[len(self.rows) :], distributions, strict=True)
        return cells, [(coefficient, distribution) for coefficient, distribution in further if coefficient]

    @property
    def draw(self) -> DrawDistribution:
        """The joint distribution of the noise of cells, without the separate noise of the total."""
        return self.distribution.draw if isinstance(self.distribution, DrawWithTotal) else self.distribution

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of each one-way table."""
        assert isinstance(self.draw, TablesDraw), "only a draw of tables has rows of tables"
        return self.draw.sizes

    @property
    def theorem(self) -> str:
        drawn = COMBINED if isinstance(self.distribution, DrawWithTotal) else NOT_BETTER_KNOWN
        return drawn + "; further tables have independent noise, at their shares of epsilon" * bool(self.further_tables)

    def weakness(self) -> str:
        return weakness_of(self.level, self.draw)

    def read(self, column: Any, name: str, place: RowName) -> NDArray[Any]:
        return integer_column(column, name, place)

    def facts(self) -> dict[str, Any]:
        return {
            "drawn": self.drawn,
            "theorem": self.theorem,
            "distribution": repr(self.distribution),
            "relaxable": False,
        }

    @property
    def drawn(self) -> str:
        if not self.further_tables:
            return f"one draw for all released cells together: {self.distribution!r}; it cannot be relaxed later"
        others = "; ".join(f"{groups} groups: {distribution!r}" for groups, distribution in self.further_tables)
        return (
            f"one draw for the total and all one-way tables together: {self.distribution!r}; and noise of each group "
            f"of the other tables ({others}); none can be relaxed later"
        )

    def noised(self, cells: Mapping[str, NDArray[Any]], randomness: Randomness) -> dict[str, Any]:
        noise = sample_one_draw(self.distribution, 1, randomness=randomness)[0]
        if self.rows:
            total = sum(noise[: self.sizes[0]].tolist())
            listed = [total if place is None else int(noise[place]) for place in self.rows]
            for groups, distribution in self.further_tables:
                listed += sample(distribution, groups, randomness=randomness).tolist()
            noise = narrowed(np.array(listed, object))
        noised, start = dict[str, Any](), 0
        for name, column in cells.items():
            noised[name] = self.unit.numbers(add(column, noise[start : start + column.size]))
            start += column.size
        return noised


@lru_cache(maxsize=64)
def _bar(noise: OneDrawAtLevel) -> Margin:
    distribution, sure, unit = noise.distribution, noise.confidence, noise.unit

    def margin(cells: Sequence[int]) -> int | float:
        taken = set(cells)
        return unit.margin(
            int(answer_margin(distribution, [int(place in taken) for place in range(distribution.size)], sure))
        )

    of_kinds = {place: margin([place]) for place in distribution.kinds}
    if not noise.rows:
        return max(of_kinds.values())
    starts = [0, *accumulate(noise.sizes)]
    by_size = {size: of_kinds[start] for start, size in zip(starts, noise.sizes, strict=False) if start in of_kinds}
    cells = [by_size[size] for size in noise.sizes for _ in range(size)]
    total = margin(range(noise.sizes[0]))
    drawn = [total if place is None else cells[place] for place in noise.rows]
    return (
        *drawn,
        *(
            unit.margin(int(distribution.margin(sure)))
            for groups, distribution in noise.further_tables
            for _ in range(groups)
        ),
    )


def _check_drawn(count: int, most: int, noun: str) -> None:
    """Check that the distribution of one draw can be computed in minutes."""
    if count > most:
        remedy = "Leave out once=: then each cell has separate noise."
        raise OutOfRange(f"the noise of one draw must have at most {most} {noun}", came=count, remedy=remedy)


def _read_natural(fact: Any, name: str) -> int:
    return natural(fact, name, least=1)


def _read_share(share: Number | None, unit: Unit) -> Fraction | None:
    """Check the budget share of the total's separate noise, at least 0 and below 1; return None for 0."""
    read = Fraction(0) if share is None else written_number(share, "total_share")
    if not 0 <= read < 1:
        remedy = "Leave out total_share=, or pass a share such as 0.6."
        raise OutOfRange("total_share must be at least 0 and below 1", came=share, where="total_share", remedy=remedy)
    if read and unit.exactly:
        remedy = "Leave out total_share=."
        raise OutOfRange(
            "total_share= needs a total that is not public", came="a unit with exactly=True", remedy=remedy
        )
    return read or None


def _read_table_shares(shares: Any, name: str = "table_shares") -> dict[str, Fraction]:
    """Read {further table: budget share}."""
    return {text(table, name): written_number(share, name) for table, share in mapping(shares, name).items()}


_TOTAL_SHARE = form("share of the level for the total by itself", write=str, read=written_number)


@dataclass(frozen=True, slots=True, init=False)
class OneDraw(ColumnNoise):
    """Noise of all cells in one draw, for a single release; smaller than separate noise if a person changes many cells.

    The more individuals it takes to change the cells by a vector, the less probable is this vector as noise. The noise
    is made for one level, so no ledger stores it, and the release cannot be made more accurate later; for that use
    `CellNoise`.

    Args:
        unit: Unit of privacy; ``nonnegative``, ``in_total`` and ``exactly`` reduce the noise.
        released_cells: Number of cells that are released, over all columns, at most 1000.
        step: Width of the first step, see `CellsDraw`; if left out, the width of least variance at the level of the
            release.
        total_share: Budget share for measuring the total separately, at least 0 and below 1; 0 if left out. With a
            share above 0, the cells add up to a total with a smaller error: `Plan.total_share` returns the share that
            is best for cells and total.

    Raises:
        OutOfRange: if the sensitivity is a fraction, or if an argument is outside its range.
        Unsupported: if sums and counts share noise, or if the unit is that of distinct counts.

    Source: proofs/theory/one-draw.md. This noise is not the least: for two cells, noise with an error up to 2.2 %
    smaller is known.

    >>> from utmost.exact import level
    >>> noise = OneDraw(Unit(1, 5, nonnegative=True), released_cells=10)
    >>> noise.at(level(1)).distribution, noise.margin(level(1), "0.95")
    (CellsDraw(epsilon=1, sensitivity=1, cells=10, changed=5), 9)
    >>> total = [1] * 10  # the margins of the total
    >>> better = OneDraw(Unit(1, 5, nonnegative=True), released_cells=10, total_share="0.61")
    >>> noise.at(level(1)).sum_margin(total, "0.95"), better.at(level(1)).sum_margin(total, "0.95")
    (57, 25)
    """

    kind: ClassVar[str] = "cells in one draw"
    json_kind: ClassVar[str] = "one draw"
    is_in_steps: ClassVar[bool] = True

    released_cells: int = field(metadata=form("released cells", read=_read_natural))
    step: int | None = field(metadata=form("first step of the noise", read=_read_natural))
    total_share: Fraction | None = field(metadata=_TOTAL_SHARE)

    def __init__(
        self, unit: Unit, released_cells: Number, step: Number | None = None, *, total_share: Number | None = None
    ) -> None:
        whom = instance(unit, Unit, "unit")
        cells = natural(released_cells, "released_cells", least=1)
        _check_drawn(cells, MOST_CELLS_OF_A_DRAW, "cells")
        first = None if step is None else natural(step, "step", least=1)
        if whom.sensitivity.denominator != 1:
            required, came = "sensitivity must be an integer for noise in one draw", str(whom.sensitivity)
            raise OutOfRange(required, came=came, remedy=f"Pass sensitivity={-(-whom.sensitivity // 1)}.")
        if whom.is_shared or whom.is_distinct:
            what = "sums and counts that are noised together" if whom.is_shared else "distinct counts"
            remedy = "Release the table by a plan, without once=True."
            raise Unsupported("noise in one draw needs a table of counts, or a table of sums", came=what, remedy=remedy)
        if first is not None and first > whom.sensitivity:
            raise OutOfRange("step must be at most the sensitivity", came=first, remedy="Leave out step=.")
        object.__setattr__(self, "unit", whom)
        object.__setattr__(self, "released_cells", cells)
        object.__setattr__(self, "step", first)
        object.__setattr__(self, "total_share", _read_share(total_share, whom))

    @classmethod
    def of_counted(cls, table: CountedTable, *, total_share: Number | None = None) -> "OneDraw":
        """Return the noise of all cells of a counted table, for the unit that `with_nonnegative` returns."""
        counted = instance(table, CountedTable, "table")
        return cls(with_nonnegative(counted.unit, counted), counted.domain.size, total_share=total_share)

    @property
    def subject(self) -> str:
        return "integers"

    @property
    def needs_search(self) -> bool:
        """Whether a search must still choose the width of the first step."""
        return self.step is None and self._has_steps

    @property
    def _has_steps(self) -> bool:
        return self.unit.sensitivity > 1

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> OneDrawAtLevel:
        distribution = drawn_distribution(self._draw, level, self.total_share or Fraction(0))
        return OneDrawAtLevel(level, self.unit, distribution, read_confidence(confidence))

    def _draw(self, level: Level) -> DrawDistribution:
        return least_draw(level, self.unit, self.released_cells, self.step)

    def as_drawn(self, noise: NoiseAtLevel) -> "OneDraw":
        """Return this noise, with the width of the first step that a search found for ``noise``, at one level."""
        assert isinstance(noise, OneDrawAtLevel), "`at` returns noise of this class"
        draw = noise.draw
        return replace(self, step=draw.step) if isinstance(draw, CellsDraw) and self._has_steps else self

    def check_unit(self, counted: Any) -> None:
        """Check that counting proved ``nonnegative``, if the unit has it; uncounted amounts must have steps of 1."""
        if counted is None:
            if self.unit.step != 1:
                self.unit.check_plain()
            return
        if self.unit.nonnegative and not with_nonnegative(counted.unit, counted).nonnegative:
            remedy = "Leave out nonnegative=, or count amounts that are never negative."
            required = "nonnegative=True needs a counted table in which no individual lowers a cell"
            raise OutOfRange(required, came="a table without that proof", remedy=remedy)

    def check_size(self, rows: int, columns: int) -> None:
        """Check that the table has as many released cells as the noise was made for."""
        check_size(self.unit, rows, columns)
        if rows * columns != self.released_cells:
            raise OutOfRange(
                "released_cells must be the number of released cells of the table",
                came=self.released_cells,
                remedy=f"Pass released_cells={rows * columns}.",
            )

    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        unit = self.unit
        many = f"{unit.cells_text('released cell')},{' each' * (unit.cells > 1)}"
        signs = ", and lowers none" * unit.nonnegative
        whole = ", and that every individual contributes exactly this much" * unit.exactly
        changes = f"at most {many} by at most {unit.largest_change}{signs}{whole}"
        return promise_text(level, unit, "the released columns", changes)


def with_nonnegative(unit: Unit, table: CountedFacts) -> Unit:
    """Return the unit of a table; set ``nonnegative`` if utmost counted the table, so that nobody lowers a count."""
    is_raised = unit.nonnegative or (table.proved and unit.amount is None and unit.neighbours == "add-remove")
    return replace(unit, nonnegative=is_raised)


@dataclass(frozen=True, slots=True, init=False)
class OneWayDraw(ColumnNoise):
    """Noise of the total and of all one-way tables of a domain, in one draw, for a release made once.

    A counted table is released as one table of three columns: name of a one-way table, group, and count. The first row
    is the total. One individual is in one group of each table. The noise is made for one level, so that no ledger
    stores it; a plan (`choose_plan`) can be relaxed.

    Args:
        domain: Domain of the counted table; the finest level of each axis is released.
        unit: Unit of privacy: a change of one cell by 1. With "change-one" it must have ``nonnegative``.
        total_share: Budget share for measuring the total separately, as for `OneDraw`.
        table_shares: Budget shares of further tables, by the names of axis levels, such as ``{"sex age": "1/10"}``;
            the groups of these tables have independent noise. The draw gets the rest of the budget. The sums of a
            further table need not agree with the one-way tables.

    Raises:
        OutOfRange: if the unit is not a change of one cell by 1, if an axis is named "total", if a further table is a
            one-way table or is named twice, or if the shares leave nothing to the draw.

    Source: proofs/theory/one-draw.md. This noise is not the least: for two cells, noise with an error up to 2.2 %
    smaller is known.

    >>> from utmost.exact import level
    >>> domain = Domain(sex=["men", "women"], smoker=["yes", "no"], age=["young", "old"])
    >>> OneWayDraw(domain, Unit(1, 1)).at(level(1)).bars(["count"])
    {'count_margin': ('count', (6, 5, 5, 5, 5, 5, 5))}
    >>> OneWayDraw(domain, Unit(1, 1), table_shares={"sex age": "1/4"}).at(level(1)).bars(["count"])
    {'count_margin': ('count', (8, 6, 6, 6, 6, 6, 6, 12, 12, 12, 12))}
    """

    kind: ClassVar[str] = "all one-way tables in one draw"
    json_kind: ClassVar[str] = "one-way tables in one draw"
    is_in_steps: ClassVar[bool] = True
    labels_rows: ClassVar[bool] = True

    domain: Domain = field(metadata=form("columns that are counted", write=Domain.facts))
    total_share: Fraction | None = field(metadata=_TOTAL_SHARE)
    table_shares: Mapping[str, Fraction] | None = field(
        metadata=form(
            "shares of the level for further tables",
            write=lambda shares: {name: str(share) for name, share in shares.items()},
            read=_read_table_shares,
        )
    )

    def __init__(
        self,
        domain: Domain,
        unit: Unit,
        *,
        total_share: Number | None = None,
        table_shares: Mapping[str, Number] | None = None,
    ) -> None:
        declared, whom = instance(domain, Domain, "domain"), instance(unit, Unit, "unit")
        if not whom.sensitivity == whom.cells == 1 or whom.amount is not None:
            required = "one draw of all one-way tables needs a table in which each person is counted once"
            remedy = "Count with at_most=1; or plan the tables: ut.choose_plan, or utmost plan."
            raise OutOfRange(required, came=repr(whom), remedy=remedy)
        if whom.neighbours == "change-one" and not whom.nonnegative:
            required = 'one draw of all one-way tables needs nonnegative=True with neighbours="change-one"'
            raise OutOfRange(
                required,
                came="a unit without nonnegative=True",
                remedy="Pass nonnegative=True, if no individual lowers a cell.",
            )
        if TOTAL_LABEL in declared.columns:
            raise OutOfRange(
                "no axis may have the name that the total has", came=repr(TOTAL_LABEL), remedy="Rename the axis."
            )
        object.__setattr__(self, "unit", whom)
        shares = _read_table_shares({} if table_shares is None else table_shares)
        drawn = {declared.marginal(""), *_marginals(declared).values()}
        for name, share in shares.items():
            if share <= 0:
                remedy = f"Leave out {name!r}, or pass a share such as 1/10."
                raise OutOfRange(
                    "each share of a further table must be positive", came=share, where="table_shares", remedy=remedy
                )
            if declared.marginal(name) in drawn:
                remedy = "Name each further table once, by two or more levels or by a coarser level."
                required = "a further table must differ from the tables of the draw and from other further tables"
                raise OutOfRange(required, came=repr(name), where="table_shares", remedy=remedy)
            drawn.add(declared.marginal(name))
        own = _read_share(total_share, whom)
        if sum(shares.values(), own or Fraction(0)) >= 1:
            remedy = "Pass smaller shares; ut.choose_plan(...).least_once has the best shares."
            raise OutOfRange(
                "total_share and table_shares must add up to less than 1", came="a sum of 1 or more", remedy=remedy
            )
        _check_drawn(sum(declared.shape), MOST_GROUPS, "groups of one-way tables")
        object.__setattr__(self, "domain", declared)
        object.__setattr__(self, "total_share", own)
        object.__setattr__(self, "table_shares", shares or None)
        for name in shares:
            if len(set(self.tables[name])) < len(self.tables[name]):
                remedy = "Rename a label: the labels of a group are written with spaces between them."
                raise OutOfRange(
                    "the groups of a table must have different names",
                    came="one name for two groups",
                    where=repr(name),
                    remedy=remedy,
                )

    @classmethod
    def of_counted(
        cls, table: CountedTable, *, total_share: Number | None = None, table_shares: Mapping[str, Number] | None = None
    ) -> "OneWayDraw":
        """Return the noise of a counted table, for the unit that counting proved."""
        counted = instance(table, CountedTable, "table")
        return cls(counted.domain, counted.unit, total_share=total_share, table_shares=table_shares)

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "OneWayDraw":
        about = cls.arguments(facts)
        shares = {"total_share": about.get("total_share"), "table_shares": about.get("table_shares")}
        return cls(Domain.of_facts(about["domain"]), about["unit"], **shares)

    @property
    def subject(self) -> str:
        """The released tables, as words in a sentence."""
        return "all one-way tables and their total" + ", and further tables" * bool(self.table_shares)

    @property
    def marginals(self) -> dict[str, Marginal]:
        """{name of a released table: its marginal}, one-way tables first, then further tables, without the total."""
        return _marginals(self.domain) | {name: self.domain.marginal(name) for name in self.table_shares or ()}

    @property
    def tables(self) -> dict[str, tuple[str, ...]]:
        """{name of a released table: its groups as text}, without the total."""
        found = {}
        for name, marginal in self.marginals.items():
            labels = self.domain.group_labels(marginal)
            found[name] = tuple(" ".join(map(str, group)) for group in zip(*labels.values(), strict=True))
        return found

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> OneDrawAtLevel:
        shares = self.table_shares or {}
        distribution = drawn_distribution(
            self._draw, level, self.total_share or Fraction(0), sum(shares.values(), Fraction(0))
        )
        further_tables = tuple(
            (
                prod(self.domain.group_shape(self.domain.marginal(name))),
                Geometric(self.unit.per_cell(level.scaled(share))),
            )
            for name, share in shares.items()
        )
        rows = (None, *range(distribution.size))
        return OneDrawAtLevel(level, self.unit, distribution, read_confidence(confidence), rows, further_tables)

    def _draw(self, level: Level) -> TablesDraw:
        return TablesDraw(level, list(self.domain.shape), self.unit.neighbours, self.unit.exactly)

    def released(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Return the name of the column of counts; refuse another name."""
        if columns not in ((), (COUNT,)):
            raise OutOfRange(f"columns must be {COUNT!r}", came=", ".join(columns), remedy="Leave out columns=.")
        return (COUNT,)

    def labelled(self, public: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the two label columns, "table" and "group"; refuse other names for them."""
        if public not in ((), (TABLE, GROUP)):
            raise OutOfRange(
                f"public= must be {TABLE!r} and {GROUP!r}", came="other columns", remedy="Leave out public=."
            )
        return TABLE, GROUP

    def check_size(self, rows: int, columns: int) -> None:
        """Check that the table has a row for the total and for each group."""
        groups = sum(prod(self.domain.group_shape(marginal)) for marginal in self.marginals.values())
        if rows != 1 + groups:
            raise OutOfRange(f"the one-way tables and their total must have {1 + groups} rows", came=rows)

    def check_unit(self, counted: Any) -> None:
        """Check that a counted table proves the unit."""
        if counted is not None:
            counted.check_covered(self.unit)

    def rows_of(self, table: Any, columns: Sequence[str]) -> CountedTable:
        """Return the counted table, unchanged; refuse another kind of table."""
        if not isinstance(table, CountedTable):
            remedy = "Count the people with ut.count_table over the domain of the noise."
            required, came = "one draw of all one-way tables needs a counted table", type(table).__name__
            raise WrongKind(required, came=came, where="table", remedy=remedy)
        return table

    def measured(self, rows: Any) -> tuple[Any, str | None]:
        """Compute the total, all one-way tables and the further tables, as one table."""
        counted = instance(rows, CountedTable, "table")
        if not counted.domain.same_as(self.domain):
            remedy = "Pass OneWayDraw.of_counted(table)."
            raise OutOfRange("the table must have the domain of the noise", came="another domain", remedy=remedy)
        sums = [self.domain.sums(counted.summable, marginal).ravel() for marginal in self.marginals.values()]
        total = sum(int(count) for count in sums[0])
        labels = {
            TABLE: [TOTAL_LABEL, *(name for name, groups in self.tables.items() for _ in groups)],
            GROUP: [TOTAL_LABEL, *(group for groups in self.tables.values() for group in groups)],
        }
        counts = narrowed(np.concatenate([np.array([total], object), *(part.astype(object) for part in sums)]))
        return labelled(counted.kind, labels, {COUNT: counts}), None

    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        changes = "at most 1 group of each table, by at most 1"
        whole = ", and that every individual is counted" * self.unit.exactly
        return promise_text(level, self.unit, "the released tables", f"{changes}{whole}")


def _marginals(domain: Domain) -> dict[str, Marginal]:
    """Return {axis: its one-way marginal, at the finest level}."""
    return {name: domain.marginal([name]) for name in domain.columns}
