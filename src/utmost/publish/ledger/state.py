"""What a ledger knows: a function of the list of its events, and of nothing else."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact_integer
from utmost.core.exact.shown import Shown, few
from utmost.core.exact.written_levels import level_of_text
from utmost.errors import LedgerDamaged, NotPublished, OutOfRange, Unsupported
from utmost.publish.ledger.events import Event, check_name
from utmost.publish.ledger.kept_mechanisms import DRAWN, OFFERED, DrawnAnswers, KeptMechanism, drawn, offered
from utmost.publish.ledger.labels import Labels
from utmost.publish.ledger.spending import Spending, together
from utmost.publish.promises.drawing import BLOCK
from utmost.publish.promises.noise_kinds import noise_of_facts
from utmost.publish.promises.promise import Part
from utmost.publish.promises.promised_noise import Noise

Item = tuple[str, int]
"""A release: its name and version."""


@dataclass(frozen=True, slots=True)
class ByItem:
    """What is known of a release whose noise is addressed by item.

    Attributes:
        identifiers: the columns that together say which item a row is.
        tags: the digest of the tags of the rows, in the order in which the responses are kept; None where the ledger
            keeps no responses, as for a release that an engine answers.
        universe: of cells on demand what was declared, see `universe_facts`; None for all others.
    """

    identifiers: tuple[str, ...]
    tags: str | None
    universe: Mapping[str, Any] | None = None

    @property
    def is_kept(self) -> bool:
        """Whether the ledger keeps the responses."""
        return self.tags is not None

    def facts(self) -> dict[str, Any]:
        """The same as an event keeps it."""
        declared = {} if self.universe is None else {"universe": dict(self.universe)}
        return {"identifiers": list(self.identifiers), "tags": self.tags, **declared}

    @classmethod
    def of_facts(cls, facts: Any) -> "ByItem | None":
        """What an event keeps."""
        if facts is None:
            return None
        names, tags = facts["identifiers"], facts["tags"]
        if type(names) is not list or not names or any(type(name) is not str for name in names):
            raise TypeError("identifiers")
        if tags is not None and type(tags) is not str:
            raise TypeError("tags")
        universe = facts.get("universe")
        if universe is not None and {*map(type, (universe["size"], *universe.values()))} != {str}:
            raise TypeError("universe")
        return cls(tuple(names), tags, universe)


@dataclass(frozen=True, slots=True)
class Response:
    """Where the response at one level is kept: in the parts of an event, from ``first`` on.

    Attributes:
        event: the number of the event.
        first: the part with which the response begins; before it are commitment, tags and labels.
        parts: how many parts the event has.
        root: the digest of them all.
        label_key: the key of the labels under that of the level; None where they are not sealed.
    """

    event: int
    first: int
    parts: int
    root: str
    label_key: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Published(Shown):
    """One version of a release.

    Attributes:
        name, version: which.
        dataset: whose budget it spends.
        columns: the released columns, in order.
        rows: how many rows each has.
        id_column: the column of identifiers that are committed to with the values; None where there are none.
        noise: what is added, whatever the level.
        commitment: the digest of the commitment to the values.
        kind: what kind of table it was.
        responses: level to response.
        relaxable: False once a rollback has lost responses of it, see `folded`.
        bound: the digest of all public facts about the release, see `bound_facts`.
        values: sealed digests by which its values are known again, see `Likeness`.
        public: the columns that were declared public when it was published.
        rows_from: where the list of rows comes from, "declared" or "observed".
        part: where the dataset was counted in parts that share nobody: the partition, and which part of it this is.
        items: where the noise is addressed by item, what is known of that; None where it goes by rows.
        labels: what is known of the public columns that the ledger keeps; None where there are none.
    """

    _shown = ("name", "version", "dataset", "columns", "rows", "levels")

    name: str
    version: int
    dataset: str
    columns: tuple[str, ...]
    rows: int
    id_column: str | None
    noise: Noise
    commitment: str
    kind: str
    responses: Mapping[Level, Response]
    relaxable: bool = True
    bound: bytes = b""
    values: str = ""
    public: tuple[str, ...] = ()
    rows_from: str = "declared"
    part: Part | None = None
    items: ByItem | None = None
    labels: Labels | None = None

    @property
    def path(self) -> tuple[Level, ...]:
        """The levels with a response, in the order in which they were answered."""
        return tuple(sorted(self.responses, key=lambda level: self.responses[level].event))

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels with a stored response, strictest first."""
        return tuple(sorted(self.responses))

    @property
    def spent(self) -> Level:
        """The largest of them: what all responses together cost."""
        return max(self.responses)

    @property
    def relation(self) -> str:
        """Against what its levels protect: those of one relation add up."""
        return self.noise.relation

    def spent_by(self, event: int) -> Level | None:
        """The largest level that had been answered by an event; None where none had."""
        return max((level for level, response in self.responses.items() if response.event <= event), default=None)

    def check_kept(self) -> None:
        """Check that the ledger keeps its responses.

        Raises:
            Unsupported: where an engine answers for it.
        """
        if self.items is not None and not self.items.is_kept:
            raise Unsupported(
                "only a release whose responses the ledger keeps is answered here",
                came="one for which an engine answers",
                where=repr(self.name),
                remedy="Bring its frame: at() of the release, or ledger.items, answers by the engine, which writes it.",
            )


