"""Gradual release: answers at any levels, in any order, that together cost no more than the loosest of them."""

from utmost.noise.gradual import (
    Bridge,
    Relaxing,
    Tightening,
    correlation,
    expected_change,
    is_lossless,
    joint_pmf,
    largest_ratio,
)
from utmost.release.gradual.answer import GradualRelease
from utmost.release.gradual.coalitions import Coalitions, check_coalitions, independent_loss
from utmost.release.gradual.noise_path import NoisePath, path
from utmost.release.gradual.processed import ProcessedRelease
from utmost.release.gradual.steps import bridge, relax, tighten
from utmost.release.gradual.trust import TrustRelease, levels_by_distance

__all__ = [
    "Bridge",
    "Coalitions",
    "GradualRelease",
    "NoisePath",
    "ProcessedRelease",
    "Relaxing",
    "Tightening",
    "TrustRelease",
    "bridge",
    "check_coalitions",
    "correlation",
    "expected_change",
    "independent_loss",
    "is_lossless",
    "joint_pmf",
    "largest_ratio",
    "levels_by_distance",
    "path",
    "relax",
    "tighten",
]
