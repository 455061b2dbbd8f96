"""The noise of the sums that a strategy measures, at the level of the whole release."""

from collections.abc import Mapping

from utmost.core.exact.levels import Level
from utmost.core.noise.geometric import Geometric
from utmost.publish.promises.noise_at_level import warn_of_level
from utmost.publish.workloads.measuring.measured_families import load_of
from utmost.publish.workloads.measuring.unit_charge import is_total
from utmost.publish.workloads.planning.strategy import Strategy
from utmost.tables.axes.domain import Family


def noise_laws(strategy: Strategy, spent: Level) -> dict[Family, Geometric]:
    """The noise of each sum of each measured family when the whole may spend a level."""
    wide = strategy.unit.sensitivity.numerator
    return {family: Geometric(of, wide * load_of(family)) for family, of in strategy.levels(spent).items()}


def warn_of_laws(strategy: Strategy, level: Level, laws: Mapping[Family, Geometric]) -> None:
    """Warn of a level at which practically nobody is protected; a total that is public tells nothing."""
    secret = [law for of, law in laws.items() if not (strategy.unit.exactly and is_total(strategy.domain, of))]
    warn_of_level(level, max(secret or laws.values(), key=lambda law: law.level))
