"""The shapes of requests and answers, for FastAPI: what the API description says, with examples.

Levels and exact numbers travel as text ("1/4"), so that no reader of JSON rounds them.
"""

from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AllowInfNan,
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    StrictFloat,
    StrictInt,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from utmost.doors.service.terms import LONGEST_TERMS

MOST_VERSIONS = 1_000_000_000

_Text = Annotated[str, Field(max_length=4100)]
Exact = Annotated[
    _Text | StrictInt | Annotated[StrictFloat, AllowInfNan(False)],
    Field(description='an exact number: 1, 0.25 or "1/4"', examples=["1/4"]),
]
RECORD_NAME, RECORD_EXAMPLE = "^[0-9a-f]{24}$", "0f9c1b7a3d5e2846ab90cd12"
RecordName = Annotated[str, Field(pattern=RECORD_NAME, examples=[RECORD_EXAMPLE])]
Word = Annotated[str, Field(max_length=1000)]
Name = Annotated[str, Field(min_length=1, max_length=200, examples=["admissions"])]


def _check_columns(given: Any) -> Any:
    """Check that a table is lists of plain cells by name, in one pass: millions of wrong cells are one fault."""
    if isinstance(given, LookedAt):
        if given.fault is not None:
            raise given.fault
        return dict(given)
    if not isinstance(given, dict) or not all(isinstance(cells, list) for cells in given.values()):
        raise PydanticCustomError("table", "a table must be lists of cells by the names of its columns")
    for name, cells in given.items():
        if not _is_text(name) or not all(map(_is_cell, cells)):
            raise PydanticCustomError("cells", "a cell must be text, a finite number, a truth value or null")
    return given


class LookedAt(dict[str, Any]):
    """A table that was checked before, where it took long.

    Attributes:
        fault: what was found wrong; None for nothing.
    """

    fault: PydanticCustomError | None = None

    @classmethod
    def of(cls, table: dict[str, Any]) -> "LookedAt":
        """A table, checked."""
        looked = cls(table)
        try:
            _check_columns(table)
        except PydanticCustomError as fault:
            looked.fault = fault
        return looked


def _is_cell(cell: Any) -> bool:
    kind = type(cell)
    if kind is str:
        return _is_text(cell)
    return kind in _KINDS and (kind is not float or isfinite(cell))


