"""Answer `utmost read` for one release: cells, sums, differences, ratios, means, and margins at other levels."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import exact, read_confidence
from utmost.core.exact.written_levels import level_text
from utmost.core.noise.ratio_bars import RatioBar
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import table_options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.published_screen import show_published
from utmost.interfaces.cli.screens.screen import facts, grid, percent, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.cli.screens.workload_screens import shown_tables, with_confidence
from utmost.interfaces.cli.selections import check_counted, conditions, counted_selection, quantity, uncounted
from utmost.interfaces.documents.published_files import read_release
from utmost.interfaces.documents.reports import print_json
from utmost.interfaces.figures import canvas
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.cell_bars import CellBars
from utmost.publish.releases.measures_table import MeasuresTable
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.noisy_table import DeclaredCells, NoisyTable
from utmost.publish.releases.released_cells import IndependentCells, OneDrawCells
from utmost.publish.workloads.sums_in_words import selected
from utmost.tables.files import files
from utmost.tables.files.atomic import write_together

_SHOWN, _FEWEST = 24, 6  # most rows on the screen: divided among the columns, but at least six for each column
_DIGITS = 9  # of a number on the screen
_BOUGHT = (2, 4)  # levels that are shown by default, as multiples of the release's level
# Levels of the curves, as multiples of the release's level.
_CURVE = [Fraction(k, 16) for k in (*range(4, 16), *range(16, 65, 3))]


@dataclass(frozen=True, slots=True)
class CellSelection:
    """Options for a question about the cells of a release."""

    where: Annotated[
        list[str] | None,
        option("COLUMN=LABELS", "Cells to sum: department=A,B or sex=men,quarter=2013Q2,age=20..40 (without 40)."),
    ] = None
    minus: Annotated[list[str] | None, option("COLUMN=LABELS", "Cells to subtract, written as for --where.")] = None
    over: Annotated[
        list[str] | None, option("COLUMN=LABELS", "Cells of the denominator, written as for --where; or all.")
    ] = None
    over_column: Annotated[
        str | None, option("NAME", "Released column whose sum over the same cells is the denominator.")
    ] = None
    total: Annotated[bool, flag("Sum all cells.")] = False
    mean: Annotated[bool, flag("Average the cells of --where, or all cells.")] = False
    at: Annotated[list[str] | None, option("EPSILON", "Show the margins at another epsilon; nothing is spent.")] = None

    @property
    def asks_for_sum(self) -> bool:
        """Whether a number is to be computed from cells."""
        return (
            self.total
            or self.mean
            or any(option is not None for option in (self.where, self.minus, self.over, self.over_column))
        )

    def with_single_conditions(self, release: Any) -> "CellSelection":
        """Return the question with one condition in each text of --where, --minus and --over."""
        where, minus, over = (
            None if texts is None else conditions(release, texts) for texts in (self.where, self.minus, self.over)
        )
        return replace(self, where=where, minus=minus, over=over)

    def check_unused(self) -> None:
        """Refuse --where and similar options beside --prior, which reads single counts."""
        if self.asks_for_sum or self.at:
            remedy = "Leave out --response, --prior and --n."
            raise OutOfRange(
                "--response, --prior and --n cannot be combined with sums of cells and --at", came="both", remedy=remedy
            )

    def check_one_question(self) -> None:
        """Check that at most one sum, ratio or mean is requested."""
        divided = self.over is not None or self.over_column is not None
        questions = {"--minus": self.minus is not None, "--over": divided, "--mean": self.mean}
        names = [name for name, is_asked in questions.items() if is_asked]
        if divided and len(names) > 1:
            remedy = "Leave out one, and compute its figure by a second call, which costs no epsilon."
            raise OutOfRange(f"only one of {', '.join(names)} may be given", came="several", remedy=remedy)


@dataclass(frozen=True, slots=True)
class CellQuestion:
    """A question about the cells of a release, and the form of its answer."""

    cells: CellSelection
    column: str | None
    confidence: str
    plot: Path | None  # file of a picture
    out: Path | None  # file of a table with margins
    spelling: table_options.TextFileOptions
    form: str | None = None  # format of a table on standard output


def read_cells(file: Path, statement: Path | None, all_asked: CellQuestion, *, to_pipe: bool, as_json: bool) -> None:
    """Read one release, and print or write its figures; with `to_pipe` a table goes to standard output."""
    question, column, spelling = all_asked.cells, all_asked.column, all_asked.spelling
    plot, path = all_asked.plot, all_asked.out
    question.check_one_question()
    if plot is not None:
        canvas.check_format(plot)
    sure = read_confidence(all_asked.confidence)
    release = read_release(file, statement, separator=spelling.separator, encoding=spelling.encoding)

    if isinstance(release, MeasuresTable) and question.asks_for_sum and not question.mean:
        question = question.with_single_conditions(release)
        other: dict[str, Any] = {"--at": question.at, "--over-column": question.over_column, "--column": column}
        for name, value in {**other, "--plot": plot, "--out": path}.items():
            if value is not None:
                remedy = f"Leave out {name}; for sums and means write utmost total --sum or --mean."
                raise OutOfRange(
                    "utmost read computes only numbers of people from a table of several amounts",
                    came=name,
                    remedy=remedy,
                )
        people = release.with_confidence(sure)
        report = _Sums(next(iter(people.releases.values())), sure, people).sum(question)
        report["not_counted"] = uncounted(people) or None
        return print_json(report) if as_json else _show(report | {"levels": []}, None, report["not_counted"], None)

    if isinstance(release, NoisyTable):
        if question.at or plot is not None:
            remedy = "Leave out --at and --plot: they are only for noise that utmost drew."
            came = "a table of declared noise"
            raise OutOfRange("--at and --plot need a release that utmost made", came=came, remedy=remedy)
    elif not isinstance(release, Answer) or not (release.is_by_plan or isinstance(release.noise, CellNoiseAtLevel)):
        if plot is not None or path is not None or question.asks_for_sum or question.at:
            raise OutOfRange(
                "sums, --at, --plot and --out need a FILE that is a released table or a release by a plan",
                came="another file",
                remedy="Name the release from which FILE was made; or leave out all other options to see FILE and its "
                "statement.",
            )
        return show_published(release, as_json=as_json)

    question = question.with_single_conditions(release)
    reader: _Table | _Sums
    if isinstance(release, Answer) and release.is_by_plan:
        if column is not None:
            remedy = "Leave out --column; for sums and means write utmost total --sum or --mean."
            raise OutOfRange("utmost read shows only the counts of a release by a plan", came="--column", remedy=remedy)
        reader = _Sums(release.table, sure, None)
    else:
        cells = release.cells
        assert not isinstance(cells, OneDrawCells), "refused above"
        reader = _Table(cells, sure, column)
    report = reader.sum(question) if question.asks_for_sum else reader.overview(question)
    report["not_counted"] = uncounted(release) or None
    if isinstance(release, NoisyTable):
        report |= {"levels": [], "guarantee": release.guarantee}
    else:
        levels = [level(text) for text in question.at or ()]
        if not levels and not question.asks_for_sum:
            levels = [reader.level.scaled(times) for times in _BOUGHT]
        report["levels"] = [reader.margins_at(at) for at in levels]

    if plot is not None:
        prices = [reader.margins_at(reader.level.scaled(share)) for share in _CURVE]
        xs = [price["epsilon_float"] for price in prices]
        curves = {"margin": [float(price["margin"]) for price in prices]}
        if prices[0]["margin_together"] is not None:
            curves["all at once"] = [float(price["margin_together"]) for price in prices]
        if prices[0]["mean_error"] is not None:
            curves["mean error"] = [price["mean_error"] for price in prices]
        kind = plot.suffix[1:].lower()
        draw = partial(canvas.curves_figure, xs, curves, kind=kind, x="epsilon", y="error of a cell")
        write_together({plot: draw})

    if path is not None:
        if not isinstance(reader, _Table) or question.asks_for_sum:
            raise OutOfRange(
                "--out writes only a whole released table, with its margins",
                came="a question, or a release by a plan",
                remedy="Leave out --out; utmost total RELEASE --tables DIR writes the tables of a release by a plan.",
            )
        table_options.check_output(path, file)
        with_bars = reader.release.with_bars(sure)
        write_together({path: lambda target: files.write(with_bars, target, path)})

    if to_pipe and path is None and all_asked.form is not None and isinstance(reader, _Table):
        return table_options.give_table(reader.release.with_bars(sure), all_asked.form)
    if as_json or (to_pipe and path is None):
        return print_json(report)
    if isinstance(release, Answer) and release.is_by_plan and not question.asks_for_sum:
        screen().print(*shown_tables(with_confidence(release.table, sure)))
    amount = reader.release.unit.amount if isinstance(reader, _Sums) else None
    amount = None if question.asks_for_sum and isinstance(reader, _Sums) and reader.release.unit.is_shared else amount
    _show(report, path, report["not_counted"], None if amount is None else amount.clipped)


@dataclass(frozen=True, slots=True)
class _Table:
    """Answers questions about a released table, for one confidence and one column (None for every column)."""

    release: IndependentCells | DeclaredCells
    sure: Fraction
    column: str | None

    @property
    def level(self) -> Level:
        assert isinstance(self.release, IndependentCells), "noise of another tool has no epsilon"
        return self.release.noise.level

    def overview(self, cells: CellSelection) -> dict[str, Any]:
        """Return every cell, the margin of a single cell, and the margin that holds for all cells together."""
        release = self.release
        names = list(release.cells) if self.column is None else [release.column(self.column)]
        return {
            **_head(self.sure),
            "kind": "cells",
            "margin": release.alone(self.sure),
            "cells": release.rows * len(release.cells),
            "margin_together": release.together(self.sure),
            "relaxable": isinstance(release, IndependentCells)
            and (
                release.noise.relaxable
                or (release.answer.ledger_facts is not None and release.answer.promise.lasting_noise.is_relaxed)
            ),
            "columns": names,
            "labels": release.labels,
            "values": {name: [_plain(cell) for cell in release.cells[name]] for name in names},
        }

    def sum(self, cells: CellSelection) -> dict[str, Any]:
        """Return one sum, difference, ratio or mean of cells."""
        release = self.release
        if "count" in release.cells and release.counted:  # cells of a counted table
            selections = [*(cells.where or ()), *(cells.over or ()), *(cells.minus or ())]
            check_counted(release.labels, selections, release.units_of_time)
        rows, sure = release.chosen(cells.where or ()), self.sure
        column = release.column(self.column)
        counted = release.counted if column == "count" else ""
        question = _question(cells, f"number of {counted}" if counted else column)
        if cells.over is not None or cells.over_column is not None:
            over = rows if cells.over is None else release.chosen([text for text in cells.over if text != "all"])
            return _ratio(
                release.ratio(rows, over, column=column, over_column=cells.over_column, confidence=sure), question
            )
        minus = frozenset[int]() if cells.minus is None else release.chosen(cells.minus)
        if cells.mean:
            bar = release.mean(rows, minus=minus, column=column, confidence=sure)
        else:
            bar = release.difference(rows, minus, column=column, confidence=sure)
        kind = "mean" if cells.mean else "sum" if cells.minus is None else "difference"
        return _sum(bar.exact, bar.margin, sure, question, kind, len(rows ^ minus))

    def margins_at(self, at: Level) -> dict[str, Any]:
        """Return the margins and the mean error of a cell if the noise were drawn at this level."""
        assert isinstance(self.release, IndependentCells), "noise of another tool cannot be drawn again"
        noise = self.release.at(at)
        bars = CellBars(noise)
        together = bars.together(self.release.rows * len(self.release.cells), self.sure)
        mean = float(noise.drawn.moment(1)) * float(noise.grid or 1)
        return _margins_report(at, bars.alone(self.sure), together, mean)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Answers questions about a release by a plan, for one confidence."""

    release: NoisySums
    sure: Fraction
    people: MeasuresTable | None  # table of several amounts, whose first release is `release`

    @property
    def level(self) -> Level:
        return self.release.level

    def overview(self, cells: CellSelection) -> dict[str, Any]:
        """Return, for each requested table, the margin of a single sum and the margin that holds for all its sums."""
        release, sure = self.release, self.sure
        if release.unit.is_shared:
            tables = [
                {"table": f"{name or 'total'}: {column}", "margin": margin, "margin_together": together[column]}
                for name, columns in release.column_bars(confidence=sure).items()
                for together in [release.column_bars(name, confidence=sure, together=True)[name]]
                for column, margin in columns.items()
            ]
        else:
            tables = [
                {
                    "table": name or "total",
                    "margin": margin,
                    "margin_together": release.bars(name, confidence=sure, together=True)[name],
                }
                for name, margin in release.bars(confidence=sure).items()
            ]
        return {**_head(self.sure), "kind": "tables", "tables": tables, "relaxable": True}

    def sum(self, cells: CellSelection) -> dict[str, Any]:
        """Return one sum, difference or ratio."""
        if cells.mean or cells.over_column is not None:
            remedy = "Write utmost total FILE --mean COLUMN."
            raise OutOfRange(
                "utmost read computes no averages from a release by a plan",
                came="--mean or --over-column",
                remedy=remedy,
            )
        sums, sure = self.people or self.release, self.sure
        where = counted_selection(self.release, cells.where)
        question = _question(cells, quantity(sums))
        if cells.over is not None:
            return _ratio(sums.ratio(where, counted_selection(self.release, cells.over), confidence=sure), question)
        if cells.minus is not None:
            less = counted_selection(self.release, cells.minus)
            answer = sums.difference(where, less, confidence=sure)
        else:
            answer = sums.total(where, confidence=sure)
        kind = "sum" if cells.minus is None else "difference"
        return _sum(exact(answer.value), answer.margin, sure, question, kind, None)

    def margins_at(self, at: Level) -> dict[str, Any]:
        """Return the margins if the noise were drawn at this level, for the requested table with the largest margin."""
        other = replace(self.release, level=at, confidence=self.sure, weights={})
        bars = other.bars()
        name = max(bars, key=lambda each: bars[each])
        together = other.bars(name, together=True)[name]
        return _margins_report(at, bars[name], together, None) | {"table": name or "total"}


