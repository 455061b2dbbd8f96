"""Pydantic models of the API's requests, with the examples of the API description.

Levels and exact numbers are text ("1/4"), so that no JSON reader rounds them.
"""

import json
from dataclasses import MISSING, fields
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    AllowInfNan,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StrictFloat,
    StrictInt,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from utmost.core.exact.field_forms import json_forms
from utmost.core.exact.numbers import spelled
from utmost.interfaces.service.access.tokens import Role
from utmost.interfaces.service.api.record_forms import RECORD_EXAMPLE, Record
from utmost.interfaces.service.publish_requests import LONGEST_REQUEST, read_answer_request, read_request
from utmost.publish.counting.counted_facts import BY_COUNTING
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest
from utmost.publish.promises.ledger_facts import MOST_VERSIONS
from utmost.publish.promises.noise_kinds import KINDS
from utmost.publish.promises.promise import Promise

MOST_MEASURES = 10
"""Largest number of tables that one request publishes or relaxes."""

_LONGEST_FACT = 4100  # characters of a field
_Text = Annotated[str, Field(max_length=_LONGEST_FACT)]
Exact = Annotated[
    _Text | StrictInt | Annotated[StrictFloat, AllowInfNan(False)],
    Field(description='an exact number: 1, 0.25 or "1/4"', examples=["1/4"]),
]


def _spelled_whole(number: Any) -> Any:
    """Refuse booleans and texts such as "1_0", which pydantic accepts as integers."""
    if isinstance(number, bool) or (isinstance(number, str) and spelled(number) is None):
        raise PydanticCustomError("whole", "a whole number must be written in digits")
    return number


SPELLED = BeforeValidator(_spelled_whole)
DataVersion = Annotated[int, Field(ge=1, le=MOST_VERSIONS), SPELLED]
LONGEST_WORD, MOST_NAMES = 1000, 10_000  # characters of a name, names of a list
Name = Annotated[str, Field(min_length=1, max_length=200, examples=["admissions"])]


def _check_columns(columns: Any) -> Any:
    """Check in one pass that each column of a table is a list of plain cells; report only the first wrong cell."""
    if isinstance(columns, ValidatedTable):
        if columns.fault is not None:
            raise columns.fault
        return dict(columns)
    if not isinstance(columns, dict) or not all(isinstance(cells, list) for cells in columns.values()):
        raise PydanticCustomError("table", "a table must map the name of each column to the list of its cells")
    for name, cells in columns.items():
        if not _is_text(name) or not all(map(_is_cell, cells)):
            raise PydanticCustomError("cells", "a cell must be text, a finite number, a truth value or null")
    return columns


class ValidatedTable(dict[str, Any]):
    """A table that was checked earlier, in a worker thread, because the check takes long."""

    # The fault that the check found, if any.
    fault: PydanticCustomError | None = None

    @classmethod
    def of(cls, table: dict[str, Any]) -> "ValidatedTable":
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
    """Check that a text can be encoded: half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_KINDS = (int, float, bool, type(None))

TableBody = Annotated[
    Any,
    AfterValidator(_check_columns),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}},
            "description": "a table, column by column",
        }
    ),
]


class RequestModel(BaseModel):
    """Base class of requests; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class GrantShape(RequestModel):
    """A release that a token gives access to ("*": every release), up to a level (null: any level)."""

    release: Name
    up_to: Annotated[Exact | None, Field(examples=["1/4"])] = None


class NewToken(RequestModel):
    """A token to make: owner, role, releases and days."""

    owner: Annotated[str, Field(min_length=1, max_length=200, examples=["Bo"])]
    role: Role
    grants: Annotated[list[GrantShape], Field(max_length=1000)]
    days: Annotated[Exact, Field(examples=[90])] = 90
    subject: Annotated[
        str | None,
        Field(max_length=1000, description='"ISSUER NAME", or "claim GROUP=VALUE ISSUER", of an OpenID provider'),
    ] = None


_NAMES = {"type": "array", "items": {"type": "string"}}
_TEXT = {"type": ["string", "null"]}
_PROMISE_TYPES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("public", "columns", "drop", "id_column"), _NAMES),
    "rows": {"type": "string", "enum": ["declared", "observed"]},
    "keyed_by_id": {"type": "boolean"},
    "proved": {"type": ["string", "null"], "enum": [BY_COUNTING, None]},
    "part": {"anyOf": [_NAMES | {"minItems": 2, "maxItems": 2}, {"type": "null"}]},
    "until": {"type": ["object", "null"]},
}
"""JSON types of a promise's fields that are not texts, for generated clients; `Promise` checks the values."""


