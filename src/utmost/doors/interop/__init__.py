"""Doors to other packages: laws as SciPy's distributions, OpenDP's measurements and dp-accounting's losses."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.doors.interop.accounting import dp_event, privacy_loss_distribution
    from utmost.doors.interop.measurements import gradual_measurement, opendp_measurement
    from utmost.doors.interop.scipy_laws import scipy_law
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = ["dp_event", "gradual_measurement", "opendp_measurement", "privacy_loss_distribution", "scipy_law"]
