"""Check a proof of the capacity of a privacy type: a mechanism that attains it, and a dual that bounds the leakage of
every mechanism.

The check does not depend on how mechanism and dual were found. Let C be the cone of columns v >= 0 with v_x >=
alpha^d(x,y) v_y. The columns of the mechanism M lie in C and sum to exactly 1 in every row. The dual is a vector z such
that for every secret j and every v in C

    multiplicative:  sum_x z_x v_x >= v_j;  then  sum_y max_x M[x, y] <= sum_x z_x  for every M of the type;
    additive:        sum_x z_x v_x <= v_j;  then  sum_y min_x M[x, y] >= sum_x z_x  for every M of the type.

For z >= 0 it is enough to check one column v for each secret j: for the multiplicative capacity that sum_x z_x
alpha^d(x,j) >= 1, and for the additive capacity that sum_x z_x alpha^-d(x,j) <= 1. A dual z with negative entries also
needs, for each j, multipliers lambda >= 0 of the inequalities v_x - alpha^d(x,y) v_y >= 0. With the unit vectors e_j,
the coefficients of the sum of lambda times these inequalities must be at most z - e_j for the multiplicative capacity,
and at most e_j - z for the additive capacity.

Bounds are exact if all alpha^d are rational; otherwise they are rounded outward.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.arrays import Array, is_exact
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, nearest, round_down, round_up
from utmost.design.capacities.implicit_mechanisms import (
    CapacityMechanism,
    EnvelopeMechanism,
    LatticeMechanism,
    ProductMechanism,
    SimilarityMechanism,
    UniformMechanism,
    distance_profile,
    product_parts,
    profile_shares,
)
from utmost.design.capacities.similarity import Similarity, farthest, row_sums
from utmost.design.channels.channel import Channel
from utmost.design.leakage.channel_capacity import Capacity, CapacityKind
from utmost.design.optima.checker import Bounds, check_private, holds_rationals
from utmost.design.optima.evidence import Evidence
from utmost.design.privacy_types.privacy_type import PrivacyType, power_interval
from utmost.design.spaces.families import DiscreteMetric, EuclideanGridMetric, LineMetric
from utmost.errors import PromiseBroken

ValueBounds = tuple[Fraction, Fraction]

LINE = "Corollary 20 of [fernandes2022] and its additive twin: the geometric mechanism leaks most on a line"
EQUAL = "Corollary 22 of [fernandes2022], corrected: randomised response and its dual leak most on equal distances"
ALIKE = "every secret has the same distances to the others: alpha^(+-d), divided by its row sum, leaks most"
LATTICE = "on a Euclidean lattice with a middle point the additive capacity is 1 - alpha^(distance from it to a corner)"
PRODUCT = "capacities of products: mechanisms and nonnegative duals of the parts multiply"

CAPACITY_METHODS = ("closed form", "product", "magnitude", "packing", "orbits", "program", "bound")
"""Names of the methods that compute a capacity; saved capacities name one of them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairMultipliers(Display):
    """Multipliers values[k] >= 0 of the inequalities v[x[k]] >= alpha^d(x[k], y[k]) v[y[k]] in the proof for the secret
    j[k].
    """

    x: Array
    y: Array
    j: Array
    values: Array


@dataclass(frozen=True, slots=True)
class UniformDual:
    """The dual of a space in which every secret has the same distances to the others: z_x is 1 / sum_y alpha^d(x, y)
    for the multiplicative capacity, and 1 / sum_y alpha^-d(x, y) for the additive capacity.
    """


@dataclass(frozen=True, slots=True, repr=False)
class ProductDual(Display):
    """The dual z_1 kron z_2 kron ... of a product space, from nonnegative duals z_k of its parts."""

    parts: "tuple[Dual, ...]"


Dual = Array | UniformDual | ProductDual


