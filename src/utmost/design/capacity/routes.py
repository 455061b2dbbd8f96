"""The routes to the capacities of a type, from the shortest to the longest; each gives a certificate or passes."""

from collections.abc import Callable

from utmost.design.capacity.certificate import CapacityCertificate
from utmost.design.capacity.checker import Kind
from utmost.design.capacity.classes import Classes
from utmost.design.capacity.closed_form import closed_form
from utmost.design.capacity.edge_program import by_edge_program
from utmost.design.capacity.kernel import Kernel
from utmost.design.capacity.lattice import bound_on_lattice, on_lattice
from utmost.design.capacity.magnitude import by_magnitude
from utmost.design.capacity.orbit_program import by_orbits
from utmost.design.capacity.packing import bound_by_packing, by_packing, packing
from utmost.privacy import PrivacyType

Route = Callable[[PrivacyType, Kind], CapacityCertificate | None]


def magnitude_route(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """The weighting, where it is nonnegative."""
    if kind == "additive":
        return None
    kernel = Kernel.of(ptype)
    return by_magnitude(ptype, kernel, Classes.of(kernel))


def packing_route(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """The packing or covering program, where its answer can be completed."""
    kernel = Kernel.of(ptype)
    found = packing(ptype, kind, kernel, Classes.of(kernel))
    return None if found is None else by_packing(ptype, kind, kernel, found)


def bound_route(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """Two bounds with a gap between them, where the type is too large for more."""
    if kind == "additive":
        return bound_on_lattice(ptype)
    kernel = Kernel.of(ptype)
    found = packing(ptype, kind, kernel, Classes.of(kernel))
    return None if found is None else bound_by_packing(ptype, kernel, found)


def lattice_route(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """The additive capacity of a Euclidean lattice with a point in its middle."""
    return on_lattice(ptype) if kind == "additive" else None


ROUTES: tuple[tuple[str, Route], ...] = (
    ("closed form", closed_form),
    ("closed form", lattice_route),
    ("magnitude", magnitude_route),
    ("packing", packing_route),
    ("orbits", by_orbits),
    ("program", by_edge_program),
    ("bound", bound_route),
)
"""The names of the routes, and the routes, in the order in which they are tried."""
