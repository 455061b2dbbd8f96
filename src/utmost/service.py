"""A ledger for many people: tokens, and proposals that a second person confirms."""

from utmost.interfaces.service.access.tokens import Grant
from utmost.interfaces.service.background import served
from utmost.interfaces.service.client import connect
from utmost.interfaces.service.service import Service

__all__ = ["Grant", "Service", "connect", "served"]


def __dir__() -> list[str]:
    return __all__
