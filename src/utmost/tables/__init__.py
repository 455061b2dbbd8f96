"""Tables of every kind: events counted into tables of a declared domain, dataframes and files read and written."""

from utmost.tables.atom_tables import atoms_table as atoms_table
from utmost.tables.counting import count_table as count_table
from utmost.tables.key_counts import count_keys as count_keys
from utmost.tables.response_folder import ResponseFolder as ResponseFolder
from utmost.tables.response_folder import check_responses as check_responses

__all__ = ["ResponseFolder", "atoms_table", "check_responses", "count_keys", "count_table"]
