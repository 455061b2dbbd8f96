"""Release a table under a promise; the history of its answers is in memory until the process ends, or is not stored."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from numpy.typing import NDArray

from utmost.core.exact.arguments import truth
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.sampling.item_words import SECRET_BYTES, item_tags
from utmost.core.sampling.random_bits import Randomness, entropy, secure
from utmost.publish.counting.counted_facts import CountedFacts
from utmost.publish.ledger.event_log import open_log
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.sqlite_store import VolatileStore
from utmost.publish.promises.ledger_facts import PROCESS_NAME
from utmost.publish.promises.noise_at_level import warn_of_rows, warn_of_weakness
from utmost.publish.promises.promise import Promise, promise_for
from utmost.publish.promises.statement import Statement
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.once import checked_table
from utmost.publish.releases.source import new_source
from utmost.tables.engines.engines import is_engine_frame
from utmost.tables.frames.table import Table

if TYPE_CHECKING:  # imported only where needed: few releases are by a plan
    from utmost.publish.counting.counted import CountedTable
    from utmost.publish.releases.noisy_sums import NoisySums
    from utmost.publish.workloads.planning.plan import Plan
    from utmost.publish.workloads.workload import Workload

Frame = TypeVar("Frame")


@overload
def release(
    table: "CountedTable | NDArray[Any]",
    promise: "Plan | Workload",
    *,
    epsilon: Number | Level,
    once: bool = False,
    confidence: Number = DEFAULT_CONFIDENCE,
    randomness: Randomness | None = None,
) -> "Answer[NoisySums]": ...


@overload
def release(
    table: CountedFacts | Path,
    promise: Promise,
    *,
    epsilon: Number | Level,
    once: bool = False,
    confidence: Number = DEFAULT_CONFIDENCE,
    randomness: Randomness | None = None,
) -> Answer[Any]: ...


@overload
def release(
    table: Mapping[str, Any],
    promise: Promise,
    *,
    epsilon: Number | Level,
    once: bool = False,
    confidence: Number = DEFAULT_CONFIDENCE,
    randomness: Randomness | None = None,
) -> Answer[Table]: ...


@overload
def release(
    table: Frame,
    promise: Promise,
    *,
    epsilon: Number | Level,
    once: bool = False,
    confidence: Number = DEFAULT_CONFIDENCE,
    randomness: Randomness | None = None,
) -> Answer[Frame]: ...


@progress_bar("Noising")
def release(
    table: Any,
    promise: "Promise | Plan | Workload",
    *,
    epsilon: Number | Level,
    once: bool = False,
    confidence: Number = DEFAULT_CONFIDENCE,
    randomness: Randomness | None = None,
) -> Answer[Any]:
    """Release a table under a promise, at an epsilon. Everything is checked before noise is drawn.

    The process remembers the answer and the table while it runs: ``answer.release.at`` gives answers at other levels,
    and all answers together cost the largest level. `Ledger.publish` remembers them permanently.

    Args:
        table: Dict of columns, dataframe of any library, table read from a file, or counted table, whose unit is proved
            and whose labels are public. A frame that an engine evaluates (Polars' lazy frames, DuckDB's relations,
            Spark's dataframes) needs an ``id_column`` and gives a frame of the same kind. A large file gets its noise
            while the released file is written. For a plan, the table may also be an array of integers, one for each
            cell of the plan's domain.
        promise: Promise, which states everything that is decided beforehand; `Promise.of_counted` makes one for a
            counted table. For a counted table it may also be the plan of the sums to measure, or a workload, for which
            `choose_plan` makes the plan.
        epsilon: Privacy level that the whole table may spend. With a stopping rule (`within`) in the promise it is the
            largest level: the release stops at the first level that is accurate enough.
        once: Whether to add the least noise for this one level. If True, nothing is remembered, and ``answer.release``
            is refused. A workload is then released by a plan, or as one table if that has a smaller error
            (`Plan.once_errors`). The one table has all cells, or all one-way tables and the other wanted tables.
        confidence: Confidence of the margins.
        randomness: Source of random bits, the operating system's if left out; a seeded source is refused.

    Returns:
        The answer. The answer's table is of the kind of the argument, with released values, and margins in additional
        columns. For a plan or a workload the answer is a `NoisySums`, which is saved as one document, unless ``once``
        released one table (``answer.is_by_plan`` is then False). In both cases ``answer["sex age"]`` is a wanted table.

    Raises:
        NotDeclared: if a column is neither released, nor public, nor dropped.
        BadTable: if a column is missing, if a cell cannot be released (the message names row and column), if the table
            has no row, or if a public column repeats a released one.
        OutOfRange: if the promise does not fit the table: for example, if its unit is smaller than the proved one.
        NotALevel, NotANumber, WrongKind: if an argument is invalid.
        Unsupported: if the noise exists for a single level only and ``once`` is False.
        PromiseBroken: if the source of randomness is not secure.

    Warns:
        LittleProtection: if the level is so large that it protects practically nobody.
        RowsObserved: if the list of rows was observed in the data.
        RowsSorted: if the rows are sorted by a released column, and by no public one.

    Source: [koufogiannis2015], Theorems 1, 11 and 12; with ``once`` [geng2012], Theorems 4, 6, 11 and 12.

    >>> from utmost import Unit
    >>> table, promise = {"group": ["A", "B"], "n": [601, 370]}, Promise("n", public="group", unit=Unit(5, 1))
    >>> answer = release(table, promise, epsilon="1/2")
    >>> answer.release.at(2).table["n_margin"], answer.release.levels
    ([7, 7], (level(epsilon='1/2'), level(epsilon=2)))
    >>> release(table, promise, epsilon=8, once=True).distribution
    DiscreteStaircase(epsilon=8, sensitivity=5, step=1)

    A counted table is released by a plan:

    >>> import numpy as np
    >>> from utmost.workloads import Domain, Plan, Workload
    >>> domain = Domain(department=list("AB"), sex=["men", "women"])
    >>> plan = Plan(domain, Unit(1, 1), {"department sex": 1})
    >>> answer = release(np.array([[512, 89], [353, 17]]), plan, epsilon=1)
    >>> answer["department"]["count_margin"].tolist(), answer.total({"sex": "men"}).margin
    ([4, 4], 4)

    A counted table is also released by a workload, which lists the sums that should be accurate:

    >>> from utmost.counting import CountedTable
    >>> counted = CountedTable(domain, np.array([[512, 89], [353, 17]]), Unit(1, 1))
    >>> answer = release(counted, Workload(domain, {"department": 1, "": 1}), epsilon=1)
    >>> answer["department"]["count_margin"].tolist()
    [3, 3]
    """
    at, sure, bits = level(epsilon), read_confidence(confidence), secure(randomness)
    if isinstance(promise, Promise):
        checked = promise_for(promise, table)
    else:
        from utmost.publish.releases.planned_tables import planned

        table, checked = planned(table, promise, at, truth(once, "once"))
    if truth(once, "once"):
        return checked_table(table, checked.once(), at, sure).released(bits)
    opened = {"identity": entropy(16).hex(), "sealed": False, "derived": False, "witness": False}
    memory = Ledger(open_log(VolatileStore(), lambda _: Key(entropy(32)), lambda _: None, opened), bits)
    return memory.publish(PROCESS_NAME, table, checked, epsilon=at).with_confidence(sure)


def promised_statement(table: Any, promise: Promise, at: Level) -> dict[str, Any]:
    """Return the statement that a release with a stopping rule would have at its last level; draw nothing."""
    check_release(table, promise, at)
    source = new_source(table, promise)
    promise = source.published_promise
    return Statement(promise, promise.at(at), source.rows, None, None).facts()


def check_release(table: Any, promise: Promise, at: Level) -> None:
    """Check a table as `release` and `Ledger.publish` do before they draw."""
    promise.check(table)
    native = promise.rows_of(table)
    if is_engine_frame(native):
        checked_table(table, promise, at)
        return
    source = new_source(table, promise, native)
    if source.items is not None:
        source.check_distinct(item_tags(entropy(SECRET_BYTES), [source.items]))
    source.promise.lasting_noise.check_level(at)
    warn_of_weakness(promise.at(at).weakness())
    warn_of_rows(source.promise.rows)
