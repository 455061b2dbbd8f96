"""Provably optimal differential privacy: the least noise at each epsilon, exact samples, and certificates."""

from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from utmost.core.exact import card_writer as _card_writer
from utmost.version import __version__ as __version__

if TYPE_CHECKING:
    from utmost import channels as channels
    from utmost import noise as noise
    from utmost import spaces as spaces
    from utmost import workloads as workloads
    from utmost.core.exact.levels import level as level
    from utmost.core.noise.optimal import optimal_noise as optimal_noise
    from utmost.core.privacy.unit import Unit as Unit
    from utmost.core.sampling.draw import sample as sample
    from utmost.design.capacities.capacity import capacity as capacity
    from utmost.design.geometry.refining import refines as refines
    from utmost.design.geometry.universal_optima import universal_mechanism as universal_mechanism
    from utmost.design.optima.best_actions import expected_loss as expected_loss
    from utmost.design.optima.optimum import optimal_mechanism as optimal_mechanism
    from utmost.design.privacy_types.privacy_type import PrivacyType as PrivacyType
    from utmost.design.spaces import losses as losses
    from utmost.design.spaces import priors as priors
    from utmost.design.spaces.consumer import Consumer as Consumer
    from utmost.interfaces.documents.published_files import read_release as read_release
    from utmost.interfaces.documents.saved_designs import read_design as read_design
    from utmost.interfaces.documents.saved_designs import save_design as save_design
    from utmost.interfaces.figures.plots import plot as plot
    from utmost.interfaces.service.client import connect as connect
    from utmost.publish.counting.contributions import count_contributions as count_contributions
    from utmost.publish.counting.counted_events import count_measures as count_measures
    from utmost.publish.counting.counted_events import count_table as count_table
    from utmost.publish.counting.counted_measures import count as count
    from utmost.publish.counting.counted_measures import distinct as distinct
    from utmost.publish.counting.counted_measures import mean as mean
    from utmost.publish.counting.counted_measures import sum as sum
    from utmost.publish.counting.counting import Counting as Counting
    from utmost.publish.ledger.ledger import Ledger as Ledger
    from utmost.publish.ledger.releasing import release as release
    from utmost.publish.promises.accuracy import epsilon_for as epsilon_for
    from utmost.publish.promises.cell_noise import CellNoise as CellNoise
    from utmost.publish.promises.one_draw_noise import OneDraw as OneDraw
    from utmost.publish.promises.one_draw_noise import OneWayDraw as OneWayDraw
    from utmost.publish.promises.point_noise import PointNoise as PointNoise
    from utmost.publish.promises.promise import Promise as Promise
    from utmost.publish.promises.promise import read_promise as read_promise
    from utmost.publish.promises.statement import check_statement as check_statement
    from utmost.publish.promises.sum_noise import SumNoise as SumNoise
    from utmost.publish.promises.until import within as within
    from utmost.publish.releases.gradual_release import GradualRelease as GradualRelease
    from utmost.publish.releases.planar import PlanarRelease as PlanarRelease
    from utmost.publish.workloads.planning.choose_plan import choose_plan as choose_plan
    from utmost.publish.workloads.workload import Workload as Workload
    from utmost.tables.axes.domain import Domain as Domain
    from utmost.tables.cells.spelling import Spelling as Spelling
    from utmost.tables.frames.table import Table as Table

