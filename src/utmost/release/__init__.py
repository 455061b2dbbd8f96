"""What has been said over time: one-time and gradual releases, and the ledger."""

from utmost.release.values import release

__all__ = ["release"]
