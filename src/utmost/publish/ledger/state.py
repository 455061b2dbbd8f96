"""Compute the state of a ledger (its releases, budgets, quarantine) from the list of its events."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from utmost.core.exact.defaults import CONFIDENCE
from utmost.core.exact.display import Display, few
from utmost.core.exact.field_forms import json_forms
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact_integer, read_confidence
from utmost.core.exact.written_levels import level_from_text
from utmost.errors import LedgerDamaged, NotPublished, OutOfRange, Unsupported
from utmost.publish.counting.counted_facts import Part, read_part
from utmost.publish.ledger.events import Event
from utmost.publish.ledger.labels import Labels
from utmost.publish.ledger.names import check_name
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.ledger.spending import Account, Spending
from utmost.publish.ledger.stored_mechanisms import (
    DRAWN,
    OFFERED,
    DrawnAnswers,
    StoredMechanism,
    mechanism_of_facts,
)
from utmost.publish.promises.drawing import BLOCK
from utmost.publish.promises.ledger_facts import MOST_VERSIONS, LedgerFacts
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.until import Stop

ReleaseKey = tuple[str, int]
"""Name and version of a release or a mechanism."""


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """Facts of a release whose noise is keyed by identifier."""

    # Digest of the tags of the rows, in their stored order; None if the ledger stores no responses, as for an engine's
    # release
    tags: str | None
    # Declared universe of cells that are drawn when requested, see `universe_facts`; None for all other releases
    universe: Mapping[str, Any] | None

    @property
    def is_stored(self) -> bool:
        """Whether the ledger stores the responses."""
        return self.tags is not None

    def facts(self) -> dict[str, Any]:
        return {"tags": self.tags, "universe": None if self.universe is None else dict(self.universe)}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "ItemFacts":
        tags, universe = facts["tags"], facts["universe"]
        if tags is not None and type(tags) is not str:
            raise TypeError("tags")
        if universe is not None and {*map(type, (universe["size"], *universe.values()))} != {str}:
            raise TypeError("universe")
        return cls(tags, universe)


@dataclass(frozen=True, slots=True)
class Stopped:
    """The level at which the stopping rule of a release stopped, with the facts of the stop."""

    level: Level
    stop: Stop


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The storage of the response at one level: consecutive parts of an event."""

    event: int
    first: int  # Number of the first part of the response; commitment, tags and labels come before it
    parts: int  # Number of parts
    root: str  # Digest of all parts
    label_key: str | None  # Key of the labels, encrypted under the key of the level; None if labels are not encrypted


