"""Requests to a memory of releases: to publish a table, and to answer a release at another level."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from utmost.core.exact.arguments import instance, mapping
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact_integer
from utmost.core.exact.written_levels import level_from_text, level_text
from utmost.errors import OutOfRange
from utmost.publish.ledger.events import check_name
from utmost.publish.promises.promise import Promise


@dataclass(frozen=True, slots=True)
class PublishRequest:
    """Everything that is asked for when a table is published, except the table; checked when it is made.

    Attributes:
        name: Name of the release.
        promise: Promise about the table.
        level: Level of the first answer.
        dataset: Dataset whose budget is spent; all releases of one dataset add up.
        version: Version of the data; None for the newest one.
        request: Name under which the same request may be made again; None for no name.
        independent: Whether no individual of these data is in another dataset of the ledger.

    Raises:
        WrongKind: for a promise or a level that is none.
        OutOfRange, NotANumber: for a name, a dataset, a request, a version or a confirmation that is none.
    """

    name: str
    promise: Promise
    level: Level
    dataset: str
    version: int | None
    request: str | None
    independent: bool

    def __post_init__(self) -> None:
        check_name(self.name, "name")
        instance(self.promise, Promise, "promise")
        instance(self.level, Level, "level")
        check_name(self.dataset, "dataset")
        if self.version is not None:
            object.__setattr__(self, "version", exact_integer(self.version, "version"))
        if self.request is not None:
            check_name(self.request, "request")
        if not isinstance(self.independent, bool):
            raise OutOfRange("independent must be true or false", came=self.independent)

    def facts(self) -> dict[str, Any]:
        """The request as JSON values, one for each field; `of_facts` reads them."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {"promise": self.promise.facts(), "level": level_text(self.level)}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "PublishRequest":
        """The request that JSON values describe; other values beside them are left alone.

        Raises:
            OutOfRange: for a field that is missing. UtmostError: for a field of another kind.
        """
        missing = [field.name for field in fields(cls) if field.name not in mapping(facts, "facts")]
        if missing:
            raise OutOfRange("a request must have all its fields", came=f"no {missing[0]!r}", where="facts")
        plain = {field.name: facts[field.name] for field in fields(cls)}
        promise, level = Promise.of_facts(facts["promise"]), level_from_text(facts["level"])
        return cls(**plain | {"promise": promise, "level": level})


def publish_request(
    name: str,
    promise: Promise,
    at: Level,
    dataset: str | None,
    version: int | None,
    request: str | None,
    independent: bool,
) -> PublishRequest:
    """The request of a caller who may leave the dataset out: it is then the release's own."""
    own = name if dataset is None else dataset
    return PublishRequest(name, promise, at, own, version, request, independent)


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """Everything that is asked for when a release is answered at another level, except a table; checked when made.

    Attributes:
        name: Name of the release.
        level: Level of the answer.
        version: Version of the data; None for the newest one.

    Raises:
        WrongKind, OutOfRange, NotANumber: for a level, a name or a version that is none.
    """

    name: str
    level: Level
    version: int | None

    def __post_init__(self) -> None:
        check_name(self.name, "name")
        instance(self.level, Level, "level")
        if self.version is not None:
            object.__setattr__(self, "version", exact_integer(self.version, "version"))
