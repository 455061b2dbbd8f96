"""A ledger for many people: tokens, proposals that a second person confirms, and a market for accuracy."""
