"""A ledger for many people: tokens, proposals that a second person confirms, and a market for accuracy."""

from utmost.service.approvals import Proposal
from utmost.service.market import Offer, Order
from utmost.service.service import Service
from utmost.service.terms import Terms
from utmost.service.tokens import Grant, Token

__all__ = ["Grant", "Offer", "Order", "Proposal", "Service", "Terms", "Token"]
