"""Write and print releases by a plan: the document with its signature, its tables, and screens."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from utmost.core.exact.defaults import CONFIDENCE
from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.numbers import read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.random_bits import secure
from utmost.errors import OutOfRange, UtmostError
from utmost.interfaces.cli.options.table_options import TableAnswer, give_table
from utmost.interfaces.cli.screens.release_screen import ladder_grid, ladder_report
from utmost.interfaces.cli.screens.screen import (
    DRY,
    NOT_IN_A_LEDGER,
    NOT_REMEMBERED,
    grid,
    number,
    percent,
    screen,
    shown_facts,
    warn_of_rule,
)
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenTable, ScreenText
from utmost.interfaces.documents.reports import print_json, with_repeated
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.promises.until import LadderStep, Until
from utmost.publish.releases.checked_sums import CheckedSums
from utmost.publish.releases.measures_table import MeasuresTable
from utmost.publish.releases.noisy_sums import NoisySums, SumsTable
from utmost.publish.releases.release_facts import short_bar
from utmost.publish.statements.stated_words import measures_in_words, sums_in_words
from utmost.publish.workloads.measuring.unit_charge import charge_of
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.planning.table_limits import budget_shares
from utmost.publish.workloads.sums_in_words import TOTAL_WORD, read_marginal
from utmost.publish.workloads.workload import narrowed
from utmost.tables.files import files
from utmost.tables.files.atomic import Writer, check_absent, check_absent_in, write_together
from utmost.tables.files.json_files import encoded
from utmost.tables.files.saving import Digest
from utmost.tables.files.sidecars import missing_document, publish, publish_again, table_writers
from utmost.tables.files.signatures import Signer, signature_path

_SHOWN = 40
"""Largest number of rows of tables on a screen."""

_MOST_MARGINALS = 256
"""Largest number of tables for which a command checks whether they follow from the noisy sums."""

_MOST_COMPARED = 16
"""Largest number of tables whose margins are compared with those of separate noise on each table."""

_MOST_GAINS = 8
"""Largest number of tables in the sentence of comparison."""

_MOST_BARS = 48
"""Largest number of tables whose margins are computed before a release, each in some hundredths of a second."""


def promised_bars(plan: Plan, confidence: Fraction) -> dict[str, int | float]:
    """Return the margins of the first 48 requested tables, before any draw."""
    # Ranges, prefixes and single sums are no tables, and have no margin here.
    return _requested_margins(NoisySums.without_data(Promise(noise=plan), plan.level or level_of(1), confidence))


def promised_column_bars(plan: Plan, confidence: Fraction) -> dict[str, dict[str, int | float]]:
    """Return {column: its margins} for counts, sums and means if one noise serves all three, else an empty dict."""
    return _column_bars(NoisySums.without_data(Promise(noise=plan), plan.level or level_of(1), confidence))


def _requested_margins(release: NoisySums) -> dict[str, int | float]:
    return {name: next(iter(release.bars(whole).values())) for name, whole in _with_bars(release.plan)}


def _column_bars(release: NoisySums) -> dict[str, dict[str, int | float]]:
    if not release.unit.is_shared:
        return {}
    return {name: next(iter(release.column_bars(whole).values())) for name, whole in _with_bars(release.plan)}


def _with_bars(plan: Plan) -> Iterable[tuple[str, list[str]]]:
    """Yield the name of each table whose margins are shown, and its axis levels, without selected labels."""
    for name, words in islice(requested_tables(plan).items(), _MOST_BARS):
        yield name, [word if isinstance(word, str) else word[0] for word in words]


def requested_tables(plan: Plan) -> dict[str, tuple[Any, ...]]:
    """Return, by name, the words that select each requested table; without a workload, each measured table."""
    if plan.workload is None and plan.rows is not None:
        return {}
    if plan.workload is None:
        amounts = plan.amount_pair
        marginals = [marginal if amounts is None else amounts.seen(marginal) for marginal in plan.shares]
        names = [plan.domain.level_names(marginal) for marginal in marginals if min(marginal, default=0) >= 0]
        return {" ".join(words): words for words in names}
    tables = {}
    for part in plan.workload.parts:
        try:
            tables[part.name] = read_marginal(plan.domain, part.name)
        except UtmostError:  # `utmost total` gives the margins of ranges, prefixes and single sums
            continue
    return tables


def margins_by_themselves(plan: Plan, at: Level, confidence: Fraction) -> dict[str, dict[str, int | float]]:
    """Return each requested table's margins with separate noise: at the whole level, and at its budget share."""
    margins: dict[str, dict[str, int | float]] = {}
    # A single table has the complete level.
    if plan.workload is None or plan.together is not None or len(plan.workload.parts) < 2:
        return margins
    amounts, budget = plan.amount_pair, budget_shares(plan.workload)
    for name, words in islice(requested_tables(plan).items(), _MOST_COMPARED):
        if all(isinstance(word, str) for word in words):
            marginal = plan.domain.marginal(words)
            marginal = marginal if amounts is None else amounts.both(marginal)
            shares = {marginal: 1 / (charge_of(plan.domain, plan.unit, {marginal: Fraction(1)}) or Fraction(1))}
            levels = {"alone": at, "split": at.scaled(budget[name])}
            margins[name] = {
                column: next(iter(promised_bars(Plan(plan.domain, plan.unit, shares, level=each), confidence).values()))
                for column, each in levels.items()
            }
    return margins


