"""Noising the sums of a workload: every check, then one draw for each sum that the strategy measures."""

from typing import Any

from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.promise import Promise
from utmost.publish.releases.checked_sums import CheckedSums
from utmost.publish.releases.workload_release import WorkloadRelease
from utmost.publish.workloads.planning.strategy import Strategy


@progress_bar("Noising sums")
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
    counted, promise = counted_for(table, instance(strategy, Strategy, "strategy"))
    at, bits = level(epsilon, alpha), secure(randomness)
    promise.check(counted)
    return CheckedSums.of(counted, promise, at, confidence).draw(bits)


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
