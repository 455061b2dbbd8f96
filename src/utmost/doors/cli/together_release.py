"""`utmost release --together`: columns of which one individual changes the cells of one row, and no other cell."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from utmost.doors.cli.people_options import split_names
from utmost.doors.cli.release_options import ReleaseOptions
from utmost.doors.cli.release_screen import give
from utmost.doors.cli.table_options import check_fits
from utmost.laws.exact.long_work import long_work
from utmost.laws.privacy.unit import read_unit
from utmost.publish.releases.together import rehearse_together, release_together
from utmost.publish.tables import files


def publish_together(table: Path, told: ReleaseOptions) -> None:
    """Release a table of such columns, or say what a release would promise."""
    answer, columns, protected = told.answer, told.promised.columns, told.promised.protected
    answer.check_free(table)
    signer, released = answer.signer, columns.released or []
    unit = read_unit(None, protected.sensitivity, len(released), told.promised.neighbours, needs=("sensitivity",))
    promise: dict[str, Any] = {"unit": replace(unit, nonnegative=told.once.nonnegative), "cost": told.once.cost}
    promise |= {"relaxable": told.once.relaxable, "confidence": answer.confidence, "epsilon": told.level.read()}
    publish = rehearse_together if told.dry_run else release_together
    with long_work(f"Checking and noising {table.name}"):
        source = files.read(table)
        check_fits(answer, source, released, split_names(columns.public or []))
        release = publish(
            source,
            columns=released,
            public=split_names(columns.public or []),
            drop=split_names(columns.drop or []),
            rows=columns.rows or "declared",
            id_column=columns.id_column,
            **promise,
        )
    give(release, answer, signer)
