"""Numbers that keep their promise: rationals, intervals, directed rounding, epsilon and alpha."""
