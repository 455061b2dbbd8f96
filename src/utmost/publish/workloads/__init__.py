"""Wanted sums, and the plan that measures them."""
