"""Secrets, metrics, priors, losses, consumers: what may be true, how far apart, how likely, what error costs."""
