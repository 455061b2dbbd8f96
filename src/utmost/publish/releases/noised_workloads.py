"""Noising the sums of a workload: every check, then one draw for each sum that the strategy measures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from utmost.core.exact.arrays import frozen
from utmost.core.exact.kinds import checked
from utmost.core.exact.levels import Level
from utmost.core.exact.long_work import long_work
from utmost.core.exact.numbers import Number
from utmost.core.noise.geometric import Geometric
from utmost.core.sampling.random_bits import Randomness
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.plan import Planned
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.sum_noise import MEASURED, SumNoise, noise_laws, warn_of_laws
from utmost.publish.promises.values import noised_by
from utmost.publish.releases.table import ReleasedOnce, release_table
from utmost.publish.releases.workload_release import WorkloadRelease
from utmost.publish.workloads.planning.strategy import Strategy
from utmost.publish.workloads.reconstruction.least_squares import precision_weights
from utmost.tables.axes.domain import Family


@checked
@long_work("Noising sums")
def release_workload(
    table: CountedTable | NDArray[Any],
    strategy: Strategy,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    confidence: Number = "0.95",
    randomness: Randomness | None = None,
) -> WorkloadRelease:
    """Noise every sum over the groups of the strategy's families, so that all of them together cost one level.

    Each sum gets geometric noise of its own, at its family's share of the level. Everything else is made of these sums
    and costs nothing: every other sum by least squares, exactly unbiased; error bars that are certified. Everything is
    checked before any draw. It is ``release_table(table, Promise(noise=strategy)).table``.

    Args:
        table: a table counted from people, or integers of the domain's shape, one for each cell.
        strategy: which families to measure, with which shares; its domain and its unit are the release's.
        epsilon, alpha: what the whole release may spend, one of the two; alpha = exp(-epsilon).
        confidence: of the margins that tables and answers show unless asked for another.
        randomness: the operating system's when None; a seeded source is refused.

    Raises:
        OutOfRange: for a table over another domain, a strategy whose unit is smaller than what the counting proved,
            a sensitivity that is no integer, and a level that has the name of a column of the released tables.
        Unsupported: for a measured level whose groups differ in size.
        PromiseBroken: for a source of randomness that is not secure.
        BadTable: for cells that are no integers, or of another shape.
        NotALevel, NotANumber: for a level that is none.

    Warns:
        LittleProtection: at a level so large that practically nobody is protected.

    Cost: a draw for each measured sum.
    Source: composition over the groups of a family, in parallel, and over families by their shares; [geng2012].

    >>> import numpy as np
    >>> from utmost.privacy import Unit
    >>> from utmost.workloads import Domain
    >>> domain = Domain(department=list("AB"), sex=["men", "women"])
    >>> strategy = Strategy(domain, Unit(1, 1), {"department sex": 1})
    >>> released = release_workload(np.array([[512, 89], [353, 17]]), strategy, epsilon=1)
    >>> released["department"]["margin"].tolist(), released.total({"sex": "men"}).margin
    ([4, 4], 4)
    """
    counted, promise = counted_for(table, strategy)
    how: dict[str, Any] = {"epsilon": epsilon, "alpha": alpha, "confidence": confidence, "randomness": randomness}
    release: WorkloadRelease = release_table(counted, promise, **how).table
    return release


def counted_for(table: CountedTable | NDArray[Any], strategy: Strategy) -> tuple[CountedTable, Promise]:
    """A table as a counted one, and the promise of a strategy's sums of it.

    Raises:
        OutOfRange, WrongKind: for what is no strategy, and a unit that is none for sums.
        BadTable: for cells that are no integers, or of another shape.
    """
    promise = Promise(noise=strategy)
    taken = strategy.unit, "columns:", None, strategy.together
    counted = table if isinstance(table, CountedTable) else CountedTable(strategy.domain, table, *taken)
    return counted, promise.of_part(counted.part)


@dataclass(frozen=True, slots=True, eq=False)
class CheckedSums:
    """A counted table of which the sums of a plan can be released."""

    counted: CountedTable
    noise: SumNoise
    plan: Planned
    laws: Mapping[Family, Geometric]
    weights: Mapping[Family, int]

    def released(self, randomness: Randomness | None) -> ReleasedOnce:
        """The noisy sums, family after family, as a `WorkloadRelease`; without randomness the same and no table."""
        counted, plan, release = self.counted, self.plan, None
        strategy = self.noise.strategy
        if randomness is not None:
            sums = strategy.each_sums(counted.summable)
            measured = {of: _sealed(noised_by(true, self.laws[of], None, randomness=randomness)) for of, true in sums}
            about = plan.level, plan.confidence, measured, counted.kind, counted.part, self.weights
            release = WorkloadRelease(strategy, *about, measure=counted.measure)
        return ReleasedOnce(release, (MEASURED,), plan, self.noise.sums, (), "declared")


def checked_sums(table: Any, promise: Promise, plan: Planned) -> CheckedSums:
    """A counted table, with every check that a release of sums makes before it draws.

    Raises:
        OutOfRange, Unsupported, WrongKind: as `release_workload`.
    """
    counted, noise = promise.rows_of(table), promise.lasting_noise
    assert isinstance(noise, SumNoise), "it is the noise of sums that asks"
    strategy = noise.strategy
    counted.check_fits(strategy)
    strategy.unit.check_part(counted.part)
    noise.check_names(promise.columns, ())
    laws = noise_laws(strategy, plan.level)
    weights = precision_weights({family: law.ratio for family, law in laws.items()})
    strategy.measurement.reconstruction(weights)
    warn_of_laws(strategy, plan.level, laws)
    return CheckedSums(counted, noise, plan, laws, weights)


def _sealed(sums: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, which nobody can write any more, so that a release need not copy them."""
    owner = sums if sums.base is None else sums.base
    return frozen(owner).reshape(sums.shape)
