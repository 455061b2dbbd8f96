"""The ledger: releases kept for years, relaxed at any time, and nothing said twice."""

from utmost.ledger.events import Event
from utmost.ledger.item_ledger import ItemLedger
from utmost.ledger.kept_mechanisms import KeptMechanism
from utmost.ledger.ledger import Ledger
from utmost.ledger.opening import read_sealed
from utmost.ledger.spending import Budget, Spending
from utmost.ledger.state import Published
from utmost.ledger.store import Store
from utmost.ledger.verification import Status, Verification

__all__ = [
    "Budget",
    "Event",
    "ItemLedger",
    "KeptMechanism",
    "Ledger",
    "Published",
    "Spending",
    "Status",
    "Store",
    "Verification",
    "read_sealed",
]
