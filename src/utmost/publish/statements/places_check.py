"""What the statement of a release of points says, read back and computed again."""

import json
from collections.abc import Mapping
from typing import Any

from utmost.laws.exact import exact, wrong_kind
from utmost.laws.exact.written_levels import level_of_text
from utmost.publish.releases.places_statements import places_statement, radius_name
from utmost.publish.releases.planar_law import PlanarLaw
from utmost.publish.releases.statement_kinds import PLACES_FORMAT, PLACES_KIND
from utmost.publish.releases.table import rows_origin
from utmost.publish.statements.codec import check_header, differing
from utmost.publish.statements.statement_check import (
    ON_TRUST_OF_DRAWS,
    check_table,
    digest_of,
    does_not_follow,
    names_of,
    promise_that_holds,
    stated_confidence,
    stated_in_ledger,
    stated_rows,
)
from utmost.publish.statements.statement_check import stated_field as field

PLACES_ON_TRUST = (
    "that the columns are coordinates in one unit of length, and distance is meant in it",
    "what depends on nobody: the public columns, and a declared list of rows",
    ON_TRUST_OF_DRAWS,
)
"""What no statement and no table can show."""


def stated_places(said: Mapping[str, Any]) -> PlanarLaw:
    """The law that a statement is about, once everything in it that can be computed has been, and was found equal.

    Raises:
        Unsupported: for a format that is not known.
        BadTable: naming the first field that does not follow from the others.

    >>> from utmost.publish.releases import rehearse_places
    >>> said = rehearse_places({"x": [1], "y": [2]}, columns=["x", "y"], epsilon=1, per=200).sidecar
    >>> stated_places(said).grid
    Fraction(2, 1)
    >>> stated_places(said | {"radius": 1.0})
    Traceback (most recent call last):
    utmost.errors.BadTable: radius: what a statement says must follow from its level, unit and cost; ...
    """
    if not isinstance(said, Mapping):
        raise wrong_kind("said", "a statement, as a mapping", said)
    check_header(said, PLACES_KIND, PLACES_FORMAT, "a statement", oldest=1)
    with promise_that_holds():
        released = names_of(said, "released")
        declared = exact(field(said, "grid", str), "grid") if field(said, "declared_grid", bool) else None
        law = PlanarLaw(
            level_of_text(field(said, "epsilon", str)), len(released), exact(field(said, "per", str), "per"), declared
        )
        made = places_statement(
            law,
            stated_confidence(said),
            released,
            names_of(said, "public"),
            stated_rows(said),
            rows_from=rows_origin(field(said, "rows_from", str)),
            digest=digest_of(said),
        )
    made["utmost"] = field(said, "utmost", str)
    if said["format"] == 1:  # which called a grid declared, also where it is the one that the level chooses
        made |= {"format": 1, "declared_grid": said["declared_grid"]}
    if "name" in said:
        made |= stated_in_ledger(said, law.level)
    for name in differing(said, json.loads(json.dumps(made))):
        raise does_not_follow(name)
    return law


def check_places(said: Mapping[str, Any], table: Any, *, digested: bool = True) -> PlanarLaw:
    """Check that a statement of points follows from itself, and is about this table.

    Args:
        said: the statement.
        table: as it was released, of any kind.
        digested: whether the digest is that of the cells; False where the file's own has been compared already.

    Raises:
        BadTable, Unsupported: as `stated_places`; and where columns, rows, radii or digest are not the table's.

    >>> from utmost.publish.releases import release_places
    >>> made = release_places({"x": [1], "y": [2]}, columns=["x", "y"], epsilon=1)
    >>> check_places(made.sidecar, made.table).per
    Fraction(1, 1)
    >>> check_places(made.sidecar, made.table | {"x": [1.0]})
    Traceback (most recent call last):
    utmost.errors.BadTable: table: the table must be as it was released; got another SHA-256 than the statement's. ...
    """
    law = stated_places(said)
    check_table(said, table, {radius_name(said["released"]): said["radius"]}, said["public"], digested=digested)
    return law
