"""exp and log of rationals, enclosed in intervals.

The standard library's decimal module rounds ``exp`` and ``ln`` correctly, so one step down and one step up from its
answer enclose the true value; the argument itself is rounded outward first.
"""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from utmost.errors import OutOfRange
from utmost.exact.interval import Interval

_LOG10_OF_2 = 0.30103
# e^x for x beyond this has more than four hundred thousand digits, and is no probability.
_LARGEST_ARGUMENT = 1_000_000


def exp_interval(x: Fraction | Interval, bits: int) -> Interval:
    """An interval around e^x, for a rational x or for every x of an interval.

    Args:
        x: the exponent, at most 10^6.
        bits: precision of the result; for a rational x the interval is a few units of ``2**-bits`` wide.

    Raises:
        OutOfRange: when x is above 10^6.

    >>> exp_interval(Fraction(-1), 20).low / 2**20
    0.3678...
    """
    low, high = (x.lower, x.upper) if isinstance(x, Interval) else (x, x)
    return Interval(_exp(low, bits, ROUND_FLOOR), _exp(high, bits, ROUND_CEILING), bits)


def log_interval(x: Fraction, bits: int) -> Interval:
    """An interval around the natural logarithm of a positive rational.

    Raises:
        OutOfRange: when x is not positive.

    >>> log_interval(Fraction(2), 20).low / 2**20
    0.6931...
    """
    if x <= 0:
        raise OutOfRange("the logarithm needs a positive number", came=x)
    if x == 1:
        return Interval(0, 0, bits)
    return Interval(_log(x, bits, ROUND_FLOOR), _log(x, bits, ROUND_CEILING), bits)


def _exp(x: Fraction, bits: int, rounding: str) -> int:
    if x > _LARGEST_ARGUMENT:
        raise OutOfRange(f"the exponent must be at most {_LARGEST_ARGUMENT}", came=x)
    if x == 0:
        return 1 << bits
    if x < -bits:  # e^x < 2^x < 2^-bits: no need to compute what rounds to one unit at most
        return 0 if rounding == ROUND_FLOOR else 1
    digits = int(bits * _LOG10_OF_2) + max(0, int(x * 44 // 100)) + len(str(abs(int(x)))) + 6
    context = _context(digits, rounding)
    near = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    scaled = _scaled(_step(near.exp(context), context, rounding), bits, rounding)
    return min(scaled, 1 << bits) if x < 0 else scaled


def _log(x: Fraction, bits: int, rounding: str) -> int:
    size = max(x.numerator.bit_length(), x.denominator.bit_length())
    context = _context(int(bits * _LOG10_OF_2) + len(str(size)) + 6, rounding)
    near = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    return _scaled(_step(near.ln(context), context, rounding), bits, rounding)


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


def _step(value: Decimal, context: Context, rounding: str) -> Decimal:
    """One step outward: exp and ln are rounded to nearest whatever the context says."""
    return context.next_minus(value) if rounding == ROUND_FLOOR else context.next_plus(value)


def _scaled(value: Decimal, bits: int, rounding: str) -> int:
    numerator, denominator = value.as_integer_ratio()
    scaled = numerator << bits
    return scaled // denominator if rounding == ROUND_FLOOR else -(-scaled // denominator)
