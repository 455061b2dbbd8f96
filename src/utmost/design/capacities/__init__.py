"""Capacities of a privacy type, the largest leakage of any of its mechanisms; one file for each method."""
