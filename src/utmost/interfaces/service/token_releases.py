"""List, view, publish and relax the releases of a ledger, within the rights of a token."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact_integer
from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.random_bits import entropy
from utmost.errors import (
    AlreadyPublished,
    DataChanged,
    LedgerUnavailable,
    NotAllowed,
    NotPublished,
    OutOfRange,
    PrivacyWarning,
    RowsRenamed,
    SeparateDatasets,
    TooOften,
    UtmostError,
    WitnessMissing,
    collected_warnings,
    warn,
)
from utmost.interfaces.service.access.tokens import EVERY, Grant, Token
from utmost.interfaces.service.proposals import Proposals, check_declared
from utmost.interfaces.service.publish_requests import check_drawn_together, check_table_served, proposable, served
from utmost.interfaces.service.published_margins import margin_of_release
from utmost.interfaces.service.records import RecordTransaction
from utmost.interfaces.service.service_context import ServiceContext, granted_level, is_granted
from utmost.publish.ledger.budgets import separate_warning
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.names import SAME_IN_NAMES, check_name
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest, check_one_dataset
from utmost.publish.ledger.spending import Budget
from utmost.publish.ledger.state import Published
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.promise import promise_for
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.once import checked_table

_DAY, _DIFFERENT_A_DAY = 86_400, 5  # one person may upload five different tables a day, until midnight UTC
_TO_COMPARE, _A_TURN = 10.0, 0.05  # seconds to wait for a comparison, and between two tries
_COMPARED_BY = 600.0  # seconds after which an unfinished comparison counts as failed


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A release at a level, without facts about larger levels."""

    release: Published
    level: Level
    table: Any
    rows: int
    margin: int | float  # of a value, with 95 % confidence
    # Facts of the ledger in the statement, without larger levels.
    remembered: LedgerFacts
    # Warnings of the call that brought the table. They may depend on its true values, so only the caller gets them, and
    # nothing keeps them.
    warnings: tuple[PrivacyWarning, ...] = ()


def without_larger_levels(table: Any) -> Any:
    """Return an answer without facts about larger levels."""
    if not isinstance(table, NoisySums) or table.ledger_facts is None:
        return table
    return replace(table, ledger_facts=table.ledger_facts.seen_at(table.level))


def view_of(release: Published, answer: Answer[Any]) -> View:
    """Return an answer of the ledger as a view, without facts about larger levels."""
    at, remembered = answer.level, answer.ledger_facts
    assert remembered is not None, "a ledger gave it"
    margin = margin_of_release(release, at)
    return View(release, at, without_larger_levels(answer.table), answer.rows, margin, remembered.seen_at(at))


def published_levels(release: Published) -> frozenset[Level]:
    """Return the levels of calls to publish and to relax; a release has its other levels from noisier copies."""
    return frozenset(at for at in release.levels if release.spent_by(release.responses[at].event) == at)


@dataclass(frozen=True, slots=True)
class _Copies:
    """The levels of the noisier copies of a release that a person asked for, as text."""

    name: str
    made: tuple[str, ...]  # drawn for this person
    shared: tuple[str, ...]  # drawn for somebody else before

    @classmethod
    def of(cls, store: RecordTransaction, token: Token, release: Published) -> "_Copies":
        name = store.hidden("asked", token.person[0], release.name, release.version)
        copies = store.get("asked", name) or {"made": (), "shared": ()}
        return cls(name, tuple(copies["made"]), tuple(copies["shared"]))

    def has(self, at: Level) -> bool:
        return level_text(at) in (*self.made, *self.shared)

    def including(self, at: Level, *, is_new: bool) -> "_Copies":
        if is_new:
            return replace(self, made=(*self.made, level_text(at)))
        return replace(self, shared=(*self.shared, level_text(at)))

    def without(self, at: Level) -> "_Copies":
        return replace(self, made=tuple(text for text in self.made if text != level_text(at)))

    def put(self, store: RecordTransaction) -> None:
        store.put("asked", self.name, {"made": self.made, "shared": self.shared})


_BEGIN_DATASETS = ("published", "offered", "charged")
"""Kinds of events that spend the budget of a dataset."""


