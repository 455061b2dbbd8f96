"""Noise at several levels at once: transitions between levels, joint laws, the process, and which laws allow it."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.gradual.lossless import NegativeMass as NegativeMass
    from utmost.laws.gradual.lossless_reals import losslessness as losslessness
    from utmost.laws.gradual.process import Path as Path
    from utmost.laws.gradual.process import joint_pmf as joint_pmf
    from utmost.laws.gradual.process import largest_ratio as largest_ratio
    from utmost.laws.gradual.steps import Bridge as Bridge
    from utmost.laws.gradual.steps import Pieces as Pieces
    from utmost.laws.gradual.steps import Relaxing as Relaxing
    from utmost.laws.gradual.steps import Tightening as Tightening
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
