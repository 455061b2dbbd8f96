"""Workloads, which are the sums that a release must answer, and the plans that measure them."""
