"""The ledger: releases kept for years, relaxed at any time, and nothing said twice."""

from utmost.release.ledger.event import Event
from utmost.release.ledger.facts import Budget, Status
from utmost.release.ledger.ledger import Ledger
from utmost.release.ledger.shared import read_sealed
from utmost.release.ledger.spending import Spending
from utmost.release.ledger.state import Published
from utmost.release.ledger.verification import Verification

__all__ = ["Budget", "Event", "Ledger", "Published", "Spending", "Status", "Verification", "read_sealed"]
