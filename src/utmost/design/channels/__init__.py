"""Finite mechanisms as row-stochastic matrices, and their algebra."""
