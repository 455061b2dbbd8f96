"""Print what `utmost read` shows of publications without sums: points, keys, clean and withheld tables."""

from typing import Any

from utmost.interfaces.cli.screens.screen import facts, grid, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.cli.screens.workload_screens import shown_columns
from utmost.interfaces.documents.published_files import PublishedTable
from utmost.interfaces.documents.reports import print_json
from utmost.interfaces.documents.statement_readers import stated_release
from utmost.publish.promises.statement_kinds import NOISY_TABLE_KIND
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.detailed_release import DetailedSums
from utmost.publish.releases.measures_table import MeasuresTable
from utmost.publish.releases.withheld import WithheldTable
from utmost.tables.files import files

_SHOWN = 24  # rows of a published table on the screen


def show_detailed(release: DetailedSums, *, as_json: bool, written: str = "") -> None:
    """Print both tables of a release in two stages, and the release's statement in words."""
    if as_json:
        return print_json(release.facts())
    tables = [_picture(files.columns(table)) for table in release.tables if table is not None]
    details = (f"{name} from {bound} on" for name, bound in release.rule.facts()["details"].items())
    rule = f"each {release.rule.group} is broken down by its released sum: {', '.join(details)}"
    rows = {"level": f"{release.level}; the first table has {release.share} of it", "detail": rule}
    rows |= {"written": written} if written else {}
    screen().print(*tables, ScreenText(release.statement["guarantee"]), facts(rows))


def _picture(columns: dict[str, list[Any]]) -> Any:
    rows = [["" if cell is None else str(cell) for cell in row] for row in zip(*columns.values(), strict=True)]
    picture = grid(list(columns), rows[:_SHOWN], left=len(columns))
    if len(rows) > _SHOWN:
        picture.caption = f"and {len(rows) - _SHOWN} more rows"
    return picture


def show_published(
    published: Answer[Any] | DetailedSums | MeasuresTable | WithheldTable[Any] | PublishedTable, *, as_json: bool
) -> None:
    """Print a table and its statement in words."""
    if isinstance(published, DetailedSums):
        return show_detailed(published, as_json=as_json)
    statement = published.statement_with(None) if isinstance(published, WithheldTable) else dict(published.statement)
    is_document = isinstance(published.table, dict) and not all(
        isinstance(column, list) for column in published.table.values()
    )
    columns = {} if is_document else files.columns(published.table)
    if as_json:
        return print_json(statement | {"values": columns or published.table})
    console = screen()
    if columns:
        console.print(shown_columns(columns) if isinstance(published, MeasuresTable) else _picture(columns))
    words = statement.get("words")
    shown: list[Any] = [ScreenText(f"{words}\n")] if words else []
    if isinstance(published, PublishedTable):
        stated = published.stated
    elif isinstance(published, WithheldTable) and published.release["kind"] == NOISY_TABLE_KIND:
        stated = None  # utmost states nothing about a noisy table of another tool
    else:
        stated = stated_release(statement)
    if stated is None:
        return console.print(ScreenGroup(*shown, ScreenText(str(statement.get("guarantee") or ""))))
    console.print(
        ScreenGroup(*shown, ScreenText(stated.guarantee), facts({fact.label: fact.value for fact in stated.first}))
    )
