"""The capacities of a privacy type: the most that any of its mechanisms leaks, one file for each route to them."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.capacities.capacity_of import capacity as capacity
    from utmost.design.capacities.policy_capacities import policy_capacity as policy_capacity
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
