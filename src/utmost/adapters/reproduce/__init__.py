"""The papers' own figures, recomputed and set beside what is printed in them."""

from utmost.adapters.reproduce import ghosh
from utmost.adapters.reproduce.figure import CORRECTED, EQUAL, EXTENDED, Figure

__all__ = ["CORRECTED", "EQUAL", "EXTENDED", "Figure", "ghosh"]
