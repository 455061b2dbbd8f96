"""What has been said over time: one-time and gradual releases, and the ledger."""

from utmost.release.accuracy import epsilon_for
from utmost.release.cell_bars import CellBars
from utmost.release.clean_release import CleanRelease
from utmost.release.counted import CountedTable
from utmost.release.gradual_release import GradualRelease, NoisePath, path
from utmost.release.gradual_together import GradualTogether
from utmost.release.item_commitment import CommitmentKey, ItemCommitment
from utmost.release.item_release import ItemRelease
from utmost.release.keys import KeySelection, NamedKeys, SelectedKeys, select_keys
from utmost.release.level_steps import bridge, relax, tighten
from utmost.release.naming import NamingLaw
from utmost.release.places import PlacesRelease, rehearse_places, release_places
from utmost.release.plan import Plan, plan_release
from utmost.release.planar import PlanarRelease
from utmost.release.planar_law import PlanarLaw, planar_epsilon_for
from utmost.release.processed_release import ProcessedRelease
from utmost.release.statements import guarantee, statement
from utmost.release.table import TableRelease, rehearse_table, release_table
from utmost.release.together import TogetherPlan, TogetherRelease, plan_together, release_together
from utmost.release.trust import Coalitions, TrustRelease, check_coalitions, independent_loss, levels_by_distance
from utmost.release.turning import turned, turned_back
from utmost.release.values import add_noise
from utmost.release.workload_answers import Answer
from utmost.release.workload_release import WorkloadRelease, release_workload

__all__ = [
    "Answer",
    "CellBars",
    "CleanRelease",
    "Coalitions",
    "CommitmentKey",
    "CountedTable",
    "GradualRelease",
    "GradualTogether",
    "ItemCommitment",
    "ItemRelease",
    "KeySelection",
    "NamedKeys",
    "NamingLaw",
    "NoisePath",
    "PlacesRelease",
    "Plan",
    "PlanarLaw",
    "PlanarRelease",
    "ProcessedRelease",
    "SelectedKeys",
    "TableRelease",
    "TogetherPlan",
    "TogetherRelease",
    "TrustRelease",
    "WorkloadRelease",
    "add_noise",
    "bridge",
    "check_coalitions",
    "epsilon_for",
    "guarantee",
    "independent_loss",
    "levels_by_distance",
    "path",
    "plan_release",
    "plan_together",
    "planar_epsilon_for",
    "rehearse_places",
    "rehearse_table",
    "relax",
    "release_places",
    "release_table",
    "release_together",
    "release_workload",
    "select_keys",
    "statement",
    "tighten",
    "turned",
    "turned_back",
]
