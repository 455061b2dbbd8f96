"""Posteriors and hypers, vulnerabilities and uncertainties, leakage and the capacities of a channel: what is gained."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.leakage.channel_capacity import Capacity
    from utmost.design.leakage.entropies import guessing_entropy, shannon_entropy
    from utmost.design.leakage.hypers import Hyper, hyper, joint
    from utmost.design.leakage.measures import (
        Measure,
        PaidMeasure,
        bayes_risk,
        bayes_vulnerability,
        g_vulnerability,
        l_uncertainty,
        property_vulnerability,
    )
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "Capacity",
    "Hyper",
    "Measure",
    "PaidMeasure",
    "bayes_risk",
    "bayes_vulnerability",
    "g_vulnerability",
    "guessing_entropy",
    "hyper",
    "joint",
    "l_uncertainty",
    "property_vulnerability",
    "shannon_entropy",
]