def own_budget(plan: Plan) -> str:
    """Return in words which part of epsilon each requested table would have if its noise were separate."""
    assert plan.workload is not None, "something is wanted"
    parts = set(budget_shares(plan.workload).values())
    if len(parts) > 1:
        return "its part of epsilon"
    (part,) = parts
    return {2: "half of epsilon", 3: "a third of epsilon"}.get(part.denominator, f"{part} of epsilon")


def planning_gain(
    planned: Mapping[str, int | float | None], by_themselves: Mapping[str, Mapping[str, int | float]], part: str
) -> str:
    """Return the gain of planning in words: margins by the plan, and by separate noise on each table."""
    bars = {name: bar for name in by_themselves if (bar := planned[name]) is not None}
    names = list(bars)[:_MOST_GAINS]
    more = ", ..." * (len(bars) > len(names))
    together = ", ".join(f"{_named(name)} ± {short_bar(bars[name])}" for name in names)
    split, alone = (", ".join(f"± {short_bar(by_themselves[name][of])}" for name in names) for of in ("split", "alone"))
    return (
        f"planned together: {together}{more}; if each table had separate noise, with {part}: {split}{more}; if "
        f"only one table were published, with all of epsilon: {alone}{more}"
    )


def check_document(out: Path | None, sign: Path | None, *, draws: bool = False) -> None:
    """Check, before any draw, that a release by a plan can be written."""
    if out is None and sign is not None:
        raise OutOfRange("--sign needs --out", came="none", remedy="Add --out release.json.")
    if out is not None:
        check_ending(out)
        for path in (out, signature_path(out)):
            check_absent(path, draws=draws)


def check_ending(out: Path) -> None:
    if out.suffix.lower() != ".json":
        name = out.with_suffix(".json")
        remedy = f"Write --out {name}; then write its tables as CSV files: utmost total {name} --tables DIR."
        raise OutOfRange(
            "a release of several tables must be written as .json", came=out.name, where="--out", remedy=remedy
        )


def is_of_cells(plan: Plan) -> bool:
    """Check whether only the cells of the domain were measured: then the release is one table."""
    return set(plan.shares) == {plan.domain.finest}


def give_tables(release: NoisySums, plan: Plan, folder: Path, signer: Signer | None) -> list[Path]:
    """Write each table that a plan requests to a CSV file, with its statement, all or none; return the files."""
    if folder.exists() and not folder.is_dir():
        raise OutOfRange(
            "--tables must name a folder", came=f"the file {folder.name}", remedy="Name a new folder: --tables tables."
        )
    tables, writers = requested_tables(plan), dict[Path, Writer]()
    for path, words in zip(file_names(folder, tables), tables.values(), strict=True):
        table = files.columns(_with_means(release, words))
        columns = {name: np.array(column, dtype=object) for name, column in table.items()}
        statement = SumsTable(release, words, release.unit.is_shared).statement
        writers |= table_writers(columns, statement, path, signer=signer)[0]
    check_absent_in(folder, writers)
    folder.mkdir(parents=True, exist_ok=True)
    write_together(writers)
    return list(writers)


