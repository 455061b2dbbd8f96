"""Whether a statement on columns changed together follows from itself, and is about this table."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from utmost.core.exact.arguments import one_of
from utmost.core.exact.written_levels import stated_level
from utmost.core.noise.norm_staircase import CellCost
from utmost.core.privacy.unit import Unit
from utmost.errors import Unsupported
from utmost.publish.promises.codec import check_header
from utmost.publish.promises.rotated_sums import Halves
from utmost.publish.promises.statement_check import (
    check_follows,
    check_table,
    digest_of,
    names_of,
    promise_that_holds,
    stated_field,
    table_stated,
)
from utmost.publish.promises.statement_kinds import TOGETHER_KIND
from utmost.publish.promises.table_statements import cells_digest
from utmost.publish.promises.together_plan import TogetherAt, check_changed, plan_of_way, plan_together, way_of_facts
from utmost.publish.workloads.measuring.cells_together import NORMS, RAISED


def check_together(statement: Mapping[str, Any], table: Any, *, digested: bool = True) -> TogetherAt:
    """Check that a statement follows from its level, unit, columns and kind of noise, and is about this table.

    Args:
        statement: the statement of columns changed together.
        table: as it was released, of any kind.
        digested: whether the digest is that of the cells; False where the file's own has been compared already.

    Returns:
        The plan of the release. That no individual changes cells of two rows is taken on trust, as is the draw.

    Raises:
        BadTable: naming the first field that does not follow, and where columns, rows or cells are others.
        Unsupported: for a format that is not known.

    >>> from utmost.privacy import Unit
    >>> from utmost.promises import Promise, once_together
    >>> from utmost.releases import release_table
    >>> promise = Promise(["a", "b"], noise=once_together(["a", "b"], unit=Unit(1, 2)))
    >>> made = release_table({"a": [7, 9], "b": [3, 4]}, promise, epsilon=1)
    >>> check_together(made.statement, made.table).margins
    (4, 4)
    >>> check_together(made.statement | {"epsilon": "1/2"}, made.table)
    Traceback (most recent call last):
    utmost.errors.BadTable: guarantee: ...
    """
    plan = stated_together(statement, cells_digest(table) if digested else None)
    margins = {f"{name}_margin": margin for name, margin in zip(plan.columns, plan.margins, strict=True)}
    check_table(statement, table, margins, statement["public"], digested=False)
    return plan


def stated_together(statement: Mapping[str, Any], digest: Mapping[str, str] | None = None) -> TogetherAt:
    """The plan that a statement is about, once everything in it that can be computed has been, and was found equal.

    Args:
        statement: the statement.
        digest: of the table; that of the statement where it is left out.

    Raises:
        BadTable, Unsupported: as `check_together`.
    """
    check_header(statement, TOGETHER_KIND, "a statement")
    with promise_that_holds(Unsupported):
        plan = _plan(statement)
        expected = plan.statement(replace(table_stated(statement), digest=digest or digest_of(statement)))
    check_follows(statement, expected, plan.level)
    return plan


def _plan(statement: Mapping[str, Any]) -> TogetherAt:
    names, level = names_of(statement, "released"), stated_level(statement)
    known = statement.get("nonnegative", False)
    unit = Unit(statement["sensitivity"], statement["cells"], statement["neighbours"], nonnegative=known)
    cost: CellCost = one_of(statement.get("cost", "absolute"), CellCost, "cost")
    sure = statement["confidence_exactly"]
    if statement["noise"] in RAISED or statement["noise"] in NORMS:
        halves = one_of(statement["halves"], Halves, "halves")
        check_changed(unit, names)
        way = way_of_facts(statement, level, unit)
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
