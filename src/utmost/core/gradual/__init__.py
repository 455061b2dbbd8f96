"""Noise at several levels: transitions between levels, joint distributions, and which noise can be relaxed."""
