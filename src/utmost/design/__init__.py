"""Remaps, optimal mechanisms and their certificates: the best mechanism, and why."""
