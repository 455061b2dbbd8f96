"""Doors to other packages: laws for SciPy, OpenDP and dp-accounting, and verbs on frames of pandas and Polars."""
