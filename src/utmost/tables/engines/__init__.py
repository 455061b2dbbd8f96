"""Frames that an engine evaluates: DuckDB, Polars, Spark."""
