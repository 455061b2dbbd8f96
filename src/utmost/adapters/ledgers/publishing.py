"""Publishing a table in a ledger from the command line."""

from pathlib import Path
from typing import Any

from utmost.adapters import files
from utmost.adapters.ledgers import responses
from utmost.adapters.ledgers.opening import Place
from utmost.adapters.ledgers.responses import Asked
from utmost.release import rehearse_table


def publish_in_ledger(
    place: Place,
    table: Path,
    promise: dict[str, Any],
    confidence: str,
    out: Path | None,
    *,
    create: bool,
    as_json: bool,
    dry_run: bool,
    sign: Path | None = None,
) -> None:
    """Publish, or rehearse it: the same checks of the table, and what the dataset would have spent.

    Args:
        promise: what `Ledger.publish` takes, the name among it.
        create: whether the ledger may be made.
    """
    from utmost.adapters.screens.progress import busy, counted
    from utmost.adapters.signature import signer_of

    name, version = promise["name"], promise["version"]
    asked = Asked(name, version, promise["epsilon"], promise["alpha"], confidence)
    responses.check_free(table, out, sign)
    signer = None if sign is None else signer_of(sign)
    with busy(f"Checking {table.name}"):
        brought = files.read(table)
    if dry_run:
        return _rehearse(place, brought, promise, asked, create=create, as_json=as_json)
    with place.opened(create=create) as opened:
        with counted("Publishing") as progress:
            made = opened.publish(table=brought, **promise, progress=progress)
        responses.give(opened, asked, made, out, as_json=as_json, signer=signer)


def _rehearse(place: Place, table: Any, promise: dict[str, Any], asked: Asked, *, create: bool, as_json: bool) -> None:
    of_ledger = ("name", "version", "dataset", "half_step", "independent", "largest")
    once = {key: value for key, value in promise.items() if key not in of_ledger}
    rehearse_table(table, **once)
    if create and not place.is_there:
        return responses.show_first_spending(asked, promise["dataset"] or asked.name, as_json=as_json)
    with place.opened() as opened:
        after = opened.rehearse(
            asked.name,
            epsilon=asked.at,
            dataset=promise["dataset"],
            independent=promise["independent"],
            version=asked.version,
        )
    responses.show_spending(asked, after, as_json=as_json)
