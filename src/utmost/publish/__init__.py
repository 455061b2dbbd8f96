"""From people to a published table, remembered over years."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.publish import counting as counting
    from utmost.publish import ledger as ledger
    from utmost.publish import promises as promises
    from utmost.publish import releases as releases
    from utmost.publish import statements as statements
    from utmost.publish import tables as tables
    from utmost.publish import workloads as workloads
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
