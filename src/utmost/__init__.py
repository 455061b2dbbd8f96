"""Provably optimal differential privacy: the least noise a level allows, drawn exactly, with the evidence."""

from utmost import errors
from utmost.exact import Level, level

__all__ = ["Level", "errors", "level"]
