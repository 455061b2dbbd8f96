"""Privacy types, smallest epsilons and trade-off curves: what was promised."""

from utmost.privacy.divergence import delta, profile, total_variation
from utmost.privacy.promise import check_promise, kept_level
from utmost.privacy.ptype import PrivacyType
from utmost.privacy.tradeoff import frontier, tradeoff

__all__ = [
    "PrivacyType",
    "check_promise",
    "delta",
    "frontier",
    "kept_level",
    "profile",
    "total_variation",
    "tradeoff",
]
