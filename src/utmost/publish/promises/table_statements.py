"""The statement beside a release: everything a reader may know, and nothing that the release did not already say.

The statement is plain data, ready for JSON. It holds no true value and no seed: there is none.
"""

import hashlib
import json
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import factor_text, level_name
from utmost.core.noise.law import Law
from utmost.core.privacy.unit import Unit
from utmost.tables.files.digit_buffers import digits, joined
from utmost.tables.frames.any_table import adapter_of


def cells_digest(table: Any) -> dict[str, str]:
    """The digest of a table in memory, whatever its kind.

    It is the SHA-256 of the UTF-8 text of a JSON list, written without spaces, of one pair for each column in order:
    the column's name, and the list of its cells as text. A missing cell is null, an integer its decimal digits, any
    other number the shortest decimal of its float, and whatever else its text.

    >>> cells_digest({"n": [1, 2]})["sha256"] == hashlib.sha256(b'[["n",["1","2"]]]').hexdigest()
    True
    """
    adapter = adapter_of(table)
    digest = hashlib.sha256(b"[")
    for at, name in enumerate(adapter.names(table)):
        digest.update(f"{',' if at else ''}[{_json(name)},[".encode("utf-8", "surrogatepass"))
        column = adapter.column(table, name)
        cells = column if isinstance(column, np.ndarray) else list(column)
        for start in range(0, len(cells), _TOGETHER):
            digest.update(b"," if start else b"")
            digest.update(_cells_as_json(cells[start : start + _TOGETHER]))
        digest.update(b"]]")
    digest.update(b"]")
    return {"of": "cells", "sha256": digest.hexdigest()}


_TOGETHER = 1 << 16


def _cells_as_json(column: NDArray[Any] | list[Any]) -> bytes:
    """The cells as text, as they stand in a JSON list."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "i" and column.ndim == 1:
        return b'"' + joined(*digits(column.astype(np.int64), b'","'))[:-2].tobytes()
    cells = column.tolist() if isinstance(column, np.ndarray) else column
    kinds = set(map(type, cells))
    if kinds == {int}:
        return b'"' + '","'.join(map(str, cells)).encode() + b'"'
    texts = cells if kinds <= {str, type(None)} else list(map(_cell, cells))
    return _json(texts)[1:-1].encode("utf-8", "surrogatepass")


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _cell(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, float | Decimal | Fraction | np.floating):
        return repr(float(cell))
    return str(cell)


def taken_for_granted(public: Sequence[str], rows_from: str) -> str:
    """The assumption of the promise about everything in the table that is not noised."""
    columns = f"the public columns ({', '.join(public)})" if public else ""
    if rows_from == "observed":
        rows = "Which rows there are was found in the data: the promise does not cover it."
        return f"{rows} {assumed_public(columns)}" if public else rows
    return assumed_public(f"the list of rows{f' and {columns}' if public else ''}")


def assumed_public(published: str) -> str:
    """The assumption of the promise about what has no noise.

    >>> assumed_public("the list of rows")
    'The promise also assumes that the list of rows would be the same without any one individual.'
    """
    return f"The promise also assumes that {published} would be the same without any one individual."


LISTS_ASSUMED = assumed_public("the lists of possible values")
"""The assumption for a table over a declared domain."""


def promise_line(level: Level, neighbours: str) -> str:
    """The promise in one line, for a screen; the statement has the whole of it.

    >>> from utmost.exact import level
    >>> print(promise_line(level("1/2"), "add-remove"))
    Adding or removing any one individual multiplies or divides the chance of any result by at most 1.65
    (epsilon = 0.5).
    """
    factor = f"by at most {factor_text(level)} ({level_name(level)})"
    return f"{_CHANGES[neighbours]} multiplies or divides the chance of any result {factor}."


def outcome_line(level: Level) -> str:
    """The loss of an outcome, where a public rule of released values has chosen its level.

    >>> from utmost.exact import level
    >>> outcome_line(level("1/16"))
    'The chance of this outcome is multiplied or divided by at most 1.07 (epsilon = 0.0625).'
    """
    return f"The chance of this outcome is multiplied or divided by at most {factor_text(level)} ({level_name(level)})."


_CHANGES = {
    "add-remove": "Adding or removing any one individual",
    "change-one": "Replacing any one individual's record",
}


def assumed_line(unit: Unit, cell: str) -> str:
    """The assumption of the promise about one individual, in one line.

    >>> assumed_line(Unit(1, 2), "released cell")
    'changes at most 2 released cells, each by at most 1'
    """
    return f"changes {unit.changes(cell)}"


def promise(level: Level, unit: Unit, released: str, cell: str) -> str:
    """The promise in one sentence, and in another what it assumes of one individual."""
    return promise_text(level, unit.neighbours, released, unit.changes(cell))


def promise_text(level: Level, neighbours: str, released: str, changes: str) -> str:
    """The promise, and what one individual may change for it to hold, in words."""
    one = {"add-remove": "one individual changes", "change-one": "one individual's record counts in"}[neighbours]
    return (
        f"{_CHANGES[neighbours]} multiplies or divides the chance of any conclusion from {released} by at most "
        f"{factor_text(level)} ({level_name(level)}). This assumes that {one} {changes}."
    )


def law_parameters(law: Law) -> dict[str, int | float | str]:
    """The law's own numbers, fractions as text."""
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in law.parameters.items()}
