"""Defaults that the library, the command line and the service share; loaded without NumPy."""

DEFAULT_CONFIDENCE = "0.95"
"""The confidence of margins where nobody chooses another."""
