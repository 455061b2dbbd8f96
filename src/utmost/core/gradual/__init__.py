"""Noise at several levels at once: transitions between levels, joint laws, the process, and which laws allow it."""
