"""Privacy types, smallest epsilons and trade-off curves: what was promised."""

from utmost.privacy.divergence import delta, profile, total_variation
from utmost.privacy.promise import check_promise, kept_level
from utmost.privacy.ptype import PrivacyType
from utmost.privacy.smallest import SmallestEpsilon, smallest_epsilon
from utmost.privacy.tradeoff import frontier, tradeoff

__all__ = [
    "PrivacyType",
    "SmallestEpsilon",
    "check_promise",
    "delta",
    "frontier",
    "kept_level",
    "profile",
    "smallest_epsilon",
    "total_variation",
    "tradeoff",
]
