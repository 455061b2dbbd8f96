r"""Reading the parameters of laws, and writing them back."""

from fractions import Fraction
from typing import Any

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, exact, exact_integer, level

# Below it, and beyond these sensitivities, floats of probabilities underflow and exact searches never end.
_LEAST_EPSILON = 1e-50
_LARGEST_RATIO = 10**100


def law_level(epsilon: Number | Level | None, alpha: Number | None, where: str) -> Level:
    """The level of a law, not so strict that its probabilities underflow."""
    given = level(epsilon, alpha)
    if given.epsilon_float < _LEAST_EPSILON:
        raise OutOfRange(f"epsilon must be at least {_LEAST_EPSILON}", came=str(given), where=where)
    return given


def positive_integer(value: Number, name: str, where: str) -> int:
    """An integer of at least 1."""
    number = exact_integer(value, name)
    if not 1 <= number <= _LARGEST_RATIO:
        raise OutOfRange(f"{name} must lie between 1 and 1e100", came=value, where=where)
    return number


def positive_number(value: Number, name: str, where: str) -> Fraction:
    """A rational above 0."""
    number = exact(value, name)
    if number <= 0:
        raise OutOfRange(f"{name} must be positive", came=value, where=where)
    if not 1 <= number * _LARGEST_RATIO <= _LARGEST_RATIO**2:
        raise OutOfRange(f"{name} must lie between 1e-100 and 1e100", came=value, where=where)
    return number


def law_text(law: Any, **parameters: Any) -> str:
    """The law as an expression that evaluates back to it."""
    shown = {"sensitivity": _number_text(law.sensitivity)} | {k: _number_text(v) for k, v in parameters.items()}
    return f"{type(law).__name__}({level_text(law.level)}, {', '.join(f'{k}={v}' for k, v in shown.items())})"


def level_text(given: Level) -> str:
    """The level as the argument that gives it: epsilon=1, alpha='1/2'.

    >>> from utmost.exact import level
    >>> level_text(level(alpha="1/4")), level_text(level(alpha="1/4").scaled("1/6"))
    ("alpha='1/4'", "epsilon=level(alpha='1/2').scaled('1/3')")
    """
    if given.base is None:
        return f"epsilon={_number_text(given.power)}"
    if given.is_rational:
        return f"alpha={_number_text(given.alpha_fraction())}"
    return f"epsilon=level(alpha={_number_text(given.base)}).scaled({_number_text(given.power)})"


def _number_text(value: Any) -> str:
    if isinstance(value, Fraction):
        return str(value) if value.denominator == 1 else f"'{value}'"
    return repr(value)
