"""`utmost release --together`: columns of which one individual changes the cells of one row, and no other cell."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Group

from utmost.doors.cli.people_options import RoomNames
from utmost.doors.cli.release_options import ReleaseOptions
from utmost.doors.cli.screen import number, percent, promised, screen, watched
from utmost.doors.cli.table_options import give_table
from utmost.doors.documents.reports import print_json
from utmost.laws.exact.long_work import long_work
from utmost.laws.privacy.unit import read_unit
from utmost.publish.releases.table_statements import promise_line
from utmost.publish.releases.together import TogetherPlan, plan_together, release_together
from utmost.publish.statements.statement_files import publish, sidecar_path
from utmost.publish.tables import files


def publish_together(table: Path, told: ReleaseOptions) -> None:
    """Release a table of such columns, or say what a release would promise."""
    answer, columns, protected = told.answer, told.promised.columns, told.promised.protected
    answer.check_free(table)
    signer, out, released = answer.signer, answer.file, columns.released or []
    unit = read_unit(None, protected.sensitivity, len(released), told.promised.neighbours, needs=("sensitivity",))
    promise: dict[str, Any] = {"unit": replace(unit, nonnegative=told.once.nonnegative), "cost": told.once.cost}
    promise |= {"relaxable": told.once.relaxable, "confidence": answer.confidence, "epsilon": told.level.read()}
    if told.dry_run:
        plan = plan_together(released, **promise)
        headline = "Nothing was drawn. This is what a release would promise, for a table that can be released."
        shown = _facts(plan, headline, plan.guarantee)
        return print_json({"guarantee": plan.guarantee}) if answer.as_json else screen().print(shown)
    with long_work(f"Checking and noising {table.name}"):
        release = release_together(
            files.read(table),
            columns=released,
            public=RoomNames(columns.public or []),
            drop=RoomNames(columns.drop or []),
            rows=columns.rows or "declared",
            id_column=columns.id_column,
            **promise,
        )
    statement = None if out is None else publish(release.table, release.said, out, watched, signer)
    if answer.as_json:
        return print_json(statement or {"statement": release.sidecar, "table": files.columns(release.table)})
    if out is None:
        give_table(release.table, answer.form)
    plan = release.plan
    line = promise_line(plan.level, plan.unit.neighbours)
    return screen(stderr=out is None).print(_facts(plan, "Released.", line, out))


def _facts(plan: TogetherPlan, headline: str, promise: str, out: Path | None = None) -> Group:
    sure = percent(plan.confidence)
    bars = ", ".join(f"{name} ± {number(r)}" for name, r in zip(plan.columns, plan.radii, strict=True))
    changed = f"changes only the {plan.unit.cells} released cells of one row, each by at most {plan.unit.sensitivity}"
    changed += ", and lowers none" * plan.unit.nonnegative
    rows = {
        "released": ", ".join(plan.columns),
        "one individual": f"{changed} ({plan.unit.neighbours})",
        "noise": plan.drawn,
        "chosen": plan.why,
        "error bars": f"{bars}, at {sure} confidence",
    }
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    return promised(headline, promise, rows)
