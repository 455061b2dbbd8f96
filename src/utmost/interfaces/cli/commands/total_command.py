"""`utmost total`: compute a sum, a ratio, a mean or a quantile from a release, with a certified margin."""

import re
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.numbers import exact, read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.noise.ratio_bars import RatioBar
from utmost.errors import OutOfRange, Unsupported
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import facts, grid, number, percent, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.cli.screens.workload_screens import give_tables, tables_left_out, with_confidence
from utmost.interfaces.cli.selections import check_counted, conditions, counted_selection, quantity, uncounted
from utmost.interfaces.documents.published_files import read_release
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.comparisons import change, change_of_bars, trend
from utmost.publish.releases.detailed_release import DetailedSums
from utmost.publish.releases.estimates import Estimate
from utmost.publish.releases.measures_table import MeasuresTable
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.noisy_table import NoisyTable
from utmost.publish.releases.released_cells import OneDrawCells, ReleasedCells
from utmost.publish.statements.plan_files import PLAN_FORM
from utmost.publish.workloads.measuring.forms import stand_for_bins
from utmost.publish.workloads.sums_in_words import TOTAL_WORD, selected
from utmost.tables.axes.domain import Domain, Where
from utmost.tables.files import files
from utmost.tables.files.signatures import signer_of

_MOST_NAMED = 12
"""The largest number of tables that the screen lists as not written."""

ELSEWHERE = {
    "--minus": "Write utmost read RELEASE --where sex=women --minus sex=men.",
    "--over-column": "Write utmost read RELEASE --where sex=women --over-column COLUMN.",
    "--at": "Write utmost read RELEASE --at EPSILON.",
    "--plot": "Write utmost read RELEASE --plot margins.svg.",
    "--column": "Write --sum COLUMN.",
}
"""Options of other commands that people look for here, with advice."""

RARE = ("--sums", "--spread", "--variance", "--cumulative", "--plan")


