"""What has been said over time: one-time and gradual releases, and the ledger."""
