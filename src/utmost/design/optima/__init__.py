"""Consumers meet channels: remaps, optimal mechanisms, and certificates of how near the best they are."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.optima.attacks import Attack, Odds, attack, usual_mechanisms
    from utmost.design.optima.beyond_oblivious import (
        CountQuery,
        averaged,
        best_worst_case,
        conflicting_users,
        expanded,
        worst_case_loss,
    )
    from utmost.design.optima.checker import Bounds, Multipliers, check_private
    from utmost.design.optima.column_generation import certificate_of_rays
    from utmost.design.optima.constrained import ConstrainedCertificate, Constraint
    from utmost.design.optima.consumer_program import user_program
    from utmost.design.optima.evidence import Certificate
    from utmost.design.optima.loss_curves import LossCurve, designs_in_turn, even_levels_between, loss_curve
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
        folded_responses,
        posterior,
        read,
    )
    from utmost.design.optima.sharing import SharedOptimum, shared_mechanism, sharing_program, sharing_refutation
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
    "LossCurve",
    "MinimaxOptimum",
    "Multipliers",
    "Odds",
    "Optimum",
    "PolicyOptimum",
    "Reading",
    "Repair",
    "SharedOptimum",
    "Uniqueness",
    "attack",
    "averaged",
    "bayes_remap",
    "best_worst_case",
    "between_levels",
    "certificate_of_rays",
    "check_lemmas",
    "check_private",
    "conflicting_users",
    "constraint_matrix",
    "derivation",
    "designs_in_turn",
    "even_levels_between",
    "expanded",
    "expected_loss",
    "face_value_loss",
    "face_value_of_noise",
    "folded_channel",
    "folded_responses",
    "gradual_loss",
    "loss_curve",
    "minimax_mechanism",
    "optimal_mechanism",
    "policy_mechanism",
    "posterior",
    "read",
    "remap_of_vertex",
    "repair",
    "shared_mechanism",
    "sharing_program",
    "sharing_refutation",
    "uniqueness",
    "user_program",
    "usual_mechanisms",
    "worst_case_loss",
]
