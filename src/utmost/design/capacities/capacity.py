"""Compute the capacity (largest leakage) of a channel or a privacy type, by the cheapest method that proves it.

For a given measure of information, the capacity of a type is the value of a linear program over the vertices of the
type. A mechanism with columns M_y = n w_y v_y (weights w_y, distributions v_y) has at the prior p the posterior measure
sum_y w_y phi(v_y), where phi(v) is the measure of the joint column p * (n v). For convex phi, replacing a column by a
combination of vertices never decreases the sum. So the largest posterior measure of any mechanism of the type is

    max sum_v w_v phi(v)   subject to   sum_v w_v v = u,   w >= 0,

over the vertices v, with u the uniform distribution. A vector y with y . v >= phi(v) for all vertices v proves that no
mechanism has a posterior measure above y . u.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import overload

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, as_array, as_rationals, frozen, is_exact, to_floats
from utmost.core.exact.display import Display
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.highs import solve
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.capacities.capacity_evidence import CapacityCertificate, ProductDual, TypeCapacity
from utmost.design.capacities.implicit_mechanisms import ProductMechanism, product_parts
from utmost.design.capacities.magnitude import bound_on_lattice, by_magnitude, closed_form, on_lattice
from utmost.design.capacities.packing import bound_by_packing, by_envelope, by_packing, central_dual, packing
from utmost.design.capacities.pair_program import Classes, by_edge_program, by_orbits
from utmost.design.capacities.similarity import Similarity
from utmost.design.channels.channel import Channel
from utmost.design.geometry.vertex_search import vertices
from utmost.design.leakage.channel_capacity import (
    Attained,
    Capacity,
    CapacityKind,
    as_channel,
    check_kind,
    exclusion_gain,
    total,
)
from utmost.design.leakage.measures import Measure, bayes_vulnerability, g_vulnerability
from utmost.design.privacy_types.policy_types import PolicyType
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import priors
from utmost.errors import OutOfRange, Unsupported, WrongKind


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VertexCertificate(Display):
    """A proof that no mechanism of a type has an additive leakage above ``upper``, for a given measure and prior."""

    ptype: PrivacyType
    measure: Measure
    prior: Array  # (n,) the prior
    mechanism: Channel  # its columns are multiples of vertices
    dual: Array  # (n,) y with y . v >= phi(v) for every vertex v of the type; phi is defined in this module
    slack: float = 0  # the largest violation of these inequalities, due to rounding of floats

    @property
    def upper(self) -> Fraction | float:
        """The upper bound of the additive leakage of any mechanism of the type."""
        after = self.dual.sum() / len(self.dual) + self.slack
        # ``after`` bounds the posterior value: a vulnerability, or minus an uncertainty.
        before = self.measure.prior(self.prior)
        gained = after - (before if self.measure.rises else -before)
        return gained if isinstance(gained, Fraction) else float(gained)

    def verify(self) -> bool:
        """Check that the mechanism is of the type, and that y . v >= phi(v) for all vertices v. The vertices are
        computed again.
        """
        columns = vertices(self.ptype).columns
        gains = _gains(self.measure, self.prior, columns)
        is_above = (self.dual @ columns + self.slack >= gains).all()
        return bool(is_above) and self.ptype.contains(self.mechanism, tolerance=1e-9)


@progress_bar("Finding the capacity")
def capacity_over_vertices(ptype: PrivacyType, measure: Measure, prior: object = None) -> Capacity:
    """Return the largest additive leakage that any mechanism of a type has, for a given measure and prior.

    Args:
        ptype: Type whose vertices can be listed (see `utmost.design.geometry.vertex_search`).
        measure: Vulnerability or uncertainty, such as `shannon_entropy` or `g_vulnerability(gain)`.
        prior: Prior of the adversary; uniform by default.

    Returns:
        A `Capacity`: ``value`` is exact if prior, measure and vertices are exact, else a float; ``mechanism`` attains
        the value; ``certificate`` is a `VertexCertificate`.

    Raises:
        OutOfRange: if the number of entries of the prior is not n.

    Cost: a linear program with n rows and a column for each vertex.

    Source: [fernandes2022], theorem 3 and definition 8.

    >>> from utmost.leakage import bayes_vulnerability
    >>> from utmost.spaces import counts
    >>> found = capacity_over_vertices(PrivacyType(counts(2), alpha="1/2"), bayes_vulnerability)
    >>> found.value, found.certificate.verify()
    (Fraction(2, 9), True)
    """
    instance(ptype, PrivacyType, "ptype")
    instance(measure, Measure, "measure")
    n = ptype.space.size
    belief = priors.uniform(n) if prior is None else as_array(prior, "prior", ndim=1)
    if len(belief) != n:
        raise OutOfRange(
            f"the prior must have {n} entries, one for each secret",
            came=len(belief),
            remedy="Pass a prior on the secrets of the type.",
        )
    columns = vertices(ptype).columns
    gains = _gains(measure, belief, columns)
    exactly = is_exact(columns)
    # Minimise -gains . w subject to columns w = u, w >= 0; mixed numbers are converted to rationals.
    cost = as_rationals(-gains) if exactly else -gains.astype(np.float64)
    rows, vertex_of_entry = (part.ravel() for part in np.indices(columns.shape))
    share = np.full(n, Fraction(1, n) if exactly else 1 / n, dtype=columns.dtype)
    program = LinearProgram.of_triplets(cost, rows, vertex_of_entry, columns.ravel(), share, share)
    solution = (solve_exactly if exactly else solve)(program)
    used = np.flatnonzero(solution.primal > 0)
    matrix = n * columns[:, used] * solution.primal[used]
    dual = -solution.duals
    slack: float
    if exactly and is_exact(gains):
        mechanism, slack = Channel(matrix), 0
    else:
        # The rounding error of a product is at most four units of roundoff for each of the n terms. The tolerance is
        # never 0.
        rounding = 2.0**-50 * n * float(np.abs(gains).max(initial=0.0)) + 1e-300
        slack = max(0.0, float((gains - dual.astype(np.float64) @ columns.astype(np.float64)).max())) + rounding
        mechanism = Channel(matrix if exactly else matrix / matrix.sum(axis=1, keepdims=True))
        dual = dual.astype(np.float64)
    certificate = VertexCertificate(ptype, measure, belief, mechanism, frozen(np.array(dual)), slack)
    return Capacity(certificate.upper, mechanism, certificate)


def _gains(measure: Measure, prior: Array, columns: Array) -> Array:
    """Return phi(v) of every vertex v, (N,): the measure of the joint column p * (n v), negated for uncertainties."""
    joint = prior[:, None] * (len(prior) * columns)
    gains = np.asarray(measure.of_columns(joint if is_exact(joint) else joint.astype(np.float64)))
    return gains if measure.rises else -gains


# If the bounds of a method have a wider relative gap than this, the next method is tried.
_NARROW_GAP = 1e-9
_FEW_SECRETS = 36

Route = Callable[[PrivacyType, CapacityKind], CapacityCertificate | None]


def magnitude_route(ptype: PrivacyType, kind: CapacityKind) -> CapacityCertificate | None:
    """Return the certificate that `by_magnitude` finds for the multiplicative capacity; None if it finds none."""
    if kind == "additive":
        return None
    similarity = Similarity.of(ptype)
    return by_magnitude(ptype, similarity, Classes.of(similarity))


def packing_route(ptype: PrivacyType, kind: CapacityKind) -> CapacityCertificate | None:
    """Return the certificate from the packing or covering program; None if no mechanism attains the program's bound."""
    certificate = _bounds_of_packing(ptype, kind)
    return (
        certificate if certificate is not None and certificate.gap <= _NARROW_GAP * float(certificate.upper) else None
    )


