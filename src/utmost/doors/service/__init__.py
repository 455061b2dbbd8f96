"""A ledger for many people: tokens, proposals that a second person confirms, and a market for accuracy."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.doors.service.background import served as served
    from utmost.doors.service.client import connect as connect
    from utmost.doors.service.service import Service as Service
    from utmost.doors.service.tokens import Grant as Grant
else:
    __getattr__ = RoomNames(__name__, __file__, extra="server")
    __all__ = sorted(__getattr__.names)
