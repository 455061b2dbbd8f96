"""Sizes from which data are read in pieces, or a design is searched for: no argument sets them, and tests are small."""

from utmost.design.optima import optimum
from utmost.publish.counting.person_pairs import PersonsInBuckets
from utmost.tables.cells import event_batches
from utmost.tables.files import csv_blocks, csv_table, files, parquet, parquet_pieces, spreadsheets

_SIZES = {
    "large_file": (files, "LARGE"), "csv_block": (csv_blocks, "_BLOCK"), "csv_cell": (csv_table, "_LONGEST_CELL"),
    "parquet_in_memory": (parquet, "_INFLATED"), "parquet_rows": (parquet_pieces, "_ROWS"),
    "sheet_rows": (spreadsheets, "_ROWS"), "sheet_columns": (spreadsheets, "_COLUMNS"),
    "sheet_characters": (spreadsheets, "_CHUNK"), "many_events": (event_batches, "_MANY"),
    "simplex_rows": (optimum, "_MOST_SIMPLEX_ROWS"),
    "rows_of_a_batch": (event_batches, "_ROWS"), "buckets": (PersonsInBuckets.__init__, "__defaults__"),
}  # fmt: skip


def set_sizes(patch, **sizes):
    """Set sizes by name, as in ``set_sizes(monkeypatch, csv_block=2000)``."""
    for name, size in sizes.items():
        patch.setattr(*_SIZES[name], size)
