"""Several measures of the same individuals, published and relaxed in one transaction: all of them, or none."""

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

from utmost.errors import OutOfRange, Unsupported
from utmost.laws.exact import Level, Number, level, wrong_kind
from utmost.laws.sampling.random_bits import Randomness
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.book import Book, Page
from utmost.publish.ledger.budgets import check_budget, spending_with
from utmost.publish.ledger.publish_request import Brought, PublishRequest
from utmost.publish.ledger.publishing import Answered, already_published, publish_new
from utmost.publish.ledger.relaxing import Relaxed
from utmost.publish.ledger.requests import answer_beside, read_request, release_source
from utmost.publish.ledger.source import Source, commitment
from utmost.publish.ledger.state import Published
from utmost.publish.promises.promise import promise_of
from utmost.publish.promises.promised_noise import Response
from utmost.publish.releases.workload_release import WorkloadRelease
from utmost.publish.tables.adapters import engine_door
from utmost.publish.workloads import SharedLevel

T = TypeVar("T")

Answers: TypeAlias = list[T | None]
"""For each measure, what is stored of it, or drawn; None where there is nothing yet."""


class PublishingMeasures:
    """What publishes several measures at one level that they share; `Ledger` does."""

    __slots__ = ()

    _book: Book
    _randomness: Randomness

    def publish_shared(
        self,
        tables: Mapping[str, CountedTable],
        shared: SharedLevel,
        *,
        dataset: str,
        epsilon: Number | Level | None = None,
        alpha: Number | None = None,
        independent: bool = False,
    ) -> dict[str, WorkloadRelease]:
        """Publish several measures, each by its strategy at its share of one level, in one transaction.

        Each is a release of its own name, to be viewed, relaxed and saved by itself. Nobody sees some of them without
        the others, whatever is cut off and whenever: their events are written together. Asked for again it gives the
        same answers; a measure that was published alone before, by the same strategy at the same level, keeps its own.

        Args:
            tables: by the name of the release, as `count_table` with ``measures`` gives them.
            shared: the strategies and their shares, by the same names.
            dataset: whose budget they spend.
            epsilon, alpha: what all together may spend; the level of ``shared`` when left out.
            independent: as for `Ledger.publish`.

        Raises:
            OutOfRange: for other names than those of the strategies; and all that `Ledger.publish` raises. Then nothing
                is spent.

        Source: composition; docs/theory/counting.md, "One level for several measures".

        >>> from tempfile import TemporaryDirectory
        >>> from utmost import Ledger, Workload, count, count_table, strategy, sum
        >>> from utmost.publish.workloads import share_level
        >>> sales = {"user": ["ann", "bob", "bob"], "shop": ["A", "A", "B"], "paid": [3, 7, 9]}
        >>> measures = {"visits": count(2), "spent": sum("paid", per_cell=20)}
        >>> tables = count_table(sales, person="user", domain={"shop": ["A", "B"]}, at_most=2, measures=measures)
        >>> wanted = {name: Workload(table.domain, {"shop": 1}) for name, table in tables.items()}
        >>> plans = {name: strategy(wanted[name], table.unit, epsilon=1) for name, table in tables.items()}
        >>> shared = share_level(plans, epsilon=1)
        >>> with TemporaryDirectory() as here, Ledger.open(f"{here}/releases.db", create=True) as ledger:
        ...     strict = ledger.publish_shared(tables, shared, dataset="sales")
        ...     loose = ledger.relax_shared(tables, shared, epsilon=2)
        ...     print({name: str(ledger.spent(name).epsilon) for name in tables}, ledger.spent(dataset="sales").epsilon)
        {'visits': '1', 'spent': '1'} 2
        """
        return self.publish_measures(shared_measures(tables, shared, epsilon, alpha, dataset, independent))

    def publish_measures(self, measures: Mapping[str, Brought]) -> dict[str, Any]:
        """Publish several releases of one dataset in one transaction, each with a promise and a level of its own.

        Args:
            measures: by the name of the release.

        Raises:
            OutOfRange: for measures of several datasets. Unsupported: for a frame of an engine. And all that
                `Ledger.publish` raises. Then nothing is spent.
        """
        return {name: answer for name, (_, answer) in self.published_versions(measures).items()}

    def published_versions(self, measures: Mapping[str, Brought]) -> dict[str, tuple[int, Any]]:
        """`publish_measures`, with the version of each release, which another publisher may follow at once."""
        dataset, requests = check_one_dataset(measures), list[tuple[PublishRequest, Source]]()
        for name, measure in measures.items():
            request = PublishRequest.read(name, measure)
            request.promise.noise.check()
            rows = request.promise.rows_of(_at_hand(measure.table))
            requests.append(read_request(request, rows, lambda look: self._book.read(lambda page: look(page.state))))
        loosest, _ = max(requests, key=lambda request: request[0].level)
        loosest.promise.noise.warn(loosest.level)

        def stored(page: Page) -> Answers[Answered]:
            return [already_published(page, request, source, None) for request, source in requests]

        def drawn(page: Page) -> Answers[Answered]:
            answers = stored(page)
            new = [request for (request, _), answer in zip(requests, answers, strict=True) if answer is None]
            # The budget must have room for all of them before anything is drawn.
            spent = [(request.level, request.promise.part) for request in new]
            check_budget(page.state, dataset, spending_with(page.state, dataset, spent))
            return [
                publish_new(page, request, source, self._randomness, None) if answer is None else answer
                for (request, source), answer in zip(requests, answers, strict=True)
            ]

        look = all(request.may_be_stored(self._book.seen) for request, _ in requests)
        answers = self._book.answer(lambda page: _whole(stored(page)), drawn, look=look)
        published: dict[str, tuple[int, Any]] = {}
        for (request, source), answered in zip(requests, answers, strict=True):
            assert answered is not None, "all are there, or were drawn"
            (version, response), noise, part = answered, request.promise.noise, request.promise.part
            answer = answer_beside(source, noise, request.level, request.kind, response, part)
            published[request.name] = version, answer
        return published

    def relax_shared(
        self,
        tables: Mapping[str, CountedTable],
        shared: SharedLevel,
        *,
        epsilon: Number | Level | None = None,
        alpha: Number | None = None,
    ) -> dict[str, WorkloadRelease]:
        """Relax several measures, each to its share of one level, in one transaction: together they cost that level.

        Args:
            tables: by the name of the release, those that were published.
            shared: by which they were published, or with other shares.
            epsilon, alpha: what all together may spend; the level of ``shared`` when left out.

        Raises:
            OutOfRange: for other names than those of the strategies, and for shares at which a measure has spent more
                already; and all that `Ledger.relax` raises. Then nothing is spent.
        """
        measures = shared_measures(tables, shared, epsilon, alpha)
        for name, measure in measures.items():
            if _known(self._book, name, None).spent > measure.level:
                remedy = (
                    "Pass the shares that it was published by: on the command line the same plans, --weight, --up-to."
                )
                required = "a measure must be relaxed to no less than it has spent"
                raise OutOfRange(required, came=measure.level, where=repr(name), remedy=remedy)
        return self.relax_measures(measures)

    def relax_measures(self, measures: Mapping[str, Brought]) -> dict[str, Any]:
        """Relax several releases, each to a level of its own, in one transaction.

        Args:
            measures: by the name of the release; what each promises is known.

        Raises:
            UnknownRelease, DataChanged, BudgetExceeded, Quarantined: as `Ledger.relax`. Then nothing is spent.
        """
        requests = list[Relaxed]()
        for name, measure in measures.items():
            release = _known(self._book, name, measure.version)
            source = release_source(release, _at_hand(measure.table))
            committed = commitment(self._book.key, name, release.version, source)
            requests.append(Relaxed(release, release.version, measure.level, source, committed))
        loosest = max(requests, key=lambda relaxed: relaxed.level)
        loosest.release.noise.warn(loosest.level)

        def stored(page: Page) -> Answers[Response]:
            return [request.stored(page, None) for request in requests]

        def drawn(page: Page) -> Answers[Response]:
            answers = stored(page)
            pairs = list(zip(requests, answers, strict=True))
            new = [
                (page.state.release(request.release.name, request.version), request)
                for request, answer in pairs
                if answer is None
            ]
            for dataset in {release.dataset for release, _ in new}:
                own = [(release, request) for release, request in new if release.dataset == dataset]
                spent = [(max(request.level, release.spent), release.part) for release, request in own]
                after = spending_with(page.state, dataset, spent, instead=[release for release, _ in own])
                check_budget(page.state, dataset, after)
            return [
                request.made(page, self._randomness, None) if answer is None else answer for request, answer in pairs
            ]

        look = all(request.may_be_stored for request in requests)
        answers = self._book.answer(lambda page: _whole(stored(page)), drawn, look=look)
        about = [(request.release, request.level, request.source) for request in requests]
        return {
            release.name: answer_beside(source, release.noise, level_of, release.kind, answer, release.part)
            for (release, level_of, source), answer in zip(about, answers, strict=True)
            if answer is not None
        }


