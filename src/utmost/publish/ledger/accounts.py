"""The methods of a ledger that draw no noise: they return releases and budgets, write charges, and verify."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from utmost.core.exact.arguments import truth
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.exact.progress_bar import progress_bar
from utmost.errors import OutOfRange
from utmost.publish.counting.counted_facts import Part
from utmost.publish.ledger.budgets import budget_after, check_known, remove_limit, set_limit, write_charge
from utmost.publish.ledger.event_log import EventLog
from utmost.publish.ledger.events import Event
from utmost.publish.ledger.names import check_name
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
    verify_with_witness,
)
from utmost.publish.promises.promise import Promise, promise_for
from utmost.publish.releases.source import new_source
from utmost.tables.frames.any_table import is_engine_table

if TYPE_CHECKING:
    from utmost.publish.counting.counted import CountedTable
    from utmost.publish.workloads.planning.plan import Plan

T = TypeVar("T")


class Accounts:
    """The methods of `Ledger` that draw no noise."""

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
        promise: "Promise | Plan | None" = None,
        request: str | None = None,
    ) -> Budget:
        """Return the budget as it would be after a call of `publish` or `relax`; draw, write and spend nothing.

        Args:
            name, version: Name and version of the release, which need not exist yet; the newest version if ``version``
                is left out.
            epsilon: Level of the call.
            dataset, independent: Arguments of `publish`, for a release that does not exist yet.
            part: Part in the promise of a release that does not exist yet.
            table, promise: Table and promise to check as `publish` checks them; a table without a promise is checked as
                `relax` checks it. A table that an engine evaluates is not read.
            request: Name of the request, as for `publish`.

        Raises:
            BudgetExceeded: if the call would exceed the limit of the dataset.
            DataChanged, AlreadyPublished: if `publish` or `relax` would refuse the table.
            OutOfRange: if the dataset is new and has no limit, while a limit is set on a dataset that no release names
                yet.
        """
        at = level(epsilon)
        if promise is not None and not is_engine_table(table):
            declared = promise_for(promise, table)
            source = new_source(table, declared)
            own = name if dataset is None else dataset
            wanted = [(PublishRequest(name, declared, at, own, version, request, independent), source)]
            self._log.read(lambda transaction: check_publishable(self._log, transaction, wanted))
            independent = True  # check_publishable has already checked the dataset
        elif table is not None and not is_engine_table(table):
            answer = AnswerRequest(name, at, version)
            self._log.read(lambda transaction: check_relaxable(self._log, transaction, answer, table))
        return self._read_state(
            lambda state: budget_after(
                state, name, at, dataset=dataset, independent=independent, version=version, part=part
            )
        )

    def rehearse_means(
        self,
        name: str,
        tables: "Mapping[str, CountedTable]",
        *,
        epsilon: Number | Level,
        relax: bool = False,
        dataset: str | None = None,
        version: int | None = None,
        request: str | None = None,
        independent: bool = False,
    ) -> Budget:
        """Return the budget as it would be after `publish_means` or `relax_means`; draw, write and spend nothing.

        Args:
            name, tables, epsilon, dataset, version, request, independent: Arguments of `publish_means`.
            relax: Whether the table is published already and is to be relaxed.

        Raises:
            UtmostError: if `publish_means` or `relax_means` would refuse the call.
        """
        from utmost.publish.ledger.means_tables import (
            by_release,
            means_answer_requests,
            means_requests,
            rehearsed_publication,
            rehearsed_relaxation,
        )

        if truth(relax, "relax"):
            answers = means_answer_requests(self.releases, name, level(epsilon), version, tables)
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
        """Return the levels at which a release was answered, smallest epsilon first.

        Raises:
            NotPublished: if the ledger has no such release.
        """
        return self._read_state(lambda state: state.release(name, version).levels)

    def has_request(self, request: str) -> bool:
        """Whether a request of this name was answered."""
        return self._read_state(lambda state: request in state.requests)

    def spent(self, name: str | None = None, *, dataset: str | None = None) -> Level | None:
        """Return the level spent by all versions of a release, or by all releases of a dataset.

        Args:
            name: Name of a release. A dataset of the same name may have other releases, too.
            dataset: Name of a dataset.

        Returns:
            The sum of the largest levels of these releases, rounded up if it has no exact form; None if nothing is
            spent.

        Raises:
            OutOfRange: if ``name`` and ``dataset`` are both passed, or neither of them.
            NotPublished: if the ledger has no release of this name.
        """
        if (name is None) == (dataset is None):
            remedy = 'Pass ledger.spent("admissions"), or ledger.spent(dataset="students").'
            raise OutOfRange("exactly one of name and dataset must be given", came=(name, dataset), remedy=remedy)
        if dataset is not None:
            check_name(dataset, "dataset")
            return self._read_state(lambda state: state.spending(dataset)).level
        assert name is not None
        mine = self._read_state(lambda state: state.all_versions(name) or [state.release(name, None)])
        return Spending.of(release.spent for release in mine).level

    def budget(self, dataset: str, limit: Number | Level | None = None) -> Budget:
        """Return the budget of a dataset; first set the limit of the dataset if ``limit`` is passed.

        A limit below the spent level stops all further spending. While a dataset has a limit and no releases, the
        ledger refuses releases in datasets without a limit; `remove_limit` removes the limit of a misspelt dataset.

        Raises:
            NotPublished: if no limit is given and the ledger has no dataset of this name.

        Warns:
            BudgetUnused: if the ledger has releases, but none of this dataset.
            LimitBelowSpent: if the limit is below the spent level.
        """
        check_name(dataset, "dataset")
        if limit is None:

            def known(state: State) -> Budget:
                check_known(state, dataset)
                return Budget(dataset, state.limits.get(dataset), state.spending(dataset))

            return self._read_state(known)
        return set_limit(self._log, dataset, level(limit))

    def remove_limit(self, dataset: str) -> None:
        """Remove the limit of a dataset that has spent nothing, such as one with a misspelt name.

        The events about the limit stay in the history.

        Raises:
            NotPublished: if the ledger has no dataset of this name.
            OutOfRange: if the dataset has spent something. Set another limit instead.
        """
        check_name(dataset, "dataset")
        remove_limit(self._log, dataset)

    def charge(self, dataset: str, *, epsilon: Number | Level, what: str, independent: bool = False) -> Budget:
        """Charge a dataset with the level that another tool has spent, so that one budget covers all tools.

        A charge that is repeated, for example after an interruption, is written once.

        Args:
            dataset: Dataset whose budget is spent.
            epsilon: Level of pure differential privacy that was spent, for the neighbouring relation of the dataset's
                releases. The ledger cannot verify this level.
            what: Description of the spending, different from that of every other charge of this dataset, such as
                "OpenDP, mean age, 2025".
            independent: True confirms that nobody in this dataset is in another one. This argument must be True if the
                dataset is new and the ledger has other datasets.

        Returns:
            The budget after the charge.

        Raises:
            BudgetExceeded: if the charge exceeds the limit of the dataset; nothing is written.
            AlreadyPublished: if the same description was charged at another level.
            OutOfRange: if the description cannot be printed; if the name of the dataset looks like the name of another
                one; or if the dataset is new, other datasets exist, and ``independent`` is False.
            Quarantined: if the ledger was rolled back.

        Source: sequential composition, [dwork2014], Theorem 3.14.

        >>> import tempfile
        >>> from utmost import Ledger
        >>> with tempfile.TemporaryDirectory() as folder, Ledger.open(f"{folder}/l.db", create=True) as ledger:
        ...     _ = ledger.budget("visits", limit=2)
        ...     ledger.charge("visits", epsilon="1/2", what="OpenDP, mean age, 2025")
        Budget(dataset='visits', limit=level(epsilon=2), spent=1/2, remaining=3/2)
        """
        check_name(dataset, "dataset")
        is_independent = truth(independent, "independent")
        return write_charge(self._log, dataset, level(epsilon), check_name(what, "what"), is_independent=is_independent)

    def margin(
        self,
        name: str,
        *,
        epsilon: Number | Level,
        version: int | None = None,
        confidence: Number = DEFAULT_CONFIDENCE,
    ) -> int | float:
        """Return the margin of error at a level: with this confidence the error of a noisy value is at most the margin.

        Raises:
            NotPublished: if the ledger has no such release.
        """
        return self.release(name, version).margin(level(epsilon), confidence)

    def release(self, name: str, version: int | None = None) -> Published:
        """Return one version of a release; the newest if ``version`` is left out.

        Raises:
            NotPublished: if the ledger has no such release.
        """
        return self._read_state(lambda state: state.release(name, version))

    @property
    def releases(self) -> tuple[Published, ...]:
        """Every version of every release, in the order of publication."""
        return self._read_state(lambda state: tuple(state.releases.values()))

    def history(self, name: str | None = None, *, dataset: str | None = None) -> tuple[Event, ...]:
        """Return the events of the ledger, oldest first: all of them, or those of one release or one dataset.

        Raises:
            NotPublished: if the ledger has no release or dataset of this name.
        """
        return self._log.read(lambda transaction: history(transaction, name, dataset))

    def status(self) -> Status:
        """Return the ledger's address, number of events, budgets, and the reason for a quarantine, if any."""
        place, quarantine = self._log.store.place, self._log.quarantine()
        return self._read_state(lambda state: status_of(place, state, quarantine))

    @progress_bar("Verifying the ledger")
    def verify(self) -> Verification:
        """Check again the database, the chain of events, the digests and seals, the levels and the budgets.

        The events of the witness are checked, too. A ledger that was rolled back passes: `status` reports a rollback.

        Raises:
            LedgerDamaged: if a check fails; the message names the first difference from what was written.
        """
        return verify_with_witness(self._log)

    def receipt(self) -> str:
        """Return a line of text that identifies the ledger's present state, to store elsewhere; no secret is in it."""
        return self._log.read(lambda transaction: receipt(transaction.key, transaction.state))

    def check(self, receipt: str) -> None:
        """Check that the ledger still contains everything that it contained when the receipt was made.

        Events count as contained if the witness had them when `resume` charged for their loss.

        Raises:
            Quarantined: if something is missing; the ledger is in quarantine from then on.
            KeyRefused: if the receipt is of another ledger, or is not a receipt.
        """
        check_receipt(self._log, receipt)

    def _read_state(self, ask: Callable[[State], T]) -> T:
        return self._log.read(lambda transaction: ask(transaction.state))