def _head(sure: Fraction) -> dict[str, Any]:
    return {"prior": "flat", "confidence": float(sure)}


def _margins_report(at: Level, alone: Any, together: Any, mean: float | None) -> dict[str, Any]:
    return {
        "epsilon": level_text(at),
        "epsilon_float": at.epsilon_float,
        "margin": alone,
        "margin_together": together,
        "mean_error": mean,
    }


def _sum(value: Fraction, margin: Any, sure: Fraction, question: str, kind: str, cells: int | None) -> dict[str, Any]:
    ends = [_plain(value - exact(margin)), _plain(value + exact(margin))]
    return {
        **_head(sure),
        "kind": kind,
        "question": question,
        "value": _plain(value),
        "margin": margin,
        "interval": ends,
        "cells": cells,
    }


def _ratio(bar: RatioBar, question: str) -> dict[str, Any]:
    ends = [end if isfinite(end) else None for end in (bar.lower, bar.upper)]
    return {
        **_head(bar.confidence),
        "kind": "ratio",
        "question": question,
        "value": bar.estimate,
        "interval": ends,
        "determined": bar.determined,
        "words": str(bar),
    }


def _question(cells: CellSelection, column: str) -> str:
    words = f"{column}, {_of(cells.where)}"
    if cells.mean:
        words = f"mean of {words}"
    if cells.minus is not None:
        words += f", less {_of(cells.minus)}"
    if cells.over is not None or cells.over_column is not None:
        below = "" if cells.over_column is None else f"{cells.over_column}, "
        words += f", over {below}{_of(cells.where if cells.over is None else cells.over)}"
    return words


