"""What a statement says, read back and computed again: nothing in it is believed that follows from the rest of it.

From level, unit, cost, domain, grid and confidence follow the share of each cell, the law with its parameters, the
error bar and every sentence. What follows from nothing is on the curator's word, see `ON_TRUST`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact, read_confidence
from utmost.core.exact.written_levels import level_of_text, level_text
from utmost.core.noise.integer_law import IntegerLaw
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable, Unsupported, UtmostError
from utmost.publish.promises.codec import check_header, differing
from utmost.publish.promises.declared_columns import rows_origin
from utmost.publish.promises.lattice import lattice_of
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.plan import CellsAt, plan_of_answer, plan_release
from utmost.publish.promises.statement_kinds import KINDS_BESIDE_TABLES, TABLE_KIND
from utmost.publish.promises.table_statements import Stated, cells_digest
from utmost.tables.files.json_files import read_json
from utmost.tables.frames.any_table import adapter_of

ON_TRUST_OF_DRAWS = "that the noise was drawn as stated, by utmost"

ON_TRUST = (
    "what one individual changes: sensitivity and cells",
    "what depends on nobody: the public columns, and a declared list of rows",
    ON_TRUST_OF_DRAWS,
)
"""What no statement and no table can show."""

_MOST_ROWS = 1 << 63


def read_statement(path: Path | str) -> dict[str, Any]:
    """Read the statement of a release; what it says has yet to be checked, see `stated_plan`.

    Raises:
        BadTable, Unsupported: for a file that is no such statement, and for a format that is not known.
    """
    statement: dict[str, Any] = read_json(path if isinstance(path, Path) else Path(path), "a statement must")
    kind = statement.get("kind") if isinstance(statement, dict) else None
    if isinstance(kind, str) and kind in KINDS_BESIDE_TABLES:
        check_header(statement, kind, "a statement", where=str(path))
    else:
        came = "a document of no kind" if not isinstance(kind, str) else f"one of the kind {kind[:60]!r}"
        remedy = "A statement stands beside its table, as the table's name and .json; a release by a plan is one file."
        raise BadTable("the file must hold the statement of a release", came=came, where=str(path), remedy=remedy)
    return statement


def stated_plan(said: Mapping[str, Any]) -> CellsAt:
    """The plan that a statement is about, once everything in it that can be computed has been, and was found equal.

    Args:
        said: a statement.

    Raises:
        Unsupported: for a format that is not known, and a cost that has no name here.
        BadTable: naming the first field that does not follow from the others.

    >>> from utmost.releases import statement
    >>> said = statement(plan_release(epsilon=1, unit=Unit(1, 2)), ["n"], [], 12)
    >>> stated_plan(said).law
    Geometric(epsilon='1/2', sensitivity=1)
    >>> stated_plan(said | {"per_cell": said["per_cell"] | {"epsilon": "1/100"}})
    Traceback (most recent call last):
    utmost.errors.BadTable: per_cell: what a statement says must follow from its level, unit and cost; ...
    """
    if not isinstance(said, Mapping):
        raise wrong_kind("said", "a statement, as a mapping", said)
    check_header(said, TABLE_KIND, "a statement")
    with promise_that_holds(Unsupported):
        plan = _plan(said)
        expected = plan.statement(table_stated(said))
    check_follows(said, expected, plan.level)
    return plan


def plan_at(stated: Mapping[str, Any], at: Level) -> CellsAt:
    """The plan that the release of a statement would have at another level, all else being as it was.

    Args:
        stated: a statement that `stated_plan` has checked.
        at: the other level.

    >>> from utmost.exact import level
    >>> from utmost.releases import statement
    >>> said = statement(plan_release(epsilon=1, unit=Unit(1, 2)), ["n"], [], 12)
    >>> stated_plan(said).margin, plan_at(said, level(2)).margin
    (6, 3)
    """
    return _plan({**stated, "epsilon": level_text(at)})


def check_statement(statement: Mapping[str, Any], table: Any, *, digested: bool = True) -> CellsAt:
    """Check that a statement follows from itself, and is about this table.

    Args:
        statement: the statement.
        table: as it was released, of any kind.
        digested: whether the digest is that of the cells; False where the file's own has been compared already.

    Returns:
        The plan of the release.

    Raises:
        BadTable, Unsupported: as `stated_plan`; and where columns, rows, margins or digest are not the table's.

    >>> from utmost.promises import Promise
    >>> from utmost.releases import release_table
    >>> release = release_table({"n": [7, 9]}, Promise(columns="n", unit=Unit(1, 1)), epsilon=1)
    >>> check_statement(release.statement, release.table).margin
    3
    >>> check_statement(release.statement, release.table | {"n": [0, 0]})
    Traceback (most recent call last):
    utmost.errors.BadTable: table: the table must be as it was released; got another SHA-256 than the statement's. ...
    """
    plan = stated_plan(statement)
    margins = {f"{name}_margin": plan.margin for name in statement["released"]}
    check_table(statement, table, margins, names_of(statement, "public"), digested=digested)
    for name in statement["released"]:
        _check_cells(adapter_of(table).column(table, name), plan.width, name)
    return plan


def check_table(
    stated: Mapping[str, Any], table: Any, margins: Mapping[str, int | float], public: Sequence[str], *, digested: bool
) -> None:
    """Check that a table has the columns, rows and digest of a checked statement, and columns of these margins."""
    adapter = adapter_of(table)
    names = adapter.names(table)
    if sorted(names) != sorted([*stated["released"], *margins, *public]):
        raise BadTable("the table must have the columns that were stated", came=", ".join(names), where="released")
    columns = {name: adapter.column(table, name) for name in (*stated["released"], *margins)}
    if any(len(column) != stated["rows"] for column in columns.values()):
        raise BadTable("the table must have the rows that were stated", came="another number", where="rows")
    for name, margin in margins.items():
        if not all(_is_margin(cell, float(margin)) for cell in set(columns[name])):
            raise BadTable("the margin must be the one stated", came="another one", where=f"column {name!r}")
    if digested and stated["table"] != cells_digest(table):
        remedy = "Get both again from where they were published."
        came = "another SHA-256 than the statement's"
        raise BadTable("the table must be as it was released", came=came, where="table", remedy=remedy)


def is_blank(cell: Any) -> bool:
    """Whether nothing stands in a cell of a table."""
    return cell is None or cell == "" or cell != cell


def unlike(cell: Any, expected: Any) -> bool:
    """Whether a cell of a file says something else: numbers are compared exactly, blanks are alike, labels as text.

    >>> unlike("3", 3.0), unlike("", None), unlike("01", "1"), unlike("x", 3)
    (False, False, True, True)
    """
    # Most cells are written just so, and there may be millions of them.
    if type(expected) in (int, str) and type(cell) in (int, str) and str(cell) == str(expected):
        return False
    if is_blank(cell) or is_blank(expected):
        return is_blank(cell) != is_blank(expected)
    if isinstance(expected, str) or str(cell) == str(expected):
        return str(cell) != str(expected)
    try:
        return exact(cell) != exact(expected)
    except UtmostError:
        return True


def _is_margin(cell: Any, margin: float) -> bool:
    try:
        return bool(cell == margin) or float(exact(cell)) == margin
    except (UtmostError, TypeError, ValueError, OverflowError):
        return False


def _check_cells(column: Any, step: Fraction | None, name: str) -> None:
    """Check that each cell is one that could have been released: an integer, or the float nearest to some steps.

    A blank, a formula or a number in between would be believed by whoever reads the table after it was verified.

    Raises:
        BadTable: at the first one that is none.
    """
    cells = column.tolist() if hasattr(column, "tolist") else column
    kinds = set(map(type, cells))
    if step is None and kinds <= {int}:
        return
    if step is not None and kinds <= {float, int, Decimal} and max(step.numerator, step.denominator) < _SHORT:
        numbers = np.array(cells, np.float64)
        units = np.rint(numbers / step.numerator * step.denominator) * step.numerator
        # A quotient of integers below 2^53 is the nearest float; what is not settled so is, one by one.
        if bool((np.abs(units) < _SHORT).all() and (units / step.denominator == numbers).all()):
            return
    for row, cell in enumerate(cells):
        if not _is_released(cell, step):
            required = f"a released cell must be {'an integer' if step is None else f'a multiple of {step}'}"
            raise BadTable(required, came="another", where=f"row {row + 1}, column {name!r}")


_SHORT = 1 << 53


def _is_released(cell: Any, step: Fraction | None) -> bool:
    try:
        if step is None:
            return exact(cell).denominator == 1
        return float(round(exact(cell) / step) * step) == float(cell)
    except (UtmostError, TypeError, ValueError, OverflowError):
        return False


@contextmanager
def promise_that_holds(*let_through: type[UtmostError]) -> Iterator[None]:
    """Whatever a promise that cannot be made raises is a `BadTable`, but for the refusals that are let through."""
    try:
        yield
    except (UtmostError, KeyError, TypeError) as error:
        if isinstance(error, (BadTable, *let_through)):
            raise
        came = error.required if isinstance(error, UtmostError) else type(error).__name__
        raise BadTable("a statement must hold a promise that can be made", came=came) from None


def reading_noise(stated: Mapping[str, Any], column: str | None = None) -> Level | IntegerLaw:
    """The noise of a released count: for geometric noise the level of one unit, for a discrete staircase its law.

    Where it is a level, alpha^|i - z| is what the release z says of count i.

    Args:
        stated: the statement of a release of integers.
        column: which must be one of the released ones.

    >>> from utmost.releases import statement
    >>> plan = plan_release(alpha="1/4", unit=Unit(1, 2))
    >>> reading_noise(statement(plan, ["admitted"], [], 12)).alpha
    Fraction(1, 2)
    >>> reading_noise(statement(plan_release(epsilon=1, unit=Unit(5, 1)), ["admitted"], [], 12))
    DiscreteStaircase(epsilon=1, sensitivity=5, step=2)
    """
    plan = stated_plan(stated)
    if column is not None and column not in stated["released"]:
        raise BadTable(
            "the statement must be of the column that is read",
            came=", ".join(stated["released"]),
            where=f"column {column!r}",
            remedy="Only released columns have noise that can be read.",
        )
    law = plan.law
    if plan.width is not None or not isinstance(law, IntegerLaw):
        remedy = 'Releases with numbers="integers" have such noise.'
        came = type(law).__name__ if plan.unit.step == 1 else "amounts in steps"
        raise Unsupported(
            "only geometric noise and discrete staircases can be read", came=came, where="law", remedy=remedy
        )
    return law if law.ratio is None else law.ratio


def _plan(stated: Mapping[str, Any]) -> CellsAt:
    """The plan that follows from what cannot be computed: level, unit, cost, domain, grid and confidence."""
    at, confidence = level_of_text(_text(stated, "epsilon")), stated_confidence(stated)
    unit = stated_unit(stated)
    grid = None if stated.get("grid") is None else _text(stated, "grid")
    # In steps of a grid, half-step noise on the integers is that of a promise, and of no law chosen for its level.
    if "name" not in stated and (grid is None or stated.get("domain") != "integers"):
        cost, numbers = _text(stated, "cost"), _text(stated, "domain")
        relaxable = stated_field(stated, "relaxable", bool)
        plan = plan_release(
            at, cost=cost, numbers=numbers, relaxable=relaxable, confidence=confidence, grid=grid, unit=unit
        )
        if not relaxable or repr(plan.drawn) == stated.get("drawn"):
            return plan
    # One answer of a promise for every level: its noise is not chosen by the level.
    numbers, half_step = "integers" if grid is None else "reals", stated.get("law") == "DiscreteStaircase"
    lattice = lattice_of(numbers, Unit(unit.sensitivity, unit.cells, unit.neighbours), grid, half_step)
    return plan_of_answer(unit, lattice, at, confidence, half_step=half_step)


def stated_unit(facts: Mapping[str, Any]) -> Unit:
    """What one individual changes, as a statement says it.

    Raises:
        BadTable: where a field is not there, or is of another kind.
    """
    for name, kind in (("sensitivity", str), ("cells", int), ("neighbours", str)):
        stated_field(facts, name, kind)
    return Unit.of_facts(facts)


def check_follows(stated: Mapping[str, Any], expected: Mapping[str, Any], level: Level | None = None) -> None:
    """Check that a statement is the one that was made again, field for field, but for the version that made it.

    Args:
        expected: what was made of the fields that cannot be computed.
        level: of an answer of a ledger, which says what all its answers cost together.

    Raises:
        BadTable: naming the first field that is not as it was made again.
    """
    again = {**expected, "utmost": _text(stated, "utmost")}
    remembered = None if level is None else LedgerFacts.of_statement(stated, level)
    if remembered is not None:
        again |= remembered.facts()
    for name in differing(stated, json.loads(json.dumps(again))):
        raise does_not_follow(name)


def stated_confidence(document: Mapping[str, Any]) -> Fraction:
    """The confidence exactly."""
    stated = stated_field(document, "confidence", float)
    exactly = read_confidence(_text(document, "confidence_exactly"))
    if float(exactly) != stated:
        raise does_not_follow("confidence")
    return exactly


def table_stated(stated: Mapping[str, Any]) -> Stated:
    """The table of which a statement speaks.

    Raises:
        BadTable, OutOfRange: for a field that is no such thing.
    """
    origin = rows_origin(stated_field(stated, "rows_from", str))
    return Stated(
        names_of(stated, "released"), names_of(stated, "public"), stated_rows(stated), origin, digest_of(stated)
    )


def digest_of(stated: Mapping[str, Any]) -> Mapping[str, str] | None:
    """The digest of the table, if the statement has one."""
    digest = stated.get("table")
    if digest is None:
        return None
    parts: Mapping[str, str] = stated_field(stated, "table", dict)
    if set(parts) != {"of", "sha256"} or parts["of"] not in ("file", "cells"):
        raise does_not_follow("table")
    if not isinstance(parts["sha256"], str) or not re.fullmatch("[0-9a-f]{64}", parts["sha256"]):
        raise does_not_follow("table")
    return parts


def names_of(stated: Mapping[str, Any], field: str) -> list[str]:
    """The names of different columns, or texts, in a field."""
    names: list[str] = stated_field(stated, field, list)
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise does_not_follow(field)
    return names


def _text(stated: Mapping[str, Any], field: str) -> str:
    text: str = stated_field(stated, field, str)
    return text


def stated_field(stated: Mapping[str, Any], field: str, kind: type) -> Any:
    """What stands in a field, of this very kind."""
    value = stated.get(field)
    if type(value) is not kind:
        raise BadTable(f"a statement must hold its {field}", came=type(value).__name__, where=field)
    return value


def stated_rows(stated: Mapping[str, Any]) -> int:
    """How many rows a table has, which can be compared with the table alone."""
    rows: int = stated_field(stated, "rows", int)
    if not 0 <= rows < _MOST_ROWS:
        raise does_not_follow("rows")
    return rows


def does_not_follow(field: str) -> BadTable:
    """The refusal of a field that says something else."""
    remedy = "Ask the curator for the statement as it was published."
    required = "what a statement says must follow from its level, unit and cost"
    return BadTable(required, came="something else", where=field, remedy=remedy)
