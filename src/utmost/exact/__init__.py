"""Numbers that keep their promise: rationals, intervals, directed rounding, epsilon and alpha."""

from utmost.exact.elementary import exp_interval, log_interval
from utmost.exact.interval import Interval
from utmost.exact.level import Level, level
from utmost.exact.number import Number, exact, exact_integer
from utmost.exact.rounding import nearest, round_down, round_up

__all__ = [
    "Interval",
    "Level",
    "Number",
    "exact",
    "exact_integer",
    "exp_interval",
    "level",
    "log_interval",
    "nearest",
    "round_down",
    "round_up",
]