def _promise_schema() -> dict[str, Any]:
    """Return the JSON schema of a promise, with the fields of each kind of noise."""
    kinds = [
        {
            "type": "object",
            "required": ["kind"],
            "additionalProperties": False,
            "properties": {
                "kind": {"const": name},
                **{field: {"description": form.title} for field, form in json_forms(kind()).items()},
            },
        }
        for name, kind in KINDS.items()
    ]
    properties: dict[str, Any] = {
        name: {"description": form.title, **(_TEXT if form.hint else _PROMISE_TYPES.get(name, {}))}
        for name, form in json_forms(Promise).items()
    }
    properties["noise"] = {"description": "noise, and whom it protects", "oneOf": kinds}
    return {"type": "object", "additionalProperties": False, "properties": properties}


EXAMPLE_PROMISE: dict[str, Any] = {
    "columns": ["admitted"],
    "public": ["department"],
    "noise": {"kind": "cells", "sensitivity": 1, "cells": 1},
}

_TYPES = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
_SHAPES: dict[str, dict[str, Any]] = {
    "name": {"type": "string", "minLength": 1, "maxLength": 200, "examples": ["admissions"]},
    "promise": _promise_schema() | {"examples": [EXAMPLE_PROMISE]},
    "level": {"type": ["string", "number"], "examples": ["1/4"]},
    "dataset": {
        "type": ["string", "null"],
        "maxLength": 200,
        "description": "dataset whose budget is charged; by default a separate one with the name of the release",
    },
    "independent": {"type": "boolean", "description": "states that these people are in no other dataset"},
}
"""JSON schemas of fields other than texts, numbers and booleans."""


def _needed(record: type) -> list[str]:
    return [each.name for each in fields(record) if each.default is MISSING and each.name != "dataset"]


class _RequestShape(BaseModel):
    """Accepts the fields of a request dataclass by name; the dataclass checks their values."""

    model_config = ConfigDict(extra="allow")
    # The request dataclass.
    RECORD: ClassVar[type]
    # Field that is in the address or in a header, and so not in the body.
    ELSEWHERE: ClassVar = "request"

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler.resolve_ref_schema(handler(core_schema))
        # Each field of the dataclass has a JSON schema, except the field that is in the address or a header.
        titles = {name: {"description": form.title} for name, form in json_forms(cls.RECORD).items()}
        mine = {
            each.name: titles[each.name]
            | (_SHAPES.get(each.name) or {"type": [_TYPES[kind] for kind in get_args(each.type) or (each.type,)]})
            for each in fields(cls.RECORD)
            if each.name != cls.ELSEWHERE
        }
        schema["properties"] = mine | schema.get("properties", {})
        schema["required"] = [name for name in _needed(cls.RECORD) if name in mine] + schema.get("required", [])
        schema["additionalProperties"] = False
        return schema

    @property
    def facts(self) -> dict[str, Any]:
        """Return the fields of the request, as JSON."""
        return dict(self.model_extra or {})

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        """Check that no required field is missing, no field is unknown, and a page can show each field completely."""
        known = json_forms(self.RECORD).keys() - {self.ELSEWHERE}
        missing = [name for name in _needed(self.RECORD) if name in known and self.facts.get(name) is None]
        # Callers see the type of the fault: it names the missing field, and repeats nothing of the request.
        if missing:
            raise PydanticCustomError(f"missing_{missing[0]}", "a request must have all required fields")
        if unknown := self.facts.keys() - known:
            fault = f"a request has the fields {', '.join(sorted(known))}"
            raise PydanticCustomError("extra_forbidden", fault, {"name": min(unknown), "known": sorted(known)})
        for name, fact in self.facts.items():
            if name == "promise" and isinstance(fact, dict):
                # A page must be able to show a promise completely.
                if len(json.dumps(fact)) > LONGEST_REQUEST:
                    raise PydanticCustomError(
                        "promise", f"a promise must have at most {LONGEST_REQUEST} characters as JSON"
                    )
                noise = fact.get("noise")
                words = [*fact.items(), *(noise.items() if isinstance(noise, dict) else ())]
                for field, value in words:
                    listed = value if isinstance(value, list) else [value]
                    texts = [field, *(word for word in listed if isinstance(word, str) and field != "plan")]
                    if len(listed) > MOST_NAMES or max(map(len, texts)) > LONGEST_WORD:
                        fault = f"a name must have at most {LONGEST_WORD} characters, and a list {MOST_NAMES} names"
                        raise PydanticCustomError("promise", fault)
                    if not all(map(_is_text, texts)):
                        raise PydanticCustomError("promise", "a name must be text that can be written")
            elif isinstance(fact, dict | list) or (
                isinstance(fact, str) and (len(fact) > _LONGEST_FACT or not _is_text(fact))
            ):
                required = f"a field must be text of at most {_LONGEST_FACT} characters"
                raise PydanticCustomError(f"no_short_text_in_{name}", required)
        return self


