"""Tables with cells withheld by a public rule, as statistical offices publish them.

The tables are computed from noisy values, so they cost no epsilon. The statement of such a table has no digest of the
whole release: with a digest, a reader could try values for a withheld cell until one fits.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import optional, text
from utmost.core.exact.arrays import objects
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import exact
from utmost.core.noise.combination import Combination
from utmost.core.noise.geometric import Geometric
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.publish.promises.codec import table_statement
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
from utmost.publish.promises.statement_kinds import NOISY_TABLE_KIND, WITHHELD_KIND
from utmost.publish.releases.complementary import complementary
from utmost.publish.releases.marginal_tables import Narrow, groups_in, marginal_table
from utmost.publish.releases.withholding import (
    SHOWN,
    NoiseTails,
    WithholdingRule,
    bias_words,
    shown_bias,
)
from utmost.publish.releases.workload_errors import scaled
from utmost.tables.axes.axes import text_of
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.files.saving import Digest, SavedTable
from utmost.tables.files.table_formats import with_blanks
from utmost.tables.frames.adapters import Column, LabelledTable
from utmost.tables.frames.any_table import adapter_of, is_engine_table

TableT = TypeVar("TableT")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WithheldTable(SavedTable, Generic[TableT]):
    """A table with some cells withheld, and its statement.

    Attributes:
        table: The released table, as a frame of the same library: each released column, blank where a cell is
            withheld, followed by ``<name>_mark`` ("shown" or the rule's mark) and ``<name>_margin``.
        rule: Rule that withholds cells.
        released: Columns to which the rule was applied.
        cells: Number of cells.
        shown: Number of cells that the rule shows.
        bias: Effect of the rule on cells near its threshold, see `shown_bias`.
        release: Statement of the release, without any digest.
        marginal: Levels of the table, if the release is by a plan; None for other releases.
        marginals: Levels of all tables to which the rule was applied together.
    """

    _shown = ("rule", "released", "cells", "shown")

    table: TableT = field(repr=False)
    rule: WithholdingRule
    released: tuple[str, ...]
    cells: int
    shown: int
    bias: Sequence[dict[str, Any]]
    release: Mapping[str, Any]
    marginal: str | None = None
    marginals: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The sentences of the statement: the rule, and the bias of the shown cells."""
        return f"{self.rule_words} {bias_words(self.bias, self.rule)}"

    @property
    def rule_words(self) -> str:
        """The rule in sentences; for another tool's noise, without the sentence that the noise protects individuals."""
        if self.release["kind"] == NOISY_TABLE_KIND:
            return f"{self.rule.condition} The rule looks at noisy values alone, and protects nobody."
        return self.rule.words

    def statement_with(self, digest: Digest | None) -> dict[str, Any]:
        """Return the statement: the guarantee of the release, and the rule with its effect, in words and as facts."""
        return table_statement(WITHHELD_KIND, self.facts(), digest)

    def facts(self) -> dict[str, Any]:
        """Return the statement of the table as JSON values."""
        of_plan = {} if self.marginal is None else {"marginal": self.marginal, "marginals": list(self.marginals)}
        return {
            "guarantee": self.release["guarantee"],
            "words": self.words,
            "rule": self.rule.facts(),
            **of_plan,
            "released": list(self.released),
            "cells": self.cells,
            "shown": self.shown,
            "bias": [dict(fact) for fact in self.bias],
            "release": dict(self.release),
        }


def without_digests(statement: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statement of a release without digests, because a digest would let a reader test guesses of cells."""
    return {name: None if name == "table" else fact for name, fact in statement.items() if name != "sums"}


def table_bias(rule: WithholdingRule, noise: CellNoiseAtLevel) -> list[dict[str, Any]]:
    return shown_bias(rule, NoiseTails(noise.drawn, noise.width or Fraction(1)), noise.margin)


def withheld_table(
    table: TableT, released: Sequence[str], noise: CellNoiseAtLevel, statement: Mapping[str, Any], rule: WithholdingRule
) -> WithheldTable[TableT]:
    """Withhold cells of a table with independent noise by a rule."""
    if is_engine_table(table):
        remedy = "Save the release, and call ut.read_release(path).withhold(...)."
        came = "a frame that an engine evaluates"
        raise Unsupported(
            "cells can be withheld only from a table in memory", came=came, where="withhold", remedy=remedy
        )
    rows = len(adapter_of(table).column(table, released[0]))
    margins = {name: np.full(rows, noise.margin) for name in released}
    return withheld_columns(table, margins, table_bias(rule, noise), statement, rule)


def withheld_columns(
    table: TableT,
    margins: Mapping[str, NDArray[Any]],
    bias: Sequence[dict[str, Any]],
    statement: Mapping[str, Any],
    rule: WithholdingRule,
) -> WithheldTable[TableT]:
    """Withhold cells of a table by a rule; ``margins`` has the margin of each cell, by released column."""
    adapter = adapter_of(table)
    values = {name: _numbers(adapter.column(table, name)) for name in margins}
    shown = {name: rule.shows(column, margins[name]) for name, column in values.items()}
    return WithheldTable(
        _marked(table, values, shown, rule),
        rule,
        tuple(margins),
        sum(map(len, shown.values())),
        sum(int(column.sum()) for column in shown.values()),
        bias,
        without_digests(statement),
    )


def _numbers(column: Column) -> NDArray[Any]:
    """Read a released column as integers or floats; it may have texts of a file, or Decimals."""
    array = np.asarray(column)
    if array.dtype.kind in "if":
        return array
    numbers = [exact(number, "a released cell") for number in array.tolist()]
    if all(number.denominator == 1 for number in numbers):
        return objects(int(number) for number in numbers)
    return np.array([float(number) for number in numbers])


def _marked(
    table: TableT, values: Mapping[str, NDArray[Any]], shown: Mapping[str, NDArray[np.bool_]], rule: WithholdingRule
) -> TableT:
    names = set(adapter_of(table).names(table))
    columns: dict[str, list[object]] = {}
    for name, column in values.items():
        if f"{name}_mark" in names:
            came, remedy = "a column of that name", "Rename that column."
            raise BadTable(
                f"no column may have the name '{name}_mark', which the column of marks of {name!r} gets",
                came=came,
                remedy=remedy,
            )
        pairs = list(zip(column.tolist(), shown[name].tolist(), strict=True))
        columns[name] = [value if stays or not rule.is_blank else None for value, stays in pairs]
        columns[f"{name}_mark"] = [SHOWN if stays else rule.mark for _, stays in pairs]
    marked: TableT = with_blanks(table, columns, {f"{name}_mark": name for name in values})
    return marked


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WithheldTables(Display, Mapping[str, WithheldTable[LabelledTable]]):
    """Several tables of a release by a plan, by name, after one rule was applied to all of them."""

    _shown = ("rule", "marginals")

    rule: WithholdingRule
    tables: Mapping[str, WithheldTable[LabelledTable]] = field(repr=False)

    @property
    def marginals(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(self.tables)

    def __getitem__(self, marginal: str) -> WithheldTable[LabelledTable]:
        if text(marginal, "marginal") not in self.tables:
            remedy = f"Pass one of {', '.join(map(repr, self.tables))}."
            raise OutOfRange("marginal must name a withheld table", came=repr(marginal), remedy=remedy)
        return self.tables[marginal]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def save(
        self,
        path: Path | str,
        *,
        marginal: str | None = None,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write one table and its statement; ``marginal`` may be left out if there is only one."""
        optional(marginal, text, "marginal")
        if marginal is None and len(self.tables) > 1:
            remedy = f"Pass, for example, marginal={self.marginals[0]!r}: each table is saved as a separate file."
            raise OutOfRange("marginal must name the table to save", came="none", remedy=remedy)
        chosen = self[self.marginals[0] if marginal is None else marginal]
        return chosen.save(path, format=format, sign=sign, overwrite=overwrite)


def narrowed_name(domain: Domain, marginal: Marginal, narrow: Narrow) -> str:
    """Return the levels of a marginal as one text, such as "sex=f age" if the table is restricted to one sex."""
    labels = {
        domain.axes[axis].levels[marginal[axis]]: text_of(domain.axes[axis].labels[marginal[axis]][place])
        for axis, place in narrow.items()
    }
    return " ".join(f"{name}={labels[name]}" if name in labels else name for name in domain.level_names(marginal))


@dataclass(frozen=True, slots=True, eq=False)
class MarginalCells:
    """The cells of a marginal's table, as a withholding rule reads them."""

    name: str  # Name of the table, see `narrowed_name`
    marginal: Marginal
    published: NDArray[np.bool_]  # For each group of the marginal, whether it is in the table
    table: LabelledTable
    column: str  # Name of the column of estimates in ``table``
    estimates: NDArray[Any]
    margins: NDArray[Any]
    widest: Combination  # Distribution of the largest error
    step: Fraction  # Unit in which ``widest`` is stated

    @classmethod
    def of(
        cls,
        domain: Domain,
        kind: str,
        marginal: Marginal,
        narrow: Narrow,
        columns: Mapping[str, NDArray[Any]],
        widest: Combination,
        step: Fraction,
    ) -> "MarginalCells":
        """Collect the cells of the groups of a marginal that have the labels in ``narrow``."""
        published = groups_in(domain, marginal, narrow)
        (column, estimates), (_, margins) = columns.items()
        return cls(
            narrowed_name(domain, marginal, narrow),
            marginal,
            published,
            marginal_table(domain, kind, marginal, columns, narrow),
            column,
            estimates[published],
            margins[published],
            widest,
            step,
        )

    def bias(self, rule: WithholdingRule) -> list[dict[str, Any]]:
        """Return the `shown_bias` for the cells with the largest error."""
        distribution = self.widest
        if distribution.counts == (1,) and distribution.coefficients == (
            Fraction(1),
        ):  # the noise is one geometric variable: closed form
            return shown_bias(rule, NoiseTails(Geometric(distribution.levels[0]), self.step), self.margins.max())
        return shown_bias(rule, NoiseTails(scaled(distribution, self.step)), self.margins.max())


def withheld_marginals(
    domain: Domain, tables: Sequence[MarginalCells], statement: Mapping[str, Any], rule: WithholdingRule
) -> WithheldTables:
    """Withhold cells of a plan's tables by a rule, and further cells if the rule is complementary."""
    names = tuple(table.name for table in tables)
    if not names or len(set(names)) < len(names):
        came = "none" if not names else "one twice"
        raise OutOfRange("withhold must be called with tables that are all different", came=came, where="withhold")
    shown = {table.name: rule.shows(table.estimates, table.margins) for table in tables}
    if rule.complementary:
        # Two tables of one marginal may have the same group; it is shown only if both tables show it.
        published: dict[Marginal, NDArray[np.bool_]] = {}
        stays: dict[Marginal, NDArray[np.bool_]] = {}
        sizes: dict[Marginal, NDArray[np.float64]] = {}
        for table in tables:
            groups = len(table.published)
            here = published.setdefault(table.marginal, np.zeros(groups, dtype=bool))
            size = sizes.setdefault(table.marginal, np.zeros(groups))
            here |= table.published
            size[table.published] = np.abs(table.estimates.astype(np.float64))
            passing = np.ones(groups, dtype=bool)
            passing[table.published] = shown[table.name]
            stays[table.marginal] = stays.get(table.marginal, passing) & passing
        both = {marginal: here & stays[marginal] for marginal, here in published.items()}
        whole = complementary(domain, published, both, sizes)
        shown = {table.name: whole[table.marginal][table.published] for table in tables}
    withheld = {
        table.name: WithheldTable(
            _marked(table.table, {table.column: table.estimates}, {table.column: shown[table.name]}, rule),
            rule,
            (table.column,),
            len(table.estimates),
            int(shown[table.name].sum()),
            table.bias(rule),
            without_digests(statement),
            table.name,
            names,
        )
        for table in tables
    }
    return WithheldTables(rule, withheld)