def tables_left_out(release: NoisySums, plan: Plan) -> list[str]:
    """Return the names of tables that follow from the noisy sums and that the plan does not request."""
    domain, amounts = release.domain, release.plan.amount_pair
    written = {domain.marginal(read_marginal(domain, name)) for name in requested_tables(plan)}
    names = list[str]()
    for marginal in islice(domain.marginals(), _MOST_MARGINALS):
        seen = marginal if amounts is None else amounts.seen(marginal)
        name = domain.marginal_name(seen) or TOTAL_WORD
        if seen in written or name in names:
            continue
        try:
            release.reconstruction.check_marginal_determined(marginal if amounts is None else amounts.both(marginal))
        except UtmostError:  # it does not follow from the measured sums
            continue
        names.append(name)
    return names


def file_names(folder: Path, names: Iterable[str]) -> list[Path]:
    """Return a distinct CSV file in a folder for each name of a table."""
    paths: list[Path] = []
    for name in names:
        stem = re.sub(r"[^\w=.]+", "-", name).strip("-.") or TOTAL_WORD
        path = folder / f"{stem}.csv"
        while path in paths:
            path = path.with_name(f"{path.stem}-{len(paths)}.csv")
        paths.append(path)
    return paths


def release_by_plan(
    counted: CountedTable,
    promise: Promise,
    at: Level,
    confidence: Fraction,
    out: Path | None,
    signer: Signer | None,
    *,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Release a counted table by a promised plan, without a ledger; or show what the release would promise."""
    if not dry_run:
        return give_workload(drawn_sums(counted, promise, at, confidence), out, signer, as_json=as_json)
    release = CheckedSums.of(counted, promise, at, confidence).without_data
    plan, ladder = release.plan, planned_ladder(release.promise, release.level, release.confidence)
    if not as_json:
        return screen().print(*([ladder_grid(ladder)] if ladder else []), _screen_of(release, DRY))
    report = {
        "dry_run": True,
        "epsilon": level_text(release.level),
        "shares": {plan.domain.marginal_name(marginal): str(share) for marginal, share in plan.shares.items()},
        "confidence": float(release.confidence),
    }
    if ladder:
        report["ladder"] = ladder_report(ladder)
    report["error_bars"] = _requested_margins(release)
    if release.unit.is_shared:
        report["column_error_bars"] = _column_bars(release)
    if alone := margins_by_themselves(plan, release.level, release.confidence):
        report["by_themselves"] = alone
    if plan.clean_needs is not None:
        report["clean_needs"] = plan.clean_needs
    print_json(report)


def drawn_sums(counted: CountedTable, promise: Promise, at: Level, confidence: Fraction) -> NoisySums:
    """Draw the sums of a plan at a level, or at the first level that meets a stopping rule, without a ledger."""
    from utmost.publish.ledger.releasing import release

    with progress_bar("Noising"):
        if promise.until is None:
            return CheckedSums.of(counted, promise, at, confidence).draw(secure(None))
        sums: NoisySums = release(counted, promise, epsilon=at, confidence=confidence).table
    warn_of_rule(sums)
    return sums


def give_workload(
    release: NoisySums,
    out: Path | None,
    signer: Signer | None,
    *,
    as_json: bool,
    again: bool = False,
    headline: str = "Released.",
    repeated: bool | None = None,
) -> None:
    """Write the document of a release by a plan and its signature, both or none; then print."""
    # With `again`, the document may exist as the answer of a repeated request, and is compared.
    writers = document_writers(release, out, signer, again=again)
    if writers:
        write_together(writers)
    if as_json or out is None:
        # Without a file this output is the document, which has no field of a call.
        print_json(with_repeated(release.facts(), repeated if out is not None else None))
    if not as_json:
        shown = _screen_of(release, headline, ", ".join(map(str, writers)) or str(out or ""))
        tables = _fitting(shown_tables(release)) if out is not None else []
        screen(stderr=out is None).print(*tables, shown)


def give_cells(
    release: NoisySums,
    answer: TableAnswer,
    signer: Signer | None,
    *,
    again: bool = False,
    headline: str = "Released.",
    repeated: bool | None = None,
) -> None:
    """Write the table of a release's cells and its statement, with means of amounts; then print."""
    # With `again`, the file may exist as the answer of a repeated request, and is compared.
    amounts = release.plan.amount_pair
    finest = release.domain.finest
    marginal = release.domain.marginal_name(finest) if amounts is None else amounts.name(finest)
    table = _with_means(release, marginal)
    statement_with = SumsTable(release, marginal, amounts is not None).statement
    out = answer.file
    more = undetermined_means(table)
    facts = _screen_of(release, headline, "" if out is None else f"{out} and {out}.json", more)
    _give(table, statement_with, facts, answer, signer, again=again, repeated=repeated)


def _give(
    table: Any,
    statement_with: Callable[[Digest | None], dict[str, Any]],
    facts: ScreenGroup,
    answer: TableAnswer,
    signer: Signer | None,
    *,
    again: bool,
    repeated: bool | None,
) -> None:
    """Write a table and its statement, then print them with the promise."""
    out = answer.file
    written = None
    if out is not None:
        written = (publish_again if again else publish)(table, statement_with, out, signer)
    if answer.as_json:
        printed = written or {"statement": statement_with(None), "table": files.columns(table)}
        return print_json(with_repeated(printed, repeated))
    if out is None:
        give_table(table, answer.form)
        return screen(stderr=True).print(ScreenText(), facts)
    screen().print(*_fitting([shown_columns(table)]), facts)


def _fitting(shown: Iterable[ScreenText | ScreenTable]) -> list[ScreenText | ScreenTable]:
    """Return the tables that fit the width of the screen, and a line about tables that only the file has."""
    width, parts = screen().width, list(shown)
    fitting = [part for part in parts if isinstance(part, ScreenText) or part.least_width <= width]
    if wide := len(parts) - len(fitting):
        tables = "1 table is" if wide == 1 else f"{wide} tables are"
        fitting.append(ScreenText(f"{tables} wider than this screen: see the written file", style="dim"))
    return fitting


def _with_means(release: NoisySums, words: Any) -> Any:
    """Return one table of a release, with means if amounts were summed."""
    return release.with_means(words) if release.unit.is_shared else release[words]


def give_measures(
    measures: MeasuresTable,
    answer: TableAnswer,
    signer: Signer | None,
    *,
    again: bool = False,
    headline: str = "Released.",
    repeated: bool | None = None,
) -> None:
    """Write the table of several amounts and its statement; then print."""
    # With `again`, the file may exist as the answer of a repeated request, and is compared.
    then = "" if measures.is_in_ledger else NOT_IN_A_LEDGER
    more = undetermined_means(measures.table)
    facts = shown_facts(headline, measures_in_words(measures.statement), answer.file, more=more, then=then)
    _give(measures.table, measures.statement_with, facts, answer, signer, again=again, repeated=repeated)


def give_promised_measures(measures: MeasuresTable, answer: TableAnswer) -> None:
    """Print what a release of several amounts would promise, without a draw."""
    if answer.as_json:
        level, confidence = level_text(measures.level), float(read_confidence(answer.confidence))
        report = {"dry_run": True, "epsilon": level, "shares": measures.statement["shares"], "confidence": confidence}
        return print_json(report | {"column_error_bars": measures.column_bars()})
    facts, margins = measures_in_words(measures.statement), measures_margins(measures, answer.confidence)
    screen().print(shown_facts(DRY, facts, more={"margins": margins}, is_whole=True, then=NOT_IN_A_LEDGER))


def measures_margins(measures: MeasuresTable, confidence: str) -> str:
    """Return in words the margins of the columns of several amounts."""
    margins = ", ".join(" ".join(column_margin(*column)) for column in measures.column_bars().items())
    return f"{margins}; each at {percent(read_confidence(confidence))} confidence"


def shown_columns(table: Any) -> ScreenTable:
    """Return the first rows of a table of sums for a screen: numbers with margins, and means with intervals."""
    every = files.columns(table)
    columns = {name: list(column)[:_SHOWN] for name, column in every.items()}
    means = [name for name in columns if {f"{name}_lower", f"{name}_upper"} <= columns.keys()]
    margins = {name: f"{name}_margin" for name in columns}
    sums = [name for name in columns if margins[name] in columns]
    beside = {*sums, *(margins[name] for name in sums)}
    beside |= {f"{name}{end}" for name in means for end in ("", "_lower", "_upper")}
    labels = [name for name in columns if name not in beside]
    shown = [[str(cell) for cell in columns[name]] for name in labels]
    names, is_alone = list(labels), not labels and len(sums) + len(means) == 1
    for name in columns:
        if name in sums:
            cells, bars = ([number(cell, 12) for cell in columns[one]] for one in (name, margins[name]))
            is_one = len(cells) > 1 and len(set(bars)) == 1  # then the title has the margin
            names.append(f"{name}\n± {bars[0]}" if is_one else name)
            shown.append(cells if is_one else [f"{cell} ± {bar}" for cell, bar in zip(cells, bars, strict=True)])
        elif name in means:
            ends = zip(columns[name], columns[f"{name}_lower"], columns[f"{name}_upper"], strict=True)
            names.append(name)
            shown.append(
                [
                    "not determined"
                    if None in (mean, low, high)
                    else f"{number(mean, 12)}, {number(low, 12)} to {number(high, 12)}"
                    for mean, low, high in ends
                ]
            )
    if is_alone:
        names = [TOTAL_WORD]
    picture = grid(names, list(map(list, zip(*shown, strict=True))), left=len(labels))
    more = len(next(iter(every.values()))) - len(shown[0])
    return replace(picture, caption=f"and {more} more rows") if more > 0 else picture


def document_writers(
    release: NoisySums, out: Path | None, signer: Signer | None, *, again: bool = False
) -> dict[Path, Writer]:
    """Return writers for a document and its signature; with `again`, only for files that do not exist yet."""
    if out is None:
        return {}
    if again:
        return missing_document(release.facts(), out, signer)
    text = encoded(release.facts())
    writers: dict[Path, Writer] = {out: lambda file: file.write(text)}
    return writers if signer is None else writers | {signature_path(out): lambda file: file.write(signer(text))}


def with_confidence(release: NoisySums, confidence: Fraction) -> NoisySums:
    return replace(release, confidence=confidence)


def undetermined_means(table: Any) -> dict[str, str]:
    """Return a row that says how many means are empty cells; outside a terminal, the row says only that some are."""
    every = files.columns(table)
    means = [name for name in every if {f"{name}_lower", f"{name}_upper"} <= every.keys()]
    cells = [cell for name in means for cell in np.asarray(every[name], dtype=object).tolist()]
    empty = sum(cell is None or cell != cell for cell in cells)
    if not empty:
        return {}
    some = f"{empty} of {len(cells)} means are" if screen().is_terminal else "some means are"
    why = "the count of people is smaller than its margin"
    return {
        "not determined": f"{some} empty: {why}. With a larger epsilon, or with fewer columns in --by, more means are "
        f"determined"
    }


def _screen_of(
    release: NoisySums, headline: str, written: str = "", more: Mapping[str, str] | None = None
) -> ScreenGroup:
    """Return a release by a plan for a screen, with the margins of the requested tables."""
    rows = {"margins": _margins(release), **(more or {})}
    if headline == DRY and (cells := release.plan.clean_needs) is not None:
        rows["clean"] = no_clean_table(cells)
    if headline == DRY:
        rows |= planned_gain(release.plan, release.level, release.confidence)
        if release.promise.until is not None:
            rows["stops as soon as"] = f"{release.promise.until.words}; the epsilon spent is then smaller"
    facts = sums_in_words(release.statement, release)
    is_whole = not written and release.ledger_facts is None
    then = "" if release.ledger_facts is not None else NOT_REMEMBERED
    return shown_facts(headline, facts, more=rows, written=written, is_whole=is_whole, then=then)


def no_clean_table(cells: str) -> str:
    """Return the reason why `utmost clean` cannot round a release, and the option to add."""
    return (
        f"utmost clean cannot round a release of this plan, because {cells!r} has no budget share; add "
        f'--want "{cells}=1/100" for a small share'
    )


def _margins(release: NoisySums) -> str:
    if release.unit.is_shared:
        margins = "; ".join(
            f"{_named(name)}: {', '.join(' '.join(column_margin(*column)) for column in columns.items())}"
            for name, columns in _column_bars(release).items()
        )
    else:
        margins = ", ".join(f"{_named(name)} ± {number(bar)}" for name, bar in _requested_margins(release).items())
    return f"{margins}; each at {percent(release.confidence)} confidence"


def column_margin(column: str, bar: int | float) -> tuple[str, str]:
    """Return a column and its margin in words; a mean's margin depends on the number of events of its group."""
    mean, _, times = column.rpartition(" times ")
    return (
        (mean, f"± at most about {short_bar(bar)} / {times}")
        if mean.endswith("_mean")
        else (column, f"± {short_bar(bar)}")
    )


def planned_margins(plan: Plan, at: Level, confidence: Fraction) -> str:
    """Return the margins of the requested tables of a plan, before any draw."""
    return _margins(NoisySums.without_data(Promise(noise=plan), at, confidence))


def planned_ladder(promise: Promise, at: Level, confidence: Fraction) -> list[LadderStep]:
    """Return the levels at which a rule may stop a release by a plan, with margins of the tables that the rule uses."""
    until, noise = promise.until, promise.noise
    if until is None or not isinstance(noise, SumNoise):
        return []
    levels, steps = until.levels(at), list[LadderStep]()
    sure, read = (until.cell_confidence(noise, levels, one) for one in (confidence, CONFIDENCE))
    for level in levels:
        promised = Promise(noise=noise)
        shown, by_rule = (_read_margins(NoisySums.without_data(promised, level, one), until) for one in (sure, read))
        steps += [LadderStep(level, shown[name], until.least_accurate(by_rule[name]), name) for name in shown]
    return steps


def _read_margins(release: NoisySums, until: Until) -> dict[str, int | float]:
    """Return the margins that a stopping rule reads, of each table and, if there are several, each column."""
    tables = release.plan.tables
    read = {name for name, columns in tables.items() if until.reads(columns)}
    if not release.unit.is_shared:
        return {_named(name): bar for name, bar in _requested_margins(release).items() if name in read}
    names = {name for name, _ in release.value_columns}
    return {
        f"{_named(name)}: {column}": bar
        for name, columns in _column_bars(release).items()
        if name in read
        for column, bar in columns.items()
        if column in names
    }


def planned_gain(plan: Plan, at: Level, confidence: Fraction) -> dict[str, str]:
    """Return the gain of planning as a row of a screen; none for fewer than two requested tables."""
    alone = margins_by_themselves(plan, at, confidence)
    if len(alone) < 2:
        return {}
    planned = _requested_margins(NoisySums.without_data(Promise(noise=plan), at, confidence))
    amount = "" if plan.amount_pair is None else f"sums of {plan.amount_pair.amount.name}, "
    return {"gain": f"{amount}{planning_gain(planned, alone, own_budget(plan))}"}


def shown_tables(release: NoisySums) -> Iterable[ScreenText | ScreenTable]:
    """Yield the requested tables for a screen, smaller ones first, until the rows of a screen are used up."""
    hidden = 0
    for name, rows, columns in tables_by_size(release, _SHOWN):
        if columns is not None:
            yield shown_columns(columns)
            continue
        hidden += 1
        if hidden <= _MOST_BARS:
            yield ScreenText(f"{_named(name)}: {rows} rows, not shown", style="dim")


def tables_by_size(release: NoisySums, most: int) -> Iterable[tuple[str, int, Any]]:
    """Yield each requested table, smaller ones first: name, number of rows, and columns (None beyond ``most`` rows)."""
    domain, tables = release.domain, requested_tables(release.plan)
    sizes = {}  # numbers of rows, before any table is made
    for name, words in tables.items():
        marginal, narrow = narrowed(domain, words)
        sizes[name] = prod(size for axis, size in enumerate(domain.group_shape(marginal)) if axis not in narrow)
    left = most
    for name, words in sorted(tables.items(), key=lambda table: sizes[table[0]]):
        left -= sizes[name]
        yield name, sizes[name], None if left < 0 else _with_means(release, words)


def _named(name: str) -> str:
    return name or TOTAL_WORD
