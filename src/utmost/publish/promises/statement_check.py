"""Whether a table is the one that its statement is about, and the noise that a reader may use.

From promise and level follow the share of each cell, the law with its parameters, the error bars and every sentence.
What follows from nothing is on the curator's word, see `ON_TRUST`.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.errors import BadTable, Unsupported, UtmostError
from utmost.publish.promises.codec import check_header
from utmost.publish.promises.plan import CellsAt, Planned
from utmost.publish.promises.statement import Statement
from utmost.publish.promises.statement_kinds import KINDS_BESIDE_TABLES
from utmost.publish.promises.table_statements import cells_digest
from utmost.tables.files.json_files import read_json
from utmost.tables.frames.adapters import adapter_of

ON_TRUST_OF_DRAWS = "that the noise was drawn as stated, by utmost"

ON_TRUST = (
    "what one individual changes: sensitivity and cells",
    "what depends on nobody: the public columns, and a declared list of rows",
    ON_TRUST_OF_DRAWS,
)
"""What no statement and no table can show."""

PLACES_ON_TRUST = (
    "that the columns are coordinates in one unit of length, and distance is meant in it",
    "what depends on nobody: the public columns, and a declared list of rows",
    ON_TRUST_OF_DRAWS,
)
"""The same of points."""


def read_statement(path: Path | str) -> dict[str, Any]:
    """Read the statement of a release; what it says has yet to be checked, see `Statement.of_facts`.

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


def check_statement(statement: Mapping[str, Any], table: Any, *, digested: bool = True) -> Planned:
    """Check that a statement follows from itself, and is about this table: cells, points or columns together.

    Args:
        statement: Statement of the table.
        table: Table as it was released, of any kind.
        digested: Whether the digest is that of the cells; False where the digest of the file was compared already.

    Returns:
        The distribution of the noise. The draw is taken on trust, and so is the privacy unit.

    Raises:
        BadTable: naming the first field that does not follow from the others; and where columns, rows, margins or
            digest are not the table's.
        Unsupported: for a format or a cost that is not known.

    >>> from utmost import Unit
    >>> from utmost.promises import Promise
    >>> from utmost.releases import release_table
    >>> release = release_table({"n": [7, 9]}, Promise(columns="n", unit=Unit(1, 1)), epsilon=1)
    >>> check_statement(release.sidecar, release.table).margin
    3
    >>> check_statement(release.sidecar, release.table | {"n": [0, 0]})
    Traceback (most recent call last):
    utmost.errors.BadTable: table: the table must be as it was released; got another SHA-256 than the statement's. ...
    """
    checked = Statement.of_facts(statement)
    promise, plan = checked.promise, checked.plan
    check_table(promise.columns, statement, table, checked.margins, promise.public, digested=digested)
    if isinstance(plan, CellsAt):
        for name in promise.columns:
            _check_cells(adapter_of(table).column(table, name), plan.width, name)
    return plan


def check_table(
    released: Sequence[str],
    stated: Mapping[str, Any],
    table: Any,
    margins: Mapping[str, int | float],
    public: Sequence[str],
    *,
    digested: bool,
) -> None:
    """Check that a table has these columns and margins, and the rows and digest of a checked statement."""
    adapter = adapter_of(table)
    names = adapter.names(table)
    if sorted(names) != sorted([*released, *margins, *public]):
        raise BadTable("the table must have the columns that were stated", came=", ".join(names), where="released")
    columns = {name: adapter.column(table, name) for name in (*released, *margins)}
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


def reading_noise(stated: Mapping[str, Any], column: str | None = None) -> Level | DiscreteStaircase:
    """The noise of a released count: for geometric noise the level of one unit, for a discrete staircase its law.

    Where it is a level, alpha^|i - z| is what the release z says of count i.

    Args:
        stated: the statement of a release of integers.
        column: which must be one of the released ones.

    >>> from utmost import Promise, Unit
    >>> from utmost.releases import rehearse_table
    >>> promise = Promise("admitted", unit=Unit(1, 2))
    >>> reading_noise(rehearse_table({"admitted": [3, 4]}, promise, alpha="1/4").sidecar).alpha
    Fraction(1, 2)
    >>> reading_noise(rehearse_table({"admitted": [3]}, Promise("admitted", unit=Unit(5, 1)), epsilon=1).sidecar)
    DiscreteStaircase(epsilon=1, sensitivity=5, step=2)
    """
    checked = Statement.of_facts(stated)
    columns, plan = checked.promise.columns, checked.plan
    if column is not None and column not in columns:
        raise BadTable(
            "the statement must be of the column that is read",
            came=", ".join(columns),
            where=f"column {column!r}",
            remedy="Only released columns have noise that can be read.",
        )
    law = plan.law
    is_read = isinstance(plan, CellsAt) and plan.width is None
    if not is_read or not isinstance(law, Geometric | DiscreteStaircase):
        remedy = 'Releases with numbers="integers" have such noise.'
        drawn = type(law).__name__ if isinstance(plan, CellsAt) else checked.promise.noise.kind
        came = drawn if plan.unit.step == 1 else "amounts in steps"
        raise Unsupported(
            "only geometric noise and discrete staircases can be read", came=came, where="law", remedy=remedy
        )
    return law.ratio if isinstance(law, Geometric) else law
