"""Define secrets with distances, priors (probabilities of secrets), losses (costs of errors) and consumers."""
