"""The capacities of a privacy type: the most that any of its mechanisms leaks, one file for each route to them."""

from utmost.design.capacity.capacity import additive_capacity, multiplicative_capacity
from utmost.design.capacity.certificate import CapacityCertificate, TypeCapacity

__all__ = [
    "CapacityCertificate",
    "TypeCapacity",
    "additive_capacity",
    "multiplicative_capacity",
]
