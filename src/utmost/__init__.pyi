"""The public names, each with the room that it lives in; the loader in ``__init__.py`` reads this table."""

from utmost import capacities as capacities
from utmost import channels as channels
from utmost import design as design
from utmost import errors as errors
from utmost import geometry as geometry
from utmost import gradual as gradual
from utmost import leakage as leakage
from utmost import ledger as ledger
from utmost import noise as noise
from utmost import privacy as privacy
from utmost import rappor as rappor
from utmost import release as release
from utmost import spaces as spaces
from utmost import workloads as workloads
from utmost.capacities import capacity as capacity
from utmost.channels import Channel as Channel
from utmost.design import Optimum as Optimum
from utmost.design import Reading as Reading
from utmost.design import bayes_remap as bayes_remap
from utmost.design import expected_loss as expected_loss
from utmost.design import minimax_mechanism as minimax_mechanism
from utmost.design import optimal_mechanism as optimal_mechanism
from utmost.design import posterior as posterior
from utmost.design import read as read
from utmost.documents import check_statement as check_statement
from utmost.exact import Level as Level
from utmost.exact import level as level
from utmost.geometry import decompose as decompose
from utmost.geometry import kernels as kernels
from utmost.geometry import refines as refines
from utmost.geometry import universal_mechanism as universal_mechanism
from utmost.geometry import vertices as vertices
from utmost.leakage import Hyper as Hyper
from utmost.ledger import Ledger as Ledger
from utmost.noise import DiscreteStaircase as DiscreteStaircase
from utmost.noise import Geometric as Geometric
from utmost.noise import Laplace as Laplace
from utmost.noise import Law as Law
from utmost.noise import Staircase as Staircase
from utmost.noise import costs as costs
from utmost.noise import optimal_noise as optimal_noise
from utmost.privacy import PrivacyType as PrivacyType
from utmost.privacy import Unit as Unit
from utmost.privacy import smallest_epsilon as smallest_epsilon
from utmost.privacy import tradeoff as tradeoff
from utmost.release import GradualRelease as GradualRelease
from utmost.release import TableRelease as TableRelease
from utmost.release import TrustRelease as TrustRelease
from utmost.release import WorkloadRelease as WorkloadRelease
from utmost.release import add_noise as add_noise
from utmost.release import epsilon_for as epsilon_for
from utmost.release import rehearse_table as rehearse_table
from utmost.release import release_table as release_table
from utmost.release import release_workload as release_workload
from utmost.sampling import sample as sample
from utmost.spaces import Consumer as Consumer
from utmost.spaces import Loss as Loss
from utmost.spaces import Space as Space
from utmost.spaces import losses as losses
from utmost.spaces import priors as priors
from utmost.version import __version__ as __version__
from utmost.workloads import Domain as Domain

__all__: list[str]

def __dir__() -> list[str]: ...
