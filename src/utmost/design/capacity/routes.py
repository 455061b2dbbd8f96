"""The routes to the capacities of a type, from the shortest to the longest; each gives a certificate or passes."""

from collections.abc import Callable
from functools import lru_cache

from utmost.design.capacity.certificate import CapacityCertificate
from utmost.design.capacity.checker import Kind, ProductDual
from utmost.design.capacity.classes import Classes
from utmost.design.capacity.closed_form import closed_form
from utmost.design.capacity.edge_program import by_edge_program
from utmost.design.capacity.envelope import by_envelope
from utmost.design.capacity.kernel import Kernel
from utmost.design.capacity.lattice import bound_on_lattice, on_lattice
from utmost.design.capacity.magnitude import by_magnitude
from utmost.design.capacity.mechanisms import ProductMechanism
from utmost.design.capacity.orbit_program import by_orbits
from utmost.design.capacity.packing import bound_by_packing, by_packing, central_dual, packing
from utmost.design.capacity.products import factors
from utmost.errors import Unsupported
from utmost.privacy import PrivacyType

PRODUCT = "capacities of products: mechanisms and nonnegative duals of the parts multiply"
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
    return CapacityCertificate(ptype, kind, mechanism, dual, theorem=PRODUCT)


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
