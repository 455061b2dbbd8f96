"""Numbers that keep their promise: rationals, intervals, directed rounding, epsilon and alpha."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.laws.exact.arrays import (
        Array,
        Floats,
        as_array,
        as_integers,
        as_rationals,
        check_array,
        check_numbers,
        fractions,
        frozen,
        indices,
        is_exact,
        objects,
        plain_array,
        rationals,
        same_numbers,
        to_floats,
    )
    from utmost.laws.exact.intervals import (
        Interval,
        exp_interval,
        log_interval,
        nearest,
        round_down,
        round_up,
        settled,
        sin_interval,
    )
    from utmost.laws.exact.kinds import checked, checked_parts, possible_path, wrong_kind
    from utmost.laws.exact.levels import Level, level
    from utmost.laws.exact.linear_algebra import independent, matrix_product, solve_lifted
    from utmost.laws.exact.numbers import Number, exact, exact_integer, natural, precision
    from utmost.laws.exact.surds import Surd
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "Array",
    "Floats",
    "Interval",
    "Level",
    "Number",
    "Surd",
    "as_array",
    "as_integers",
    "as_rationals",
    "check_array",
    "check_numbers",
    "checked",
    "checked_parts",
    "exact",
    "exact_integer",
    "exp_interval",
    "fractions",
    "frozen",
    "independent",
    "indices",
    "is_exact",
    "level",
    "log_interval",
    "matrix_product",
    "natural",
    "nearest",
    "objects",
    "plain_array",
    "possible_path",
    "precision",
    "rationals",
    "round_down",
    "round_up",
    "same_numbers",
    "settled",
    "sin_interval",
    "solve_lifted",
    "to_floats",
    "wrong_kind",
]
