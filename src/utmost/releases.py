"""Release a table once, or at several levels."""

from utmost.publish.promises.accuracy import epsilon_for
from utmost.publish.promises.level_steps import bridge, relax, tighten
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel, cell_noise_at
from utmost.publish.promises.partition_selection import KeySelection
from utmost.publish.promises.planar_distribution import planar_epsilon_for
from utmost.publish.promises.tangent_plane import TangentPlane
from utmost.publish.promises.values import add_noise
from utmost.publish.promises.vast_domains import Texts, Tuples, select_cells
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.cell_bars import CellBars
from utmost.publish.releases.clean_release import CleanTable
from utmost.publish.releases.detailed_release import DetailedSums, DetailRule, release_detailed
from utmost.publish.releases.estimates import Estimate
from utmost.publish.releases.gradual_release import GradualRelease, path
from utmost.publish.releases.item_commitment import ItemCommitment
from utmost.publish.releases.item_release import ItemResponder
from utmost.publish.releases.measures_table import MeasuresTable, release_measures
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.planar import PlanarRelease
from utmost.publish.releases.shared_release import release_shared
from utmost.publish.releases.trust import check_coalitions, levels_by_distance
from utmost.publish.releases.withheld import WithheldTable, WithheldTables
from utmost.publish.releases.withholding import WithholdingRule

__all__ = [
    "Answer",
    "CellBars",
    "CellNoiseAtLevel",
    "CleanTable",
    "DetailRule",
    "DetailedSums",
    "Estimate",
    "GradualRelease",
    "ItemCommitment",
    "ItemResponder",
    "KeySelection",
    "MeasuresTable",
    "NoisySums",
    "PlanarRelease",
    "TangentPlane",
    "Texts",
    "Tuples",
    "WithheldTable",
    "WithheldTables",
    "WithholdingRule",
    "add_noise",
    "bridge",
    "cell_noise_at",
    "check_coalitions",
    "epsilon_for",
    "levels_by_distance",
    "path",
    "planar_epsilon_for",
    "relax",
    "release_detailed",
    "release_measures",
    "release_shared",
    "select_cells",
    "tighten",
]


def __dir__() -> list[str]:
    return __all__
