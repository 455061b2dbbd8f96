"""Measure what a channel leaks: posteriors, vulnerabilities, uncertainties, leakage and capacity."""
