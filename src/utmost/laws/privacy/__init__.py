"""The unit of privacy: whom a promise protects, and what one of them can change."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.privacy.amount import Amount as Amount
    from utmost.laws.privacy.unit import Unit as Unit
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
