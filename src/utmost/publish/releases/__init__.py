"""What is published of a table: once, and at further levels."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.publish.promises.accuracy import epsilon_for as epsilon_for
    from utmost.publish.promises.level_steps import bridge as bridge
    from utmost.publish.promises.level_steps import relax as relax
    from utmost.publish.promises.level_steps import tighten as tighten
    from utmost.publish.promises.noise_of_keys import select_keys as select_keys
    from utmost.publish.promises.plan import CellsAt as CellsAt
    from utmost.publish.promises.plan import guarantee as guarantee
    from utmost.publish.promises.plan import plan_release as plan_release
    from utmost.publish.promises.plan import statement as statement
    from utmost.publish.promises.planar_law import planar_epsilon_for as planar_epsilon_for
    from utmost.publish.promises.tangent_plane import TangentPlane as TangentPlane
    from utmost.publish.promises.values import add_noise as add_noise
    from utmost.publish.promises.vast_domains import Texts as Texts
    from utmost.publish.promises.vast_domains import name_cells as name_cells
    from utmost.publish.releases.detailed_release import DetailRule as DetailRule
    from utmost.publish.releases.detailed_release import release_detailed as release_detailed
    from utmost.publish.releases.gradual_release import GradualRelease as GradualRelease
    from utmost.publish.releases.gradual_release import path as path
    from utmost.publish.releases.item_commitment import ItemCommitment as ItemCommitment
    from utmost.publish.releases.item_release import ItemResponder as ItemResponder
    from utmost.publish.releases.noised_workloads import release_workload as release_workload
    from utmost.publish.releases.planar import PlanarRelease as PlanarRelease
    from utmost.publish.releases.processed_release import ProcessedRelease as ProcessedRelease
    from utmost.publish.releases.shared_release import release_shared as release_shared
    from utmost.publish.releases.sums_and_counts import SumsAndCounts as SumsAndCounts
    from utmost.publish.releases.table import release_table as release_table
    from utmost.publish.releases.together import release_together as release_together
    from utmost.publish.releases.trust import TrustRelease as TrustRelease
    from utmost.publish.releases.trust import check_coalitions as check_coalitions
    from utmost.publish.releases.trust import levels_by_distance as levels_by_distance
    from utmost.publish.releases.workload_answers import Answer as Answer
    from utmost.publish.releases.workload_release import WorkloadRelease as WorkloadRelease
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
