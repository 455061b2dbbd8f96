"""The cost of a geometric tail: sum over k >= 0 of ratio^k L(x + k stride)."""

import math
from fractions import Fraction
from math import comb
from typing import Any

from utmost.errors import OutOfRange, Unsupported
from utmost.noise.costs import Cost, Moment
from utmost.noise.sums import eulerian

# A sum of this many terms takes about a second; a ratio so near 1 is no work for a sum.
_MOST_TERMS = 1_000_000


def discounted(cost: Cost, x: int, stride: int, ratio: Fraction | float, settled: int | None = None) -> Any:
    """sum over k >= 0 of ratio^k L(x + k stride).

    The sum is a closed form for an integer moment and for a cost that is constant from some error on, and exact where
    the ratio is a Fraction. For every other cost it is summed in floats until the rest is below half a unit in the last
    place, given that L grows slower than ratio^(-k/2).

    Args:
        cost: L, even, of integers.
        x: where the tail starts.
        stride: the step away from zero, not 0: positive on the right, negative on the left.
        ratio: in [0, 1).
        settled: an error from which on L is constant, if there is one.

    Raises:
        OutOfRange: when the ratio is no such number.
        Unsupported: when the sum would take more than a million terms.

    >>> from utmost.noise import costs
    >>> discounted(costs.squared, 0, 2, Fraction(1, 2)), discounted(lambda x: min(abs(x), 1), 0, 1, 0.5, settled=1)
    (Fraction(24, 1), 1.0)
    """
    if not 0 <= ratio < 1:
        raise OutOfRange("the ratio of a tail must lie in [0, 1)", came=ratio)
    total, weight, k = 0 * ratio, 1 + 0 * ratio, 0
    while ratio and not _is_closed(cost, x + k * stride, stride, settled):
        total, weight, k = total + weight * _at(cost, x + k * stride, ratio), weight * ratio, k + 1
        if k > _MOST_TERMS:
            raise Unsupported("the tail must end within a million terms", came=f"ratio {ratio}")
        if weight < 2.0**-120 and not _has_closed_form(cost, settled):
            return float(total)
    return total + weight * _closed(cost, x + k * stride, stride, ratio, settled)


def _has_closed_form(cost: Cost, settled: int | None) -> bool:
    return settled is not None or (isinstance(cost, Moment) and cost.is_integer)


def _is_closed(cost: Cost, x: int, stride: int, settled: int | None) -> bool:
    """Whether the rest of the tail, from x on, is a sum in closed form."""
    return _has_closed_form(cost, settled) and x * stride >= 0 and abs(x) >= (settled or 0)


def _closed(cost: Cost, x: int, stride: int, ratio: Any, settled: int | None) -> Any:
    if not ratio or settled is not None:
        return _at(cost, x, ratio) / (1 - ratio)
    assert isinstance(cost, Moment)
    m = cost.order.numerator
    return sum(comb(m, i) * abs(x) ** (m - i) * abs(stride) ** i * _power_series(i, ratio) for i in range(m + 1))


def _power_series(order: int, ratio: Any) -> Any:
    """sum over k >= 0 of k^order ratio^k."""
    return sum(c * ratio**n for n, c in enumerate(eulerian(order))) / (1 - ratio) ** (order + 1)


def _at(cost: Cost, x: int, ratio: Any) -> Any:
    """L(x) in the ratio's number world."""
    value = cost(x)
    if isinstance(ratio, Fraction) and not isinstance(value, float):
        return Fraction(value)
    if not math.isfinite(value):
        raise OutOfRange("a cost must be finite", came=value, where=f"cost({x})")
    return float(value)
