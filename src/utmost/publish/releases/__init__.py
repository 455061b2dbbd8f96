"""Releases of a table: at one level, and at further levels."""
