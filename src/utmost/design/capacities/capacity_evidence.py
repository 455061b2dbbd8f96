"""A capacity and its evidence: a mechanism that leaks so much, a dual that none leaks more, and the check of both.

The check knows nothing of how they were found. C is the cone of columns: v >= 0 with v_x >= alpha^d(x,y) v_y. The
mechanism M has nonnegative columns in C that sum to 1 in every row, exactly. The dual is a vector z such that for every
secret j and every v in C

    multiplicative:  sum_x z_x v_x >= v_j;  then  sum_y max_x M[x, y] <= sum_x z_x  for every M of the type;
    additive:        sum_x z_x v_x <= v_j;  then  sum_y min_x M[x, y] >= sum_x z_x  for every M of the type.

For z >= 0 only the steepest column needs a look: sum_x z_x alpha^(+-d(x,j)) >= 1 (<= 1). A z with negative entries
comes with multipliers lambda >= 0 of single inequalities v_x >= alpha^d(x,y) v_y, whose combination for each j stays
below (z - e_j) or (e_j - z).

All is exact where alpha^d is rational; otherwise bounds are rounded outward.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.arrays import Array, is_exact
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, round_down, round_up
from utmost.design.capacities.implicit_mechanisms import (
    CapacityMechanism,
    EnvelopeMechanism,
    LatticeMechanism,
    ProductMechanism,
    SimilarityMechanism,
    UniformMechanism,
    distance_profile,
    product_parts,
    profile_sum,
)
from utmost.design.capacities.similarity import Similarity, farthest, row_sums
from utmost.design.channels.channel import Channel
from utmost.design.leakage.channel_capacity import Capacity, CapacityKind
from utmost.design.optima.checker import Bounds, check_private, holds_rationals
from utmost.design.optima.evidence import Evidence
from utmost.design.privacy_types.privacy_type import PrivacyType, power_interval
from utmost.design.spaces.families import DiscreteMetric, EuclideanGridMetric, LineMetric
from utmost.errors import PromiseBroken

Enclosure = tuple[Fraction, Fraction]

LINE = "Corollary 20 of [fernandes2022] and its additive twin: the geometric mechanism leaks most on a line"
EQUAL = "Corollary 22 of [fernandes2022], corrected: randomised response and its dual leak most on equal distances"
ALIKE = "secrets that see the same distances: alpha^(+-d), divided by its row sum, leaks most"
LATTICE = "on a Euclidean lattice with a middle point the additive capacity is 1 - alpha^(distance from it to a corner)"
PRODUCT = "capacities of products: mechanisms and nonnegative duals of the parts multiply"

METHODS = ("closed form", "product", "magnitude", "packing", "orbits", "program", "bound")
"""Names of the routes by which a capacity is found; a document names one of them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairMultipliers(Display):
    """lambda[k] >= 0 times the inequality v[x[k]] >= alpha^d(x[k], y[k]) v[y[k]], for the column j[k]."""

    x: Array
    y: Array
    j: Array
    values: Array


@dataclass(frozen=True, slots=True)
class UniformDual:
    """z_x = 1 / sum_y alpha^(+-d(x, y)), the same for every secret of a space whose secrets are alike."""


@dataclass(frozen=True, slots=True, repr=False)
class ProductDual(Display):
    """z = z_1 kron z_2 kron ... of nonnegative duals of the parts."""

    parts: "tuple[Dual, ...]"


Dual = Array | UniformDual | ProductDual


def certified_capacity(
    ptype: PrivacyType,
    kind: CapacityKind,
    mechanism: CapacityMechanism,
    dual: Dual,
    multipliers: PairMultipliers | None = None,
) -> Bounds:
    """The bounds of a capacity that a mechanism and a dual prove: Fractions where all is exact, else rounded outward.

    Raises:
        PromiseBroken: when the mechanism is not of the type, or the dual is not feasible.
    """
    reached, proven = attained(ptype, kind, mechanism), bounded(ptype, kind, dual, multipliers)
    low, high = (reached[0], proven[1]) if kind == "multiplicative" else (1 - reached[1], 1 - proven[0])
    exactly = reached[0] == reached[1] and proven[0] == proven[1] and low == high
    return Bounds(low, high) if exactly else Bounds(round_down(low), round_up(high))


