"""Reading a number exactly: what the user wrote is what is computed with."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Rational

import numpy as np

from utmost.errors import NotANumber, OutOfRange, UtmostError

Number = int | Fraction | Decimal | str | float
"""What a user may pass where a number is wanted: a float is read as the decimal it prints."""

_SPELLED = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

# 1e9999 is nobody's parameter; a larger exponent would only let a short string fill the memory.
_LARGEST_EXPONENT = 9_999
_MOST_WRITTEN = 13_952  # bits of 4 200 digits: Python writes and reads integers of 4 300
_MOST_BITS = 1 << 18
# What is counted has a place in memory each.
_MOST = 10**9


def exact(value: object, name: str = "value") -> Fraction:
    """The rational that ``value`` denotes.

    Args:
        value: int, Fraction, Decimal, str ("1/2", "0.5", "1e-3"), float or NumPy scalar. A float is read as the
            decimal it prints, so ``0.1`` is one tenth.
        name: the parameter's name, for the message.

    Raises:
        NotANumber: for booleans, NaN, infinities, text that is no number, and every other type.

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
    """The number that text spells, as every door reads it: digits 0 to 9 with a sign, a point or an exponent.

    Blanks around it do not count. Python reads more than people write, "1_0" and digits of other scripts; what one door
    took for ten, another would take for a name, and a third refuse.

    >>> spelled(" +5"), spelled("1e-3"), [spelled(text) for text in ("1_0", "１２", "0x10", "nan", "1/2", "")]
    (Decimal('5'), Decimal('0.001'), [None, None, None, None, None, None])
    """
    plain = text.strip()
    try:
        return Decimal(plain) if _SPELLED.fullmatch(plain) else None
    except InvalidOperation:  # an exponent beyond all that Decimal holds
        return None


def exact_integer(value: object, name: str = "value") -> int:
    """The integer that ``value`` denotes; 3, "3" and 3.0 are read, 3.5 is refused.

    >>> exact_integer("1e9")
    1000000000
    """
    number = exact(value, name)
    if number.denominator != 1:
        raise NotANumber(f"{name} must be an integer", came=value)
    return number.numerator


def natural(value: object, name: str, least: int = 0, most: int = _MOST) -> int:
    """The integer that ``value`` denotes, which must lie in ``least`` to ``most``: how many of something there are.

    Raises:
        NotANumber: see `exact_integer`.
        OutOfRange: below ``least`` and above ``most``.

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
    """The rational that ``value`` denotes, of no more digits than Python writes: it will stand in a statement.

    Raises:
        NotANumber: see `exact`.
        OutOfRange: for one of more digits.
    """
    number = exact(value, name)
    if max(abs(number.numerator), number.denominator).bit_length() > _MOST_WRITTEN:
        raise OutOfRange(f"{name} must have at most 4200 digits", came="more", where=name)
    return number


def first_integer(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The least k in low+1..high at which a condition holds that, once it holds, holds on; high where none below does.

    >>> first_integer(0, 10**30, lambda k: k * k >= 10**50)
    10000000000000000000000000
    """
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def precision(bits: object) -> int:
    """How many bits are wanted of a number: 1 to 2^18.

    No decision about levels of 4000 digits needs more, and each doubling takes three times as long.

    >>> precision(128)
    128
    """
    return natural(bits, "bits", least=1, most=_MOST_BITS)


def _from_decimal(value: object, name: str) -> Fraction:
    try:
        number = spelled(value) if isinstance(value, str) else Decimal(str(value))
    except (InvalidOperation, ValueError):  # ValueError: a number of a kind of ours or NumPy's that cannot be printed
        raise _refusal(value, name) from None
    if number is None or not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise _refusal(value, name)
    return Fraction(number)


def _refusal(value: object, name: str) -> NotANumber:
    return NotANumber(
        f"{name} must be a finite number",
        came=value,
        remedy='Pass an int, a Fraction, a Decimal, a float, or text such as "1/2" or "0.5", in the digits 0 to 9.',
    )


@contextmanager
def refused_as(kind: type[UtmostError]) -> Iterator[None]:
    """Refuse what is no number as the thing that it was to be: no channel, no metric, no loss.

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
    """A part of 1, read exactly: not 0 and not 1, where these are left out.

    >>> between_0_and_1("1/4", "share"), between_0_and_1(1, "p", strictly=False)
    (Fraction(1, 4), Fraction(1, 1))
    """
    number = exact(value, name)
    if not (0 < number < 1 if strictly else 0 <= number <= 1):
        raise OutOfRange(f"{name} must lie {'strictly ' * strictly}between 0 and 1", came=value, where=where)
    return number


def read_confidence(confidence: Number) -> Fraction:
    """A confidence, strictly between 0 and 1, read exactly."""
    return between_0_and_1(confidence, "confidence")
