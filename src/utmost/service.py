"""A ledger as a service for many people: tokens, and proposals that a second person confirms."""

from utmost.interfaces.service.access.tokens import Grant
from utmost.interfaces.service.background import application, served
from utmost.interfaces.service.client import connect
from utmost.interfaces.service.service import Service
from utmost.interfaces.service.settings import Settings

__all__ = ["Grant", "Service", "Settings", "application", "connect", "served"]


def __dir__() -> list[str]:
    return __all__
