"""Privacy types, the smallest epsilon of a mechanism, and trade-off curves."""

from utmost.design.privacy_types.policy_types import PolicyType
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.privacy_types.smallest_level import check_promise, smallest_epsilon, smallest_level
from utmost.design.privacy_types.trade_off import delta, frontier, profile, total_variation, tradeoff

__all__ = [
    "PolicyType",
    "PrivacyType",
    "check_promise",
    "delta",
    "frontier",
    "profile",
    "smallest_epsilon",
    "smallest_level",
    "total_variation",
    "tradeoff",
]


def __dir__() -> list[str]:
    return __all__
