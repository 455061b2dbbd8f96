"""`utmost release --planar`: points noised as a whole, with their radius, promise and statement."""

from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table

from utmost.doors.cli.promise_options import points_of
from utmost.doors.cli.release_options import ReleaseOptions
from utmost.doors.cli.release_screen import give
from utmost.doors.cli.screen import grid, number, percent, promised
from utmost.laws.exact.long_work import long_work
from utmost.publish.ledger import Promise
from utmost.publish.releases import PlacesRelease, rehearse_places, release_places
from utmost.publish.releases.places_statements import places_line, radius_name
from utmost.publish.statements.statement_files import sidecar_path
from utmost.publish.tables import files

_SHOWN = 12


def publish_places(table: Path, promise: Promise, told: ReleaseOptions) -> None:
    """Release the points of a table once and for all, and show them."""
    answer, points = told.answer, points_of(promise)
    assert points is not None, "the promise is of points"
    answer.check_free(table)
    signer = answer.signer
    words: dict[str, Any] = {"columns": promise.columns, "public": promise.public, "drop": promise.drop}
    words |= {"rows": promise.rows, "id_column": promise.id_columns, "per": points.per, "grid": points.declared}
    with long_work(f"Checking and noising {table.name}"):
        publish_points = rehearse_places if told.dry_run else release_places
        level, source = told.level.read(), files.read(table)
        release = publish_points(source, **words, epsilon=level, confidence=answer.confidence)
    give(release, answer, signer, partial(_statement, release), partial(_picture, release))


def _picture(release: PlacesRelease) -> Table:
    """The first rows, without the column of the radius."""
    names, rows = files.head(release.table, _SHOWN)
    shown = [at for at, name in enumerate(names) if name != radius_name(release.columns)]
    picture = grid([names[at] for at in shown], [[row[at] for at in shown] for row in rows], left=0)
    if release.rows > len(rows):
        picture.caption = f"and {release.rows - len(rows)} more rows"
    return picture


def _statement(release: PlacesRelease, headline: str, out: Path | None, whole: str | None) -> Group:
    statement = release.said(None)
    law, epsilon = release.law, statement["epsilon"]
    rows = {
        "released": f"{', '.join(release.columns)}: one point a row ({release.rows} rows)",
        "public": ", ".join(release.public) or "no other column",
        "rows": {"declared": "listed beforehand", "observed": "found in the data, and reported"}[release.rows_from],
        "level": f"epsilon = {epsilon} for each {law.per} of Euclidean distance, in the unit of the columns",
        "noise": f"Euclidean Laplace in {law.dimensions} dimensions, rounded afterwards to steps of {law.grid}",
        "why this noise": statement["theorem"],
        "error bar": f"within {number(release.radius)} of each point, at {percent(release.confidence)} confidence",
    }
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    return promised(headline, whole or places_line(law), rows)
