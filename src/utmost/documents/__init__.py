"""utmost.documents"""

from utmost.documents.statement_check import check_statement

__all__ = ["check_statement"]
