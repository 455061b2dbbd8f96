"""The best mechanism for secrets and their distances, why it is the best, and what any mechanism leaks."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design import capacities as capacities
    from utmost.design import channels as channels
    from utmost.design import geometry as geometry
    from utmost.design import leakage as leakage
    from utmost.design import local as local
    from utmost.design import optima as optima
    from utmost.design import spaces as spaces
    from utmost.design import types as types
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