def check_one_dataset(measures: Mapping[str, Brought]) -> str:
    """The dataset that all measures spend, which declare alike whether it is of other individuals.

    Raises:
        OutOfRange: where they do not say the same.
    """
    whose = {(name if it.dataset is None else it.dataset, it.independent) for name, it in measures.items()}
    if len(whose) != 1:
        remedy = "Name one dataset for all, and say of all alike whether it is of other individuals."
        raise OutOfRange("measures that are published together spend one dataset", where="dataset", remedy=remedy)
    return whose.pop()[0]


def _at_hand(table: Any) -> Any:
    """A table whose noise the ledger draws itself.

    Raises:
        Unsupported: for a frame that an engine evaluates, which is written in parts.
    """
    if engine_door(table, "engine_ledger") is not None:
        remedy = "Count it by ut.count_table, which the engine does where the rows are."
        raise Unsupported("measures are published of tables at hand", came="an engine's frame", remedy=remedy)
    return table


def _known(book: Book, name: str, version: int | None) -> Published:
    return book.read(lambda page: page.state.release(name, version))


def _whole(answers: Answers[T]) -> Answers[T] | None:
    """The answers where all of them are there."""
    return None if any(answer is None for answer in answers) else answers


def shared_measures(
    tables: Any, shared: Any, epsilon: Any, alpha: Any, dataset: str | None = None, independent: bool = False
) -> dict[str, Brought]:
    """The measures of a level that they share, each with its promise and its own level.

    Raises:
        OutOfRange, WrongKind: for other names than those of the strategies, and what is no `SharedLevel`.
    """
    if not isinstance(shared, SharedLevel):
        raise wrong_kind("shared", "a SharedLevel", shared)
    if not isinstance(tables, Mapping) or set(tables) != set(shared.strategies):
        remedy = f"The strategies are {', '.join(shared.strategies)}."
        raise OutOfRange("there must be a table for each strategy", came="others", remedy=remedy)
    levels = shared.levels(shared.level if epsilon is None and alpha is None else level(epsilon, alpha))
    return {
        name: Brought(
            tables[name], levels[name], promise_of(tables[name], None, {"strategy": strategy}), dataset, independent
        )
        for name, strategy in shared.strategies.items()
    }
