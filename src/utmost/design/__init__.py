"""Consumers meet channels: remaps, optimal mechanisms, and certificates of how near the best they are."""

from utmost.design.attacks import Attack, Odds, attack, usual_mechanisms
from utmost.design.beyond_oblivious import (
    CountQuery,
    averaged,
    best_worst_case,
    conflicting_users,
    expanded,
    worst_case_loss,
)
from utmost.design.checker import Bounds, Multipliers, check_private
from utmost.design.column_generation import certificate_of_rays
from utmost.design.constrained import ConstrainedCertificate, Constraint
from utmost.design.consumer_program import user_program
from utmost.design.evidence import Certificate
from utmost.design.loss_curves import LossCurve, designs_in_turn, even_levels_between, loss_curve
from utmost.design.minimax import MinimaxOptimum, minimax_mechanism
from utmost.design.nearly_private import Repair, repair
from utmost.design.optimum import Optimum, optimal_mechanism
from utmost.design.policy_designs import PolicyOptimum, policy_mechanism
from utmost.design.reading import (
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
from utmost.design.sharing import SharedOptimum, shared_mechanism, sharing_program, sharing_refutation
from utmost.design.structure import (
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
from utmost.design.unavoidable_loss import gradual_loss

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
