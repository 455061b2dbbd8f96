"""RAPPOR: words collected from clients who trust nobody, with responses whose level can be relaxed later."""

from utmost.rappor.bits import BitResponse, Coupling, between, largest_bit_ratio, relax, respond, tighten
from utmost.rappor.categories import SubsetSelection, best_report
from utmost.rappor.category_reports import (
    CategoryCounts,
    CategoryCoupling,
    is_lossless,
    relax_categories,
    report_categories,
    tighten_categories,
)
from utmost.rappor.decoding import Decoding, Found, decode, nonnegative_least_squares
from utmost.rappor.permanent import PermanentResponses
from utmost.rappor.thresholded import ThresholdedLaplace, ThresholdedPair, relax_thresholded
from utmost.rappor.words import Bloom, Tally

__all__ = [
    "BitResponse",
    "Bloom",
    "CategoryCounts",
    "CategoryCoupling",
    "Coupling",
    "Decoding",
    "Found",
    "PermanentResponses",
    "SubsetSelection",
    "Tally",
    "ThresholdedLaplace",
    "ThresholdedPair",
    "best_report",
    "between",
    "decode",
    "is_lossless",
    "largest_bit_ratio",
    "nonnegative_least_squares",
    "relax",
    "relax_categories",
    "relax_thresholded",
    "report_categories",
    "respond",
    "tighten",
    "tighten_categories",
]
