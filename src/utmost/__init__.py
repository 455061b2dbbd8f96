"""Provably optimal differential privacy: the least noise a level allows, drawn exactly, with the evidence."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from utmost import errors
from utmost.adapters import dataframes as _dataframes
from utmost.channels import (
    Channel,
    GeometricMatrix,
    Remap,
    abstract_staircase,
    dual_randomized_response,
    exponential_mechanism,
    geometric_channel,
    laplace_channel,
    randomized_response,
    unbounded_geometric_channel,
)
from utmost.exact import Level, Surd, level
from utmost.noise import (
    DiscreteStaircase,
    Geometric,
    Laplace,
    Law,
    Staircase,
    costs,
    gain,
    gamma_bracket,
    heuristic_gamma,
    optimal_gamma,
    optimal_noise,
    optimal_step,
    relaxable_noise,
    step_bracket,
)
from utmost.privacy import (
    PrivacyType,
    SmallestEpsilon,
    check_promise,
    delta,
    frontier,
    kept_level,
    profile,
    smallest_epsilon,
    total_variation,
    tradeoff,
)
from utmost.release import Plan, TableRelease, Unit, epsilon_for, plan_release, rehearse_table, release, release_table
from utmost.sampling import sample
from utmost.spaces import (
    Consumer,
    Loss,
    Space,
    check_monotone,
    counts,
    discrete,
    graph,
    grid,
    hamming,
    is_monotone,
    losses,
    priors,
)
from utmost.version import __version__

if TYPE_CHECKING:
    from utmost.design import (
        Certificate,
        CountQuery,
        Optimum,
        Reading,
        bayes_remap,
        between_levels,
        check_lemmas,
        constraint_matrix,
        derivation,
        expected_loss,
        face_value_loss,
        folded_channel,
        minimax_mechanism,
        optimal_mechanism,
        posterior,
        read_response,
        remap_of_vertex,
        shared_mechanism,
        uniqueness,
    )
    from utmost.geometry import (
        count_kernels,
        count_vertices,
        decompose,
        estimate_kernels,
        is_kernel,
        is_universally_optimal,
        is_vertex_mechanism,
        kernel_sizes,
        kernels,
        universal_mechanism,
        vertex_orbits,
        vertices,
    )
    from utmost.noise.gradual import is_lossless
    from utmost.release import gradual
    from utmost.release.gradual import GradualRelease, ProcessedRelease, TrustRelease

__all__ = [
    "Certificate",
    "Channel",
    "Consumer",
    "CountQuery",
    "DiscreteStaircase",
    "Geometric",
    "GeometricMatrix",
    "GradualRelease",
    "Laplace",
    "Law",
    "Level",
    "Loss",
    "Optimum",
    "Plan",
    "PrivacyType",
    "ProcessedRelease",
    "Reading",
    "Remap",
    "SmallestEpsilon",
    "Space",
    "Staircase",
    "Surd",
    "TableRelease",
    "TrustRelease",
    "Unit",
    "__version__",
    "abstract_staircase",
    "bayes_remap",
    "between_levels",
    "check_lemmas",
    "check_monotone",
    "check_promise",
    "constraint_matrix",
    "costs",
    "count_kernels",
    "count_vertices",
    "counts",
    "decompose",
    "delta",
    "derivation",
    "discrete",
    "dual_randomized_response",
    "epsilon_for",
    "errors",
    "estimate_kernels",
    "expected_loss",
    "exponential_mechanism",
    "face_value_loss",
    "folded_channel",
    "frontier",
    "gain",
    "gamma_bracket",
    "geometric_channel",
    "gradual",
    "graph",
    "grid",
    "hamming",
    "heuristic_gamma",
    "is_kernel",
    "is_lossless",
    "is_monotone",
    "is_universally_optimal",
    "is_vertex_mechanism",
    "kept_level",
    "kernel_sizes",
    "kernels",
    "laplace_channel",
    "level",
    "losses",
    "minimax_mechanism",
    "optimal_gamma",
    "optimal_mechanism",
    "optimal_noise",
    "optimal_step",
    "plan_release",
    "posterior",
    "priors",
    "profile",
    "randomized_response",
    "read_response",
    "rehearse_table",
    "relaxable_noise",
    "release",
    "release_table",
    "remap_of_vertex",
    "sample",
    "shared_mechanism",
    "smallest_epsilon",
    "step_bracket",
    "total_variation",
    "tradeoff",
    "unbounded_geometric_channel",
    "uniqueness",
    "universal_mechanism",
    "vertex_orbits",
    "vertices",
]

# The rooms that a release does not need are loaded when they are first asked for: see docs/decisions/0004.
_LATER = {
    "utmost.design": (
        "Certificate",
        "CountQuery",
        "Optimum",
        "Reading",
        "bayes_remap",
        "between_levels",
        "check_lemmas",
        "constraint_matrix",
        "derivation",
        "expected_loss",
        "face_value_loss",
        "folded_channel",
        "minimax_mechanism",
        "optimal_mechanism",
        "posterior",
        "read_response",
        "remap_of_vertex",
        "shared_mechanism",
        "uniqueness",
    ),
    "utmost.geometry": (
        "count_kernels",
        "count_vertices",
        "decompose",
        "estimate_kernels",
        "is_kernel",
        "is_universally_optimal",
        "is_vertex_mechanism",
        "kernel_sizes",
        "kernels",
        "universal_mechanism",
        "vertex_orbits",
        "vertices",
    ),
    "utmost.noise.gradual": ("is_lossless",),
    "utmost.release": ("gradual",),
    "utmost.release.gradual": (
        "GradualRelease",
        "ProcessedRelease",
        "TrustRelease",
    ),
}
_ROOM = {name: room for room, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _ROOM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    room = import_module(_ROOM[name])
    found = getattr(room, name, None) or import_module(f"{_ROOM[name]}.{name}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_dataframes.register()
