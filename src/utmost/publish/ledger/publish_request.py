"""What is asked for when something is published, of whatever table: read once, at the door, and passed on whole."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, TypeVar

from utmost.errors import OutOfRange
from utmost.laws.exact import Level, Number, exact_integer
from utmost.publish.ledger.events import check_name
from utmost.publish.ledger.state import State
from utmost.publish.promises.promise import Promise

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class PublishRequest:
    """A request to publish, found sound by itself.

    Attributes:
        name, dataset, level, request: what was asked for.
        promise: of the table; once that has been read, with its columns as they stand there.
        version: None for the newest.
        independent: whether the data are none that another dataset of the ledger holds.
        kind: of the answers, once the table has been read.
    """

    name: str
    dataset: str
    level: Level
    promise: Promise
    version: int | None
    request: str | None
    independent: bool
    kind: str = ""

    @classmethod
    def read(
        cls,
        name: str,
        level: Level,
        promise: Promise,
        *,
        dataset: str | None,
        version: Number | None,
        request: str | None,
        independent: bool,
    ) -> "PublishRequest":
        """A request, before its table is read.

        Raises:
            OutOfRange, NotANumber: for what is no name, no version and no such thing.
        """
        if not isinstance(independent, bool):
            raise OutOfRange("independent must be true or false", came=independent)
        group = check_name(name, "name") if dataset is None else check_name(dataset, "dataset")
        wanted = None if version is None else exact_integer(version, "version")
        again = None if request is None else check_name(request, "request")
        return cls(check_name(name, "name"), group, level, promise, wanted, again, independent)

    def as_published(self, look: Callable[[Callable[[State], Promise]], Promise]) -> "PublishRequest":
        """The same with the rule of snapping of the release that it asks for again, if there is one, on the reals.

        Args:
            look: calls a function with the state of the ledger.
        """
        return self if self.promise.noise.exponent is None else replace(self, promise=look(self._snapped))

    def _snapped(self, state: State) -> Promise:
        earlier = state.requests.get(self.request) if self.request is not None else None
        newest = self.version or max(state.versions(self.name), default=1)
        release = state.releases.get((self.name, newest) if earlier is None else earlier[0])
        return self.promise if release is None else self.promise.snapped_like(release.noise)

    def may_be_stored(self, state: State) -> bool:
        """Whether the answer is there, or a refusal that needs no writer, as far as a state tells."""
        return self.request in state.requests or (self.name, self.version or 1) in state.releases

    def facts(self, version: int, rows: int, committed: bytes) -> dict[str, Any]:
        """What an event says of it, whatever keeps the responses."""
        return {
            "name": self.name,
            "version": version,
            "dataset": self.dataset,
            "columns": list(self.promise.columns),
            "rows": rows,
            "id_column": self.promise.id_column,
            "promise": self.promise.noise.facts(),
            "commitment": sha256(committed).hexdigest(),
            "kind": self.kind,
            "request": self.request,
            "public": list(self.promise.public),
            "rows_from": self.promise.rows,
            "part": None if self.promise.part is None else list(self.promise.part),
        }
