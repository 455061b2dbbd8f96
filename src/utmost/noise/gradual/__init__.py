"""Noise at several levels at once: kernels between levels, joint laws, the process, and which laws allow it."""

from utmost.noise.gradual.bridge import Bridge
from utmost.noise.gradual.joint import correlation, expected_change, joint_pmf, largest_ratio
from utmost.noise.gradual.laplace import (
    LaplaceBridge,
    LaplaceRelaxing,
    LaplaceTightening,
    laplace_expected_jumps,
    laplace_jump_intensity,
)
from utmost.noise.gradual.lossless import (
    BoundedSupport,
    Difference,
    LargerCharacteristic,
    Losslessness,
    NegativeMass,
    Witness,
    is_lossless,
)
from utmost.noise.gradual.path import Jump, Path
from utmost.noise.gradual.process import (
    expected_jumps,
    expected_jumps_of_size,
    forward_intensities,
    jump_count_pmf,
    jump_intensity,
    jump_pmf,
    no_jump_probability,
)
from utmost.noise.gradual.quantity import Quantity
from utmost.noise.gradual.relaxing import Pieces, Relaxing
from utmost.noise.gradual.tightening import Tightening

__all__ = [
    "BoundedSupport",
    "Bridge",
    "Difference",
    "Jump",
    "LaplaceBridge",
    "LaplaceRelaxing",
    "LaplaceTightening",
    "LargerCharacteristic",
    "Losslessness",
    "NegativeMass",
    "Path",
    "Pieces",
    "Quantity",
    "Relaxing",
    "Tightening",
    "Witness",
    "correlation",
    "expected_change",
    "expected_jumps",
    "expected_jumps_of_size",
    "forward_intensities",
    "is_lossless",
    "joint_pmf",
    "jump_count_pmf",
    "jump_intensity",
    "jump_pmf",
    "laplace_expected_jumps",
    "laplace_jump_intensity",
    "largest_ratio",
    "no_jump_probability",
]
