"""utmost.documents"""

from utmost.documents.statement_check import check_statement
from utmost.documents.together_check import check_together

__all__ = ["check_statement", "check_together"]
