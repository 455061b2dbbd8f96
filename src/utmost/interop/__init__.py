"""Doors to other packages: laws as SciPy's distributions, OpenDP's measurements and dp-accounting's losses."""

from utmost.interop.accounting import dp_event as dp_event
from utmost.interop.accounting import privacy_loss_distribution as privacy_loss_distribution
from utmost.interop.measurements import gradual_measurement as gradual_measurement
from utmost.interop.measurements import opendp_measurement as opendp_measurement
from utmost.interop.scipy_laws import scipy_law as scipy_law

__all__ = ["dp_event", "gradual_measurement", "opendp_measurement", "privacy_loss_distribution", "scipy_law"]
