"""What has been said over time: one-time and gradual releases, and the ledger."""

from utmost.release.accuracy import epsilon_for
from utmost.release.plan import Plan, plan_release
from utmost.release.statement import guarantee, statement
from utmost.release.table import TableRelease, rehearse_table, release_table
from utmost.release.unit import Unit
from utmost.release.values import release

__all__ = [
    "Plan",
    "TableRelease",
    "Unit",
    "epsilon_for",
    "guarantee",
    "plan_release",
    "rehearse_table",
    "release",
    "release_table",
    "statement",
]
