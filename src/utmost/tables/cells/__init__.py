"""Cells of columns: numbers, dates, labels and identifiers, each read by one function."""
