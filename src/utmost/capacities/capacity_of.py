"""The capacity of a channel or a privacy type: the most that it leaks, by the shortest route that proves it."""

from collections.abc import Callable
from functools import lru_cache
from typing import overload

from utmost.capacities.capacity_evidence import CapacityCertificate, ProductDual, TypeCapacity
from utmost.capacities.implicit_mechanisms import ProductMechanism, factors
from utmost.capacities.magnitude import bound_on_lattice, by_magnitude, closed_form, on_lattice
from utmost.capacities.over_vertices import capacity_over_vertices
from utmost.capacities.packing import bound_by_packing, by_envelope, by_packing, central_dual, packing
from utmost.capacities.pair_program import Classes, by_edge_program, by_orbits
from utmost.capacities.similarity import Similarity
from utmost.channels import Channel
from utmost.errors import OutOfRange, Unsupported
from utmost.exact import checked, to_floats
from utmost.leakage import Attained, Capacity, Kind, Measure, bayes_vulnerability, exclusion_gain, g_vulnerability
from utmost.leakage.channel_capacity import as_channel, check_kind, total
from utmost.privacy import PrivacyType
from utmost.spaces import priors

# A route whose proven gap is wider, relatively, gives way to the next one; the gap stays in the certificate.
_NEAR = 1e-9
_SMALL = 36

Route = Callable[[PrivacyType, Kind], CapacityCertificate | None]


def magnitude_route(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """The weighting, where it is nonnegative."""
    if kind == "additive":
        return None
    similarity = Similarity.of(ptype)
    return by_magnitude(ptype, similarity, Classes.of(similarity))


def packing_route(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """The packing or covering program, where its answer can be completed to a mechanism."""
    found = _enclosed(ptype, kind)
    return found if found is not None and found.gap <= _NEAR * float(found.upper) else None


def bound_route(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """Two bounds with a gap between them, where the type is too large for more: the narrowest that is known."""
    plain = [bound_on_lattice(ptype)] if kind == "additive" else []
    found = [c for c in (_enclosed(ptype, kind), _scaled_down(ptype, kind), *plain) if c is not None]
    return min(found, key=lambda certificate: certificate.gap, default=None)


@lru_cache(maxsize=2)
def _enclosed(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """What the packing and its completion prove: of small types exactly, of large ones by envelopes."""
    similarity = Similarity.of(ptype)
    found = packing(ptype, kind, similarity, Classes.of(similarity))
    if found is None:
        return None
    if found.is_exact or ptype.space.size <= _SMALL:
        return by_packing(ptype, kind, similarity, found)
    return by_envelope(ptype, kind, similarity, found)


def _scaled_down(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    similarity = Similarity.of(ptype)
    classes = Classes.of(similarity)
    found = packing(ptype, "multiplicative", similarity, classes)
    if found is None:
        return None
    if kind == "multiplicative":
        return bound_by_packing(ptype, kind, found, found.dual)
    covering = packing(ptype, "additive", similarity, classes)
    return bound_by_packing(ptype, kind, found, central_dual(ptype, similarity) if covering is None else covering.dual)


def product_route(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """Mechanisms and nonnegative duals of the parts of a product multiply, and so do the sums that they prove."""
    parts = factors(ptype)
    found = [] if parts is None else [shortest(part, kind)[1] for part in parts]
    if not found or any(c.multipliers is not None or c.gap > _NEAR * float(c.upper) for c in found):
        return None
    mechanism, dual = ProductMechanism(tuple(c.mechanism for c in found)), ProductDual(tuple(c.dual for c in found))
    return CapacityCertificate(ptype, kind, mechanism, dual)


def shortest(ptype: PrivacyType, kind: Kind) -> tuple[str, CapacityCertificate]:
    """The first route that reaches the capacity, and its certificate.

    Raises:
        Unsupported: for a type too large for every route.
    """
    for name, route in ROUTES:
        certificate = route(ptype, kind)
        if certificate is not None:
            return name, certificate
    raise Unsupported("no route reaches the capacity of so large a type", came=f"{ptype.space.size} secrets")


def lattice_route(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """The additive capacity of a Euclidean lattice with a point in its middle."""
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
"""The names of the routes, and the routes, in the order in which they are tried."""


@overload
def capacity(of: PrivacyType, measure: None = ..., kind: Kind = ..., prior: None = ...) -> TypeCapacity: ...
@overload
def capacity(of: object, measure: Measure | None = ..., kind: Kind = ..., prior: object = ...) -> Capacity: ...
@checked
def capacity(
    of: PrivacyType | Channel | object,
    measure: Measure | None = None,
    kind: Kind = "multiplicative",
    prior: object = None,
) -> Capacity:
    """The most that a channel, or the worst mechanism of a privacy type, leaks.

    - Without a measure: whatever anyone gains, for any prior. The largest factor is sum_y max_x C[x, y] of a channel,
      between 1 and the number of secrets. The largest increase, of gains with vulnerabilities between 0 and 1, is
      1 - sum_y min_x C[x, y] of a channel, between 0 and 1. Of a type they are the maxima over its mechanisms.
    - With a measure, of a channel: over all priors (see `Measure.capacity`).
    - With a measure, of a type: over its mechanisms, at one prior, additively (see `capacity_over_vertices`).

    Args:
        of: a privacy type; or a channel, or what can be read as one.
        measure: a vulnerability or an uncertainty, such as `utmost.leakage.shannon_entropy`.
        kind: "multiplicative" or "additive".
        prior: (n,), of a type with a measure; uniform when left out.

    Returns:
        ``value``, a Fraction where all is rational, else a float that no mechanism of the type exceeds; ``mechanism``,
        which attains it; ``certificate``, whose ``verify()`` checks both again.

    Raises:
        Unsupported: for a type too large for every route, and where no method for the measure is known.
        OutOfRange: for another kind, and for a prior that has no say.

    Cost: O(n) for counts and equal distances; a k x k linear system for k classes of alike secrets where its solution
    is nonnegative (60 x 60 places in seconds); else linear programs.

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
    check_kind(kind)
    if prior is not None and (measure is None or not isinstance(of, PrivacyType)):
        raise OutOfRange(
            "a prior has a say only in the capacity of a type by a measure", came="a prior", where="capacity"
        )
    if isinstance(of, PrivacyType):
        return _of_type(of, kind) if measure is None else _of_type_by(of, measure, kind, prior)
    if measure is not None:
        return measure.capacity(of, kind)
    return bayes_vulnerability.capacity(of) if kind == "multiplicative" else _added(as_channel(of))


def _of_type(ptype: PrivacyType, kind: Kind) -> TypeCapacity:
    name, certificate = shortest(ptype, kind)
    return TypeCapacity.of(certificate, name)


def _of_type_by(ptype: PrivacyType, measure: Measure, kind: Kind, prior: object) -> Capacity:
    if kind == "multiplicative":
        raise Unsupported(
            "the capacity of a type by a measure must be the additive one", came=kind, remedy='Write kind="additive".'
        )
    return capacity_over_vertices(ptype, measure, prior)


def _added(C: Channel) -> Capacity:
    """The additive one of a channel: attained by the uniform prior and the exclusion of one secret."""
    n = C.shape[0]
    value, gain, prior = 1 - total(C.matrix.min(axis=0)), exclusion_gain(n), priors.uniform(n)
    if not C.is_exact:
        gain, prior = to_floats(gain), to_floats(prior)
    return Capacity(value, C, Attained(C, prior, gain, value, "additive", g_vulnerability(gain)))