def bound_route(ptype: PrivacyType, kind: CapacityKind) -> CapacityCertificate | None:
    """Return the certificate with the narrowest known gap, for a type that is too large for the exact methods."""
    certificates = [_bounds_of_packing(ptype, kind)]
    # Use the dual of the packing program, and a mechanism from its weights. The weights are scaled so that the rest
    # column is private.
    similarity = Similarity.of(ptype)
    classes = Classes.of(similarity)
    weights = packing(ptype, "multiplicative", similarity, classes)
    if weights is not None and kind == "multiplicative":
        certificates.append(bound_by_packing(ptype, kind, weights, weights.dual))
    elif weights is not None:
        covering = packing(ptype, "additive", similarity, classes)
        dual = central_dual(ptype, similarity) if covering is None else covering.dual
        certificates.append(bound_by_packing(ptype, kind, weights, dual))
    if kind == "additive":
        certificates.append(bound_on_lattice(ptype))
    found = (certificate for certificate in certificates if certificate is not None)
    return min(found, key=lambda certificate: certificate.gap, default=None)


@lru_cache(maxsize=2)
def _bounds_of_packing(ptype: PrivacyType, kind: CapacityKind) -> CapacityCertificate | None:
    """Return the certificate from the packing or covering program, by `by_packing` or (large types) `by_envelope`."""
    similarity = Similarity.of(ptype)
    weights = packing(ptype, kind, similarity, Classes.of(similarity))
    if weights is None:
        return None
    if weights.is_exact or ptype.space.size <= _FEW_SECRETS:
        return by_packing(ptype, kind, similarity, weights)
    return by_envelope(ptype, kind, similarity, weights)


