"""What the statement of a release of points says, read back and computed again."""

from collections.abc import Mapping
from typing import Any

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.numbers import exact
from utmost.core.exact.written_levels import level_of_text
from utmost.publish.promises.codec import check_header
from utmost.publish.promises.places_statements import places_statement
from utmost.publish.promises.planar_law import PlanarLaw
from utmost.publish.promises.statement_check import (
    ON_TRUST_OF_DRAWS,
    check_follows,
    check_table,
    names_of,
    promise_that_holds,
    stated_confidence,
    table_stated,
)
from utmost.publish.promises.statement_check import stated_field as field
from utmost.publish.promises.statement_kinds import PLACES_KIND

PLACES_ON_TRUST = (
    "that the columns are coordinates in one unit of length, and distance is meant in it",
    "what depends on nobody: the public columns, and a declared list of rows",
    ON_TRUST_OF_DRAWS,
)
"""What no statement and no table can show."""


def stated_places(statement: Mapping[str, Any]) -> PlanarLaw:
    """The law that a statement is about, once everything in it that can be computed has been, and was found equal.

    Raises:
        Unsupported: for a format that is not known.
        BadTable: naming the first field that does not follow from the others.

    >>> from utmost import PointNoise
    >>> from utmost.promises import Promise
    >>> from utmost.publish.releases.table import rehearse_table
    >>> said = rehearse_table({"x": [1], "y": [2]}, Promise(["x", "y"], noise=PointNoise(200)), epsilon=1).sidecar
    >>> stated_places(said).grid
    Fraction(2, 1)
    >>> stated_places(said | {"margin": 1.0})
    Traceback (most recent call last):
    utmost.errors.BadTable: margin: what a statement says must follow from its level, unit and cost; ...
    """
    if not isinstance(statement, Mapping):
        raise wrong_kind("said", "a statement, as a mapping", statement)
    check_header(statement, PLACES_KIND, "a statement")
    with promise_that_holds():
        released = names_of(statement, "released")
        declared = exact(field(statement, "grid", str), "grid") if field(statement, "declared_grid", bool) else None
        law = PlanarLaw(
            level_of_text(field(statement, "epsilon", str)),
            len(released),
            exact(field(statement, "per", str), "per"),
            declared,
        )
        expected = places_statement(law, stated_confidence(statement), table_stated(statement))
    check_follows(statement, expected, law.level)
    return law


def check_places(statement: Mapping[str, Any], table: Any, *, digested: bool = True) -> PlanarLaw:
    """Check that a statement of points follows from itself, and is about this table.

    Args:
        statement: the statement.
        table: as it was released, of any kind.
        digested: whether the digest is that of the cells; False where the file's own has been compared already.

    Raises:
        BadTable, Unsupported: as `stated_places`; and where columns, rows, margins or digest are not the table's.

    >>> from utmost import PointNoise
    >>> from utmost.promises import Promise
    >>> from utmost.releases import release_table
    >>> made = release_table({"x": [1], "y": [2]}, Promise(["x", "y"], noise=PointNoise(1)), epsilon=1)
    >>> check_places(made.sidecar, made.table).per
    Fraction(1, 1)
    >>> check_places(made.sidecar, made.table | {"x": [1.0]})
    Traceback (most recent call last):
    utmost.errors.BadTable: table: the table must be as it was released; got another SHA-256 than the statement's. ...
    """
    law = stated_places(statement)
    name = "_".join([*statement["released"], "margin"])
    check_table(statement, table, {name: statement["margin"]}, statement["public"], digested=digested)
    return law
