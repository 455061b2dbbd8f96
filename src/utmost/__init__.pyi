"""The public names, each with the room that it lives in; the loader in ``__init__.py`` reads this table."""

from utmost import design as design
from utmost import doors as doors
from utmost import errors as errors
from utmost import laws as laws
from utmost import publish as publish
from utmost.design import channels as channels
from utmost.design import spaces as spaces
from utmost.design.capacities import capacity as capacity
from utmost.design.geometry import refines as refines
from utmost.design.geometry import universal_mechanism as universal_mechanism
from utmost.design.optima import expected_loss as expected_loss
from utmost.design.optima import optimal_mechanism as optimal_mechanism
from utmost.design.spaces import Consumer as Consumer
from utmost.design.spaces import losses as losses
from utmost.design.spaces import priors as priors
from utmost.design.types import PrivacyType as PrivacyType
from utmost.doors.documents.saved_designs import read_design as read_design
from utmost.doors.service import connect as connect
from utmost.laws import noise as noise
from utmost.laws.exact import level as level
from utmost.laws.noise import optimal_noise as optimal_noise
from utmost.laws.privacy import Unit as Unit
from utmost.laws.sampling import sample as sample
from utmost.publish import workloads as workloads
from utmost.publish.counting import count_contributions as count_contributions
from utmost.publish.counting import count_table as count_table
from utmost.publish.counting.counted_measures import count as count
from utmost.publish.counting.counted_measures import distinct as distinct
from utmost.publish.counting.counted_measures import sum as sum
from utmost.publish.ledger import Ledger as Ledger
from utmost.publish.ledger import release as release
from utmost.publish.promises import Promise as Promise
from utmost.publish.releases import GradualRelease as GradualRelease
from utmost.publish.releases import PlanarRelease as PlanarRelease
from utmost.publish.releases import epsilon_for as epsilon_for
from utmost.publish.releases import release_table as release_table
from utmost.publish.releases import release_workload as release_workload
from utmost.publish.statements import check_statement as check_statement
from utmost.publish.statements import read_release as read_release
from utmost.publish.statements import read_workload as read_workload
from utmost.publish.statements.promise_files import read_promise as read_promise
from utmost.publish.workloads import Domain as Domain
from utmost.publish.workloads import Workload as Workload
from utmost.publish.workloads import strategy as strategy
from utmost.version import __version__ as __version__

__all__: list[str]

def __dir__() -> list[str]: ...
