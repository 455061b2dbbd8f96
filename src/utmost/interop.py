"""Doors to other packages: laws for SciPy, OpenDP and dp-accounting, data packages, verbs on pandas and Polars."""

from utmost.interfaces.interop.accounting import dp_event, privacy_loss_distribution
from utmost.interfaces.interop.data_packages import csv_metadata, data_package
from utmost.interfaces.interop.frame_verbs import register_frames
from utmost.interfaces.interop.measurements import gradual_measurement, opendp_measurement
from utmost.interfaces.interop.scipy_laws import scipy_law

__all__ = [
    "csv_metadata",
    "data_package",
    "dp_event",
    "gradual_measurement",
    "opendp_measurement",
    "privacy_loss_distribution",
    "register_frames",
    "scipy_law",
]


def __dir__() -> list[str]:
    return __all__
