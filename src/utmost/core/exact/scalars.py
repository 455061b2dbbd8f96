"""Types of formulas in one number q. A formula is exact for a rational q, and gives certified bounds for an enclosure
of q.
"""

from collections.abc import Callable
from typing import Protocol, Self, TypeVar


class Scalar(Protocol):
    """A rational (Fraction, or fmpq of python-flint), or an enclosure of a real (`Interval`, or python-flint's arb)."""

    def __add__(self, other: Self | int, /) -> Self: ...
    def __radd__(self, other: int, /) -> Self: ...
    def __sub__(self, other: Self | int, /) -> Self: ...
    def __rsub__(self, other: int, /) -> Self: ...
    def __mul__(self, other: Self | int, /) -> Self: ...
    def __rmul__(self, other: int, /) -> Self: ...
    def __truediv__(self, other: Self | int, /) -> Self: ...
    def __rtruediv__(self, other: int, /) -> Self: ...
    def __pow__(self, exponent: int, /) -> Self: ...


Q = TypeVar("Q", bound=Scalar)
"""The kind of number in which a formula is computed."""


class Formula(Protocol):
    def __call__(self, q: Q, /) -> Q:
        """The value at q, of the same type as q."""


class FormulaWithPowers(Protocol):
    """A formula in q and its powers. The caller passes a function that computes the powers, more accurately than
    repeated products would.
    """

    def __call__(self, q: Q, power: Callable[[int], Q], /) -> Q:
        """The value at q, with q^n = power(n)."""
