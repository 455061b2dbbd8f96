"""Write levels as text and as fields of a statement, and read them back."""

import math
import re
from collections.abc import Mapping
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from utmost.core.exact.display import number_words
from utmost.core.exact.intervals import narrow_interval, round_down, round_up
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import exact
from utmost.errors import BadTable, NotALevel, NotANumber

_FEW = 40  # up to this epsilon, exp(epsilon) is an exact fraction that is rounded up
_LARGEST_SHOWN = 10**6  # a larger exp(epsilon) is shown as a power of ten
_LONGEST_NAME = 30  # a level rounded to 61 bits has forty digits, too many to read
_LOG10_OF_E = Fraction(4_342_944_820, 10**10)  # rounded up
_LOG = re.compile(r"-(?:(?P<power>\S+) )?log\((?P<base>[^)]+)\)")


def level_facts(level: Level) -> dict[str, Any]:
    """The fields of a level in a statement: epsilon exactly, and as a float rounded up; a rational alpha exactly, else
    two floats around alpha.
    """
    if level.is_rational:
        alpha: Any = str(level.alpha_fraction())
    else:
        around = narrow_interval(level.alpha_interval)
        alpha = [round_down(around) + 0.0, round_up(around)]  # avoids -0.0
    return {
        "epsilon": level_text(level),
        "epsilon_rounded_up": round_up(narrow_interval(level.epsilon_interval)),
        "alpha": alpha,
    }


def level_text(level: Level) -> str:
    """epsilon as an exact expression: "1/2", or "-1/3 log(1/2)" with the natural logarithm."""
    if level.base is None:
        return str(level.power)
    return f"-{'' if level.power == 1 else f'{level.power} '}log({level.base})"


def level_from_facts(facts: Mapping[str, Any]) -> Level:
    """Read the level from the fields that `level_facts` wrote; other fields raise `BadTable`."""
    return level_from_text(facts.get("epsilon"))


def level_from_text(text: Any) -> Level:
    """Read the level from the text that `level_text` wrote; other text raises `BadTable`."""
    try:
        return _parsed(text) if isinstance(text, str) else level(exact(text, "epsilon"))
    except (NotALevel, NotANumber):
        raise BadTable(
            "the field epsilon of the statement must be a privacy level", came=text, where="epsilon"
        ) from None


@lru_cache(maxsize=512)  # opening a ledger reads the same few levels thousands of times
def _parsed(text: str) -> Level:
    logarithm = _LOG.fullmatch(text)
    if logarithm is None:
        return level(exact(text, "epsilon"))
    return level(alpha=exact(logarithm["base"], "alpha")).scaled(exact(logarithm["power"] or 1))


def level_name(level: Level) -> str:
    """epsilon for people: a short decimal, or else an exact expression with a decimal just above its value."""
    above = _up(Fraction(round_up(narrow_interval(level.epsilon_interval))) if level.base else level.power, 4)
    if level.base is None:
        exactly = Fraction(above) == level.power
        return f"epsilon = {above if exactly else level.power}"
    exact_text = level_text(level)
    return f"epsilon below {above}" if len(exact_text) > _LONGEST_NAME else f"epsilon = {exact_text}, below {above}"


def level_words(level: Level) -> str:
    """epsilon for people: a decimal, or else an exact expression with its approximate value.

    >>> from utmost.exact import level
    >>> level_words(level("7/20")), level_words(level("1/3")), level_words(level(alpha="1/2"))
    ('0.35', '1/3 (about 0.333333)', '-log(1/2) (about 0.693147)')
    """
    return number_words(level.power) if level.base is None else f"{level_text(level)} (about {level.epsilon_float:.6g})"


def factor_text(level: Level) -> str:
    """exp(epsilon), rounded up to three digits; a value above exp(10^6) is written as a power of ten.

    >>> from utmost.exact import level
    >>> factor_text(level("1/2")), factor_text(level("1e5")), factor_text(level("1e9"))
    ('1.65', '2.81e+43429', '10^434294482')
    """
    if level.is_rational and level.epsilon_float < _FEW:
        return _up(1 / level.alpha_fraction(), 3)
    epsilon = level.epsilon_interval(128).upper
    if epsilon > _LARGEST_SHOWN:
        return f"10^{_up(Fraction(math.ceil(epsilon * _LOG10_OF_E)), 9)}"
    # The error of Decimal's exp is at most half a unit of its last digit: the next larger decimal is certainly above.
    wide = Context(prec=20, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
    above = wide.next_plus(wide.exp(wide.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))))
    return _text(Context(prec=3, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN).plus(above))


def _up(x: Fraction, digits: int) -> str:
    """The least decimal with ``digits`` significant digits that is not below x > 0."""
    above = Context(prec=digits, rounding=ROUND_CEILING).divide(Decimal(x.numerator), Decimal(x.denominator))
    return _text(above)


def _text(number: Decimal) -> str:
    shown = number.normalize(Context(prec=28, Emax=MAX_EMAX, Emin=MIN_EMIN))
    return f"{shown:f}" if -6 < shown.adjusted() < 9 else f"{shown:e}"
