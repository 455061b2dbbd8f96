"""Estimates of all sums from noisy sums, and clean tables without negative cells."""
