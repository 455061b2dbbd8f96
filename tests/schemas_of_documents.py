"""The validator of each kind of document, and the guard that holds all documents of all tests against their schemas."""

import json
from functools import cache
from typing import get_args

import jsonschema

# Every document that any test writes is held against its schema where it is written.
# Documents are caught where they are written, with the kinds of noise that a test may add.
from utmost.interfaces.documents import schemas
from utmost.publish.promises import codec
from utmost.publish.promises.noise_kinds import KINDS
from utmost.statements import DocumentKind, schema


def validators():
    return validators_with(tuple(KINDS))  # a test may add a kind of noise, also after others have written documents


@cache
def validators_with(kinds):
    schemas._parts.cache_clear()
    schemas._documents.cache_clear()
    found = {}
    for kind in get_args(DocumentKind):
        described = schema(kind)
        name = described.get("properties", {}).get("kind", {}).get("const")
        found[name] = jsonschema.Draft202012Validator(described)
    return found


def validator_of(kind):
    """The validator of the documents of a kind, as it stands in their field ``kind``."""
    return validators()[kind]


def structure(value):
    """The fields of a document, and of a list those of its first members: what two documents of one form share."""
    if isinstance(value, dict):
        return tuple((name, structure(part)) for name, part in sorted(value.items()))
    if isinstance(value, list):
        return tuple(structure(part) for part in value[:3])
    return type(value).__name__


def guard(monkeypatch):
    """Hold every document whose structure is new against its schema, wherever a test writes it.

    Tests may name a file by a digest that is none.
    """
    seen = set()

    def held(document):
        if document["kind"] not in validators() or (form := structure(document)) in seen:
            return document
        seen.add(form)
        written = json.loads(json.dumps(document)) | ({"table": None} if "table" in document else {})
        errors = [
            error for error in validator_of(document["kind"]).iter_errors(written) if error.validator != "pattern"
        ]
        assert not errors, f"the schema of {document['kind']!r} does not have this: {errors[0].message[:500]}"
        return document

    write, state = codec.Form.document, codec.table_statement
    monkeypatch.setattr(codec.Form, "document", lambda form, value: held(write(form, value)))
    monkeypatch.setattr(codec, "table_statement", lambda *parts: held(state(*parts)))
