"""Sums of alpha^(+-d) times weights over all secrets: exact where alpha^d is rational, else enclosed."""

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from utmost.design.capacity.kernel import Kernel
from utmost.exact import Array, Interval, Surd, objects
from utmost.exact.table_product import table_product
from utmost.privacy import PrivacyType
from utmost.privacy.ratios import power_interval
from utmost.spaces import LineMetric

BITS = 96
# A common denominator longer than this costs more than it is worth: fixed point then.
_LONGEST = 1 << 14


def row_sums(ptype: PrivacyType, weights: Array, sign: int) -> tuple[list[Fraction], list[Fraction]]:
    """Bounds of sum_j alpha^(sign d(x, j)) weights[j] for every x, from below and from above; equal where exact.

    Args:
        ptype: n secrets.
        weights: (n,) nonnegative Fractions.
        sign: 1 for the kernel alpha^d, -1 for 1 / alpha^d.

    Cost: O(n) on counts, else O(n^2) float64 operations for each pair of 16-bit digits of kernel and weights.
    """
    if isinstance(ptype.space.metric, LineMetric):
        return _line_sums(ptype, weights, sign)
    used = np.flatnonzero(weights != 0)
    if not used.size:
        return [Fraction(0)] * len(weights), [Fraction(0)] * len(weights)
    kernel = Kernel.of(ptype)
    low, high, scale = scaled_table(kernel, sign)
    weights, places = weights[used], kernel.kinds[:, used]
    common = lcm(*(w.denominator for w in weights.tolist()))
    whole = objects(w.numerator * (common // w.denominator) for w in weights.tolist())
    below, unit = table_product(low, places, whole), scale * common
    apart = max((high - low).tolist()) * sum(whole.tolist())
    exactly = [Fraction(t, unit) for t in below]
    return exactly, exactly if apart == 0 else [s + Fraction(apart, unit) for s in exactly]


def scaled_table(kernel: Kernel, sign: int) -> tuple[Array, Array, int]:
    """alpha^(sign d) by kind as whole numbers over one denominator, rounded down and up: one array where exact."""
    if kernel.is_rational:
        exactly = kernel.fractions if sign > 0 else 1 / kernel.fractions
        scale = lcm(*(p.denominator for p in exactly.tolist()))
        if scale.bit_length() <= _LONGEST:
            table = objects([p.numerator * (scale // p.denominator) for p in exactly.tolist()])
            return table, table, scale
    bits = BITS + 16 + _zeros(kernel.level.epsilon_float, kernel.lengths[-1], sign)
    around = [_signed(power, sign).at(BITS) for power in kernel.intervals(bits)]
    return objects([i.low for i in around]), objects([i.high for i in around]), 1 << BITS


def _line_sums(ptype: PrivacyType, weights: Array, sign: int) -> tuple[list[Fraction], list[Fraction]]:
    """One pass down and one pass up: E w = (what comes from the left) + w + (what comes from the right)."""
    a: Any
    zero: Any
    if ptype.level.is_rational:
        a, zero = ptype.level.alpha_fraction(), Fraction(0)
    else:
        bits = 2 * BITS
        a, zero = ptype.level.alpha_interval(bits), Interval.of(0, bits)
    a = a if sign > 0 else 1 / a
    left, right = [zero], [zero]
    for w in weights.tolist()[:-1]:
        left.append((left[-1] + w) * a)
    for w in weights.tolist()[:0:-1]:
        right.append((right[-1] + w) * a)
    sums = [p + w + q for p, w, q in zip(left, weights.tolist(), reversed(right), strict=True)]
    if isinstance(zero, Interval):
        return [s.lower for s in sums], [s.upper for s in sums]
    return sums, sums


def farthest(ptype: PrivacyType, sign: int) -> tuple[list[Fraction], list[Fraction]]:
    """Bounds of alpha^(sign d) at the secret farthest from each, from below and from above."""
    metric = ptype.space.metric
    if isinstance(metric, LineMetric):
        steps = [max(j, metric.n - j) for j in range(metric.n + 1)]
        powers = {d: _power(ptype, Fraction(d), sign) for d in set(steps)}
        pairs = [powers[d] for d in steps]
    else:
        kernel = Kernel.of(ptype)
        low, high, scale = scaled_table(kernel, sign)
        pairs = [(Fraction(int(low[k]), scale), Fraction(int(high[k]), scale)) for k in kernel.kinds.max(axis=0)]
    return [low for low, _ in pairs], [high for _, high in pairs]


def _power(ptype: PrivacyType, length: Fraction, sign: int) -> tuple[Fraction, Fraction]:
    if ptype.level.is_rational:
        exactly = ptype.level.alpha_fraction() ** (sign * int(length))
        return exactly, exactly
    bits = 2 * BITS + _zeros(ptype.level.epsilon_float, length, sign)
    around = _signed(power_interval(ptype.level, length, bits), sign)
    return around.lower, around.upper


def _signed(power: Interval, sign: int) -> Interval:
    return power if sign > 0 else 1 / power


def _zeros(epsilon: float, length: Fraction | Surd, sign: int) -> int:
    """How many more bits it takes to divide by alpha^length."""
    return 0 if sign > 0 else int(3 * epsilon * float(length)) + 2
