"""Secrets with the distances between them, priors (probabilities of secrets), losses (costs of errors), consumers."""
