"""`utmost release --planar`: points noised as a whole, with their radius, promise and statement."""

from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from utmost.doors.cli import options, people_options
from utmost.doors.cli.screen import busy, number, percent, promised, screen, watched
from utmost.doors.cli.screen import grid as grid_of_texts
from utmost.doors.cli.table_options import give_table
from utmost.doors.documents.reports import print_json
from utmost.errors import OutOfRange
from utmost.publish.releases import PlacesRelease, rehearse_places, release_places
from utmost.publish.releases.places_statements import places_line, radius_name
from utmost.publish.statements.statement_files import check_free, publish, sidecar_path, signer_of
from utmost.publish.tables import files

_SHOWN = 12


def publish_places(
    table: Path,
    columns: list[str] | None,
    plane: options.Plane,
    promise: dict[str, Any],
    out: Path | None,
    sign: Path | None,
    *,
    as_json: bool,
    dry_run: bool,
    form: str | None = None,
) -> None:
    """Release the points of a table once and for all, and show them."""
    named = columns_of_points(columns, plane)
    check_free(table, out, sign)
    signer = None if sign is None else signer_of(sign)
    make = rehearse_places if dry_run else release_places
    with busy(f"Checking and noising {table.name}"):
        made = make(files.read(table), columns=named, per=plane.per or "1", **promise)
    said = None if made.table is None or out is None else publish(made.table, made.said, out, watched, signer)
    if not as_json:
        _show(made, out, form)
    elif made.table is None or out is not None:
        print_json(said or made.sidecar)
    else:
        print_json({"statement": made.sidecar, "table": files.columns(made.table)})


def columns_of_points(columns: list[str] | None, plane: options.Plane) -> list[str]:
    """The columns of the coordinates.

    Raises:
        OutOfRange: where there are none, or --planar was not said.
    """
    if not plane.planar:
        raise OutOfRange("--per needs --planar")
    if not columns:
        raise OutOfRange(
            "a point needs the columns of its coordinates", came="no --columns", remedy="--columns x,y, say."
        )
    return people_options.names_in(columns)


def _show(made: PlacesRelease, out: Path | None, form: str | None) -> None:
    """The statement, and the table: its first rows where it went to a file, CSV on standard output otherwise."""
    if made.table is None:
        whole = made.said(None)["guarantee"]
        screen().print(_statement(made, "Nothing was drawn. This is what a release would promise.", None, whole))
    elif out is None:
        give_table(made.table, form)
        screen(stderr=True).print(Text(), _statement(made, "Released.", None), sep="\n")
    else:
        names, rows = files.head(made.table, _SHOWN)
        shown = [at for at, name in enumerate(names) if name != radius_name(made.columns)]
        picture = grid_of_texts([names[at] for at in shown], [[row[at] for at in shown] for row in rows], left=0)
        if made.rows > len(rows):
            picture.caption = f"and {made.rows - len(rows)} more rows"
        screen().print(picture, _statement(made, "Released.", out))


def _statement(made: PlacesRelease, headline: str, out: Path | None, whole: str | None = None) -> Group:
    said = made.said(None)
    law = made.law
    rows = {
        "released": f"{', '.join(made.columns)}: one point a row ({made.rows} rows)",
        "public": ", ".join(made.public) or "no other column",
        "rows": {"declared": "listed beforehand", "observed": "found in the data, and reported"}[made.rows_from],
        "level": f"epsilon = {said['epsilon']} for each {law.per} of Euclidean distance, in the unit of the columns",
        "noise": f"Euclidean Laplace in {law.dimensions} dimensions, rounded afterwards to steps of {law.grid}",
        "why this noise": said["theorem"],
        "error bar": f"within {number(made.radius)} of each point, at {percent(made.confidence)} confidence",
    }
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    return promised(headline, whole or places_line(law), rows)
