"""Refinement, vertices, kernels and universality: the shape of all mechanisms that keep a promise."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.geometry.decomposition import Decomposition, decompose, is_kernel, is_vertex_mechanism
    from utmost.design.geometry.deficiency import (
        RefinementDistance,
        additive_capacity_at,
        refinement_distance,
    )
    from utmost.design.geometry.impossibility import (
        LiftedLoss,
        Unserved,
        UtilitySet,
        blurred_pair,
        trivial_action,
        unserved_consumer,
    )
    from utmost.design.geometry.kantorovich import KantorovichDistance, kantorovich_distance
    from utmost.design.geometry.kernel_estimates import KernelEstimate, estimate_kernels
    from utmost.design.geometry.kernel_search import Kernels, count_kernels, kernel_blocks, kernel_sizes, kernels
    from utmost.design.geometry.kernel_supports import KernelBlock, Position
    from utmost.design.geometry.orders import MaxCaseVerdict, PrivacyOrderVerdict, induced_ratios
    from utmost.design.geometry.power_channels import PowerChannel, exact_mechanism
    from utmost.design.geometry.power_numbers import PowerField, PowerNumber
    from utmost.design.geometry.refinement_proofs import Verdict, is_remap_between, prefers
    from utmost.design.geometry.refining import EarthMove, RefinementVerdict, earth_move, refines
    from utmost.design.geometry.symmetries import Automorphisms, Orbits, automorphisms, vertex_orbits
    from utmost.design.geometry.universal_optima import (
        ExistenceVerdict,
        NibOptimum,
        UniversalityVerdict,
        distinguishing_mechanism,
        least_nib_loss,
        universal_mechanism,
        universality,
    )
    from utmost.design.geometry.vertex_search import (
        Vertices,
        count_vertices,
        vertex_blocks,
        vertex_extensions,
        vertices,
    )
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "Automorphisms",
    "Decomposition",
    "EarthMove",
    "ExistenceVerdict",
    "KantorovichDistance",
    "KernelBlock",
    "KernelEstimate",
    "Kernels",
    "LiftedLoss",
    "MaxCaseVerdict",
    "NibOptimum",
    "Orbits",
    "Position",
    "PowerChannel",
    "PowerField",
    "PowerNumber",
    "PrivacyOrderVerdict",
    "RefinementDistance",
    "RefinementVerdict",
    "UniversalityVerdict",
    "Unserved",
    "UtilitySet",
    "Verdict",
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
    "is_remap_between",
    "is_vertex_mechanism",
    "kantorovich_distance",
    "kernel_blocks",
    "kernel_sizes",
    "kernels",
    "least_nib_loss",
    "prefers",
    "refinement_distance",
    "refines",
    "trivial_action",
    "universal_mechanism",
    "universality",
    "unserved_consumer",
    "vertex_blocks",
    "vertex_extensions",
    "vertex_orbits",
    "vertices",
]
