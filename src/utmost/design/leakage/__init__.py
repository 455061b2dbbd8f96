"""Posteriors and hypers, vulnerabilities and uncertainties, leakage and the capacities of a channel: what is gained."""
