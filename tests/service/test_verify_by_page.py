"""*Verify* takes every kind of what is published, in a process that has neither the ledger nor its key."""

import gzip
import io
import json
import sys
from base64 import b64encode
from hashlib import sha256
from resource import RUSAGE_SELF, getrusage

import numpy as np
import pytest

import utmost as ut
from kinds import statement_kinds
from running import main
from service.conftest import ALL, KEY
from service.visiting import Visitor
from utmost.counting import CountedTable
from utmost.interfaces.service.workers.page_work import answered
from utmost.ledger import Ledger
from utmost.promises import key_noise
from utmost.releases import release_detailed, release_measures
from utmost.service import Service, Settings, application
from utmost.workloads import Plan

TOGETHER = ut.Promise(["n", "m"], noise=ut.promises.once_together(["n", "m"], unit=ut.Unit(1, 2)))

TABLE, UNIT = {"n": [70, 900], "m": [1, 2]}, {"unit": ut.Unit(1, 1)}
WORDS = {"word": ["a", "b"], "n": [900, 800]}
DOMAIN, CELLS = ut.Domain(sex=["men", "women"], age=["<40", "40+"]), np.array([[500, 70], [30, 900]])


def planned():
    return ut.release(CELLS, Plan(DOMAIN, ut.Unit(1, 1), {"sex age": "3/4", "sex": "1/4"}), epsilon=1, once=True).table


def two_stages(path):
    domain = ut.Domain(county=["A", "B"], sex=["men", "women"])
    release_detailed(CountedTable(domain, CELLS, ut.Unit(1, 1)), "county", {"sex": 500}, epsilon=2).save(path)


def measures(path):
    people = {"sex": ["m", "w", "w"], "income": [5, 7, 8], "rent": [1, 2, 3]}
    each = {name: ut.mean(name, each=(0, 9)) for name in ("income", "rent")}
    tables = ut.count_measures(people, {"sex": ["m", "w"]}, ut.Counting(each_row=True), each)
    release_measures(tables, epsilon=1).save(path)


def answers(path):
    """What `utmost respond` writes."""
    people, design = path.with_name("people.csv"), path.with_name("design.json")
    people.write_text("person,place\nA,1\nB,2\n")
    commands = (
        ("design", "--space", "counts:3", "--prior", "uniform", "--epsilon", "alpha=1/2", "--out", design),
        ("respond", design, "--file", people, "--column", "place", "--public", "person", "--out", path),
    )
    for words in commands:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        assert ended.value.code == 0


def table(path):
    ut.release(TABLE, ut.Promise(columns=["n", "m"], **UNIT), epsilon=1, once=True).save(path)


MAKERS = {
    **dict.fromkeys(["table.csv", "table.csv.gz", "table.parquet", "table.xlsx"], table),
    "together.csv": lambda path: ut.release(TABLE, TOGETHER, epsilon=1, once=True).save(path),
    "points.csv": lambda path: ut.release(
        {"x": [1.5], "y": [2]}, ut.Promise(["x", "y"], noise=ut.PointNoise(9)), epsilon=1, once=True
    ).save(path),
    "plan.json": lambda path: planned().save(path),
    "of a plan.csv": lambda path: planned().save(path, marginal="sex"),
    "measures.csv": measures,
    "two stages.json": two_stages,
    "keys in memory.csv": lambda path: ut.release(
        WORDS, ut.Promise(noise=key_noise(["word", "n"], delta="1e-6")), epsilon=1
    ).save(path),
    "answers.csv": answers,
    "withheld.csv": lambda path: planned().withhold("sex age", below=90)["sex age"].save(path),
}


@pytest.fixture(scope="module")
def bo(tmp_path_factory):
    """A recipient: some kinds of files take a worker of the service, and not the server itself."""
    place = tmp_path_factory.mktemp("service")
    with Ledger.open(place / "l.db", create=True, key=KEY, witness=place / "witness") as ledger:
        service = Service(ledger)
        token = service.bearers.make(None, "Bo", "Bo", "recipient", ALL)[1]
        yield Visitor(application(service, Settings(rate=1e6, burst=10**6)), token)


def verified(bo, path, **more):
    """The page after a file was brought, with its statement where it has one."""
    brought = {"table": path, "statement": path.with_name(path.name + ".json"), **more}
    files = {name: (file.name, file.read_bytes(), "x/y") for name, file in brought.items() if file.exists()}
    page = bo.fill(bo.get("/verify"), "/verify/table", files=files)
    return page.status_code, " ".join(page.text.split())


def kind(path):
    beside = path.with_name(path.name + ".json")
    return json.loads((beside if beside.exists() else path).read_text())["kind"]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """One file of every kind, and its statement where it has one beside it."""
    folder = tmp_path_factory.mktemp("published")
    for name, maker in MAKERS.items():
        maker(folder / name)
    return folder


def test_every_kind_is_among_them(published):
    assert {kind(published / name) for name in MAKERS} == statement_kinds()


@pytest.mark.parametrize("name", MAKERS)
def test_what_holds_is_vouched_for_and_what_was_changed_is_not(bo, published, name, tmp_path):
    code, page = verified(bo, published / name)
    assert (code, "It agrees with its statement" in page, "every number" in page) == (200, True, True)
    content = (published / name).read_text() if name.endswith(("csv", "json")) else ""
    places = range(len(content)) if name == "keys.json" else reversed(range(len(content)))  # whose counts are on trust
    digit = next((at for at in places if content[at] in "12345678"), None)
    if digit is not None:
        changed = tmp_path / name
        changed.write_text(content[:digit] + str(int(content[digit]) + 1) + content[digit + 1 :])
        beside = published / f"{name}.json"
        code, page = verified(bo, changed, **{"statement": beside} if beside.exists() else {})
        assert (code, "Not verified" in page) == (422, True)


