"""Compute the largest leakage of any mechanism of a privacy type; each method has its own file."""
