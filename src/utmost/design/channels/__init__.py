"""Finite mechanisms as row-stochastic matrices, and their algebra: what is revealed, as a matrix."""
