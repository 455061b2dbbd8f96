"""Doors to other packages: laws for SciPy, OpenDP and dp-accounting, and verbs on frames of pandas and Polars."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.doors.interop.accounting import dp_event as dp_event
    from utmost.doors.interop.accounting import privacy_loss_distribution as privacy_loss_distribution
    from utmost.doors.interop.frame_verbs import register_frames as register_frames
    from utmost.doors.interop.measurements import gradual_measurement as gradual_measurement
    from utmost.doors.interop.measurements import opendp_measurement as opendp_measurement
    from utmost.doors.interop.scipy_laws import scipy_law as scipy_law
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
