"""Answers from clients who trust nobody: categories, words, persons answered once."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.design.local.attributes import best_attributes as best_attributes
    from utmost.design.local.bits import BitResponse as BitResponse
    from utmost.design.local.bits import Coupling as Coupling
    from utmost.design.local.bits import between as between
    from utmost.design.local.bits import largest_bit_ratio as largest_bit_ratio
    from utmost.design.local.bits import relax as relax
    from utmost.design.local.bits import respond as respond
    from utmost.design.local.bits import tighten as tighten
    from utmost.design.local.block_families import balanced_family as balanced_family
    from utmost.design.local.block_selection import BlockSelection as BlockSelection
    from utmost.design.local.block_selection import short_report as short_report
    from utmost.design.local.category_reports import CategoryCounts as CategoryCounts
    from utmost.design.local.category_reports import is_lossless as is_lossless
    from utmost.design.local.category_reports import relax_categories as relax_categories
    from utmost.design.local.category_reports import report_categories as report_categories
    from utmost.design.local.category_reports import tighten_categories as tighten_categories
    from utmost.design.local.decoding import decode as decode
    from utmost.design.local.permanent import PermanentResponses as PermanentResponses
    from utmost.design.local.permanent_categories import PermanentReports as PermanentReports
    from utmost.design.local.population import iterative_bayesian_update as iterative_bayesian_update
    from utmost.design.local.subset_selection import SubsetSelection as SubsetSelection
    from utmost.design.local.subset_selection import best_report as best_report
    from utmost.design.local.thresholded import ThresholdedLaplace as ThresholdedLaplace
    from utmost.design.local.thresholded import ThresholdedPair as ThresholdedPair
    from utmost.design.local.words import Bloom as Bloom
    from utmost.design.local.words import Tally as Tally
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
