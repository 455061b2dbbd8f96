"""`utmost release --together`: columns of which one individual changes the cells of one row, and no other cell."""

from pathlib import Path
from typing import Any

from rich.console import Group

from utmost.doors.cli.screen import busy, number, percent, promised, screen, watched
from utmost.doors.cli.table_options import give_table
from utmost.doors.documents.reports import print_json
from utmost.publish.releases.table_statements import promise_line
from utmost.publish.releases.together import TogetherPlan, TogetherRelease, plan_together, release_together
from utmost.publish.statements.statement_files import check_free, publish, sidecar_path, signer_of
from utmost.publish.tables import files


def publish_together(
    table: Path,
    asked: dict[str, Any],
    promise: dict[str, Any],
    out: Path | None,
    sign: Path | None,
    *,
    as_json: bool,
    dry_run: bool,
    form: str | None = None,
) -> None:
    """Release a table of such columns, or say what a release would promise.

    Args:
        table: its file.
        asked: columns, public, drop, rows and id_column, as for `release_together`.
        promise: the rest, as for `plan_together`.
        out, sign, as_json, dry_run: as for `utmost release`.
    """
    check_free(table, out, sign)
    signer = None if sign is None else signer_of(sign)
    if dry_run:
        plan = plan_together(asked["columns"], **promise)
        headline = "Nothing was drawn. This is what a release would promise, for a table that can be released."
        shown = _facts(plan, headline, plan.guarantee)
        return print_json({"guarantee": plan.guarantee}) if as_json else screen().print(shown)
    with busy(f"Checking and noising {table.name}"):
        release = release_together(files.read(table), **asked, **promise)
    said = None if out is None else publish(release.table, release.said, out, watched, signer)
    if as_json:
        print_json(said or {"statement": release.sidecar, "table": files.columns(release.table)})
    else:
        _show(release, out, form)
    return None


def _show(made: TogetherRelease, out: Path | None, form: str | None) -> None:
    if out is None:
        give_table(made.table, form)
    promise = promise_line(made.plan.level, made.plan.unit.neighbours)
    screen(stderr=out is None).print(_facts(made.plan, "Released.", promise, out))


def _facts(plan: TogetherPlan, headline: str, promise: str, out: Path | None = None) -> Group:
    sure = percent(plan.confidence)
    bars = ", ".join(f"{name} ± {number(r)}" for name, r in zip(plan.columns, plan.radii, strict=True))
    changed = f"changes only the {plan.unit.cells} released cells of one row, each by at most {plan.unit.sensitivity}"
    rows = {
        "released": ", ".join(plan.columns),
        "one individual": f"{changed} ({plan.unit.neighbours})",
        "noise": plan.drawn,
        "error bars": f"{bars}, at {sure} confidence",
    }
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    return promised(headline, promise, rows)
