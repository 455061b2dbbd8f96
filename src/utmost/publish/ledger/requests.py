"""Requests to a ledger: to publish a table, and to answer a release at another level.

Each field of a request is defined once, here, with the form by which it is written, read and shown. The JSON of a
request, the digest that a second person approves, the event of the ledger, the fields of the API and the rows of pages
are derived from these definitions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from utmost.core.exact.arguments import instance, mapping, truth
from utmost.core.exact.field_forms import arguments_of, facts_of, form
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import natural
from utmost.core.exact.written_levels import level_from_text, level_text
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.ledger.names import check_name
from utmost.publish.promises.ledger_facts import MOST_VERSIONS
from utmost.publish.promises.promise import Promise, checked_promise
from utmost.tables.frames.any_table import is_engine_table

_NAME = form("name of the release", hint="For example admissions-2026.")
_LEVEL = form("epsilon", write=level_text, read=lambda fact, name: level_from_text(fact))
_VERSION = form("version of the data", hint="Empty for the first; 2 for corrected data.")


_OF_ONE_CALL = ("promise", "level", "version", "request", "independent")
"""Fields that a repeated request need not keep; of the promise it must keep most facts."""


@dataclass(frozen=True, slots=True)
class PublishRequest:
    """A request to publish a table, without the table; checked when it is made.

    Attributes:
        name: Name of the release.
        promise: Promise about the table.
        level: Level of the first answer.
        dataset: Dataset whose budget is spent; the levels of all its releases add up.
        version: Version of the data; None for the newest one.
        request: Name under which the same request may be repeated; None for no name.
        independent: Whether no individual of these data is in another dataset of the ledger.

    Raises:
        WrongKind: if ``promise`` is not a promise, or if ``level`` is not a `Level`.
        OutOfRange, NotANumber: if the name, the dataset, the request, the version or ``independent`` is invalid.
    """

    name: str = field(metadata=_NAME)
    promise: Promise = field(
        metadata=form("promise", write=Promise.facts, read=lambda facts, name: Promise.of_facts(facts))
    )
    level: Level = field(metadata=_LEVEL)
    dataset: str = field(metadata=form("spends the budget of", hint="Empty for a separate dataset."))
    version: int | None = field(default=None, metadata=_VERSION)
    request: str | None = field(default=None, metadata=form("name of the request"))
    independent: bool = field(default=False, metadata=form("other datasets"))

    def __post_init__(self) -> None:
        check_name(self.name, "name")
        checked_promise(self.promise)
        instance(self.level, Level, "level")
        check_name(self.dataset, "dataset")
        if self.version is not None:
            object.__setattr__(self, "version", natural(self.version, "version", 1, MOST_VERSIONS))
        if self.request is not None:
            check_name(self.request, "request")
        object.__setattr__(self, "independent", truth(self.independent, "independent"))

    def facts(self) -> dict[str, Any]:
        """Return the request as JSON values, without fields that are None; `of_facts` reads them."""
        return facts_of(self)

    def lasting_facts(self) -> dict[str, Any]:
        """Return the facts that a repeated request must keep: its fields and those of its promise, in one mapping."""
        facts = facts_of(self)
        promise = {name: fact for name, fact in facts["promise"].items() if name not in ("drop", "keyed_by_id")}
        return {name: fact for name, fact in facts.items() if name not in _OF_ONE_CALL} | promise

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "PublishRequest":
        """Read the request that JSON values describe; a missing or null field has its default.

        Raises:
            OutOfRange: if a field is unknown, or if a field without a default is missing.
            UtmostError: if a value is invalid.
        """
        return cls(**_arguments(cls, facts, {"dataset": mapping(facts, "request").get("name")}))


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A request to answer a release at another level, without a table; checked when it is made.

    Attributes:
        name: Name of the release.
        level: Level of the answer.
        version: Version of the data; None for the newest one.

    Raises:
        WrongKind, OutOfRange, NotANumber: if the level, the name or the version is invalid.
    """

    name: str = field(metadata=_NAME)
    level: Level = field(metadata=_LEVEL)
    version: int | None = field(default=None, metadata=_VERSION)

    def __post_init__(self) -> None:
        check_name(self.name, "name")
        instance(self.level, Level, "level")
        if self.version is not None:
            object.__setattr__(self, "version", natural(self.version, "version", 1, MOST_VERSIONS))

    def facts(self) -> dict[str, Any]:
        """Return the request as JSON values, without fields that are None; `of_facts` reads them."""
        return facts_of(self)

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "AnswerRequest":
        """Read the request that JSON values describe, as for `PublishRequest.of_facts`."""
        return cls(**_arguments(cls, facts, {}))


def _arguments(kind: type, facts: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a request that JSON values describe; refuse a missing one."""
    arguments = {**defaults, **arguments_of(kind, facts, "request")}
    needed = (each.name for each in fields(kind) if each.default is MISSING)
    if missing := [name for name in needed if arguments.get(name) is None]:
        raise OutOfRange(
            f"a request must have the field {missing[0]!r}", came="none", remedy="Add the field to the request."
        )
    return arguments


def check_one_dataset(requests: Sequence[PublishRequest]) -> None:
    if len({(request.dataset, request.independent) for request in requests}) != 1:
        remedy = "Pass the same dataset= and the same independent= for all measures."
        raise OutOfRange(
            "measures that are published together must all name the same dataset",
            came="several datasets",
            remedy=remedy,
        )


def table_in_memory(table: Any) -> Any:
    """Return the table; refuse an engine's frame, whose noise the ledger does not draw itself."""
    if is_engine_table(table):
        remedy = "Count the frame with ut.count_table: the engine counts the rows."
        raise Unsupported("measures must be published from tables in memory", came="an engine's frame", remedy=remedy)
    return table