def test_a_clean_table_wants_the_release_that_it_is_made_of(bo, tmp_path):
    release = planned()
    release.save(tmp_path / "whole.json")
    release.clean().save(tmp_path / "clean.csv")
    assert kind(tmp_path / "clean.csv") == "utmost clean table"
    assert verified(bo, tmp_path / "clean.csv")[0] == 422
    code, page = verified(bo, tmp_path / "clean.csv", release=tmp_path / "whole.json")
    assert (code, "computed from the release" in page) == (200, True)
    release.withhold("sex age", below=90)["sex age"].save(tmp_path / "withheld.csv")
    code, page = verified(bo, tmp_path / "withheld.csv", release=tmp_path / "whole.json")
    assert (code, "that the rule withholds are missing" in page) == (200, True)


def test_answers_are_checked_with_their_design(bo, published):
    code, page = verified(bo, published / "answers.csv", release=published / "design.json")
    assert (code, "has the stated SHA-256, secrets and level" in page) == (200, True)
    code, page = verified(bo, published / "answers.csv", release=published / "plan.json")
    assert (code, "must have the SHA-256 that the statement gives" in page) == (422, True)


def test_a_table_without_its_statement_is_not_verified(bo, published, tmp_path):
    alone = tmp_path / "together.csv"
    alone.write_bytes((published / alone.name).read_bytes())
    assert verified(bo, alone)[0] == 422


def _packed_numbers(ending):
    """A small file with 80 million cells."""
    arrow = pytest.importorskip("pyarrow")
    return _packed(arrow.table(dict.fromkeys("abcdefgh", np.zeros(10**7, np.int8))), ending)


def _packed_texts(ending):
    """A dictionary has a long text once, for many rows."""
    arrow = pytest.importorskip("pyarrow")
    rows = arrow.array(np.zeros(400_000, np.int8))
    texts = arrow.DictionaryArray.from_arrays(rows, arrow.array(["x" * 50_000]))
    return _packed(arrow.table({"s": texts}), ending)


def _packed(table, ending):
    from pyarrow import ipc, parquet

    file = io.BytesIO()
    if ending == "parquet":
        parquet.write_table(table, file, compression="zstd", row_group_size=10**7)
    else:
        with ipc.new_file(file, table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
    return file.getvalue()


def _far_cells():
    openpyxl = pytest.importorskip("openpyxl")
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.active.title = "Values"
    book.active["A1"] = "n"
    for row in range(2, 40):
        book.active.cell(row, 16_384, 1)
    book.save(file)
    return file.getvalue()


BOMBS = {
    "cells of parquet": lambda: _packed_numbers("parquet"),
    "cells of feather": lambda: _packed_numbers("feather"),
    "texts of parquet": lambda: _packed_texts("parquet"),
    "texts of feather": lambda: _packed_texts("feather"),
    "cells of text": lambda: gzip.compress(b"n\n" + b"1\n" * 2_000_001),
    "bytes of text": lambda: gzip.compress(b"n\n" + b"1" * (33 << 20)),
    "names of json": lambda: b"\n".join(b'{"%d":1}' % number for number in range(1_500)),
    "cells of excel": _far_cells,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_with_very_many_cells_is_refused_before_it_is_unpacked(published, name, tmp_path):
    path, facts = tmp_path / "table", json.loads((published / "table.csv.json").read_text())
    path.write_bytes(BOMBS[name]())
    facts["table"] = {"of": "file", "sha256": sha256(path.read_bytes()).hexdigest()}
    fields = {"table": path.read_bytes(), "statement": json.dumps(facts).encode()}
    before = getrusage(RUSAGE_SELF).ru_maxrss
    found = answered("verify", {of: b64encode(content).decode() for of, content in fields.items()})
    assert found["status"] == 422
    assert "this file may have at most" in found["problem"]
    assert "utmost verify" in found["problem"]
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 300_000  # in kB; unpacked, they have gigabytes


def test_a_plan_with_very_many_bins_is_refused_before_they_are_made(tmp_path):
    plan = Plan(ut.Domain(age=ut.workloads.bins(0, 100, width=5)), ut.Unit(1, 1), {"age": 1})
    ut.release(np.arange(20), plan, epsilon=1, once=True).save(tmp_path / "plan.json")
    document = json.loads((tmp_path / "plan.json").read_text())
    document["promise"]["noise"]["plan"]["domain"]["age"]["bins"] = [0, "1e8"]
    found = answered("verify", {"table": b64encode(json.dumps(document).encode()).decode()})
    assert "at most 200000 values" in found["problem"]


def test_a_file_that_the_service_cannot_read_is_verified_elsewhere(monkeypatch, tmp_path):
    """The remedy is for the reader of the page, who installs nothing on the service's machine."""
    answer = ut.release(TABLE, ut.Promise(["n", "m"], unit=ut.Unit(1, 2)), epsilon=1)
    answer.save(tmp_path / "t.parquet")
    files = {"table": tmp_path / "t.parquet", "statement": tmp_path / "t.parquet.json"}
    fields = {name: b64encode(path.read_bytes()).decode() for name, path in files.items()}
    assert answered("verify", fields)["status"] == 200
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    refused = answered("verify", fields)
    assert refused["status"] == 422
    assert ("utmost verify FILE" in refused["problem"], "pip" in refused["problem"]) == (True, False)
