"""What `utmost release` shows and writes of a table: the promise in words, and cells with their error bars."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group, JustifyMethod
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from utmost.doors.cli.screen import number, percent, promised, screen, watched
from utmost.doors.cli.table_options import TableAnswer, give_table
from utmost.doors.documents.reports import print_json
from utmost.publish.releases import TableRelease
from utmost.publish.releases.table_statements import assumed_line, promise_line
from utmost.publish.statements.statement_files import Signer, publish, sidecar_path
from utmost.publish.tables import files

if TYPE_CHECKING:
    from utmost.publish.releases import PlacesRelease

_SHOWN = 12
_BAR = 24
_WIDEST = 1 << 12  # characters: a table is measured as if there were room


def _statement(release: TableRelease, headline: str, out: Path | None, whole: str | None) -> Group:
    statement = release.said(None)
    plan = release.plan
    sure = percent(release.plan.confidence)
    rows = {
        "released": f"{', '.join(release.columns)} ({release.rows} rows)",
        "public": ", ".join(release.public) or "no other column",
        "rows": {"declared": "listed beforehand", "observed": "found in the data, and reported"}[release.rows_from],
        "level": f"epsilon = {statement['epsilon']} in all, epsilon = {statement['per_cell']['epsilon']} for each cell",
        "one individual": f"{assumed_line(plan.unit, 'released cell')} ({statement['neighbours']})",
        "noise": _noise(release),
        "why this noise": release.plan.theorem,
        "error bar": f"± {number(release.radius)} around each released cell, at {sure} confidence",
    }
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    return promised(headline, whole or promise_line(plan.level, plan.unit.neighbours), rows)


def _noise(release: TableRelease) -> str:
    snapped = "" if release.plan.grid is None else f", in steps of {release.plan.grid}"
    return f"{release.plan.drawn!r}{snapped}"


def _picture(release: TableRelease) -> Table:
    """The first rows, each released number with its error bar, drawn where the terminal is wide enough."""
    drawn, console = _rows(release, _BAR // len(release.columns)), screen()
    needed = console.measure(drawn, options=console.options.update(width=_WIDEST)).minimum
    return drawn if needed <= console.width else _rows(release, 0)


def _rows(release: TableRelease, width: int) -> Table:
    """The first rows, with pictures of this width."""
    names, rows = files.head(release.table, _SHOWN)
    radii = {f"{name}_radius" for name in release.columns}
    picture = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    cells: list[list[Any]] = []
    for at, name in enumerate(names):
        column = [row[at] for row in rows]
        if name in release.columns:
            picture.add_column(escape(name), justify="right", no_wrap=True)
            cells.append([f"{cell} ± {number(release.radius)}" for cell in column])
            if width:
                picture.add_column("", no_wrap=True, min_width=width + 1)
                cells.append(_bars(column, release.radius, width))
        elif name not in radii:
            justify: JustifyMethod = "right" if all(map(_is_number, column)) else "left"
            picture.add_column(escape(name), justify=justify, overflow="fold")
            cells.append([escape(cell) for cell in column])
    for row in zip(*cells, strict=True):
        picture.add_row(*row)
    if release.rows > len(rows):
        picture.caption = f"and {release.rows - len(rows)} more rows"
    return picture


def _bars(column: Sequence[str], radius: int | float, width: int) -> list[Text]:
    """Each number as a bar from zero, its end between the two ends of its error bar."""
    values = [float(cell) for cell in column]
    top = max((abs(value) for value in values), default=0.0) + float(radius)
    scale = width / top if top else 0.0
    return [_bar(abs(value) * scale, float(radius) * scale, width) for value in values]


def _bar(end: float, radius: float, width: int) -> Text:
    low, at, high = (min(width, max(0, round(x))) for x in (end - radius, end, end + radius))
    line = Text("━" * low, style="cyan")
    line.append("─" * (at - low), style="dim")
    line.append("●", style="bold cyan")
    return line.append("─" * (high - at), style="dim")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def give(
    release: "TableRelease | PlacesRelease",
    answer: TableAnswer,
    signer: Signer | None,
    statement: Callable[[str, Path | None, str | None], Group],
    picture: Callable[[], Table],
) -> None:
    """Write the files, then print: JSON for programs; for people the statement, and the table as it was asked for.

    Args:
        release: what was released; without a table what would be.
        answer, signer: where it goes, and who signs.
        statement: from a headline, the file, and the promise in full if any, to what people read.
        picture: of the first rows, for a table that went to a file.
    """
    table, out, written = release.table, answer.file, None
    if table is not None and out is not None:
        written = publish(table, release.said, out, watched, signer)
    if answer.as_json:
        whole = written or release.sidecar
        return print_json(whole if table is None or out else {"statement": whole, "table": files.columns(table)})
    if table is None:
        headline = "Nothing was drawn. This is what a release would promise."
        return screen().print(statement(headline, None, release.said(None)["guarantee"]))
    if out is not None:
        return screen().print(picture(), statement("Released.", out, None))
    give_table(table, answer.form)
    return screen(stderr=True).print(Text(), statement("Released.", None, None), sep="\n")


def give_cells(release: TableRelease, answer: TableAnswer, signer: Signer | None) -> None:
    """Give a table whose cells were noised each by itself."""
    give(release, answer, signer, partial(_statement, release), partial(_picture, release))
