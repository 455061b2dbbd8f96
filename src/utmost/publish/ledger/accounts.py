"""The accounts of a ledger: what has been said and spent, what may still be, and whether all is as it was written."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from utmost.core.exact.arguments import truth
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.exact.progress_bar import progress_bar
from utmost.errors import OutOfRange
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.counted_facts import Part
from utmost.publish.ledger.budgets import charged, check_known, limited, rehearsed
from utmost.publish.ledger.event_log import EventLog
from utmost.publish.ledger.events import Event, check_name
from utmost.publish.ledger.means_tables import (
    by_release,
    means_asked,
    means_requests,
    rehearsed_publication,
    rehearsed_relaxation,
)
from utmost.publish.ledger.publishing import check_publishable
from utmost.publish.ledger.relaxing import check_relaxable
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest
from utmost.publish.ledger.spending import Budget, Spending
from utmost.publish.ledger.state import Published, State
from utmost.publish.ledger.verification import (
    Status,
    Verification,
    check_receipt,
    history,
    receipt,
    status_of,
    verified_with_witness,
)
from utmost.publish.promises.promise import Promise, promise_for
from utmost.publish.releases.source import new_source
from utmost.publish.workloads.planning.plan import Plan
from utmost.tables.frames.any_table import is_engine_table

T = TypeVar("T")


class Accounts:
    """The questions that a ledger answers without drawing anything; `Ledger` inherits them."""

    __slots__ = ()

    _log: EventLog

    def rehearse(
        self,
        name: str,
        *,
        epsilon: Number | Level,
        version: int | None = None,
        dataset: str | None = None,
        independent: bool = False,
        part: Part | None = None,
        table: Any = None,
        promise: Promise | Plan | None = None,
        request: str | None = None,
    ) -> Budget:
        """The budget as it would stand after a call at this level; nothing is drawn, written or spent.

        Args:
            name, version: Release, which need not be there yet; the newest version if left out.
            epsilon: the level.
            dataset, independent, part: Facts of a release that is not there yet, as for `publish`.
            table, promise: Table and promise, for which everything is checked that `publish` checks; a table alone as
                `relax` checks it. A table that an engine evaluates is not read.
            request: Name of the request, as for `publish`.

        Raises:
            BudgetExceeded: where the call would raise it.
            DataChanged, AlreadyPublished: with a table, where `publish` or `relax` would raise it.
            OutOfRange: where a limit waits for a dataset that no release names.
        """
        at = level(epsilon)
        if promise is not None and not is_engine_table(table):
            declared = promise_for(promise, table)
            source = new_source(table, declared.rows_of(table), declared)
            own = name if dataset is None else dataset
            check_publishable(self._log, PublishRequest(name, declared, at, own, version, request, independent), source)
            independent = True  # it was found that the dataset allows it
        elif table is not None and not is_engine_table(table):
            check_relaxable(self._log, AnswerRequest(name, at, version), table)
        return self._look(
            lambda state: rehearsed(
                state, name, at, dataset=dataset, independent=independent, version=version, part=part
            )
        )

    def rehearse_means(
        self,
        name: str,
        tables: Mapping[str, CountedTable],
        *,
        epsilon: Number | Level,
        relax: bool = False,
        dataset: str | None = None,
        version: int | None = None,
        request: str | None = None,
        independent: bool = False,
    ) -> Budget:
        """The budget as it would stand after `publish_means`, or `relax_means`; nothing is drawn, written or spent.

        Args:
            name, tables, epsilon, dataset, version, request, independent: Arguments of `publish_means`.
            relax: Whether the table is there and is to be relaxed.

        Raises:
            As the call would.
        """
        if truth(relax, "relax"):
            answers = means_asked(self.releases, name, level(epsilon), version, tables)
            return rehearsed_relaxation(self._log, answers, by_release(name, tables))
        requests = means_requests(
            name,
            tables,
            level(epsilon),
            dataset=dataset,
            version=version,
            request=request,
            independent=independent,
        )
        return rehearsed_publication(self._log, requests, by_release(name, tables))

    def levels(self, name: str, version: int | None = None) -> tuple[Level, ...]:
        """The levels with a stored response, strictest first."""
        return self._look(lambda state: state.release(name, version).levels)

    def has_request(self, request: str) -> bool:
        """Whether a request of this name was answered."""
        return self._look(lambda state: request in state.requests)

    def spent(self, name: str | None = None, *, dataset: str | None = None) -> Level | None:
        """The level that has been spent: by all versions of a release, or by all releases of a dataset.

        Returns:
            The sum of their largest levels, rounded up where it cannot be written exactly; None where nothing is spent.
        """
        if (name is None) == (dataset is None):
            remedy = 'Pass ledger.spent("admissions"), or ledger.spent(dataset="students").'
            raise OutOfRange("exactly one of name and dataset must be given", came=(name, dataset), remedy=remedy)
        if dataset is not None:
            check_name(dataset, "dataset")
            return self._look(lambda state: state.spending(dataset)).level
        assert name is not None
        mine = self._look(lambda state: state.named(name) or [state.release(name, None)])
        return Spending.of(release.spent for release in mine).level

    def budget(self, dataset: str, limit: Number | Level | None = None) -> Budget:
        """The budget of a dataset, after setting its limit if one is given.

        A limit below what is spent stops all further spending. While no release names a dataset that has a limit,
        releases in datasets without one are refused.

        Raises:
            NotPublished: where no limit is given, and the ledger has no dataset of this name.

        Warns:
            BudgetUnused: where the ledger holds releases, and none of this dataset.
            LimitBelowSpent: for a limit below what is spent.
        """
        check_name(dataset, "dataset")
        if limit is None:

            def known(state: State) -> Budget:
                check_known(state, dataset)
                return Budget(dataset, state.limits.get(dataset), state.spending(dataset))

            return self._look(known)
        return limited(self._log, dataset, level(limit))

    def charge(self, dataset: str, *, epsilon: Number | Level, what: str, independent: bool = False) -> Budget:
        """Charge a dataset with what another tool has spent, so that one budget holds for all tools.

        The same charge made again, after an interruption say, is written once.

        Args:
            dataset: Dataset whose budget is spent.
            epsilon: Level of pure differential privacy that was spent, against the same neighbouring datasets as all
                releases of the dataset. The ledger believes it.
            what: Description of the spending, in words that no other charge of this dataset has: "OpenDP, mean age,
                2025".
            independent: Whether a dataset that the ledger does not know is of other people than all that it knows.

        Returns:
            The budget after it.

        Raises:
            BudgetExceeded: where the dataset's limit does not allow it; then nothing is written.
            AlreadyPublished: where the same words were charged at another level.
            OutOfRange: for words that cannot be printed, for a name that reads as that of another dataset, and for a
                dataset that the ledger does not know, beside others that it knows, without ``independent``.
            Quarantined: in a ledger that was rolled back.

        Source: sequential composition, [dwork2014], Theorem 3.14.

        >>> import tempfile
        >>> from utmost import Ledger
        >>> with tempfile.TemporaryDirectory() as folder, Ledger.open(f"{folder}/l.db", create=True) as ledger:
        ...     _ = ledger.budget("visits", limit=2)
        ...     ledger.charge("visits", epsilon="1/2", what="OpenDP, mean age, 2025")
        Budget(dataset='visits', limit=level(epsilon=2), spent=1/2, remaining=3/2)
        """
        check_name(dataset, "dataset")
        apart = truth(independent, "independent")
        return charged(self._log, dataset, level(epsilon), check_name(what, "what"), is_independent=apart)

    def margin(
        self,
        name: str,
        *,
        epsilon: Number | Level,
        version: int | None = None,
        confidence: Number = DEFAULT_CONFIDENCE,
    ) -> int | float:
        """The distance within which a released value lies of the true one, with this confidence, at a level."""
        return self.release(name, version).margin(level(epsilon), confidence)

    def release(self, name: str, version: int | None = None) -> Published:
        """One version of a release, or the newest.

        Raises:
            NotPublished: where there is none.
        """
        return self._look(lambda state: state.release(name, version))

    @property
    def releases(self) -> tuple[Published, ...]:
        """Every version of every release, in the order published."""
        return self._look(lambda state: tuple(state.releases.values()))

    def history(self, name: str | None = None, *, dataset: str | None = None) -> tuple[Event, ...]:
        """The events, oldest first: all, or those of a release or a dataset.

        Raises:
            NotPublished: where the ledger has no release or dataset of this name.
        """
        return self._log.read(lambda transaction: history(transaction, name, dataset))

    def status(self) -> Status:
        """Address, content and condition of the ledger: whether anything new may be answered."""
        place, quarantine = self._log.store.place, self._log.quarantine()
        return self._look(lambda state: status_of(place, state, quarantine))

    @progress_bar("Verifying the ledger")
    def verify(self) -> Verification:
        """Recompute everything: the database's own check, the chain, all digests and seals, levels and budgets.

        The witness's own chain is checked, too. A rollback is no damage: `status` is about it.

        Raises:
            LedgerDamaged: naming the first thing that is not as it was written.
        """
        return verified_with_witness(self._log)

    def receipt(self) -> str:
        """A line of text about the ledger as it is now, to keep elsewhere; it holds no secret."""
        return self._log.read(lambda transaction: receipt(transaction.key, transaction.state))

    def check(self, receipt: str) -> None:
        """Check that the ledger still holds what it held when the receipt was given.

        Raises:
            Quarantined: where it does not; from then on it is in quarantine.
            KeyRefused: for a receipt of another ledger, or none at all.
        """
        check_receipt(self._log, receipt)

    def _look(self, ask: Callable[[State], T]) -> T:
        return self._log.read(lambda transaction: ask(transaction.state))
