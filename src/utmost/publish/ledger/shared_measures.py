"""Make the requests to publish several measures of the same individuals, which share one level."""

from collections.abc import Mapping

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.promises.promise import promise_for
from utmost.publish.workloads.planning.shared_level import SharedLevel, levels_of_tables


def shared_requests(
    tables: Mapping[str, CountedTable],
    shared: SharedLevel,
    *,
    dataset: str,
    epsilon: Number | Level | None = None,
    independent: bool = False,
) -> list[PublishRequest]:
    """Make requests to publish several measures of the same individuals, each by its plan and its budget share.

    `publish_measures` of a `Ledger` or of a service's client publishes the measures in one transaction, all or none. If
    the service requires approval, `propose` of the client first proposes each request to a second person.

    Args:
        tables: Dict from the name of each release to its table, as `count_measures` returns it.
        shared: Plan and budget share of each of these releases.
        dataset: Dataset whose budget all measures spend.
        epsilon: Level that all measures together may spend; the level of ``shared`` if left out.
        independent: Whether no individual of these data is in another dataset of the ledger.

    Raises:
        OutOfRange, WrongKind: if the names are not those of the plans, or if an argument has the wrong kind.

    Source: composition; proofs/theory/counting.md, "One level for several measures".

    >>> from tempfile import TemporaryDirectory
    >>> from utmost.ledger import Ledger
    >>> from utmost.workloads import Workload, choose_plan
    >>> from utmost.counting import Counting, count, count_measures, sum
    >>> from utmost.workloads import share_level
    >>> sales = {"user": ["ann", "bob", "bob"], "shop": ["A", "A", "B"], "paid": [3, 7, 9]}
    >>> measures = {"visits": count(2), "spent": sum("paid", per_cell=20)}
    >>> tables = count_measures(sales, {"shop": ["A", "B"]}, Counting("user", at_most=2), measures)
    >>> wanted = {name: Workload(table.domain, {"shop": 1}) for name, table in tables.items()}
    >>> plans = {name: choose_plan(wanted[name], table.unit, epsilon=1) for name, table in tables.items()}
    >>> shared = share_level(plans, epsilon=1)
    >>> with TemporaryDirectory() as here, Ledger.open(f"{here}/releases.db", create=True) as ledger:
    ...     first = ledger.publish_measures(shared_requests(tables, shared, dataset="sales"), tables)
    ...     relaxed = ledger.relax_shared(tables, shared, epsilon=2)
    ...     print({name: str(ledger.spent(name).epsilon) for name in tables}, ledger.spent(dataset="sales").epsilon)
    {'visits': '1', 'spent': '1'} 2
    """
    _, levels = levels_of_tables(tables, shared, epsilon)
    promises = {name: promise_for(plan, tables[name]) for name, plan in shared.plans.items()}
    return [
        PublishRequest(
            name=name,
            promise=promise,
            level=levels[name],
            dataset=dataset,
            independent=independent,
        )
        for name, promise in promises.items()
    ]
