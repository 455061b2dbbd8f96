"""Noise at several levels at once: transitions between levels, joint laws, the process, and which laws allow it."""

from utmost.gradual.euclidean_noise import EuclideanLaplace, EuclideanTightening, joint_characteristic
from utmost.gradual.laplace_steps import (
    LaplaceBridge,
    LaplaceRelaxing,
    LaplaceTightening,
    laplace_expected_jumps,
    laplace_jump_intensity,
)
from utmost.gradual.lossless import (
    BoundedSupport,
    Difference,
    LargerCharacteristic,
    Losslessness,
    NegativeMass,
    Obstacle,
    losslessness,
)
from utmost.gradual.process import (
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
from utmost.gradual.quantities import Quantity
from utmost.gradual.steps import Bridge, Pieces, Relaxing, Tightening

__all__ = [
    "BoundedSupport",
    "Bridge",
    "Difference",
    "EuclideanLaplace",
    "EuclideanTightening",
    "Jump",
    "LaplaceBridge",
    "LaplaceRelaxing",
    "LaplaceTightening",
    "LargerCharacteristic",
    "Losslessness",
    "NegativeMass",
    "Obstacle",
    "Path",
    "Pieces",
    "Quantity",
    "Relaxing",
    "Tightening",
    "correlation",
    "expected_change",
    "expected_jumps",
    "expected_jumps_of_size",
    "forward_intensities",
    "joint_characteristic",
    "joint_pmf",
    "jump_count_pmf",
    "jump_intensity",
    "jump_pmf",
    "laplace_expected_jumps",
    "laplace_jump_intensity",
    "largest_ratio",
    "losslessness",
    "no_jump_probability",
]
