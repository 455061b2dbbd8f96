r"""Reading the parameters of laws, and writing them back."""

from fractions import Fraction
from typing import Any

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, exact, exact_integer


def positive_integer(value: Number, name: str, where: str) -> int:
    """An integer of at least 1."""
    number = exact_integer(value, name)
    if number < 1:
        raise OutOfRange(f"{name} must be at least 1", came=value, where=where)
    return number


def positive_number(value: Number, name: str, where: str) -> Fraction:
    """A rational above 0."""
    number = exact(value, name)
    if number <= 0:
        raise OutOfRange(f"{name} must be positive", came=value, where=where)
    return number


def law_text(law: Any, **parameters: Any) -> str:
    """The law as an expression that evaluates back to it."""
    shown = {"sensitivity": _number_text(law.sensitivity)} | {k: _number_text(v) for k, v in parameters.items()}
    return f"{type(law).__name__}({level_text(law.level)}, {', '.join(f'{k}={v}' for k, v in shown.items())})"


def level_text(level: Level) -> str:
    """The level as the argument that gives it: epsilon=1, alpha='1/2'.

    >>> from utmost.exact import level
    >>> level_text(level(alpha="1/4")), level_text(level(alpha="1/4").scaled("1/6"))
    ("alpha='1/4'", "epsilon=level(alpha='1/2').scaled('1/3')")
    """
    if level.base is None:
        return f"epsilon={_number_text(level.power)}"
    if level.is_rational:
        return f"alpha={_number_text(level.alpha_fraction())}"
    return f"epsilon=level(alpha={_number_text(level.base)}).scaled({_number_text(level.power)})"


def _number_text(value: Any) -> str:
    if isinstance(value, Fraction):
        return str(value) if value.denominator == 1 else f"'{value}'"
    return repr(value)