@dataclass(frozen=True, repr=False)
class Published(Display):
    """One version of a release. The request and the promise are parsed from the event on first use.

    Attributes:
        name: Name of the release.
        version: Version of the data: 1, 2, ...
        dataset: Dataset whose budget the release spends.
        rows: Number of rows of each released column.
        kind: Kind of table that was published.
        commitment: Digest of the commitment to the values.
        values: Encrypted digests by which the values are recognised, see `TableDigests`.
        items: Facts of noise keyed by identifier; None if noise is drawn by rows.
        labels: Facts of the stored public columns; None if there are none.
        question: Keyed digest of all facts that determine the answers, see `question_of`.
        part: The partition of the individuals, and which part of it was counted; None if there is no partition.
        facts: Facts of the event that published the release.
        responses: Dict from levels to stored responses.
        stopped: Level at which the stopping rule stopped, and the facts of the stop; None without a rule.
        relaxable: False if a rollback has lost responses of the release, see `folded`.
    """

    _shown = ("name", "version", "dataset", "columns", "rows", "levels")

    name: str
    version: int
    dataset: str
    rows: int
    kind: str
    commitment: str
    values: str
    items: ItemFacts | None
    labels: Labels | None
    question: str
    part: Part | None
    facts: Mapping[str, Any]
    responses: Mapping[Level, StoredResponse]
    stopped: "Stopped | None"
    relaxable: bool

    @cached_property
    def request(self) -> PublishRequest:
        """The request that published the release, with its version, and with the columns in the order of the table.

        Whether the data were declared independent is not stored.

        Raises:
            LedgerDamaged: if the event has no valid request.
        """
        try:
            return PublishRequest.of_facts({name: self.facts[name] for name in _REQUESTED if name in self.facts})
        except _UNREADABLE as error:
            raise LedgerDamaged(
                "a stored event must contain all facts of its kind",
                came=repr(error),
                where=self.name_and_version,
            ) from None

    @property
    def key(self) -> ReleaseKey:
        """The name and the version of the release."""
        return self.name, self.version

    @property
    def name_and_version(self) -> str:
        """The name and the version of the release, as messages show them."""
        return f"{self.name!r}, version {self.version}"

    @cached_property
    def bound(self) -> bytes:
        """Digest of all public facts about the release; the keys of all its levels are derived from this digest."""
        bound = {name: fact for name, fact in self.facts.items() if name not in _UNBOUND}
        text = json.dumps(bound, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return sha256(text.encode("ascii")).digest()

    @property
    def promise(self) -> Promise:
        """The promise about the table, with the columns in the order of the table."""
        return self.request.promise

    @property
    def noise(self) -> Noise:
        """The noise of the release, for any level."""
        return self.request.promise.lasting_noise

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the released columns, in order."""
        return self.request.promise.columns

    @property
    def public(self) -> tuple[str, ...]:
        """The names of the columns that were declared public at publication."""
        return self.request.promise.public

    @property
    def path(self) -> tuple[Level, ...]:
        """The levels with a response, in the order in which they were answered."""
        return tuple(sorted(self.responses, key=lambda level: self.responses[level].event))

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels with a stored response, smallest epsilon first."""
        return tuple(sorted(self.responses))

    @cached_property
    def spent(self) -> Level:
        """The largest answered level, which is the cost of all responses together."""
        return max(self.responses)

    def level_of_answer(self, epsilon: Level) -> Level | None:
        """Return the level at which a request to publish at ``epsilon`` was answered; None if it was not answered."""
        if self.stopped is not None:
            return self.stopped.level if self.stopped.stop.promised == epsilon else None
        return epsilon if epsilon in self.responses else None

    def margin(self, level: Level, confidence: Number) -> int | float:
        """Return the margin of error of an answer at a level; it also holds if a stopping rule chose the level."""
        if (stop := self.stop_at(level)) is None:
            return self.noise.margin(level, confidence)
        return self.promise.at_stop(level, replace(stop, confidence=read_confidence(confidence))).margin

    def stop_at(self, level: Level) -> Stop | None:
        """Return the facts of the stopping rule at a level; None if there is no rule or it did not try the level."""
        if self.stopped is None or level not in self.stopped.stop.levels:
            return None
        return self.stopped.stop if level == self.stopped.level else replace(self.stopped.stop, is_met=None)

    @property
    def relation(self) -> str:
        """The neighbouring relation of the release. Levels add up only between releases with the same relation."""
        return self.noise.relation

    def with_response(self, level: Level, response: StoredResponse) -> "Published":
        """Return the release with one more response, without parsing the event again."""
        more = self._with(responses={**self.responses, level: response})
        more.__dict__["spent"] = max(self.spent, level)
        return more

    def stopped_at(self, level: Level, promised: Level, *, is_met: bool) -> "Published":
        """Return the release with the fact that its stopping rule has stopped at ``level``.

        Raises:
            LedgerDamaged: if the level was not answered, or if the rule is not met and the level is not the rule's last
                one.
        """
        until = self.promise.until
        levels = () if until is None else until.levels(promised)
        if self.stopped is not None or self.levels != tuple(rung for rung in levels if rung <= level):
            raise LedgerDamaged(
                "a stopping rule must stop at the last level of its ladder that was answered",
                came=str(level),
                where=repr(self.name),
            )
        if not is_met and level != promised:
            raise LedgerDamaged(
                "a stopping rule that is not met must stop at the last level of its ladder",
                came=str(level),
                where=repr(self.name),
            )
        return self._with(stopped=Stopped(level, Stop(levels, is_met, CONFIDENCE)))

    def _with(self, **changed: Any) -> "Published":
        other = replace(self, **changed)
        other.__dict__.update((name, self.__dict__[name]) for name in ("request", "bound") if name in self.__dict__)
        return other

    def spent_by(self, event: int) -> Level | None:
        """Return the largest level answered up to the event of this number; None if there is no answer."""
        return max((level for level, response in self.responses.items() if response.event <= event), default=None)

    def check_kept(self) -> None:
        """Check that the ledger stores the responses of the release.

        Raises:
            Unsupported: if an engine computes the answers of the release.
        """
        if self.items is not None and not self.items.is_stored:
            raise Unsupported(
                "a release whose responses the ledger does not store must be answered by its engine",
                came="a release whose answers an engine computes",
                where=repr(self.name),
                remedy="Pass an answer at another level to `view`, as table and table_at; or use ledger.items.",
            )


@dataclass(frozen=True, slots=True)
class State:
    # Number and mac of the last event
    number: int
    mac: bytes
    identity: str = ""  # Random name of the ledger; its copies share it
    fingerprint: str = ""
    # Whether responses are encrypted, and whether noise is derived from the key
    is_sealed: bool = True
    is_derived: bool = False
    has_witness: bool = True
    releases: dict[ReleaseKey, Published] = field(default_factory=dict)
    # Spending of each dataset that a release, a mechanism or a charge names
    accounts: Mapping[str, Account] = field(default_factory=dict)
    # First release or mechanism of each of these datasets
    first: Mapping[str, ReleaseKey] = field(default_factory=dict)
    limits: Mapping[str, Level] = field(default_factory=dict)
    # Levels that other tools spent, by dataset and description; the accounts include them
    charges: Mapping[tuple[str, str], Level] = field(default_factory=dict)
    # Cost of the releases that a rollback has lost, by dataset
    missing: Mapping[str, Spending] = field(default_factory=dict)
    quarantine: str | None = None  # Reason for refusing new answers; None if they are allowed
    # Release and level of each named request
    requests: Mapping[str, tuple[ReleaseKey, Level]] = field(default_factory=dict)
    # Mechanisms that answer single persons, by name and version
    mechanisms: Mapping[ReleaseKey, StoredMechanism] = field(default_factory=dict)
    # Where the persons' answers are stored, by the number of the event
    draws: dict[int, DrawnAnswers] = field(default_factory=dict)

    def newest(self, name: str) -> int:
        """Return the newest version of a release or a mechanism; 0 if nothing has this name."""
        check_name(name, "name")
        newest, known = 0, self.releases if (name, 1) in self.releases else self.mechanisms
        while (name, newest + 1) in known:
            newest += 1
        return newest

    def version_meant(self, name: str, wanted: int | None) -> int | None:
        """Return the version ``wanted``, or the newest if ``wanted`` is None; return None for the next version."""
        newest = self.newest(name)
        meant = max(newest, 1) if wanted is None else wanted
        if 1 <= meant <= newest:
            return meant
        if meant != newest + 1:
            remedy = f"Pass version={newest + 1}, the next version."
            raise OutOfRange(
                "version must be an existing version or the next version", came=meant, where=repr(name), remedy=remedy
            )
        return None

    def release(self, name: str, version: int | None) -> Published:
        """Return one version of a release; the newest if ``version`` is None."""
        newest = self.newest(name)
        wanted = newest if version is None else exact_integer(version, "version")
        published = self.releases.get((name, wanted))
        if published is None:
            known = sorted({known for known, _ in self.releases})
            came = f"{name!r}" if version is None else f"{name!r}, version {version}"
            remedy = f"The releases are: {few(known, 20)}." if known else "Publish it first."
            if (name, 1) in self.mechanisms:
                remedy = "Call respond: this name belongs to a mechanism that answers persons."
            raise NotPublished("name must be the name of a published release", came=came, remedy=remedy)
        return published

    def all_versions(self, name: str) -> list[Published | StoredMechanism]:
        versions = ((name, version) for version in range(1, self.newest(name) + 1))
        return [self.releases.get(version) or self.mechanisms[version] for version in versions]

    def relation(self, dataset: str) -> str | None:
        """Return the neighbouring relation that the levels of a dataset protect; None if it has spent nothing."""
        item = self.first.get(dataset)
        # Each release was checked against the first one, so that all have the same relation.
        return None if item is None else (self.releases.get(item) or self.mechanisms[item]).relation

    def spending(self, dataset: str) -> Spending:
        """Return the sum of the largest levels of a dataset's releases, with the levels that rollbacks have lost."""
        return self.accounts.get(dataset, Account()).spending + self.missing.get(dataset, Spending())

    @property
    def datasets(self) -> list[str]:
        return sorted({*self.accounts, *self.limits, *self.missing})

    def ledger_facts(self, key: ReleaseKey, at: Level) -> LedgerFacts:
        """Return the facts that a ledger adds to the statement of an answer, as of the time of the answer."""
        release = self.releases[key]
        event = release.responses[at].event
        levels = tuple(level for level in release.levels if release.responses[level].event <= event)
        versions = (self.releases[release.name, version] for version in range(1, self.newest(release.name) + 1))
        spent = [level for version in versions if (level := version.spent_by(event)) is not None]
        together, seen = Spending.of(spent).level, Spending.of(min(level, at) for level in spent).level
        return LedgerFacts(release.name, release.version, levels, together, seen, release.stop_at(at))


def folded(state: State, events: Iterable[tuple[Event, bytes]]) -> State:
    """Return the state after more events, which come as pairs of an event and its MAC."""
    # A rollback loses responses. If a release were answered again, the new responses would have no joint distribution
    # with the lost ones, and both together would cost more than the larger level. So the event that ends a quarantine
    # charges the dataset with the lost levels and closes the releases that lost responses: their stored responses can
    # be viewed, and noise can be added, but they can never be relaxed.
    releases, limits, requests = dict(state.releases), dict(state.limits), dict(state.requests)
    missing, mechanisms, draws, folding = dict(state.missing), dict(state.mechanisms), dict(state.draws), state
    accounts, first, charges = dict(state.accounts), dict(state.first), dict(state.charges)
    number, last = state.number, state.mac
    for event, mac in events:
        facts = event.facts
        try:
            for name, types in _TYPES.get(event.kind, {}).items():
                fact = facts[name]
                if type(fact) not in types or (type(fact) is int and not 0 <= fact < 1 << 62):
                    raise TypeError(name)
            if (event.kind == "opened") != (event.number == 1):
                raise LedgerDamaged("the first event of a ledger, and no other event, must open it", came=event.kind)
            if event.kind == "opened":
                folding = replace(
                    folding,
                    identity=facts["identity"],
                    fingerprint=facts["key"],
                    is_sealed=facts["sealed"],
                    is_derived=facts["derived"],
                    has_witness=facts["witness"],
                )
            elif event.kind == "published":
                release = _published(facts, event.number)
                item = release.key
                if item in releases or (release.version > 1 and (release.name, release.version - 1) not in releases):
                    raise LedgerDamaged(
                        "the versions of a name must be numbered without gaps", came=f"version {release.version}"
                    )
                releases[item] = release
                first.setdefault(release.dataset, item)
                account = accounts.get(release.dataset, Account())
                accounts[release.dataset] = account.plus(release.spent, release.part)
                if facts.get("request") is not None:
                    requests[facts["request"]] = item, release.spent
            elif event.kind == "answered":
                item = facts["name"], facts["version"]
                before, releases[item] = releases[item], _answered(releases[item], facts, event.number)
                if releases[item].spent != before.spent:
                    account = accounts[before.dataset].minus(before.spent, before.part)
                    accounts[before.dataset] = account.plus(releases[item].spent, before.part)
            elif event.kind == "stopped":
                item, promised = (facts["name"], facts["version"]), level_from_text(facts["promised"])
                release = releases[item]
                releases[item] = release.stopped_at(level_from_text(facts["level"]), promised, is_met=facts["met"])
                if release.facts.get("request") is not None:
                    requests[release.facts["request"]] = item, promised
            elif event.kind == "offered":
                mechanism = mechanism_of_facts(mechanisms, facts)
                item = mechanism.name, mechanism.version
                mechanisms[item] = mechanism
                first.setdefault(mechanism.dataset, item)
                accounts[mechanism.dataset] = accounts.get(mechanism.dataset, Account()).plus(mechanism.spent)
            elif event.kind == "drawn":
                item = facts["name"], facts["version"]
                draws[event.number] = DrawnAnswers(
                    item, event.number, mac, facts["persons"], facts["parts"], facts["root"]
                )
                mechanisms[item] = replace(mechanisms[item], persons=mechanisms[item].persons + facts["persons"])
            elif event.kind == "budgeted":
                limits.pop(facts["dataset"], None)  # if the new limit is None, there is no limit
                if facts["limit"] is not None:
                    limits[facts["dataset"]] = level_from_text(facts["limit"])
            elif event.kind == "charged":
                charge, spent = (facts["dataset"], facts["what"]), level_from_text(facts["level"])
                if charge in charges:
                    raise LedgerDamaged("a ledger must not contain a charge twice", came=repr(charge[1]))
                charges[charge] = spent
                accounts[charge[0]] = accounts.get(charge[0], Account()).plus(spent)
            elif event.kind == "quarantined":
                folding = replace(folding, quarantine=facts["reason"])
            elif event.kind == "resumed":
                folding = replace(folding, quarantine=None)
                for name, version in facts["closed"]:
                    item = name, version
                    if item in mechanisms:
                        mechanisms[item] = replace(mechanisms[item], open=False)
                    else:
                        releases[item] = replace(releases[item], relaxable=False)
                for dataset, levels in facts["missing"].items():
                    lost = Spending.of(level_from_text(text) for text in levels)
                    missing[dataset] = missing.get(dataset, Spending()) + lost
        except _UNREADABLE as error:
            raise LedgerDamaged(
                "a stored event must contain all facts of its kind", came=repr(error), where=f"event {event.number}"
            ) from None
        number, last = event.number, mac
    return replace(
        folding,
        number=number,
        mac=last,
        releases=releases,
        accounts=accounts,
        first=first,
        limits=limits,
        charges=charges,
        missing=missing,
        requests=requests,
        mechanisms=mechanisms,
        draws=draws,
    )


_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError)
"""The exceptions that parsing invalid facts can raise."""

