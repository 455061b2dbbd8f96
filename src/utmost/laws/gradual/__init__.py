"""Noise at several levels at once: transitions between levels, joint laws, the process, and which laws allow it."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.gradual.laplace_steps import LaplaceBridge, LaplaceTightening
    from utmost.laws.gradual.lossless import (
        BoundedSupport,
        Difference,
        DiscontinuousDensity,
        IrrationalSteps,
        LargerCharacteristic,
        Losslessness,
        NegativeMass,
        SmallerVariance,
        UnmatchedZero,
    )
    from utmost.laws.gradual.lossless_reals import losslessness
    from utmost.laws.gradual.prices import step_price
    from utmost.laws.gradual.process import Jump, Path, joint_pmf, largest_ratio
    from utmost.laws.gradual.quantities import Quantity
    from utmost.laws.gradual.steps import Bridge, Pieces, Relaxing, Tightening
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "BoundedSupport",
    "Bridge",
    "Difference",
    "DiscontinuousDensity",
    "IrrationalSteps",
    "Jump",
    "LaplaceBridge",
    "LaplaceTightening",
    "LargerCharacteristic",
    "Losslessness",
    "NegativeMass",
    "Path",
    "Pieces",
    "Quantity",
    "Relaxing",
    "SmallerVariance",
    "Tightening",
    "UnmatchedZero",
    "joint_pmf",
    "largest_ratio",
    "losslessness",
    "step_price",
]
