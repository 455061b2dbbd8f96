"""Write the files of `utmost release` for a single table; print the promise in words, and cells with margins."""

from collections.abc import Mapping, Sequence
from typing import Any

from utmost.core.exact.written_levels import level_facts, level_words
from utmost.interfaces.cli.options.table_options import TableAnswer, give_table
from utmost.interfaces.cli.screens.screen import (
    DRY,
    NOT_IN_A_LEDGER,
    NOT_REMEMBERED,
    grid,
    number,
    screen,
    shown_facts,
    warn_of_rule,
)
from utmost.interfaces.cli.screens.terminal import ScreenColumn, ScreenTable, ScreenText
from utmost.interfaces.documents.reports import print_json
from utmost.publish.promises.cell_noise import OnceCells
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.statement_kinds import STATEMENT_KIND
from utmost.publish.promises.until import LadderStep
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.release_facts import ReleaseFacts
from utmost.publish.statements.stated_words import table_in_words
from utmost.tables.files import files
from utmost.tables.files.sidecars import publish
from utmost.tables.files.signatures import Signer

_SHOWN = 12  # the screen shows the first 12 rows of a release
_BAR = 24  # characters of the bars of a row


def _rows(names: Sequence[str], rows: Sequence[Sequence[str]], facts: ReleaseFacts, width: int) -> ScreenTable:
    """Return rows as a screen table: numbers beside their margins, and bars of this width (0 for none)."""
    columns: list[ScreenColumn] = []
    cells: list[list[Any]] = []
    promise = facts.statement["promise"]
    released, public = promise["columns"], promise["public"]
    margin = {name: names.index(f"{name}_margin") for name in released if f"{name}_margin" in names}
    for at, name in enumerate(names):
        column = [row[at] for row in rows]
        if name in margin:
            bars = [float(row[margin[name]]) for row in rows]
            columns.append(ScreenColumn(name, right=True, wraps=False))
            cells.append([f"{cell} ± {number(bar)}" for cell, bar in zip(column, bars, strict=True)])
            if width:
                columns.append(ScreenColumn(wraps=False, least=width + 1))
                cells.append(_bars(column, max(bars, default=0.0), width))
        elif name in released or name in public:
            columns.append(ScreenColumn(name, right=all(map(_is_number, column))))
            cells.append(list(column))
    more = facts.statement["rows"] - len(rows)
    return ScreenTable(columns, list(zip(*cells, strict=True)), True, f"and {more} more rows" if more > 0 else "")


def _bars(column: Sequence[str], margin: int | float, width: int) -> list[ScreenText]:
    """Return each number as a bar from zero to the upper end of its margin, with a dot at the number."""
    values = [float(cell) for cell in column]
    top = max((abs(value) for value in values), default=0.0) + float(margin)
    scale = width / top if top else 0.0
    lines: list[ScreenText] = []
    for value in values:
        end, off = abs(value) * scale, float(margin) * scale
        low, at, high = (min(width, max(0, round(x))) for x in (end - off, end, end + off))
        line = ScreenText("━" * low, style="cyan")
        line.append("─" * (at - low), style="dim")
        line.append("●", style="bold cyan")
        lines.append(line.append("─" * (high - at), style="dim"))
    return lines


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def give_promise(statement: dict[str, Any], answer: TableAnswer, ladder: Sequence[LadderStep] = ()) -> None:
    """Print, without a draw, what a release would promise, and the levels at which a rule may stop the release."""
    if answer.as_json:
        return print_json(statement | ({"ladder": ladder_report(ladder)} if ladder else {}))
    facts = _in_words(statement)
    shown = shown_facts(DRY, facts, is_whole=True, then=_next(facts))
    screen().print(*([ladder_grid(ladder)] if ladder else []), shown)


def ladder_grid(ladder: Sequence[LadderStep]) -> ScreenTable:
    """Return a screen table of the levels at which a rule may stop a release, with their margins."""
    first, then = "the release stops at epsilon", ["margin", "if every chosen cell is at least"]
    if any(one.table is not None for one in ladder):
        rows = [
            [level_words(one.level), one.table or "", f"± {number(one.margin)}", number(one.least)] for one in ladder
        ]
        return grid([first, "table", *then], rows, left=2)
    return grid(
        [first, *then], [[level_words(one.level), f"± {number(one.margin)}", number(one.least)] for one in ladder]
    )


def ladder_report(ladder: Sequence[LadderStep]) -> list[dict[str, Any]]:
    return [
        {**level_facts(one.level), **({} if one.table is None else {"table": one.table})}
        | {"margin": one.margin, "least_cell": one.least}
        for one in ladder
    ]


def give(release: Answer[Any], answer: TableAnswer, signer: Signer | None) -> None:
    """Write the files, then print: JSON for programs; the promise in words and the table for people."""
    warn_of_rule(release)
    table, out, written = release.table, answer.file, None
    if out is not None:
        written = publish(table, release.statement_with, out, signer)
    if answer.as_json:
        document = written or release.statement
        return print_json(document if out else {"statement": document, "table": files.columns(table)})
    facts = _in_words(release.statement_with(None))
    if out is not None:
        # Print the first rows, with bars if the terminal is wide enough; print no rows if it is too narrow for them.
        (names, rows), console = files.head(table, _SHOWN), screen()
        widths = _BAR // len(facts.statement["promise"]["columns"]), 0
        pictures = (_rows(names, rows, facts, width) for width in widths)
        fitting = [picture for picture in pictures if picture.least_width <= console.width]
        return console.print(*fitting[:1], shown_facts("Released.", facts, out, then=_next(facts)))
    give_table(table, answer.form)
    return screen(stderr=True).print(ScreenText(), shown_facts("Released.", facts, then=_next(facts)))


def _next(facts: ReleaseFacts) -> str:
    """Return advice for the next release: to use a ledger, if a ledger can relax releases with this noise."""
    # A ledger relaxes only noise that has an answer at every level. `OnceCells` has an answer at one level, but in a
    # ledger the same cells are promised as `CellNoise`.
    is_stored = facts.promise is not None and isinstance(facts.promise.noise, Noise | OnceCells)
    return NOT_REMEMBERED if is_stored and facts.is_relaxed else NOT_IN_A_LEDGER


def _in_words(statement: Mapping[str, Any]) -> ReleaseFacts:
    """Return a statement in words; for a plain table, import no other kind, which halves the start time."""
    if statement["kind"] == STATEMENT_KIND:
        return table_in_words(statement)
    from utmost.interfaces.documents.statement_readers import stated_release

    return stated_release(statement)
