"""Response models of the API: answers from the ledger, and pages of lists."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, WithJsonSchema

from utmost.core.exact.arrays import plain_cells
from utmost.core.exact.levels import Level
from utmost.errors import UnknownRecord
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.api.record_forms import (
    LEVEL_EXAMPLE,
    RECORD_EXAMPLE,
    TIME_EXAMPLE,
    Count,
    JsonFacts,
    JsonRecord,
    LevelText,
    Person,
    ReleaseName,
    Spent,
    plain,
)
from utmost.interfaces.service.approvals import Proposal
from utmost.interfaces.service.pages.shown_promise import ShownPromise
from utmost.interfaces.service.pending_queue import Waiting
from utmost.interfaces.service.token_releases import View
from utmost.publish.ledger.spending import Budget
from utmost.publish.ledger.state import Published
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement import Statement
from utmost.publish.promises.table_statements import cells_digest
from utmost.tables.frames.any_table import adapter_of

T = TypeVar("T")

CellsByColumn = Annotated[
    dict[str, list[Any]],
    Field(
        description="lists of cells by column, each released column with its margins",
        examples=[{"department": ["A", "B"], "admitted": [598, 371], "admitted_margin": [12, 12]}],
    ),
]
Next = Annotated[str | None, Field(description="where the next page begins; null on the last page")]


def columns(table: Any) -> dict[str, list[Any]]:
    adapter = adapter_of(table)
    cells_of = {str(name): adapter.column(table, name) for name in adapter.names(table)}
    return {name: plain_cells(cells) for name, cells in cells_of.items()}


def _name(item: Any) -> str:
    return str(item.name)


def paged(listed: Sequence[T], after: str, most: int, name: Callable[[T], str] = _name) -> tuple[list[T], str | None]:
    """Return the items after the item named `after`, and the name after which the next page begins (None: no more)."""
    begin = 0
    if after:
        names = [name(item) for item in listed]
        if after not in names:
            raise UnknownRecord(
                "after must be the name of an item in the list", came="no item of this name", where="after"
            )
        begin = names.index(after) + 1
    page = list(listed[begin : begin + most])
    return page, name(page[-1]) if begin + most < len(listed) else None


@dataclass(frozen=True, slots=True)
class TokensResponse(JsonRecord):
    """Tokens, oldest first."""

    tokens: list[Token]
    next: Next


@dataclass(frozen=True, slots=True)
class TokenMade(JsonRecord):
    """A new token, the secret that its bearer presents (shown once), and granted releases that do not exist."""

    token: Token
    bearer: Annotated[str | None, Field(examples=[f"utmost_{'0' * 24}_{'A' * 43}"])]
    missing_releases: Annotated[list[str], Field(examples=[[]])]


@dataclass(frozen=True, slots=True)
class _Version(JsonRecord):
    """A version of a release, with its promise."""

    name: ReleaseName
    version: Count
    columns: Annotated[Sequence[str], Field(examples=[["admitted"]])]
    public: Annotated[Sequence[str], Field(examples=[["department"]])]
    rows: Annotated[int | None, Field(description="null where the answer names the rows", examples=[2])]
    promise: Annotated[
        JsonFacts,
        Field(
            description="the promised noise, and whom it protects",
            examples=[{"kind": "cells", "sensitivity": "1", "cells": 1, "neighbours": "add-remove"}],
        ),
    ]


@dataclass(frozen=True, slots=True)
class ReleaseResponse(_Version):
    """A version of a release, with the levels that the token is shown: published ones, and its owner's copies."""

    levels: tuple[LevelText, ...]

    @classmethod
    def of(cls, release: Published, levels: tuple[Level, ...]) -> "ReleaseResponse":
        return cls(**_version(release, None if release.noise.names_rows else release.rows), levels=levels)


@dataclass(frozen=True, slots=True)
class ReleasesResponse(JsonRecord):
    """Releases, in the order published."""

    releases: list[ReleaseResponse]
    next: Next


MarginField = Annotated[
    int | float, Field(description="largest distance from the true value, with 95 % confidence", examples=[12])
]


@dataclass(frozen=True, slots=True)
class PlanViewed(_Version):
    """The sums of a plan at one level: `release` has the sums with their statement."""

    epsilon: LevelText
    margin: MarginField
    release: Annotated[
        JsonFacts,
        Field(
            description="the sums with their statement, a file that utmost verify reads",
            examples=[{"kind": "utmost statement", "format": 1, "epsilon": LEVEL_EXAMPLE}],
        ),
    ]


