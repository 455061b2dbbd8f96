r"""Capacities in closed form: the line, and secrets that are alike.

Write a = alpha and q = 1/a. For N counts the clamped geometric mechanism attains both capacities,

    multiplicative  (N (1 - a) + 2 a) / (1 + a),
    additive        1 - a^m  for N = 2m + 1,  1 - 2 a^(m+1) / (1 + a)  for N = 2m + 2;

the dual of the first is the mechanism's own scales, that of the second stands on the middle count or counts. Where
every secret sees the same distances, E / s and F / s with E = a^d, F = q^d and their row sums s attain n / s and
1 - n / s, with a uniform dual; so n / (1 + (n - 1) a) for equal distances, (2 / (1 + a))^b for strings of b bits.

Source: [fernandes2022], corollaries 20 and 22; the additive part of 22 is misprinted: 1 - n / (1 + (n - 1) q) is right.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from utmost.design.capacity.certificate import CapacityCertificate
from utmost.design.capacity.checker import Kind, UniformDual
from utmost.design.capacity.mechanisms import KernelMechanism, UniformMechanism
from utmost.design.capacity.profiles import profile
from utmost.design.capacity.row_sums import BITS
from utmost.design.capacity.sandwich import lowered, sandwich
from utmost.exact import Array
from utmost.privacy import PrivacyType
from utmost.spaces import DiscreteMetric, LineMetric

LINE = "Corollary 20 of [fernandes2022] and its additive twin: the geometric mechanism leaks most on a line"
EQUAL = "Corollary 22 of [fernandes2022], corrected: randomised response and its dual leak most on equal distances"
ALIKE = "secrets that see the same distances: alpha^(+-d), divided by its row sum, leaks most"


def closed_form(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """The certificate of a capacity that has a closed form here, else None. Cost: O(1), or O(n^2) to find none."""
    if isinstance(ptype.space.metric, LineMetric):
        return _line(ptype, kind)
    if profile(ptype.space) is not None:
        mechanism = UniformMechanism(ptype, 1 if kind == "multiplicative" else -1)
        theorem = EQUAL if isinstance(ptype.space.metric, DiscreteMetric) else ALIKE
        return CapacityCertificate(ptype, kind, mechanism, UniformDual(), theorem=theorem)
    return None


def _line(ptype: PrivacyType, kind: Kind) -> CapacityCertificate:
    """The geometric mechanism; its scales, or the middle, as dual. Irrational ones are enclosed."""
    n = ptype.space.size - 1
    a: Any = ptype.level.alpha_fraction() if ptype.level.is_rational else ptype.level.alpha_interval(2 * BITS)
    scales = _scales(a, n)
    mechanism, dual = (KernelMechanism(ptype, scales), scales) if _is_exact(a) else sandwich(ptype, scales)
    if kind == "additive":
        dual = _on_the_middle(a, n) if _is_exact(a) else lowered(ptype, _on_the_middle(a, n))
    return CapacityCertificate(ptype, kind, mechanism, dual, theorem=LINE)


def _scales(a: Any, n: int) -> Array:
    """The scales of the geometric mechanism on n + 1 counts: 1/(1+a) at the ends and (1-a)/(1+a) inside."""
    ends, inside = (1 / (1 + a), (1 - a) / (1 + a)) if n else (Fraction(1), Fraction(1))
    scales = np.full(n + 1, _below(inside), dtype=object)
    scales[[0, -1]] = _below(ends)
    return scales


def _on_the_middle(a: Any, n: int) -> Array:
    """a^m on the middle count of 2m + 1, or a^(m+1) / (1 + a) on both middle counts of 2m + 2."""
    dual = np.full(n + 1, Fraction(0), dtype=object)
    m = n // 2
    dual[[m, n - m]] = _below(a**m) if n % 2 == 0 else _below(a ** (m + 1) / (1 + a))
    return dual


def _below(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else value.lower


def _is_exact(value: Any) -> bool:
    return isinstance(value, Fraction)
