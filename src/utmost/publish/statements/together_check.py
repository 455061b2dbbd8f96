"""Whether a statement on columns changed together follows from itself, and is about this table."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from utmost.errors import BadTable, Unsupported
from utmost.laws.exact import Level, exact
from utmost.laws.exact.written_levels import stated_level
from utmost.laws.noise import NormStaircase, SignedCells
from utmost.laws.noise.norm_staircase import CellCost
from utmost.laws.privacy.unit import Unit
from utmost.publish.releases.older_words import in_words_of, margin_word
from utmost.publish.releases.statement_kinds import TOGETHER_FORMAT, TOGETHER_KIND
from utmost.publish.releases.table import rows_origin
from utmost.publish.releases.table_statements import cells_digest
from utmost.publish.releases.together import (
    TogetherPlan,
    check_changed,
    plan_of_way,
    plan_together,
    together_statement,
)
from utmost.publish.releases.turning import Halves, one_of
from utmost.publish.statements.codec import check_header, differing
from utmost.publish.statements.statement_check import (
    digest_of,
    names_of,
    promise_that_holds,
    stated_field,
    stated_in_ledger,
    stated_rows,
)
from utmost.publish.tables.adapters import adapter_of
from utmost.publish.workloads.cells_together import (
    NORMS,
    RAISED,
    CellsTogether,
    TogetherKind,
    presence,
)


def check_together(statement: Mapping[str, Any], table: Any, *, digested: bool = True) -> TogetherPlan:
    """Check that a statement follows from its level, unit, columns and kind of noise, and is about this table.

    Args:
        statement: the statement of `release_together`.
        table: as it was released, of any kind.
        digested: whether the digest is that of the cells; False where the file's own has been compared already.

    Returns:
        The plan of the release. That no individual changes cells of two rows is taken on trust, as is the draw.

    Raises:
        BadTable: naming the first field that does not follow, and where columns, rows or cells are others.
        Unsupported: for a format that is not known.

    >>> from utmost.publish.releases import release_together
    >>> made = release_together({"a": [7, 9], "b": [3, 4]}, columns=["a", "b"], epsilon=1, sensitivity=1)
    >>> check_together(made.sidecar, made.table).radii
    (4, 4)
    >>> check_together(made.sidecar | {"epsilon": "1/2"}, made.table)
    Traceback (most recent call last):
    utmost.errors.BadTable: guarantee: ...
    """
    check_header(statement, TOGETHER_KIND, TOGETHER_FORMAT, "a statement", oldest=1)
    plan = stated_together(statement, cells_digest(table) if digested else None)
    _check_columns(plan, statement, table)
    return plan


def stated_together(statement: Mapping[str, Any], digest: Mapping[str, str] | None = None) -> TogetherPlan:
    """The plan that a statement is about, once everything in it that can be computed has been, and was found equal.

    Args:
        statement: the statement.
        digest: of the table; that of the statement where it is left out.

    Raises:
        BadTable, Unsupported: as `check_together`.
    """
    check_header(statement, TOGETHER_KIND, TOGETHER_FORMAT, "a statement", oldest=1)
    digest = digest or digest_of(statement)
    with promise_that_holds(Unsupported):
        plan = _plan(statement)
        public, rows, origin = (
            names_of(statement, "public"),
            stated_rows(statement),
            rows_origin(statement["rows_from"]),
        )
        expected = together_statement(plan, public, rows, rows_from=origin, digest=digest)
    expected = in_words_of(statement, expected) | {"utmost": stated_field(statement, "utmost", str)}
    with promise_that_holds(Unsupported):
        if "name" in statement:
            expected |= stated_in_ledger(statement, plan.level)
    for name in differing(statement, expected):
        raise BadTable("what a statement says must follow from the rest of it", came="another", where=name)
    return plan


def _plan(statement: Mapping[str, Any]) -> TogetherPlan:
    names, level = names_of(statement, "released"), stated_level(statement)
    known = statement.get("nonnegative", False)
    unit = Unit(statement["sensitivity"], statement["cells"], statement["neighbours"], nonnegative=known)
    cost: CellCost = one_of(statement.get("cost", "absolute"), CellCost, "cost")
    sure = statement["confidence_exactly"]
    if statement["noise"] in RAISED or statement["noise"] in NORMS:
        halves = one_of(statement["halves"], Halves, "halves")
        way = _stated_way(statement, level, unit)
        return plan_of_way(names, level, unit, way, halves=halves, confidence=sure, cost=cost)
    return plan_together(
        names,
        level,
        unit=unit,
        noise=statement["noise"],
        relaxable=stated_field(statement, "relaxable", bool),
        cost=cost,
        halves=statement["halves"],
        confidence=sure,
    )


def _stated_way(statement: Mapping[str, Any], level: Level, unit: Unit) -> CellsTogether:
    """The noise by what is stated of it: whether it keeps the level is computed, that no other has less is not."""
    kind, spent = one_of(statement["noise"], TogetherKind, "noise"), presence(level, unit)
    check_changed(unit, names_of(statement, "released"))
    if kind in RAISED and not unit.nonnegative:
        raise BadTable("such noise needs individuals who lower no cell", came="no such promise", where="nonnegative")
    if kind in NORMS:
        step = stated_field(statement, "step", int)
        law = NormStaircase(spent, unit.cells, unit.sensitivity, NORMS[kind], step)
        return CellsTogether(kind, (unit.cells,), (law,), (Fraction(1),))
    sizes = tuple(len(group) for group in stated_field(statement, "groups", list))
    shares = tuple(exact(share, "share") for share in stated_field(statement, "shares", list))
    rows = stated_field(statement, "signed_sums", list)
    if sum(sizes) != unit.cells or len({*map(len, (sizes, shares, rows))}) != 1:
        raise BadTable("signed sums must be of all released columns", came="others", where="signed_sums")
    if min(shares) <= 0 or sum(shares) != 1:
        raise BadTable("the shares of groups must add up to 1", came="others", where="shares")
    laws = tuple(
        SignedCells(spent.scaled(share), listed["rows"], listed["shares"], unit.sensitivity)
        for share, listed in zip(shares, rows, strict=True)
    )
    if any(law.cells != size for law, size in zip(laws, sizes, strict=True)):
        raise BadTable("each group's rows must be of its columns", came="others", where="signed_sums")
    return CellsTogether("signed", sizes, laws, shares)


def _check_columns(plan: TogetherPlan, statement: Mapping[str, Any], table: Any) -> None:
    adapter = adapter_of(table)
    word = margin_word(statement)
    radii = {f"{name}_{word}": radius for name, radius in zip(plan.columns, plan.radii, strict=True)}
    if sorted(adapter.names(table)) != sorted([*plan.columns, *radii, *statement["public"]]):
        raise BadTable("the table must have the columns that were stated", came="others", where="released")
    for name, radius in radii.items():
        column = adapter.column(table, name)
        if len(column) != statement["rows"] or any(float(cell) != float(radius) for cell in set(column)):
            raise BadTable("the radius must be the one stated, in each row", came="another", where=f"column {name!r}")
