"""Compute capacities in closed form: for counts, for spaces in which every secret has the same distances to the others,
for lattices, and from the magnitude of a space.

**The multiplicative capacity is the sum of the weighting w, if w is nonnegative.** The weighting is the solution of E w
= 1, with E = alpha^d.

If w is nonnegative, M = E diag(w) is a channel of the type and leaks sum_y w_y, and the dual z = w proves that no
channel leaks more. The sum of the weighting is called the magnitude of the metric space.

**Closed forms exist for counts, and for spaces in which every secret has the same distances to the others.**

Write a = alpha and q = 1/a. For N counts the clamped geometric mechanism attains both capacities,

    multiplicative  (N (1 - a) + 2 a) / (1 + a),
    additive        1 - a^m  for N = 2m + 1,  1 - 2 a^(m+1) / (1 + a)  for N = 2m + 2;

the dual of the multiplicative capacity is the vector of the column factors `GeometricMatrix.scales`; the dual of the
additive capacity is positive only at the middle count or counts. Suppose that every secret has the same distances to
the others. Let s be the sum of a row of E = a^d, and t the sum of a row of F = q^d. Then E / s attains the
multiplicative capacity n / s, F / t attains the additive capacity 1 - n / t, and both duals are uniform. The
multiplicative capacity is n / (1 + (n - 1) a) for equal distances and (2 / (1 + a))^b for strings of b bits.

Source: [fernandes2022], corollaries 20 and 22; the additive part of corollary 22 has a misprint: the correct value is 1
- n / (1 + (n - 1) q).

**The additive capacity of a Euclidean lattice is attained with one column for each corner.**

On counts at level e, merge all columns of the geometric mechanism that are least at the same end. Two columns remain: g
rises from t^m / 2 (for 2m + 1 counts) or t^(m+1) / (1 + t) (for 2m + 2 counts) at one end, where t = exp(-e), and the
other column is 1 - g. Use level e p for the rows and e q for the columns of the lattice, with p^2 + q^2 = 1. The
product g h is private on the lattice, because |log g(r)h(c) - log g(s)h(d)| <= e p |r-s| + e q |c-d| <= e |(r,c) -
(s,d)| by the Cauchy-Schwarz inequality. Let (p, q) point along the diagonal of a lattice with odd sides, and let D be
the distance from the middle to a corner. Each of the four columns has the least entry alpha^D / 4, and the dual z,
which is alpha^D at the middle point and 0 elsewhere, proves that no mechanism has a smaller sum of least entries. So
the additive capacity is 1 - alpha^D. For even sides, the same mechanism gives one bound of the capacity, and a dual z
that is positive only at the middle points gives the other bound.
"""

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Array, objects
from utmost.core.exact.linear_algebra import solve_lifted, table_product
from utmost.design.capacities.capacity_evidence import CapacityCertificate, UniformDual, largest_power
from utmost.design.capacities.implicit_mechanisms import (
    LatticeMechanism,
    SimilarityMechanism,
    UniformMechanism,
    distance_profile,
)
from utmost.design.capacities.pair_program import Classes
from utmost.design.capacities.similarity import BITS, Similarity, row_sums, scaled_table
from utmost.design.leakage.channel_capacity import CapacityKind
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.families import EuclideanGridMetric, LineMetric
from utmost.errors import PromiseBroken, SolverFailed

_UNIT = 1 << (BITS + 32)


def mechanism_and_dual(ptype: PrivacyType, weights: Array) -> tuple[SimilarityMechanism, Array]:
    """Return a mechanism and a dual that bound the multiplicative capacity, from weights w >= 0 with E w near 1, where
    E = alpha^d.
    """
    # Let L <= E w <= H. The dual is w / L. The mechanism is [E diag(theta w), r] with the rest r = 1 - theta E w, which
    # lies between 1 - theta H and 1 - theta L. The rest is private if 1 - theta H >= A (1 - theta L), with A = alpha^d
    # for the shortest d, so theta = (1 - A) / (H - A L). If E w = 1, mechanism and dual both give the capacity.
    low, high = row_sums(ptype, weights, 1)
    least, most = min(low), max(high)
    if least == most == 1:
        return SimilarityMechanism(ptype, weights), weights
    if least <= 0:
        raise SolverFailed("E w must be positive for every secret", came=float(least))
    near = largest_power(ptype) if ptype.space.size > 1 else Fraction(0)
    spare = (most - least) / 8 + Fraction(1, 1 << BITS)  # the next lines round theta w down and L up
    theta = (1 - near) / (most + spare - near * (least - spare))
    inner = [Fraction(int(theta * w * _UNIT), _UNIT) for w in weights.tolist()]
    return SimilarityMechanism(ptype, objects(inner), has_rest=True), raised_dual(weights, least)