def total(
    release: file_options.ReleaseFile,
    where: Annotated[
        list[str] | None,
        option("COLUMN=LABELS", "Cells to sum: department=A,B or sex=men,quarter=2013Q2,age=20..40 (without 40)."),
    ] = None,
    *,
    ratio: Annotated[bool, flag("Divide the sum of --where by the sum of --over (default: of all cells).")] = False,
    over: Annotated[
        list[str] | None, option("COLUMN=LABELS", "Cells of the denominator, written as for --where; or all.")
    ] = None,
    amount: Annotated[
        str | None,
        option("COLUMN", "Column of amounts to sum, also in ratios; by default people are counted.", "--sum"),
    ] = None,
    mean: Annotated[
        str | None, option("COLUMN", "Column of numbers or bins for a mean; a bin counts as its middle.")
    ] = None,
    values: Annotated[
        str | None,
        option(
            "NUMBERS",
            "Numbers for which the column's labels stand: all in order (20,35,55), or by name (old=90,none=0).",
        ),
    ] = None,
    sums: Annotated[
        file_options.File | None,
        file_options.file_option("FILE", "Release of sums, which are divided by the counts of RELEASE."),
    ] = None,
    median: Annotated[str | None, option("COLUMN", "Column of bins whose median is computed.")] = None,
    quantile: Annotated[str | None, option("COLUMN=Q", "Column of bins whose quantile is computed: age=1/4.")] = None,
    spread: Annotated[str | None, option("COLUMN", "Column of numbers whose standard deviation is computed.")] = None,
    variance: Annotated[str | None, option("COLUMN", "Column of numbers whose variance is computed.")] = None,
    cumulative: Annotated[
        str | None, option("COLUMN", "Column of bins; show the sum of all cells up to each bin.")
    ] = None,
    since: Annotated[
        list[file_options.File] | None,
        option(
            "FILE",
            "Earlier release to compare with; repeatable, oldest first.",
            "--since",
            parser=file_options.published,
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        option("DIR", "Folder for all tables as .csv, with margins and statements."),
    ] = None,
    plan: Annotated[
        file_options.File | None,
        file_options.file_option("FILE", "Plan whose tables --tables writes; default: the release's plan."),
    ] = None,
    sign: options.Sign = None,
    confidence: options.Confidence = DEFAULT_CONFIDENCE,
    answer: options.Output,
) -> None:
    """Compute any count, ratio, sum, mean or quantile from a release, with its margin of error.

    utmost total release.json --where sex=women --over all

    It costs no privacy. A ratio or mean is an interval, or "not determined" if noise hides the denominator.

    More: docs/howto/sums-means-medians.md
    """
    published = read_release(release)
    where = None if where is None else conditions(published, where)
    over = None if over is None else conditions(published, over)
    along = {"--spread": spread, "--variance": variance, "--cumulative": cumulative}
    other = {
        "--sum": amount,
        "--mean": mean,
        "--values": values,
        "--sums": sums,
        "--median": median,
        "--quantile": quantile,
        **along,
    }
    if tables is not None:
        questions: dict[str, Any] = {
            "--where": where,
            "--over": over,
            "--ratio": ratio or None,
            "--since": since,
            **other,
        }
        for name, given in questions.items():
            if given is not None:
                required = "--tables writes all tables, and answers no question"
                raise OutOfRange(required, came=name, remedy=f"Leave out {name}, or ask without --tables.")
        return _write_tables(published, tables, plan, sign, confidence, answer)

    for name, given in (("--sign", sign), ("--plan", plan)):
        if given is not None:
            raise OutOfRange(
                f"{name} needs --tables", came="none", remedy="Add a new folder, for example --tables tables."
            )

    if isinstance(published, NoisyTable) and since is not None:
        remedy = (
            "Compute both totals with --confidence 0.975: the sum of their margins is a margin of the "
            "difference, at confidence 0.95."
        )
        raise Unsupported("--since needs releases that utmost made", came="a table of declared noise", remedy=remedy)
    if since is not None:
        beside: dict[str, Any] = {name: value for name, value in other.items() if name not in ("--sum", "--mean")}
        _check_only_sum(beside, "--since", "a sum, ratio or mean")
        paths = [*since, release]
        names = (
            [path.name for path in paths] if len({path.name for path in paths}) == len(paths) else [*map(str, paths)]
        )
        releases = [*map(read_release, since), published]
        if mean is not None or ratio or over is not None:
            asked = _RatioQuestion(where or [], over, mean, amount, is_ratio=ratio or over is not None)
            report = _change_of_bars(releases, names, asked, confidence)
        else:
            report = _trend(releases, names, where or [], amount, confidence)
        return _give(answer, report, published)

    if isinstance(published, NoisyTable) or (isinstance(published, Answer) and not published.is_by_plan):
        report = _of_cells(
            published.cells,
            where or [],
            over or [],
            {name: value for name, value in other.items() if name != "--sum"},
            column=amount,
            is_ratio=ratio or over is not None,
            sure=confidence,
        )
        if isinstance(published, NoisyTable):
            report["guarantee"] = published.guarantee
        return _give(answer, report, published)

    if isinstance(published, DetailedSums):
        beside = {"--ratio": ratio or None, "--over": over, **other}
        _check_only_sum(beside, "a release in two stages")
        selection = counted_selection(published.first, where)
        report = _answered(published.total(selection, confidence=confidence), _question(where))
        return _give(answer, report, published)

    # From here on, a release by a plan is read; a table of several amounts has one for each amount.
    people: MeasuresTable | None = None
    if isinstance(published, MeasuresTable):
        named = amount if amount is not None else mean if mean in published.releases else None
        if named is not None and named not in published.releases:
            remedy = f"Write {' or '.join(f'--sum {name}' for name in published.releases)}."
            raise OutOfRange("--sum must name a released amount", came=repr(named), remedy=remedy)
        people = published if named is None else None
        published = Answer.of_sums(published.releases[named or next(iter(published.releases))])
    if not isinstance(published, Answer):
        remedy = "Name the release from which this file was made; or show the file with utmost read."
        raise Unsupported(
            "utmost total reads a released table, or a release by a plan", came="another file", remedy=remedy
        )
    read = published.table
    chosen = counted_selection(read, where)

    questions = {"--ratio or --over": ratio or over is not None, "--mean": mean is not None, "--sums": sums is not None}
    questions.update({"--median": median is not None, "--quantile": quantile is not None})
    questions.update({name: level_name is not None for name, level_name in along.items()})
    names = [name for name, is_asked in questions.items() if is_asked]
    if len(names) > 1:
        remedy = "Leave out one, and compute its figure by a second call, which costs no epsilon."
        raise OutOfRange(f"only one of {', '.join(names)} may be given", came="several", remedy=remedy)
    if values is not None and mean is spread is variance is None:
        raise OutOfRange(
            "--values needs --mean, --spread or --variance",
            came="none",
            remedy="Leave out --values; or name a column by one of the three options.",
        )
    if amount is not None:
        if names and names not in (["--ratio or --over"], ["--cumulative"]):
            raise OutOfRange(
                f"only one of --sum and {names[0]} may be given",
                came="both",
                remedy="Leave out one, and compute its figure by a second call, which costs no epsilon.",
            )
        try:
            read.check_amount(amount)
        except OutOfRange as error:  # the library's argument for --sum is column=, that of other options is not
            remedy = (error.remedy or "").replace("column=", "amount=")
            raise OutOfRange(error.required, came=error.came, remedy=remedy) from None

    question, counted = _question(where), quantity(read, amount)
    points: Any = "midpoints"  # or numbers for all labels, or for some: other bins then have their midpoints
    if values is not None:
        # Labels may contain commas, such as "[80000, inf)"; numbers contain none.
        if re.fullmatch(r"(.+?=[^=,]+,)*.+?=[^=,]+", values):
            pairs = re.findall(r"(.+?)=([^=,]+)(?:,|$)", values)
            points = {label.strip(): exact(number, "values") for label, number in pairs}
        else:
            points = [exact(part, "values") for part in values.split(",")]

    if not names:
        if people is not None:
            answered = people.total(chosen, confidence=confidence)
        else:
            answered = read.total(chosen, column=amount, confidence=confidence)
        report = _answered(answered, question)
    elif ratio or over is not None:
        below = counted_selection(read, over)
        if people is not None:
            bar = people.ratio(chosen, below, confidence=confidence)
        else:
            bar = read.ratio(chosen, below, column=amount, confidence=confidence)
        report = _bar(bar, f"{question} over {_question(over)}", "ratio")
    elif median is not None or quantile is not None:
        name, share = (
            (median, "1/2")
            if median is not None
            else options.named_value(
                str(quantile), "a quantile must be written as COLUMN=Q", "--quantile", f"--quantile {quantile}=1/4"
            )
        )
        lies = read.quantile(str(name), share, where=chosen, confidence=confidence)
        without = _without(read.domain, str(name))
        ends: list[str | float | None] = []
        for end in lies.interval:
            if isinstance(end, datetime):
                ends.append((end.date() if end.time() == time() else end).isoformat())
            else:
                ends.append(float(end) if isfinite(end) else None)
        report = {
            "question": f"{'median' if median is not None else f'{share} quantile'} of {name}{without}, {question}",
            "kind": "quantile",
            "value": lies.estimate,
            "labels": list(lies.labels),
            "interval": ends,
            "confidence": float(lies.confidence),
            "determined": True,
            "words": str(lies),
        }
    elif cumulative is not None:
        table = read.cumulative(cumulative, where=chosen, confidence=confidence, together=True)
        names_of_columns = (cumulative, *read.value_columns[0 if amount is None else -1])
        columns = [np.asarray(files.columns(table)[name]).tolist() for name in names_of_columns]
        report = {
            "question": f"{question}, up to each {cumulative}{_without(read.domain, cumulative)}",
            "kind": "cumulative",
            "values": [
                {"up_to": label, "value": value, "margin": margin, "interval": _interval(value, margin)}
                for label, value, margin in zip(*columns, strict=True)
            ],
            "confidence": float(read_confidence(confidence)),
            "determined": True,
        }
    elif spread is not None or variance is not None:
        level_name, kind = spread or str(variance), "variance" if spread is None else "standard deviation"
        ask = read.variance if spread is None else read.spread
        bar = ask(level_name, where=chosen, values=points, confidence=confidence)
        report = _bar(bar, f"{kind} of {level_name}, {question}", kind)
        report["of"] = _numbers(read, level_name, chosen, points)
    elif mean is not None:
        bar = read.mean(mean, where=chosen, values=points, confidence=confidence)
        report = _bar(bar, f"mean of {mean}, {question}", "mean")
        of_amounts = read.plan.amount_pair is not None and read.plan.amount_pair.amount.name == mean
        report["of"] = None if of_amounts else _numbers(read, mean, chosen, points)
        if report["of"] is not None:
            report["interval_of_values"] = _interval_of_values(read, mean, chosen, confidence)
    else:
        assert sums is not None
        other_sums = read_release(sums)
        if not isinstance(other_sums, Answer):
            remedy = "Name the .json file of a release by a plan: --sums sums.json."
            raise Unsupported("--sums must name a release by a plan", came="another file", remedy=remedy)
        bar = published.mean(sums=other_sums, where=chosen, confidence=confidence)
        report = _bar(bar, f"mean by {sums.name}, {question}", "mean")
    of_amount = read.unit.amount if amount is not None or mean is not None or not read.unit.is_shared else None
    if not names or ratio or over is not None or cumulative is not None:
        report["quantity"] = counted
    _give(answer, report, people or published, None if of_amount is None else of_amount.clipped)


def _give(answer: options.Output, report: dict[str, Any], published: Any, clipped: str | None = None) -> None:
    """Print or write an answer, with a sentence about the contributions that no figure of the release includes."""
    beyond = uncounted(published)
    if not answer.give(report | {"not_counted": beyond or None}):
        return
    sure = percent(report["confidence"])
    if report["kind"] in ("trend", "cumulative"):
        if report["kind"] == "trend":
            for title, answers in (("sum", report["values"]), ("change", report["changes"])):
                screen().print(
                    grid([report["question"], title], [[row["question"], _with_bar(row)] for row in answers])
                )
            all_of_them = "All these sums and changes"
        else:
            sums = [[str(row["up_to"]), _with_bar(row)] for row in report["values"]]
            screen().print(grid([report["question"], report["quantity"]], sums))
            all_of_them = "All"
        screen().print(ScreenText(f"{all_of_them} are within their margins at once, at {sure} confidence."))
        return screen().print(facts({"not counted": beyond})) if beyond else None
    if report["kind"] in ("sum", "difference"):
        low, high = report["interval"]
        shown = _with_bar(report)
        truth = f"{report['kind']} of the counted contributions" if beyond else f"true {report['kind']}"
        rows = {"margin": f"the {truth} is from {number(low, 12)} to {number(high, 12)}, at {sure} confidence"}
    elif report["kind"] == "quantile":
        shown = report["words"]
        rows = {"best guess": str(report["value"]), "margin": f"the true value is in this group, at {sure} confidence"}
        rows["more exactly"] = "for a narrower answer, declare narrower bins in the domain before the next release"
    elif report["determined"]:
        shown = report["words"]
        of = report.get("of")
        held = f"true {report['kind']} of the counted contributions"
        if of is not None:
            held = f"{report['kind']} of the {of}, not of the values in them"
        rows = {"estimate": number(report["value"]), "interval": f"contains the {held}, at {sure} confidence"}
        if (ends := report.get("interval_of_values")) is not None:
            low, high = ends
            rows["values"] = (
                f"the mean of the values is from {number(low)} to {number(high)}, if each value lies in its bin"
            )
    else:
        shown = "not determined"
        rows = {"why": f"at {sure} confidence the denominator may be 0: 0 is within its margin"}
    if "guarantee" in report:
        rows["promise"] = report["guarantee"]
    if beyond:
        rows["not counted"] = beyond
    if clipped is not None:
        rows["amounts"] = clipped
    of = f"{report['quantity']}, " if "quantity" in report else ""
    screen().print(ScreenText(f"{of}{report['question']}: {shown}", style="bold"), facts(rows))


def _write_tables(
    answered: Any, folder: Path, plan: Path | None, sign: Path | None, confidence: str, answer: options.Output
) -> None:
    """Write the tables that the plan of the release or of a file requests, or by default the measured tables."""
    if not isinstance(answered, Answer) or not answered.is_by_plan:
        remedy = "Leave out --tables: this release is a single table."
        raise Unsupported("--tables needs a release by a plan", came="another file", remedy=remedy)
    signer = None if sign is None else signer_of(sign)
    chosen_plan = answered.table.plan if plan is None else PLAN_FORM.read(plan)
    with progress_bar("Writing the tables"):
        release = with_confidence(answered.table, read_confidence(confidence))
        written = [*map(str, give_tables(release, chosen_plan, folder, signer))]
    if not written:
        remedy = "Name a plan with wanted tables: --plan plan.json."
        raise Unsupported("--tables needs a plan whose sums are tables", came="a plan of weighted sums", remedy=remedy)
    left_out = tables_left_out(answered.table, chosen_plan)
    if answer.give({"files": written, "left_out": left_out}):
        rows = {"written": ", ".join(written)}
        if left_out:
            named = ", ".join(left_out[:_MOST_NAMED]) + ", ..." * (len(left_out) > _MOST_NAMED)
            rows["left out"] = f"{named}: these tables can also be computed from this release; name them by --plan FILE"
        screen().print(facts(rows))


def _check_only_sum(other: dict[str, Any], what: str, allowed: str = "a sum") -> None:
    for name, value in other.items():
        if value is not None:
            raise OutOfRange(f"{what} can only be used with {allowed}", came=name, remedy=f"Leave out {name}.")


@dataclass(frozen=True, slots=True)
class _RatioQuestion:
    where: list[str]
    over: list[str] | None
    mean: str | None
    amount: str | None
    is_ratio: bool

    def in_words(self, read: NoisySums) -> str:
        """Return the question in words."""
        if self.mean is not None:
            return f"mean of {self.mean}, {_question(self.where)}"
        return f"{quantity(read, self.amount)}, {_question(self.where)} over {_question(self.over)}"

    def ask(self, answer: Answer[Any], sure: Fraction) -> RatioBar:
        """Return the ratio or mean in a release by a plan."""
        read: NoisySums = answer.table
        chosen = counted_selection(read, self.where)
        if self.mean is not None:
            return read.mean(self.mean, where=chosen, confidence=sure)
        return read.ratio(chosen, counted_selection(read, self.over), column=self.amount, confidence=sure)


def _change_of_bars(releases: list[Any], names: list[str], asked: _RatioQuestion, sure: str) -> dict[str, Any]:
    """Report the change of a ratio or mean between two releases."""
    given = [name for name, is_given in (("--sum", asked.amount), ("--ratio or --over", asked.is_ratio)) if is_given]
    if asked.mean is not None and given:
        remedy = f"Leave out {given[0]}, and compute it by a second call, which costs no epsilon."
        raise OutOfRange("--since compares only means if --mean is given", came=given[0], remedy=remedy)
    if len(releases) > 2:
        remedy = "Compare two files by one call; every call costs no epsilon."
        raise OutOfRange(
            "a ratio or mean can be compared only between two releases", came=f"{len(releases)} releases", remedy=remedy
        )
    answers = [
        Answer.of_sums(each.releases[asked.mean])
        if isinstance(each, MeasuresTable) and asked.mean is not None and asked.mean in each.releases
        else each
        for each in releases
    ]
    if not all(isinstance(each, Answer) and each.is_by_plan for each in answers):
        remedy = "Compare releases by a plan (--want, --mean); or compare sums: leave out --ratio, --over and --mean."
        raise Unsupported(
            "ratios and means can be compared only if each release has a plan", came="another file", remedy=remedy
        )
    bar = change_of_bars(answers[1], answers[0], asked.ask, sure)
    return _bar(bar, f"{asked.in_words(answers[1].table)}, since {names[0]}", "difference") | {"kind": "change"}


def _trend(releases: list[Any], names: list[str], where: list[str], column: str | None, sure: str) -> dict[str, Any]:
    """Report a sum in several releases, oldest first, and its changes; for two releases, only the change."""
    question, chosen = _question(where), list[dict[str, Any]]()
    for release in releases:  # the releases may have different columns
        if isinstance(release, Answer) and release.is_by_plan:
            chosen.append(counted_selection(release.table, where))
        else:
            pairs = (text.partition("=") for text in where)
            chosen.append({name.strip(): listed.split(",") for name, _, listed in pairs})
    if len(releases) == 2:
        answer = change(releases[1], releases[0], chosen[1], earlier_where=chosen[0], column=column, confidence=sure)
        latest = releases[1]
        is_by_plan = isinstance(latest, Answer) and latest.is_by_plan
        about = {"quantity": quantity(latest.table, column)} if is_by_plan else {}
        return _answered(answer, f"{question}, since {names[0]}") | {"kind": "difference"} | about
    course = trend(releases, each_where=chosen, column=column, confidence=sure)
    return {
        "question": question,
        "kind": "trend",
        "values": [_answered(answer, name) for name, answer in zip(names, course.values, strict=True)],
        "changes": [
            _answered(answer, f"{after} since {before}")
            for (before, after), answer in zip(pairwise(names), course.changes, strict=True)
        ],
        "confidence": float(course.confidence),
        "determined": True,
    }


def _of_cells(
    read: ReleasedCells,
    where: list[str],
    over: list[str],
    other: dict[str, Any],
    *,
    column: str | None,
    is_ratio: bool,
    sure: str,
) -> dict[str, Any]:
    """Report a sum or a ratio of the cells of a released table."""
    unknown = [name for name, value in other.items() if value is not None]
    if unknown:
        remedy = (
            "For a mean over cells write utmost read FILE --where LABELS --mean; a quantile needs a release by a "
            "plan (--want)."
        )
        raise OutOfRange(
            "utmost total computes only sums and ratios of a released table", came=unknown[0], remedy=remedy
        )
    if "count" in read.cells and read.counted and not isinstance(read, OneDrawCells):  # cells of a counted table
        check_counted(read.labels, [*where, *over], read.units_of_time)
    rows, question = read.chosen(where), _question(where)
    named = read.column(column)
    counted = f"number of {read.counted}" if named == "count" and read.counted else f"sum of {named}"
    if is_ratio:
        below = read.chosen([text for text in over if text != "all"])
        bar = read.ratio(rows, below, column=column, confidence=sure)
        return _bar(bar, f"{question} over {_question(over)}", "ratio") | {"quantity": counted}
    answer = read.total(rows, column=column, confidence=sure)
    return _answered(answer, question) | {"quantity": counted, "cells": len(rows)}


def _answered(answer: Estimate, question: str) -> dict[str, Any]:
    return {
        "question": question,
        "kind": "sum",
        "value": answer.value,
        "margin": answer.margin,
        "interval": _interval(answer.value, answer.margin),
        "variance": answer.variance,
        "confidence": float(answer.confidence),
        "determined": True,
    }


def _interval(value: float, margin: float) -> list[int | float]:
    """Return value - margin and value + margin, computed exactly from the printed decimals of value and margin."""
    if isinstance(value, int) and isinstance(margin, int):
        return [value - margin, value + margin]
    middle, off = Decimal(repr(value)), Decimal(repr(margin))
    return [float(middle - off), float(middle + off)]


def _bar(bar: RatioBar, question: str, kind: str) -> dict[str, Any]:
    ends = [end if isfinite(end) else None for end in (bar.lower, bar.upper)]
    return {
        "question": question,
        "kind": kind,
        "value": bar.estimate,
        "interval": ends,
        "confidence": float(bar.confidence),
        "determined": bar.determined,
        "words": str(bar),
    }


def _numbers(read: NoisySums, name: str, where: Where, points: Any) -> str | None:
    """Return in words which numbers represent bins in a mean; None if each label represents one value."""
    if not stand_for_bins(read.domain, name, where):
        return None
    return "middles of the bins" if isinstance(points, str) else "numbers given for the bins"


def _interval_of_values(read: NoisySums, name: str, where: Where, confidence: str) -> list[float] | None:
    """Return an interval for a mean of values anywhere in their bins; None if a bin is open or a mean undetermined."""
    try:
        bar = read.mean(name, where=where, values="ends", confidence=confidence)
    except OutOfRange:
        return None
    return [bar.lower, bar.upper] if bar.determined else None


def _without(domain: Domain, name: str) -> str:
    """Return in words the labels of an axis that have no position in its order; empty if there are none."""
    position, _ = domain.level_named(name)
    return f" without {' and '.join(map(str, extras))}" if (extras := domain.axes[position].extras) else ""


def _question(where: list[str] | None) -> str:
    return selected(where or [TOTAL_WORD])


def _with_bar(report: dict[str, Any]) -> str:
    return f"{number(report['value'], 12)} ± {number(report['margin'], 12)}"
