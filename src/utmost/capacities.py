"""The capacities of a privacy type: the most that any of its mechanisms leaks, one file for each route to them."""

from utmost.design.capacities.capacity import capacity, capacity_over_vertices
from utmost.design.capacities.capacity_evidence import CapacityCertificate, PairMultipliers, ProductDual, UniformDual
from utmost.design.capacities.implicit_mechanisms import (
    EnvelopeMechanism,
    LatticeMechanism,
    SimilarityMechanism,
    UniformMechanism,
)
from utmost.design.capacities.policy_capacities import policy_capacity

__all__ = [
    "CapacityCertificate",
    "EnvelopeMechanism",
    "LatticeMechanism",
    "PairMultipliers",
    "ProductDual",
    "SimilarityMechanism",
    "UniformDual",
    "UniformMechanism",
    "capacity",
    "capacity_over_vertices",
    "policy_capacity",
]


def __dir__() -> list[str]:
    return __all__
