"""The statement beside a release: everything a reader may know, and nothing that the release did not already say.

The statement is plain data, ready for JSON. Fields are never removed and never change their meaning; `format` grows
when one is added. It holds no true value and no seed: there is none.
"""

import math
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from utmost.exact import Level, round_down, round_up
from utmost.release.plan import Plan
from utmost.version import __version__

_FEW = 40  # below exp(40) the fraction itself is rounded up
_LARGEST_SHOWN = 10**6  # beyond exp of it nobody reads the digits, only how many there are
_LOG10_OF_E = Fraction(4_342_944_820, 10**10)  # rounded up


def statement(plan: Plan, released: Sequence[str], as_they_are: Sequence[str], rows: int) -> dict[str, Any]:
    """What is said publicly about a release.

    Args:
        plan: the promise.
        released: the columns that carry noise.
        as_they_are: the columns published without noise.
        rows: how many rows there are.
    """
    unit, law = plan.unit, plan.law
    return {
        "kind": "utmost table release",
        "format": 1,
        "utmost": __version__,
        "guarantee": guarantee(plan),
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
        "domain": law.domain,
        "grid": None if plan.grid is None else str(plan.grid),
        "confidence": float(plan.confidence),
        "radius": plan.radius,
        "released": list(released),
        "as_they_are": list(as_they_are),
        "rows": rows,
    }


def guarantee(plan: Plan) -> str:
    """The promise in one plain sentence, and what it assumes in another.

    >>> from utmost.release.plan import plan_release
    >>> print(guarantee(plan_release(epsilon="1/2", sensitivity=1, cells=1)))
    Whatever anyone concludes from the released columns, the chance of concluding it would have been at most 1.65 times
    larger or smaller if any one individual had been left out of the data or added to it (epsilon = 0.5). This assumes
    that one individual changes at most 1 released cell, and that by at most 1.
    """
    unit = plan.unit
    many = "1 released cell, and that" if unit.cells == 1 else f"{unit.cells} released cells, each"
    other, one = {
        "add-remove": ("any one individual had been left out of the data or added to it", "one individual changes"),
        "change-one": ("any one individual's record had been any other", "one individual's record counts in"),
    }[unit.neighbours]
    return (
        f"Whatever anyone concludes from the released columns, the chance of concluding it would have been at most "
        f"{_factor(plan.level)} times larger or smaller if {other} ({_named(plan.level)}). This assumes that {one} at "
        f"most {many} by at most {unit.sensitivity}."
    )


def level_facts(level: Level) -> dict[str, Any]:
    """epsilon as exact text and rounded up; alpha as an exact fraction, or between two floats."""
    if level.is_rational:
        alpha: Any = str(level.alpha_fraction())
    else:
        around = level.alpha_interval(1200)
        alpha = [round_down(around) + 0.0, round_up(around)]  # not -0.0
    return {"epsilon": level_text(level), "epsilon_rounded_up": round_up(level.epsilon_interval(1200)), "alpha": alpha}


def level_text(level: Level) -> str:
    """epsilon as an exact expression: "1/2", or "-1/3 log(1/2)" with the natural logarithm."""
    if level.base is None:
        return str(level.power)
    return f"-{'' if level.power == 1 else f'{level.power} '}log({level.base})"


def _named(level: Level) -> str:
    """The level for people: epsilon as a short decimal where it is one, else the decimal just above it."""
    above = _rounded_up(level)
    if level.base is None:
        exactly = Fraction(above) == level.power
        return f"epsilon = {above if exactly else level.power}"
    return f"epsilon = {level_text(level)}, below {above}"


def _factor(level: Level) -> str:
    """exp(epsilon), rounded up to three digits; above exp(10^6) as a power of ten.

    >>> from utmost.exact import level
    >>> _factor(level("1/2")), _factor(level("1e5")), _factor(level("1e9"))
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
    return _up(Fraction(round_up(level.epsilon_interval(1200))) if level.base else level.power, 4)


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
