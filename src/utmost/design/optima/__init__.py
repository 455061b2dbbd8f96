"""Consumers meet channels: remaps, optimal mechanisms, and certificates of how near the best they are."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.optima.attacks import attack as attack
    from utmost.design.optima.beyond_oblivious import CountQuery as CountQuery
    from utmost.design.optima.beyond_oblivious import averaged as averaged
    from utmost.design.optima.constrained import Constraint as Constraint
    from utmost.design.optima.minimax import minimax_mechanism as minimax_mechanism
    from utmost.design.optima.nearly_private import repair as repair
    from utmost.design.optima.optimum import Optimum as Optimum
    from utmost.design.optima.optimum import optimal_mechanism as optimal_mechanism
    from utmost.design.optima.policy_designs import policy_mechanism as policy_mechanism
    from utmost.design.optima.reading import bayes_remap as bayes_remap
    from utmost.design.optima.reading import expected_loss as expected_loss
    from utmost.design.optima.reading import face_value_loss as face_value_loss
    from utmost.design.optima.reading import face_value_of_noise as face_value_of_noise
    from utmost.design.optima.reading import folded_channel as folded_channel
    from utmost.design.optima.reading import read as read
    from utmost.design.optima.structure import between_levels as between_levels
    from utmost.design.optima.structure import derivation as derivation
    from utmost.design.optima.structure import uniqueness as uniqueness
    from utmost.design.optima.unavoidable_loss import gradual_loss as gradual_loss
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
