"""Wanted sums, and the strategy that measures them."""
