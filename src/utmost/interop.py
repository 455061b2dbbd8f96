"""Conversions for other packages: SciPy, OpenDP and dp-accounting, tables with noise from other tools, data packages,
and methods on pandas and Polars frames.
"""

from utmost.core.noise.noise_of_others import DeclaredNoise, declared_noise
from utmost.interfaces.interop.accounting import dp_event, privacy_loss_distribution
from utmost.interfaces.interop.data_packages import csv_metadata, data_package
from utmost.interfaces.interop.frame_methods import register_frames
from utmost.interfaces.interop.measurements import gradual_measurement, opendp_measurement
from utmost.interfaces.interop.scipy_distributions import scipy_distribution
from utmost.interfaces.interop.sdmx import sdmx_csv
from utmost.publish.releases.noisy_table import NoisyTable, noisy_table

__all__ = [
    "DeclaredNoise",
    "NoisyTable",
    "csv_metadata",
    "data_package",
    "declared_noise",
    "dp_event",
    "gradual_measurement",
    "noisy_table",
    "opendp_measurement",
    "privacy_loss_distribution",
    "register_frames",
    "scipy_distribution",
    "sdmx_csv",
]


def __dir__() -> list[str]:
    return __all__
