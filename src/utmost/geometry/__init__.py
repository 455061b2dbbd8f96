"""Refinement, vertices, kernels and universality: the shape of all mechanisms that keep a promise."""

from utmost.geometry.automorphisms import Automorphisms, automorphisms
from utmost.geometry.decomposition import Decomposition, decompose
from utmost.geometry.earth_moves import EarthMove, earth_move
from utmost.geometry.estimate import Estimate, estimate_kernels
from utmost.geometry.existence import distinguishing_mechanism
from utmost.geometry.extensions import vertex_extensions
from utmost.geometry.haul import Haul, Position
from utmost.geometry.impossibility import Unserved, blurred_pair, unserved_consumer
from utmost.geometry.kernels import Kernels, count_kernels, kernel_blocks, kernel_sizes, kernels
from utmost.geometry.max_case_order import MaxCaseVerdict, max_case_verdict
from utmost.geometry.membership import is_kernel, is_vertex_mechanism
from utmost.geometry.nib_on_the_line import NibOptimum, least_nib_loss
from utmost.geometry.orbits import Orbits, vertex_orbits
from utmost.geometry.privacy_order import PrivacyOrderVerdict, induced_ratios, privacy_order_verdict
from utmost.geometry.refinement import RefinementVerdict, refinement, refinement_verdict, refutation
from utmost.geometry.universality import (
    ExistenceVerdict,
    UniversalityVerdict,
    is_universally_optimal,
    universal_mechanism,
)
from utmost.geometry.utility_sets import LiftedLoss, UtilitySet, trivial_action
from utmost.geometry.vertices import Vertices, count_vertices, vertex_blocks, vertices
from utmost.geometry.witnesses import is_remap_between, prefers
from utmost.spaces.loss_algebra import joint_loss, lifted_loss

__all__ = [
    "Automorphisms",
    "Decomposition",
    "EarthMove",
    "Estimate",
    "ExistenceVerdict",
    "Haul",
    "Kernels",
    "LiftedLoss",
    "MaxCaseVerdict",
    "NibOptimum",
    "Orbits",
    "Position",
    "PrivacyOrderVerdict",
    "RefinementVerdict",
    "UniversalityVerdict",
    "Unserved",
    "UtilitySet",
    "Vertices",
    "automorphisms",
    "blurred_pair",
    "count_kernels",
    "count_vertices",
    "decompose",
    "distinguishing_mechanism",
    "earth_move",
    "estimate_kernels",
    "induced_ratios",
    "is_kernel",
    "is_remap_between",
    "is_universally_optimal",
    "is_vertex_mechanism",
    "joint_loss",
    "kernel_blocks",
    "kernel_sizes",
    "kernels",
    "least_nib_loss",
    "lifted_loss",
    "max_case_verdict",
    "prefers",
    "privacy_order_verdict",
    "refinement",
    "refinement_verdict",
    "refutation",
    "trivial_action",
    "universal_mechanism",
    "unserved_consumer",
    "vertex_blocks",
    "vertex_extensions",
    "vertex_orbits",
    "vertices",
]
