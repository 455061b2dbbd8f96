"""Every GET of every role over the largest objects that it can meet: processor, memory, and the answer of /health."""

import io
import json
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256

import httpx
import numpy as np
import pytest

from service.conftest import ALL
from service.publications import Terms, propose_by, publish_by
from service.test_description import OPEN
from service.visiting import PAGE, Visitor
from utmost.counting import CountedTable
from utmost.errors import BadTable
from utmost.exact import level

# Files kept between two requests are tried with few, and with many at once.
from utmost.interfaces.service.api.problems import Refused
from utmost.interfaces.service.pages import page_downloads as downloads
from utmost.interfaces.service.pages.page_downloads import FileCache
from utmost.ledger import Ledger, PublishRequest
from utmost.privacy import Unit
from utmost.promises import Promise
from utmost.service import Grant, Service, application, served
from utmost.workloads import Domain, Plan

ONE_STORE = True

ONE = level(1)
ROWS, LABELS, PROPOSALS, TOKENS = 15_000, 400, 8, 20
"""A tenth of what users have met."""
ROLES = ("curator", "auditor", "admin", "approver", "recipient")
SECONDS, BYTES, SILENCE, LONGEST = 1.5, 10 << 20, 1.5, 1 << 19
"""What one GET may take of the processor and of memory in the server, how long /health is silent, an answer."""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A service with a long table, many sums, many long proposals and tokens."""
    place = tmp_path_factory.mktemp("large")
    with Ledger.open(place / "l.db", create=True) as ledger:
        service = Service(ledger, approvals=False)
        made = {role: service.bearers.make(None, role, f"a {role}", role, ALL) for role in ROLES}
        ada = made["curator"][0]
        columns = {"town": [f"town {number}" for number in range(ROWS)], "n": list(range(ROWS))}
        terms = Terms.read(
            {"columns": "n", "public": "town", "dataset": "d", "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}}
        )
        publish_by(service, ada, "t", "long", columns, ONE, terms)
        names = [f"axis{number}" for number in range(5)]
        domain = Domain({"town": [f"label {number}" for number in range(LABELS // 4)]} | {n: ["a", "b"] for n in names})
        marginals = ["town", *names, *(f"{one} {other}" for one in names for other in names if one < other)]
        plan = Plan(domain, Unit(1, 1), dict.fromkeys(marginals, Fraction(1, len(marginals))))
        counted = CountedTable(domain, np.zeros(domain.shape, np.int64), Unit(1, 1))
        planned = Terms.read({"noise": plan, "dataset": "d"})
        publish_by(service, ada, "s", "sums", counted, ONE, planned)
        public = [f"a column with a long name {number}" for number in range(LABELS)]
        wide = Terms.read(terms.facts() | {"public": public})
        for number in range(PROPOSALS):
            propose_by(service, ada, f"p{number}", "publish", f"r{number}", ONE, terms=wide, reason="why " * 200)
        for number in range(TOKENS):
            service.bearers.make(None, f"t{number}", f"o{number}", "recipient", (Grant("long", level("1/4")),))
        with served(service, OPEN) as address:
            yield service, address, {role: presented for role, (_, presented) in made.items()}


def asked(service):
    """Each path that can be asked for, with the queries that make it work hardest."""
    proposal = service.proposals.waiting(service.bearers.make(None, "z", "z", "approver", ALL)[0])[0].name
    files = [f"?name={name}&at=1&marginal={marginal}" for name, marginal in (("long", ""), ("sums", "town"))]
    view = [f"/v1/releases/{name}/view?epsilon={at}" for name in ("long", "sums") for at in ("1", "1/2")]
    return {
        "/v1/me": ["/v1/me"], "/v1/releases": ["/v1/releases"], "/v1/releases/{name}": ["/v1/releases/sums"],
        "/v1/releases/{name}/view": view,
        "/v1/releases/{name}/margin": ["/v1/releases/sums/margin?epsilon=1/3&confidence=0.999"],
        "/v1/releases/{name}/rehearsal": ["/v1/releases/sums/rehearsal?epsilon=2&dataset=d"],
        "/v1/releases/{name}/history": ["/v1/releases/long/history"],
        "/v1/proposals": ["/v1/proposals", "/v1/proposals?most=1"],
        "/v1/proposals/{name}": [f"/v1/proposals/{proposal}"], "/v1/waiting": ["/v1/waiting"],
        "/v1/tokens": ["/v1/tokens"],
        "/v1/datasets/{dataset}/budget": ["/v1/datasets/d/budget"], "/v1/history": ["/v1/history"],
        "/v1/status": ["/v1/status"], "/v1/receipt": ["/v1/receipt"], "/v1/trail": ["/v1/trail"],
        "/v1/trail/lines": ["/v1/trail/lines"], "/v1/openapi.json": ["/v1/openapi.json"],
        "/": ["/"], "/static/{name}": ["/static/htmx.min.js"], "/releases": ["/releases"],
        "/release": ["/release?name=long", "/release?name=long&below=10000", "/release?name=sums&below=1"],
        "/waiting": ["/waiting"], "/proposals": ["/proposals"], "/proposal": [f"/proposal?name={proposal}"],
        "/verify": ["/verify"], "/history": ["/history"], "/budgets": ["/budgets"],
        "/tokens": ["/tokens"], "/trail": ["/trail"], "/trail.jsonl": ["/trail.jsonl"], "/publish": ["/publish"],
        "/release/table.{ending}": [f"/release/table.{of}{one}" for of in ("csv", "parquet", "xlsx") for one in files],
        "/release/statement.json": [f"/release/statement.json{one}&of=xlsx" for one in files],
        "/release/release.json": ["/release/release.json?name=sums&at=1"], "/login": ["/login"],
        "/login/openid": [], "/login/openid/back": [], "/health/live": [], "/health/ready": [],
        "/metrics": ["/metrics"],
        "/read": ["/read?n=1000&response=500"], "/explore": ["/explore?sensitivity=1000"],
        "/channel": ["/channel?n=40"],
        "/map": [], "/trust": ["/trust"],
    }  # fmt: skip


@contextmanager
def watched(address):
    """Asks for /health all the while; gives the longest silence."""
    ended, silences = threading.Event(), [0.0]

    def watch():
        with httpx.Client(base_url=address, timeout=60) as client:
            while not ended.is_set():
                began = time.monotonic()
                assert client.get("/health/ready").json() == {"ready": True}
                silences.append(time.monotonic() - began)
                ended.wait(0.1)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield silences
    finally:
        ended.set()
        thread.join()


def test_every_get_is_bounded(large):
    """In the server's own process; what the processes beside it take is bounded by themselves. A role asks for what
    the ones before it may not see."""
    service, address, presented = large
    paths = asked(service)
    routes = application(service, OPEN).inside.routes
    there = {route.path for route in routes if "GET" in (getattr(route, "methods", None) or ())}
    assert there - paths.keys() == set()
    slow, fat, left = [], [], {one: path for path, all_of in paths.items() for one in all_of}
    with httpx.Client(base_url=address, timeout=60) as client, watched(address) as silences:
        for role in ROLES:
            headers = {"Authorization": f"Bearer {presented[role]}", "Cookie": f"utmost={presented[role]}"}
            for one, path in [*left.items()]:
                began = time.process_time()
                answer = client.get(one, headers=headers | ({} if path.startswith("/v1") else PAGE))
                took = time.process_time() - began
                assert answer.status_code in (200, 303, 403, 404, 409), (role, one, answer.text[-300:])
                if answer.status_code == 200:
                    del left[one]
                if took > SECONDS:
                    slow.append((role, one, took))
                if len(answer.content) > LONGEST:
                    fat.append((role, one, len(answer.content)))
    assert slow == fat == []
    assert {*left.values()} <= {"/", "/login"}
    assert max(silences) < SILENCE


def test_every_get_has_room_in_little_memory(large):
    service, _, presented = large
    app = application(service, OPEN)
    over, paths = [], [one for all_of in asked(service).values() for one in all_of]
    tracemalloc.start()
    for role in ("curator", "auditor"):  # who is asked for what the curator may not see
        visitor, refused = Visitor(app, presented[role]), []
        bearer = {"Authorization": f"Bearer {presented[role]}"}
        for path in paths:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            answer = visitor.send("GET", path, follow=False, headers=bearer)
            most = tracemalloc.get_traced_memory()[1] - before
            if most > BYTES:
                over.append((role, path, most >> 20))
            if answer.status_code != 200:
                refused.append(path)
        paths = refused
    tracemalloc.stop()
    assert over == []


def test_eight_at_once_get_one_file(large, monkeypatch):
    """Made once, outside the server, while /health answers; and each later one from memory."""
    service, address, presented = large
    made, ask = [], downloads.WORKERS.ask
    monkeypatch.setattr(
        downloads.WORKERS,
        "ask",
        lambda caller, work, fields, **more: (made.append(work), ask(caller, work, fields, **more))[1],
    )
    headers = {"Cookie": f"utmost={presented['recipient']}"}
    service.releases.view(service.bearers.authenticated(presented["recipient"]), "long", level("1/7"))

    def get(marginal):
        path = f"/release/table.xlsx?name=long&at=1/7&marginal={marginal}"  # of a table it says nothing
        return httpx.get(address + path, headers=headers, timeout=60)

    with watched(address) as silences, ThreadPoolExecutor(8) as threads:
        began = time.process_time()
        answers = [*threads.map(get, range(8))]
        took = time.process_time() - began
    assert {answer.status_code for answer in answers} == {200}
    assert len({sha256(answer.content).digest() for answer in answers}) == 1
    assert made == ["download"]
    assert took < 2 * SECONDS, "with eight clients, who are in this process, too"
    assert max(silences) < SILENCE
    get(0)
    assert made == ["download"]


@pytest.mark.parametrize(("ending", "works"), [("xlsx", "CSV"), ("parquet", "CSV"), ("csv", "save")])
def test_a_file_that_is_too_large_is_refused_by_what_works(large, monkeypatch, ending, works):
    service, _, presented = large
    bo = Visitor(application(service, OPEN), presented["recipient"])
    for most in ("MOST_CELLS_OF_A_FILE", "MOST_TEXT"):
        with monkeypatch.context() as patch:
            patch.setitem(getattr(downloads, most), ending, 1000)
            for path in (f"table.{ending}", f"statement.json?of={ending}&"):
                answer = bo.get(f"/release/{path}{'' if '?' in path else '?'}name=long&at=1",
                                headers={"Accept": "application/json"})  # fmt: skip
                assert (answer.status_code, answer.json()["title"]) == (422, "Unsupported")
                assert works in answer.json()["detail"]
    assert bo.get(f"/release/table.{ending}?name=long&at=1").status_code == 200


def test_pieces_of_a_file_are_the_file(large, monkeypatch):
    """However it is cut; also where a row is long."""
    service, _, presented = large
    bo = Visitor(application(service, OPEN), presented["recipient"])
    whole = bo.get("/release/table.csv?name=long&at=1").content
    assert whole.count(b"\n") == ROWS + 1
    monkeypatch.setattr(downloads, "_TOGETHER", 15_001)
    monkeypatch.setattr(downloads, "_LONGEST", 50_000)
    again = Visitor(application(service, OPEN), presented["recipient"])
    assert again.get("/release/table.csv?name=long&at=1").content == whole
    assert len(list(downloads._pieces({"n": ["x" * 60_000] * 3}))) == 3  # a row that is too long by itself ends, too


def test_files_are_kept_as_long_as_there_is_room():
    kept, made = FileCache(most=10), []

    def make(name, size):
        return kept.file(name, lambda: made.append(name) or b"x" * size)

    for name, size in (("a", 4), ("b", 4), ("a", 4), ("c", 4), ("a", 4), ("b", 4)):
        make(name, size)
    assert made == ["a", "b", "c", "b"]
    assert len(make("d", 100)) == 100
    make("d", 100)
    assert made[-2:] == ["d", "d"], "larger than all the room: given, and not kept"

    def failing():
        raise BadTable("a table must be one")

    for _ in range(2):
        with pytest.raises(BadTable):
            kept.file("e", failing)


def test_who_waits_for_anothers_file_is_bounded():
    kept, begun, go_on = FileCache(waiting=1), threading.Event(), threading.Event()

    def slow():
        begun.set()
        go_on.wait(60)
        return b"x"

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(kept.file, "a", slow)
        begun.wait(60)
        second = threads.submit(kept.file, "a", slow)
        while kept._now == 0:
            time.sleep(0.01)
        with pytest.raises(Refused):
            kept.file("a", slow)
        go_on.set()
        assert first.result(60) == second.result(60) == b"x"


def test_a_formula_is_refused_in_csv_and_kept_as_text_in_excel(tmp_path):
    """Of a page, as of every other writer; verify agrees with the file that works."""
    openpyxl = pytest.importorskip("openpyxl")
    evil = '=HYPERLINK("http://evil.example","x")'
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        service = Service(ledger, approvals=False)
        made = {role: service.bearers.make(None, role, role, role, ALL) for role in ("curator", "recipient")}
        terms = Terms.read({"columns": "n", "public": "town", "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}})
        table = {"town": [evil, "Bern"], "n": [1, 2]}
        before = ledger.status().events
        with pytest.raises(BadTable, match="Rename the column"):
            publish_by(service, made["curator"][0], "t", "x", table, ONE, terms)
        assert ledger.status().events == before
        plan = Promise(noise=Plan(Domain(town=[evil, "Bern"]), Unit(1, 1), {"town": 1}))
        with pytest.raises(BadTable, match="Rename the column"):
            service.proposals.propose(made["curator"][0], "p", PublishRequest("y", plan, ONE, "people"))
        ledger.publish("x", table, Promise("n", public="town", unit=Unit(1, 1)), epsilon=1)  # no entrance of a service
        bo = Visitor(application(service, OPEN), made["recipient"][1])
        refused = bo.get("/release/table.csv?name=x&at=1", headers={"Accept": "application/json"})
        assert (refused.status_code, refused.json()["title"]) == (422, "BadTable")
        assert ".xlsx" in refused.json()["detail"]
        assert "evil" not in refused.text
        content = bo.get("/release/table.xlsx?name=x&at=1").content
        sheet = openpyxl.load_workbook(io.BytesIO(content))["Values"]
        assert (sheet["A2"].value, sheet["A2"].data_type) == (evil, "s")
        said = bo.get("/release/statement.json?name=x&at=1&of=xlsx").json()
        assert said["table"]["sha256"] == sha256(content).hexdigest()
        parquet = bo.get("/release/table.parquet?name=x&at=1").content
        said_by_default = bo.get("/release/statement.json?name=x&at=1").json()
        assert said_by_default["table"]["sha256"] == sha256(parquet).hexdigest()
        page = bo.get("/verify")
        files = {"table": ("t.xlsx", content, "x/y"), "statement": ("s.json", json.dumps(said).encode(), "x/y")}
        assert "It agrees with its statement" in bo.fill(page, "/verify/table", files=files).text
