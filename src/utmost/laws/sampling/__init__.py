"""Random bits, certified thresholds and exact draws from a law."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.sampling.categorical import Thresholds as Thresholds
    from utmost.laws.sampling.draw import sample as sample
    from utmost.laws.sampling.item_words import Identifiers as Identifiers
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
