"""Every document fits the schema of its kind, and none fits that lost a field, gained one, or holds another type.

The documents are those that the tests of forms and statements make; `tests/conftest.py` holds all that any test writes
against the same schemas, so that a new field is red until its schema has it.
"""

import json
import random
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import jsonschema
import numpy as np
import pytest

import utmost as ut
from documents.test_codec import MADE, changed
from documents.test_every_document import VALUES
from documents.test_registry_entry import STATEMENTS
from kinds import noise_kinds
from running import called
from schemas_of_documents import validator_of
from utmost.errors import OutOfRange
from utmost.statements import DocumentKind, schema

FREE = {"tree", "groups", "given", "duals", "together"}
"""The fields of which a schema says little: trees of labels, groups, what is public."""


def documents(folder):
    """A document of each kind, by the names of the tests that make them."""
    for name, make in {**MADE, **STATEMENTS}.items():
        yield name, json.loads(json.dumps(make()))
    for name, (form, make) in VALUES.items():
        yield name, json.loads(json.dumps(form.document(make(folder))))
    counted = ut.counting.CountedTable(ut.Domain(town=["A", "B"]), np.array([3, 5]), ut.Unit(1, 1))
    release = ut.release(counted, ut.workloads.Plan(counted.domain, counted.unit, {"town": 1}), epsilon=1)
    clean = release.clean(given={"town=A": 3})
    yield "clean table", json.loads(json.dumps(clean.statement_with(None, "town")))
    noise = ut.interop.declared_noise("discrete gaussian", variance="v")
    noisy = ut.interop.noisy_table({"n": [7, 9], "v": [1, 4]}, {"n": noise}, source="Tumult", claim="1-zCDP")
    yield "table of declared noise", json.loads(json.dumps(noisy.statement))
    yield "withheld table of declared noise", json.loads(json.dumps(noisy.withhold(below=8).statement_with(None)))


def test_every_document_fits_its_schema_and_no_mutated_one_does(tmp_path):
    randomness, refused, kinds = random.Random(7), 0, set()
    of_any = jsonschema.Draft202012Validator(schema("any"))
    for name, document in documents(tmp_path):
        validator = validator_of(document["kind"])
        assert not list(of_any.iter_errors(document)), name
        kinds.add(document["kind"])
        assert [error.message for error in validator.iter_errors(document)] == [], name
        for mutated, change in mutations(document, randomness):
            assert not validator.is_valid(mutated), (name, change)
            refused += 1
    assert refused > 600
    described = {schema(kind).get("properties", {}).get("kind", {}).get("const") for kind in get_args(DocumentKind)}
    assert described - {None} == kinds, "a kind without a schema, or a schema without a kind"


def mutations(document, randomness):
    """The document without each required field, with a field more, and with values of another type."""
    required = schema_required(document["kind"])
    for field in required:
        yield {name: value for name, value in document.items() if name != field}, f"without {field}"
    yield document | {"note": "by the way"}, "with a field more"
    places = [path for path in leaves(document) if not FREE & set(path)]
    for path in randomness.sample(places, min(12, len(places))):
        yield changed(document, path, {"?": 1}), f"another type at {path}"


def schema_required(kind):
    return validator_of(kind).schema["required"]


def leaves(value, path=()):
    """The places of all numbers, texts and truths."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*path, key))
    elif path:
        yield path


def test_schemas_are_valid_and_refer_to_nothing_outside():
    for kind in ("any", "domain"):  # "any" has the schemas of all kinds of documents within it
        jsonschema.Draft202012Validator.check_schema(schema(kind))
    for kind in get_args(DocumentKind):
        described = schema(kind)
        named = re.findall(r'"\$ref": "#/\$defs/([^"]+)"', json.dumps(described))
        assert {*named} == {*described.get("$defs", ())}
        assert len(named) == json.dumps(described).count('"$ref"')


def test_the_page_of_statements_has_a_row_of_fields_for_every_kind_of_noise():
    """A row names the fields of its kinds, those of the unit by "the unit"."""
    page = (Path(__file__).parents[2] / "docs/reference/statement.md").read_text(encoding="utf-8")
    rows = re.search(r"^\| `kind` of noise \|.*\n.*\n((\|.*\n)+)", page, re.MULTILINE)[1].splitlines()
    noises = [part["properties"] for name, part in schema("promise")["$defs"].items() if name.startswith("noise_")]
    fields_of = {properties["kind"]["const"]: {*properties} - {"kind"} for properties in noises}
    named = []
    for row in rows:
        kinds, shown = ([*re.findall(r"`([a-z_ -]+)`", cell)] for cell in row.strip("|").split("|"))
        unit = {field.name for field in fields(ut.Unit)} if "the unit" in row else set()
        assert {*shown} | unit == set().union(*(fields_of[kind] for kind in kinds)), row
        named += kinds
    assert sorted(named) == sorted(noise_kinds())


AXES = [
    ["men", "women"],
    {"values": ["a"], "other": "elsewhere", "missing": "not stated", "column": "town"},
    {"bins": [0, 100], "width": 5},
    {"edges": [0, 18, 65, None], "whole": True},
    {"ages": [0, 18, None], "on": "2025-01-01", "column": "born"},
    {"periods": ["2026-01", "2026-07"], "every": "month"},
    {"tree": {"N": ["a", "b"], "S": ["c"]}, "names": ["part", "town"]},
    {"listed": [["a", "b"]], "names": ["from", "to"]},
]


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_every_way_to_declare_an_axis_fits_as_it_is_written(axis):
    name = axis["names"][-1] if isinstance(axis, dict) and "names" in axis else "x"
    facts = json.loads(json.dumps(ut.Domain({name: ut.Domain.of_facts({name: axis}).axes[0]}).facts()))
    validator = jsonschema.Draft202012Validator(schema("domain"))
    assert validator.is_valid(facts), facts
    assert not validator.is_valid({"x": {"bins": "0 to 9"}})


def test_an_unknown_kind_names_the_known_ones():
    with pytest.raises(OutOfRange, match="table-of-sums"):
        schema("tables")


def test_the_command_prints_the_schema_of_a_file_that_a_recipe_fits():
    described = json.loads(called("statement", "--schema", "recipe").stdout)
    validator = jsonschema.Draft202012Validator(described)
    assert validator.is_valid({"each-row": True, "by": ["region", "age"], "mean": {"income": [0, 9]}, "epsilon": "1/2"})
    assert not validator.is_valid({"each_row": True})
    assert not validator.is_valid({"each-row": "yes"})
