"""RAPPOR: words collected from clients who trust nobody, with responses whose level can be relaxed later."""

from utmost.rappor.bits import BitResponse, Coupling, between, largest_bit_ratio, relax, respond, tighten
from utmost.rappor.decoding import Decoding, Found, decode, nonnegative_least_squares
from utmost.rappor.permanent import PermanentResponses
from utmost.rappor.thresholded import ThresholdedLaplace, ThresholdedPair, relax_thresholded
from utmost.rappor.words import Bloom, Tally

__all__ = [
    "BitResponse",
    "Bloom",
    "Coupling",
    "Decoding",
    "Found",
    "PermanentResponses",
    "Tally",
    "ThresholdedLaplace",
    "ThresholdedPair",
    "between",
    "decode",
    "largest_bit_ratio",
    "nonnegative_least_squares",
    "relax",
    "relax_thresholded",
    "respond",
    "tighten",
]
