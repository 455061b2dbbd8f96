"""Workloads, which are the sums that a release shall answer, and the plans that measure them."""
