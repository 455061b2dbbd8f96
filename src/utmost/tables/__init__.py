"""Tables of every kind: events counted into tables of a declared domain, dataframes and files read and written."""

from utmost.tables.atom_tables import atoms_table as atoms_table
from utmost.tables.counting import count_table as count_table
from utmost.tables.key_counts import count_keys as count_keys

__all__ = ["atoms_table", "count_keys", "count_table"]
