"""Read numbers exactly as the user wrote them."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Rational
from typing import Literal

import numpy as np

from utmost.errors import NotANumber, OutOfRange, UtmostError

Number = int | Fraction | Decimal | str | float
"""The types that a user may pass as a number. A float is read as the decimal that Python prints for it."""

IntegersOrReals = Literal["integers", "reals"]
"""The kind of values of a query or of columns. The user declares the kind: guessing it would reveal the values."""

_SPELLED = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

# No parameter needs a larger exponent, and a short string with a larger one could fill the memory.
_LARGEST_EXPONENT = 9_999
_MOST_WRITTEN = 13_952  # bits of an integer of 4 200 digits; Python prints at most 4 300
_MOST_BITS = 1 << 18
# The largest count, since each counted object takes memory.
_MOST = 10**9


def exact(value: object, name: str = "value") -> Fraction:
    """The rational that ``value`` denotes.

    Args:
        value: An int, Fraction, Decimal, str ("1/2", "0.5", "1e-3"), float or NumPy scalar. A float is read as the
            decimal that Python prints for it, so ``0.1`` is one tenth.
        name: Name of the parameter, for the message.

    Raises:
        NotANumber: if the value is a boolean, NaN, infinite, text that denotes no number, or of any other type.

    >>> exact(0.1), exact("1/3"), exact(2)
    (Fraction(1, 10), Fraction(1, 3), Fraction(2, 1))
    """
    if type(value) is Fraction:
        return value
    if type(value) is int:
        return Fraction(value)
    if not isinstance(value, str | bool) and isinstance(value, Rational | Integral):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal | float | np.floating) or (isinstance(value, str) and "/" not in value):
        return _from_decimal(value, name)
    if isinstance(value, str):
        numerator, _, denominator = value.partition("/")
        below = _from_decimal(denominator, name)
        if below != 0:
            return _from_decimal(numerator, name) / below
    raise _refusal(value, name)


def spelled(text: str) -> Decimal | None:
    """Read a decimal number of a file or option: digits 0 to 9, with an optional sign, point, exponent, and blanks."""
    # Python also reads "1_0" and digits of other scripts, which other programs refuse or take for names.
    plain = text.strip()
    try:
        return Decimal(plain) if _SPELLED.fullmatch(plain) else None
    except InvalidOperation:  # an exponent too large for Decimal
        return None


def exact_integer(value: object, name: str = "value") -> int:
    """The integer that ``value`` denotes; 3, "3" and 3.0 are read, 3.5 is refused.

    >>> exact_integer("1e9")
    1000000000
    """
    if type(value) is int:
        return value
    number = exact(value, name)
    if number.denominator != 1:
        raise NotANumber(f"{name} must be an integer", came=value)
    return number.numerator


def natural(value: object, name: str, least: int = 0, most: int = _MOST) -> int:
    """The count that ``value`` denotes: an integer from ``least`` to ``most``.

    Raises:
        NotANumber: if `exact_integer` refuses the value.
        OutOfRange: if the number is below ``least`` or above ``most``.

    >>> natural("12", "n")
    12
    """
    number = exact_integer(value, name)
    if number < least:
        raise OutOfRange(f"{name} must be at least {least}", came=value)
    if number > most:
        raise OutOfRange(f"{name} must be at most {most}", came=value)
    return number


def written_number(value: object, name: str) -> Fraction:
    """Read a rational of at most 4200 digits, so that a statement can print it."""
    number = exact(value, name)
    if max(abs(number.numerator), number.denominator).bit_length() > _MOST_WRITTEN:
        raise OutOfRange(f"{name} must have at most 4200 digits", came="more", where=name)
    return number


def first_integer(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The least k in low+1..high at which a monotone condition holds; ``high`` if the condition is false at every
    smaller k.
    """
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def precision(bits: object) -> int:
    """Check a number of bits: 1 to 2^18, which suffices to compare any two levels of 4000 digits.

    >>> precision(128)
    128
    """
    return natural(bits, "bits", least=1, most=_MOST_BITS)


def _from_decimal(value: object, name: str) -> Fraction:
    try:
        number = spelled(value) if isinstance(value, str) else Decimal(str(value))
    except (InvalidOperation, ValueError):  # a ValueError means that the number has too many digits to print
        raise _refusal(value, name) from None
    if number is None or not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise _refusal(value, name)
    return Fraction(number)


def has_decimal_comma(text: str) -> bool:
    """Whether text is a number with a comma in place of the decimal point."""
    return re.fullmatch(r"\s*-?[0-9]*,[0-9]+\s*", text) is not None


def _refusal(value: object, name: str) -> NotANumber:
    return NotANumber(
        f"{name} must be a finite number",
        came=value,
        remedy=f"Write {value.replace(',', '.')} with a point, or a fraction such as 1/2."
        if isinstance(value, str) and has_decimal_comma(value)
        else 'Pass a number such as 1, 0.5 or "1/2", in the digits 0 to 9.',
    )


@contextmanager
def refused_as(kind: type[UtmostError]) -> Iterator[None]:
    """Turn `NotANumber` into an error of the class ``kind``, within this context.

    >>> from utmost.errors import NotALoss
    >>> with refused_as(NotALoss):
    ...     exact("much")
    Traceback (most recent call last):
    utmost.errors.NotALoss: value must be a finite number; got much...
    """
    try:
        yield
    except NotANumber as error:
        raise kind(error.required, came=error.came, remedy=error.remedy) from None


def between_0_and_1(value: object, name: str, where: str | None = None, *, strictly: bool = True) -> Fraction:
    """Read a number between 0 and 1 exactly; ``strictly`` excludes both ends.

    >>> between_0_and_1("1/4", "share"), between_0_and_1(1, "p", strictly=False)
    (Fraction(1, 4), Fraction(1, 1))
    """
    number = exact(value, name)
    if not (0 < number < 1 if strictly else 0 <= number <= 1):
        remedy = 'Pass, for example, confidence="0.95".' if name == "confidence" else None
        required = f"{name} must lie {'strictly ' * strictly}between 0 and 1"
        raise OutOfRange(required, came=value, where=where, remedy=remedy)
    return number


def read_confidence(confidence: Number) -> Fraction:
    return written_number(between_0_and_1(confidence, "confidence"), "confidence")
