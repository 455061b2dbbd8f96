"""Noise at several levels at once: transitions between levels, joint laws, the process, and which laws allow it."""

from utmost.core.gradual.lossless import NegativeMass
from utmost.core.gradual.lossless_reals import losslessness
from utmost.core.gradual.process import Path, joint_pmf, largest_ratio
from utmost.core.gradual.steps import Bridge, Pieces, Relaxing, Tightening

__all__ = [
    "Bridge",
    "NegativeMass",
    "Path",
    "Pieces",
    "Relaxing",
    "Tightening",
    "joint_pmf",
    "largest_ratio",
    "losslessness",
]


def __dir__() -> list[str]:
    return __all__
