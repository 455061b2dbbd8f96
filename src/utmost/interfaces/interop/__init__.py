"""Exchange with other packages: SciPy, OpenDP, dp-accounting, data packages, and frames of pandas and Polars."""
