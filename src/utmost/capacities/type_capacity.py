"""The capacities of a privacy type: the most that any of its mechanisms leaks, by the shortest route that proves it."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from utmost.capacities.capacity_evidence import CapacityCertificate, Kind, ProductDual, TypeCapacity
from utmost.capacities.implicit_mechanisms import ProductMechanism, factors
from utmost.capacities.magnitude import bound_on_lattice, by_magnitude, closed_form, on_lattice
from utmost.capacities.packing import bound_by_packing, by_envelope, by_packing, central_dual, packing
from utmost.capacities.pair_program import Classes, by_edge_program, by_orbits
from utmost.capacities.similarity import Kernel
from utmost.errors import Unsupported
from utmost.leakage import Capacity
from utmost.leakage import additive_capacity as additive_capacity_of_channel
from utmost.leakage import multiplicative_capacity as multiplicative_capacity_of_channel
from utmost.privacy import PrivacyType

# A route whose proven gap is wider, relatively, gives way to the next one; the gap stays in the certificate.
_NEAR = 1e-9
_SMALL = 36

Route = Callable[[PrivacyType, Kind], CapacityCertificate | None]


def magnitude_route(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """The weighting, where it is nonnegative."""
    if kind == "additive":
        return None
    kernel = Kernel.of(ptype)
    return by_magnitude(ptype, kernel, Classes.of(kernel))


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
    kernel = Kernel.of(ptype)
    found = packing(ptype, kind, kernel, Classes.of(kernel))
    if found is None:
        return None
    if found.is_exact or ptype.space.size <= _SMALL:
        return by_packing(ptype, kind, kernel, found)
    return by_envelope(ptype, kind, kernel, found)


def _scaled_down(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    kernel = Kernel.of(ptype)
    classes = Classes.of(kernel)
    found = packing(ptype, "multiplicative", kernel, classes)
    if found is None:
        return None
    if kind == "multiplicative":
        return bound_by_packing(ptype, kind, found, found.dual)
    covering = packing(ptype, "additive", kernel, classes)
    return bound_by_packing(ptype, kind, found, central_dual(ptype, kernel) if covering is None else covering.dual)


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


def multiplicative_capacity(of: PrivacyType | Any) -> Capacity:
    """The largest factor by which a mechanism multiplies anyone's gain: of a channel, or of the worst of a type.

    For a channel C it is sum_y max_x C[x, y]; for a privacy type the maximum over its mechanisms, between 1 and n.

    Args:
        of: a privacy type; or a channel, or what can be read as one (see `utmost.leakage.multiplicative_capacity`).

    Returns:
        ``value``, a Fraction where all is rational, else a float that no mechanism of the type exceeds; ``mechanism``,
        which attains it; ``certificate``, whose ``verify()`` checks both again.

    Raises:
        Unsupported: for a type too large for every route.

    Cost: O(n) for counts and equal distances; a k x k linear system for k classes of alike secrets where its solution
    is nonnegative (60 x 60 places in seconds); else linear programs.

    Source: [fernandes2022], definition 8, theorem 14 and corollary 18.

    >>> from utmost.spaces import counts, hamming
    >>> str(multiplicative_capacity(PrivacyType(counts(5), alpha="1/2")).value)
    '8/3'
    >>> str(multiplicative_capacity(PrivacyType(hamming(3), alpha="1/2")).value)
    '64/27'
    """
    if isinstance(of, PrivacyType):
        return _of_type(of, "multiplicative")
    return multiplicative_capacity_of_channel(of)


def additive_capacity(of: PrivacyType | Any) -> Capacity:
    """The most by which a mechanism adds to anyone's gain, for gains with vulnerabilities between 0 and 1.

    For a channel C it is 1 - sum_y min_x C[x, y]; for a privacy type the maximum over its mechanisms, between 0 and 1.

    Args:
        of: a privacy type; or a channel, or what can be read as one (see `utmost.leakage.additive_capacity`).

    Returns:
        As `multiplicative_capacity`.

    Raises:
        Unsupported: for a type too large for every route.

    Source: [fernandes2022], definition 8, theorem 14 and corollary 17.

    >>> from utmost.spaces import counts, discrete
    >>> str(additive_capacity(PrivacyType(counts(5), alpha="1/2")).value)
    '5/6'
    >>> str(additive_capacity(PrivacyType(discrete(3), alpha="1/2")).value)
    '2/5'
    """
    if isinstance(of, PrivacyType):
        return _of_type(of, "additive")
    return additive_capacity_of_channel(of)


def _of_type(ptype: PrivacyType, kind: Kind) -> TypeCapacity:
    name, certificate = shortest(ptype, kind)
    return TypeCapacity.of(certificate, name)
