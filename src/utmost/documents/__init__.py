"""utmost.documents"""

from utmost.documents.places_check import check_places
from utmost.documents.statement_check import check_statement
from utmost.documents.together_check import check_together

__all__ = ["check_places", "check_statement", "check_together"]
