"""The version of this package; the statement beside every release names it."""

__version__ = "0.2.0"
