"""The capacities of a privacy type: the most that any of its mechanisms leaks, one file for each route to them."""

from utmost.capacities.capacity_evidence import (
    CapacityCertificate,
    PairMultipliers,
    ProductDual,
    TypeCapacity,
    UniformDual,
)
from utmost.capacities.capacity_of import VertexCertificate, capacity
from utmost.capacities.implicit_mechanisms import (
    EnvelopeFacts,
    EnvelopeMechanism,
    ImplicitMechanism,
    LatticeMechanism,
    ProductMechanism,
    SimilarityMechanism,
    UniformMechanism,
    factors,
)

__all__ = [
    "CapacityCertificate",
    "EnvelopeFacts",
    "EnvelopeMechanism",
    "ImplicitMechanism",
    "LatticeMechanism",
    "PairMultipliers",
    "ProductDual",
    "ProductMechanism",
    "SimilarityMechanism",
    "TypeCapacity",
    "UniformDual",
    "UniformMechanism",
    "VertexCertificate",
    "capacity",
    "factors",
]
