"""The form of a service's nouns: each field is written once, for the records, the answers and the description.

A noun is a frozen dataclass. What it is kept as is its fields as JSON, but for its name, by which it is kept. What it
is answered as is the same with its name, and without the fields that are `HIDDEN`. Exact numbers and levels are text,
so that no reader of JSON rounds them. Each kind of field has an example, of which those of whole answers are put
together.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Self

from pydantic import ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema

from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import level_from_text, level_text

RECORD_NAME, RECORD_EXAMPLE, TIME_EXAMPLE = "^[0-9a-f]{24}$", "0f9c1b7a3d5e2846ab90cd12", 1_795_349_451
LEVEL_EXAMPLE = "1/4"

HIDDEN = Field(exclude=True)
"""A mark beside the type of a field that is kept and never answered."""


def one_of(words: Iterable[str]) -> Any:
    """A mark beside the type of a field that is one of some words."""
    return Field(json_schema_extra={"enum": [*words]})


def plain(value: Any) -> Any:
    """Mappings and sequences of plain values, levels and exact numbers as text; whatever else as text, too."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, Level):
        return level_text(value)
    if isinstance(value, JsonRecord):
        return value.kept()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


_IT_IS = PlainValidator(lambda value: value)  # an answer is made here: nobody else's words are in it

LevelText = Annotated[
    Level,
    _IT_IS,
    PlainSerializer(level_text, return_type=str),
    WithJsonSchema(
        {
            "type": "string",
            "description": "a level, exactly: its epsilon, or alpha where that is not rational",
            "examples": [LEVEL_EXAMPLE],
        }
    ),
]
Spent = Annotated[Any, PlainSerializer(plain), WithJsonSchema({"type": ["string", "number"], "examples": ["1"]})]
JsonFacts = Annotated[
    Mapping[str, Any], _IT_IS, PlainSerializer(plain), WithJsonSchema({"type": "object", "examples": [{"cells": "1"}]})
]
Record = Annotated[str, Field(pattern=RECORD_NAME, examples=[RECORD_EXAMPLE])]
Seconds = Annotated[int, Field(description="seconds since 1970", examples=[TIME_EXAMPLE])]
ReleaseName = Annotated[str, Field(examples=["admissions"])]
Person = Annotated[str, Field(examples=["Bo"])]
Count = Annotated[int, Field(examples=[1])]


def read_level_if_any(text: str | None) -> Level | None:
    """A level as it is written; None for none."""
    return None if text is None else level_from_text(text)


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A noun that is written by its fields.

    Attributes:
        READ: Readers of fields that JSON has not as they were.
        UNKEPT: the fields that are not kept.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True)
    READ: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    UNKEPT: ClassVar[frozenset[str]] = frozenset({"name"})

    def kept(self) -> dict[str, Any]:
        """The record as it is kept, as JSON."""
        names = (part.name for part in fields(self) if part.name not in self.UNKEPT)
        return {name: plain(getattr(self, name)) for name in names}

    @classmethod
    def of_kept(cls, name: str, record: Mapping[str, Any]) -> Self:
        """The record that `kept` wrote, under its name."""
        read = {part: cls.READ[part](value) if part in cls.READ else value for part, value in record.items()}
        return cls(name, **read)  # type: ignore[call-arg]  # the fields of a noun, which checks them
