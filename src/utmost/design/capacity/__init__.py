"""The capacities of a privacy type: the most that any of its mechanisms leaks, one file for each route to them."""

from utmost.design.capacity.capacity import additive_capacity, multiplicative_capacity
from utmost.design.capacity.certificate import CapacityCertificate, TypeCapacity
from utmost.design.capacity.checker import Multipliers, ProductDual, UniformDual
from utmost.design.capacity.envelope_mechanism import EnvelopeMechanism
from utmost.design.capacity.lattice_mechanism import LatticeMechanism
from utmost.design.capacity.mechanisms import (
    ImplicitMechanism,
    KernelMechanism,
    ProductMechanism,
    UniformMechanism,
)
from utmost.design.capacity.over_vertices import VertexCertificate, capacity_over_vertices
from utmost.design.capacity.products import factors

__all__ = [
    "CapacityCertificate",
    "EnvelopeMechanism",
    "ImplicitMechanism",
    "KernelMechanism",
    "LatticeMechanism",
    "Multipliers",
    "ProductDual",
    "ProductMechanism",
    "TypeCapacity",
    "UniformDual",
    "UniformMechanism",
    "VertexCertificate",
    "additive_capacity",
    "capacity_over_vertices",
    "factors",
    "multiplicative_capacity",
]
