"""Refinement, vertices, kernels and universality: the shape of all mechanisms that keep a promise."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.geometry.decomposition import decompose as decompose
    from utmost.design.geometry.deficiency import additive_capacity_at as additive_capacity_at
    from utmost.design.geometry.deficiency import refinement_distance as refinement_distance
    from utmost.design.geometry.impossibility import UtilitySet as UtilitySet
    from utmost.design.geometry.impossibility import blurred_pair as blurred_pair
    from utmost.design.geometry.impossibility import unserved_consumer as unserved_consumer
    from utmost.design.geometry.kantorovich import kantorovich_distance as kantorovich_distance
    from utmost.design.geometry.kernel_estimates import estimate_kernels as estimate_kernels
    from utmost.design.geometry.kernel_search import kernels as kernels
    from utmost.design.geometry.power_numbers import PowerField as PowerField
    from utmost.design.geometry.power_numbers import PowerNumber as PowerNumber
    from utmost.design.geometry.refining import refines as refines
    from utmost.design.geometry.universal_optima import distinguishing_mechanism as distinguishing_mechanism
    from utmost.design.geometry.universal_optima import least_nib_loss as least_nib_loss
    from utmost.design.geometry.universal_optima import universal_mechanism as universal_mechanism
    from utmost.design.geometry.universal_optima import universality as universality
    from utmost.design.geometry.vertex_search import Vertices as Vertices
    from utmost.design.geometry.vertex_search import count_vertices as count_vertices
    from utmost.design.geometry.vertex_search import vertex_extensions as vertex_extensions
    from utmost.design.geometry.vertex_search import vertices as vertices
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