def attained(ptype: PrivacyType, kind: CapacityKind, mechanism: CapacityMechanism) -> ValueBounds:
    """Return bounds of sum_y max_x M[x, y] or, for the additive kind, of sum_y min_x M[x, y]; check M first."""
    if mechanism.shape[0] != ptype.space.size:
        raise PromiseBroken(f"the mechanism must have {ptype.space.size} rows", came=mechanism.shape[0])
    if isinstance(mechanism, Channel):
        if not is_exact(mechanism.matrix):
            raise PromiseBroken("a certified mechanism must consist of Fractions", came=mechanism.matrix.dtype)
        check_private(ptype, mechanism.matrix)
        extremes = mechanism.matrix.max(axis=0) if kind == "multiplicative" else mechanism.matrix.min(axis=0)
        total = sum(extremes.tolist(), Fraction(0))
        return total, total
    if isinstance(mechanism, ProductMechanism):
        parts = _parts(ptype, len(mechanism.parts))
        return _product([attained(part, kind, m) for part, m in zip(parts, mechanism.parts, strict=True)])
    own = mechanism.ptype
    same_metric = own.space.metric == ptype.space.metric or own.space.same_as(ptype.space)
    if own.level != ptype.level or not same_metric:
        raise PromiseBroken(f"the mechanism must satisfy {ptype}", came=mechanism)
    if isinstance(mechanism, UniformMechanism):
        return _uniform_value(ptype, kind, mechanism.sign)
    if isinstance(mechanism, LatticeMechanism):
        # The mechanism is private by the Cauchy-Schwarz inequality (see `magnitude`), so it suffices to check that the
        # metric is Euclidean.
        if kind != "additive" or not isinstance(ptype.space.metric, EuclideanGridMetric):
            came = f"the {kind} capacity of {ptype.space}"
            raise PromiseBroken(
                "a lattice mechanism must certify the additive capacity of a Euclidean lattice", came=came
            )
        return mechanism.least()
    if isinstance(mechanism, EnvelopeMechanism):
        # Only the rest column can fail to be private. The capacity needs only one of the two bounds of the sum, and
        # only that one is close to the sum.
        facts = mechanism.facts()
        _check_rest(ptype, 1 - facts.most, 1 - facts.least)
        if kind == "multiplicative":
            return facts.largest + 1 - facts.most, Fraction(ptype.space.size)
        return Fraction(0), facts.smallest + 1 - facts.least
    assert isinstance(mechanism, SimilarityMechanism), "there is no other mechanism"
    return _attained_by_similarity(ptype, kind, mechanism)


def bounded(
    ptype: PrivacyType, kind: CapacityKind, dual: Dual, multipliers: PairMultipliers | None = None
) -> ValueBounds:
    """Return lower and upper bounds of sum_x z_x for a dual z; raise PromiseBroken if z is not feasible."""
    if isinstance(dual, ProductDual):
        parts = _parts(ptype, len(dual.parts))
        return _product([bounded(part, kind, z) for part, z in zip(parts, dual.parts, strict=True)])
    if isinstance(dual, UniformDual):
        return _uniform_value(ptype, kind, 1 if kind == "multiplicative" else -1)
    if dual.shape != (ptype.space.size,) or not holds_rationals(dual):
        raise PromiseBroken(f"the dual must be {ptype.space.size} Fractions", came=dual.shape)
    if multipliers is None:
        for x in np.flatnonzero(dual < 0)[:1]:
            raise PromiseBroken("a dual without multipliers must be nonnegative", came=f"z[{x}] = {nearest(dual[x])}")
        sign = 1 if kind == "multiplicative" else -1
        low, high = row_sums(ptype, dual, sign)
        worst = min(low) if sign > 0 else max(high)
        if (worst < 1) if sign > 0 else (worst > 1):
            required = f"the dual must be feasible: sums must be at {'least' if sign > 0 else 'most'} 1"
            raise PromiseBroken(required, came=nearest(worst))
    else:
        sizes = [len(part) for part in (multipliers.x, multipliers.y, multipliers.j, multipliers.values)]
        if len(set(sizes)) != 1 or not holds_rationals(multipliers.values):
            raise PromiseBroken(
                "multipliers must be Fractions, each with two secrets and a column", came=f"lengths {sizes}"
            )
        for k in np.flatnonzero(multipliers.values < 0)[:1]:
            raise PromiseBroken("multipliers must not be negative", came=nearest(multipliers.values[k]))
        slack = slacks(ptype, kind, dual, multipliers)
        for x, j in np.argwhere(slack < 0)[:1]:
            came = f"slack {nearest(slack[x, j])}"
            raise PromiseBroken(f"the dual must be feasible for secret {x} and column {j}", came=came)
    total = sum(dual.tolist(), Fraction(0))
    return total, total