class PublishShape(_RequestShape):
    """A request to publish a table, without the table."""

    RECORD: ClassVar = PublishRequest

    def read(self) -> PublishRequest:
        return read_request(self.facts)


class AnswerShape(_RequestShape):
    """A request for another level of a release."""

    RECORD: ClassVar = AnswerRequest

    def read(self) -> AnswerRequest:
        return read_answer_request(self.facts)


class Proposed(RequestModel):
    """A proposal for a second person: either a publication or a relaxation."""

    publication: PublishShape | None = None
    relaxation: Annotated[AnswerShape | None, Field(examples=[{"name": "admissions", "level": "1"}])] = None
    reason: Annotated[str, Field(max_length=1000)] = ""
    anyone: Annotated[bool, Field(description="whether any curator may use the approval, not only the proposer")] = (
        False
    )

    @model_validator(mode="after")
    def _check_one(self) -> "Proposed":
        if (self.publication is None) == (self.relaxation is None):
            raise PydanticCustomError("proposal", "a proposal is either a publication or a relaxation")
        return self

    def read(self) -> PublishRequest | AnswerRequest:
        proposed = self.relaxation if self.publication is None else self.publication
        assert proposed is not None, "one of the two"
        return proposed.read()


class Decided(RequestModel):
    """A decision about a proposal; a refusal has a reason."""

    state: Literal["approved", "refused"]
    reason: Annotated[str, Field(max_length=1000, examples=["epsilon 1 is enough"])] = ""


class PublishBody(PublishShape):
    """A request to publish, with its table."""

    table: Annotated[TableBody | None, Field(examples=[{"department": ["A", "B"], "admitted": [601, 370]}])] = None
    counted: Annotated[dict[str, Any] | None, Field(description="a counted table, for a plan")] = None
    proposal: Annotated[Record | None, Field(examples=[RECORD_EXAMPLE])] = None


class RelaxBody(_RequestShape):
    """A request to relax the release in the address, with the same table."""

    RECORD: ClassVar = AnswerRequest
    ELSEWHERE: ClassVar = "name"

    table: Annotated[TableBody | None, Field(examples=[{"department": ["A", "B"], "admitted": [601, 370]}])] = None
    counted: dict[str, Any] | None = None
    proposal: Annotated[Record | None, Field(examples=[RECORD_EXAMPLE])] = None

    def read(self, name: str) -> AnswerRequest:
        return read_answer_request({**self.facts, "name": name})


class NamedRelaxBody(AnswerShape):
    """A release by name, a level, and the same table."""

    table: Annotated[TableBody | None, Field(examples=[{"department": ["A", "B"], "admitted": [601, 370]}])] = None
    counted: dict[str, Any] | None = None
    proposal: Annotated[Record | None, Field(examples=[RECORD_EXAMPLE])] = None


class Publications(RequestModel):
    """Tables of one dataset, to publish in one transaction, all or none."""

    measures: Annotated[list[PublishBody], Field(min_length=1, max_length=MOST_MEASURES)]


class Relaxations(RequestModel):
    """Releases to relax in one transaction, all or none."""

    measures: Annotated[list[NamedRelaxBody], Field(min_length=1, max_length=MOST_MEASURES)]


class NewLimit(RequestModel):
    """The limit of a dataset's budget, as an epsilon."""

    epsilon: Exact


class NewCharge(RequestModel):
    """A level that another tool spent, with its purpose."""

    epsilon: Exact
    what: Annotated[str, Field(max_length=200, examples=["OpenDP, mean age, 2025"])]
    independent: bool = False


class Receipt(RequestModel):
    """A receipt of a ledger, as text."""

    receipt: Annotated[str, Field(max_length=4000, examples=["utmost-receipt:886e85a0:9:a908f7f8:4ab9f5eb"])]


class Problem(BaseModel):
    """An error, by RFC 9457; it quotes no confidential value."""

    type: str = "about:blank"
    title: Annotated[str, Field(examples=["NotAllowed"])]
    status: Annotated[int, Field(examples=[403])]
    detail: str
    wrong: list[str] | None = None
