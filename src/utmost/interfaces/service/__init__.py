"""A ledger for many people: tokens, and proposals that a second person approves."""
