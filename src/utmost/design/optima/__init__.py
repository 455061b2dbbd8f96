"""Optimal mechanisms and remaps for consumers, with certificates that bound the distance from the optimum."""
