"""The capacity of a privacy type: the largest leakage of any mechanism that satisfies it."""

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
