"""Random bits, certified thresholds and exact draws from a law."""

from utmost.core.sampling.categorical import Thresholds
from utmost.core.sampling.draw import sample
from utmost.core.sampling.item_words import Identifiers

__all__ = ["Identifiers", "Thresholds", "sample"]


def __dir__() -> list[str]:
    return __all__
