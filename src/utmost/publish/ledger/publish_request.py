"""What is asked for when something is published, of whatever table: read once, at the door, and passed on whole."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, TypeVar

from utmost.errors import OutOfRange
from utmost.laws.exact import Level, Number, exact_integer
from utmost.publish.ledger.events import check_name
from utmost.publish.ledger.promise import Promise
from utmost.publish.ledger.state import State
from utmost.publish.releases.table import rows_origin

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class PublishRequest:
    """A request to publish, found sound by itself.

    Attributes:
        name, dataset, level, promise, request, rows_from: what was asked for.
        version: None for the newest.
        independent: whether the data are none that another dataset of the ledger holds.
        part: where the dataset was counted in parts that share nobody, which one this is.
        columns, identifiers, public, kind: of the table, once it has been read; the released columns, those that
            together say which item a row is, those that are published as they are, and of what kind the answers are.
    """

    name: str
    dataset: str
    level: Level
    promise: Promise
    version: int | None
    request: str | None
    independent: bool
    rows_from: str
    part: tuple[str, str] | None = None
    columns: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
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
        rows: str,
        part: tuple[str, str] | None,
    ) -> "PublishRequest":
        """A request, before its table is read.

        Raises:
            OutOfRange, NotANumber: for what is no name, no version and no such thing.
        """
        if not isinstance(independent, bool):
            raise OutOfRange("independent must be true or false", came=independent)
        group = check_name(check_name(name, "name") if dataset is None else dataset, "dataset")
        wanted = None if version is None else exact_integer(version, "version")
        again = None if request is None else check_name(request, "request")
        return cls(name, group, level, promise, wanted, again, independent, rows_origin(rows), part)

    def of_items(
        self, columns: tuple[str, ...], identifiers: tuple[str, ...], public: tuple[str, ...]
    ) -> "PublishRequest":
        """The same of a table that an engine holds."""
        return replace(self, columns=columns, identifiers=identifiers, public=public, kind="items")

    @property
    def id_column(self) -> str | None:
        """The column of identifiers, where it is one."""
        return self.identifiers[0] if len(self.identifiers) == 1 else None

    def as_published(self, look: Callable[[Callable[[State], Promise]], Promise]) -> "PublishRequest":
        """The same with the rule of snapping of the release that it asks for again, if there is one, on the reals.

        Args:
            look: calls a function with the state of the ledger.
        """
        return self if self.promise.grid is None else replace(self, promise=look(self._snapped))

    def _snapped(self, state: State) -> Promise:
        made = state.requests.get(self.request) if self.request is not None else None
        newest = self.version or max(state.versions(self.name), default=1)
        found = state.releases.get((self.name, newest) if made is None else made[0])
        if found is None or found.promise.grid is None:
            return self.promise
        return self.promise.snapped_by(found.promise.lattice.snapping)

    def may_be_stored(self, state: State) -> bool:
        """Whether the answer is there, or a refusal that needs no writer, as far as a state tells."""
        return self.request in state.requests or (self.name, self.version or 1) in state.releases

    def facts(self, version: int, rows: int, committed: bytes) -> dict[str, Any]:
        """What an event says of it, whatever keeps the responses."""
        return {
            "name": self.name,
            "version": version,
            "dataset": self.dataset,
            "columns": list(self.columns),
            "rows": rows,
            "id_column": self.id_column,
            "promise": self.promise.facts(),
            "commitment": sha256(committed).hexdigest(),
            "kind": self.kind,
            "request": self.request,
            "public": list(self.public),
            "rows_from": self.rows_from,
            "part": None if self.part is None else list(self.part),
        }
