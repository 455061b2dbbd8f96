"""Privacy types, smallest epsilons and trade-off curves: what was promised."""

from utmost.privacy.ptype import PrivacyType
from utmost.privacy.smallest import SmallestEpsilon, smallest_epsilon

__all__ = ["PrivacyType", "SmallestEpsilon", "smallest_epsilon"]
