"""utmost.documents"""

from utmost.documents.places_check import check_places
from utmost.documents.statement_check import check_statement

__all__ = ["check_places", "check_statement"]
