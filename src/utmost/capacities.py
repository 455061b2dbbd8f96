"""The capacities of a privacy type: the most that any of its mechanisms leaks, one file for each route to them."""

from utmost.design.capacities.capacity_evidence import CapacityCertificate
from utmost.design.capacities.capacity_of import capacity, capacity_over_vertices
from utmost.design.capacities.policy_capacities import policy_capacity

__all__ = ["CapacityCertificate", "capacity", "capacity_over_vertices", "policy_capacity"]


def __dir__() -> list[str]:
    return __all__