def product_route(ptype: PrivacyType, kind: CapacityKind) -> CapacityCertificate | None:
    """Return the certificate of a product space: its mechanism, dual and bounds are products of those of the parts of
    the space.
    """
    parts = product_parts(ptype)
    certificates = [] if parts is None else [shortest(part, kind)[1] for part in parts]
    if not certificates or any(c.multipliers is not None or c.gap > _NARROW_GAP * float(c.upper) for c in certificates):
        return None
    mechanism, dual = (
        ProductMechanism(tuple(c.mechanism for c in certificates)),
        ProductDual(tuple(c.dual for c in certificates)),
    )
    return CapacityCertificate(ptype, kind, mechanism, dual)


def shortest(ptype: PrivacyType, kind: CapacityKind) -> tuple[str, CapacityCertificate]:
    """Return the name and the certificate of the first method in `ROUTES` that finds a certificate."""
    for name, route in ROUTES:
        certificate = route(ptype, kind)
        if certificate is not None:
            return name, certificate
    remedy = "Use a coarser space, or a product of smaller spaces."
    came = f"{ptype.space.size} secrets"
    raise Unsupported("the privacy type must be small enough for one of the methods", came=came, remedy=remedy)


def lattice_route(ptype: PrivacyType, kind: CapacityKind) -> CapacityCertificate | None:
    """Return the certificate of the additive capacity of a Euclidean lattice with odd sides; else None."""
    return on_lattice(ptype) if kind == "additive" else None


ROUTES: tuple[tuple[str, Route], ...] = (
    ("closed form", closed_form),
    ("product", product_route),
    ("closed form", lattice_route),
    ("magnitude", magnitude_route),
    ("packing", packing_route),
    ("orbits", by_orbits),
    ("program", by_edge_program),
    ("bound", bound_route),
)
"""The methods in the order in which they are tried, each with a name in `METHODS`."""


