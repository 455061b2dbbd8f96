"""Numbers that keep their promise: rationals, intervals, directed rounding, epsilon and alpha."""

from utmost.exact.arrays import (
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
from utmost.exact.intervals import Interval, exp_interval, log_interval, nearest, round_down, round_up, settled
from utmost.exact.kinds import checked, checked_parts, possible_path, wrong_kind
from utmost.exact.levels import Level, level
from utmost.exact.linear_algebra import independent, matrix_product, solve_lifted
from utmost.exact.numbers import Number, exact, exact_integer, natural, precision
from utmost.exact.surds import Surd

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
    "solve_lifted",
    "to_floats",
    "wrong_kind",
]
