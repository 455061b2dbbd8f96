"""`utmost release --planar`: points noised as a whole, with their margin, promise and statement."""

from pathlib import Path
from typing import Any

from utmost.doors.cli.release_options import ReleaseOptions
from utmost.doors.cli.release_screen import give
from utmost.doors.cli.table_options import check_fits
from utmost.laws.exact.long_work import long_work
from utmost.publish.promises import Promise
from utmost.publish.releases import release_places
from utmost.publish.releases.places import rehearse_places
from utmost.publish.tables import files


def publish_places(table: Path, promise: Promise, told: ReleaseOptions) -> None:
    """Release the points of a table once and for all, and show them."""
    answer, noise = told.answer, promise.noise.words()
    answer.check_free(table)
    signer = answer.signer
    words: dict[str, Any] = {"columns": promise.columns, "public": promise.public, "drop": promise.drop}
    words |= {"rows": promise.rows, "id_column": promise.id_columns, "per": noise["per"], "grid": noise["grid"]}
    with long_work(f"Checking and noising {table.name}"):
        publish_points = rehearse_places if told.dry_run else release_places
        level, source = told.level.read(), files.read(table)
        check_fits(answer, source, promise.columns, promise.public)
        release = publish_points(source, **words, epsilon=level, confidence=answer.confidence)
    give(release, answer, signer)
