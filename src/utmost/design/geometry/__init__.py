"""Refinement, vertices, kernels and universality: the geometry of the mechanisms of a privacy type."""
