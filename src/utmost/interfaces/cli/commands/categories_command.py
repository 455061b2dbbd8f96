"""`utmost categories`: find the best private report of one of k categories; draw and count reports."""

from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import natural
from utmost.core.exact.written_levels import level_facts
from utmost.design.local.block_families import balanced_family
from utmost.design.local.block_selection import BlockSelection
from utmost.design.local.categories import CategoryReport
from utmost.design.local.category_reports import CategoryCounts, is_lossless, report_categories
from utmost.design.local.subset_selection import SubsetSelection, best_report
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.interfaces.cli.options import file_options, people_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import facts, grid, number, screen
from utmost.interfaces.documents.reports import print_json
from utmost.interfaces.documents.surveys import SURVEY, Survey
from utmost.tables.files import csv_table, files
from utmost.tables.files.atomic import write_together
from utmost.tables.files.json_files import write_json
from utmost.tables.files.text_files import TextFile
from utmost.tables.frames.adapters import no_column

_SHOWN, _JOINT, _DIGITS = 24, "|", 18


def show_categories(report: dict[str, Any], on_phones: str) -> None:
    size = report["size"]
    of = f"{size} of {report['categories']} categories"
    kind = "a block" if report["short"] else "subset selection"
    shown = {
        "report": f"{of}: {kind}" if size > 1 else f"one of {report['categories']} categories: randomised response",
        "level": f"epsilon = {report['epsilon']} for each client",
        "contains the client's category": f"with probability {_value(report, 'inside')}",
        "contains another category": f"with probability {_value(report, 'outside')}, for each",
        "error of a count": f"{number(report['error'], 4)} sqrt(n) of n clients, in root mean square",
        "error is the least": "checked"
        if report["least"]
        else "no: reports with another number of categories have a smaller error",
        "randomised response": f"has the error {number(report['response_error'], 4)} sqrt(n)",
    }
    if report["short"]:
        shown["length of a report"] = f"{report['bits']} bits; {report['set_bits']} bits if a report may be any set"
    if report["relaxed"] is not None:
        relaxed = report["relaxed"]
        verdict = {True: "lossless", False: "not lossless, by theorem", None: "not decided: there are too many blocks"}
        shown["relaxed to"] = f"epsilon = {relaxed['epsilon']}"
        shown["with the same size"] = f"lossless; the error is {number(relaxed['same_size_error'], 4)} sqrt(n)"
        shown[f"with the best size, {relaxed['size']}"] = (
            f"{verdict[relaxed['lossless']]}; the error is {number(relaxed['error'], 4)} sqrt(n)"
        )
    shown["on phones"] = on_phones
    screen().print(facts(shown))


def _value(report: dict[str, Any], name: str) -> str:
    exactly = report[f"{name}_exact"]
    return exactly if exactly is not None and len(exactly) < 16 else number(report[name])


RARE = ("--size", "--short", "--save", "--survey", "--up-to")


