"""Posteriors, hyper-distributions, vulnerabilities, uncertainties, leakage, and the capacity of a channel."""

from utmost.design.leakage.entropies import guessing_entropy, shannon_capacity, shannon_entropy
from utmost.design.leakage.hypers import Hyper, hyper, hyper_of, joint
from utmost.design.leakage.measures import (
    Measure,
    bayes_risk,
    bayes_vulnerability,
    g_vulnerability,
    l_uncertainty,
    property_vulnerability,
)

__all__ = [
    "Hyper",
    "Measure",
    "bayes_risk",
    "bayes_vulnerability",
    "g_vulnerability",
    "guessing_entropy",
    "hyper",
    "hyper_of",
    "joint",
    "l_uncertainty",
    "property_vulnerability",
    "shannon_capacity",
    "shannon_entropy",
]


def __dir__() -> list[str]:
    return __all__
