"""The ledger: a database of releases, each of which can be relaxed to a larger epsilon later."""
