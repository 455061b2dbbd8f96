"""What a curator is warned of: answer, page and client say it to whoever sent the table, and to nobody else."""

import json
import logging
import sqlite3
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.publications import Terms, body, publish_by, relax_by
from service.test_client import Inside
from service.test_description import OPEN, bearer, check
from service.test_http import Caller
from service.visiting import Visitor
from utmost.errors import PrivacyWarning, RowsRenamed, RowsSorted, TooOften, WitnessMissing
from utmost.exact import level
from utmost.ledger import AnswerRequest, PublishRequest
from utmost.service import application, connect

ONE_STORE = True

SORTED = {"department": list("HCFADGBE"), "admitted": [11, 12, 23, 34, 45, 56, 67, 78]}
MIXED = SORTED | {"admitted": [31, 12, 72, 11, 23, 63, 44, 55]}
WORDS = {"columns": "admitted", "public": "department", "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}}
TERMS = Terms.read(WORDS)
ONE, TWO = level(1), level(2)


@pytest.fixture
def app(opened):
    return application(opened(approvals=False), OPEN)


@pytest.fixture
def caller(app):
    return lambda role: Caller(app, bearer(app, role))


def asked(name, table=SORTED, **more):
    return {**body(name, "1", WORDS), "table": table, **more}


def kinds(answer):
    assert answer.status_code == 200, answer.text
    return [one["kind"] for one in answer.json()["warnings"]]


def test_the_answer_warns_who_sent_the_table(app, caller):
    """Each of the four calls names the class and says the text, in a field that the description has."""
    ada, described = caller("curator"), app.inside.openapi()
    first = ada("POST", "/v1/releases", key="p", json=asked("admissions"))
    assert kinds(first) == ["RowsSorted"]
    assert "'admitted'" in first.json()["warnings"][0]["text"]
    assert kinds(ada("POST", "/v1/releases", key="p", json=asked("admissions"))) == ["RowsSorted"], "repeated"
    beside = ada("POST", "/v1/releases", key="q", json=asked("mixed", MIXED))
    assert kinds(beside) == ["SeparateDatasets"]
    assert beside.content == ada("POST", "/v1/releases", key="q", json=asked("mixed", MIXED)).content
    second = asked("second", {**MIXED, "admitted": [8, 1, 9, 2, 7, 6, 5, 3]}, dataset="admissions")
    assert kinds(ada("POST", "/v1/releases", key="s2", json=second)) == []
    third = asked("third", {**MIXED, "admitted": [18, 1, 9, 2, 7, 4, 5, 3]})
    told = ada("POST", "/v1/releases", key="t3", json=third)
    assert told.content == ada("POST", "/v1/releases", key="t3", json=third).content
    later = asked("later", {**MIXED, "admitted": [3, 1, 7, 2, 19, 8, 5, 6]}, dataset="mixed")
    assert kinds(ada("POST", "/v1/releases", key="l", json=later)) == []
    relaxed = ada("POST", "/v1/releases/admissions/relax", key="r", json={"level": "20", "table": SORTED})
    assert kinds(relaxed) == ["LittleProtection"]
    tables = {"x": {**SORTED, "admitted": [*range(8)]}, "y": {**MIXED, "admitted": [5, 1, 3, 9, 2, 8, 4, 7]}}
    both = [asked(name, table, dataset="both") for name, table in tables.items()]
    together = ada("POST", "/v1/publications", key="s", json={"measures": both})
    assert kinds(together) == ["RowsSorted", "SeparateDatasets"]
    more = [{"name": name, "level": "20", "table": table} for name, table in tables.items()]
    assert kinds(ada("POST", "/v1/relaxations", key="t", json={"measures": more})) == ["LittleProtection"]
    for path, answer in (
        ("/v1/releases", first),
        ("/v1/releases/{name}/relax", relaxed),
        ("/v1/publications", together),
    ):
        schema = described["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
        check(described, schema, answer.json())
        assert '"warnings"' in json.dumps(described["components"]["schemas"]["TablePublished"])


@pytest.mark.parametrize("first", [True, False])
def test_a_repeated_answer_warns_of_datasets_without_releases(opened, who, first):
    """Levels of other tools begin a dataset, too: a client that lost its first answer learns of it from the second."""
    alone, ada = opened(approvals=False), who("Ada", "curator")
    alone.ledger.charge("people", epsilon=1, what="a map")
    if not first:  # the dataset is no new one
        alone.ledger.charge("admissions", epsilon=1, what="a map", independent=True)
    said, request = [], TERMS.request("admissions", ONE)
    for _ in range(2):
        views = alone.releases.publish_measures(ada, "k", [request], {"admissions": MIXED}, {"admissions": None})
        said.append([str(one) for one in views["admissions"].warnings])
    assert said[0] == said[1]
    assert len(said[0]) == first


def test_nobody_else_learns_of_a_warning(app, caller, place, caplog):
    """Neither a view, nor history, trail, status, log or the bytes of the store have it: it depends on true data."""
    caplog.set_level(logging.DEBUG)
    with warnings.catch_warnings(record=True, action="always") as shown:
        assert kinds(caller("curator")("POST", "/v1/releases", key="p", json=asked("admissions"))) == ["RowsSorted"]
    assert shown == []
    told = []
    paths = {
        "curator": ("/v1/releases/admissions/view?epsilon=1", "/v1/history", "/v1/releases/admissions"),
        "recipient": ("/v1/releases", "/v1/releases/admissions/view?epsilon=1"),
        "auditor": ("/v1/history", "/v1/trail", "/v1/status", "/v1/proposals"),
        "admin": ("/v1/trail", "/v1/status"),
    }
    for role, asked_paths in paths.items():
        answers = [caller(role)("GET", path) for path in asked_paths]
        assert {answer.status_code for answer in answers} == {200}
        told += [answer.text for answer in answers]
    with sqlite3.connect(place) as store:
        told += ["\n".join(store.iterdump())]
    logged = "\n".join(one.getMessage() for one in caplog.records if one.name.startswith(("utmost", "py.warnings")))
    assert "/v1/releases/{name}/view" in logged
    assert "admissions" not in logged
    told += [logged]
    assert not [text for text in told if "RowsSorted" in text or "warnings" in text or "sorted by" in text]


def test_requests_at_once_are_warned_each_of_its_own_table(app, caller):
    ada = caller("curator")

    def sent(number):
        table = SORTED if number % 2 else MIXED
        table = table | {"admitted": [cell + number for cell in table["admitted"]]}
        answer = ada("POST", "/v1/releases", key=f"{number}", json=asked(f"r{number}", table, dataset="one"))
        return kinds(answer)

    with ThreadPoolExecutor(4) as threads:
        told = [*threads.map(sent, range(8))]
    assert told == [["RowsSorted"] if number % 2 else [] for number in range(8)]


def test_the_client_warns_by_the_same_class(app):
    with connect("http://localhost", bearer(app, "curator"), transport=Inside(app)) as ledger:
        with pytest.warns(RowsSorted, match="'admitted'") as warned:
            ledger.publish("admissions", SORTED, TERMS.promise, epsilon=1)
        assert [one.filename for one in warned] == [__file__]
        with pytest.warns(PrivacyWarning, match="odds"):
            ledger.relax("admissions", SORTED, epsilon=20)
        request = PublishRequest("again", TERMS.promise, ONE, "again", independent=True)
        with pytest.warns(RowsSorted):
            ledger.publish_measures([request], {"again": SORTED | {"admitted": [*range(8)]}})
        with pytest.warns(PrivacyWarning, match="odds"):
            ledger.relax_measures([AnswerRequest("again", level(20))], {"again": SORTED | {"admitted": [*range(8)]}})
        with warnings.catch_warnings(action="error"):
            ledger.view("admissions", epsilon=1)


@pytest.mark.parametrize("kind", ["Newer", "OutOfRange", "UserWarning", 3, None])
def test_a_warning_of_another_version_is_still_shown(app, monkeypatch, kind):
    """A class that this version does not have, or that is no warning of utmost, is shown as a PrivacyWarning."""
    with connect("http://localhost", bearer(app, "curator"), transport=Inside(app)) as ledger:
        posted = type(ledger)._post
        changed = lambda *sent: posted(*sent) | {"warnings": [{"kind": kind, "text": "so"}]}  # noqa: E731
        monkeypatch.setattr(type(ledger), "_post", changed)
        with pytest.warns(PrivacyWarning, match="^so$") as warned:
            ledger.publish("admissions", SORTED, TERMS.promise, epsilon=1)
        assert [one.category for one in warned] == [PrivacyWarning]


CSV = ("\n".join(["department,admitted", *(f"{a},{b}" for a, b in zip(*SORTED.values(), strict=True))])).encode()


def test_the_page_of_the_curator_shows_it(app):
    """The form is answered by a page, or by a part for a script; it leads to the release, which shows nothing."""
    ada = Visitor(app, bearer(app, "curator"))
    usual = {"sensitivity": "1", "cells": "1", "neighbours": "add-remove", "rows": "declared", "numbers": "integers"}
    filled = usual | {"name": "admissions", "columns": "admitted", "public": "department", "epsilon": "1"}
    for headers in ({}, {"hx-request": "true"}):
        page = ada.get("/publish")
        answer = ada.fill(page, "/publish", files={"table": ("t.csv", CSV)}, follow=False, headers=headers, **filled)
        assert answer.status_code == 200
        assert "sorted by the released column &#39;admitted&#39;" in answer.text
        assert 'href="/release?name=admissions&amp;version=1&amp;done=published"' in answer.text
        assert ("<html" in answer.text) == (not headers)
        assert answer.headers["cache-control"] == "no-store"
    assert "sorted by" not in ada.get("/release?name=admissions").text
    assert "sorted by" not in Visitor(app, bearer(app, "recipient")).get("/release?name=admissions&at=1").text
    page = ada.get("/release?name=admissions")
    relaxed = ada.fill(page, "/relax", files={"table": ("t.csv", CSV)}, follow=False, epsilon="20")
    assert "practically nobody" in relaxed.text
    again = ada.fill(ada.get("/publish"), "/relax/measures", follow=False, files={"table-1": ("t.csv", CSV)},
                     **{"release-1": "admissions", "epsilon-1": "30"})  # fmt: skip
    assert "practically nobody" in again.text


def test_texts_beside_the_values_are_not_guessed_without_end(opened, who):
    """Whether texts are those of another curator's table is a comparison: it counts as those of values do."""
    alone, terms = opened(approvals=False), Terms.read({**WORDS, "drop": "department", "public": None})
    publish_by(alone, who("Ada", "curator"), "k", "admissions", SORTED, ONE, terms)
    thief = who("Eve", "curator")
    for guess in range(5):
        request, table = AnswerRequest("admissions", ONE), SORTED | {"department": [f"{guess}", *"CFADGBE"]}
        seen = alone.releases.relax_measures(thief, f"{guess}", [request], {"admissions": table}, {})["admissions"]
        assert [type(one) for one in seen.warnings] == [RowsRenamed]
    with pytest.raises(TooOften):
        relax_by(alone, thief, "right", "admissions", SORTED, ONE)


def test_a_missing_witness_is_said_to_the_operator(opened, who, tmp_path):
    """Its text has a path of the server, so it is no part of an answer; see `of_environment` for the log."""
    alone, ada = opened(approvals=False), who("Ada", "curator")
    publish_by(alone, ada, "k", "admissions", MIXED, ONE, TERMS)
    for file in tmp_path.glob("witness*"):
        file.unlink()
    with pytest.warns(WitnessMissing, match="witness"):
        seen = alone.releases.publish_measures(
            ada, "k", [TERMS.request("admissions", ONE)], {"admissions": MIXED}, {"admissions": None}
        )
    assert seen["admissions"].warnings == ()
