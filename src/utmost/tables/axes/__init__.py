"""Axes and domains: the declared values of a table's columns."""