_TEXT, _NUMBER = (str,), (int,)
_OF_RESPONSE: Mapping[str, tuple[type, ...]] = {
    "name": _TEXT,
    "version": _NUMBER,
    "level": _TEXT,
    "how": _TEXT,
    "parts": _NUMBER,
    "root": _TEXT,
    "label_key": (str, type(None)),
}
_OF_TABLE: Mapping[str, tuple[type, ...]] = {
    "rows": _NUMBER,
    "kind": _TEXT,
    "commitment": _TEXT,
    "values": _TEXT,
    "items": (dict, type(None)),
    "labels": (dict, type(None)),
    "question": _TEXT,
}
_TYPES: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "opened": {"identity": _TEXT, "key": _TEXT, "sealed": (bool,), "derived": (bool,), "witness": (bool,)},
    "published": {"promise": (dict,), "dataset": _TEXT, **_OF_TABLE, **_OF_RESPONSE},
    "answered": _OF_RESPONSE,
    "stopped": {"name": _TEXT, "version": _NUMBER, "level": _TEXT, "promised": _TEXT, "met": (bool,)},
    "offered": OFFERED,
    "drawn": DRAWN,
    "budgeted": {"dataset": _TEXT, "limit": (str, type(None))},
    "charged": {"dataset": _TEXT, "level": _TEXT, "what": _TEXT},
    "quarantined": {"reason": _TEXT},
    "resumed": {"missing": (dict,), "closed": (list,)},
}
"""The types of the facts of an event; they are checked, since a ledger read without its key may be forged."""