_HOMES = {
    "Consumer": "utmost.design.spaces.consumer:Consumer",
    "Counting": "utmost.publish.counting.counting:Counting",
    "Domain": "utmost.tables.axes.domain:Domain",
    "GradualRelease": "utmost.publish.releases.gradual_release:GradualRelease",
    "Ledger": "utmost.publish.ledger.ledger:Ledger",
    "OneDraw": "utmost.publish.promises.one_draw_noise:OneDraw",
    "OneWayDraw": "utmost.publish.promises.one_draw_noise:OneWayDraw",
    "PlanarRelease": "utmost.publish.releases.planar:PlanarRelease",
    "PrivacyType": "utmost.design.privacy_types.privacy_type:PrivacyType",
    "CellNoise": "utmost.publish.promises.cell_noise:CellNoise",
    "PointNoise": "utmost.publish.promises.point_noise:PointNoise",
    "Promise": "utmost.publish.promises.promise:Promise",
    "SumNoise": "utmost.publish.promises.sum_noise:SumNoise",
    "Spelling": "utmost.tables.cells.spelling:Spelling",
    "Table": "utmost.tables.frames.table:Table",
    "Unit": "utmost.core.privacy.unit:Unit",
    "Workload": "utmost.publish.workloads.workload:Workload",
    "capacity": "utmost.design.capacities.capacity:capacity",
    "channels": "utmost.channels",
    "check_statement": "utmost.publish.promises.statement:check_statement",
    "connect": "utmost.interfaces.service.client:connect",
    "count": "utmost.publish.counting.counted_measures:count",
    "count_contributions": "utmost.publish.counting.contributions:count_contributions",
    "count_measures": "utmost.publish.counting.counted_events:count_measures",
    "count_table": "utmost.publish.counting.counted_events:count_table",
    "distinct": "utmost.publish.counting.counted_measures:distinct",
    "epsilon_for": "utmost.publish.promises.accuracy:epsilon_for",
    "expected_loss": "utmost.design.optima.best_actions:expected_loss",
    "level": "utmost.core.exact.levels:level",
    "losses": "utmost.design.spaces.losses",
    "mean": "utmost.publish.counting.counted_measures:mean",
    "noise": "utmost.noise",
    "optimal_mechanism": "utmost.design.optima.optimum:optimal_mechanism",
    "optimal_noise": "utmost.core.noise.optimal:optimal_noise",
    "plot": "utmost.interfaces.figures.plots:plot",
    "priors": "utmost.design.spaces.priors",
    "read_design": "utmost.interfaces.documents.saved_designs:read_design",
    "read_promise": "utmost.publish.promises.promise:read_promise",
    "read_release": "utmost.interfaces.documents.published_files:read_release",
    "refines": "utmost.design.geometry.refining:refines",
    "release": "utmost.publish.ledger.releasing:release",
    "sample": "utmost.core.sampling.draw:sample",
    "save_design": "utmost.interfaces.documents.saved_designs:save_design",
    "spaces": "utmost.spaces",
    "choose_plan": "utmost.publish.workloads.planning.choose_plan:choose_plan",
    "sum": "utmost.publish.counting.counted_measures:sum",
    "universal_mechanism": "utmost.design.geometry.universal_optima:universal_mechanism",
    "within": "utmost.publish.promises.until:within",
    "workloads": "utmost.workloads",
}
"""Module and attribute of each public name. `__getattr__` loads the module when the name is first used."""

_MODULES = (
    "capacities",
    "channels",
    "counting",
    "errors",
    "exact",
    "geometry",
    "gradual",
    "interop",
    "leakage",
    "ledger",
    "local",
    "noise",
    "optima",
    "privacy",
    "privacy_types",
    "programs",
    "promises",
    "releases",
    "sampling",
    "service",
    "spaces",
    "statements",
    "testing",
    "workloads",
)

__all__ = sorted({*_HOMES, *_MODULES, "__version__"})  # pyright: ignore[reportUnsupportedDunderAll]

_EXTRAS = {"connect": "server", "interop": "all", "service": "server"}


def _card(value: Any) -> str:
    from utmost.interfaces.figures.cards import card

    return card(value)


_card_writer.write_card = _card


def __getattr__(name: str) -> Any:
    module, _, attribute = _HOMES.get(name, f"utmost.{name}" if name in _MODULES else "").partition(":")
    if not module:
        homes = _modules_with(name)
        found = f"; write {' or '.join(f'ut.{home}.{name}' for home in homes)}" if homes else ""
        raise AttributeError(f"module 'utmost' has no attribute {name!r}{found}")
    try:
        value: Any = import_module(module)
    except ModuleNotFoundError as error:  # an optional package is not installed
        if name not in _EXTRAS or (error.name or "").startswith("utmost"):
            raise
        from utmost.tables.optional_imports import absent

        globals()[name] = value = absent(name, error.name, _EXTRAS[name])
        return value
    globals()[name] = value = getattr(value, attribute) if attribute else value
    return value


def _modules_with(name: str) -> list[str]:
    """Return the names of the public modules that have an attribute of this name.

    The result is empty for a private name, and for the name of a submodule.

    Every public module is imported for the search.
    """
    if name.startswith("_") or find_spec(f"utmost.{name}") is not None:
        return []
    homes = []
    for module in _MODULES:
        with suppress(ModuleNotFoundError):  # an optional package is not installed
            if name in dir(import_module(f"utmost.{module}")):
                homes.append(module)
    return homes


def __dir__() -> list[str]:
    return list(__all__)
