"""Events counted into tables over a declared domain, which proves what one person can change."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.publish.counting.cell_tables import cells_table as cells_table
    from utmost.publish.counting.contributions import count_contributions as count_contributions
    from utmost.publish.counting.counted import CountedTable as CountedTable
    from utmost.publish.counting.counted_events import count_table as count_table
    from utmost.publish.counting.key_counts import count_keys as count_keys
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
