"""The statement beside a release: everything a reader may know, and nothing that the release did not already say.

The statement is plain data, ready for JSON. It holds no true value and no seed: there is none. What a format means
never changes: a field that is added or renamed, and a sentence that is worded otherwise, makes `FORMAT` grow, and
`utmost.documents.statement_check` goes on reading the older ones.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable, NotALevel, NotANumber
from utmost.exact import Level, checked, exact, level, round_down, round_up, settled
from utmost.privacy import Unit
from utmost.release.adapters import adapter_of
from utmost.release.digits import digits, joined
from utmost.release.plan import Plan
from utmost.version import __version__

_FEW = 40  # below exp(40) the fraction itself is rounded up
_LARGEST_SHOWN = 10**6  # beyond exp of it nobody reads the digits, only how many there are
_LOG10_OF_E = Fraction(4_342_944_820, 10**10)  # rounded up

KIND = "utmost table release"
FORMAT = 2

_LOG = re.compile(r"-(?:(?P<power>\S+) )?log\((?P<base>[^)]+)\)")


@checked
def statement(
    plan: Plan,
    released: Sequence[str],
    public: Sequence[str],
    rows: int,
    *,
    rows_from: str = "declared",
    digest: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What is said publicly about a release.

    Args:
        plan: the promise.
        released: the columns that carry noise.
        public: the columns published without noise.
        rows: how many rows there are.
        rows_from: where their list comes from, "declared" or "observed".
        digest: of the released table, see `cells_digest`; of a file, {"of": "file", "sha256": ...}.
    """
    unit, law = plan.unit, plan.law
    return {
        "kind": KIND,
        "format": FORMAT,
        "utmost": __version__,
        "guarantee": f"{guarantee(plan)} {taken_for_granted(public, rows_from)}",
        **level_facts(plan.level),
        "neighbours": unit.neighbours,
        "sensitivity": str(unit.sensitivity),
        "cells": unit.cells,
        "charged": unit.charged,
        "per_cell": level_facts(law.level),
        "law": type(law).__name__,
        "parameters": law_parameters(law),
        "drawn": repr(plan.drawn),
        "theorem": plan.theorem,
        "cost": repr(plan.cost),
        "relaxable": plan.relaxable,
        "domain": law.numbers,
        "grid": None if plan.grid is None else str(plan.grid),
        "confidence": float(plan.confidence),
        "confidence_exactly": str(plan.confidence),
        "radius": plan.radius,
        "released": list(released),
        "public": list(public),
        "rows": rows,
        "rows_from": rows_from,
        "table": None if digest is None else dict(digest),
    }


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
    """What the promise takes for granted of everything in the table that is not noised."""
    columns = f"the columns declared public ({', '.join(public)})" if public else ""
    if rows_from == "observed":
        rows = "Which rows there are was found in the data, and the promise does not cover it."
        return f"{rows} It takes for granted that {columns} depend on no individual." if public else rows
    return f"It takes for granted that the list of rows{f' and {columns}' if public else ''} {_depend(public)}."


def _depend(public: Sequence[str]) -> str:
    return "depend on no individual" if public else "depends on no individual"


@checked
def guarantee(plan: Plan) -> str:
    """The promise in one plain sentence, and what it assumes in another.

    >>> from utmost.release import plan_release
    >>> print(guarantee(plan_release(epsilon="1/2", sensitivity=1, cells=1)))
    Whatever anyone concludes from the released columns, the chance of concluding it would have been at most 1.65 times
    larger or smaller if any one individual had been left out of the data or added to it (epsilon = 0.5). This assumes
    that one individual changes at most 1 released cell, and that by at most 1.
    """
    return promise(plan.level, plan.unit, "the released columns", "released cell")


def promise_line(level: Level, neighbours: str) -> str:
    """The promise in one line, for a screen; the statement has the whole of it.

    >>> from utmost.exact import level
    >>> print(promise_line(level("1/2"), "add-remove"))
    With or without any one individual, no result is more than 1.65 times as likely (epsilon = 0.5).
    """
    other = {
        "add-remove": "With or without any one individual",
        "change-one": "Whatever any one individual's record says",
    }[neighbours]
    return f"{other}, no result is more than {factor_text(level)} times as likely ({level_name(level)})."


def assumed_line(unit: Unit, cell: str) -> str:
    """What the promise assumes of one individual, in one line.

    >>> assumed_line(Unit(1, 2), "released cell")
    'changes at most 2 released cells, each by at most 1'
    """
    many = f"1 {cell}," if unit.cells == 1 else f"{unit.cells} {cell}s, each"
    return f"changes at most {many} by at most {unit.sensitivity}"


