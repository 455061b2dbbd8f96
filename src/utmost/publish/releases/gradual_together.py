"""Columns that one individual changes together, answered at any levels in any order."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance, mapping, one_of
from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.numbers import Number
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.errors import BadTable
from utmost.publish.promises.noise_together import once_of_plan
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.rotated_sums import Halves, columns_of, ratios_of, sums_of, whole_numbers
from utmost.publish.promises.statement import Statement
from utmost.publish.promises.together_plan import grouped, plan_of_way, plan_together
from utmost.publish.releases.gradual_answers import AnsweredLevels, LaidOut, Said, Saving
from utmost.publish.releases.gradual_release import GradualRelease
from utmost.publish.workloads.measuring.cells_together import CellsLaw, CellsTogether
from utmost.tables.frames.adapters import Column


class GradualTogether(AnsweredLevels):
    """Columns of which one individual changes the cells of one row together, answered at any levels in any order.

    Pairs of columns are kept as sum and difference in a `GradualRelease`, an odd column by itself; where no individual
    lowers a cell, three and more as the signed sums of `ways_together`.

    Args:
        table: {column: integers}, at least two columns of one length; pairs are taken in this order.
        unit: what one individual changes; its cells must be as many as the columns.
        halves: "toss" or "keep"; coins are tossed once for each level.
        tuned_at: the level at which signed sums are chosen and have the least error, as epsilon or a `Level`.
        randomness: the operating system's if left out; a seeded source is refused.

    Promise: all answers together keep the level `spent`, for an individual who changes the cells of one row, each by at
        most the sensitivity, and no other cell.
    Source: proofs/theory/cells-together.md.

    >>> answer = GradualTogether({"applicants": [933, 585], "admitted": [601, 370]}, unit=Unit(1, 2))
    >>> strict, loose = answer.at(epsilon="1/4"), answer.at(epsilon=1)
    >>> answer.spent, bool((answer.at(epsilon="1/4")["admitted"] == strict["admitted"]).all())
    (level(epsilon=1), True)
    """

    __slots__ = ("_coins", "_halves", "_inner", "_names", "_read", "_rows", "_way", "unit")

    def __init__(
        self,
        table: Mapping[str, Any],
        *,
        halves: Halves = "toss",
        tuned_at: Number | Level = 1,
        unit: Unit,
        randomness: Randomness | None = None,
    ) -> None:
        signs = instance(unit, Unit, "unit").nonnegative and len(mapping(table, "table")) > 2
        plan = plan_together(
            list(mapping(table, "table")),
            tuned_at,
            noise="signed" if signs else "rotated",
            halves=one_of(halves, Halves, "halves"),
            unit=unit,
        )
        cells = [whole_numbers(column, "column") for column in table.values()]
        if len({column.shape for column in cells}) != 1:
            raise BadTable("columns that are noised together must have one length", came="different lengths")
        self.unit, self._way, self._halves, self._names = plan.unit, plan.way, plan.halves, plan.columns
        self._coins, self._rows = secure(randomness), cells[0].shape
        series: dict[Any, Any] = {}
        groups = grouped(list(zip(self._names, cells, strict=True)), self._way.groups)
        for group, law in zip(groups, self._way.laws, strict=True):
            sums = sums_of(law, [column for _, column in group])
            series |= {(group[0][0], row): sums_of_row for row, sums_of_row in enumerate(sums)}
        self._inner = GradualRelease(series, self.unit.sensitivity, randomness=self._coins)
        self._read: dict[Level, dict[str, Any]] = {}

    def at(self, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> dict[str, Any]:
        """The columns at a level of the whole release; asked again, the same answer.

        Raises:
            NotALevel: for what is no level; nothing is spent then.
        """
        level = level_of(epsilon, alpha)
        with self._alone():
            if level not in self._read:
                self._check_owner()
                self._read[level] = self._columns(self._inner.at(self._levels(level)))
            return {name: column.copy() for name, column in self._read[level].items()}

    def _published(self, how: Saving) -> tuple[dict[str, Column], Said]:
        way, sure = self._way.at(how.level, self.unit), how.confidence
        plan = plan_of_way(
            self._names, how.level, self.unit, way, halves=self._halves, confidence=sure, cost="absolute"
        )
        blank = np.zeros(self._rows, np.int8)
        LaidOut.of(dict.fromkeys(self._names, blank), how.public)  # refuses what does not fit, before it is drawn
        laid = LaidOut.of(self.at(how.level), how.public)
        promise = Promise(plan.columns, public=list(laid.public), noise=once_of_plan(plan))
        table = laid.with_margins(dict(zip(plan.columns, plan.margins, strict=True)))
        return table, lambda digest: Statement(promise, how.level, sure, laid.rows, digest, None).facts()

    @property
    def levels(self) -> tuple[Level, ...]:
        """Every level that has been answered, strictest first."""
        return tuple(sorted(self._read))

    def _levels(self, level: Level) -> dict[Any, Level]:
        """The level of each series of noise: a pair's share, divided between its sum and its difference."""
        return {
            (name, row): ratio.scaled(self.unit.sensitivity)
            for name, law in self._groups(self._way.at(level, self.unit))
            for row, ratio in enumerate(ratios_of(law))
        }

    def _groups(self, way: CellsTogether) -> Iterator[tuple[str, CellsLaw]]:
        firsts = (group[0] for group in grouped(self._names, way.groups))
        return zip(firsts, way.laws, strict=True)

    def _columns(self, answers: Mapping[Any, Any]) -> dict[str, Any]:
        columns: list[Any] = []
        for name, law in self._groups(self._way):
            sums = [answers[name, row] for row in range(len(ratios_of(law)))]
            columns += columns_of(law, sums, halves=self._halves, randomness=self._coins)
        return dict(zip(self._names, columns, strict=True))

    def __repr__(self) -> str:
        return f"GradualTogether({len(self._names)} columns, spent={self.spent})"