def _attained_by_similarity(ptype: PrivacyType, kind: CapacityKind, mechanism: SimilarityMechanism) -> ValueBounds:
    """Return the bounds of `attained` for a `SimilarityMechanism`; raise if its rows or its rest column are invalid."""
    # Columns alpha^(+-d) w are private by the triangle inequality, so only sums and the rest column are checked.
    weights, sign = mechanism.weights, mechanism.sign
    if weights.shape != (ptype.space.size,) or not holds_rationals(weights) or (weights < 0).any():
        raise PromiseBroken("the weights must be nonnegative Fractions, one for each secret", came=weights.shape)
    low, high = row_sums(ptype, weights, sign)
    most = least = (Fraction(0), Fraction(0))
    if mechanism.has_rest:
        below, above = [1 - s for s in high], [1 - s for s in low]
        _check_rest(ptype, min(below), max(above))
        if max(above) == 0:
            raise PromiseBroken("a rest column must be positive", came="rows that already sum to 1")
        most, least = (max(below), max(above)), (min(below), min(above))
    elif any(below != 1 or above != 1 for below, above in zip(low, high, strict=True)):
        raise PromiseBroken(
            "every row of the mechanism must sum to 1", came=f"sums from {nearest(min(low))} to {nearest(max(high))}"
        )
    # A column alpha^d is largest at its own secret, with value 1, and smallest at the farthest secret; for a column
    # 1/alpha^d the opposite holds.
    is_one = (kind == "multiplicative") == (sign > 0)
    ones = [Fraction(1)] * len(weights)
    sides = (ones, ones) if is_one else farthest(ptype, sign)
    totals = [sum((w * p for w, p in zip(weights.tolist(), side, strict=True)), Fraction(0)) for side in sides]
    extra = most if kind == "multiplicative" else least
    return totals[0] + extra[0], totals[1] + extra[1]


def _check_rest(ptype: PrivacyType, least: Fraction, most: Fraction) -> None:
    """Raise PromiseBroken unless a rest column with entries from ``least`` to ``most`` is certainly private."""
    if least < 0:
        raise PromiseBroken("every row of the mechanism must sum to at most 1", came=nearest(1 - least))
    if ptype.space.size > 1 and largest_power(ptype) * most > least:
        came = f"entries between {nearest(least)} and {nearest(most)}"
        raise PromiseBroken("the rest column of the mechanism must satisfy the level", came=came)


def largest_power(ptype: PrivacyType) -> Fraction:
    """Return an upper bound of alpha^d for the shortest distance d of two secrets."""
    is_line = isinstance(ptype.space.metric, LineMetric)
    shortest = Fraction(1) if is_line else Similarity.of(ptype).lengths[1]
    return power_interval(ptype.level, shortest, 256).upper


def _uniform_value(ptype: PrivacyType, kind: CapacityKind, sign: int) -> ValueBounds:
    """Return bounds of n / s, the value of the mechanism alpha^(sign d) / s, where s is the sum of a row of powers."""
    profile = distance_profile(ptype.space)
    if profile is None:
        raise PromiseBroken("every secret must have the same distances to the others", came=ptype.space)
    if (kind == "multiplicative") != (sign > 0):
        raise PromiseBroken(f"the sign of the mechanism must be {-sign} for the {kind} capacity", came=sign)
    value = profile_shares(ptype.level, profile, sign)[Fraction(0)] * ptype.space.size
    return (value.lower, value.upper) if isinstance(value, Interval) else (value, value)


def slacks(ptype: PrivacyType, kind: CapacityKind, dual: Array, multipliers: PairMultipliers) -> Array:
    """Return the columns z - e_j (additive: e_j - z) minus the sum of j's multiplied inequalities, rounded down."""
    n, sign = ptype.space.size, 1 if kind == "multiplicative" else -1
    slack = np.empty((n, n), dtype=object)
    slack[:] = (sign * dual)[:, None]
    slack[np.arange(n), np.arange(n)] -= sign
    similarity = Similarity.of(ptype)
    powers = similarity.fractions if similarity.is_rational else [power.lower for power in similarity.intervals(256)]
    for x, y, j, value in zip(multipliers.x, multipliers.y, multipliers.j, multipliers.values, strict=True):
        slack[x, j] -= value
        slack[y, j] += powers[similarity.kinds[x, y]] * value
    return slack


