"""The unit of privacy: whom a promise protects, and what one of them can change."""

from utmost.laws.privacy.amount import Amount
from utmost.laws.privacy.unit import Neighbours, Unit

__all__ = ["Amount", "Neighbours", "Unit"]
