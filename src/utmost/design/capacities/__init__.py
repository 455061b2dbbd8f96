"""The capacities of a privacy type: the most that any of its mechanisms leaks, one file for each route to them."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.capacities.capacity_evidence import (
        CapacityCertificate,
        PairMultipliers,
        ProductDual,
        TypeCapacity,
        UniformDual,
    )
    from utmost.design.capacities.capacity_of import VertexCertificate, capacity
    from utmost.design.capacities.implicit_mechanisms import (
        EnvelopeFacts,
        EnvelopeMechanism,
        ImplicitMechanism,
        LatticeMechanism,
        ProductMechanism,
        SimilarityMechanism,
        UniformMechanism,
        factors,
    )
    from utmost.design.capacities.policy_capacities import PolicyCapacity, policy_capacity
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "CapacityCertificate",
    "EnvelopeFacts",
    "EnvelopeMechanism",
    "ImplicitMechanism",
    "LatticeMechanism",
    "PairMultipliers",
    "PolicyCapacity",
    "ProductDual",
    "ProductMechanism",
    "SimilarityMechanism",
    "TypeCapacity",
    "UniformDual",
    "UniformMechanism",
    "VertexCertificate",
    "capacity",
    "factors",
    "policy_capacity",
]
