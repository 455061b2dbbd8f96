"""Defaults that the library, the command line and the service share. This module loads without NumPy."""

from fractions import Fraction

DEFAULT_CONFIDENCE = "0.95"
"""The confidence of margins by default, as arguments and options have it."""

CONFIDENCE = Fraction(DEFAULT_CONFIDENCE)
"""The same number. A stopping rule reads margins of this confidence, whatever margins are shown."""
