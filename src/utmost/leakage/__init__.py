"""Posteriors and hypers, vulnerabilities and uncertainties, leakage and the capacities of a channel: what is gained."""

from utmost.leakage.capacity import Attained, Capacity, additive_capacity, multiplicative_capacity

__all__ = [
    "Attained",
    "Capacity",
    "additive_capacity",
    "multiplicative_capacity",
]