def _is_text(text: str) -> bool:
    """Whether it can be written: half of a pair of surrogates cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_KINDS = (int, float, bool, type(None))

Columns = Annotated[
    Any,
    AfterValidator(_check_columns),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}},
            "description": "a table, column by column",
            "examples": [{"department": ["A", "B"], "admitted": [601, 370]}],
        }
    ),
]


Names = Annotated[list[Word], Field(max_length=10_000), FailFast()]


_TERMS = {"columns": ["admitted"], "public": ["department"], "sensitivity": 1, "cells": 1}
_TABLE = {"department": ["A", "B", "C"], "admitted": [601, 370, 322]}


def _like(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


class Asked(BaseModel):
    """A request: nothing beyond its fields is taken."""

    model_config = ConfigDict(extra="forbid")


class GrantShape(Asked):
    """A release that a token is for; "*" for every one. Without a level, any."""

    release: Name
    up_to: Exact | None = None


class NewToken(Asked):
    """Who gets a token, for what, for how long."""

    model_config = _like(
        {"owner": "Bo", "role": "recipient", "grants": [{"release": "admissions", "up_to": "1/4"}], "days": 30}
    )

    owner: Annotated[str, Field(min_length=1, max_length=200, examples=["Bo"])]
    role: Literal["recipient", "curator", "approver", "auditor", "admin"]
    grants: Annotated[list[GrantShape], Field(max_length=1000)]
    days: Exact = 90
    subject: Annotated[
        str | None,
        Field(max_length=1000, description='"ISSUER NAME", or "claim GROUP=VALUE ISSUER", of an OpenID provider'),
    ] = None


class AmountShape(Asked):
    """What is summed: a column, and the step of which its amounts are whole multiples."""

    name: Word
    step: Exact


class TermsShape(Asked):
    """What is promised of a table, as the arguments of `Ledger.publish`."""

    columns: Names = []
    public: Names = []
    drop: Names = []
    rows: Literal["declared", "observed"] = "declared"
    sensitivity: Exact | None = None
    cells: Exact | None = None
    neighbours: Literal["add-remove", "change-one"] | None = None
    amount: AmountShape | None = None
    numbers: Literal["integers", "reals"] = "integers"
    grid: Exact | None = None
    largest: Exact | None = None
    half_step: bool = False
    id_column: Word | None = None
    dataset: Word | None = None
    independent: Annotated[bool, Field(description="none of the individuals is in another dataset")] = False
    strategy: Annotated[
        str | None,
        Field(max_length=LONGEST_TERMS, description="a strategy as JSON text, instead of columns and unit"),
    ] = None
    part: Annotated[
        Annotated[list[Word], Field(min_length=2, max_length=2)] | None,
        Field(description="of a counted table of a part: the partition, and which part", examples=[["town", "Bern"]]),
    ] = None


class Proposed(Asked):
    """Something that a second person is to confirm."""

    model_config = _like(
        {"verb": "publish", "release": "admissions", "epsilon": "1/4", "terms": _TERMS, "reason": "the yearly table"}
    )

    verb: Literal["publish", "relax"]
    release: Name
    epsilon: Exact
    version: Annotated[int, Field(ge=1, le=MOST_VERSIONS)] = 1
    terms: TermsShape | None = None
    reason: Annotated[str, Field(max_length=1000)] = ""
    anyone: bool = False


class Decided(Asked):
    """A decision."""

    model_config = _like({"state": "approved"})

    state: Literal["approved", "refused"]


class OrderDecided(Asked):
    """What becomes of an order."""

    model_config = _like({"state": "approved"})

    state: Literal["approved", "refused", "cancelled", "refunded"]


class Publication(Asked):
    """A table to publish, with what is promised of it."""

    model_config = _like(
        {"name": "admissions", "epsilon": "1/4", "terms": _TERMS, "table": _TABLE, "proposal": RECORD_EXAMPLE}
    )

    name: Name
    epsilon: Exact
    terms: TermsShape
    table: Columns | None = None
    counted: Annotated[dict[str, Any] | None, Field(description="a counted table, for a strategy")] = None
    version: Annotated[int | None, Field(ge=1, le=MOST_VERSIONS)] = None
    proposal: RecordName | None = None


class Relaxation(Asked):
    """The same table again, at another level."""

    model_config = _like({"epsilon": "1", "table": _TABLE, "proposal": RECORD_EXAMPLE})

    epsilon: Exact
    table: Columns | None = None
    counted: dict[str, Any] | None = None
    version: Annotated[int | None, Field(ge=1, le=MOST_VERSIONS)] = None
    proposal: RecordName | None = None


class NewOffer(Asked):
    """Levels of a release at prices, which do not fall."""

    model_config = _like({"release": "admissions", "prices": {"1/4": 10, "1": 35}, "currency": "EUR"})

    release: Name
    prices: Annotated[dict[str, Exact], Field(min_length=1, max_length=100, examples=[{"1/4": 10, "1": 35}])]
    currency: Annotated[str, Field(min_length=1, max_length=20, examples=["EUR"])]
    version: Annotated[int | None, Field(ge=1, le=MOST_VERSIONS)] = None


class NewOrder(Asked):
    """A level of an offer."""

    model_config = _like({"offer": RECORD_EXAMPLE, "epsilon": "1"})

    offer: RecordName
    epsilon: Exact


class NewLimit(Asked):
    """The limit of a dataset."""

    model_config = _like({"epsilon": "2"})

    epsilon: Exact


class Receipt(Asked):
    """A line of text about a ledger."""

    model_config = _like({"receipt": "utmost-receipt:886e85a0:9:a908f7f8:4ab9f5eb"})

    receipt: Annotated[str, Field(max_length=4000)]


class Problem(BaseModel):
    """What went wrong, as RFC 9457 has it; it quotes no value."""

    type: str = "about:blank"
    title: Annotated[str, Field(examples=["NotAllowed"])]
    status: Annotated[int, Field(examples=[403])]
    detail: str
    wrong: list[str] | None = None
