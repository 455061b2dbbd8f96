"""Doors to other packages: laws for SciPy, OpenDP and dp-accounting, and verbs on frames of pandas and Polars."""

from utmost.interfaces.interop.accounting import dp_event, privacy_loss_distribution
from utmost.interfaces.interop.frame_verbs import register_frames
from utmost.interfaces.interop.measurements import gradual_measurement, opendp_measurement
from utmost.interfaces.interop.scipy_laws import scipy_law

__all__ = [
    "dp_event",
    "gradual_measurement",
    "opendp_measurement",
    "privacy_loss_distribution",
    "register_frames",
    "scipy_law",
]


def __dir__() -> list[str]:
    return __all__
