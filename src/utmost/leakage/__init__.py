"""Posteriors and hypers, vulnerabilities and uncertainties, leakage and the capacities of a channel: what is gained."""

from utmost.leakage.channel_capacity import (
    Attained,
    Capacity,
    additive_capacity,
    exclusion_gain,
    identity_gain,
    multiplicative_capacity,
)
from utmost.leakage.entropies import GuessingEntropy, ShannonEntropy, guessing_entropy, shannon_entropy
from utmost.leakage.hypers import Hyper, hyper, hyper_of, joint
from utmost.leakage.leakages import additive_leakage, multiplicative_leakage, uncertainty, vulnerability
from utmost.leakage.measures import (
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
from utmost.leakage.shannon import ShannonBounds, shannon_capacity

__all__ = [
    "TIE",
    "Attained",
    "Capacity",
    "GuessingEntropy",
    "Hyper",
    "Measure",
    "PaidMeasure",
    "ShannonBounds",
    "ShannonEntropy",
    "additive_capacity",
    "additive_leakage",
    "bayes_risk",
    "bayes_vulnerability",
    "exclusion_gain",
    "g_vulnerability",
    "guessing_entropy",
    "hyper",
    "hyper_of",
    "identity_gain",
    "joint",
    "l_uncertainty",
    "least_actions",
    "multiplicative_capacity",
    "multiplicative_leakage",
    "property_vulnerability",
    "scores",
    "shannon_capacity",
    "shannon_entropy",
    "uncertainty",
    "vulnerability",
]
