"""Noise at several levels: transitions between levels, joint distributions, and which noise can be relaxed."""

from utmost.core.gradual.euclidean_noise import EuclideanLaplace, EuclideanTightening
from utmost.core.gradual.generating_functions import TailedTable
from utmost.core.gradual.laplace_steps import (
    LaplaceBridge,
    LaplaceRelaxing,
    LaplaceTightening,
    laplace_correlation,
    laplace_expected_jumps,
    laplace_jump_intensity,
)
from utmost.core.gradual.lossless import (
    BoundedSupport,
    DiscontinuousDensity,
    IrrationalSteps,
    LargerCharacteristic,
    NegativeMass,
    SmallerVariance,
    UnmatchedZero,
)
from utmost.core.gradual.lossless_reals import losslessness
from utmost.core.gradual.prices import read_prices, step_price
from utmost.core.gradual.process import (
    Jump,
    Path,
    correlation,
    expected_change,
    expected_jumps,
    expected_jumps_of_size,
    forward_intensities,
    joint_pmf,
    jump_count_pmf,
    jump_intensity,
    jump_pmf,
    largest_ratio,
    no_jump_probability,
)
from utmost.core.gradual.steps import Bridge, Pieces, Relaxing, Tightening

__all__ = [
    "BoundedSupport",
    "Bridge",
    "DiscontinuousDensity",
    "EuclideanLaplace",
    "EuclideanTightening",
    "IrrationalSteps",
    "Jump",
    "LaplaceBridge",
    "LaplaceRelaxing",
    "LaplaceTightening",
    "LargerCharacteristic",
    "NegativeMass",
    "Path",
    "Pieces",
    "Relaxing",
    "SmallerVariance",
    "TailedTable",
    "Tightening",
    "UnmatchedZero",
    "correlation",
    "expected_change",
    "expected_jumps",
    "expected_jumps_of_size",
    "forward_intensities",
    "joint_pmf",
    "jump_count_pmf",
    "jump_intensity",
    "jump_pmf",
    "laplace_correlation",
    "laplace_expected_jumps",
    "laplace_jump_intensity",
    "largest_ratio",
    "losslessness",
    "no_jump_probability",
    "read_prices",
    "step_price",
]


def __dir__() -> list[str]:
    return __all__
