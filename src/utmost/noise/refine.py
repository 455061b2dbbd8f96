r"""From intervals to a float: refine until the float is certain to the last bits."""

from collections.abc import Callable

from utmost.errors import Unsupported
from utmost.exact import Interval, nearest

_RELATIVE = 1 << 60
# Half of the least float is 2^-1075: what is certainly below is zero to the nearest float, however small it is.
_UNDERFLOW_BITS = 1076


def refined(value: Callable[[int], Interval], bits: int = 128) -> float:
    """A positive real as a float, from intervals of growing precision, ``bits`` at first: relative error about 2^-53.

    A number that lies nearer to 0 than to any other float is 0.0, so the precision stays bounded whatever its size.

    Raises:
        Unsupported: when the number exceeds the largest float.

    >>> from utmost.exact import exp_interval
    >>> refined(lambda bits: exp_interval(-600, bits))
    2.65039655300431...e-261
    """
    while True:
        interval = value(bits)
        if (interval.high - interval.low) * _RELATIVE <= interval.low:
            break
        if interval.high.bit_length() <= bits - _UNDERFLOW_BITS:
            return 0.0
        bits *= 2
    result = nearest(interval)
    if result == float("inf"):
        raise Unsupported("the result exceeds the largest float", mend="Ask for a smaller order or sensitivity.")
    return result
