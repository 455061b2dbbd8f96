"""Base class of the records of a service: a field is declared once, for storage, answers and the API description.

A record is a frozen dataclass. A record is stored under its name, as JSON of its other fields. A record is sent as the
same JSON with its name, without the fields that are `HIDDEN`. Exact numbers and levels are text, so that no JSON reader
rounds them. Each kind of field has an example; the example of an answer is composed of those of its fields.
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
"""Marks the type of a field that is stored and never sent."""


def one_of(words: Iterable[str]) -> Any:
    """Return the annotation of a field that has one of these values."""
    return Field(json_schema_extra={"enum": [*words]})


def plain(value: Any) -> Any:
    """Return a value as JSON; exact numbers, levels, and all types that JSON does not have become text."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, Level):
        return level_text(value)
    if isinstance(value, JsonRecord):
        return value.kept()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


_IT_IS = PlainValidator(lambda value: value)  # answers are made by this service, and need no validation

LevelText = Annotated[
    Level,
    _IT_IS,
    PlainSerializer(level_text, return_type=str),
    WithJsonSchema(
        {
            "type": "string",
            "description": "an exact level: its epsilon, or its alpha if epsilon is not rational",
            "examples": [LEVEL_EXAMPLE],
        }
    ),
]
Spent = Annotated[Any, PlainSerializer(plain), WithJsonSchema({"type": ["string", "number"], "examples": ["1"]})]
JsonFacts = Annotated[
    Mapping[str, Any], _IT_IS, PlainSerializer(plain), WithJsonSchema({"type": "object", "additionalProperties": True})
]
Record = Annotated[str, Field(pattern=RECORD_NAME, examples=[RECORD_EXAMPLE])]
Seconds = Annotated[int, Field(description="seconds since 1970", examples=[TIME_EXAMPLE])]
ReleaseName = Annotated[str, Field(examples=["admissions"])]
Person = Annotated[str, Field(examples=["Bo"])]
Count = Annotated[int, Field(examples=[1])]


def read_level_if_any(text: str | None) -> Level | None:
    return None if text is None else level_from_text(text)


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A record that is stored and sent as JSON of its fields."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True)
    # Functions by field name: each reads a field's value from JSON. Other fields have the same value in JSON.
    READ: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    # Fields that are not stored.
    UNKEPT: ClassVar[frozenset[str]] = frozenset({"name"})

    def kept(self) -> dict[str, Any]:
        """Return the record as stored JSON."""
        names = (part.name for part in fields(self) if part.name not in self.UNKEPT)
        return {name: plain(getattr(self, name)) for name in names}

    @classmethod
    def of_kept(cls, name: str, record: Mapping[str, Any]) -> Self:
        """Return the record with this name from its stored JSON."""
        read = {part: cls.READ[part](value) if part in cls.READ else value for part, value in record.items()}
        return cls(name, **read)  # type: ignore[call-arg]  # the record's class checks its fields
