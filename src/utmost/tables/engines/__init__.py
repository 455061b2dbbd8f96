"""Frames that an engine evaluates: DuckDB, Polars and Spark."""