@dataclass(frozen=True, slots=True)
class TableViewed(_Version):
    """A released table at one level: `columns` has the cells, and `statement` the statement."""

    columns: CellsByColumn  # type: ignore[assignment]  # the cells, under the names that the list has
    epsilon: LevelText
    margin: MarginField
    statement: Annotated[
        JsonFacts,
        Field(
            description="the statement, which utmost verify checks; utmost statement --schema statement describes it",
            examples=[{"kind": "utmost statement", "format": 1, "epsilon": LEVEL_EXAMPLE, "rows": 2}],
        ),
    ]


@dataclass(frozen=True, slots=True)
class WarningResponse(JsonRecord):
    """A warning about a call that succeeded: individuals are protected less than the caller may expect."""

    kind: Annotated[str, Field(description="a class of utmost.errors", examples=["RowsSorted"])]
    text: Annotated[str, Field(examples=["The rows are sorted by the released column 'admitted'."])]


Warnings = Annotated[
    list[WarningResponse],
    Field(
        description="what the sender of the table should know; it may depend on true values, and nobody else gets it"
    ),
]


@dataclass(frozen=True, slots=True)
class PlanPublished(PlanViewed):
    """The sums of a plan at the level at which they were published, or to which they were relaxed."""

    warnings: Warnings


@dataclass(frozen=True, slots=True)
class TablePublished(TableViewed):
    """A table at the level at which it was published, or to which it was relaxed."""

    warnings: Warnings


@dataclass(frozen=True, slots=True)
class MeasuresResponse(JsonRecord):
    """The released tables: {name of the release: table}."""

    measures: dict[str, TableViewed | PlanViewed]
    warnings: Warnings


@dataclass(frozen=True, slots=True)
class MarginResponse(JsonRecord):
    """A margin of error at a level and a confidence."""

    epsilon: Annotated[str, Field(examples=["1"])]
    confidence: Annotated[str, Field(examples=["0.95"])]
    margin: MarginField


@dataclass(frozen=True, slots=True)
class ProposalsResponse(JsonRecord):
    """Proposals, oldest first, without their requests."""

    proposals: list[Proposal]
    next: Next


@dataclass(frozen=True, slots=True)
class ProposalResponse(JsonRecord):
    """A proposal, its complete request, and the promise in words."""

    proposal: Proposal
    # The request, whose SHA-256 is the digest of the proposal: to publish, or the relaxed promise with its new level.
    publication: Annotated[
        JsonFacts,
        Field(
            description="the proposed request, letter for letter",
            examples=[{"name": "admissions", "version": 1, "level": LEVEL_EXAMPLE, "dataset": "admissions"}],
        ),
    ]
    # null for the relaxation of a release that does not exist, which cannot be approved.
    promise: ShownPromise | None
    # Levels of the answers before a relaxation; none for a publication.
    answered: tuple[LevelText, ...]


@dataclass(frozen=True, slots=True)
class WaitingResponse(JsonRecord):
    """Proposals and tables that wait for the caller, the longest waiting first."""

    waiting: list[Waiting]
    next: Next


@dataclass(frozen=True, slots=True)
class BudgetResponse(JsonRecord):
    """The budget of a dataset; an irrational `spent` is rounded up, an irrational `remaining` down."""

    dataset: ReleaseName
    limit: Annotated[LevelText | None, Field(examples=["2"])]
    spent: Spent
    remaining: Annotated[Spent | None, Field(examples=["1"])]

    @classmethod
    def of(cls, budget: Budget, *more: Any) -> Self:
        return cls(budget.dataset, budget.limit, budget.spent, budget.remaining, *more)


@dataclass(frozen=True, slots=True)
class LimitSet(BudgetResponse):
    """A budget, and whether no release uses its dataset yet."""

    is_unused: bool


@dataclass(frozen=True, slots=True)
class EventResponse(JsonRecord):
    """An event of the ledger."""

    number: Count
    time: Annotated[str, Field(examples=["2027-01-15T08:00:00Z"])]
    kind: Annotated[str, Field(examples=["published"])]
    facts: Annotated[
        JsonFacts,
        Field(
            description="what happened to which release or dataset",
            examples=[{"name": "admissions", "version": 1, "level": LEVEL_EXAMPLE}],
        ),
    ]


@dataclass(frozen=True, slots=True)
class EventsResponse(JsonRecord):
    """Events of the ledger, oldest first."""

    events: list[EventResponse]
    next: Next


@dataclass(frozen=True, slots=True)
class SeparateDatasetsResponse(JsonRecord):
    """A release whose individuals were declared to be in no other dataset; nobody compared the datasets."""

    release: ReleaseName
    version: Count
    dataset: ReleaseName
    declared_by: Person
    others: Annotated[list[str], Field(examples=[["wages"]])]


