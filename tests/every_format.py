"""Every format in which tables are written to files: tests of all formats read these lists, a new format is in them."""

from utmost.tables.files.files import FORMATS

WRITTEN = tuple(FORMATS.values())
"""The usual ending of each format, with its point."""
TEXT_ALONE = (".csv", ".tsv")
"""The endings of formats in which every cell is text."""
