"""Tables of several amounts in a ledger: each amount is one release, with an equal budget share.

The release of an amount is named after the table and the amount, such as "wages: income". All releases of a table are
published, relaxed and viewed together, and spend the budget of one dataset.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from utmost.core.exact.arguments import mapping
from utmost.core.exact.levels import Level
from utmost.errors import NotPublished, OutOfRange
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.budgets import Expense, budget_with
from utmost.publish.ledger.event_log import EventLog, Transaction
from utmost.publish.ledger.means_names import release_name, releases_of_means
from utmost.publish.ledger.publishing import check_publishable
from utmost.publish.ledger.relaxing import check_relaxable
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest
from utmost.publish.ledger.spending import Budget
from utmost.publish.ledger.state import Published
from utmost.publish.promises.promise import Promise
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.measures_table import MeasuresTable, check_tables
from utmost.publish.releases.source import new_source


def means_requests(
    name: str,
    tables: Mapping[str, CountedTable],
    at: Level,
    *,
    dataset: str | None = None,
    version: int | None = None,
    request: str | None = None,
    independent: bool = False,
) -> list[PublishRequest]:
    """Make the requests to publish a table of several amounts: one for each amount, with an equal budget share."""
    check_tables(tables)
    return [
        PublishRequest(
            release_name(name, amount),
            Promise.of_counted(table),
            at.scaled(Fraction(1, len(tables))),
            name if dataset is None else dataset,
            version,
            None if request is None else release_name(request, amount),
            independent,
        )
        for amount, table in tables.items()
    ]


def means_answer_requests(
    releases: Sequence[Published], name: str, at: Level, version: int | None, tables: Mapping[str, CountedTable] | None
) -> list[AnswerRequest]:
    """Make the requests to answer a table of several amounts at a level; ``tables`` is None for a view."""
    found = releases_of_means(releases, name, version)
    if not found:
        required = "name must be the name of a table of several amounts in the ledger"
        raise NotPublished(
            required, came=repr(name), remedy="Publish it with publish_means, on the command line with several --mean."
        )
    if tables is not None:
        check_tables(tables)
        if set(tables) != set(found):
            required = f"all amounts of a table must be relaxed in one call: {', '.join(found)}"
            raise OutOfRange(
                required, came=", ".join(tables), where=repr(name), remedy="Pass the counted table of each amount."
            )
    share = at.scaled(Fraction(1, len(found)))
    return [AnswerRequest(release.name, share, release.version) for release in found.values()]


def by_release(name: str, tables: Mapping[str, CountedTable]) -> dict[str, CountedTable]:
    return {release_name(name, amount): table for amount, table in mapping(tables, "tables").items()}


def table_of(name: str, answers: Mapping[str, Answer[Any]]) -> MeasuresTable:
    return MeasuresTable({of.removeprefix(release_name(name, "")): answer.table for of, answer in answers.items()})


def rehearsed_publication(
    log: EventLog, requests: Sequence[PublishRequest], tables: Mapping[str, CountedTable]
) -> Budget:
    """Return the budget as it would be after several tables are published together; check everything, draw nothing."""
    wanted = [(request, new_source(tables[request.name], request.promise)) for request in requests]

    def check(transaction: Transaction) -> Budget:
        new = check_publishable(log, transaction, wanted)
        return budget_with(transaction.state, requests[0].dataset, [Expense.of_request(request) for request in new])

    return log.read(check)


def rehearsed_relaxation(
    log: EventLog, requests: Sequence[AnswerRequest], tables: Mapping[str, CountedTable]
) -> Budget:
    """Return the budget as it would be after several releases are relaxed together; check everything, draw nothing."""

    def check(transaction: Transaction) -> Budget:
        releases = [transaction.state.release(request.name, request.version) for request in requests]
        expenses = [
            Expense.of_answer(release, request.level)
            for request, release in zip(requests, releases, strict=True)
            if not check_relaxable(log, transaction, request, tables[request.name])
        ]
        return budget_with(transaction.state, releases[0].dataset, expenses)

    return log.read(check)
