"""The unit of privacy: whom a promise protects, and how much one such individual can change a table."""

from utmost.core.privacy.amount import Amount
from utmost.core.privacy.unit import Unit

__all__ = ["Amount", "Unit"]


def __dir__() -> list[str]:
    return __all__
