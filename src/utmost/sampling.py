"""Random bits, certified thresholds, and exact draws from a distribution."""

from utmost.core.sampling.categorical import Thresholds
from utmost.core.sampling.draw import on_grid, sample
from utmost.core.sampling.item_words import Identifiers

__all__ = ["Identifiers", "Thresholds", "on_grid", "sample"]


def __dir__() -> list[str]:
    return __all__