@dataclass(frozen=True, slots=True)
class State:
    """Everything that the events up to one of them say.

    Attributes:
        number, mac: of the last event.
        identity: a random name of the ledger; its copies share it.
        fingerprint: of the key.
        is_sealed, is_derived: how the ledger was made.
        has_witness: whether it was made with a witness.
        releases: by name and version.
        limits: dataset to limit.
        missing: dataset to what releases cost that a rollback has lost.
        quarantine: why nothing new may be said, or None.
        requests: the request's name to the release that it made.
        mechanisms: those from which persons are answered, by name and version.
        draws: where their answers are, by the number of the event.
    """

    number: int
    mac: bytes
    identity: str = ""
    fingerprint: str = ""
    is_sealed: bool = True
    is_derived: bool = False
    has_witness: bool = True
    releases: Mapping[Item, Published] = field(default_factory=dict)
    limits: Mapping[str, Level] = field(default_factory=dict)
    missing: Mapping[str, Spending] = field(default_factory=dict)
    quarantine: str | None = None
    requests: Mapping[str, tuple[Item, Level]] = field(default_factory=dict)
    mechanisms: Mapping[Item, KeptMechanism] = field(default_factory=dict)
    draws: dict[int, DrawnAnswers] = field(default_factory=dict)

    def versions(self, name: str) -> list[int]:
        """The versions of a release, or of a mechanism, in order: 1, 2, ...

        Raises:
            OutOfRange: for what is no name.
        """
        check_name(name, "name")
        count, known = 0, self.releases if (name, 1) in self.releases else self.mechanisms
        while (name, count + 1) in known:
            count += 1
        return list(range(1, count + 1))

    def version_meant(self, name: str, wanted: int | None) -> int | None:
        """Which version of a release or a mechanism is meant, the newest where none is said; None for one to come.

        Raises:
            OutOfRange: for a version that cannot come next.
        """
        there = len(self.versions(name))
        meant = max(there, 1) if wanted is None else wanted
        if 1 <= meant <= there:
            return meant
        if meant != there + 1:
            remedy = f"Its next version is {there + 1}."
            raise OutOfRange("versions must follow one another", came=meant, where=repr(name), remedy=remedy)
        return None

    def release(self, name: str, version: int | None) -> Published:
        """One version of a release, or the newest.

        Raises:
            NotPublished: where there is none.
            OutOfRange, NotANumber: for what is no name, or no version.
        """
        newest = max(self.versions(name), default=1)
        wanted = newest if version is None else exact_integer(version, "version")
        published = self.releases.get((name, wanted))
        if published is None:
            known = sorted({known for known, _ in self.releases})
            came = f"{name!r}" if version is None else f"{name!r}, version {version}"
            remedy = f"The releases are: {few(known, 20)}." if known else "Publish it first."
            if (name, 1) in self.mechanisms:
                remedy = "Persons are answered under this name: call respond."
            raise NotPublished("a release must have been published", came=came, remedy=remedy)
        return published

    def named(self, name: str) -> list[Published | KeptMechanism]:
        """All versions under a name."""
        return [self.releases.get((name, k)) or self.mechanisms[name, k] for k in self.versions(name)]

    def of_dataset(self, dataset: str) -> list[Published | KeptMechanism]:
        """The releases and mechanisms that spend a dataset's budget."""
        return [spender for spender in self._spending if spender.dataset == dataset]

    def spending(self, dataset: str) -> Spending:
        """What a dataset's releases cost together, each at its largest level, with what a rollback lost."""
        spent = together((release.spent, release.part) for release in self.of_dataset(dataset))
        return spent + self.missing.get(dataset, Spending())

    @property
    def datasets(self) -> list[str]:
        """Every dataset that has a release, a limit or a loss."""
        return sorted({*self.spending_datasets, *self.limits, *self.missing})

    @property
    def spending_datasets(self) -> list[str]:
        """Every dataset that a release or a mechanism names."""
        return sorted({spender.dataset for spender in self._spending})

    @property
    def _spending(self) -> list[Published | KeptMechanism]:
        return [*self.releases.values(), *self.mechanisms.values()]


