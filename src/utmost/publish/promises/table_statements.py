"""Write the sentences of a statement about a released table, and compute the digest of its cells.

A statement is plain data, ready for JSON, and contains no true value and no seed.
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
from utmost.core.noise.distribution import Distribution
from utmost.core.privacy.unit import Unit
from utmost.tables.files.digit_buffers import digits, joined
from utmost.tables.frames.any_table import adapter_of


def cells_digest(table: Any) -> dict[str, str]:
    """Return the digest of the cells of a table in memory, of any kind."""
    # SHA-256 of [[name, [cells]], ...] as JSON without spaces, in UTF-8, one pair for each column in order. A missing
    # cell is null, an integer its decimal digits, another number the shortest decimal of its float, other cells their
    # text.
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
    """Return the cells as texts of a JSON list, without brackets."""
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
    """Return the assumption, in words, about the parts of a table without noise: public columns and list of rows."""
    columns = f"the public columns ({', '.join(public)})" if public else ""
    if rows_from == "observed":
        rows = "Which rows there are was found in the data: the promise does not cover it."
        return f"{rows} {assumed_public(columns)}" if public else rows
    return assumed_public(f"the list of rows{f' and {columns}' if public else ''}")


def assumed_public(published: str) -> str:
    """Return the assumption, in words, about values or lists that are published without noise."""
    return f"The promise also assumes that {published} would be the same without any one individual."


LISTS_ASSUMED = assumed_public("the lists of possible values")
"""The assumption for tables over a declared domain."""


def promise_line(level: Level, unit: Unit) -> str:
    """Return the guarantee without its assumptions, in one line, for a screen."""
    factor = f"by at most {factor_text(level)} ({level_name(level)})"
    return f"{unit.change_text} multiplies or divides the chance of any result {factor}."


def outcome_line(level: Level) -> str:
    """Return the privacy loss of an outcome whose level was chosen by a stopping rule, in words."""
    return f"The chance of this outcome is multiplied or divided by at most {factor_text(level)} ({level_name(level)})."


def assumed_line(unit: Unit, cell: str) -> str:
    """Return the assumption about one individual, as words after "one individual, who"."""
    return f"changes {unit.changes_text(cell)}"


def promise(level: Level, unit: Unit, released: str, cell: str) -> str:
    """Return the guarantee in one sentence, and the assumption of the unit about one individual in a second one."""
    return promise_text(level, unit, released, unit.changes_text(cell))


def promise_text(level: Level, unit: Unit, released: str, changes: str) -> str:
    """Return the guarantee, and in a second sentence the assumption that one individual changes only ``changes``."""
    one = "one individual" if unit.neighbours == "add-remove" else "one individual's record"
    return (
        f"{unit.change_text} multiplies or divides the chance of any result in {released} by at most "
        f"{factor_text(level)} ({level_name(level)}). This assumes that {one} {unit.verb} {changes}."
    )


def distribution_parameters(distribution: Distribution) -> dict[str, int | float | str]:
    """Return the parameters of a distribution as JSON values, with Fractions as text."""
    return {
        name: str(value) if isinstance(value, Fraction) else value for name, value in distribution.parameters.items()
    }
