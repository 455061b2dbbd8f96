"""Numbers, laws of noise, joint laws, exact draws: no data."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws import exact as exact
    from utmost.laws import gradual as gradual
    from utmost.laws import noise as noise
    from utmost.laws import privacy as privacy
    from utmost.laws import programs as programs
    from utmost.laws import sampling as sampling
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
