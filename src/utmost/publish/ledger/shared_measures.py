"""Several measures of the same individuals at one level that they share, as requests to a ledger."""

from collections.abc import Mapping, Sequence
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.promises.promise import Promise, fitting
from utmost.publish.workloads.planning.shared_level import SharedLevel, levels_of_tables
from utmost.tables.frames.any_table import is_engine_table


def check_one_dataset(requests: Sequence[PublishRequest]) -> None:
    """Check that all requests spend one dataset, and declare alike whether it is of other individuals."""
    if len({(request.dataset, request.independent) for request in requests}) != 1:
        remedy = "Name one dataset for all, and say of all alike whether it is of other individuals."
        raise OutOfRange("measures that are published together spend one dataset", where="dataset", remedy=remedy)


def at_hand(table: Any) -> Any:
    """A table whose noise the ledger draws itself."""
    if is_engine_table(table):
        remedy = "Count it by ut.count_table, which the engine does where the rows are."
        raise Unsupported("measures are published of tables at hand", came="an engine's frame", remedy=remedy)
    return table


def shared_requests(
    tables: Mapping[str, CountedTable],
    shared: SharedLevel,
    epsilon: Number | Level | None,
    alpha: Number | None,
    *,
    dataset: str,
    independent: bool,
) -> list[PublishRequest]:
    """The requests to publish measures at a level that they share, each with its promise and its own level.

    Raises:
        OutOfRange, WrongKind: for other names than those of the strategies, and for an argument of another kind.
    """
    _, levels = levels_of_tables(tables, shared, epsilon, alpha)
    return [
        PublishRequest(
            name=name,
            promise=fitting(Promise(noise=strategy, part=tables[name].part), tables[name]),
            level=levels[name],
            dataset=dataset,
            version=None,
            request=None,
            independent=independent,
        )
        for name, strategy in shared.strategies.items()
    ]
