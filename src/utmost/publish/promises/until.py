"""Stopping rules: a release tries increasing levels, and stops at the first one that is accurate enough.

The rule is part of a promise about cells, or about the tables of a plan. The rule reads released values and margins
only, so that the decision to stop at a level is a function of what is published up to that level. Proofs:
proofs/theory/accuracy-first.md.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, mapping, sequence, text, wrong_kind
from utmost.core.exact.defaults import CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.field_forms import arguments_of, facts_of, form
from utmost.core.exact.intervals import Interval, round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, natural, written_number
from utmost.core.exact.written_levels import level_text
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.promises.cell_noise import CellNoise
from utmost.publish.promises.noise_at_level import NoiseAtLevel
from utmost.publish.promises.promised_noise import PlannedNoise
from utmost.tables.frames.any_table import adapter_of

if TYPE_CHECKING:  # loaded only for plans: a release of columns does not wait for it
    from utmost.tables.axes.domain import Where

MOST_STEPS = 16
"""The largest number of levels of a stopping rule."""

LabelChoice = tuple[tuple[str, tuple[str, ...]], ...]
"""Labels by public column, in hashable form."""


def _written_labels(where: LabelChoice) -> dict[str, list[str]]:
    return {name: list(labels) for name, labels in where}


def _read_labels(fact: Any, name: str) -> LabelChoice:
    return tuple((text(column, name), tuple(map(str, labels))) for column, labels in mapping(fact, name).items())


@dataclass(frozen=True, slots=True, repr=False)
class Until(Display):
    """A rule by which a release stops as soon as it is accurate; `within` makes one for ``until`` of a `Promise`.

    Attributes:
        share: Required margin, as a share of the released value.
        where: Pairs of a public column and labels: the cells of rows with these labels must be accurate; all cells if
            empty. For a plan, the cells of each table of the workload that has these columns.
        steps: Number of levels, each twice the one before it; the last one is the epsilon of the release.
    """

    _shown = ("share", "where", "steps")

    share: Fraction = field(metadata=form("margin as a share of the released value", write=str, read=written_number))
    where: LabelChoice = field(
        metadata=form("cells that must be so accurate", write=_written_labels, read=_read_labels)
    )
    steps: int = field(metadata=form("levels, each twice the one before"))

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", written_number(self.share, "share"))
        for choice in instance(self.where, tuple, "where"):
            if not (isinstance(choice, tuple) and [*map(type, choice)] == [str, tuple]):
                raise wrong_kind(
                    "where", 'pairs of a column and its labels; within("10 %", where=...) makes them', choice
                )
        if not 0 < self.share <= 1:
            remedy = 'Pass a share such as "10 %".'
            raise OutOfRange(
                "the margin of a stopping rule must be above 0 % and at most 100 %", came=self.share, remedy=remedy
            )
        natural(self.steps, "steps", 2, MOST_STEPS)

    def facts(self) -> dict[str, Any]:
        """Return the rule as JSON values; `of_facts` reads them."""
        return facts_of(self)

    @classmethod
    def of_facts(cls, facts: Any) -> "Until":
        """Read the rule that JSON values describe.

        Raises:
            UtmostError: if a value is invalid.
        """
        arguments = {"where": (), **arguments_of(cls, facts, "until")}
        if missing := [name for name in ("share", "steps") if name not in arguments]:
            remedy = "Write the rule with within(...).facts()."
            raise OutOfRange("the facts of until must have a share and steps", came=f"no {missing[0]}", remedy=remedy)
        return cls(**arguments)

    def levels(self, epsilon: Level) -> tuple[Level, ...]:
        """Return the ladder of levels, each twice the one before: with seven steps epsilon/64, epsilon/32, ..."""
        return tuple(epsilon.scaled(Fraction(1, 1 << step)) for step in reversed(range(self.steps)))

    @property
    def words(self) -> str:
        """The rule in words.

        >>> within("10 %", {"sex": "women"}).words
        'the margin of every cell where sex is women is at most 10 % of its released value'
        """
        chosen = " and ".join(f"{name} is {' or '.join(labels)}" for name, labels in self.where)
        cells = f"every cell where {chosen}" if chosen else "every cell"
        return f"the margin of {cells} is at most {self.percent} of its released value"

    @property
    def percent(self) -> str:
        """The share as text: "10 %"."""
        return f"{float(100 * self.share):g} %"

    def check_noise(self, noise: PlannedNoise) -> None:
        """Check that a release with this noise can try several levels, and that margins hold at the level of the stop.

        Raises:
            Unsupported: if the noise is neither of single cells nor by a plan.
            OutOfRange: if no wanted table of the plan has the chosen cells.
        """
        if noise.is_by_plan:
            from utmost.publish.promises.sum_noise import SumNoise

            assert isinstance(noise, SumNoise), "only noise of sums is by a plan"
            # Check that a table of the workload has the cells that the rule chooses.
            tables = noise.plan.tables
            for name, labels in self.where:
                known = [columns[name] for columns in tables.values() if self.reads(columns)]
                if not known or not all(any(label in there for there in known) for label in labels):
                    required, came = "a wanted table must have the chosen cells", f"{name} is {' or '.join(labels)}"
                    remedy = f"Choose labels of one table: {'; '.join(map(', '.join, filter(None, tables.values())))}."
                    raise OutOfRange(required, came=came, where="until", remedy=remedy)
        elif not isinstance(noise, CellNoise):
            required = "until= needs cells that each have separate noise, or the tables of a plan"
            remedy = "Leave out until= and choose the level; or promise each cell by its sensitivity and cells."
            raise Unsupported(required, came=noise.kind, remedy=remedy)

    def reads(self, columns: Container[str]) -> bool:
        """Whether a table with these columns has cells that the rule chooses."""
        return all(name in columns for name, _ in self.where)

    def check_public(self, public: Sequence[str]) -> None:
        """Check that the rule chooses cells by public columns only.

        Raises:
            OutOfRange: if the rule chooses cells by a column that is not public.
        """
        for name, _ in self.where:
            if name not in public:
                remedy = f"Choose cells by {', '.join(public)}." if public else "Leave out where=."
                raise OutOfRange("until= must select cells by public columns", came=repr(name), remedy=remedy)

    def chosen(self, table: Any) -> NDArray[np.bool_] | None:
        """Return the rows that the rule reads, as booleans; None for all rows.

        Raises:
            OutOfRange: if no row has all labels of the rule.
        """
        if not self.where:
            return None
        adapter = adapter_of(table)
        columns = [(list(map(str, adapter.label(table, name))), labels) for name, labels in self.where]
        rows = np.logical_and.reduce([np.isin(column, labels) for column, labels in columns])
        if not rows.any():
            required = "until= must choose cells of the table"
            remedy = "Correct the labels in until=."
            raise OutOfRange(required, came=str(_written_labels(self.where)), remedy=remedy)
        return np.asarray(rows)

    def is_met(self, table: Any, columns: Sequence[str], noise: NoiseAtLevel) -> bool:
        """Whether a released table is accurate enough; the result depends only on published values.

        Args:
            table: Table as it is published.
            columns: Released columns of the table.
            noise: Noise of these columns, with margins of 95 %, which the rule reads even if other margins are shown.
        """
        adapter, rows = adapter_of(table), self.chosen(table)
        for name, margin in noise.bars(columns).values():
            assert not isinstance(margin, tuple), "a column of cells has one margin"
            cells = np.asarray(adapter.column(table, name))
            if not self._are_within(cells if rows is None else cells[rows], margin):
                return False
        return True

    def is_met_by(self, table: Any, margins: Mapping[str, str]) -> bool:
        """Whether a released table is accurate enough, judged by the columns of margins in the table.

        Args:
            table: Table as it is published.
            margins: {name of the column of margins: released column}.
        """
        adapter, rows = adapter_of(table), self.chosen(table)
        for margin_name, name in margins.items():
            cells, bars = (np.asarray(adapter.column(table, each)) for each in (name, margin_name))
            if rows is not None:
                cells, bars = cells[rows], bars[rows]
            if not all(self._are_within(cells[bars == margin], margin) for margin in set(bars.tolist())):
                return False
        return True

    def _are_within(self, cells: NDArray[Any], margin: int | float) -> bool:
        """Whether the margin of every cell is at most the required share of the cell's released value."""
        least: Any = exact(margin) / self.share
        if cells.dtype.kind == "f":
            least = round_up(least)
        elif cells.dtype.kind in "iu":
            least = -(-least.numerator // least.denominator)
        return bool((np.abs(cells) >= least).all())

    def cell_confidence(self, noise: PlannedNoise, levels: Sequence[Level], confidence: Fraction) -> Fraction:
        """Return the confidence that margins need at each level, to hold with ``confidence`` at the level of the stop.

        For noise on the integers, this confidence follows from the tails of the noise at each level: for a share of 10
        %, an error exceeds the margin at the level of the stop about 1.5 times as often as at one level chosen
        beforehand. For other noise, the probabilities that an error exceeds its margin are added up over the levels.

        Source: proofs/theory/accuracy-first.md.

        >>> from utmost import Unit, level
        >>> rule, noise = within("10 %"), CellNoise(Unit(1, 1))
        >>> sure = rule.cell_confidence(noise, rule.levels(level(4)), Fraction(19, 20))
        >>> float(sure), [noise.at(at, sure).margin for at in rule.levels(level(4))]
        (0.9662109375, [54, 27, 14, 7, 3, 1, 1])
        """
        return _cell_confidence(noise, self.share, tuple(levels), confidence)

    def ladder(self, noise: PlannedNoise, epsilon: Level, confidence: Fraction) -> list["LadderStep"]:
        """List the levels at which a release of cells may stop, each with its margin and the smallest accurate value.

        Args:
            noise: Noise of each cell.
            epsilon: Last level of the rule.
            confidence: Confidence of the margins.

        >>> from utmost import Unit, level
        >>> [step.least for step in within("10 %").ladder(CellNoise(Unit(1, 1)), level(4), Fraction(19, 20))]
        [540, 270, 140, 70, 30, 10, 10]
        """
        levels = self.levels(epsilon)
        shown, read = (self.cell_confidence(noise, levels, sure) for sure in (confidence, CONFIDENCE))
        steps = [(level, noise.at(level, shown).margin, noise.at(level, read).margin) for level in levels]
        return [LadderStep(level, margin, self.least_accurate(read_margin)) for level, margin, read_margin in steps]

    def least_accurate(self, margin: int | float) -> int | float:
        """Return the least absolute value for which ``margin`` is at most the required share of the value."""
        least = exact(margin) / self.share
        return -(-least.numerator // least.denominator) if isinstance(margin, int) else round_up(least)


@dataclass(frozen=True, slots=True)
class LadderStep:
    """One level of a stopping rule.

    Attributes:
        level: Level at which the release may stop.
        margin: Margin of a cell that holds at the level where the rule stops.
        least: Smallest absolute value of a released cell that is accurate at this level.
        table: Wanted table (of a plan) to which this margin belongs; None if all cells have the same margin.
    """

    level: Level
    margin: int | float
    least: int | float
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The facts of an answer under a stopping rule: whether the rule stopped at this level, or a user chose the level.

    Attributes:
        levels: Levels of the rule, smallest first; the last one was promised beforehand.
        is_met: Whether the rule was met where it stopped; False is possible only at the last level. None for a level
            that a user requested.
        confidence: Confidence of the margins.
    """

    levels: tuple[Level, ...]
    is_met: bool | None
    confidence: Fraction

    def facts(self) -> dict[str, Any]:
        """Return the facts of the stop as JSON values, for a statement."""
        levels = [level_text(level) for level in self.levels]
        return {"levels": levels, "met": self.is_met, "confidence": str(self.confidence)}

    @property
    def promised(self) -> Level:
        """The level that was promised beforehand: the most that the release could have spent."""
        return self.levels[-1]

    def at_one_level(self, confidence: Fraction) -> Fraction:
        """Return the confidence that margins need at each level so that all levels' margins hold with ``confidence``.

        The result follows from the union bound over the levels of the rule.
        """
        return 1 - (1 - confidence) / len(self.levels)


def within(share: Number, where: "Where | None" = None, *, steps: int = 7) -> Until:
    """Make the rule "every cell within 10 %": a release tries increasing levels, and stops at the first accurate one.

    Pass the rule as ``until`` to a `Promise`. A release then tries epsilon / 64, epsilon / 32, ..., epsilon. The
    release stops as soon as the 95 % margin of each chosen cell is at most ``share`` of the cell's released value, and
    at epsilon in any case. Only the level at which the release stops is spent. Margins are wider than at a level chosen
    beforehand, because the rule chooses the level: each margin holds with its confidence, averaged over all levels at
    which the release may stop. Releases that stop unusually early have more true values outside their margins, since
    lucky noise stopped them.

    Args:
        share: Required margin, as a share of the released value: "10 %" or 0.1.
        where: Cells that must be accurate, as {public column: label or list of labels}; all cells if left out. For a
            plan, cells of each table of the workload that has these columns; other tables are not read.
        steps: Number of levels, from 2 to 16. Each level is twice the one before it, and the last one is epsilon.

    Raises:
        OutOfRange: if the share is at most 0 or above 1, or if the number of levels is not from 2 to 16.
        WrongKind: if ``share`` is a function, which could read the data.

    Source: [ligett2017] for the idea; by [koufogiannis2015], all tried levels together cost only the last of them.

    >>> import utmost as ut
    >>> table = {"department": ["A", "B"], "applicants": [933, 585]}
    >>> promise = ut.Promise("applicants", public="department", unit=ut.Unit(1, 1), until=within("10 %"))
    >>> answer = ut.release(table, promise, epsilon=4)
    >>> answer.level <= ut.level("1/8"), answer.is_met
    (True, True)

    With a plan, the tables of the workload must be accurate:

    >>> import numpy as np
    >>> domain = ut.Domain(sex=["men", "women"], town=["A", "B"])
    >>> counted = ut.counting.CountedTable(domain, np.array([[512, 389], [353, 317]]), ut.Unit(1, 1))
    >>> plan = ut.choose_plan(ut.Workload(domain, {"sex": 1, "": 1}), counted.unit, epsilon=4)
    >>> answer = ut.release(counted, ut.Promise(noise=plan, until=within("10 %")), epsilon=4)
    >>> answer.level <= ut.level("1/4"), all(answer["sex"]["count_margin"] <= answer["sex"]["count"] / 10)
    (True, True)
    """
    if callable(share):
        remedy = 'Pass a share such as "10 %".'
        raise wrong_kind("until", f"a share of the released value, not a function. {remedy}", share)
    labels: dict[str, tuple[str, ...]] = {}
    for name, wanted in ({} if where is None else mapping(where, "where")).items():
        one = isinstance(wanted, str) or not hasattr(wanted, "__iter__")
        labels[text(name, "where")] = (str(wanted),) if one else tuple(map(str, sequence(wanted, "where")))
    if isinstance(share, str) and share.rstrip().endswith("%"):
        most = exact(share.rstrip()[:-1].strip(), "share") / 100
    else:
        most = exact(share, "share")
    return Until(most, tuple(labels.items()), steps)


_PARTS = 1 << 8
"""The probability that an error may exceed its margin at each level is chosen in 256ths of the total probability."""


@lru_cache(maxsize=1 << 10)
def _cell_confidence(noise: PlannedNoise, share: Fraction, levels: tuple[Level, ...], confidence: Fraction) -> Fraction:
    miss = 1 - confidence
    least = miss / len(levels)  # the union bound, for any noise
    if not isinstance(noise, CellNoise) or noise.grid is not None or noise.unit.step != 1:
        return 1 - least
    distributions = [noise.at(level, confidence).drawn for level in levels]
    read: list[int] | None = None
    if confidence != CONFIDENCE:  # the rule reads the 95 % margins
        sure = _cell_confidence(noise, share, levels, CONFIDENCE)
        read = [distribution.margin(sure) for distribution in distributions]
    holds, fails = 0, _PARTS + 1
    while fails - holds > 1:  # invariant: part ``holds`` satisfies the bound
        part = (holds + fails) // 2
        if _most_missed(distributions, share, miss * part / _PARTS, read) <= miss:
            holds = part
        else:
            fails = part
    return 1 - max(least, miss * holds / _PARTS)


def _most_missed(
    distributions: Sequence[IntegerDistribution], share: Fraction, each: Fraction, read: Sequence[int] | None
) -> Fraction:
    """Bound, for every true value, the probability that its error exceeds the margin at the level of the stop."""
    # The names are those of proofs/theory/accuracy-first.md, Theorem 3.
    t = [distribution.margin(1 - each) for distribution in distributions]
    n = [-(-margin * share.denominator // share.numerator) for margin in (t if read is None else read)]

    def tail(i: int, least: int) -> Interval:
        return distributions[i].tail_interval(max(t[i] + 1, least))

    missed = [tail(i, 0) * 2 for i in range(len(distributions))]
    worst = Fraction(0)
    for k in range(len(distributions)):
        x = n[k - 1] + t[k - 1] - 1 if k else 0
        early = [tail(i, n[i] - x) + tail(i, n[i]) for i in range(k)]
        worst = max(worst, sum((tails.upper for tails in early), max(late.upper for late in missed[k:])))
    return worst