def attained(ptype: PrivacyType, kind: CapacityKind, mechanism: CapacityMechanism) -> Enclosure:
    """sum_y max_x M[x, y] (multiplicative) or sum_y min_x M[x, y] (additive), from below and from above.

    Raises:
        PromiseBroken: when the mechanism is not of the type.
    """
    if mechanism.shape[0] != ptype.space.size:
        raise PromiseBroken(f"the mechanism must have {ptype.space.size} rows", came=mechanism.shape[0])
    if isinstance(mechanism, Channel):
        return _attained_by_matrix(ptype, kind, mechanism)
    if isinstance(mechanism, ProductMechanism):
        parts = _parts(ptype, len(mechanism.parts))
        return _product([attained(part, kind, m) for part, m in zip(parts, mechanism.parts, strict=True)])
    own = mechanism.ptype
    same_metric = own.space.metric == ptype.space.metric or own.space.same_as(ptype.space)
    if own.level != ptype.level or not same_metric:
        raise PromiseBroken("the mechanism must be one of the privacy type", came=mechanism)
    if isinstance(mechanism, UniformMechanism):
        return _uniform_value(ptype, kind, mechanism.sign)
    if isinstance(mechanism, LatticeMechanism):
        # Private by Cauchy and Schwarz (see `magnitude`): only the metric is checked.
        if kind != "additive" or not isinstance(ptype.space.metric, EuclideanGridMetric):
            raise PromiseBroken("the mechanism must be the additive one of a Euclidean lattice", came=ptype.space)
        return mechanism.least()
    if isinstance(mechanism, EnvelopeMechanism):
        return _attained_by_envelope(ptype, kind, mechanism)
    assert isinstance(mechanism, SimilarityMechanism), "there is no other mechanism"
    return _attained_by_similarity(ptype, kind, mechanism)


def bounded(
    ptype: PrivacyType, kind: CapacityKind, dual: Dual, multipliers: PairMultipliers | None = None
) -> Enclosure:
    """sum_x z_x, from below and from above, once z is known to be feasible.

    Raises:
        PromiseBroken: when it is not.
    """
    if isinstance(dual, ProductDual):
        parts = _parts(ptype, len(dual.parts))
        return _product([bounded(part, kind, z) for part, z in zip(parts, dual.parts, strict=True)])
    if isinstance(dual, UniformDual):
        return _uniform_value(ptype, kind, 1 if kind == "multiplicative" else -1)
    if dual.shape != (ptype.space.size,) or not holds_rationals(dual):
        raise PromiseBroken(f"the dual must hold {ptype.space.size} Fractions", came=dual.shape)
    if multipliers is not None:
        _check_multipliers(ptype, kind, dual, multipliers)
    else:
        _check_nonnegative_dual(ptype, kind, dual)
    total = sum(dual.tolist(), Fraction(0))
    return total, total


def _attained_by_matrix(ptype: PrivacyType, kind: CapacityKind, channel: Channel) -> Enclosure:
    matrix = channel.matrix
    if not is_exact(matrix):
        raise PromiseBroken("a certified mechanism must hold Fractions", came=matrix.dtype)
    check_private(ptype, matrix)
    extremes = matrix.max(axis=0) if kind == "multiplicative" else matrix.min(axis=0)
    total = sum(extremes.tolist(), Fraction(0))
    return total, total