@dataclass(slots=True)
class _Compared:
    """The datasets that a call looked up, and the warnings of its tables."""

    looked_up: list[str] = field(default_factory=list)
    warnings: list[PrivacyWarning] = field(default_factory=list)


@contextmanager
def _hidden_dataset_names(hides: bool) -> Iterator[None]:
    """If `hides` is true, leave the other dataset's name out of an error about lookalike names of datasets."""
    try:
        yield
    except OutOfRange as error:
        if not hides or error.where != "dataset":
            raise
        required = f"the name of a dataset must differ from other names by more than {SAME_IN_NAMES}"
        raise OutOfRange(required, where="dataset", remedy="Choose another name for the dataset.") from None


class Releases:
    """Lists, views, publishes and relaxes releases; each method checks the rights of a token."""

    __slots__ = ("_context", "_ledger", "_most_levels", "_proposals")

    def __init__(self, context: ServiceContext, ledger: Ledger, proposals: Proposals, most_levels: int = 64) -> None:
        self._context, self._ledger, self._proposals, self._most_levels = context, ledger, proposals, most_levels

    def all(self, token: Token) -> tuple[Published, ...]:
        """Return every version of all releases that a token may see, in the order of publication."""
        token.check_role("list")
        return tuple(release for release in self._ledger.releases if granted_level(token, release.name) is not None)

    def missing_releases(self, token: Token, grants: tuple[Grant, ...]) -> list[str]:
        """Return the releases in grants that do not exist: future ones, or misspelt names."""
        token.check("tokens")
        existing = {release.name for release in self._ledger.releases} | {EVERY}
        return [grant.release for grant in grants if grant.release not in existing]

    def release(self, token: Token, name: str, version: int | None = None) -> Published:
        """Return a version of a release, by default the newest; a refusal does not depend on whether it exists."""
        return self._known(token, "list", name, version)

    def levels(self, token: Token, *releases: Published) -> list[tuple[Level, ...]]:
        """For each release, return the levels that a token is shown, smallest first. A recipient is shown the
        levels that were published, and those of noisier copies that this recipient asked for; any other token is shown
        all levels.
        """
        # Copies that others asked for would fill every list, and reveal what others ask.

        def work(store: RecordTransaction) -> list[tuple[Level, ...]]:
            listed = []
            for release in releases:
                copies = _Copies.of(store, token, release)
                most, published = granted_level(token, release.name), published_levels(release)
                sees_all = token.role != "recipient"
                shown = {at for at in release.levels if sees_all or at in published or copies.has(at)}
                listed.append(tuple(sorted(at for at in shown if is_granted(most, at))))
            return listed

        return self._context.records.read(work)

    def view(self, token: Token, name: str, at: Level, version: int | None = None) -> View:
        """Return a release at a level: a stored answer, or a noisier copy."""
        release = self._known(token, "view", name, version, at)

        def note_copy(store: RecordTransaction) -> bool:  # before the copy is drawn; True if it counts as made
            copies = _Copies.of(store, token, release)
            if copies.has(at):
                return False
            is_new = at not in release.levels
            # One recipient can have at most 64 new levels of a release made (UTMOST_SERVE_MOST_LEVELS).
            if is_new and token.role == "recipient" and len(copies.made) >= self._most_levels:
                drawn = {level_text(level) for level in release.levels}
                made = ", ".join(text for text in copies.made if text in drawn)
                remedy = f"Ask for a level that you had made: {made}. The operator of the service can allow more by "
                required = f"a recipient may ask for at most {self._most_levels} new levels of a release"
                where, setting = repr(release.name), "UTMOST_SERVE_MOST_LEVELS."
                raise NotAllowed(required, came="one more level", where=where, remedy=remedy + setting)
            copies.including(at, is_new=is_new).put(store)
            return is_new

        is_counted = False
        if at < max(release.levels) and at not in published_levels(release):
            is_counted = self._context.records.write(note_copy)
        try:
            answer = self._ledger.view(name, epsilon=at, version=release.version)
        except UtmostError:
            if is_counted and at not in self._ledger.release(name, release.version).levels:  # nothing was drawn
                self._context.records.write(lambda store: _Copies.of(store, token, release).without(at).put(store))
            raise
        self.note_view(token, release)
        return view_of(release, answer)

    def note_view(self, token: Token, release: Published) -> None:
        """Record in the trail, at most once a day, that a token read a release."""
        self._context.trail_once_a_day(token, "view", release=release.name, version=release.version)

    def margin(
        self, token: Token, name: str, at: Level, *, confidence: Number = DEFAULT_CONFIDENCE, version: int | None = None
    ) -> int | float:
        """Return the margin of error of a release at any level; it depends only on the promise."""
        release = self._known(token, "list", name, version)
        return margin_of_release(release, at, confidence)

    def publish_measures(
        self,
        token: Token,
        key: str,
        requests: Sequence[PublishRequest],
        tables: Mapping[str, Any],
        proposals: Mapping[str, str | None],
    ) -> dict[str, View]:
        """Publish one or several tables in one transaction, all or none; each table has its own approval."""
        # The idempotency key becomes the ledger's name for the request. The call refuses a missing approval; tables of
        # several datasets; a counted table with fields that the promise leaves out; and, with a token for some
        # releases, data that are not declared to be in no other dataset, or a dataset that others spend.
        check_one_dataset(requests)
        check_drawn_together(requests)
        for request in requests:
            token.check("publish", request.name, request.level)
            check_declared(token, "publish", served(request))
            request.promise.check(tables[request.name])
            check_table_served(tables[request.name], request.promise)
        # An approved promise is published as it was shown. Without an approval, a counted table adds who was counted.
        requests = [
            request
            if proposals.get(request.name) is not None
            else replace(request, promise=promise_for(request.promise, tables[request.name]))
            for request in requests
        ]
        approved = [proposable(request) for request in requests]
        verbs = ["publish" if len(requests) == 1 else f"publish {request.name}" for request in requests]
        named = [
            replace(request, request=self._context.record_name(verb, token, key))
            for request, verb in zip(requests, verbs, strict=True)
        ]
        begin = self._proposals.begin_work(token, key, approved, proposals, approved)
        # A single table under a new name is no guess: no published table has this name, so the table is published and
        # spends its level, or is refused for another reason. Several tables can be guesses: if one of them differs, all
        # are refused, and nothing is spent. A guess at a tiny level costs almost nothing in a dataset without a limit:
        # so only a dataset with a limit makes it `is_paid`.
        existing = {(release.name, release.version) for release in self._ledger.releases}
        is_guess = len(requests) > 1 or not all(
            (request.name, request.version) not in existing
            and self.may_know(token, "publish", request.dataset, request.name)
            for request in approved
        )
        is_paid = not is_guess and self._is_limited(requests[0].dataset)
        comparing = self._comparing(token, key, begin, *tables, is_guess=is_guess, is_paid=is_paid)
        with comparing as compared, _hidden_dataset_names(not token.may("publish")):
            # A token for some releases must not spend a dataset of others. A dataset is looked up only for an approved
            # request whose other errors were reported before. So a guess of a dataset's name costs a publication if it
            # is wrong, and counts as a failed comparison if it is right. An existing release stays in its dataset,
            # whichever dataset a request names, so the ledger checks it.
            for request in requests:
                is_there = any(name == request.name for name, _ in existing)
                if is_there or self.may_know(token, "publish", request.dataset, request.name):
                    continue
                checked_table(tables[request.name], request.promise, request.level)
                compared.looked_up.append(request.dataset)
                with suppress(NotPublished):  # nobody spends this dataset, and it has no limit
                    self._ledger.budget(request.dataset)
                    raise _others_dataset()
            published = self._ledger.publish_measures(named, tables)
        self._proposals.note_sent(token, key, approved, proposals)
        warnings = [*compared.warnings]
        if not any(isinstance(one, SeparateDatasets) for one in warnings):
            warnings += self._repeated_separate(approved)
        return {name: self._view(name, answer, warnings) for name, answer in published.items()}

    def _repeated_separate(self, requests: Sequence[PublishRequest]) -> list[PrivacyWarning]:
        """Return the warning SeparateDatasets of a repeated request, if its release was the first of a new dataset."""
        # The ledger warns when the release is drawn; without the warning, a repetition would have another answer.
        asked = {(request.name, request.version) for request in requests if not request.independent}
        dataset, earlier = requests[0].dataset, set[str]()
        first = next((one for one in self._ledger.releases if one.dataset == dataset), None)
        if first is None or (first.name, first.version) not in asked:
            return []
        for event in self._ledger.history():
            if event.kind not in _BEGIN_DATASETS:
                continue
            if event.facts["dataset"] == dataset:
                text = separate_warning(earlier, dataset) if event.kind == "published" else None
                return [] if text is None else [SeparateDatasets(text)]
            earlier.add(event.facts["dataset"])
        return []

    def relax_measures(
        self,
        token: Token,
        key: str,
        requests: Sequence[AnswerRequest],
        tables: Mapping[str, Any],
        proposals: Mapping[str, str | None],
    ) -> dict[str, View]:
        """Relax one or several releases in one transaction, all or none; each release has its own approval."""
        # A stored level is answered again, and needs no approval.
        meant, new = list[AnswerRequest](), list[AnswerRequest]()
        for request in requests:
            token.check("relax", request.name, request.level)
            version = request.version
            if version is None:  # a repeated request is about the version that was newest at first
                version = self._proposals.earlier_version(token, key, "relax", request.name)
            release = self._ledger.release(request.name, version)
            meant.append(replace(request, version=release.version))
            if request.level not in release.levels:
                new.append(meant[-1])
        begin = self._proposals.begin_work(token, key, meant, proposals, new)
        with self._comparing(token, key, begin, *tables) as compared:
            relaxed = self._ledger.relax_measures(meant, tables)
        self._proposals.note_sent(token, key, meant, proposals)
        return {name: self._view(name, answer, compared.warnings) for name, answer in relaxed.items()}

    def _view(self, name: str, answer: Answer[Any], warnings: Sequence[PrivacyWarning]) -> View:
        view = view_of(self._ledger.release(name, answer.release.version), answer)
        return replace(view, warnings=tuple(warnings))

    @contextmanager
    def _comparing(
        self,
        token: Token,
        key: str,
        begin: Callable[[RecordTransaction], bool],
        *names: str,
        is_guess: bool = True,
        is_paid: bool = False,
    ) -> Iterator["_Compared"]:
        """Count a person's tables that differ from confidential values; after too many in a day, refuse further tables.

        With ``is_paid``, further tables are compared nevertheless, because their answers spend a limited budget. The
        `with` block appends each dataset that it looks up to `looked_up`: an error after a look-up counts as a failure,
        too.
        """
        # A comparison reveals only yes or no, but unlimited guesses would find small values. A failure is counted
        # before the comparison, and taken back after a success: simultaneous requests learn no more than successive
        # ones, and an interrupted comparison stays counted. `begin` is the work of the transaction that counts; see
        # `Proposals.begin_work`. A request that was answered before has a separate count under its key, so that it can
        # be repeated after failures of other requests; guesses under that key are limited in the same way.
        began = self._context.clock()
        day, mark = int(began // _DAY), entropy(8).hex()
        count_name, compared = list[str](), _Compared()

        def count(store: RecordTransaction) -> bool:
            own = [self._context.record_name("compared", token, key)] if begin(store) else []
            count_name.append(store.hidden("compared", min(self._context.person(store, token).person), day, *own))
            counted = store.get("compared", count_name[-1]) or {"failed": 0, "begun": {}}
            over = [one for one, since in counted["begun"].items() if began - since > _COMPARED_BY]
            failed = counted["failed"] + len(over)
            if not is_paid and failed >= _DIFFERENT_A_DAY:
                remedy = (
                    "Compare the table on the machine that has the ledger, by Ledger.difference, or send it tomorrow."
                )
                required = f"at most {_DIFFERENT_A_DAY} tables of one person may differ from published tables in a day"
                where, left = ", ".join(map(repr, names)), (day + 1) * _DAY - began
                raise TooOften(required, came="as many", where=where, remedy=remedy).after(left)
            if is_guess and counted["failed"] + len(counted["begun"]) >= _DIFFERENT_A_DAY:
                return False
            store.put("compared", count_name[-1], counted | {"begun": counted["begun"] | {mark: began}})
            return True

        def end(store: RecordTransaction, kind: str | None) -> None:
            counted = store.get("compared", count_name[-1]) or {"failed": 0, "begun": {}}
            begun = {one: since for one, since in counted["begun"].items() if one != mark}
            store.put("compared", count_name[-1], {"failed": counted["failed"] + (kind is not None), "begun": begun})
            for name in names if kind is not None else ():
                self._context.trail(store, token, "comparison failed", release=name, refused=kind)

        until = time.monotonic() + _TO_COMPARE
        while not self._context.records.write(count):
            if time.monotonic() > until:
                required = f"at most {_DIFFERENT_A_DAY} tables of one person can be compared at once"
                raise LedgerUnavailable(
                    required,
                    came="one more table",
                    remedy="Send the request again in a second, with the same Idempotency-Key.",
                )
            time.sleep(_A_TURN)
        failed_as = None
        try:
            with collected_warnings() as found:
                yield compared
            # Texts beside the values, which agree: unlimited guesses would find them, too.
            failed_as = next((RowsRenamed.__name__ for one in found if isinstance(one, RowsRenamed)), None)
            for one in found:
                if isinstance(one, WitnessMissing):  # has a path of the server
                    warn(str(one), WitnessMissing)
                else:
                    compared.warnings.append(one)
        except UtmostError as error:
            # An `AlreadyPublished` because of other arguments does not depend on the values, and is no failure.
            reveals_values = isinstance(error, (DataChanged, NotAllowed))
            if (
                reveals_values
                or compared.looked_up
                or (isinstance(error, AlreadyPublished) and error.known_as is not None)
            ):
                failed_as = type(error).__name__
            raise
        finally:
            self._context.records.write(lambda store: end(store, failed_as))

    def rehearse(self, token: Token, name: str, at: Level, dataset: str | None = None) -> Budget:
        """Return the budget after a release at this level; a token for some releases may name only their datasets."""
        token.check("propose", check_name(name, "name"), at)
        is_limited = not token.may("propose")  # the names of other people's datasets are hidden
        if dataset is not None and not self.may_know(token, "propose", check_name(dataset, "dataset"), name):
            raise _others_dataset()
        with _hidden_dataset_names(is_limited):
            return self._ledger.rehearse(name, epsilon=at, dataset=dataset, independent=is_limited)

    def _is_limited(self, dataset: str) -> bool:
        with suppress(NotPublished):
            return self._ledger.budget(dataset).limit is not None
        return False

    def may_know(self, token: Token, verb: str, dataset: str, name: str) -> bool:
        """Check whether a token may know a dataset: one with the release's name, or one of a visible release."""
        if token.may(verb) or dataset == name:
            return True
        visible = (release for release in self._ledger.releases if granted_level(token, release.name) is not None)
        return any(release.dataset == dataset for release in visible)

    def _known(self, token: Token, verb: str, name: str, version: int | None, at: Level | None = None) -> Published:
        """Return a release, if the token allows it at this level; a refusal does not depend on whether it exists."""
        token.check_role(verb)
        check_name(name, "name")
        number = None if version is None else exact_integer(version, "version")
        # An error that lists all releases takes longer with more releases, so it must not be made before the token is
        # checked.
        most = granted_level(token, name)
        if most is None:
            remedy = "Ask an administrator for a token for this release."
            raise NotAllowed(
                f"to {verb} this release, you need a token that allows it",
                came="a token for other releases",
                where=repr(name),
                remedy=remedy,
            )
        if at is not None and not is_granted(most, at):
            remedy = "Ask for a smaller epsilon, or ask an administrator for a token with a larger one."
            raise NotAllowed(
                "for this level, you need a token that allows it",
                came=f"epsilon = {level_text(at)}",
                where=repr(name),
                remedy=remedy,
            )
        return self._ledger.release(name, number)


def _others_dataset() -> NotAllowed:
    remedy = "Ask somebody with a token for all releases to send the table."
    return NotAllowed(
        "dataset must be a dataset of the releases that the token allows",
        came="another dataset",
        where="dataset",
        remedy=remedy,
    )
