"""The ledger: a database that remembers releases, so that all answers about a table cost only the largest epsilon."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from utmost.core.exact import arguments
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.exact.progress_bar import Progress, progress_bar
from utmost.core.sampling.random_bits import Randomness, entropy, secure
from utmost.errors import AlreadyPublished, BadTable, DataChanged, OutOfRange, Unsupported
from utmost.publish.ledger import engine_ledger
from utmost.publish.ledger.accounts import Accounts
from utmost.publish.ledger.duplicate_data import TableDigests
from utmost.publish.ledger.event_log import EventLog, Transaction
from utmost.publish.ledger.item_ledger import ItemLedger
from utmost.publish.ledger.key import given_key
from utmost.publish.ledger.names import check_name
from utmost.publish.ledger.opening import StorePlace, opened_log, restore_backup, write_backup
from utmost.publish.ledger.personal_answers import AnswerIndex
from utmost.publish.ledger.persons import Persons
from utmost.publish.ledger.publishing import publish_together
from utmost.publish.ledger.relaxing import (
    Relaxation,
    known_release,
    relax_together,
    release_source,
    view_release,
    warn_of_names,
    where_changed,
)
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest, check_one_dataset, table_in_memory
from utmost.publish.ledger.responses import key_of_level
from utmost.publish.ledger.store import Store
from utmost.publish.ledger.verification import end_quarantine
from utmost.publish.promises.noise_at_level import warn_of_rows, warn_of_weakness
from utmost.publish.promises.promise import Promise, promise_for, warn_of_left_out
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.release import Release
from utmost.publish.releases.source import Source, new_source
from utmost.tables.files.secret_file import COUNTING
from utmost.tables.frames.any_table import is_engine_table, published_names

if TYPE_CHECKING:  # imported only where needed: few ledgers answer cells on demand, or hold plans or means
    from utmost.publish.counting.counted import CountedTable
    from utmost.publish.ledger.cells_on_demand import CellLedger
    from utmost.publish.releases.measures_table import MeasuresTable
    from utmost.publish.workloads.planning.plan import Plan
    from utmost.publish.workloads.planning.shared_level import SharedLevel


class Ledger(Persons, Accounts, Display):
    """A database that stores releases, their noisy responses and their budgets; `Ledger.open` opens or makes one.

    A release publishes some columns of a table under a name, at a first level. A noisier copy, at a smaller epsilon, is
    computed from the stored response; a more accurate answer, at a larger epsilon, needs the same table again. All
    answers to a release have one joint distribution, whatever the order of the calls, and together cost the largest of
    their levels. A ledger can also answer single persons, once each: `respond`.

    Each call is one transaction: the ledger checks the request, draws noise, writes to the witness, commits, and
    returns. The same request gets the same answer, from any thread or process. A call that raises has spent nothing,
    unless it was interrupted after its noise was drawn: then the message says so, and the same call returns the drawn
    answer.

    Guarantee: the releases of a dataset together satisfy the level `spent`, the sum of their largest levels. Choose
    each level from answers, budgets and costs. The guarantee does not cover a level that was chosen by looking at true
    errors.

    Source: [koufogiannis2015], Theorems 1, 11 and 12; for integers the noise at all levels is a process of geometric
    variables.

    >>> from utmost import Unit
    >>> from tempfile import TemporaryDirectory
    >>> table = {"department": ["A", "B"], "admitted": [601, 370]}
    >>> with TemporaryDirectory() as here, Ledger.open(f"{here}/releases.db", create=True) as ledger:
    ...     promise = Promise(["admitted"], public=["department"], unit=Unit(1, 1))
    ...     lower = ledger.publish("admissions", table, promise, epsilon="1/4").table
    ...     higher = ledger["admissions"].at(1, table=table).table
    ...     between = ledger.view("admissions", epsilon="1/2").table
    ...     ledger.spent("admissions"), ledger.levels("admissions")
    (level(epsilon=1), (level(epsilon='1/4'), level(epsilon='1/2'), level(epsilon=1)))
    >>> list(higher), list(between)
    (['department', 'admitted', 'admitted_margin'], ['department', 'admitted', 'admitted_margin'])
    """

    __slots__ = ("_answers", "_log", "_randomness")

    def __init__(self, log: EventLog, randomness: Randomness) -> None:
        self._log, self._randomness, self._answers = log, randomness, AnswerIndex()

    @classmethod
    def open(
        cls,
        place: StorePlace,
        *,
        create: bool = False,
        key: bytes | StorePlace | None = None,
        witness: StorePlace | bool | None = None,
        sealed: bool = True,
        derived: bool = False,
        timeout: float = 60.0,
        randomness: Randomness | None = None,
    ) -> "Ledger":
        """Open a ledger; with ``create=True`` make it if it does not exist.

        Args:
            place: Path, "sqlite:///path", or "postgresql://user@host/database".
            create: Whether a ledger may be made; if False, a misspelt place is an error.
            key: 32 bytes or more, or the path of a key file, or of a secret file of `utmost init` (.toml). If left out,
                it is read from the environment's ``UTMOST_LEDGER_KEY`` (hexadecimal) or ``UTMOST_LEDGER_KEY_FILE``.
                Without these, for SQLite, it is read from the ledger's path with ``.key`` appended; this file is made
                with mode 0600 when the ledger is made.
            witness: Path of the witness file, which detects that the ledger was replaced by an older copy. If left out,
                it is the file that a secret file names; otherwise, for SQLite, the ledger's path with ``.witness``
                appended, and for PostgreSQL a file beside the key file. Store the witness where nobody who can write to
                the database can write. False makes a new ledger without a witness, permanently.
            sealed: Whether a new ledger encrypts its responses, each level under its own key.
            derived: Whether a new ledger derives its noise from the key. An older copy of the ledger then repeats its
                answers to the same requests; if noise is keyed by identifier, only if levels are requested in
                the same order. If data changed after the copy was made, publish them under another name: equal answers
                show equal data. Whoever has the key can remove derived noise: protect the key like the data.
            timeout: Seconds to wait for other writers.
            randomness: Source of random bits, the operating system's if left out; a seeded source is refused.

        Raises:
            KeyRefused: if the key is missing, wrong, or readable by others.
            LedgerDamaged: if the stored data were changed.
            LedgerUnavailable: if there is no ledger, or if the store is locked or cannot be reached.
            OutOfRange: if ``witness`` is False and the ledger has a witness; if a ledger in PostgreSQL has no key file
                and ``witness`` is left out; or if the place, the timeout or a flag is invalid.
            Unsupported: if a later version of utmost wrote the ledger.
        """
        read_key = given_key(key)
        del key  # no frame of an error may show it
        log = opened_log(
            place,
            create=create,
            key=read_key,
            witness=witness,
            sealed=sealed,
            derived=derived,
            timeout=timeout,
            identity=entropy(16).hex(),
        )
        return cls(log, secure(randomness, instead="utmost.testing.seeded_ledger"))

    @property
    def identity(self) -> str:
        """Random name of the ledger, assigned when it was made."""
        return self._log.seen.identity

    def publish(
        self,
        name: str,
        table: Any,
        promise: "Promise | Plan",
        *,
        epsilon: Number | Level,
        dataset: str | None = None,
        version: int | None = None,
        request: str | None = None,
        independent: bool = False,
        progress: Progress | None = None,
    ) -> Answer[Any]:
        """Publish columns of a table at a first level; with a stopping rule, at the first level that meets the rule.

        A repeated call with the same values, promise and level returns the same answer.

        Args:
            name: Name of the release.
            table: Table, as for `release`. For an engine's frame the ledger stores no answers; the engine computes the
                same answers whenever it evaluates the frame.
            promise: Promise about the table (`Promise.of_counted` makes one for a counted table), or the plan of the
                sums to measure. If the promise does not state who was counted, the ledger takes this from a counted
                table. The ledger commits to the values in the order of the rows, and to the identifiers if there is an
                ``id_column``.
            epsilon: Level that the whole release may spend. With ``until`` in the promise the budget must allow this
                level, but only the level that was reached is spent.
            dataset: Dataset whose budget is spent; the name of the release if left out. The levels of all releases of a
                dataset add up.
            independent: True confirms that nobody in these data is in another dataset. This argument must be True if
                another dataset has the same values, or if this dataset is new and has no limit while a limit is set on
                a dataset that no release names. The ledger does not store this declaration.
            version: Version of the data. Publish changed data of a release as the next version, whose level is added to
                the spent level; this version is never chosen automatically.
            request: Name of this request: a repeated call with this name and the same arguments returns the same
                answer.
            progress: Function that is called with the number of finished cells and the number of all cells.

        Returns:
            The answer, which never changes. The answer's ``table`` has the type of the argument, with only the released
            and the public columns. The answer's ``release`` is the history of the release, and contains the table of
            the argument.

        Raises:
            NotDeclared: if a column is neither released, nor public, nor dropped.
            BadTable: if a column is missing, or if a cell cannot be released; the message names row and column of the
                cell.
            DataChanged: if the release exists with other values.
            AlreadyPublished: if the release exists with another promise or level, or if another dataset has the same
                values.
            BudgetExceeded: if the limit of the dataset does not allow the level.
            NotALevel, NotANumber, OutOfRange: if an argument is invalid.
            Quarantined: if the ledger was rolled back.

        Warns:
            RowsRenamed: if a repeated call has other public columns than the first, as in `relax`.
        """
        own, promise = name if dataset is None else dataset, promise_for(promise, table)
        publication = PublishRequest(name, promise, level(epsilon), own, version, request, independent)
        with progress_bar("Publishing", progress):
            rows = promise.rows_of(table)
            if is_engine_table(rows):
                made, frame = engine_ledger.publish_frame(self.items, publication, rows)
                return self._engine_answer(Release(self, name, made, table), publication.level, frame)
            (answer,) = self._published([(publication, new_source(table, promise, rows))])
            return answer

    def relax(
        self,
        name: str,
        table: Any,
        *,
        epsilon: Number | Level,
        version: int | None = None,
        table_at: Number | Level | None = None,
        progress: Progress | None = None,
    ) -> Answer[Any]:
        """Answer a release at a larger epsilon, from the same table; the cost is the increase of the spent level.

        Args:
            name: Name of the release.
            table: Table with the published values, and with the identifiers if there were any. Other columns are left
                out, unless they were declared public at publication.
            epsilon: Level of the answer.
            version: Version of the data; the newest if left out.
            table_at: Level of the answers in ``table``, if ``table`` is an engine's frame of answers instead of values.
            progress: Function that is called with the number of finished cells and the number of all cells.

        Raises:
            NotPublished: if there is no such release.
            DataChanged: if the values or their order are not those published.
            BudgetExceeded: if the limit of the dataset does not allow the level.
            Quarantined: if the ledger was rolled back, or if the release lost responses in a rollback.

        Warns:
            RowsRenamed: if there is no ``id_column``, and public columns, or texts that are not released, differ from
                those at publication.
        """
        at = level(epsilon)
        with progress_bar("Relaxing", progress):
            if is_engine_table(table):
                level_there = None if table_at is None else level(table_at)
                made, frame = engine_ledger.relax_frame(self.items, name, table, level_there, at, version)
                return self._engine_answer(Release(self, name, made), at, frame)
            if table_at is not None:
                raise Unsupported(
                    "table_at= is allowed only with a frame that an engine evaluates",
                    came="table_at",
                    remedy="Leave out table_at=: if a table is in memory, the ledger stores its answers itself.",
                )
            request = AnswerRequest(name, at, version)
            release = known_release(self._log.seen, request) or self.release(name, version)
            while True:
                try:
                    (answer,) = self._relaxed([Relaxation.of(self._log.key, request, release, table)])
                    return answer
                except (BadTable, DataChanged):
                    newest = self.release(name, version)
                    if newest.version == release.version:
                        raise
                    release = newest  # another process has published it since the ledger was read

    def difference(self, name: str, table: Any, *, version: int | None = None) -> str | None:
        """Describe the first difference between a table and the published one, without a value; None if they are equal.

        This method is only for the curator: whoever can call this method with guessed tables finds every true value.
        The error `DataChanged` says only that the table is another one, and the service never calls this method.

        Args:
            name, version: Name and version of the release; the newest version if ``version`` is left out.
            table: Table, as for `relax`.

        Raises:
            NotPublished: if there is no such release.
            BadTable: if a column is missing, or if a cell cannot be released.
        """
        if is_engine_table(table):
            return engine_ledger.frame_difference(self.items, name, table, version)

        def look(transaction: Transaction) -> str | None:
            release = transaction.state.release(name, version)
            return where_changed(transaction, release, release_source(release, table))

        return self._log.read(look)

    def equal_values(
        self,
        name: str,
        *,
        version: int | None = None,
        table: Any = None,
        promise: "Promise | Plan | None" = None,
    ) -> tuple[str, ...]:
        """List the sorted names of all releases with a column that equals a released column of this release.

        This method is only for the curator, like `difference`. The levels of such releases add up, although the values
        are the same: one file may have been published twice by mistake, as the data of two days. The name of this
        release is in the list if another version of the release has the values. Columns whose cells are all equal are
        not compared.

        Args:
            name, version: Name and version of the release; the newest version if ``version`` is left out.
            table, promise: Table and promise of a release that is not published yet, as for `publish`.

        Raises:
            NotPublished: if there is no such release and ``table`` is left out.
            OutOfRange: if only one of ``table`` and ``promise`` is passed.
        """
        source = None
        if (table is None) != (promise is None):
            missing = "table" if table is None else "promise"
            required = "to compare values before they are published, both table= and promise= must be passed"
            raise OutOfRange(required, came=f"no {missing}", remedy=f"Also pass {missing}=.")
        if promise is not None:
            if is_engine_table(table):
                required = "values must be in memory to be compared before they are published"
                raise Unsupported(
                    required, came="a frame of an engine", remedy="Compare the release after it is published."
                )
            source = new_source(table, promise_for(promise, table))

        def look(transaction: Transaction) -> tuple[str, ...]:
            key, releases = transaction.key, transaction.state.releases
            if source is None:
                release = transaction.state.release(name, version)
                own: tuple[str, int] | None = release.key
                digests = TableDigests.opened(key, release.values, release.name, release.version)
            else:
                own, digests = None, TableDigests.of(key, source, source.labels())
            holders = (transaction.digests.holders(key, releases, digest) for digest in digests.columns)
            others = {other.name for found in holders for other, _ in found if (other.name, other.version) != own}
            return tuple(sorted(others))

        return self._log.read(look)

    def view(
        self,
        name: str,
        *,
        epsilon: Number | Level,
        version: int | None = None,
        table: Any = None,
        table_at: Number | Level | None = None,
        progress: Progress | None = None,
    ) -> Answer[Any]:
        """Return the released columns at any epsilon up to the largest stored one, without data and at no cost.

        The rows come in the published order, as a table of the published kind if its package is installed, else as a
        dict of arrays. If the published table was a frame that an engine evaluates, pass ``table=``, a frame of
        the answers at the level ``table_at``.

        Raises:
            NotPublished: if there is no such release.
            NeedsTable: if the epsilon is above the largest stored one, or if the release is of points and the epsilon
                is not stored.
            Unsupported: if ``table`` is left out and an engine computes the answers of the release.
        """
        at = level(epsilon)
        with progress_bar("Viewing", progress):
            if is_engine_table(table):
                made, frame = engine_ledger.view_frame(self.items, name, table, level(table_at), at, version)
                return self._engine_answer(Release(self, name, made), at, frame)
            request = AnswerRequest(name, at, version)
            known = known_release(self._log.seen, request)
            release, labels, answered = self._log.answer(
                lambda transaction, may_draw: view_release(transaction, request, self._randomness, may_draw=may_draw),
                look=known is None or at in known.responses,
            )
            history = Release(self, release.name, release.version)
            return replace(answered.without_table(release, labels), _release=history)

    def _engine_answer(self, release: Release, at: Level, frame: Any) -> Answer[Any]:
        """Return an answer whose table is an engine's frame; the engine adds the noise when it evaluates the frame."""
        known, names = self.release(release.name, release.version), published_names(frame)
        public = tuple(name for name in names if name in known.public)
        remembered = self._read_state(lambda state: state.ledger_facts(known.key, at))
        promise = known.promise.as_published(names, public)
        return Answer(frame, promise, known.noise.at(at), known.rows, remembered, release)

    def publish_measures(self, requests: Sequence[PublishRequest], tables: Mapping[str, Any]) -> dict[str, Answer[Any]]:
        """Publish several tables in one transaction, each by its own promise and level: all of them, or none.

        Nobody can see some of the answers without the others, even after an interruption. Repeated requests get the
        same answers. A table that an earlier call published by the same promise at the same level keeps its answer.

        Args:
            requests: Requests with the same dataset and the same ``independent``. `shared_requests` makes the requests
                for measures that share a level.
            tables: Dict from the name of each release to its table, as for `publish`.

        Returns:
            Dict from the name of each release to its answer.

        Raises:
            OutOfRange: if the requests have several datasets.
            Unsupported: if a table is a frame of an engine.
            UtmostError: if `publish` would refuse one of the tables; then nothing is spent.

        Warns:
            IndividualLeftOut: if the promise of a request does not state who was counted in its table.
        """
        check_one_dataset(requests)
        wanted = list[tuple[PublishRequest, Source]]()
        for request in requests:
            table, promise = table_in_memory(tables[request.name]), request.promise
            promise.check(table)
            warn_of_left_out(promise, table)
            wanted.append((request, new_source(table, promise)))
        answers = self._published(wanted)
        return {request.name: answer for request, answer in zip(requests, answers, strict=True)}

    def _published(self, wanted: Sequence[tuple[PublishRequest, Source]]) -> list[Answer[Any]]:
        """Answer requests in one transaction; each comes with the source that was read from its table."""
        for request, _ in wanted:
            warn_of_rows(request.promise.rows)
        for weakness in {request.promise.at(request.level).weakness() for request, _ in wanted}:
            warn_of_weakness(weakness)
        answers = list[Answer[Any]]()
        for answered, (request, source) in zip(
            publish_together(self._log, wanted, self._randomness), wanted, strict=True
        ):
            release = Release(self, request.name, answered.facts.data_version, source.original)
            answers.append(replace(answered.in_table(source), _release=release))
        return answers

    @progress_bar("Publishing")
    def publish_means(
        self,
        name: str,
        tables: "Mapping[str, CountedTable]",
        *,
        epsilon: Number | Level,
        dataset: str | None = None,
        version: int | None = None,
        request: str | None = None,
        independent: bool = False,
    ) -> "MeasuresTable":
        """Publish counts, sums and means of several amounts as one table; each amount has an equal budget share.

        Args:
            name: Name of the table; the release of an amount is named "NAME: AMOUNT".
            tables: {amount: table}, with tables that `count_measures` returned for measures of `mean`.
            epsilon: Level that all amounts together may spend.
            dataset, version, request, independent: Arguments of `publish`.

        Raises:
            AlreadyPublished: if a release has this name.
            UtmostError: if `publish` would refuse one of the tables; then nothing is spent.

        >>> import utmost as ut
        >>> from tempfile import TemporaryDirectory
        >>> people = {"region": ["N", "N", "S"], "income": [20, 40, 30], "rent": [5, 9, 7]}
        >>> measures = {"income": ut.mean("income", each=(0, 100)), "rent": ut.mean("rent", each=(0, 20))}
        >>> tables = ut.count_measures(people, {"region": ["N", "S"]}, ut.Counting(each_row=True), measures)
        >>> with TemporaryDirectory() as here, ut.Ledger.open(f"{here}/releases.db", create=True) as ledger:
        ...     first = ledger.publish_means("wages", tables, epsilon=1)
        ...     sharper = ledger.relax_means("wages", tables, epsilon=2000)
        ...     seen = ledger.view_means("wages", epsilon=1)
        ...     print(sharper.table["rent_mean"], seen.table == first.table, ledger.spent(dataset="wages"))
        [7.0, 7.0] True epsilon=2000
        """
        from utmost.publish.ledger.means_tables import by_release, means_requests, table_of

        if any(release.name == name for release in self.releases):
            remedy = "Give the table of several amounts another name, in the same dataset."
            raise AlreadyPublished(
                "one name must not belong to both a release and a table of several amounts",
                came="the name of another release",
                where=repr(name),
                remedy=remedy,
            )
        requests = means_requests(
            name, tables, level(epsilon), dataset=dataset, version=version, request=request, independent=independent
        )
        return table_of(name, self.publish_measures(requests, by_release(name, tables)))

    @progress_bar("Relaxing")
    def relax_means(
        self, name: str, tables: "Mapping[str, CountedTable]", *, epsilon: Number | Level, version: int | None = None
    ) -> "MeasuresTable":
        """Relax a table of several amounts to a larger epsilon, from the same tables; see `publish_means`.

        Raises:
            NotPublished: if there is no such table.
            UtmostError: if `relax` would refuse one of the tables; then nothing is spent.
        """
        from utmost.publish.ledger.means_tables import by_release, means_answer_requests, table_of

        requests = means_answer_requests(self.releases, name, level(epsilon), version, tables)
        return table_of(name, self.relax_measures(requests, by_release(name, tables)))

    def view_means(self, name: str, *, epsilon: Number | Level, version: int | None = None) -> "MeasuresTable":
        """Return a table of several amounts at any level up to the largest stored one; no data are needed.

        Raises:
            NotPublished: if there is no such table.
            NeedsTable: if the epsilon is above the largest stored one.
        """
        from utmost.publish.ledger.means_tables import means_answer_requests, table_of

        requests = means_answer_requests(self.releases, name, level(epsilon), version, None)
        answers = {of.name: self.view(of.name, epsilon=of.level, version=of.version) for of in requests}
        return table_of(name, answers)

    def relax_shared(
        self, tables: "Mapping[str, CountedTable]", shared: "SharedLevel", *, epsilon: Number | Level | None = None
    ) -> dict[str, Answer[Any]]:
        """Relax several measures in one transaction, each to its budget share; together they cost one level.

        Args:
            tables: Dict from the name of each release to the table that was published.
            shared: Plans by which the tables were published; the budget shares may have changed since.
            epsilon: Level that all measures together may spend; the level of ``shared`` if left out.

        Raises:
            OutOfRange: if the names are not those of the plans, or if a measure has already spent more than its new
                share.
            UtmostError: if `relax` would refuse one of the tables; then nothing is spent.
        """
        from utmost.publish.workloads.planning.shared_level import levels_of_tables

        requests = list[AnswerRequest]()
        for name, at in levels_of_tables(tables, shared, epsilon)[1].items():
            release = self.release(name)
            if release.spent > at:
                remedy = (
                    "Pass a larger epsilon=; or the shares by which the measure was published: on the command line the "
                    "same plans, --weight and --up-to."
                )
                required = "the new level of a measure must be at least the level that it has spent"
                raise OutOfRange(required, came=at, where=repr(name), remedy=remedy)
            requests.append(AnswerRequest(name, at, release.version))
        return self.relax_measures(requests, tables)

    def relax_measures(self, requests: Sequence[AnswerRequest], tables: Mapping[str, Any]) -> dict[str, Answer[Any]]:
        """Relax several releases, each to its own level, in one transaction.

        Args:
            requests: Name, level and version of each release.
            tables: Dict from the name of each release to its table, as for `relax`.

        Raises:
            NotPublished, DataChanged, BudgetExceeded, Quarantined: if `relax` would refuse one of the requests; then
                nothing is spent.
        """
        wanted = list[Relaxation]()
        for request in requests:
            table, release = table_in_memory(tables[request.name]), self.release(request.name, request.version)
            wanted.append(Relaxation.of(self._log.key, replace(request, version=release.version), release, table))
        answers = self._relaxed(wanted)
        return {request.name: answer for request, answer in zip(requests, answers, strict=True)}

    def _relaxed(self, wanted: Sequence[Relaxation]) -> list[Answer[Any]]:
        highest = max(wanted, key=lambda relaxation: relaxation.request.level)
        warn_of_weakness(highest.release.promise.at(highest.request.level).weakness())
        for relaxation in wanted:
            warn_of_names(self._log.key, relaxation.release, relaxation.source)
        answers = list[Answer[Any]]()
        for relaxation, answered in zip(wanted, relax_together(self._log, wanted, self._randomness), strict=True):
            release = Release(self, relaxation.release.name, answered.facts.data_version)
            answers.append(replace(answered.in_table(relaxation.source), _release=release))
        return answers

    def __getitem__(self, key: str | tuple[str, int]) -> Release:
        """Return the history of a release, by its name (newest version) or by a pair (name, version).

        Raises:
            NotPublished: if there is no such release.
        """
        name, version = key if isinstance(key, tuple) else (key, None)
        release = self.release(name, version)
        return Release(self, release.name, release.version)

    @property
    def items(self) -> ItemLedger:
        """The part of this ledger for releases whose answers an engine computes; the ledger does not store them."""
        return ItemLedger(self._log)

    @property
    def cells_on_demand(self) -> "CellLedger":
        """The part of this ledger for cells that are answered on demand; the ledger does not store these answers."""
        from utmost.publish.ledger.cells_on_demand import CellLedger

        return CellLedger(self.items)

    def backup(self, path: StorePlace) -> None:
        """Write a consistent copy of the ledger to a new SQLite file; the copy does not contain the key.

        Raises:
            OutOfRange: if the file exists.
        """
        write_backup(self._log, Path(os.fsdecode(arguments.path(path, "path"))))

    @classmethod
    def restore(
        cls,
        backup: StorePlace,
        place: StorePlace,
        *,
        key: bytes | StorePlace | None = None,
        witness: StorePlace | bool | None = None,
        timeout: float = 60.0,
    ) -> "Ledger":
        """Restore a ledger from a backup to a place without a ledger. The ledger is in quarantine until `resume`.

        Args:
            backup: File that `backup` wrote.
            place, key, witness, timeout: Arguments of `open`. The key is the key of the ledger that was backed up.

        Raises:
            OutOfRange: if the place has a ledger.
            KeyRefused, LedgerDamaged: if `open` would refuse the key or the ledger; nothing is restored.
        """
        read_key = given_key(key)
        del key  # no frame of an error may show it
        file = Path(os.fsdecode(arguments.path(backup, "backup")))
        return cls(restore_backup(file, place, key=read_key, witness=witness, timeout=timeout), secure(None))

    def resume(self, reason: str, missing: Mapping[str, Number | Level] | None = None) -> dict[str, tuple[Level, ...]]:
        """End a quarantine: new answers are allowed again.

        Lost answers are charged permanently. Releases that lost answers can be viewed, but not relaxed.

        Args:
            reason: Reason, which the ledger records.
            missing: {dataset: epsilon} of losses that the witness cannot determine; required without a witness, {} if
                nothing was lost. Losses that the witness has recorded are charged in any case.

        Returns:
            The levels that are charged to each dataset: those that the witness has recorded, and ``missing``.

        Raises:
            OutOfRange: if there is no quarantine, if ``missing`` is required and left out, or if ``missing`` names a
                release instead of the dataset of the release.
        """
        return end_quarantine(self._log, reason, missing)

    def level_key(
        self,
        name: str,
        *,
        epsilon: Number | Level,
        version: int | None = None,
    ) -> bytes:
        """Return the key to one level of an encrypted release; with it `read_sealed` decrypts this level and no other.

        The key is derived from the ledger's key and every public fact about the response, so that the key does not
        decrypt a file in which one of these facts has been changed. Send the key to the recipient over a private
        channel; a key cannot be revoked.

        Returns:
            32 bytes.

        Raises:
            NotPublished: if there is no such release.
            Unsupported: if the ledger is not encrypted, or if nothing is stored at the level.
        """
        at = level(epsilon)
        return self._log.read(
            lambda transaction: key_of_level(transaction, transaction.state.release(name, version), at)
        )

    def counting_key(self) -> bytes:
        """Return the key for `Counting`, by which every count of the same events keeps the same cells of each person.

        Without a key each count keeps other cells, and a table that was counted again is refused as changed data. The
        key is derived from the ledger's key. The commands use this key, too.

        Returns:
            32 bytes.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as here, Ledger.open(f"{here}/releases.db", create=True) as ledger:
        ...     len(ledger.counting_key())
        32
        """
        return self._log.key.derived(COUNTING)

    def beside(self, purpose: str) -> tuple[Store, bytes]:
        """Return the ledger's store and a key of 32 bytes for ``purpose``, for a program that adds its own records.

        The key is derived from the ledger's key, but reveals nothing about the ledger's key, nor about the keys of
        other purposes.
        """
        return self._log.store, self._log.key.derived("beside", check_name(purpose, "purpose"))

    def close(self) -> None:
        """Close the connections to the store."""
        self._log.store.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self._log.store.place!r})"

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "a ledger must not be copied", where="Ledger", remedy="Open the ledger again in the process that needs it."
        )
