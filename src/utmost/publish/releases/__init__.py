"""What is published of a table: once, and at further levels."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.publish.promises.accuracy import epsilon_for
    from utmost.publish.promises.keys import KeySelection, NamedKeys, SelectedKeys, select_keys
    from utmost.publish.promises.lattice import Lattice
    from utmost.publish.promises.level_steps import bridge, relax, tighten
    from utmost.publish.promises.naming import NamingLaw
    from utmost.publish.promises.plan import Plan, guarantee, plan_release, statement
    from utmost.publish.promises.planar_law import PlanarLaw, planar_epsilon_for
    from utmost.publish.promises.tangent_plane import TangentPlane
    from utmost.publish.promises.together_plan import TogetherPlan
    from utmost.publish.promises.turning import turned
    from utmost.publish.promises.values import add_noise
    from utmost.publish.promises.vast_domains import NamedCells, Texts, Tuples, Universe, name_cells
    from utmost.publish.releases.cell_bars import CellBars
    from utmost.publish.releases.clean_release import CleanRelease
    from utmost.publish.releases.gradual_release import GradualRelease, NoisePath, path
    from utmost.publish.releases.gradual_together import GradualTogether
    from utmost.publish.releases.item_commitment import CommitmentKey, ItemCommitment
    from utmost.publish.releases.item_release import ItemRelease
    from utmost.publish.releases.noised_workloads import release_workload
    from utmost.publish.releases.places import release_places
    from utmost.publish.releases.planar import PlanarRelease
    from utmost.publish.releases.processed_release import ProcessedRelease
    from utmost.publish.releases.quantiles import QuantileBar
    from utmost.publish.releases.shared_release import release_shared
    from utmost.publish.releases.sums_and_counts import SumsAndCounts
    from utmost.publish.releases.table import TableRelease, rehearse_table, release_table
    from utmost.publish.releases.together import release_together
    from utmost.publish.releases.trust import Coalitions, TrustRelease, check_coalitions, levels_by_distance
    from utmost.publish.releases.withheld import WithheldTable, WithheldTables
    from utmost.publish.releases.withholding import WithholdingRule
    from utmost.publish.releases.workload_answers import Answer
    from utmost.publish.releases.workload_release import WorkloadRelease
    from utmost.publish.tables.cell_values import Cells
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "Answer",
    "CellBars",
    "Cells",
    "CleanRelease",
    "Coalitions",
    "CommitmentKey",
    "GradualRelease",
    "GradualTogether",
    "ItemCommitment",
    "ItemRelease",
    "KeySelection",
    "Lattice",
    "NamedCells",
    "NamedKeys",
    "NamingLaw",
    "NoisePath",
    "Plan",
    "PlanarLaw",
    "PlanarRelease",
    "ProcessedRelease",
    "QuantileBar",
    "SelectedKeys",
    "SumsAndCounts",
    "TableRelease",
    "TangentPlane",
    "Texts",
    "TogetherPlan",
    "TrustRelease",
    "Tuples",
    "Universe",
    "WithheldTable",
    "WithheldTables",
    "WithholdingRule",
    "WorkloadRelease",
    "add_noise",
    "bridge",
    "check_coalitions",
    "epsilon_for",
    "guarantee",
    "levels_by_distance",
    "name_cells",
    "path",
    "plan_release",
    "planar_epsilon_for",
    "rehearse_table",
    "relax",
    "release_places",
    "release_shared",
    "release_table",
    "release_together",
    "release_workload",
    "select_keys",
    "statement",
    "tighten",
    "turned",
]
