"""The flip test for every kind of document: whatever is changed in one is refused, or is a choice that it may make.

Designs, capacities, verdicts and channels, whose proofs are about what they say, are in test_codec.py, statements of
releases in test_every_statement.py; here are the others, and the check that no kind is left out.
"""

import importlib
import json
import pkgutil

import numpy as np
import pytest

import utmost as ut
from documents.test_codec import MADE, changed, others, places
from documents.test_registry_entry import STATEMENTS
from utmost import priors
from utmost.counting import CountedTable
from utmost.errors import UtmostError

# Every form of a document is taken from where it is defined, so that none is forgotten.
from utmost.interfaces import documents
from utmost.interfaces.documents.answers import saved_mechanism
from utmost.interfaces.documents.samplers import SAMPLER, sampler_of
from utmost.interfaces.documents.statement_readers import STATEMENT_READERS
from utmost.interfaces.documents.surveys import SURVEY, Survey
from utmost.local import BlockSelection, balanced_family
from utmost.publish import promises, statements
from utmost.publish.promises.codec import Form
from utmost.publish.promises.promise import PROMISE_FORM
from utmost.publish.promises.statement_kinds import CLEAN_KIND
from utmost.publish.statements.counted_files import COUNTED_FORM
from utmost.publish.statements.plan_files import PLAN_FORM
from utmost.statements import check_clean
from utmost.testing import seeded_workload_release

AMOUNTS = ut.Domain(county=["A", "B"], sex=["men", "women"])


def plan():
    workload = ut.Workload(AMOUNTS, {"county": 1, "sex": 2})
    return ut.choose_plan(workload, ut.Unit(1, 1), epsilon=1)


def sampler(folder):
    towns = ut.spaces.places({"Oslo": (59.91, 10.75), "Bergen": (60.39, 5.32)}, unit="km")
    consumer = ut.Consumer(priors.uniform(2), ut.losses.distance(towns))
    design = ut.optimal_mechanism(ut.PrivacyType(towns, "ln 2 per 100 km"), consumer)
    ut.save_design(design.rounded, folder / "design.json")
    return sampler_of(saved_mechanism(folder / "design.json"))


VALUES = {
    "survey": (SURVEY, lambda _: Survey(("tea", "milk", "water"), BlockSelection(balanced_family(3, 1), "1/2"))),
    "sampler": (SAMPLER, sampler),
    "plan": (PLAN_FORM, lambda _: plan()),
    "counted": (COUNTED_FORM, lambda _: CountedTable(AMOUNTS, np.array([[3, 5], [2, 0]]), ut.Unit(1, 2))),
    "promise": (PROMISE_FORM, lambda _: ut.Promise("n", public="town", unit=ut.Unit(1, 1))),
}
"""For each kind the form, and how a small one is made in a folder."""

CHOICES = {
    "survey": {
        "labels": "what the answers are called",
        "multipliers": "another marginal of blocks, which is as balanced",
        "bases": "another marginal of blocks, which is as balanced",
    },
    "sampler": {
        "sha256": "the digest of the design that it was made of",
        "checked": "how that design's level was checked",
        "unit": "in which unit its distances are, which the design shows",
        "secrets": "what the secrets are called",
        "answers": "what the answers are called",
        "positions": "where the secrets are, which the design shows",
        "lasts": "the distribution, whose level the design shows",
    },
    "counted": {
        "unit": "what one individual changes, which the counting proved",
        "domain": "what the cells are called",
        "cells": "the true counts",
    },
    "plan": {
        "domain": "what the cells are called",
        "tuned_at": "the level for which its shares are the best",
        "wanted": "want= must name at least one table",
        "weight": "how much each of them counts",
    },
    "promise": {},
}
"""What may be changed in a document of each kind, because nothing in it follows from it, and what that is."""


@pytest.mark.parametrize("kind", VALUES)
def test_whatever_is_changed_is_refused_or_is_a_choice(kind, tmp_path):
    form, make = VALUES[kind]
    document = json.loads(json.dumps(form.document(make(tmp_path))))
    believed = []
    for path, value in places(document):
        for other in others(value):
            forged = changed(document, path, other)
            try:
                again = form.of(forged, "x.json")
            except UtmostError:
                continue
            assert json.loads(json.dumps(form.document(again))) == forged, "what was read is what it says"
            names = [part for part in path if isinstance(part, str)]
            if names[-1] not in CHOICES[kind] and (names[0] not in ("domain", "unit") or names[0] not in CHOICES[kind]):
                believed.append((path, other))
    assert not believed, "\n".join(map(str, believed))


PROOF = frozenset({"cells", "bits", "rest", "multipliers", "values"})
"""A certificate of a clean table may be any that proves the same figures."""


@pytest.mark.parametrize("public", [{}, {"given": {"county=A": 7}, "hold": "sex"}])
def test_whatever_is_changed_of_a_clean_table_is_refused_or_proves_the_same(public):
    """Its statement is checked beside its table and its release, and so is each of its fields."""
    counted = CountedTable(AMOUNTS, np.array([[3, 5], [2, 0]]), ut.Unit(1, 1))
    plan = ut.workloads.Plan(AMOUNTS, counted.unit, {"county sex": "1/2", "sex": "1/2"})
    release = seeded_workload_release(counted, plan, seed=3)
    document, clean = json.loads(json.dumps(release.facts())), release.clean(**public)
    said, table = (
        json.loads(json.dumps(clean.statement_with({"of": "file", "sha256": "0" * 64}, "county"))),
        clean["county"],
    )
    assert said["kind"] == CLEAN_KIND
    believed, shown = [], check_clean(said, table, document).words
    for number, (path, value) in enumerate(places(said)):
        for other in others(value)[number % 3 :: 3]:
            try:
                again = check_clean(changed(said, path, other), table, document)
            except UtmostError:
                continue
            # The digest of the table is compared with its file, which is not at hand here.
            is_proof = path[0] == "table" or (path[0] == "certificate" and path[-1] in PROOF)
            if again.words != shown or not is_proof:
                believed.append((path, other))
    assert not believed, "\n".join(map(str, believed))


def test_every_kind_of_document_is_flipped():
    """Of all forms and all statements that there are; a new one fails here until a small one of it is made above."""
    rooms = [
        info.name
        for room in (documents, promises, statements)
        for info in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")
    ]
    kinds = {held.kind for name in rooms for held in vars(importlib.import_module(name)).values() if type(held) is Form}
    flipped = {json.loads(json.dumps(make()))["kind"] for make in MADE.values()}
    assert kinds == flipped | {form.kind for form, _ in VALUES.values()}
    assert {make()["kind"] for make in STATEMENTS.values()} == set(STATEMENT_READERS)
