"""Exact numbers: rationals, intervals, directed rounding, and levels (epsilon and alpha)."""

from utmost.core.exact.arrays import (
    Array,
    Floats,
    as_array,
    as_rationals,
    check_array,
    fractions,
    frozen,
    is_exact,
    objects,
    plain_array,
    same_numbers,
    to_floats,
)
from utmost.core.exact.intervals import (
    Interval,
    exp_interval,
    log_interval,
    narrow_interval,
    nearest,
    round_down,
    round_up,
    sin_interval,
)
from utmost.core.exact.levels import Level, level
from utmost.core.exact.linear_algebra import independent, matrix_product, solve_lifted, solve_sparse
from utmost.core.exact.numbers import Number, exact, exact_integer, natural, precision
from utmost.core.exact.surds import Surd

__all__ = [
    "Array",
    "Floats",
    "Interval",
    "Level",
    "Number",
    "Surd",
    "as_array",
    "as_rationals",
    "check_array",
    "exact",
    "exact_integer",
    "exp_interval",
    "fractions",
    "frozen",
    "independent",
    "is_exact",
    "level",
    "log_interval",
    "matrix_product",
    "narrow_interval",
    "natural",
    "nearest",
    "objects",
    "plain_array",
    "precision",
    "round_down",
    "round_up",
    "same_numbers",
    "sin_interval",
    "solve_lifted",
    "solve_sparse",
    "to_floats",
]


def __dir__() -> list[str]:
    return __all__
