"""Privacy types, smallest epsilons and trade-off curves: what a mechanism promises."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.types.policy_types import PolicyType as PolicyType
    from utmost.design.types.privacy_type import PrivacyType as PrivacyType
    from utmost.design.types.smallest_level import check_promise as check_promise
    from utmost.design.types.smallest_level import kept_level as kept_level
    from utmost.design.types.smallest_level import smallest_epsilon as smallest_epsilon
    from utmost.design.types.trade_off import delta as delta
    from utmost.design.types.trade_off import frontier as frontier
    from utmost.design.types.trade_off import total_variation as total_variation
    from utmost.design.types.trade_off import tradeoff as tradeoff
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
