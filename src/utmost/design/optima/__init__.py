"""Consumers meet channels: remaps, optimal mechanisms, and certificates of how near the best they are."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.optima.attacks import Attack, Odds, attack
    from utmost.design.optima.beyond_oblivious import CountQuery, averaged
    from utmost.design.optima.checker import Bounds, Multipliers
    from utmost.design.optima.column_generation import certificate_of_rays
    from utmost.design.optima.constrained import ConstrainedCertificate, Constraint
    from utmost.design.optima.evidence import Certificate
    from utmost.design.optima.minimax import MinimaxOptimum, minimax_mechanism
    from utmost.design.optima.nearly_private import Repair, repair
    from utmost.design.optima.optimum import Optimum, optimal_mechanism
    from utmost.design.optima.policy_designs import PolicyOptimum, policy_mechanism
    from utmost.design.optima.reading import (
        Reading,
        bayes_remap,
        expected_loss,
        face_value_loss,
        face_value_of_noise,
        folded_channel,
        posterior,
        read,
    )
    from utmost.design.optima.structure import (
        Derivation,
        LemmaCheck,
        Uniqueness,
        between_levels,
        check_lemmas,
        constraint_matrix,
        derivation,
        remap_of_vertex,
        uniqueness,
    )
    from utmost.design.optima.unavoidable_loss import gradual_loss
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "Attack",
    "Bounds",
    "Certificate",
    "ConstrainedCertificate",
    "Constraint",
    "CountQuery",
    "Derivation",
    "LemmaCheck",
    "MinimaxOptimum",
    "Multipliers",
    "Odds",
    "Optimum",
    "PolicyOptimum",
    "Reading",
    "Repair",
    "Uniqueness",
    "attack",
    "averaged",
    "bayes_remap",
    "between_levels",
    "certificate_of_rays",
    "check_lemmas",
    "constraint_matrix",
    "derivation",
    "expected_loss",
    "face_value_loss",
    "face_value_of_noise",
    "folded_channel",
    "gradual_loss",
    "minimax_mechanism",
    "optimal_mechanism",
    "policy_mechanism",
    "posterior",
    "read",
    "remap_of_vertex",
    "repair",
    "uniqueness",
]
