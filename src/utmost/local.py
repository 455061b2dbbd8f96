"""Local differential privacy: each client randomises its own category, word or attributes."""

from utmost.design.local.attributes import AttributeReports, best_attributes
from utmost.design.local.bits import BitResponse, Coupling, between, largest_bit_ratio, relax, respond, tighten
from utmost.design.local.block_families import BlockFamily, balanced_family
from utmost.design.local.block_selection import BlockSelection, short_report
from utmost.design.local.category_reports import (
    CategoryCounts,
    CategoryCoupling,
    is_lossless,
    relax_categories,
    report_categories,
    tighten_categories,
)
from utmost.design.local.checked_mechanisms import read_mechanism
from utmost.design.local.decoding import FoundWord, decode
from utmost.design.local.permanent import PermanentResponses
from utmost.design.local.permanent_categories import PermanentReports
from utmost.design.local.population import iterative_bayesian_update
from utmost.design.local.subset_selection import SubsetSelection, best_report
from utmost.design.local.thresholded import ThresholdedLaplace, ThresholdedPair
from utmost.design.local.words import Bloom, BloomCounts

__all__ = [
    "AttributeReports",
    "BitResponse",
    "BlockFamily",
    "BlockSelection",
    "Bloom",
    "BloomCounts",
    "CategoryCounts",
    "CategoryCoupling",
    "Coupling",
    "FoundWord",
    "PermanentReports",
    "PermanentResponses",
    "SubsetSelection",
    "ThresholdedLaplace",
    "ThresholdedPair",
    "balanced_family",
    "best_attributes",
    "best_report",
    "between",
    "decode",
    "is_lossless",
    "iterative_bayesian_update",
    "largest_bit_ratio",
    "read_mechanism",
    "relax",
    "relax_categories",
    "report_categories",
    "respond",
    "short_report",
    "tighten",
    "tighten_categories",
]


def __dir__() -> list[str]:
    return __all__
