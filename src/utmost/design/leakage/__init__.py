"""Posteriors and hypers, vulnerabilities and uncertainties, leakage and the capacities of a channel: what is gained."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.leakage.entropies import guessing_entropy as guessing_entropy
    from utmost.design.leakage.entropies import shannon_entropy as shannon_entropy
    from utmost.design.leakage.hypers import hyper as hyper
    from utmost.design.leakage.hypers import joint as joint
    from utmost.design.leakage.measures import Measure as Measure
    from utmost.design.leakage.measures import bayes_risk as bayes_risk
    from utmost.design.leakage.measures import bayes_vulnerability as bayes_vulnerability
    from utmost.design.leakage.measures import g_vulnerability as g_vulnerability
    from utmost.design.leakage.measures import l_uncertainty as l_uncertainty
    from utmost.design.leakage.measures import property_vulnerability as property_vulnerability
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
