"""Secrets, metrics, priors, losses, consumers: what may be true, how far apart, how likely, what error costs."""

from utmost.spaces import losses, priors
from utmost.spaces.consumer import Consumer
from utmost.spaces.counts import LineMetric, counts
from utmost.spaces.losses import Loss
from utmost.spaces.metric import Metric, TableMetric
from utmost.spaces.space import Space

__all__ = ["Consumer", "LineMetric", "Loss", "Metric", "Space", "TableMetric", "counts", "losses", "priors"]
