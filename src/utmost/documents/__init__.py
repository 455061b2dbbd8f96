"""utmost.documents"""

from utmost.documents.places_check import check_places
from utmost.documents.printed_statement import statement_page
from utmost.documents.registry_entries import Deployment, registry_entry
from utmost.documents.released_table import ReleasedTable
from utmost.documents.stated_words import StatedRelease, stated_release
from utmost.documents.statement_check import check_statement
from utmost.documents.together_check import check_together
from utmost.documents.workload_files import read_workload
from utmost.documents.yaml_writing import yaml_text

__all__ = [
    "Deployment",
    "ReleasedTable",
    "StatedRelease",
    "check_places",
    "check_statement",
    "check_together",
    "read_workload",
    "registry_entry",
    "stated_release",
    "statement_page",
    "yaml_text",
]
