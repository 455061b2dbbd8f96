"""A counted table of which the sums of a plan can be released."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import frozen
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.noise.geometric import Geometric
from utmost.core.sampling.random_bits import Randomness
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.plan import NoisePlan
from utmost.publish.promises.promise import Promise, fitting, promise_for
from utmost.publish.promises.sum_laws import noise_laws, warn_of_laws
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.promises.values import noised_by
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.workloads.planning.strategy import Strategy
from utmost.publish.workloads.reconstruction.least_squares import precision_weights
from utmost.tables.axes.domain import Family


@dataclass(frozen=True, slots=True, eq=False)
class CheckedSums:
    """A counted table of which the sums of a plan can be released."""

    counted: CountedTable
    promise: Promise
    noise: SumNoise
    plan: NoisePlan
    laws: Mapping[Family, Geometric]
    weights: Mapping[Family, int]

    @classmethod
    def of(cls, table: object, promise: Promise, level: Level, confidence: Number = "0.95") -> "CheckedSums":
        """The table, with every check that a release of sums makes before it draws.

        Raises:
            OutOfRange, Unsupported, WrongKind: for a table that does not fit the plan.
        """
        noise = promise.noise
        assert isinstance(noise, SumNoise), "only sums of a strategy are checked so"
        plan = noise.plan(level, confidence)
        counted, strategy = noise.rows_of(table, promise.columns), noise.strategy
        counted.check_fits(strategy)
        strategy.unit.check_part(counted.part)
        noise.check_names(promise.columns, ())
        laws = noise_laws(strategy, plan.level)
        weights = precision_weights({family: law.ratio for family, law in laws.items()})
        strategy.measurement.reconstruction(weights)
        warn_of_laws(strategy, plan.level, laws)
        return cls(counted, promise, noise, plan, laws, weights)

    def draw(self, randomness: Randomness) -> NoisySums:
        """The noisy sums, family after family."""
        counted, strategy = self.counted, self.noise.strategy
        sums = strategy.each_sums(counted.read_by(strategy))
        measured = {of: _sealed(noised_by(true, self.laws[of], None, randomness=randomness)) for of, true in sums}
        about = self.plan.level, self.plan.confidence, measured, counted.kind, counted.part, self.weights
        return NoisySums(strategy, *about, measure=counted.measure)

    def statement(self) -> dict[str, Any]:
        """The statement that its answer would have, of sums that are all 0."""
        strategy = self.noise.strategy
        zeros = {family: np.zeros(strategy.measured_shape(family), np.int64) for family in strategy.shares}
        about = self.plan.level, self.plan.confidence, zeros, self.counted.kind, self.counted.part, self.weights
        return NoisySums(strategy, *about, measure=self.counted.measure).statement

    def released(self, randomness: Randomness) -> Answer[NoisySums]:
        """The answer: the noisy sums."""
        return Answer(self.draw(randomness), self.promise, self.plan, self.noise.sums, None, None)


def counted_for(table: CountedTable | NDArray[Any], strategy: Strategy) -> tuple[CountedTable, Promise]:
    """The table as a counted one, and the promise of the sums of a plan; cells of an array have the plan's unit.

    Raises:
        OutOfRange, WrongKind: for a unit that cannot be one of sums.
        BadTable: for cells that are no integers, or of another shape.
    """
    own = strategy.unit, "columns:", None, strategy.together
    whole = strategy.domain if strategy.narrowed_from is None else strategy.narrowed_from
    counted = table if isinstance(table, CountedTable) else CountedTable(whole, table, *own)
    return counted, fitting(promise_for(strategy, counted), counted)


def _sealed(sums: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, which nobody can write any more, so that a release need not copy them."""
    owner = sums if sums.base is None else sums.base
    return frozen(owner).reshape(sums.shape)
