"""Posteriors, vulnerabilities, leakage and the capacities of a channel: what is gained."""
