"""Publish tables about people: count events, promise a level, add noise, keep a ledger, and write statements."""