def _attained_by_similarity(ptype: PrivacyType, kind: CapacityKind, mechanism: SimilarityMechanism) -> Enclosure:
    """Columns alpha^(+-d) w are private by the triangle inequality; their sums, and the rest, are looked at."""
    weights, sign = mechanism.weights, mechanism.sign
    if weights.shape != (ptype.space.size,) or not holds_rationals(weights) or (weights < 0).any():
        raise PromiseBroken("the weights must be nonnegative Fractions, one for each secret", came=weights.shape)
    low, high = row_sums(ptype, weights, sign)
    most = least = (Fraction(0), Fraction(0))
    if mechanism.has_rest:
        below, above = [1 - s for s in high], [1 - s for s in low]
        _check_rest(ptype, min(below), max(above))
        if max(above) == 0:
            raise PromiseBroken("a mechanism must have something left for its rest", came="rows that sum to 1")
        most, least = (max(below), max(above)), (min(below), min(above))
    elif any(below != 1 or above != 1 for below, above in zip(low, high, strict=True)):
        raise PromiseBroken("every row of the mechanism must sum to 1")
    # A column alpha^d is largest at its own secret, where it is 1, and smallest at the farthest; 1/alpha^d is the other
    # way round.
    at_home = (kind == "multiplicative") == (sign > 0)
    ones = [Fraction(1)] * len(weights)
    sides = (ones, ones) if at_home else farthest(ptype, sign)
    totals = [sum((w * p for w, p in zip(weights.tolist(), side, strict=True)), Fraction(0)) for side in sides]
    extra = most if kind == "multiplicative" else least
    return totals[0] + extra[0], totals[1] + extra[1]


def _attained_by_envelope(ptype: PrivacyType, kind: CapacityKind, mechanism: EnvelopeMechanism) -> Enclosure:
    """Columns are private by construction; the rest is looked at. Only the side that proves something is sharp."""
    facts = mechanism.facts()
    _check_rest(ptype, 1 - facts.most, 1 - facts.least)
    if kind == "multiplicative":
        return facts.largest + 1 - facts.most, Fraction(ptype.space.size)
    return Fraction(0), facts.smallest + 1 - facts.least


def _check_rest(ptype: PrivacyType, least: Fraction, most: Fraction) -> None:
    """A column whose entries differ by less than the two nearest secrets allow is private."""
    if least < 0:
        raise PromiseBroken("no row of the mechanism may sum to more than 1", came=float(1 - least))
    if ptype.space.size > 1 and largest_power(ptype) * most > least:
        raise PromiseBroken("the rest of the mechanism must keep the level", came=float(least))


def largest_power(ptype: PrivacyType) -> Fraction:
    """alpha to the shortest distance, rounded up."""
    is_line = isinstance(ptype.space.metric, LineMetric)
    shortest = Fraction(1) if is_line else Similarity.of(ptype).lengths[1]
    return power_interval(ptype.level, shortest, 256).upper


def _uniform_value(ptype: PrivacyType, kind: CapacityKind, sign: int) -> Enclosure:
    """n / s: the columns alpha^(+-d) / s, or the dual 1 / s, of a space whose secrets are alike."""
    profile = distance_profile(ptype.space)
    if profile is None:
        raise PromiseBroken("every secret must see the same distances")
    if (kind == "multiplicative") != (sign > 0):
        raise PromiseBroken("the uniform mechanism must have the sign of its capacity", came=sign)
    total = profile_sum(ptype.level, profile, sign)
    value = ptype.space.size / total
    return (value.lower, value.upper) if isinstance(value, Interval) else (value, value)


def _check_nonnegative_dual(ptype: PrivacyType, kind: CapacityKind, dual: Array) -> None:
    for x in np.flatnonzero(dual < 0)[:1]:
        raise PromiseBroken("a dual with negative entries needs multipliers", came=f"z[{x}] = {float(dual[x])}")
    sign = 1 if kind == "multiplicative" else -1
    low, high = row_sums(ptype, dual, sign)
    worst = min(low) if sign > 0 else max(high)
    if (worst < 1) if sign > 0 else (worst > 1):
        raise PromiseBroken("the dual must be feasible for every secret", came=float(worst))


