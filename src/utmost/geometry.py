"""Refinement, vertices, kernels and universality: the geometry of all mechanisms that satisfy a privacy type."""

from utmost.design.geometry.decomposition import decompose, is_kernel, is_vertex_mechanism
from utmost.design.geometry.deficiency import additive_capacity_at, refinement_distance
from utmost.design.geometry.impossibility import UtilitySet, blurred_pair, trivial_action, unserved_consumer
from utmost.design.geometry.kantorovich import kantorovich_distance
from utmost.design.geometry.kernel_estimates import estimate_kernels
from utmost.design.geometry.kernel_search import count_kernels, kernel_sizes, kernels
from utmost.design.geometry.nib_on_trees import least_nib_loss, universal_nib
from utmost.design.geometry.orders import induced_ratios
from utmost.design.geometry.power_channels import PowerChannel, exact_mechanism
from utmost.design.geometry.power_numbers import PowerField, PowerNumber
from utmost.design.geometry.refinement_proofs import prefers
from utmost.design.geometry.refining import earth_move, refines
from utmost.design.geometry.symmetries import Automorphisms, automorphisms, vertex_orbits
from utmost.design.geometry.universal_optima import (
    distinguishing_mechanism,
    universal_mechanism,
    universality,
)
from utmost.design.geometry.vertex_search import Vertices, count_vertices, vertex_extensions, vertices

__all__ = [
    "Automorphisms",
    "PowerChannel",
    "PowerField",
    "PowerNumber",
    "UtilitySet",
    "Vertices",
    "additive_capacity_at",
    "automorphisms",
    "blurred_pair",
    "count_kernels",
    "count_vertices",
    "decompose",
    "distinguishing_mechanism",
    "earth_move",
    "estimate_kernels",
    "exact_mechanism",
    "induced_ratios",
    "is_kernel",
    "is_vertex_mechanism",
    "kantorovich_distance",
    "kernel_sizes",
    "kernels",
    "least_nib_loss",
    "prefers",
    "refinement_distance",
    "refines",
    "trivial_action",
    "universal_mechanism",
    "universal_nib",
    "universality",
    "unserved_consumer",
    "vertex_extensions",
    "vertex_orbits",
    "vertices",
]


def __dir__() -> list[str]:
    return __all__
