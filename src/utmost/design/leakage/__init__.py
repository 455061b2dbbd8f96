"""Posteriors and hypers, vulnerabilities and uncertainties, leakage and the capacities of a channel: what is gained."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.leakage.channel_capacity import Attained, Capacity, Kind, exclusion_gain
    from utmost.design.leakage.entropies import (
        GuessingEntropy,
        ShannonBounds,
        ShannonEntropy,
        guessing_entropy,
        shannon_entropy,
    )
    from utmost.design.leakage.hypers import Hyper, hyper, hyper_of, joint
    from utmost.design.leakage.measures import (
        TIE,
        Measure,
        PaidMeasure,
        bayes_risk,
        bayes_vulnerability,
        g_vulnerability,
        l_uncertainty,
        least_actions,
        property_vulnerability,
        scores,
    )
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "TIE",
    "Attained",
    "Capacity",
    "GuessingEntropy",
    "Hyper",
    "Kind",
    "Measure",
    "PaidMeasure",
    "ShannonBounds",
    "ShannonEntropy",
    "bayes_risk",
    "bayes_vulnerability",
    "exclusion_gain",
    "g_vulnerability",
    "guessing_entropy",
    "hyper",
    "hyper_of",
    "joint",
    "l_uncertainty",
    "least_actions",
    "property_vulnerability",
    "scores",
    "shannon_entropy",
]
