"""An answer keeps the level of the call that made it: in every memory, for every method, at every entrance."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import utmost as ut
from ledger.test_conformance import plain
from service.test_client import Inside
from utmost.counting import CountedTable
from utmost.errors import NotALevel
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.promises import Promise
from utmost.releases import NoisySums
from utmost.service import Grant, Service, Settings, application, connect
from utmost.workloads import Domain, Plan, bins

KEY = bytes(range(32))
LOWER, HIGHER = level("1/8"), level(20)
TABLE = {"ward": [f"w{at}" for at in range(40)], "n": [at * 7 % 50 for at in range(40)]}
DOMAIN = Domain(x=bins(40))
ONE = ut.Unit(1, 1)
NOISES = {
    "cells": (Promise("n", public="ward", unit=ONE), TABLE),
    "sums": (Promise(noise=Plan(DOMAIN, ONE, {"x": 1})), CountedTable(DOMAIN, np.array(TABLE["n"]), ONE)),
    "points": (Promise(["x", "y"], noise=ut.PointNoise(1)), {"x": TABLE["n"], "y": [0] * 40}),
    "items": (Promise("n", public="ward", id_column="ward", keyed_by_id=True, unit=ONE), TABLE),
}


def opened(folder):
    return Ledger.open(folder / "l.db", create=True, key=KEY, witness=folder / "w")


def served(folder):
    service = Service(opened(folder), approvals=False)
    presented = service.bearers.make(None, "c", "curator", "curator", (Grant("*"),))[1]
    app = application(service, Settings(rate=1e6, burst=10**6))
    return lambda: connect("http://localhost", presented, transport=Inside(app))


MEMORIES = {"ledger": lambda folder: lambda: opened(folder), "service": served}


def saved(answer, folder):
    """The bytes of the saved table or document, and of its statement."""
    folder.mkdir()
    ending = "json" if isinstance(answer.table, NoisySums) else "csv"
    answer.save(folder / f"a.{ending}")
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


VERBS = {
    "table": lambda answer, folder: plain(answer.table),
    "release": lambda answer, folder: plain(answer.release.at(LOWER)),
    "view": lambda answer, folder: plain(answer.release.view(epsilon=LOWER)),
    "relax": lambda answer, folder: plain(answer.release.relax(epsilon=LOWER)),
    "statement": lambda answer, folder: answer.statement,
    "save": saved,
    "margin": lambda answer, folder: answer.margin(),
    "level": lambda answer, folder: answer.level,
    "total": lambda answer, folder: answer.total(),
}


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("noise", NOISES)
def test_asked_again_after_a_relaxation_the_same_bytes(tmp_path, noise, memory):
    """After a relaxation, the earlier answer object, the repeated call, the repeated request and the history give the
    same bytes."""
    if (noise, memory) == ("points", "service"):
        pytest.skip("a service keeps no points")
    promise, table = NOISES[noise]
    again = MEMORIES[memory](tmp_path)
    first = again()
    answer = first.publish("r", table, promise, epsilon=LOWER, request="monday")
    verbs = {name: verb for name, verb in VERBS.items() if noise != "points" or name not in ("total", "read")}
    told = {name: verb(answer, tmp_path / name) for name, verb in verbs.items()}
    only = first["r"].at()
    of_history = only.statement, plain(only), saved(only, tmp_path / "only")
    assert of_history == (told["statement"], told["table"], told["save"]), "with one answer the history takes it"
    other = again()
    other.relax("r", table, epsilon=HIGHER)
    other.relax("r", table, epsilon=1)
    entrances = {
        "before": answer,
        "request": again().publish("r", table, promise, epsilon=LOWER, request="monday"),
        "call": again().publish("r", table, promise, epsilon=LOWER),
    }
    for entrance, one in entrances.items():
        for name, verb in verbs.items():
            assert verb(one, tmp_path / f"{entrance} {name}") == told[name], (entrance, name)
    history = again()["r"]
    assert (
        plain(again().view("r", epsilon=LOWER).table)
        == plain(other.relax("r", table, epsilon=LOWER).table)
        == told["table"]
    )
    assert again().view("r", epsilon=LOWER).statement == told["statement"]
    assert saved(history.at(LOWER), tmp_path / "history") == told["save"]
    assert history.at(LOWER).margin() == told["margin"]
    assert answer.release.levels == history.levels == (LOWER, level(1), HIGHER), "the history goes on"
    assert (answer.release.spent, answer.level) == (HIGHER, LOWER)


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_history_of_several_answers_needs_a_level(tmp_path, memory):
    """The error names the levels and the argument, and passing the argument works."""
    promise, table = NOISES["sums"]
    ledger = MEMORIES[memory](tmp_path)()
    ledger.publish("r", table, promise, epsilon=LOWER)
    ledger.relax("r", table, epsilon=HIGHER)
    history = ledger["r"]
    calls = {
        "at": lambda: history.at(),
    }
    for name, call in calls.items():
        with pytest.raises(NotALevel, match=r"0\.125, 20.*epsilon="):
            print(name, call())
    for name in ("table", "statement", "margin", "total", "save", "level"):
        assert not hasattr(history, name), "a history has no values of its own"
    assert ledger.view("r", epsilon=HIGHER).statement["epsilon"] == "20"
    assert "answered at" in history._repr_html_()


def test_a_process_keeps_an_answer_at_its_level():
    made = ut.release(TABLE, NOISES["cells"][0], epsilon=LOWER)
    told = plain(made.table), made.statement, made.total(), made.margin()
    higher = made.release.at(HIGHER)
    assert (plain(made.table), made.statement, made.total(), made.margin()) == told
    assert plain(higher) != told[0]
    assert repr(made).startswith("Answer(columns=('n',), rows=40, level=level(epsilon='1/8')")
    assert repr(made.release) == "Release(name='release', version=1, spent=level(epsilon=20))"


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_an_engines_answer_keeps_its_level(tmp_path, engine):
    """A job with a request name gets the answer at its own level, even if another caller has relaxed meanwhile."""
    frame = pytest.importorskip("polars").LazyFrame(TABLE)
    if engine == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        pytest.importorskip("pyarrow")
        whole = frame.collect().to_arrow()
        frame = duckdb.connect().from_arrow(whole)

    def values(answer):
        rows = answer.collect().rows() if engine == "polars" else answer.fetchall()
        return sorted(rows)

    promise = Promise("n", public="ward", id_column="ward", unit=ONE)
    with opened(tmp_path) as ledger:
        answer = ledger.publish("r", frame, promise, epsilon=LOWER, request="monday")
        told = values(answer.table)
        with opened(tmp_path) as other:
            higher = other.relax("r", frame, epsilon=HIGHER).table
            assert values(higher) != told
            nightly = other.publish("r", frame, promise, epsilon=LOWER, request="monday").table
        assert values(nightly) == values(answer.table) == values(answer.release.at(LOWER).table) == told
        assert answer.margin() == promise.margin(LOWER, "0.95")


def test_the_statement_of_an_answer_is_of_its_own_time(tmp_path):
    """A statement names the answers given before it, and their cost together; later answers appear in later
    statements."""
    promise, table = NOISES["cells"]
    with opened(tmp_path) as ledger:
        first = ledger.publish("r", table, promise, epsilon=1)
        ledger.view("r", epsilon="1/2")
        said = {at: ledger.view("r", epsilon=at).statement for at in ("1/2", "1")}
        assert (said["1"]["levels"], said["1"]["together"]["epsilon"]) == (["1"], "1")
        assert (said["1/2"]["levels"], said["1/2"]["together"]["epsilon"]) == (["1/2", "1"], "1")
        ledger.publish("r", {**table, "n": [5] * 40}, promise, epsilon=2, version=2)
        newest = ledger.view("r", epsilon=2).statement
        assert (newest["data_version"], newest["levels"], newest["together"]["epsilon"]) == (2, ["2"], "3")
        assert first.statement == said["1"] == ledger.view("r", epsilon=1, version=1).statement


def test_publish_and_relax_in_a_race(tmp_path):
    """A caller who asks for the answer at the lower level gets it, while others relax."""
    promise, table = NOISES["cells"]
    with opened(tmp_path) as ledger:
        told = ledger.publish("r", table, promise, epsilon=LOWER)
        first = plain(told.table), json.dumps(told.statement)

        def asked(at):
            if at % 3 == 0:
                return ledger.relax("r", table, epsilon=1 + at).table and None
            answer = ledger.publish("r", table, promise, epsilon=LOWER, request="monday" if at % 3 == 1 else None)
            return plain(answer.table), json.dumps(answer.statement)

        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(asked, range(24)))
        assert {json.dumps(answer) for answer in answers if answer is not None} == {json.dumps(first)}
        assert len(ledger.levels("r")) == 9
