"""The version of this package, which every statement contains."""

__version__ = "0.2.0"