def _of(where: Iterable[str] | None) -> str:
    return selected(where or ["all"])


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _show(report: dict[str, Any], written: Path | None, beyond: str | None, clipped: str | None) -> None:
    """Print a report for people; `beyond` and `clipped` say in words what no figure includes."""
    console, sure = screen(), percent(report["confidence"])
    if report["kind"] == "cells":
        # Each released column is a separate table: together they would be too wide for a terminal.
        names, labels = report["columns"], report["labels"]
        most = max(_FEWEST, _SHOWN // len(names))
        margins = [exact(report[margin]) for margin in ("margin", "margin_together")]
        for name in names:
            values = report["values"][name]
            rows = [
                [
                    *(column[row] for column in labels.values()),
                    _shown(value),
                    *(_span(_plain(exact(value) - margin), _plain(exact(value) + margin)) for margin in margins),
                ]
                for row, value in enumerate(values[:most])
            ]
            picture = grid([*labels, f"{name},\nbest answer", "within", "all at once\nwithin"], rows, left=len(labels))
            if len(values) > most:
                picture.caption = f"and {len(values) - most} more rows; --out FILE writes all"
            console.print(picture)
        console.print(
            facts(
                {
                    "each cell": f"{_up(report['margin'])}, at {sure} confidence",
                    f"all {report['cells']} at once": f"{_up(report['margin_together'])}, at {sure} confidence",
                    "prior": "uniform: all values are equally likely, so the best answer is the released value",
                }
            )
        )
    elif report["kind"] == "tables":
        rows = [
            [marginal["table"], _up(marginal["margin"]), _up(marginal["margin_together"])]
            for marginal in report["tables"]
        ]
        console.print(grid(["table", f"each sum, {sure}", f"all at once, {sure}"], rows))
        console.print(
            facts(
                {
                    "more": "compute any sum with its margin by utmost total; or choose cells with --where, --minus "
                    "and --over"
                }
            )
        )
    else:
        if report["kind"] == "ratio":
            shown = report["words"]
            answer = {
                "estimate": _shown(report["value"]),
                "interval": f"contains the true ratio of the counted contributions, at {sure} confidence",
            }
            if not report["determined"]:
                answer = {"why": f"at {sure} confidence the denominator may be 0: 0 is within its margin"}
        else:
            low, high = report["interval"]
            shown = f"{_shown(report['value'])} {_up(report['margin'])}"
            truth = f"{report['kind']} of the counted contributions" if beyond else f"true {report['kind']}"
            answer = {"margin": f"the {truth} is from {_span(low, high)}, at {sure} confidence"}
        if beyond:
            answer["not counted"] = beyond
        console.print(ScreenText(f"{report['question']}: {shown}", style="bold"), facts(answer))
    if beyond and report["kind"] in ("cells", "tables"):
        console.print(facts({"not counted": beyond}))
    if clipped is not None:
        console.print(facts({"amounts": clipped}))
    if "guarantee" in report:
        console.print(ScreenText(report["guarantee"]))
    if report["levels"]:
        tables = ["table"] if "table" in report["levels"][0] else []
        rows = [
            [
                *(price[title] for title in ("epsilon", *tables)),
                *(_up(price[of]) for of in ("margin", "margin_together")),
            ]
            for price in report["levels"]
        ]
        cost = (
            "if the release is relaxed in a ledger, both answers together cost the larger epsilon"
            if report.get("relaxable")
            else "this noise cannot be relaxed: a second release adds its epsilon to the first"
        )
        console.print(
            ScreenText("\nMargins at other levels", style="bold"),
            grid(["epsilon", *tables, "each", "all at once"], rows, left=1 + len(tables)),
            facts({"price": cost}),
        )
    if written is not None:
        console.print(ScreenText(f"Written: {written}"))


def _shown(value: Any, way: str = ROUND_HALF_EVEN) -> str:
    """Format a number to nine digits with a rounding mode of `decimal`; integers have no decimals."""
    if value is None or isinstance(value, int) or float(value).is_integer():
        return "none" if value is None else str(int(value))
    fraction = exact(value)
    near = Context(prec=_DIGITS, rounding=way).divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    return f"{near.normalize():f}" if -7 < near.adjusted() < 16 else f"{near.normalize():e}"


def _up(margin: Any) -> str:
    return f"± {_shown(margin, ROUND_CEILING)}"


def _span(low: Any, high: Any) -> str:
    """Format an interval; its ends are rounded outward."""
    return f"{_shown(low, ROUND_FLOOR)} to {_shown(high, ROUND_CEILING)}"