def raised_dual(weights: Array, least: Fraction) -> Array:
    """Return w / L, rounded up, where no entry of E w is below the number L. The result is a dual of the multiplicative
    capacity.
    """
    # Entries are rounded up by less than one unit, and entries 0 are not rounded.
    return objects([Fraction(int(w / least * _UNIT) + 1 if w else 0, _UNIT) for w in weights.tolist()])


def lowered_dual(ptype: PrivacyType, dual: Array) -> Array:
    """Return z / H, rounded down, where F = alpha^-d and no entry of F z exceeds the number H; return z itself if
    F z <= 1. The result is a dual of the additive capacity.
    """
    most = max(row_sums(ptype, dual, -1)[1])
    if most <= 1:
        return dual
    return objects([Fraction(int(z / most * _UNIT), _UNIT) for z in dual.tolist()])


# If an exact solution needs more operations on digits than this, bounds are computed instead.
_MOST_DIGITS = 3e9
_ROUNDS = 12
_NEGLIGIBLE = Fraction(1, 1 << (BITS - 16))
_MOST_CLASSES = 4_000


def by_magnitude(ptype: PrivacyType, similarity: Similarity, classes: Classes) -> CapacityCertificate | None:
    """Return the certificate of the multiplicative capacity if the weighting of the space is nonnegative, else None."""
    if len(classes) > _MOST_CLASSES:
        return None
    weights = exact_weighting(similarity, classes)
    if weights is not None:
        if (weights < 0).any():
            return None
        return CapacityCertificate(ptype, "multiplicative", SimilarityMechanism(ptype, weights), weights)
    near = weighting(similarity, classes)
    if near is None or (near < 0).any():
        return None
    try:
        return CapacityCertificate(ptype, "multiplicative", *mechanism_and_dual(ptype, near))
    except (PromiseBroken, SolverFailed):
        return None


def exact_weighting(similarity: Similarity, classes: Classes) -> Array | None:
    """Return the exact solution of E w = 1, (n,); None if it is irrational or too long, or E is singular."""
    if not similarity.is_rational:
        return None
    scale = lcm(*(p.denominator for p in similarity.fractions.tolist()))
    if len(classes) ** 3 * (len(classes) * scale.bit_length() / 64 + 1) > _MOST_DIGITS:
        return None
    reduced = reduced_similarity(similarity, classes, similarity.fractions)
    try:
        solution = solve_lifted(reduced, np.full((len(classes), 1), Fraction(1), dtype=object))
    except SolverFailed:
        return None
    return spread(solution[:, 0].tolist(), classes)


def weighting(similarity: Similarity, classes: Classes) -> Array | None:
    """Return the solution of E w = 1 as Fractions (n,), with an error of about 2^-120; None if it cannot be found from
    floats.
    """
    # Improve the float64 solution repeatedly by the exact remainder 1 - E w. Weights of uncertain sign become 0.
    low, _, scale = scaled_table(similarity, 1)
    kinds = similarity.kinds[classes.representatives]
    factor = reduced_similarity(similarity, classes, similarity.floats)
    scaled, unit = [0] * len(classes), 1 << (BITS + 32)
    remainder, last = np.ones(len(classes)), np.inf
    for _ in range(_ROUNDS):
        try:
            step = np.linalg.solve(factor, remainder)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(step).all():
            return None
        scaled = [w + int(Fraction(s) * unit) for w, s in zip(scaled, step.tolist(), strict=True)]
        # Compute 1 - E w at the representatives of the classes.
        sums = table_product(low, kinds, objects(scaled)[classes.labels])
        left = [Fraction(scale * unit - total, scale * unit) for total in sums]
        size = float(max(abs(r) for r in left))
        if size < float(_NEGLIGIBLE) or size > last / 4:
            break
        remainder, last = np.array([float(r) for r in left]), size
    solution = [Fraction(w, unit) for w in scaled]
    return spread([Fraction(0) if abs(w) < _NEGLIGIBLE else w for w in solution], classes)


