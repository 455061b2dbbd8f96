"""Hypothesis strategies for property tests: priors, losses, channels, levels and consumers. Hypothesis is needed."""

from utmost.interfaces.testing.strategies import (
    alphas,
    any_losses,
    channels,
    consumers,
    levels,
    metrics,
    monotone_losses,
    priors,
    private_channels,
    refined_pairs,
    sizes,
)

__all__ = [
    "alphas",
    "any_losses",
    "channels",
    "consumers",
    "levels",
    "metrics",
    "monotone_losses",
    "priors",
    "private_channels",
    "refined_pairs",
    "sizes",
]