def categories(
    *,
    labels: Annotated[list[str] | None, option("NAMES", "Categories, fixed beforehand, separated by commas.")] = None,
    categories: Annotated[int | None, option("K", "Number of categories, in place of --labels.")] = None,
    level: options.LevelOptions,
    size: Annotated[
        int | None, option("D", "Number of categories in a report; by default the number with the least error.")
    ] = None,
    short: Annotated[
        bool,
        flag(
            "Report only the index of a set of categories in a fixed list of sets (blocks); the error stays the same.",
            "--short",
        ),
    ] = False,
    save: Annotated[
        Path | None, option("FILE", "File for the survey's labels, level and blocks; needs --short.")
    ] = None,
    survey: Annotated[
        file_options.File | None,
        file_options.file_option("FILE", "Survey that --save wrote, in place of --labels and --epsilon."),
    ] = None,
    up_to: Annotated[
        str | None, option("NUMBER", "Show whether reports can be relaxed to this larger epsilon.")
    ] = None,
    table: Annotated[
        file_options.File | None,
        file_options.file_option("TABLE", "Table with a client's true category in each row.", "--file"),
    ] = None,
    column: Annotated[str | None, option("NAME", "Column of --file with the categories.")] = None,
    reports: Annotated[
        file_options.File | None, file_options.file_option("FILE", "Reports to count, which --out wrote.")
    ] = None,
    spelling: table_options.TextFileOptions,
    out: Annotated[Path | None, option("FILE", "File for the drawn reports.")] = None,
    form: options.Format = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the best private report of one of k categories; draw reports, or count them.

    utmost categories --labels bus,car,cycle,foot --epsilon 1/2

    More: docs/tutorial/collect-answers.md
    """
    how: CategoryReport
    if survey is not None:
        if short or level.is_given or any(setting is not None for setting in (labels, categories, size, save)):
            raise OutOfRange(
                "--survey already gives labels, epsilon and blocks",
                came="another option for one of these",
                remedy="Leave out --labels, --categories, --epsilon, --size, --short and --save.",
            )
        saved = SURVEY.read(survey)
        names, how = list(saved.labels), saved.how
    else:
        if (labels is None) == (categories is None):
            came = "neither" if labels is None else "both"
            remedy = "Write --labels bus,car,foot; or --categories 3 for categories without names."
            raise OutOfRange("exactly one of --labels and --categories must be given", came=came, remedy=remedy)
        if labels is None:
            names = [str(k) for k in range(natural(categories, "categories", least=2))]
        else:
            names = people_options.split_names(labels)
            if len(names) < 2 or len(set(names)) != len(names) or any(_JOINT in name for name in names):
                raise OutOfRange(
                    f"--labels must be two or more different names without {_JOINT!r}",
                    came=repr(",".join(names)),
                    remedy="Write, for example, --labels bus,car,foot.",
                )
        at = level.read()
        how = best_report(len(names), at) if size is None else SubsetSelection(len(names), size, at)
        if short:
            how = BlockSelection(balanced_family(len(names), how.size), at)

    if (table is not None) + (reports is not None) + (up_to is not None) > 1:
        raise OutOfRange(
            "only one of --file, --reports and --up-to may be given",
            came="several",
            remedy="Give only one of these options.",
        )
    if table is not None:
        return _draw(spelling.of(table), column, names, how, out, form)
    if column is not None or out is not None:
        raise OutOfRange(
            "--column and --out need --file",
            came="no --file",
            remedy="Add --file TABLE, or leave out --column and --out.",
        )
    if reports is not None:
        return _count(spelling.of(reports), names, how, as_json=as_json)
    if save is not None:
        if not isinstance(how, BlockSelection):
            raise OutOfRange(
                "--save needs --short", came="no --short", remedy="Add --short: only short reports need a file."
            )
        document = SURVEY.document(Survey(tuple(names), how))
        write_together({save: lambda opened: write_json(document, opened)})
    report = _report(how, up_to)
    if as_json:
        return print_json(report)
    saved_as = save or survey or "survey.json"
    export = f"utmost export {saved_as}{'' if how.level.is_rational else ' --round'} --to js --out phone"
    needs = " ".join(word for word, there in (("--short", short), ("--save survey.json", save)) if not there)
    show_categories(report, export if save or survey else f"add {needs}; then {export}")


def _report(how: CategoryReport, up_to: str | None) -> dict[str, Any]:
    response = SubsetSelection(how.categories, 1, how.level)
    relaxed: dict[str, Any] | None = None
    if up_to is not None:
        later: CategoryReport = best_report(how.categories, up_to)
        if not how.is_complete:
            later = BlockSelection(balanced_family(how.categories, later.size), later.level)
        if later.level < how.level:
            remedy = "Pass a larger --up-to, or a smaller --epsilon."
            raise OutOfRange("--up-to must be at least --epsilon", came=up_to, remedy=remedy)
        relaxed = {**level_facts(later.level), "size": later.size, "lossless": None, "error": _error(later)}
        with suppress(Unsupported):  # otherwise it stays undecided whether the reports can be relaxed without loss
            relaxed["lossless"] = is_lossless(how, later)
        relaxed["same_size_error"] = _error(how.at(later.level))
    return {
        "categories": how.categories,
        "size": how.size,
        "short": not how.is_complete,
        "bits": None if how.is_complete else how.bits,
        "set_bits": None if how.is_complete else SubsetSelection(how.categories, how.size, how.level).bits,
        **level_facts(how.level),
        **_number("inside", how.inside),
        **_number("outside", how.outside),
        **_number("variance", how.variance),
        "least_variance": float(how.least_variance),
        "error": _error(how),
        "least": how.verify(),
        "response_error": _error(response),
        "relaxed": relaxed,
    }


def _error(how: CategoryReport) -> float:
    """Return the root mean square error of the estimated count of one category, if there is one client."""
    return float((float(how.variance) / how.categories) ** 0.5)


def _number(name: str, value: Fraction | float) -> dict[str, Any]:
    return {name: float(value), f"{name}_exact": str(value) if isinstance(value, Fraction) else None}


def _draw(
    table: Path, column: str | None, names: list[str], how: CategoryReport, out: Path | None, form: str | None
) -> None:
    """Draw a report for the category in each row, and write or print the reports in the order of the rows."""
    if column is None:
        raise OutOfRange(
            "--file needs --column",
            came="none",
            remedy="Add the column of the categories, for example --column transport.",
        )
    file = table_options.output(out, form)
    table_options.check_output(file)
    numbers = {name: k for k, name in enumerate(names)}
    values = []
    for line, cell in _cells(table, column):
        if cell not in numbers:
            remedy = "Correct the cell, or add its text to --labels."
            raise BadTable(
                "every cell must be one of the labels",
                came="another text",
                where=f"{table}, line {line}",
                remedy=remedy,
            )
        values.append(numbers[cell])
    drawn = report_categories(values, how).tolist()
    report = {"report": [_JOINT.join(names[k] for k in some) for some in drawn] if how.is_complete else drawn}
    report["epsilon"] = [_option(how.level)] * len(values)
    if file is None:
        return table_options.give_table(report, form)
    write_together({file: lambda opened: files.write(report, opened, file)})
    screen().print(facts({"written": f"{len(values):,} reports to {file}, each private at its level"}))


def _option(level: Level) -> str:
    """Return a level in the form that --epsilon accepts and a text file can contain: 1/2, or 1/2ln3."""
    if level.base is None:
        return str(level.power)
    return f"{'' if level.power == 1 else level.power}ln{1 / level.base}"


def _cells(table: Path, column: str) -> list[tuple[int, str]]:
    """Return the cells of a column with their line numbers, or row numbers in a file without lines."""
    if files.ending_of(table) not in files.TEXT_ENDINGS:
        columns = files.columns(files.read(table))
        if column not in columns:
            raise no_column(column, list(columns))
        return [(row, str(cell).strip()) for row, cell in enumerate(columns[column], start=1)]
    table = TextFile.of(table)
    records = list(csv_table.records(table))
    if not records or column not in records[0][1]:
        raise no_column(column, records[0][1] if records else [])
    at = records[0][1].index(column)
    short = next((line for line, record in records[1:] if len(record) <= at), None)
    if short is not None:
        raise BadTable(
            f"every row must have a cell in column {column!r}",
            came="a shorter row",
            where=f"{table}, line {short}",
            remedy="Complete the row, or name the separator: --separator.",
        )
    return [(line, record[at].strip()) for line, record in records[1:]]


def _count(reports: Path, names: list[str], how: CategoryReport, *, as_json: bool) -> None:
    """Estimate from reports how many clients are in each category, and print the estimates with their errors."""
    numbers, read = {name: k for k, name in enumerate(names)}, list[Any]()
    own = _option(how.level)
    for line, cell in _cells(reports, "epsilon") if "epsilon" in files.columns(files.read(reports)) else ():
        if cell != own:
            required = f"a report must be drawn at epsilon {own}"
            remedy = f"Add --epsilon {cell}, or the --survey of these reports."
            raise BadTable(
                required, came=f"a report drawn at epsilon {cell}", where=f"{reports}, line {line}", remedy=remedy
            )
    for line, cell in _cells(reports, "report"):
        if how.is_complete:  # a report is a set of labels
            members = cell.split(_JOINT)
            if len(members) != how.size or not all(member in numbers for member in members):
                raise BadTable(
                    f"a report must contain {how.size} of the labels",
                    came="another cell",
                    where=f"{reports}, line {line}",
                    remedy="Give the --labels, --epsilon and --size with which the reports were drawn.",
                )
            read.append([numbers[member] for member in members])
        else:  # a report is the number of a block
            if not cell.isascii() or not cell.isdigit() or len(cell) > _DIGITS:
                raise BadTable(
                    "a short report must be the number of a block",
                    came="another cell",
                    where=f"{reports}, line {line}",
                    remedy="Leave out --short, or --survey, if the reports are lists of labels.",
                )
            read.append(int(cell))
    if not read:  # otherwise each count would be 0 with the error 0
        remedy = "Name a file with a row for each report: utmost categories --file ANSWERS --column NAME --out FILE."
        raise BadTable(
            "the file of --reports must have at least one report", came="none", where=str(reports), remedy=remedy
        )
    drawn: Any = np.array(read, np.int64)
    counted = CategoryCounts.of(drawn.reshape(-1, how.size) if how.is_complete else drawn, how)
    estimates, errors = counted.estimates(how).tolist(), counted.errors(how).tolist()
    rows = [
        {"category": name, "estimate": value, "error": error}
        for name, value, error in zip(names, estimates, errors, strict=True)
    ]
    if as_json:
        return print_json({"clients": counted.clients, **level_facts(how.level), "size": how.size, "counts": rows})
    head = {"clients": f"{counted.clients:,}", "level": f"epsilon = {level_facts(how.level)['epsilon']}"}
    head["margin"] = "about 1.96 standard errors, for 95 % confidence"
    screen().print(facts(head))
    shown = [[row["category"], f"{row['estimate']:,.1f}", f"{row['error']:,.1f}"] for row in rows]
    screen().print(grid(["category", "clients", "standard error"], shown[:_SHOWN]))
