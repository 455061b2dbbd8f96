"""Numbers that keep their promise: rationals, intervals, directed rounding, epsilon and alpha."""

from utmost.exact.arrays import (
    Array,
    Floats,
    as_array,
    check_numbers,
    fractions,
    frozen,
    indices,
    is_exact,
    objects,
    one_world,
    plain_array,
    rationals,
    to_floats,
)
from utmost.exact.elementary import exp_interval, log_interval
from utmost.exact.interval import Interval
from utmost.exact.kinds import checked, possible_path, wrong_kind
from utmost.exact.level import Level, level
from utmost.exact.lifting import solve_lifted
from utmost.exact.number import Number, exact, exact_integer, natural, precision
from utmost.exact.product import product
from utmost.exact.residues import independent
from utmost.exact.rounding import nearest, round_down, round_up
from utmost.exact.surd import Surd

__all__ = [
    "Array",
    "Floats",
    "Interval",
    "Level",
    "Number",
    "Surd",
    "as_array",
    "check_numbers",
    "checked",
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
    "natural",
    "nearest",
    "objects",
    "one_world",
    "plain_array",
    "possible_path",
    "precision",
    "product",
    "rationals",
    "round_down",
    "round_up",
    "solve_lifted",
    "to_floats",
    "wrong_kind",
]
