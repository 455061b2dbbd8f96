"""Provably optimal differential privacy: the least noise a level allows, drawn exactly, with the evidence."""

from utmost import errors
from utmost.adapters import dataframes as _dataframes
from utmost.exact import Level, level
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase, costs, gain, optimal_noise
from utmost.release import Plan, TableRelease, Unit, epsilon_for, plan_release, rehearse_table, release, release_table
from utmost.sampling import sample
from utmost.version import __version__

__all__ = [
    "DiscreteStaircase",
    "Geometric",
    "Laplace",
    "Level",
    "Plan",
    "Staircase",
    "TableRelease",
    "Unit",
    "__version__",
    "costs",
    "epsilon_for",
    "errors",
    "gain",
    "level",
    "optimal_noise",
    "plan_release",
    "rehearse_table",
    "release",
    "release_table",
    "sample",
]

_dataframes.register()
