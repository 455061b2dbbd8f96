"""Doors to other packages: laws for SciPy, OpenDP and dp-accounting, and verbs on frames of pandas and Polars."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.doors.interop.accounting import dp_event, privacy_loss_distribution
    from utmost.doors.interop.frame_verbs import FrameVerbs, register_frames
    from utmost.doors.interop.measurements import gradual_measurement, opendp_measurement
    from utmost.doors.interop.scipy_laws import scipy_law
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "FrameVerbs",
    "dp_event",
    "gradual_measurement",
    "opendp_measurement",
    "privacy_loss_distribution",
    "register_frames",
    "scipy_law",
]