@dataclass(frozen=True, slots=True)
class StatusResponse(JsonRecord):
    """Whether the ledger is in quarantine, the budgets, and who declared that datasets share no individual."""

    identity: Annotated[str, Field(examples=["886e85a0"])]
    events: Count
    quarantine: str | None
    datasets: list[BudgetResponse]
    declared_separate: list[SeparateDatasetsResponse]


@dataclass(frozen=True, slots=True)
class VerificationResponse(JsonRecord):
    """How many events, responses, cells, answers and lines of the trail were checked; none has a fault."""

    events: Count
    responses: Count
    cells: Count
    answers: Count
    trail: Annotated[
        int, Field(description="lines of the trail, each of which follows from those before", examples=[9])
    ]


@dataclass(frozen=True, slots=True)
class ReceiptResponse(JsonRecord):
    """A receipt: a line of text to keep elsewhere."""

    receipt: Annotated[str, Field(examples=["utmost-receipt:886e85a0:9:a908f7f8:4ab9f5eb"])]


@dataclass(frozen=True, slots=True)
class ReceiptHolds(JsonRecord):
    """The answer if the ledger still has everything that the receipt states."""

    holds: Literal[True] = True


_TEXT = {"type": "string"}
Entry = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "description": "who did what, and when; further fields say to what",
            "properties": {"name": _TEXT, "time": {"type": "integer"}, "owner": _TEXT, "token": _TEXT, "done": _TEXT},
            "required": ["name", "time", "owner", "token", "done"],
            "examples": [
                {
                    "name": "00001795349451353448",
                    "time": TIME_EXAMPLE,
                    "owner": "Ada",
                    "token": RECORD_EXAMPLE,
                    "done": "publish",
                }
            ],
        }
    ),
]


@dataclass(frozen=True, slots=True)
class TrailResponse(JsonRecord):
    """Entries of the trail, oldest first."""

    entries: list[Entry]
    next: Next


def measures_found(views: Mapping[str, View]) -> MeasuresResponse:
    return MeasuresResponse({name: view_found(view) for name, view in views.items()}, warnings_of(views))


def published_found(views: Mapping[str, View], name: str) -> TablePublished | PlanPublished:
    """Return a release as its curator published or relaxed it."""
    about, warned = _about(views[name]), warnings_of(views)
    if "release" in about:
        return PlanPublished(**about, warnings=warned)
    return TablePublished(**about, warnings=warned)


def warnings_of(views: Mapping[str, View]) -> list[WarningResponse]:
    """Return the warnings of a call that returned these views; each view has all warnings of the call."""
    return [WarningResponse(type(one).__name__, str(one)) for one in next(iter(views.values())).warnings]


def view_found(view: View) -> TableViewed | PlanViewed:
    """Return a release at a level, with its statement."""
    about = _about(view)
    return PlanViewed(**about) if "release" in about else TableViewed(**about)


def _about(view: View) -> dict[str, Any]:
    about = _version(view.release, view.rows) | {"epsilon": view.level, "margin": view.margin}
    if view.release.noise.is_by_plan:
        return about | {"release": view.table.facts()}
    about["columns"] = columns(view.table)
    return about | {"statement": statement_of(view, cells_digest(view.table))}


def _version(release: Published, rows: int | None) -> dict[str, Any]:
    names = ("name", "version", "columns", "public")
    return {name: getattr(release, name) for name in names} | {"rows": rows, "promise": release.noise.facts()}


def statement_of(view: View, digest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statement of a viewed table, in the form that `utmost verify` checks."""
    # The statement names only levels up to this one: a viewer must not learn whether a larger level exists.
    release, columns = view.release, adapter_of(view.table).names(view.table)
    public = tuple(name for name in release.public if name in columns)
    promise = release.promise.as_published(columns, public)
    promised = _promised(promise, view.level, view.rows, None if view.remembered.stop is None else view.remembered)
    return {
        **promised,
        "table": plain(digest),
        **{name: plain(fact) for name, fact in view.remembered.facts().items()},
    }


@lru_cache(maxsize=512)
def _promised(promise: Promise, level: Level, rows: int, stopped: LedgerFacts | None) -> dict[str, Any]:
    """Return the part of a statement that all viewers share; `stopped` has the facts of a stopping rule."""
    stop = None if stopped is None else stopped.stop
    statement = Statement(promise, promise.at_stop(level, stop), rows, None, stopped).facts()
    return {str(name): plain(fact) for name, fact in statement.items()}
