"""Events counted into tables over a declared domain, which proves what one person can change."""

from utmost.publish.counting.cell_tables import cells_table
from utmost.publish.counting.contributions import count_contributions
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.counted_events import count_table
from utmost.publish.counting.key_counts import count_keys
from utmost.publish.statements.counted_files import read_counted

__all__ = ["CountedTable", "cells_table", "count_contributions", "count_keys", "count_table", "read_counted"]


def __dir__() -> list[str]:
    return __all__