def _check_multipliers(ptype: PrivacyType, kind: CapacityKind, dual: Array, multipliers: PairMultipliers) -> None:
    sizes = [len(part) for part in (multipliers.x, multipliers.y, multipliers.j, multipliers.values)]
    if len(set(sizes)) != 1 or not holds_rationals(multipliers.values):
        raise PromiseBroken("multipliers must be Fractions, with two secrets and a column each", came=sizes)
    for k in np.flatnonzero(multipliers.values < 0)[:1]:
        raise PromiseBroken("multipliers of privacy must not be negative", came=float(multipliers.values[k]))
    slack = slacks(ptype, kind, dual, multipliers)
    for x, j in np.argwhere(slack < 0)[:1]:
        raise PromiseBroken(f"the dual must be feasible for secret {x} and column {j}", came=float(slack[x, j]))


def slacks(ptype: PrivacyType, kind: CapacityKind, dual: Array, multipliers: PairMultipliers) -> Array:
    """z - e_j (or e_j - z) less the combination of inequalities, by secret and column j: (n, n), rounded down."""
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


def _product(around: list[Enclosure]) -> Enclosure:
    low, high = Fraction(1), Fraction(1)
    for below, above in around:
        low, high = low * below, high * above
    return low, high


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CapacityCertificate(Evidence):
    """Evidence that the largest leakage of a privacy type lies between two numbers.

    Attributes:
        ptype: Privacy type.
        kind: "multiplicative" or "additive".
        mechanism: Mechanism of the type that leaks at least ``lower``.
        dual: Proof that none leaks more than ``upper``, as the module says.
        multipliers: Multipliers of single inequalities of privacy, if the dual has negative entries.
        bounds: Bounds that the two prove; equal if all is exact.
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
        """The theorem that gives mechanism and dual in closed form, or None where only the numbers decide."""
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
        """Compute the bounds again from mechanism and dual alone.

        Raises:
            PromiseBroken: when the mechanism is not of the type, or the dual is not feasible.
        """
        return certified_capacity(self.ptype, self.kind, self.mechanism, self.dual, self.multipliers)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TypeCapacity(Capacity):
    """The largest leakage of any mechanism of a privacy type.

    Attributes:
        value: Fraction where the capacity is known exactly; else a float that is certainly not below it, so that no
            mechanism leaks more.
        mechanism: Leaks at least ``lower``. A `Channel` of Fractions, or an object with ``shape`` and ``matrix`` that
            is written out only when asked for.
        certificate: `CapacityCertificate`; ``certificate.verify()`` checks it again.
        method: Route that found it: "closed form", "product", "magnitude", "packing", "orbits", "program",
            or "bound" where the type is too large for more than two bounds.
    """

    _shown = ("value", "lower", "method")

    mechanism: Any
    certificate: CapacityCertificate
    method: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.certificate, CapacityCertificate):
            raise wrong_kind("certificate", "a CapacityCertificate", self.certificate)

    @classmethod
    def of(cls, certificate: CapacityCertificate, method: str) -> "TypeCapacity":
        """The capacity that a certificate proves."""
        return cls(certificate.upper, certificate.mechanism, certificate, method)

    @property
    def lower(self) -> Fraction | float:
        """The mechanism leaks at least this."""
        return self.certificate.lower

    @property
    def upper(self) -> Fraction | float:
        """No mechanism of the type leaks more than this; the same as ``value``."""
        return self.certificate.upper

    @property
    def gap(self) -> Fraction | float:
        """``upper - lower``."""
        return self.certificate.gap

    @property
    def is_exact(self) -> bool:
        """Whether ``value`` is exactly the capacity."""
        return isinstance(self.value, Fraction) and bool(self.gap == 0)

    @property
    def theorem(self) -> str | None:
        """The theorem that gives the closed form, or None."""
        theorem: str | None = self.certificate.theorem
        return theorem