def folded(state: State, events: Iterable[tuple[Event, bytes]]) -> State:
    """The state after more events; each comes with its mac.

    A rollback loses responses. Other responses of the same release, drawn anew, would not have one joint law with
    those that were lost, and the two together would cost more than their larger level. So the event that ends a
    quarantine charges the dataset with what was lost, and closes the releases that lost something: what is stored of
    them can be viewed and tightened, which needs no data and costs nothing, but never again relaxed.
    """
    releases, limits, requests = dict(state.releases), dict(state.limits), dict(state.requests)
    missing, mechanisms, draws, folding = dict(state.missing), dict(state.mechanisms), dict(state.draws), state
    for event, mac in events:
        facts = event.facts
        try:
            _check_types(event.kind, facts)
            if (event.kind == "opened") != (event.number == 1):
                raise LedgerDamaged("the first event, and no other, must open the ledger", came=event.kind)
            if event.kind == "opened":
                folding = _opened(folding, facts)
            elif event.kind == "published":
                release = _published(facts, event.number)
                item = release.name, release.version
                if item in releases or (release.version > 1 and (release.name, release.version - 1) not in releases):
                    raise LedgerDamaged("versions must follow one another", came=f"version {release.version}")
                releases[item] = release
                if facts["request"] is not None:
                    requests[facts["request"]] = item, level_of_text(facts["level"])
            elif event.kind == "answered":
                item = facts["name"], facts["version"]
                releases[item] = _answered(releases[item], facts, event.number)
            elif event.kind == "offered":
                mechanisms[facts["name"], facts["version"]] = offered(mechanisms, facts)
            elif event.kind == "drawn":
                draws[event.number] = drawn(facts, event.number, mac)
                item = draws[event.number].item
                mechanisms[item] = replace(mechanisms[item], persons=mechanisms[item].persons + facts["persons"])
            elif event.kind == "budgeted":
                limits[facts["dataset"]] = level_of_text(facts["limit"])
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
                    lost = Spending.of(level_of_text(text) for text in levels)
                    missing[dataset] = missing.get(dataset, Spending()) + lost
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise LedgerDamaged(
                "an event must hold its facts", came=repr(error), where=f"event {event.number}"
            ) from None
        folding = replace(folding, number=event.number, mac=mac)
    folding = replace(folding, mechanisms=mechanisms, draws=draws)
    return replace(folding, releases=releases, limits=limits, missing=missing, requests=requests)


