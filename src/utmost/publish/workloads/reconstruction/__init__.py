"""Estimates of all sums from noisy sums; clean tables without negative cells."""
