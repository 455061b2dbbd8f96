"""What `utmost release` shows and writes of a table: the promise in words, and cells with their error bars."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group, JustifyMethod
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from utmost.doors.cli.screen import number, percent, promised, screen, watched
from utmost.doors.cli.table_options import give_table
from utmost.doors.documents.reports import print_json
from utmost.publish.releases import TableRelease
from utmost.publish.releases.table_statements import assumed_line, promise_line
from utmost.publish.statements.statement_files import Signer, publish, sidecar_path
from utmost.publish.tables import files

_SHOWN = 12
_BAR = 24
_WIDEST = 1 << 12  # characters: a table is measured as if there were room


def show_release(release: TableRelease, out: Path | None, form: str | None = None) -> None:
    """Print the statement, and the table: as a picture where it went to a file, as CSV on standard output otherwise."""
    if release.table is None:
        whole = release.said(None)["guarantee"]
        screen().print(_statement(release, "Nothing was drawn. This is what a release would promise.", None, whole))
    elif out is None:
        give_table(release.table, form)
        screen(stderr=True).print(Text(), _statement(release, "Released.", None), sep="\n")
    else:
        screen().print(_picture(release), _statement(release, "Released.", out))


def _statement(release: TableRelease, headline: str, out: Path | None, whole: str | None = None) -> Group:
    said = release.said(None)
    plan = release.plan
    sure = percent(release.plan.confidence)
    rows = {
        "released": f"{', '.join(release.columns)} ({release.rows} rows)",
        "public": ", ".join(release.public) or "no other column",
        "rows": {"declared": "listed beforehand", "observed": "found in the data, and reported"}[release.rows_from],
        "level": f"epsilon = {said['epsilon']} in all, epsilon = {said['per_cell']['epsilon']} for each cell",
        "one individual": f"{assumed_line(plan.unit, 'released cell')} ({said['neighbours']})",
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
    made: TableRelease, out: Path | None, signer: Signer | None, *, as_json: bool, form: str | None = None
) -> None:
    """Write the files, then print: JSON for programs, a screen for people."""
    said = None
    if made.table is not None and out is not None:
        said = publish(made.table, made.said, out, watched, signer)
    if not as_json:
        show_release(made, out, form)
    elif made.table is None or out is not None:
        print_json(said or made.sidecar)
    else:
        print_json({"statement": made.sidecar, "table": files.columns(made.table)})
