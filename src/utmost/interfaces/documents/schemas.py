"""Describe every kind of document by a JSON Schema, so that other tools know its fields without running utmost.

Promises and noise are described by the fields of their classes, so that a new field of a promise needs no line here.
Every other document lists its fields once, in `_DOCUMENTS`. No schema allows unknown fields. Tests validate each
document that they write.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from utmost.core.exact.arguments import one_of
from utmost.core.exact.field_forms import FieldForm
from utmost.core.noise.costs import Cost
from utmost.core.privacy.unit import Unit
from utmost.publish.counting.counted_facts import BY_COUNTING
from utmost.publish.promises.noise_kinds import KINDS, kind_named
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement_kinds import STATEMENT_FORMAT, VERSION_PATTERN
from utmost.tables.axes.clock import UNITS

Schema = dict[str, Any]
"""A JSON Schema, as JSON values."""

DocumentKind = Literal[
    "any",
    "statement",
    "table-of-sums",
    "table-of-measures",
    "release-in-two-stages",
    "clean-table",
    "withheld-table",
    "noisy-table",
    "answers",
    "promise",
    "plan",
    "counted-table",
    "domain",
    "design",
    "capacity",
    "sampler",
    "survey",
    "channel",
    "verdict",
]
"""The kinds of documents that have a schema."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The version of JSON Schema in which all schemas are written."""


def schema(kind: DocumentKind) -> Schema:
    """Return the JSON Schema (2020-12) of the documents of a kind.

    A document that fits its schema has the right fields, with values of the right types. `utmost verify` checks that
    its numbers follow from one another.

    Args:
        kind: One of `DocumentKind`; "statement" for the statement beside a released table, and for a release by a plan;
            "any" for every document that has a field ``kind``, which chooses its schema.

    Returns:
        The schema as JSON values. The schema refers to no other file.

    Raises:
        OutOfRange: if ``kind`` is not one of `DocumentKind`.

    >>> described = schema("promise")
    >>> described["title"], "neighbours" in described["$defs"]["noise_cells"]["required"]
    ('promise', True)
    """
    if one_of(kind, DocumentKind, "kind") == "any":
        kinds = [one for one in _documents().values() if "const" in one.get("properties", {}).get("kind", {})]
        described: Schema = {"oneOf": kinds}
    else:
        described = _documents()[kind]
    # `named` gets the names of all shared parts that the schema refers to, directly or through other parts.
    named, waiting = set[str](), [described]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            name = str(value.get("$ref", "")).removeprefix("#/$defs/")
            if name and name not in named:
                named.add(name)
                waiting.append(_parts()[name])
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    parts = {name: part for name, part in sorted(_parts().items()) if name in named}
    return {"$schema": DIALECT, "title": kind, **described, **({"$defs": parts} if parts else {})}


