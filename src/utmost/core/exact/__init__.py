"""Exact numbers: rationals, intervals, directed rounding, epsilon and alpha."""
