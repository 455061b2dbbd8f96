"""Posteriors and hypers, vulnerabilities and uncertainties, leakage and capacities of a channel."""
