"""Refinement, vertices, kernels and universality: the shape of all mechanisms that keep a promise."""
