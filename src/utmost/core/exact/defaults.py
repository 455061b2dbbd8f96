"""Defaults that the library, the command line and the service share. This module loads without NumPy."""

from fractions import Fraction

DEFAULT_CONFIDENCE = "0.95"
"""The default confidence of margins, as text, in the form that arguments and options have."""

CONFIDENCE = Fraction(DEFAULT_CONFIDENCE)
"""The default confidence as a Fraction. Stopping rules use margins of this confidence, even if others are displayed."""
