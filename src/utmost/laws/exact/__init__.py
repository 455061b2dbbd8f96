"""Numbers that keep their promise: rationals, intervals, directed rounding, epsilon and alpha."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.exact.arrays import Array as Array
    from utmost.laws.exact.arrays import Floats as Floats
    from utmost.laws.exact.arrays import as_array as as_array
    from utmost.laws.exact.arrays import as_rationals as as_rationals
    from utmost.laws.exact.arrays import check_array as check_array
    from utmost.laws.exact.arrays import fractions as fractions
    from utmost.laws.exact.arrays import frozen as frozen
    from utmost.laws.exact.arrays import is_exact as is_exact
    from utmost.laws.exact.arrays import objects as objects
    from utmost.laws.exact.arrays import plain_array as plain_array
    from utmost.laws.exact.arrays import same_numbers as same_numbers
    from utmost.laws.exact.arrays import to_floats as to_floats
    from utmost.laws.exact.intervals import Interval as Interval
    from utmost.laws.exact.intervals import exp_interval as exp_interval
    from utmost.laws.exact.intervals import log_interval as log_interval
    from utmost.laws.exact.intervals import nearest as nearest
    from utmost.laws.exact.intervals import round_down as round_down
    from utmost.laws.exact.intervals import round_up as round_up
    from utmost.laws.exact.intervals import settled as settled
    from utmost.laws.exact.kinds import checked as checked
    from utmost.laws.exact.kinds import checked_parts as checked_parts
    from utmost.laws.exact.kinds import possible_path as possible_path
    from utmost.laws.exact.kinds import wrong_kind as wrong_kind
    from utmost.laws.exact.levels import Level as Level
    from utmost.laws.exact.levels import level as level
    from utmost.laws.exact.linear_algebra import independent as independent
    from utmost.laws.exact.linear_algebra import matrix_product as matrix_product
    from utmost.laws.exact.numbers import Number as Number
    from utmost.laws.exact.numbers import exact as exact
    from utmost.laws.exact.numbers import exact_integer as exact_integer
    from utmost.laws.exact.numbers import natural as natural
    from utmost.laws.exact.numbers import precision as precision
    from utmost.laws.exact.surds import Surd as Surd
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
