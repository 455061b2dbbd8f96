"""RAPPOR: words collected from clients who trust nobody, with responses whose level can be relaxed later."""

from utmost.release.rappor.bloom import Bloom
from utmost.release.rappor.coupling import Coupling, between, largest_ratio
from utmost.release.rappor.decode import Decoding, Found, decode
from utmost.release.rappor.nonnegative import nonnegative_least_squares
from utmost.release.rappor.permanent import PermanentResponses
from utmost.release.rappor.response import BitResponse
from utmost.release.rappor.steps import relax, relax_thresholded, respond, tighten
from utmost.release.rappor.tally import Tally
from utmost.release.rappor.thresholded import ThresholdedLaplace, ThresholdedPair

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
    "largest_ratio",
    "nonnegative_least_squares",
    "relax",
    "relax_thresholded",
    "respond",
    "tighten",
]
