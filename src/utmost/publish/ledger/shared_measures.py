"""Several measures of the same individuals, published and relaxed in one transaction: all of them, or none."""

from collections.abc import Mapping
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.book import Book, Page
from utmost.publish.ledger.budgets import check_budget, spending_with
from utmost.publish.ledger.publishing import ToPublish
from utmost.publish.ledger.relaxing import Answered, ToRelax
from utmost.publish.ledger.requests import Brought, Publishing
from utmost.publish.ledger.state import Published
from utmost.publish.promises.promise import Promise, fitting
from utmost.publish.releases.workload_release import WorkloadRelease
from utmost.publish.workloads.planning.shared_level import SharedLevel, levels_of_tables
from utmost.tables.frames.adapters import is_engine_table

Answers = list[Answered | None]
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
        >>> from utmost.ledger import Ledger
        >>> from utmost.workloads import Workload, strategy
        >>> from utmost.publish.counting.counted_measures import count, sum
        >>> from utmost.counting import count_table
        >>> from utmost.workloads import share_level
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
        check_one_dataset(measures)
        wanted = list[ToPublish]()
        for name, measure in measures.items():
            request = Publishing.read(name, measure)
            rows = request.promise.rows_of(_at_hand(measure.table))
            wanted.append(ToPublish(*request.with_values(rows)))
        loosest = max((to_publish.request for to_publish in wanted), key=lambda request: request.level)
        loosest.promise.noise.warn(loosest.level)
        return self._answered_together({to_publish.request.name: to_publish for to_publish in wanted})

    def _answered_together(self, wanted: Mapping[str, ToPublish | ToRelax]) -> dict[str, tuple[int, Any]]:
        """What is asked for, as it is handed out, with its version: stored or drawn in one transaction."""

        def stored(page: Page) -> Answers:
            return [request.stored(page) for request in wanted.values()]

        def drawn(page: Page) -> Answers:
            answers = stored(page)
            pairs = list(zip(wanted.values(), answers, strict=True))
            # The budget must have room for all of them before anything is drawn.
            spends = [request.spends(page) for request, answer in pairs if answer is None]
            for dataset in {dataset for dataset, *_ in spends}:
                spent = [(at, part) for of, at, part, _ in spends if of == dataset]
                instead = [release for *_, release in spends if release is not None]
                check_budget(page.state, dataset, spending_with(page.state, dataset, spent, instead=instead))
            return [request.drawn(page, self._randomness) if answer is None else answer for request, answer in pairs]

        look = all(request.may_be_stored(self._book.seen) for request in wanted.values())
        answers = self._book.answer(lambda page: _whole(stored(page)), drawn, look=look)
        published: dict[str, tuple[int, Any]] = {}
        for (name, request), answered in zip(wanted.items(), answers, strict=True):
            assert answered is not None, "all are there, or were drawn"
            published[name] = answered[0], request.handed(*answered[1:])
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
            NotPublished, DataChanged, BudgetExceeded, Quarantined: as `Ledger.relax`. Then nothing is spent.
        """
        wanted = dict[str, ToRelax]()
        for name, measure in measures.items():
            release, table = _known(self._book, name, measure.version), _at_hand(measure.table)
            wanted[name] = ToRelax.of(self._book, release, release.version, measure.level, table, None)
        loosest = max(wanted.values(), key=lambda to_relax: to_relax.level)
        loosest.release.noise.warn(loosest.level)
        return {name: answer for name, (_, answer) in self._answered_together(wanted).items()}


def check_one_dataset(measures: Mapping[str, Brought]) -> str:
    """The dataset that all measures spend, which declare alike whether it is of other individuals."""
    whose = {(name if it.dataset is None else it.dataset, it.independent) for name, it in measures.items()}
    if len(whose) != 1:
        remedy = "Name one dataset for all, and say of all alike whether it is of other individuals."
        raise OutOfRange("measures that are published together spend one dataset", where="dataset", remedy=remedy)
    return whose.pop()[0]


def _at_hand(table: Any) -> Any:
    """A table whose noise the ledger draws itself."""
    if is_engine_table(table):
        remedy = "Count it by ut.count_table, which the engine does where the rows are."
        raise Unsupported("measures are published of tables at hand", came="an engine's frame", remedy=remedy)
    return table


def _known(book: Book, name: str, version: int | None) -> Published:
    return book.read(lambda page: page.state.release(name, version))


def _whole(answers: Answers) -> Answers | None:
    """The answers where all of them are there."""
    return None if any(answer is None for answer in answers) else answers


def shared_measures(
    tables: Any,
    shared: Any,
    epsilon: Number | Level | None,
    alpha: Number | None,
    dataset: str | None = None,
    independent: bool = False,
) -> dict[str, Brought]:
    """The measures of a level that they share, each with its promise and its own level.

    Raises:
        OutOfRange, WrongKind: for other names than those of the strategies, and what is no `SharedLevel`.
    """
    _, levels = levels_of_tables(tables, shared, epsilon, alpha)
    measures: dict[str, Brought] = {}
    for name, strategy in shared.strategies.items():
        promise = fitting(Promise(strategy=strategy, part=tables[name].part), tables[name])
        measures[name] = Brought(tables[name], levels[name], promise, dataset, independent)
    return measures
