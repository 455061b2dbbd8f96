"""A ledger for many people: tokens, proposals that a second person confirms, and a market for accuracy."""

from utmost.service.approvals import Proposal
from utmost.service.background import served
from utmost.service.client import RemoteLedger, connect
from utmost.service.market import Offer, Order
from utmost.service.service import Service
from utmost.service.terms import Terms
from utmost.service.tokens import Grant, Token

__all__ = ["Grant", "Offer", "Order", "Proposal", "RemoteLedger", "Service", "Terms", "Token", "connect", "served"]
