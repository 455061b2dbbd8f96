"""The ways in which `utmost release` can be asked to publish a file, each with the options that do not go with it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from utmost.doors.cli import options, people_options
from utmost.doors.cli.release_screen import give
from utmost.doors.cli.screen import busy
from utmost.doors.documents.consumer_files import cost_of
from utmost.errors import OutOfRange
from utmost.laws.noise.law import read_confidence
from utmost.publish.releases import rehearse_table, release_table
from utmost.publish.releases.streamed import streamed_release
from utmost.publish.statements.statement_files import check_free, signer_of
from utmost.publish.tables import files
from utmost.publish.tables.file_pieces import FilePieces

Asked = Any
"""The arguments of the command by their names: ``columns``, ``public`` and ``drop`` as lists of names, ``out`` as a
path, ``level`` read, and as it was ``given``."""

_DEFAULTS = {
    "cost": "absolute",
    "numbers": "integers",
    "neighbours": "add-remove",
    "rows": "declared",
    "noise": "rows",
    "public": [],
    "drop": [],
}
_IN_LEDGER = (
    "create", "name", "dataset", "independent", "largest", "version", "request", "noise", "half_step", "key_file",
    "witness",
)  # fmt: skip


def way_of(asked: Asked) -> Callable[[Asked], None]:
    """How a file is released, by the options that say so."""
    if asked.plane != options.Plane():
        return planar
    if asked.together:
        return together
    if asked.plan is not None:
        return by_plan
    check_unused(asked, "needs --plan", "tables")
    return table_of_columns


def check_unused(asked: Asked, why: str, *names: str) -> None:
    """Check that options are not given.

    Raises:
        OutOfRange: naming the first that is, and why it must not.
    """
    for name in names:
        unsaid = people_options.People() if name == "people" else _DEFAULTS.get(name)
        if getattr(asked, name) not in (None, False, unsaid):
            spelled = {"id_column": "id", "people": "person", "form": "format"}.get(name, name)
            raise OutOfRange(f"--{spelled.replace('_', '-')} {why}")


def planar(asked: Asked) -> None:
    """Columns that are the coordinates of one point, which is noised as a whole."""
    from utmost.doors.cli.places_screen import columns_of_points, publish_places

    other = (
        "together",
        "plan",
        "tables",
        "sensitivity",
        "cells",
        "cost",
        "relaxable",
        "numbers",
        "domain",
        "neighbours",
    )
    check_unused(asked, "does not go with --planar", *other, "half_step", "people")
    points = _some(asked, "public", "drop", "rows", "id_column", "grid") | {"epsilon": asked.level}
    if asked.ledger is not None:
        columns = columns_of_points(asked.columns, asked.plane)
        return keep(asked, points | {"columns": columns, "per": asked.plane.per or "1"}, None)
    check_unused(asked, "needs --ledger", *_IN_LEDGER)
    points["confidence"] = asked.confidence
    how = _shown(asked) | {"form": asked.form}
    publish_places(asked.table, asked.columns, asked.plane, points, asked.out, asked.sign, **how)


def together(asked: Asked) -> None:
    """Columns of which one individual changes the cells of one row, and no other cell."""
    from utmost.doors.cli.together_release import publish_together

    other = ("cells", "ledger", "grid", "name", "plan", "tables", "numbers", "domain", "cost")
    check_unused(asked, "does not go with --together", *other, "people")
    _check_given({"--columns": asked.columns, "--sensitivity": asked.sensitivity})
    what = _some(asked, "columns", "public", "drop", "rows", "id_column")
    how = _some(asked, "sensitivity", "neighbours", "relaxable", "confidence") | {"epsilon": asked.level}
    publish_together(asked.table, what, how, asked.out, asked.sign, **_shown(asked), form=asked.form)


def by_plan(asked: Asked) -> None:
    """The sums of a plan, measured on a counted table."""
    from utmost.doors.cli.planned_release import planned_table, read_plan
    from utmost.doors.cli.workload_screens import check_document, release_by_plan

    check_document(asked.out, asked.sign)
    _check_key(asked)
    fixed = ("form", "columns", "public", "drop", "id_column", "grid", "sensitivity", "cells", "rows", "cost")
    check_unused(asked, "cannot be chosen with --plan", *fixed, "relaxable", "half_step")
    strategy = read_plan(asked.plan)
    counted = planned_table(asked.table, asked.people, asked.domain, asked.neighbours, strategy)
    if asked.ledger is not None:
        check_unused(asked, "cannot be chosen with --ledger", "tables")
        return keep(asked, {"strategy": strategy, "epsilon": asked.level}, counted)
    check_unused(asked, "needs --ledger", *_IN_LEDGER)
    signer = None if asked.sign is None else signer_of(asked.sign)
    sure = read_confidence(asked.confidence)
    return release_by_plan(counted, strategy, asked.level, sure, asked.out, signer, asked.tables, **_shown(asked))


def table_of_columns(asked: Asked) -> None:
    """Columns of a table, each cell noised at its share; events are counted first."""
    if asked.people.are_events:  # before what may take a minute
        check_free(asked.table, asked.out, asked.sign)
    _check_key(asked)
    counted = _counted(asked.table, asked.people, asked.domain, asked.neighbours)
    if counted is None:
        _check_given({"--columns": asked.columns, "--sensitivity": asked.sensitivity, "--cells": asked.cells})
    promise = _some(
        asked, "public", "drop", "rows", "id_column", "grid", "sensitivity", "cells", "neighbours", "numbers"
    )
    promise |= {"columns": asked.columns or [counted.column], "epsilon": asked.level}
    if asked.ledger is not None:
        return keep(asked, promise, counted)
    check_unused(asked, "needs --ledger", *_IN_LEDGER)
    promise |= _some(asked, "relaxable", "confidence") | {"cost": cost_of(asked.cost)}
    check_free(asked.table, asked.out, asked.sign)
    signer = None if asked.sign is None else signer_of(asked.sign)
    large = _streamed(asked) if counted is None else None
    if large is None and asked.table.is_dir():
        raise OutOfRange("a folder is released into a file", came="none", where="--out")
    if large is not None:
        with busy(f"Checking {asked.table.name}"):
            release = streamed_release(large, **promise, rehearsed=asked.dry_run)
        return give(release, asked.out, signer, as_json=asked.as_json, form=asked.form)
    with busy(f"Checking and noising {asked.table.name}"):
        source = files.read(asked.table) if counted is None else counted
        made = (rehearse_table if asked.dry_run else release_table)(source, **promise)
    return give(made, asked.out, signer, as_json=asked.as_json, form=asked.form)


def _streamed(asked: Asked) -> FilePieces | None:
    """The table in pieces, where it is large and nobody wants it on the screen; by its cells where it stays Parquet."""
    if asked.out is None:
        return files.streamed(asked.table, by_cells=True) if asked.dry_run else None
    return files.streamed(asked.table, by_cells=files.ending_of(asked.out) in files.PARQUET)


def keep(asked: Asked, promise: dict[str, Any], counted: Any) -> None:
    """Publish in a ledger."""
    from utmost.doors.cli.ledger_answers import Question, publish_in_ledger
    from utmost.doors.cli.ledger_place import Place

    check_unused(asked, "cannot be chosen with --ledger", "cost", "relaxable")
    if asked.name is None:
        raise OutOfRange("a release in a ledger needs a name", came="none", where="--name")
    asks = (asked.name, asked.given.epsilon, asked.given.alpha, asked.version, asked.confidence, asked.out, asked.sign)
    place = Place(asked.ledger, asked.key_file, asked.witness)
    promise |= _some(asked, "name", "dataset", "version", "half_step", "independent", "largest")
    promise |= _some(asked, "request", "noise")
    question, how = Question(*asks, asked.as_json, asked.form), {"create": asked.create, "dry_run": asked.dry_run}
    publish_in_ledger(place, asked.table, promise, question, **how, brought=counted)


def _some(asked: Asked, *names: str) -> dict[str, Any]:
    return {name: getattr(asked, name) for name in names}


def _shown(asked: Asked) -> dict[str, bool]:
    return _some(asked, "as_json", "dry_run")


def _check_key(asked: Asked) -> None:
    if asked.ledger is not None and asked.people.person is not None and asked.people.count_key is None:
        remedy = "Keep a file of 32 random bytes for it; or let utmost count write the table, and release its file."
        raise OutOfRange("what a ledger keeps is counted alike each time", came="no --count-key", remedy=remedy)


def _counted(table: Path, people: people_options.People, domain: Path | None, neighbours: str) -> Any:
    """The counted table where the file holds events, or one that `utmost count` wrote; else None."""
    if people.measures is not None:
        remedy = "Count first: utmost count TABLE --measures FILE --out counted.json, and release each file."
        raise OutOfRange("a release is of one table", came="several measures", where="--measures", remedy=remedy)
    if people.are_given:
        from utmost.doors.cli.count_command import DOMAIN_REMEDY
        from utmost.publish.statements.counted_files import read_domain

        if domain is None:
            raise OutOfRange(
                "events are counted over a declared domain", came="no file", where="--domain", remedy=DOMAIN_REMEDY
            )
        return people.counted(table, read_domain(domain), neighbours)
    if people != people_options.People():
        raise OutOfRange(
            "--by, --at-most, --per-atom, --values, --step, --each, --most-events and --count-key need --person, "
            "--count-column or --nested"
        )
    if domain is not None:
        raise OutOfRange("--domain needs --person, --count-column or --nested: a counted table has its domain")
    if table.suffix.lower() != ".json":
        return None
    from utmost.publish.statements.counted_files import COUNTED_FORM

    made = COUNTED_FORM.read(table)
    if made.unit.neighbours != neighbours == "add-remove":
        raise OutOfRange(f"this table was counted for {made.unit.neighbours}", came=neighbours, where="--neighbours")
    return made


def _check_given(needed: dict[str, object]) -> None:
    missing = [option for option, value in needed.items() if value is None]
    if missing:
        raise OutOfRange(
            "a release must say which columns it releases, and what one individual changes",
            came=f"no {' and no '.join(missing)}",
            remedy="Or count people first: --person, --at-most and --domain FILE.",
        )
