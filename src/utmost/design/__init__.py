"""Consumers meet channels: remaps, optimal mechanisms, and certificates of how near the best they are."""

from utmost.design.additive import face_value_of_noise, folded_channel, folded_responses
from utmost.design.beyond_oblivious import (
    CountQuery,
    averaged,
    best_worst_case,
    conflicting_users,
    expanded,
    worst_case_loss,
)
from utmost.design.certificate import Certificate
from utmost.design.checker import Bounds, check_private
from utmost.design.constrained_certificate import ConstrainedCertificate
from utmost.design.constraints import Constraint
from utmost.design.derivability import Derivation, between_levels, derivation
from utmost.design.gradual_loss import gradual_loss
from utmost.design.interior import interior_certificate
from utmost.design.minimax import MinimaxOptimum, minimax_mechanism
from utmost.design.multipliers import Multipliers
from utmost.design.optimal import Optimum, optimal_mechanism
from utmost.design.reading import Reading, read_response
from utmost.design.remap import bayes_remap, expected_loss, face_value_loss, posterior
from utmost.design.repair import Repair, repair
from utmost.design.shared import SharedOptimum, shared_mechanism, sharing_program, sharing_refutation
from utmost.design.structure import LemmaCheck, check_lemmas, constraint_matrix, remap_of_vertex
from utmost.design.uniqueness import Uniqueness, uniqueness
from utmost.design.user_program import user_program

__all__ = [
    "Bounds",
    "Certificate",
    "ConstrainedCertificate",
    "Constraint",
    "CountQuery",
    "Derivation",
    "LemmaCheck",
    "MinimaxOptimum",
    "Multipliers",
    "Optimum",
    "Reading",
    "Repair",
    "SharedOptimum",
    "Uniqueness",
    "averaged",
    "bayes_remap",
    "best_worst_case",
    "between_levels",
    "check_lemmas",
    "check_private",
    "conflicting_users",
    "constraint_matrix",
    "derivation",
    "expanded",
    "expected_loss",
    "face_value_loss",
    "face_value_of_noise",
    "folded_channel",
    "folded_responses",
    "gradual_loss",
    "interior_certificate",
    "minimax_mechanism",
    "optimal_mechanism",
    "posterior",
    "read_response",
    "remap_of_vertex",
    "repair",
    "shared_mechanism",
    "sharing_program",
    "sharing_refutation",
    "uniqueness",
    "user_program",
    "worst_case_loss",
]
