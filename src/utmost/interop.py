"""Other packages: SciPy, OpenDP, dp-accounting, data packages, and methods on pandas and Polars frames."""

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