def _object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """Return the schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _document(kind: str, required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """Return the schema of a document: its header, and these fields."""
    return _object(
        {"kind": {"const": kind}, "format": {"const": STATEMENT_FORMAT}, "utmost": _VERSION, **required}, optional
    )


def _part(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _by_name(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


def _or_null(of: Schema) -> Schema:
    return {"anyOf": [of, {"type": "null"}]}


_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": "number"}
_TRUTH: Schema = {"type": "boolean"}
_VERSION: Schema = {"type": "string", "pattern": f"^{VERSION_PATTERN.pattern}$"}
_EXACT: Schema = {"type": "string", "description": "an exact number as text: 3, 1/3 or 0.25"}
_LEVEL_TEXT: Schema = {"type": "string", "description": "an exact epsilon: 1, 1/4 or -log(1/2)"}
_SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_NUMBER_OR_EXACT: Schema = {"type": ["number", "string"]}
_ROOT: Schema = {
    "type": ["number", "string", "array"],
    "description": "a number, or an irrational one as the coefficients and powers of its numerator and denominator",
}
_ROUNDED_LEVEL: dict[str, Schema] = {
    "epsilon_rounded_up": {"type": "number", "minimum": 0, "description": "epsilon, rounded up to a float"},
    "alpha": {
        "anyOf": [_EXACT, {**_list(_NUMBER), "minItems": 2, "maxItems": 2}],
        "description": "exp(-epsilon), exactly or between two floats",
    },
}
_LEVEL: dict[str, Schema] = {"epsilon": _LEVEL_TEXT, **_ROUNDED_LEVEL}
_ONE_MARGIN: Schema = {"type": ["number", "string"]}
_MARGINS: Schema = _by_name({"anyOf": [_ONE_MARGIN, _list(_ONE_MARGIN)]})
_LABEL: Schema = {"type": ["string", "integer", "boolean", "null"]}
_MATRIX: Schema = _list(_list(_NUMBER_OR_EXACT))
_MEMORY: dict[str, Schema] = {
    "name": _TEXT,
    "data_version": _COUNT,
    "levels": _list(_LEVEL_TEXT),
    "together": _or_null(_part("level")),
}

_UNTIL = _object({"share": _EXACT, "where": _by_name(_list(_TEXT)), "steps": _COUNT})
_STOPPED: dict[str, Schema] = {
    "stopped": _object({"levels": _list(_LEVEL_TEXT), "met": _or_null(_TRUTH), "confidence": _EXACT}),
}

_JSON_TYPES: dict[Any, Schema] = {str: _TEXT, bool: _TRUTH, int: _COUNT, Fraction: _EXACT, Cost: _TEXT}
_PART_OF_FIELD = {
    "amount": _part("amount"),
    "domain": _part("domain"),
    "noise": _part("noise"),
    "plan": _part("plan"),
    "proved": {"const": BY_COUNTING},
    "table_shares": _by_name(_EXACT),
    "universe": _part("universe"),
    "until": _part("until"),
}
"""Schemas of the record fields whose types do not give their schema, by field name."""
_ROW_NOISE: dict[str, Schema] = {
    "groups": _list(_list(_TEXT)),
    "shares": _list(_EXACT),
    "signed_sums": _list(
        _object(
            {
                "rows": _list(_list(_WHOLE)),
                "shares": _list(_EXACT),
                "spent": _list({"type": "array", "prefixItems": [_list(_WHOLE), _EXACT], "minItems": 2, "maxItems": 2}),
            }
        )
    ),
    "step": _WHOLE,
}


def _record(kind: type, extra: Mapping[str, Schema] | None = None) -> Schema:
    """Return the schema of a record class; a field whose default is None or False is optional."""
    required, optional = dict(extra or {}), dict[str, Schema]()
    for name, (described, can_be_absent) in _fields_of(kind).items():
        (optional if can_be_absent else required)[name] = described
    return _object(required, optional)


def _fields_of(kind: type) -> dict[str, tuple[Schema, bool]]:
    """Return the schema of each field of a record class, and whether the field may be absent."""
    hints, found = get_type_hints(kind), dict[str, tuple[Schema, bool]]()
    for one in fields(kind):
        form: FieldForm | None = one.metadata.get("form")
        if form is None:
            continue
        name, hint = form.name or one.name, hints[one.name]
        if one.name == "unit":
            found |= _fields_of(Unit)
        elif form.parts:
            found |= {part: (_ROW_NOISE.get(part, _TEXT), part != "noise") for part in form.parts}
        else:
            can_be_none = NoneType in get_args(hint)
            is_absent_if_false = hint is bool and (kind is Unit or form.write(False) is None)
            words = "; ".join(f"{json.dumps(value)}: {meaning}" for value, meaning in form.words.items())
            described = {**_of_hint(hint, name), "description": (f"{form.title} ({words})" if words else form.title)}
            found[name] = (described, can_be_none or is_absent_if_false)
    return found


def _of_hint(hint: Any, name: str) -> Schema:
    arguments = [one for one in get_args(hint) if one is not NoneType]
    if get_origin(hint) in (Union, UnionType) and len(arguments) == 1:
        return _of_hint(arguments[0], name)
    if get_origin(hint) is Literal:
        return {"enum": list(arguments)}
    if get_origin(hint) is tuple:
        return _list(_TEXT) if arguments[-1] is Ellipsis else {**_list(_TEXT), "minItems": 2, "maxItems": 2}
    return _PART_OF_FIELD[name] if name in _PART_OF_FIELD else _JSON_TYPES[hint]


_AXIS_ENDS: dict[str, Schema] = {"groups": {}, "below": _LABEL, "above": _LABEL}
_AXIS_NUMBERS: dict[str, Schema] = {**_AXIS_ENDS, "decimal": _TEXT, "thousands": _TEXT, "currency": _TEXT}
_AXIS_ALL: dict[str, Schema] = {"other": _LABEL, "missing": _LABEL, "missing_marks": _list(_TEXT), "column": _TEXT}
_EDGES: Schema = _list({"type": ["integer", "string", "null"]})
_AXIS: Schema = {
    "anyOf": [
        _list(_LABEL),
        _object({"values": _list(_LABEL)}, _AXIS_ALL),
        _object({"tree": {"type": "object"}}, {"names": _list(_TEXT), **_AXIS_ALL}),
        _object({"listed": _list(_list(_LABEL))}, {"names": _list(_TEXT), **_AXIS_ALL}),
        _object({"bins": _EDGES, "width": _NUMBER_OR_EXACT}, {"fanout": _WHOLE, **_AXIS_NUMBERS, **_AXIS_ALL}),
        _object({"edges": _EDGES, "whole": _TRUTH}, {**_AXIS_NUMBERS, **_AXIS_ALL}),
        _object({"ages": _EDGES, "on": _TEXT, "column": _TEXT}, {"pattern": _TEXT, **_AXIS_ENDS, **_AXIS_ALL}),
        _object(
            {"periods": _list(_TEXT), "every": _TEXT, "groups": {}},
            {"zone": _TEXT, "pattern": _TEXT, **_AXIS_ENDS, **_AXIS_ALL},
        ),
        *(
            _object({f"{unit}s": _list(_TEXT)}, {"zone": _TEXT, "pattern": _TEXT, **_AXIS_ENDS, **_AXIS_ALL})
            for unit in UNITS
        ),
    ]
}
_ROWS_OF_AXIS: Schema = {
    "anyOf": [
        _object({"level": _TEXT, "parts": _COUNT, "rows": _list(_list(_WHOLE))}),
        _object({"signed": _list(_list(_WHOLE)), "shares": _list(_EXACT)}),
    ]
}
_MEASURED: dict[str, Schema] = {
    "domain": _part("domain"),
    "shares": _list({"type": "array", "prefixItems": [_list(_TEXT), _EXACT], "minItems": 2, "maxItems": 2}),
}
_MEASURED_IF: dict[str, Schema] = {
    "nonnegative": {"const": True},
    "exactly": {"const": True},
    "together": _TEXT,
    "rows": _list(_ROWS_OF_AXIS),
    "narrowed_from": _part("domain"),
}
_SPACE_KINDS = ["counts", "discrete", "hamming", "grid", "manhattan"]
_GEOGRAPHY: dict[str, Schema] = {
    "unit": _or_null(_TEXT),
    "metric": _TEXT,
    "rounded": _EXACT,
    "in_degrees": _or_null(_TRUTH),
    "crs": _or_null(_TEXT),
    "metres": _EXACT,
    "positions": _or_null(_list(_list(_EXACT))),
}
_TABLE_OF_DISTANCES: dict[str, Schema] = {"distances": _MATRIX, "labels": _list(_LABEL)}
_MECHANISM: dict[str, Schema] = {"mechanism": _object({"sha256": _SHA256, "checked": _TEXT})}
_NOISE_AT_LEVEL: Schema = {
    "type": "object",
    "properties": {
        "drawn": {**_TEXT, "description": "the noise that was drawn, in words"},
        "theorem": {**_TEXT, "description": "what is proved about the error of the noise"},
        "epsilon_parts": _NUMBER_OR_EXACT,
        "per_cell": _part("level"),
        "distribution": _TEXT,
        "parameters": _by_name(_NUMBER_OR_EXACT),
        "relaxable": _TRUTH,
        "grid": _or_null(_EXACT),
        "distance": _TEXT,
        "confidence": _NUMBER,
        "kind": _TEXT,
        "distributions": _list(_TEXT),
        "groups": _list(_list(_TEXT)),
        "shares": _list(_EXACT),
        "marginals": _list(
            _object(
                {
                    "marginal": _TEXT,
                    "sums": _COUNT,
                    "share": _EXACT,
                    "per_sum": _part("level"),
                    "distribution": _TEXT,
                    "sensitivity": _COUNT,
                    "margin": _ONE_MARGIN,
                    "weight": _COUNT,
                },
                {"of": _TEXT},
            )
        ),
    },
    "required": ["drawn", "theorem"],
    "additionalProperties": False,
}
_STATEMENT = _document(
    "utmost statement",
    {
        "guarantee": _TEXT,
        **_LEVEL,
        "promise": _part("promise"),
        "noise": _NOISE_AT_LEVEL,
        "confidence_exactly": _EXACT,
        "margins": _MARGINS,
        "table": _part("digest"),
    },
    {
        "delta": _EXACT,
        "rows": _COUNT,
        **_MEMORY,
        **_STOPPED,
        "measure": _TEXT,
        "sums": _by_name(_list(_NUMBER_OR_EXACT)),
    },
)


_DECLARED = {"kind": _TEXT, "column": _or_null(_TEXT)}
_NOISY_TABLE = _document(
    "utmost table of declared noise",
    {
        "guarantee": _TEXT,
        "source": _TEXT,
        "claim": _or_null(_TEXT),
        "noise": _by_name(
            {"anyOf": [_object({**_DECLARED, "scale": _EXACT}), _object({**_DECLARED, "variance": _EXACT})]}
        ),
        "public": _list(_TEXT),
        "rows": _COUNT,
        "confidence_exactly": _EXACT,
        "margins": _by_name(_or_null(_NUMBER)),
        "on_trust": _list(_TEXT),
        "table": _part("digest"),
    },
)


def _noise_part(kind: str) -> str:
    return f"noise_{kind.replace(' ', '_').replace('-', '_')}"


@cache
def _parts() -> dict[str, Schema]:
    """Return the parts that several schemas share, by name."""
    return {
        "level": _object(_LEVEL),
        "digest": _or_null(_object({"of": {"enum": ["file", "cells", "sums"]}, "sha256": _SHA256})),
        "amount": _object(
            {"name": _TEXT, "step": _EXACT}, {"between": _list(_EXACT), "distinct": _COUNT, "missing": _TEXT}
        ),
        "unit": _record(Unit),
        "domain": {"type": "object", "additionalProperties": _AXIS},
        "plan": {
            "anyOf": [
                _object({**_MEASURED, "unit": _part("unit")}, {**_MEASURED_IF, "wanted": _list(_TEXT)}),
                {**_TEXT, "description": "the same as JSON text, which keeps the order of axes and labels"},
            ]
        },
        "universe": {
            "anyOf": [
                _object({"alphabet": _TEXT, "most": _COUNT, "least": _COUNT}),
                _object({"lists": _list({"anyOf": [_list(_LABEL), _object({"range": _list(_WHOLE)})]})}),
            ]
        },
        "promise": _record(Promise),
        "until": _UNTIL,
        "noise": {"anyOf": [_part(_noise_part(kind)) for kind in KINDS]},
        **{_noise_part(kind): _record(kind_named(kind), {"kind": {"const": kind}}) for kind in KINDS},
        "statement": _STATEMENT,
        "declared_noise": _NOISY_TABLE,
        "space": {
            "anyOf": [
                _object({"kind": {"enum": _SPACE_KINDS}, "sizes": _list(_COUNT)}),
                _object({"kind": {"const": "distances"}, **_TABLE_OF_DISTANCES}),
                _object({"kind": {"const": "places"}, **_GEOGRAPHY, **_TABLE_OF_DISTANCES}),
            ]
        },
        "capacity_mechanism": {
            "anyOf": [
                _object(
                    {
                        "form": {"const": "similarity"},
                        "sign": _WHOLE,
                        "has_rest": _TRUTH,
                        "weights": _list(_NUMBER_OR_EXACT),
                    }
                ),
                _object({"form": {"const": "uniform"}, "sign": _WHOLE}),
                _object({"form": {"const": "product"}, "parts": _list(_part("capacity_mechanism"))}),
                _object({"form": {"const": "lattice"}}),
                _object({"form": {"const": "envelope"}, "heights": {"anyOf": [_list(_NUMBER_OR_EXACT), _MATRIX]}}),
                _object({"form": {"const": "matrix"}, "rows": _MATRIX}),
            ]
        },
        "capacity_dual": {
            "anyOf": [
                _object({"form": {"const": "uniform"}}),
                _object({"form": {"const": "vector"}, "values": _list(_NUMBER_OR_EXACT)}),
                _object({"form": {"const": "product"}, "parts": _list(_part("capacity_dual"))}),
            ]
        },
    }


_MARGINAL: Schema = {"anyOf": [_TEXT, _list({"anyOf": [_TEXT, _list(_TEXT)]})]}


@cache
def _documents() -> dict[str, Schema]:
    """Return the schema of each kind, without the shared parts."""
    # A promise in a file has the fields of the record, and a digest.
    record = _record(Promise)
    return {
        "statement": _STATEMENT,
        "table-of-sums": _document(
            "utmost table of sums",
            {"guarantee": _TEXT, "marginal": _MARGINAL, "release": _part("statement"), "table": _part("digest")},
            {"means": {"const": True}},
        ),
        "table-of-measures": _document(
            "utmost table of measures",
            {
                "guarantee": _TEXT,
                **_LEVEL,
                "shares": _by_name(_EXACT),
                "releases": _by_name(_part("statement")),
                "table": _part("digest"),
            },
            _MEMORY,
        ),
        "release-in-two-stages": _document(
            "utmost release in two stages",
            {
                "guarantee": _TEXT,
                **_LEVEL,
                "rule": _object({"group": _TEXT, "details": _by_name(_EXACT)}),
                "share": _EXACT,
                "first": _part("statement"),
                "fine": _part("statement"),
                "table": _part("digest"),
            },
        ),
        "clean-table": _document(
            "utmost clean table",
            {
                "marginal": _MARGINAL,
                "of": _object({"sums": _SHA256}),
                "words": _TEXT,
                **dict.fromkeys(("zero_bias", "largest_move", "cell_move", "residual", "facts_moved"), _NUMBER),
                "zero_bias_is_exact": _TRUTH,
                "exact_rounding": _TRUTH,
                "certificate": _object(
                    {
                        "cells": _TEXT,
                        "bits": _COUNT,
                        "rest": _TEXT,
                        "multipliers": _list(_object({"marginal": _list(_TEXT), "values": _TEXT})),
                    }
                ),
                "table": _part("digest"),
            },
            {
                "guarantee": _TEXT,
                "given": _list(_object({"marginal": _list(_TEXT), "sums": _list({"type": "array"})})),
                "held": _list(_TEXT),
            },
        ),
        "withheld-table": _document(
            "utmost withheld table",
            {
                "guarantee": _TEXT,
                "words": _TEXT,
                "rule": _object(
                    {
                        "below": _or_null(_EXACT),
                        "relative_margin": _or_null(_EXACT),
                        "complementary": _TRUTH,
                        "mark": _TEXT,
                    }
                ),
                "released": _list(_TEXT),
                "cells": _COUNT,
                "shown": _COUNT,
                "bias": _list(_object({"true": _EXACT, "chance_shown": _NUMBER, "bias": _NUMBER})),
                "release": {"anyOf": [_part("statement"), _part("declared_noise")]},
                "table": _part("digest"),
            },
            {"marginal": _MARGINAL, "marginals": _list(_TEXT)},
        ),
        "noisy-table": _NOISY_TABLE,
        "answers": _document(
            "utmost answers",
            {
                "guarantee": _TEXT,
                "epsilon": _LEVEL_TEXT,
                "space": _part("space"),
                **_MECHANISM,
                "table": _part("digest"),
            },
            {
                **_ROUNDED_LEVEL,
                "public": _list(_TEXT),
                "rows": _COUNT,
                "column": _TEXT,
                "of": _TEXT,
                "repeated": _COUNT,
                "name": _TEXT,
                "data_version": _COUNT,
                "together": _LEVEL_TEXT,
            },
        ),
        "promise": _document(
            "promise",
            {**{name: record["properties"][name] for name in record["required"]}, "digest": _SHA256},
            {name: one for name, one in record["properties"].items() if name not in record["required"]},
        ),
        "plan": _document(
            "workload plan",
            {
                "level": _LEVEL_TEXT,
                "tuned_at": _LEVEL_TEXT,
                "unit": _part("unit"),
                **_MEASURED,
                "wanted": _list(
                    _object({"sums": _TEXT, "weight": _EXACT, "answers": _COUNT, "standard_deviation": _NUMBER})
                ),
            },
            _MEASURED_IF,
        ),
        "counted-table": _document(
            "counted",
            {"unit": _part("unit"), "domain": _part("domain")},
            {
                "part": _list(_TEXT),
                "together": _TEXT,
                "measure": _TEXT,
                "individual": _TEXT,
                "proved": {"const": BY_COUNTING},
                "cells": _list(_WHOLE),
                "places": _list(_COUNT),
                "numbers": _list(_WHOLE),
            },
        ),
        "domain": _parts()["domain"],
        "design": _document(
            "utmost design",
            {
                "space": _part("space"),
                **_LEVEL,
                "prior": _list(_NUMBER_OR_EXACT),
                "loss": {"anyOf": [_TEXT, _MATRIX]},
                "method": _TEXT,
                "theorem": _or_null(_TEXT),
                "hypotheses": _list(_TEXT),
                "expected_loss": _NUMBER_OR_EXACT,
                "lower_bound": _NUMBER_OR_EXACT,
                "remap": _or_null(_object({"actions": _list(_COUNT), "ties": _list({"type": ["integer", "array"]})})),
                "channel": _or_null(_MATRIX),
                "dual": _list(_NUMBER_OR_EXACT),
                "multipliers": {
                    "anyOf": [
                        {"type": "null"},
                        _list(_MATRIX),
                        _object(
                            {
                                "low": _list(_COUNT),
                                "high": _list(_COUNT),
                                "action": _list(_COUNT),
                                "value": _list(_NUMBER_OR_EXACT),
                            }
                        ),
                    ]
                },
            },
        ),
        "capacity": _document(
            "utmost capacity",
            {
                "space": _part("space"),
                **_LEVEL,
                "capacities": _list(
                    _object(
                        {
                            "capacity": {"enum": ["multiplicative", "additive"]},
                            "value": _NUMBER_OR_EXACT,
                            "lower": _NUMBER_OR_EXACT,
                            "method": _TEXT,
                            "theorem": _or_null(_TEXT),
                            "mechanism": _part("capacity_mechanism"),
                            "dual": _part("capacity_dual"),
                            "multipliers": _or_null(
                                _object(
                                    {
                                        "x": _list(_COUNT),
                                        "y": _list(_COUNT),
                                        "j": _list(_COUNT),
                                        "values": _list(_EXACT),
                                    }
                                )
                            ),
                        }
                    )
                ),
            },
        ),
        "sampler": _document(
            "utmost sampler",
            {
                "guarantee": _TEXT,
                "epsilon": _LEVEL_TEXT,
                "unit": _or_null(_TEXT),
                **_MECHANISM,
                "secrets": _list(_TEXT),
                "answers": _list(_TEXT),
                "positions": _or_null(_list(_list(_NUMBER))),
                "bits": _COUNT,
                "lasts": _list(_list({"type": "string", "pattern": "^[0-9a-f]*$"})),
            },
            _ROUNDED_LEVEL,
        ),
        "survey": _document(
            "utmost survey",
            {
                "guarantee": _TEXT,
                **_LEVEL,
                "labels": _list(_TEXT),
                "size": _COUNT,
                "bits": _COUNT,
                "inside": _or_null(_EXACT),
                "multipliers": _list(_WHOLE),
                "bases": _list(_list(_WHOLE)),
                "weights": _list(_EXACT),
            },
        ),
        "channel": _document("utmost channel", {"secrets": _list(_TEXT), "outcomes": _list(_TEXT), "matrix": _MATRIX}),
        "verdict": _document(
            "utmost universal verdict",
            {
                "space": _part("space"),
                **_LEVEL,
                "loss": _list(_list(_ROOT)),
                "asked": _TEXT,
                "verdict": _TRUTH,
                "mechanism": _list(_list(_ROOT)),
                "regret": _or_null(_ROOT),
                "duals": _or_null(_list({"type": "array"})),
                "conflict": _or_null(
                    _object(
                        {
                            "priors": _list(_list(_ROOT)),
                            "weights": _list(_ROOT),
                            "mechanisms": _list(_list(_list(_ROOT))),
                            "multipliers": _list(_ROOT),
                        }
                    )
                ),
                "better": _or_null(_object({"prior": _list(_ROOT), "mechanism": _list(_list(_ROOT))})),
            },
        ),
    }