_TEXT, _NUMBER = (str,), (int,)
_OF_RESPONSE: Mapping[str, tuple[type, ...]] = {
    "name": _TEXT,
    "version": _NUMBER,
    "level": _TEXT,
    "parts": _NUMBER,
    "root": _TEXT,
    "label_key": (str, type(None)),
}
_TYPES: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "opened": {"identity": _TEXT, "key": _TEXT, "sealed": (bool,), "derived": (bool,), "witness": (bool,)},
    "published": {
        **_OF_RESPONSE,
        "dataset": _TEXT,
        "columns": (list,),
        "rows": _NUMBER,
        "id_column": (str, type(None)),
        "promise": (dict,),
        "commitment": _TEXT,
        "kind": _TEXT,
        "request": (str, type(None)),
        "values": _TEXT,
        "public": (list,),
        "rows_from": _TEXT,
        "part": (list, type(None)),
        "items": (dict, type(None)),
        "labels": (dict, type(None)),
    },
    "answered": _OF_RESPONSE,
    "offered": OFFERED,
    "drawn": DRAWN,
    "budgeted": {"dataset": _TEXT, "limit": _TEXT},
    "quarantined": {"reason": _TEXT},
    "resumed": {"missing": (dict,), "closed": (list,)},
}
"""What the facts of an event are: whoever reads a ledger without its key reads what anyone may have written."""


def _check_types(kind: str, facts: Mapping[str, Any]) -> None:
    """Raise for facts that are missing or of another type, or numbers that count nothing."""
    for name, types in _TYPES.get(kind, {}).items():
        fact = facts[name]
        if type(fact) not in types or (type(fact) is int and not 0 <= fact < 1 << 62):
            raise TypeError(name)
    if kind == "published" and not all(type(column) is str for column in (*facts["columns"], *facts["public"])):
        raise TypeError("columns")


# The facts that a recipient goes by; one that an event does not have is bound as None.
_BOUND = ["name", "version", "dataset", "columns", "public", "rows", "rows_from", "id_column", "commitment", "kind"]
_BOUND += ["part", "items", "labels"]


def bound_facts(facts: Mapping[str, Any]) -> bytes:
    """The digest of what an event says of a release at all levels: the seals of its responses bind it.

    The names and the order of the columns, the number of rows, the grid, the unit of privacy: whoever changes one of
    them changes the digest, and with it every key under which a level is sealed.
    """
    about = {name: facts.get(name) for name in _BOUND}
    about["promise"] = facts["promise"]
    return sha256(json.dumps(about, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")).digest()


def _opened(state: State, facts: Mapping[str, Any]) -> State:
    return replace(
        state,
        identity=facts["identity"],
        fingerprint=facts["key"],
        is_sealed=facts["sealed"],
        is_derived=facts["derived"],
        has_witness=facts["witness"],
    )


def _published(facts: Mapping[str, Any], number: int) -> Published:
    release = release_of_facts(facts, noise_of_facts(facts["promise"]))
    first = 1 if release.items is None or not release.items.is_kept else 1 + -(-facts["rows"] // BLOCK)
    first += 0 if release.labels is None else release.labels.parts
    return replace(release, responses={level_of_text(facts["level"]): _response(facts, number, first)})


def release_of_facts(facts: Mapping[str, Any], noise: Noise) -> Published:
    """What an event says of a release at all levels: before its first response."""
    return Published(
        name=facts["name"],
        version=facts["version"],
        dataset=facts["dataset"],
        columns=tuple(facts["columns"]),
        rows=facts["rows"],
        id_column=facts["id_column"],
        noise=noise,
        commitment=facts["commitment"],
        kind=facts["kind"],
        responses={},
        bound=bound_facts(facts),
        values=facts["values"],
        public=tuple(facts["public"]),
        rows_from=facts["rows_from"],
        part=None if facts["part"] is None else _part(*facts["part"]),
        items=ByItem.of_facts(facts["items"]),
        labels=Labels.of_facts(facts["labels"], facts["rows"]),
    )


def _part(partition: object, label: object) -> Part:
    if type(partition) is not str or type(label) is not str:
        raise TypeError("part")
    return partition, label


def _answered(release: Published, facts: Mapping[str, Any], number: int) -> Published:
    level = level_of_text(facts["level"])
    if level in release.responses:
        raise LedgerDamaged("a level must be answered once", came=str(level), where=f"event {number}")
    return replace(release, responses={**release.responses, level: _response(facts, number, 0)})


def _response(facts: Mapping[str, Any], number: int, first: int) -> Response:
    return Response(number, first, facts["parts"], facts["root"], facts["label_key"])