def promise(level: Level, unit: Unit, released: str, cell: str) -> str:
    """`guarantee` for whatever is released, and whatever one individual changes."""
    many = f"1 {cell}, and that" if unit.cells == 1 else f"{unit.cells} {cell}s, each"
    return promise_text(level, unit.neighbours, released, f"at most {many} by at most {unit.sensitivity}")


def promise_text(level: Level, neighbours: str, released: str, changes: str) -> str:
    """The promise, and what one individual may change for it to hold, in words."""
    other, one = {
        "add-remove": ("any one individual had been left out of the data or added to it", "one individual changes"),
        "change-one": ("any one individual's record had been any other", "one individual's record counts in"),
    }[neighbours]
    return (
        f"Whatever anyone concludes from {released}, the chance of concluding it would have been at most "
        f"{factor_text(level)} times larger or smaller if {other} ({level_name(level)}). This assumes that {one} "
        f"{changes}."
    )


def level_facts(level: Level) -> dict[str, Any]:
    """epsilon as exact text and rounded up; alpha as an exact fraction, or between two floats."""
    if level.is_rational:
        alpha: Any = str(level.alpha_fraction())
    else:
        around = settled(level.alpha_interval)
        alpha = [round_down(around) + 0.0, round_up(around)]  # not -0.0
    return {
        "epsilon": level_text(level),
        "epsilon_rounded_up": round_up(settled(level.epsilon_interval)),
        "alpha": alpha,
    }


def level_text(level: Level) -> str:
    """epsilon as an exact expression: "1/2", or "-1/3 log(1/2)" with the natural logarithm."""
    if level.base is None:
        return str(level.power)
    return f"-{'' if level.power == 1 else f'{level.power} '}log({level.base})"


def stated_level(facts: Mapping[str, Any]) -> Level:
    """The level that `level_facts` wrote.

    Raises:
        BadTable: for what is none.

    >>> stated_level({"epsilon": "-1/3 log(1/2)"}) == level(alpha="1/2").scaled("1/3")
    True
    """
    return level_of_text(facts.get("epsilon"))


def level_of_text(text: Any) -> Level:
    """The level that `level_text` wrote.

    Raises:
        BadTable: for what is none.

    >>> level_of_text("1/2"), level_of_text("-2 log(1/3)")
    (Level(epsilon=1/2), Level(alpha=1/3^2))
    """
    try:
        found = _LOG.fullmatch(str(text))
        if found is None:
            return level(exact(text, "epsilon"))
        return level(alpha=exact(found["base"], "alpha")).scaled(exact(found["power"] or 1))
    except (NotALevel, NotANumber):
        raise BadTable("the statement must hold its level as epsilon", came=text, where="epsilon") from None


def level_name(level: Level) -> str:
    """The level for people: epsilon as a short decimal where it is one, else the decimal just above it."""
    above = _rounded_up(level)
    if level.base is None:
        exactly = Fraction(above) == level.power
        return f"epsilon = {above if exactly else level.power}"
    return f"epsilon = {level_text(level)}, below {above}"


def factor_text(level: Level) -> str:
    """exp(epsilon), rounded up to three digits; above exp(10^6) as a power of ten.

    >>> from utmost.exact import level
    >>> factor_text(level("1/2")), factor_text(level("1e5")), factor_text(level("1e9"))
    ('1.65', '2.81e+43429', '10^434294482')
    """
    if level.is_rational and level.epsilon_float < _FEW:
        return _up(1 / level.alpha_fraction(), 3)
    epsilon = level.epsilon_interval(128).upper
    if epsilon > _LARGEST_SHOWN:
        return f"10^{_up(Fraction(math.ceil(epsilon * _LOG10_OF_E)), 9)}"
    # Decimal's exp is right to half a unit of its last digit, whatever the exponent; one step up is certainly above.
    wide = Context(prec=20, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
    above = wide.next_plus(wide.exp(wide.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))))
    return _text(Context(prec=3, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN).plus(above))


def _rounded_up(level: Level) -> str:
    return _up(Fraction(round_up(settled(level.epsilon_interval))) if level.base else level.power, 4)


def _up(x: Fraction, digits: int) -> str:
    """The least decimal of so many digits that is not below x > 0."""
    above = Context(prec=digits, rounding=ROUND_CEILING).divide(Decimal(x.numerator), Decimal(x.denominator))
    return _text(above)


def _text(number: Decimal) -> str:
    shown = number.normalize(Context(prec=28, Emax=MAX_EMAX, Emin=MIN_EMIN))
    return f"{shown:f}" if -6 < shown.adjusted() < 9 else f"{shown:e}"


def law_parameters(law: Any) -> dict[str, Any]:
    """The law's own numbers, exact ones as text."""
    names = ("sensitivity", "step", "gamma")
    found = {name: getattr(law, name) for name in names if hasattr(law, name)}
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in found.items()}
