"""Noising the sums of a workload: every check, then one draw for each sum that the strategy measures."""

from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from utmost.laws.exact import Level, Number, checked, frozen, level
from utmost.laws.exact.long_work import long_work
from utmost.laws.noise import Geometric
from utmost.laws.noise.law import read_confidence
from utmost.laws.sampling.random_bits import Randomness, secure
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.plan import warn_of_level
from utmost.publish.promises.sum_noise import check_level_names
from utmost.publish.promises.values import noised_by
from utmost.publish.releases.workload_release import WorkloadRelease
from utmost.publish.releases.workload_statements import noise_laws
from utmost.publish.workloads import Strategy
from utmost.publish.workloads.domain import Family
from utmost.publish.workloads.reconstruction import precision_weights
from utmost.publish.workloads.unit_charge import is_total

CheckedWorkload = tuple[CountedTable, Strategy, Level, dict[Family, Geometric], dict[Family, int]]


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
    checked before any draw.

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
    >>> from utmost.laws.privacy import Unit
    >>> from utmost.publish.workloads import Domain
    >>> domain = Domain(department=list("AB"), sex=["men", "women"])
    >>> strategy = Strategy(domain, Unit(1, 1), {"department sex": 1})
    >>> released = release_workload(np.array([[512, 89], [353, 17]]), strategy, epsilon=1)
    >>> released["department"]["margin"].tolist(), released.total({"sex": "men"}).margin
    ([4, 4], 4)
    """
    spent, sure = level(epsilon, alpha), read_confidence(confidence)
    return noised_workload(checked_workload(table, strategy, spent), sure, secure(randomness))


def noised_workload(checks: CheckedWorkload, confidence: Fraction, randomness: Randomness) -> WorkloadRelease:
    """`release_workload` of what was checked, with whatever randomness is given."""
    counted, strategy, spent, laws, weights = checks
    sums = strategy.each_sums(counted.summable)
    measured = {family: _sealed(noised_by(of, laws[family], None, randomness=randomness)) for family, of in sums}
    return WorkloadRelease(strategy, spent, confidence, measured, counted.kind, counted.part, weights)


def _sealed(sums: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, which nobody can write any more, so that a release need not copy them."""
    owner = sums if sums.base is None else sums.base
    return frozen(owner).reshape(sums.shape)


def checked_workload(table: CountedTable | NDArray[Any], strategy: Strategy, spent: Level) -> CheckedWorkload:
    """All that `release_workload` checks before it draws; what it draws for, and each family's noise and weight.

    Raises:
        OutOfRange, Unsupported, BadTable: as `release_workload`.
    """
    taken = strategy.unit, "columns:", None, strategy.together
    counted = table if isinstance(table, CountedTable) else CountedTable(strategy.domain, table, *taken)
    counted.check_fits(strategy)
    check_level_names(strategy.domain, strategy.unit)
    laws = noise_laws(strategy, spent)
    weights = precision_weights({family: law.ratio for family, law in laws.items()})
    strategy.measurement.reconstruction(weights)
    public = strategy.unit.exactly  # then that of everybody's total says nothing
    noises = [law for family, law in laws.items() if not (public and is_total(strategy.domain, family))]
    warn_of_level(spent, max(noises or laws.values(), key=lambda law: law.level))
    return counted, strategy, spent, laws, weights