@overload
def capacity(of: PrivacyType, measure: None = ..., kind: CapacityKind = ..., prior: None = ...) -> TypeCapacity: ...
@overload
def capacity(of: object, measure: Measure | None = ..., kind: CapacityKind = ..., prior: object = ...) -> Capacity: ...
@progress_bar("Finding the capacity")
@fitting_memory("capacity")
def capacity(
    of: PrivacyType | Channel | object,
    measure: Measure | None = None,
    kind: CapacityKind = "multiplicative",
    prior: object = None,
) -> Capacity:
    """Return the largest leakage of a channel, or of any mechanism of a privacy type.

    - Without a measure, the result is the largest leakage over all gains and all priors. The multiplicative capacity of
      a channel is sum_y max_x C[x, y], between 1 and the number of secrets. The additive capacity of a channel, for
      gains whose vulnerabilities lie between 0 and 1, is 1 - sum_y min_x C[x, y], between 0 and 1. The capacity of a
      type is the largest capacity of its mechanisms.
    - With a measure and a channel, the result is the largest leakage over all priors (see `Measure.capacity`).
    - With a measure and a type, the result is the largest additive leakage of any mechanism at one prior (see
      `capacity_over_vertices`).

    Args:
        of: Privacy type, channel, or matrix of a channel.
        measure: Vulnerability or uncertainty, such as `utmost.leakage.shannon_entropy`.
        kind: "multiplicative" or "additive".
        prior: Prior of the n secrets, only with a type and a measure; uniform by default.

    Returns:
        A `Capacity`: ``value`` is a Fraction if all numbers are rational, else a float that no mechanism of the type
        exceeds; ``mechanism`` attains the value; ``certificate.verify()`` checks value and mechanism again.

    Raises:
        Unsupported: if the type is too large for every method, or if no method is known for the measure.
        OutOfRange: if ``kind`` is neither "multiplicative" nor "additive", or if a prior is given without a type and a
            measure.
        WrongKind: if ``of`` is the type of a policy; call `policy_capacity` for it.

    Cost: O(n) for counts and equal distances. Otherwise, for k classes of equivalent secrets, the cost of a k x k
        linear system if the solution of this system is nonnegative (60 x 60 places take seconds), else the cost of
        linear programs.

    Source: [fernandes2022], theorems 4 and 5, definition 8, theorem 14, corollaries 17 and 18.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.leakage import bayes_vulnerability
    >>> from utmost.spaces import counts, hamming
    >>> line, bits = PrivacyType(counts(5), alpha="1/2"), PrivacyType(hamming(3), alpha="1/2")
    >>> [str(capacity(of).value) for of in (geometric_channel(6, alpha="1/2"), line, bits)]
    ['8/3', '8/3', '64/27']
    >>> str(capacity(line, kind="additive").value), str(capacity(bits, bayes_vulnerability, "additive").value)
    ('5/6', '37/216')
    """
    if measure is not None:
        instance(measure, Measure, "measure")
    check_kind(kind)
    if isinstance(of, PolicyType):
        remedy = "Call utmost.capacities.policy_capacity(ptype, kind)."
        raise WrongKind("of= must be a PrivacyType or a channel", came="PolicyType", where="capacity", remedy=remedy)
    if prior is not None and (measure is None or not isinstance(of, PrivacyType)):
        raise OutOfRange(
            "prior= needs a privacy type and measure=",
            came="a prior without one of the two",
            where="capacity",
            remedy="Leave out prior=: in other calls the capacity is over all priors.",
        )
    if isinstance(of, PrivacyType):
        if measure is None:
            name, certificate = shortest(of, kind)
            return TypeCapacity.of(certificate, name)
        if kind == "multiplicative":
            raise Unsupported(
                "with a privacy type and measure=, kind= must be additive", came=kind, remedy='Pass kind="additive".'
            )
        return capacity_over_vertices(of, measure, prior)
    if measure is not None:
        return measure.capacity(of, kind)
    if kind == "multiplicative":
        return bayes_vulnerability.capacity(of)
    # The uniform prior, and the gain function that rewards excluding a secret, attain the additive capacity of a
    # channel.
    C = as_channel(of)
    value = 1 - total(C.matrix.min(axis=0))
    gain, uniform = exclusion_gain(C.shape[0]), priors.uniform(C.shape[0])
    if not C.is_exact:
        gain, uniform = to_floats(gain), to_floats(uniform)
    return Capacity(value, C, Attained(C, uniform, gain, value, "additive", g_vulnerability(gain)))
