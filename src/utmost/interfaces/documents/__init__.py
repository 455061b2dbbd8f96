"""Designs, channels, capacities and verdicts as files, and read back as what they say and nothing more."""
