"""Count events into tables over a declared domain, and prove how much one person can change them."""

from utmost.publish.counting.cell_tables import cells_table
from utmost.publish.counting.contributions import count_contributions
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.counted_events import count_measures, count_table
from utmost.publish.counting.counted_measures import MeasureSpec, count, distinct, mean, sum
from utmost.publish.counting.counting import Counting
from utmost.publish.counting.key_counts import count_keys
from utmost.publish.statements.counted_files import read_counted
from utmost.tables.cells.spelling import Spelling

__all__ = [
    "CountedTable",
    "Counting",
    "MeasureSpec",
    "Spelling",
    "cells_table",
    "count",
    "count_contributions",
    "count_keys",
    "count_measures",
    "count_table",
    "distinct",
    "mean",
    "read_counted",
    "sum",
]


def __dir__() -> list[str]:
    return __all__
