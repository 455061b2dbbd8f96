"""A ledger for many people: tokens, proposals that a second person confirms, and a market for accuracy."""

from utmost.service.background import served
from utmost.service.client import RemoteLedger, connect
from utmost.service.service import Service
from utmost.service.terms import Terms
from utmost.service.tokens import Grant

__all__ = ["Grant", "RemoteLedger", "Service", "Terms", "connect", "served"]
