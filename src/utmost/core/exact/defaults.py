"""Defaults that the library, the command line and the service share. This module loads without NumPy."""

DEFAULT_CONFIDENCE = "0.95"
"""The confidence of margins by default."""