def reduced_similarity(similarity: Similarity, classes: Classes, table: Array) -> Array:
    """Return the matrix (k, k) whose entry (A, B) is the sum of table[kinds[x, y]] over y in class B, for one x in
    class A.
    """
    k = len(classes)
    reduced = np.zeros((k, k), dtype=table.dtype) if table.dtype != object else np.full((k, k), Fraction(0))
    for a, x in enumerate(classes.representatives.tolist()):
        if table.dtype == object:
            # Each code is a pair of a class and a kind of distance.
            width = int(similarity.kinds[x].max()) + 1
            codes, counts = np.unique(classes.labels * width + similarity.kinds[x], return_counts=True)
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
                b, kind = divmod(code, width)
                reduced[a, b] += table[kind] * count
        else:
            reduced[a] = np.bincount(classes.labels, weights=table[similarity.kinds[x]], minlength=k)
    return np.asarray(reduced)


def spread(values: list[Fraction], classes: Classes) -> Array:
    """Return an array (n,) that has, for each secret, the value of the secret's class."""
    return objects(values)[classes.labels]


def closed_form(ptype: PrivacyType, kind: CapacityKind) -> CapacityCertificate | None:
    """Return the certificate of a capacity that has a closed form; None if no closed form is known."""
    if isinstance(ptype.space.metric, LineMetric):
        n = ptype.space.size - 1
        is_rational = ptype.level.is_rational
        a: Any = ptype.level.alpha_fraction() if is_rational else ptype.level.alpha_interval(2 * BITS)
        # The scales of the geometric mechanism on n + 1 counts: 1/(1+a) at the ends and (1-a)/(1+a) inside.
        ends, inside = (1 / (1 + a), (1 - a) / (1 + a)) if n else (Fraction(1), Fraction(1))
        scales = np.full(n + 1, _lower_end(inside), dtype=object)
        scales[[0, -1]] = _lower_end(ends)

        line, dual = (SimilarityMechanism(ptype, scales), scales) if is_rational else mechanism_and_dual(ptype, scales)
        if kind == "additive":
            # The dual is a^m on the middle count of 2m + 1 counts, or a^(m+1) / (1 + a) on the two middle counts of 2m
            # + 2.
            m, dual = n // 2, np.full(n + 1, Fraction(0), dtype=object)
            dual[[m, n - m]] = _lower_end(a**m) if n % 2 == 0 else _lower_end(a ** (m + 1) / (1 + a))
            dual = dual if is_rational else lowered_dual(ptype, dual)
        return CapacityCertificate(ptype, kind, line, dual)
    if distance_profile(ptype.space) is not None:
        mechanism = UniformMechanism(ptype, 1 if kind == "multiplicative" else -1)
        return CapacityCertificate(ptype, kind, mechanism, UniformDual())
    return None


def _lower_end(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else value.lower


# exp(-75) is below the rounding error of a float near 1, so a dual this small proves no better bound than the dual 0.
_NEGLIGIBLE_EXPONENT = 75.0


def on_lattice(ptype: PrivacyType) -> CapacityCertificate | None:
    """Return the certificate of the additive capacity of a lattice with odd sides, else None."""
    metric = ptype.space.metric
    if not isinstance(metric, EuclideanGridMetric) or metric.size == 1 or metric.rows % 2 == 0 or metric.cols % 2 == 0:
        return None
    return bound_on_lattice(ptype)


def bound_on_lattice(ptype: PrivacyType) -> CapacityCertificate | None:
    """Return a certificate with a lower and an upper bound of the additive capacity of a Euclidean lattice; None for
    any other space.
    """
    metric = ptype.space.metric
    if not isinstance(metric, EuclideanGridMetric) or metric.size == 1:
        return None
    # Use the largest feasible dual that is constant on the one, two or four middle points, and 0 elsewhere.
    dual = np.full(metric.size, Fraction(0), dtype=object)
    radius = float(np.hypot(metric.rows - 1, metric.cols - 1)) / 2
    if ptype.level.epsilon_float * radius <= _NEGLIGIBLE_EXPONENT:
        rows, cols = ({(side - 1) // 2, side // 2} for side in (metric.rows, metric.cols))
        dual[[r * metric.cols + c for r in rows for c in cols]] = Fraction(1)
        dual = lowered_dual(ptype, dual)
    return CapacityCertificate(ptype, "additive", LatticeMechanism(ptype), dual)
