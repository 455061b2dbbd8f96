"""`utmost domain`: check the declared values of columns against a file, or propose them from a public codebook."""

import unicodedata
import warnings
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from utmost.errors import BadTable, OutOfRange, PrivacyWarning
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.options.people_options import split_names
from utmost.interfaces.cli.screens.screen import facts, grid, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.documents.reports import print_json
from utmost.publish.counting.counted_events import count_table
from utmost.publish.counting.counting import Counting
from utmost.publish.counting.counting_report import SIMILAR, CountingReport, percent_lost
from utmost.publish.statements.counted_files import read_domain
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.axis_places import reader_of
from utmost.tables.cells.event_batches import read_events
from utmost.tables.cells.similar_identifiers import similar_identifiers
from utmost.tables.files.atomic import check_absent, write_together
from utmost.tables.files.codebooks import read_codebook
from utmost.tables.files.json_files import encoded, write_json

ColumnNames = Annotated[list[str] | None, option("NAMES", "Columns of the domain; by default all.")]


def check(
    events: file_options.TableOrFolder,
    *,
    domain: file_options.DomainFile = None,
    by: ColumnNames = None,
    person: Annotated[str | None, option("COLUMN", "Column that identifies persons.")] = None,
    spelling: table_options.NumberSpelling,
    out: Annotated[Path | None, option("FILE", "File for the report (.json); keep it secret.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show by column the share of unreadable, undeclared and empty cells, and declared values without rows.

    utmost domain check persons.csv --domain domain.json

    The shares are not noisy: do not publish them. Correct spellings in the domain; choose no values by the data.

    More: docs/howto/count-people.md
    """
    if domain is None:
        from utmost.interfaces.cli.commands.count_command import DOMAIN_REMEDY

        raise OutOfRange("--domain must name the declared domain", came="none", remedy=DOMAIN_REMEDY)
    table: Any = spelling.of(events, is_counted=True)
    declared = read_domain(domain)
    file = file_options.file_of(out)
    if file is not None:
        check_absent(file)

    axes = dict(zip(declared.columns, declared.axes, strict=True))
    if by is not None:
        axes = {name: axes[declared.columns[declared.level_named(name)[0]]] for name in split_names(by)}
    everybody = table  # with the rows and columns that `_readable` leaves out
    unreadable: dict[str, _Unreadable] = {}
    left_out: set[int] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        counting = Counting(each_row=True)
        try:
            counted = count_table(table, Domain(axes), counting, spelling=spelling.cells, outside="leave out")
        except BadTable:
            read = {name: _unreadable(table, axis, spelling) for name, axis in axes.items()}
            unreadable = {name: found for name, found in read.items() if found is not None}
            if not unreadable:
                raise
            left_out = {row for found in unreadable.values() for row in found.rows}
            table = _readable(table, axes, left_out, spelling)
            counted = count_table(table, Domain(axes), counting, spelling=spelling.cells, outside="leave out")
        assert counted.report is not None, "events were counted"
        whole = counted.report
        # `taken` counts rows under the label for other values, and with them missing values that have no label.
        taken: dict[str, int] = {}
        missing = {name: whole.missing.get(name, 0) for name in axes}
        without_rows: dict[str, list[Any]] = {name: [] for name in axes}
        totals = [len(axis.levels) for axis in axes.values()]
        for position, (name, axis) in enumerate(axes.items()):
            along = (*totals[:position], 0, *totals[position + 1 :])
            if axis.other is None and axis.missing is None and counted.domain.sums(counted.cells, along).all():
                continue
            # Count this column by itself: a row that is outside on another column has a value on this one.
            one_axis = Domain({name: axis})
            column = count_table(table, one_axis, counting, spelling=spelling.cells, outside="leave out")
            sums, labels = one_axis.sums(column.cells, one_axis.finest), [*axis.labels[0]]
            if axis.other is not None:
                taken[name] = int(sums[labels.index(axis.other)])
            if axis.missing is not None:
                missing[name] = int(sums[labels.index(axis.missing)])
            empty = (labels[row] for row in np.flatnonzero(sums == 0).tolist())
            without_rows[name] = [label for label in empty if label not in (axis.other, axis.missing)]
        similar = {
            name: _similar(table, axis, spelling)
            for name, axis in axes.items()
            if whole.outside.get(name) and axis.edges is None and len(axis.columns) == 1
        }

    persons, without_person = set[str](), 0
    if person is not None:
        for batch in read_events(everybody, [person], (), spelling.cells).batches():
            for cell in _listed(batch[person]):
                if cell is None or (isinstance(cell, str) and spelling.cells.is_missing(cell)):
                    without_person += 1
                else:
                    persons.add(str(cell))

    report: dict[str, Any] = {
        "kind": "utmost domain check",
        "warning": CountingReport.notice,
        "rows": whole.events + len(left_out),
        "outside_domain": whole.outside_domain,
        "unreadable": {
            name: {"cells": len(found.rows), "first_rows": found.rows[:_FIRST_ROWS], "problem": found.problem}
            for name, found in unreadable.items()
        },
        "axes": {
            name: {"outside": whole.outside.get(name, 0), "missing": missing[name]}
            | ({"other": taken[name]} if name in taken else {})
            | ({"similar": similar[name]} if similar.get(name) else {})
            | (
                {"without_rows": {"values": len(values), "first": [*map(str, values[:_FIRST_VALUES])]}}
                if values
                else {}
            )
            for name, values in without_rows.items()
        },
        **(
            {}
            if person is None
            else {"similar_persons": similar_identifiers([*persons]), "without_person": without_person}
        ),
    }
    if file is not None:
        write_together({file: lambda target: write_json(report, target)}, owner_only=True)
    if as_json or (out is not None and file is None):
        return print_json(report)
    rows = [
        [name, *(_share(found.get(kind), whole.events) for kind in ("outside", "missing", "other"))]
        for name, found in report["axes"].items()
    ]
    table_of_axes = grid(["column", "outside", "missing", 'in "other"'], rows, left=1)
    shown = {
        "rows": f"{report['rows']} in the file",
        **({"rows with unreadable cells": f"{len(left_out)}: they are in no share"} if left_out else {}),
        "outside on some column": _share(whole.outside_domain, whole.events),
    }
    for name, found in report["unreadable"].items():
        first = ", ".join(map(str, found["first_rows"])) + ", ..." * (found["cells"] > _FIRST_ROWS)
        shown[f"{name} unreadable"] = f"{found['cells']} (row {first}): {found['problem']}"
    for name, count in similar.items():
        if count:
            share = _share(count, whole.events)
            text = f"{share} differ from declared values only by blanks, capitals or accents: correct the values"
            shown[f"{name} outside"] = text
    for name, values in without_rows.items():
        if values:
            first = ", ".join(map(str, values[:_FIRST_VALUES])) + ", ..." * (len(values) > _FIRST_VALUES)
            shown[f"{name} without rows"] = f"{len(values)} of {axes[name].size} values: {first}"
    if similar_persons := report.get("similar_persons", 0):
        shown[f"{person}"] = (
            f"{similar_persons} persons {SIMILAR}: each spelling counts as another person, so correct the identifiers"
        )
    if without_person:
        shown["rows without a person"] = f"{without_person}: a release refuses rows in which {person} is empty"
    screen().print(ScreenGroup(ScreenText(CountingReport.notice, style="bold"), table_of_axes, facts(shown)))


_FIRST_ROWS, _FIRST_VALUES = 3, 10  # the report names the first 3 rows with a problem, and the first 10 values


class _Unreadable(NamedTuple):
    """Numbers of the rows with a cell that an axis cannot read, and in words the problem of the first of them."""

    rows: list[int]
    problem: str


def _unreadable(table: Any, axis: Axis, spelling: table_options.NumberSpelling) -> _Unreadable | None:
    """Return the rows with a cell that an axis cannot read; None if the axis can read every cell."""
    from utmost.interfaces.cli.option_words import in_options

    reader = reader_of(axis, spelling.cells)

    def problem(cells: list[Any]) -> BadTable | None:
        try:
            reader(dict(zip(axis.columns, map(list, zip(*cells, strict=True)), strict=True)))
        except BadTable as error:
            return BadTable(error.required, came=error.came, remedy=error.remedy)
        return None

    def refused(cells: list[tuple[str, Any]]) -> list[str]:
        if not cells or problem([cell for _, cell in cells]) is None:
            return []
        half = len(cells) // 2
        return refused(cells[:half]) + refused(cells[half:]) if half else [cells[0][0]]

    rows: list[int] = []
    first: Any = None
    known, bad, before = set[str](), set[str](), 0
    for batch in read_events(table, axis.columns, (), spelling.cells).batches():
        cells = list(zip(*(_listed(batch[name]) for name in axis.columns), strict=True))
        texts = list(map(repr, cells))  # True equals 1, and a list has no hash
        new = {text: cell for text, cell in zip(texts, cells, strict=True) if text not in known}
        known.update(new)
        bad.update(refused(list(new.items())))
        if bad:
            places = [position for position, text in enumerate(texts) if text in bad]
            first = cells[places[0]] if places and not rows else first
            rows += [before + position + 1 for position in places]
        before += len(cells)
    found = problem([first]) if rows else None
    return None if found is None else _Unreadable(rows, in_options(found))


def _readable(
    table: Any, axes: dict[str, Axis], rows: set[int], spelling: table_options.NumberSpelling
) -> dict[str, list[Any]]:
    """Return the columns of the axes, without the rows whose numbers are in ``rows``."""
    names = list(dict.fromkeys(name for axis in axes.values() for name in axis.columns))
    columns: dict[str, list[Any]] = {name: [] for name in names}
    before = 0
    for batch in read_events(table, names, (), spelling.cells).batches():
        cells = {name: _listed(batch[name]) for name in names}
        for name in names:
            columns[name] += [cell for row, cell in enumerate(cells[name], before + 1) if row not in rows]
        before += len(cells[names[0]])
    return columns


def _listed(column: Any) -> list[Any]:
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def _similar(table: Any, axis: Axis, spelling: table_options.NumberSpelling) -> int:
    """Count the rows whose text differs from a declared value only by blanks, capitals, accents or Unicode forms."""

    def plain(text: str) -> str:
        letters = unicodedata.normalize("NFKD", text).casefold()
        return " ".join("".join(letter for letter in letters if not unicodedata.combining(letter)).split())

    declared = {str(label) for label in axis.labels[0]}
    like, (column,) = set(map(plain, declared)), axis.columns
    cells = Counter[Any]()
    for batch in read_events(table, [column], (), spelling.cells).batches():
        cells.update(_listed(batch[column]))
    texts = {cell: count for cell, count in cells.items() if isinstance(cell, str)}
    return sum(count for text, count in texts.items() if text not in declared and plain(text) in like)


def _share(count: int | None, rows: int) -> str:
    """Return a number of rows and its percentage as text; percentages are rounded up, so that no loss shows as 0 %."""
    if count is None:
        return ""
    return f"{count} ({percent_lost(count, rows)})" if count else "0"


def propose(
    codebook: Annotated[
        file_options.File,
        file_options.file_argument("CODEBOOK", "Table of codes (.csv, .xlsx), Table Schema (.json) or DDI (.xml)."),
    ],
    *,
    by: ColumnNames = None,
    out: Annotated[Path | None, option("FILE", "File for the domain (.json).")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Propose a domain from a public codebook or data dictionary, never from the data.

    utmost domain propose codebook.csv --by region,sex --out domain.json

    A table has a row for each code (columns variable, code, label), or all codes in one cell: 1, men | 2, women. Read
    the proposal before you use it.

    More: docs/howto/count-people.md
    """
    if file_options.file_of(out) is not None:
        check_absent(Path(str(out)))
    variables = read_codebook(codebook)
    names = list(variables) if by is None else split_names(by)
    for name in names:
        if name not in variables:
            from difflib import get_close_matches

            near = get_close_matches(name, variables, 1)
            remedy = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(variables)}."
            raise OutOfRange("--by must name variables of the codebook", came=repr(name), remedy=remedy)
    axes = {name: axis for name in names if (axis := variables[name].axis()) is not None}
    if not axes:
        remedy = "Name other variables with --by, or write the domain by hand: docs/howto/count-people.md."
        raise OutOfRange(
            "the codebook must list the codes of at least one variable", came="none", where=str(codebook), remedy=remedy
        )
    proposed = Domain.of_facts(axes).facts()
    file, left = file_options.file_of(out), [name for name in names if name not in axes]
    if file is not None:
        write_together({file: lambda target: target.write(encoded(proposed))})
    if as_json or file is None:
        return print_json({"domain": proposed, "without_codes": left} if as_json else proposed)
    domain = Domain.of_facts(axes)
    rows = {}
    for name, axis in zip(domain.columns, domain.axes, strict=True):
        labels = [str(label) for label in axis.labels[0]]
        shown = labels if len(labels) <= 6 else [*labels[:3], "...", labels[-1]]
        rows[name] = f"{len(labels)} values: {', '.join(shown)}"
    if left:
        rows["without codes"] = f"{', '.join(left)}: declare them by hand, or leave them out"
    rows["written"] = str(file)
    rows["check it"] = f"utmost domain check DATA.csv --domain {file}"
    screen().print(
        ScreenGroup(
            ScreenText("This domain is proposed from the codebook alone. Read it before you use it.", style="bold"),
            facts(rows),
        )
    )


PARTS = (check, propose)
FIRST = ("--domain", "--by", "--person", "--out")