def _parts(ptype: PrivacyType, count: int) -> tuple[PrivacyType, ...]:
    parts = product_parts(ptype)
    if parts is None or len(parts) != count:
        raise PromiseBroken(f"the space must be a product of {count} parts", came=ptype.space)
    return parts


def _product(around: list[ValueBounds]) -> ValueBounds:
    low, high = Fraction(1), Fraction(1)
    for below, above in around:
        low, high = low * below, high * above
    return low, high


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CapacityCertificate(Evidence):
    """A proof that the capacity of a privacy type lies between two numbers.

    Attributes:
        ptype: Privacy type.
        kind: "multiplicative" or "additive".
        mechanism: Mechanism of the type that leaks at least ``lower``.
        dual: Dual z that proves that no mechanism leaks more than ``upper``.
        multipliers: Multipliers of single privacy inequalities, if the dual has negative entries.
        bounds: Lower and upper bound that mechanism and dual prove. For an exact capacity both bounds are equal.
    """

    ptype: PrivacyType
    kind: CapacityKind
    mechanism: CapacityMechanism
    dual: Dual
    multipliers: PairMultipliers | None = None
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        if self.bounds is None:
            object.__setattr__(self, "bounds", self.check())

    @property
    def theorem(self) -> str | None:
        """Name of the theorem that gives mechanism and dual in closed form; None if they were computed numerically."""
        metric, mechanism = self.ptype.space.metric, self.mechanism
        match mechanism:
            case SimilarityMechanism() if isinstance(metric, LineMetric):
                return LINE
            case UniformMechanism() if isinstance(self.dual, UniformDual):
                return EQUAL if isinstance(metric, DiscreteMetric) else ALIKE
            case ProductMechanism() if isinstance(self.dual, ProductDual):
                return PRODUCT
            case LatticeMechanism() if isinstance(metric, EuclideanGridMetric) and metric.rows % 2 and metric.cols % 2:
                return LATTICE
        return None

    def check(self) -> Bounds:
        """Compute the bounds from mechanism and dual only: Fractions, or floats rounded outward.

        Raises:
            PromiseBroken: if the mechanism is not of the type, or the dual is not feasible.
        """
        reached = attained(self.ptype, self.kind, self.mechanism)
        proven = bounded(self.ptype, self.kind, self.dual, self.multipliers)
        low, high = (reached[0], proven[1]) if self.kind == "multiplicative" else (1 - reached[1], 1 - proven[0])
        exactly = reached[0] == reached[1] and proven[0] == proven[1] and low == high
        if exactly:
            return Bounds(low, high)
        # No capacity is outside these limits, but a rounded bound may be.
        least, most = (1, self.ptype.space.size) if self.kind == "multiplicative" else (0, 1)
        return Bounds(max(round_down(low), round_down(least)), min(round_up(high), round_up(most)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TypeCapacity(Capacity):
    """The largest leakage of any mechanism of a privacy type."""

    _shown = ("value", "lower", "method")

    mechanism: Any  # a `Channel` of Fractions, or an `ImplicitMechanism`; it leaks at least `lower`
    certificate: CapacityCertificate
    # The method that found the certificate, one of `CAPACITY_METHODS`; the method "bound" may leave a gap between the
    # bounds of a large type.
    method: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.certificate, CapacityCertificate):
            raise wrong_kind("certificate", "a CapacityCertificate", self.certificate)

    @classmethod
    def of(cls, certificate: CapacityCertificate, method: str) -> "TypeCapacity":
        return cls(certificate.upper, certificate.mechanism, certificate, method)

    @property
    def lower(self) -> Fraction | float:
        """The lower bound of the capacity: the leakage of the mechanism, rounded down."""
        return self.certificate.lower

    @property
    def upper(self) -> Fraction | float:
        """The upper bound of the leakage of any mechanism of the type, equal to ``value``."""
        return self.certificate.upper

    @property
    def gap(self) -> Fraction | float:
        return self.certificate.gap

    @property
    def is_exact(self) -> bool:
        """Whether ``value`` is exactly the capacity."""
        return isinstance(self.value, Fraction) and bool(self.gap == 0)

    @property
    def theorem(self) -> str | None:
        """Name of the theorem that gives the capacity in closed form, or None."""
        theorem: str | None = self.certificate.theorem
        return theorem
