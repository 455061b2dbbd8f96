"""Compute the noise of the sums that a plan measures, from the level of the whole release."""

from collections.abc import Mapping

from utmost.core.exact.levels import Level
from utmost.core.noise.geometric import Geometric
from utmost.publish.promises.noise_at_level import weakness_of
from utmost.publish.workloads.measuring.measured_marginals import load_of
from utmost.publish.workloads.measuring.unit_charge import is_total
from utmost.publish.workloads.planning.plan import Plan
from utmost.tables.axes.domain import Marginal


def noise_distributions(plan: Plan, spent: Level) -> dict[Marginal, Geometric]:
    """Return the noise of one sum of each measured marginal, if the whole release has the level ``spent``."""
    wide = plan.unit.sensitivity.numerator
    return {marginal: Geometric(of, wide * load_of(marginal)) for marginal, of in plan.levels(spent).items()}


def weakness_of_distributions(plan: Plan, level: Level, distributions: Mapping[Marginal, Geometric]) -> str:
    """Say why a level protects practically nobody, see `weakness_of`; the noise of a public total does not count."""
    secret = [
        distribution
        for of, distribution in distributions.items()
        if not (plan.unit.exactly and is_total(plan.domain, of))
    ]
    return weakness_of(level, max(secret or distributions.values(), key=lambda distribution: distribution.level))
