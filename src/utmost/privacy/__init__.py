"""Privacy types, smallest epsilons and trade-off curves: what was promised."""

from utmost.privacy.policy_types import PolicyType
from utmost.privacy.privacy_type import PrivacyType
from utmost.privacy.smallest_level import SmallestEpsilon, check_promise, kept_level, smallest_epsilon
from utmost.privacy.trade_off import delta, frontier, profile, total_variation, tradeoff
from utmost.privacy.unit import Neighbours, Unit

__all__ = [
    "Neighbours",
    "PolicyType",
    "PrivacyType",
    "SmallestEpsilon",
    "Unit",
    "check_promise",
    "delta",
    "frontier",
    "kept_level",
    "profile",
    "smallest_epsilon",
    "total_variation",
    "tradeoff",
]
