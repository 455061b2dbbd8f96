"""Designs, channels, capacities and verdicts as files, and read back as what they say and nothing more."""

from utmost.provided import own_names

__dir__ = own_names(__name__)
