r"""Costs: what an error of size x costs its reader, L(x), even and nondecreasing in |x|.

A cost is any callable; the powers |x|^m are named, because every law knows their expectation in closed form.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.errors import OutOfRange
from utmost.exact import Number, check_numbers, exact

# The closed forms take as many steps as the square of the order, in numbers of as many digits.
_LARGEST_ORDER = 100

Cost = Callable[[Any], Any]
"""A function L(x) >= 0, even and nondecreasing in |x|; it may take arrays or single numbers."""


@dataclass(frozen=True, slots=True, repr=False)
class Moment:
    """The cost L(x) = |x|^order, in the number world of x; made by `moment`.

    >>> squared(-3), absolute(Fraction(-1, 2)), moment(3)(2.0)
    (9, Fraction(1, 2), 8.0)
    """

    order: Fraction

    def __call__(self, x: Any) -> Any:
        """|x|^order; an integer order keeps integers and fractions exact."""
        check_numbers(x, "error")
        size = np.abs(x) if isinstance(x, np.ndarray) else abs(x)
        return size ** (self.order.numerator if self.is_integer else float(self.order))

    @property
    def is_integer(self) -> bool:
        """Whether the order is an integer, so that laws know the expectation in closed form."""
        return self.order.denominator == 1

    def __repr__(self) -> str:
        named = {Fraction(1): "absolute", Fraction(2): "squared"}
        text = str(self.order) if self.is_integer else f"'{self.order}'"
        return named.get(self.order, f"moment({text})")


def moment(order: Number) -> Moment:
    """The cost |x|^order, for a positive order (2 is the squared error).

    Raises:
        OutOfRange: when the order is not positive.

    >>> moment(1), moment(3), moment(1.5)
    (absolute, moment(3), moment('3/2'))
    """
    value = exact(order, "order")
    if value > _LARGEST_ORDER:
        raise OutOfRange(f"the order of a moment must be at most {_LARGEST_ORDER}", came=order, where="moment")
    if value <= 0:
        raise OutOfRange("the order of a moment must be positive", came=order, where="moment")
    return Moment(value)


absolute = moment(1)
"""The absolute error |x|."""

squared = moment(2)
"""The squared error x^2."""
