"""Check a counted table for the release of a plan's sums, and draw these sums."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from utmost.core.exact.arrays import frozen
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.noise.geometric import Geometric
from utmost.core.sampling.random_bits import Randomness
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.noise_at_level import NoiseAtLevel, warn_of_weakness
from utmost.publish.promises.promise import Promise, promise_for
from utmost.publish.promises.sum_distributions import noise_distributions, weakness_of_distributions
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.promises.values import noised_by
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.reconstruction.least_squares import precision_weights
from utmost.tables.axes.domain import Marginal


@dataclass(frozen=True, slots=True, eq=False)
class CheckedSums:
    """A counted table that passed every check for the release of a plan's sums, with the noise to add."""

    counted: CountedTable
    promise: Promise
    noise: SumNoise
    at_level: NoiseAtLevel
    distributions: Mapping[Marginal, Geometric]
    weights: Mapping[Marginal, int]

    @classmethod
    def of(
        cls, table: object, promise: Promise, level: Level, confidence: Number = DEFAULT_CONFIDENCE
    ) -> "CheckedSums":
        """Make every check of a release of sums; nothing is drawn yet."""
        noise = promise.noise
        assert isinstance(noise, SumNoise), "only sums of a plan are checked here"
        at_level = noise.at(level, confidence)
        counted, plan = noise.rows_of(table, promise.columns), noise.plan
        counted.check_fits(plan)
        noise.check_names(promise.columns, ())
        distributions = noise_distributions(plan, at_level.level)
        weights = precision_weights({marginal: distribution.ratio for marginal, distribution in distributions.items()})
        plan.measurement.reconstruction(weights)
        warn_of_weakness(weakness_of_distributions(plan, at_level.level, distributions))
        return cls(counted, promise, noise, at_level, distributions, weights)

    def draw(self, randomness: Randomness) -> NoisySums:
        """Add noise to the true sums, marginal by marginal."""
        counted, plan = self.counted, self.noise.plan
        measured = {}
        for of, true in plan.each_sums(counted.read_by(plan)):
            noisy = noised_by(true, self.distributions[of], None, randomness=randomness)
            # Make the arrays read-only, so that `NoisySums` need not copy them
            measured[of] = frozen(noisy if noisy.base is None else noisy.base).reshape(noisy.shape)
        about = self.at_level.level, self.at_level.confidence, measured, counted.kind, self.weights
        return NoisySums(self.promise, *about, measure=counted.measure)

    @property
    def without_data(self) -> NoisySums:
        """The release with zeros instead of noisy sums; its margins are those of the real release."""
        at_level = self.at_level
        whole = NoisySums.without_data(self.promise, at_level.level, at_level.confidence)
        return replace(whole, kind=self.counted.kind, measure=self.counted.measure)

    def statement(self) -> dict[str, Any]:
        """Return the statement before the draw, with 0 in place of each noisy sum."""
        return self.without_data.statement

    def released(self, randomness: Randomness) -> Answer[NoisySums]:
        return Answer(self.draw(randomness), self.promise, self.at_level, self.noise.rows, None, None)


def counted_for(table: CountedTable | NDArray[Any], plan: Plan) -> tuple[CountedTable, Promise]:
    """Return the table as a `CountedTable` and the promise of the plan's sums; an array gets the plan's unit."""
    whole = plan.domain if plan.narrowed_from is None else plan.narrowed_from
    counted = table
    if not isinstance(counted, CountedTable):
        counted = CountedTable(whole, counted, plan.unit, together=plan.together)
    return counted, promise_for(plan, counted)
