"""Privacy types, smallest epsilons and trade-off curves: what was promised."""

from utmost.privacy.ptype import PrivacyType

__all__ = ["PrivacyType"]