_REQUESTED = json_forms(PublishRequest)

# Facts that the digest leaves out: those that only the curator may see, and those of a single response, which are
# authenticated when that response is encrypted.
_UNBOUND = {"request", "values", *_OF_RESPONSE} - {"name", "version"}


def event_facts(
    request: PublishRequest,
    *,
    rows: int,
    kind: str,
    commitment: bytes,
    values: str,
    items: ItemFacts | None,
    labels: Labels | None,
    question: str,
) -> dict[str, Any]:
    """Return the facts of a release that are equal for all levels, as an event stores them; see `release_of_facts`."""
    facts = request.facts()
    # A stored confirmation would reveal that another dataset has the same values.
    del facts["independent"]
    return facts | {
        "rows": rows,
        "kind": kind,
        "commitment": sha256(commitment).hexdigest(),
        "values": values,
        "items": None if items is None else items.facts(),
        "labels": None if labels is None else labels.facts(),
        "question": question,
    }


def release_of_facts(
    facts: Mapping[str, Any], responses: Mapping[Level, StoredResponse], request: PublishRequest | None = None
) -> Published:
    """Build the release that an event describes; if ``request`` is None, the facts are parsed on first use."""
    check_name(facts["name"], "name")
    check_name(facts["dataset"], "dataset")
    if not 1 <= facts["version"] <= MOST_VERSIONS:
        raise ValueError("version")
    if facts.get("request") is not None:
        check_name(facts["request"], "request")
    release = Published(
        name=facts["name"],
        version=facts["version"],
        dataset=facts["dataset"],
        rows=facts["rows"],
        kind=facts["kind"],
        commitment=facts["commitment"],
        values=facts["values"],
        items=None if facts["items"] is None else ItemFacts.of_facts(facts["items"]),
        labels=Labels.of_facts(facts["labels"], facts["rows"]),
        question=facts["question"],
        part=read_part(facts["promise"].get("part")),
        facts=facts,
        responses=responses,
        stopped=None,
        relaxable=True,
    )
    if request is not None:
        vars(release)["request"] = request  # sets the cached property
    return release


def _published(facts: Mapping[str, Any], number: int) -> Published:
    responses: dict[Level, StoredResponse] = {}
    release = release_of_facts(facts, responses)
    first = 1 if release.items is None or not release.items.is_stored else 1 + -(-facts["rows"] // BLOCK)
    first += 0 if release.labels is None else release.labels.parts
    responses[level_from_text(facts["level"])] = _response(facts, number, first)
    return release


def _answered(release: Published, facts: Mapping[str, Any], number: int) -> Published:
    level = level_from_text(facts["level"])
    if level in release.responses:
        raise LedgerDamaged(
            "a ledger must contain each level of a release once", came=str(level), where=f"event {number}"
        )
    return release.with_response(level, _response(facts, number, 0))


def _response(facts: Mapping[str, Any], number: int, first: int) -> StoredResponse:
    return StoredResponse(number, first, facts["parts"], facts["root"], facts["label_key"])
