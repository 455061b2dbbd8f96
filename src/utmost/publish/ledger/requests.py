"""What is asked for when something is published, of whatever table: read once, at the door, and passed on whole."""

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact_integer
from utmost.errors import OutOfRange
from utmost.publish.ledger.events import check_name
from utmost.publish.ledger.source import Source, check_source, read_source
from utmost.publish.ledger.state import State
from utmost.publish.promises.declared_columns import chosen_columns, declared_columns
from utmost.publish.promises.promise import Promise
from utmost.tables.frames.adapters import adapter_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Brought:
    """A table that is brought to be published, or relaxed, at a level: alone, or with others in one transaction.

    Attributes:
        table: with its values, as for `Ledger.publish`.
        level: at which.
        promise: of a publication, see `fitting`; None to relax, as what is promised then is known.
        dataset, independent, version, request: as for `Ledger.publish`.
        proposal: the name of the approved one, where a service asks for a second person.
    """

    table: Any
    level: Level
    promise: Promise | None = None
    dataset: str | None = None
    independent: bool = False
    version: int | None = None
    request: str | None = None
    proposal: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Publishing:
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
    def read(cls, name: str, brought: Brought) -> "Publishing":
        """A request, before its table is read.

        Raises:
            OutOfRange, NotANumber: for what is no name, no version and no such thing.
        """
        assert brought.promise is not None, "of a publication"
        if not isinstance(brought.independent, bool):
            raise OutOfRange("independent must be true or false", came=brought.independent)
        group = check_name(name, "name") if brought.dataset is None else check_name(brought.dataset, "dataset")
        wanted = None if brought.version is None else exact_integer(brought.version, "version")
        again = None if brought.request is None else check_name(brought.request, "request")
        name = check_name(name, "name")
        return cls(name, group, brought.level, brought.promise, wanted, again, brought.independent)

    def with_values(self, table: Any) -> "tuple[Publishing, Source]":
        """The same with every column declared, and the values read.

        Args:
            table: see `Promise.rows_of`.

        Raises:
            NotDeclared, BadTable, OutOfRange, WrongKind: for what cannot be published so.
        """
        promise, noise = self.promise, self.promise.lasting_noise
        noise.check()
        promise.check_single_id()
        rows, kind = noise.measured(table)
        names = tuple(adapter_of(rows).names(rows))
        public, _ = declared_columns(names, chosen_columns(promise.columns, names, None), promise.public, promise.drop)
        source = read_source(
            rows, promise.columns, noise, promise.single_id_column, public, by_item=promise.keyed_by_id
        )
        check_source(source, noise)
        promise = promise.as_read(tuple(source.columns), source.public)
        return replace(self, promise=promise, kind=source.kind if kind is None else kind), source

    def may_be_stored(self, state: State) -> bool:
        """Whether the answer is there, or a refusal that needs no writer, as far as a state tells."""
        return self.request in state.requests or (self.name, self.version or 1) in state.releases

    def facts(self, version: int, rows: int, committed: bytes, values: str) -> dict[str, Any]:
        """What an event says of it, whatever keeps the responses.

        Args:
            committed: the commitment to the values.
            values: the sealed digests by which they are known again.
        """
        return {
            "name": self.name,
            "version": version,
            "dataset": self.dataset,
            "columns": list(self.promise.columns),
            "rows": rows,
            "id_column": self.promise.single_id_column,
            "promise": self.promise.lasting_noise.facts(),
            "commitment": sha256(committed).hexdigest(),
            "kind": self.kind,
            "values": values,
            "request": self.request,
            "public": list(self.promise.public),
            "rows_from": self.promise.rows,
            "part": None if self.promise.part is None else list(self.promise.part),
        }
