"""Costs L(x) of an error of size x, even and nondecreasing in |x|.

A cost is any callable. The powers |x|^m have names, since every distribution has a formula for E|X|^m.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import mapping, real, truth
from utmost.core.exact.arrays import as_array, check_array, check_numbers, is_exact
from utmost.core.exact.numbers import Number, exact, exact_integer
from utmost.core.exact.own_names import own_names
from utmost.errors import NotALoss, NotANumber, NotMonotone, OutOfRange, quoted

# The closed forms take about order^2 operations on numbers of about order^2 digits.
_LARGEST_ORDER = 100

Cost = Callable[[Any], Any]
"""A function L(x) >= 0, even and nondecreasing in |x|, of an array or of a single number."""


@dataclass(frozen=True, slots=True, repr=False)
class Moment:
    """The cost L(x) = |x|^order, in the kind of numbers of x.

    >>> squared(-3), absolute(Fraction(-1, 2)), moment(3)(2.0)
    (9, Fraction(1, 2), 8.0)
    """

    order: Fraction

    def __call__(self, x: Any) -> Any:
        check_numbers(x, "error")
        size = np.abs(x) if isinstance(x, np.ndarray) else abs(x)
        try:
            return size ** (self.order.numerator if self.is_integer else float(self.order))
        except OverflowError:
            return math.inf  # NumPy gives infinity for arrays

    @property
    def is_integer(self) -> bool:
        """Whether the order is an integer, so that the expectation has a closed form."""
        return self.order.denominator == 1

    def __repr__(self) -> str:
        named = {Fraction(1): "absolute", Fraction(2): "squared"}
        text = str(self.order) if self.is_integer else f"'{self.order}'"
        return named.get(self.order, f"moment({text})")


def moment(order: Number) -> Moment:
    """The cost |x|^order, for a positive order up to 100."""
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


@dataclass(frozen=True, slots=True, repr=False)
class Tabled:
    """A cost given by a table of error sizes and their costs, linear between neighbouring sizes; see `tabled`."""

    sizes: tuple[Fraction, ...]  # sizes, ascending from 0
    costs: tuple[Fraction, ...]  # the cost of each size, nondecreasing

    def __call__(self, x: Any) -> Any:
        """L(x), which is linear between two sizes of the table, and constant beyond the last size."""
        check_numbers(x, "error")
        if isinstance(x, np.ndarray | float | np.floating):
            costs = np.interp(np.abs(x), [float(s) for s in self.sizes], [float(c) for c in self.costs])
            return costs if isinstance(x, np.ndarray) else float(costs)
        # np.interp would turn exact numbers into floats.
        size = abs(Fraction(x))
        at = bisect_right(self.sizes, size)
        if at == len(self.sizes):
            return self.costs[-1]
        (smaller, larger), (low, high) = self.sizes[at - 1 : at + 1], self.costs[at - 1 : at + 1]
        return low + (high - low) * (size - smaller) / (larger - smaller)

    def __repr__(self) -> str:
        return "table:" + ",".join(f"{size}={cost}" for size, cost in zip(self.sizes, self.costs, strict=True))


def tabled(table: Mapping[Any, Number]) -> Tabled:
    """Make a cost from a table {size: cost}: even, linear between two sizes, and constant beyond the last size."""
    read = sorted((exact(size, "a size"), exact(cost, "a cost")) for size, cost in mapping(table, "table").items())
    sizes, costs = tuple(size for size, _ in read), tuple(cost for _, cost in read)
    if not sizes or sizes[0] != 0 or len(set(sizes)) != len(sizes):
        came = "none" if not sizes else f"{sizes[0]} as the smallest size" if sizes[0] else "a size twice"
        raise OutOfRange(
            "the sizes in a table of costs must be 0 and larger numbers, and no size twice", came=came, where="tabled"
        )
    if costs[0] < 0:
        raise NotALoss("a cost must be finite and not negative", came=f"{costs[0]} at 0")
    check_cost([float(size) for size in sizes], np.array([float(cost) for cost in costs]))
    for size, before, cost in zip(sizes[1:], costs, costs[1:], strict=False):
        if cost < before:
            raise NotMonotone("a cost must not fall as |x| grows", came=f"{cost} at {size} after {before}")
    return Tabled(sizes, costs)


def cost_named(name: str | Cost) -> Cost:
    """Read the name of a cost: "absolute", "squared", "moment:3", "table:0=0,1=1,5=3"; return a function unchanged."""
    if not isinstance(name, str):
        return name
    kind, _, order = name.strip().lower().partition(":")
    if (kind, order) == ("absolute", ""):
        return absolute
    if (kind, order) == ("squared", ""):
        return squared
    if kind == "moment":
        try:
            return moment(order)
        except NotANumber:
            pass
    if kind == "table":
        pairs: dict[Any, Number] = {}
        for pair in order.split(","):
            size, equals, cost = pair.partition("=")
            if not equals or exact(size, "a size") in pairs:
                raise OutOfRange(
                    "a table of costs must be written 0=0,1=1/2,5=3, each size once", came=pair, where="cost"
                )
            pairs[exact(size, "a size")] = exact(cost, "a cost")
        return tabled(pairs)
    required = 'cost must be "absolute", "squared", "moment:" and a positive order, or "table:" and pairs SIZE=COST'
    raise OutOfRange(required, came=name)


# Two costs whose relative difference is at most this may be equal before rounding.
_ROUNDING = 1e-9
# Limits of the check of all integers: for functions of arrays it takes some 20 ms, and for others some 10 ms.
_MOST_CHECKED, _MOST_CHECKED_SINGLY = 1 << 20, 1 << 14
_DEPTH = 40.0  # errors of probability below e^-40 do not matter


@dataclass(frozen=True, slots=True, eq=False)
class ReadCost:
    """A cost as a function of arrays of sizes |x| >= 0; a cost that is too large for a float is infinite."""

    cost: Cost
    integers: bool  # whether its arguments are integers only
    vectorised: bool  # whether it takes arrays; else one number at a time

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.vectorised:
            with np.errstate(all="ignore"):
                return np.asarray(self.cost(x.flatten()), dtype=np.float64).reshape(x.shape)
        points = x.ravel().tolist()
        with np.errstate(all="ignore"):
            values = [_one(self.cost, int(value) if self.integers else value) for value in points]
        return np.array(values, dtype=np.float64).reshape(x.shape)


def read_cost(cost: Cost, scale: float, *, integers: bool) -> ReadCost:
    """Check a cost at sizes around ``scale`` and at their negatives, and return it as a function of arrays."""
    if isinstance(cost, Moment):
        return ReadCost(cost, integers, vectorised=True)
    if not callable(cost):
        raise NotALoss("a cost must be a function of the error", came=cost, remedy="Pass, for example, costs.absolute.")
    scale, integers = real(scale, "scale"), truth(integers, "integers")
    tried = {scale * n / 8 for n in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32)}
    tried |= {float(n) for n in range(9) if n <= 4 * scale}
    sizes = sorted({float(round(x)) for x in tried} if integers else tried)
    with np.errstate(all="ignore"):
        values = np.array([_one(cost, int(x) if integers else x) for x in sizes])
        mirrored = np.array([_one(cost, -(int(x) if integers else x)) for x in sizes])
    for size, value in zip(sizes, values.tolist(), strict=True):
        if not 0 <= value < float("inf"):
            raise NotALoss("a cost must be finite and not negative", came=f"{value} at {size}")
    check_cost(sizes, values)
    for size, value, other in zip(sizes, values.tolist(), mirrored.tolist(), strict=True):
        if abs(value - other) > _ROUNDING * abs(value):
            raise NotALoss(
                "a cost must be even, that is, the same at x and -x", came=f"{value} at {size} but {other} at {-size}"
            )
    try:
        with np.errstate(all="ignore"):
            together: Any = np.asarray(cost(np.array(sizes)), dtype=np.float64)
    except Exception:
        return ReadCost(cost, integers, vectorised=False)
    is_same = together.shape == values.shape and bool(np.all(abs(together - values) <= _ROUNDING * abs(values)))
    return ReadCost(cost, integers, vectorised=is_same)


def check_integers(cost: Cost, epsilon: float, period: int) -> int | None:
    """Check that a cost never falls from an integer to a larger one; return the last integer that was checked.

    The check ends where the probability of larger errors is below e^-40, or after 2^20 integers (2^14 for a function
    that takes no arrays). The result is None for a moment or a table, which never fall. ``epsilon`` is the level of the
    noise: probabilities at distance ``period`` differ by the factor exp(-epsilon).
    """
    if isinstance(cost, Moment | Tabled):
        return None
    epsilon, period = real(epsilon, "epsilon"), exact_integer(period, "period")
    read = read_cost(cost, float(period), integers=True)
    most = _MOST_CHECKED if read.vectorised else _MOST_CHECKED_SINGLY
    last = most if period * _DEPTH >= most * epsilon else max(4, math.ceil(_DEPTH / epsilon)) * period
    last = min(last, most)
    values = read(np.arange(last + 1, dtype=np.float64))
    before = np.maximum.accumulate(values)[:-1]
    falls = np.flatnonzero(values[1:] < before * (1 - _ROUNDING))
    if falls.size:
        at = int(falls[0]) + 1
        place = int(np.argmax(values[:at]))
        came = f"{values[place]} at {place} but {values[at]} at {at}"
        raise NotMonotone("a cost must not fall as |x| grows", came=came)
    return last


def check_cost(sizes: Sequence[float] | NDArray[np.float64], values: NDArray[np.float64]) -> None:
    """Check that a cost does not fall from one size to the next."""
    check_array(values, "costs", 1)
    values = as_array(values, "costs") if is_exact(values) else values
    falls = np.flatnonzero(values[1:] < values[:-1] * (1 - _ROUNDING))
    if falls.size:
        i = int(falls[0])
        came = f"{values[i]} at {sizes[i]} but {values[i + 1]} at {sizes[i + 1]}"
        raise NotMonotone("a cost must not fall as |x| grows", came=came)


def _one(cost: Cost, x: float) -> float:
    try:
        value = cost(x)
        number = float(value)
    except OverflowError:
        return float("inf")
    except Exception as error:
        raise NotALoss("a cost must give a number for every error", came=f"{quoted(error)} at {x}") from error
    if isinstance(value, str | bytes):
        raise NotALoss("a cost must give a number for every error", came=f"{quoted(value)} at {x}")
    return number


__dir__ = own_names(__name__)
