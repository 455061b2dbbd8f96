"""Optimal mechanisms for a consumer, remaps, and certificates that bound the distance to the optimum."""

from utmost.design.optima.attacks import attack, usual_mechanisms
from utmost.design.optima.best_actions import (
    bayes_remap,
    equivalent_response,
    expected_loss,
    face_value_loss,
    face_value_of_noise,
    folded_channel,
    folded_responses,
    posterior,
    read,
)
from utmost.design.optima.beyond_oblivious import (
    CountQuery,
    averaged,
)
from utmost.design.optima.checker import Bounds, Multipliers
from utmost.design.optima.constrained import Constraint
from utmost.design.optima.evidence import Certificate
from utmost.design.optima.laplace_loss import laplace_loss
from utmost.design.optima.loss_curves import LossCurve, even_levels_between, loss_curve
from utmost.design.optima.minimax import minimax_mechanism
from utmost.design.optima.nearly_private import repair
from utmost.design.optima.optimum import Optimum, optimal_mechanism
from utmost.design.optima.policy_designs import policy_mechanism
from utmost.design.optima.structure import (
    between_levels,
    check_lemmas,
    constraint_matrix,
    derivation,
    remap_of_vertex,
    uniqueness,
)
from utmost.design.optima.unavoidable_loss import gradual_loss

__all__ = [
    "Bounds",
    "Certificate",
    "Constraint",
    "CountQuery",
    "LossCurve",
    "Multipliers",
    "Optimum",
    "attack",
    "averaged",
    "bayes_remap",
    "between_levels",
    "check_lemmas",
    "constraint_matrix",
    "derivation",
    "equivalent_response",
    "even_levels_between",
    "expected_loss",
    "face_value_loss",
    "face_value_of_noise",
    "folded_channel",
    "folded_responses",
    "gradual_loss",
    "laplace_loss",
    "loss_curve",
    "minimax_mechanism",
    "optimal_mechanism",
    "policy_mechanism",
    "posterior",
    "read",
    "remap_of_vertex",
    "repair",
    "uniqueness",
    "usual_mechanisms",
]


def __dir__() -> list[str]:
    return __all__
