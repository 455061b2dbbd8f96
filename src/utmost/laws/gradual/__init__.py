"""Noise at several levels at once: transitions between levels, joint laws, the process, and which laws allow it."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.gradual.euclidean_noise import EuclideanLaplace, EuclideanTightening, joint_characteristic
    from utmost.laws.gradual.laplace_steps import (
        LaplaceBridge,
        LaplaceRelaxing,
        LaplaceTightening,
        laplace_expected_jumps,
        laplace_jump_intensity,
    )
    from utmost.laws.gradual.lossless import (
        BoundedSupport,
        Difference,
        DiscontinuousDensity,
        IrrationalSteps,
        LargerCharacteristic,
        Losslessness,
        NegativeMass,
        Obstacle,
        SmallerVariance,
        UnmatchedZero,
    )
    from utmost.laws.gradual.lossless_reals import losslessness
    from utmost.laws.gradual.prices import read_prices, step_price
    from utmost.laws.gradual.process import (
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
    from utmost.laws.gradual.quantities import Quantity
    from utmost.laws.gradual.steps import Bridge, Pieces, Relaxing, Tightening
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "BoundedSupport",
    "Bridge",
    "Difference",
    "DiscontinuousDensity",
    "EuclideanLaplace",
    "EuclideanTightening",
    "IrrationalSteps",
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
    "SmallerVariance",
    "Tightening",
    "UnmatchedZero",
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
    "read_prices",
    "step_price",
]
