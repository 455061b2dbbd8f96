"""One reader: every kind of publication comes back as what can be asked most of, from a file or an address."""

import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import utmost as ut
from utmost.errors import BadTable, OutOfRange, Unsupported, WrongKind
from utmost.promises import once_together
from utmost.releases import Answer
from utmost.statements import PublishedTable, read_release
from utmost.workloads import Domain, Plan, edges

TOGETHER = ut.Promise(["n", "m"], noise=once_together(["n", "m"], unit=ut.Unit(1, 2)))


@pytest.fixture
def folder(tmp_path):
    """A file of every kind."""
    table = {"place": ["a", "b"], "n": [500, 97]}
    ut.release(table, ut.Promise(columns="n", public="place", unit=ut.Unit(1, 1)), epsilon=1, once=True).save(
        tmp_path / "n.csv"
    )
    points = {"x": [1.5, 7.0], "y": [2.0, 4.0]}
    ut.release(points, ut.Promise(["x", "y"], noise=ut.PointNoise(200)), epsilon=1, once=True).save(
        tmp_path / "points.csv"
    )
    both = {"n": [7, 9], "m": [1, 2]}
    ut.release(both, TOGETHER, epsilon=1, once=True).save(tmp_path / "both.csv")
    keys = {"key": ["a", "b"], "count": [900, 800]}
    ut.release(keys, ut.Promise(noise=ut.promises.key_noise(delta="1e-6")), epsilon="1/2").save(tmp_path / "keys.csv")
    plan = _plan()
    plan.save(tmp_path / "plan.json")
    plan.save(tmp_path / "age.parquet", marginal="age")
    plan.clean().save(tmp_path / "clean.csv", marginal="age")
    plan.withhold("age", below=30).save(tmp_path / "shown.csv")
    return tmp_path


def _plan(cells=(90, 10, 20, 30)):
    domain = Domain(age=edges([0, 15, 25, 65, 100]), sex=["men", "women"])
    counts = np.array([[cell, 2 * cell] for cell in cells])
    return ut.release(counts, Plan(domain, ut.Unit(1, 1), {"age sex": 1}), epsilon=1, once=True).table


KINDS = {
    "n.csv": Answer, "points.csv": Answer, "both.csv": Answer, "keys.csv": Answer, "plan.json": Answer,
    "age.parquet": Answer, "clean.csv": PublishedTable, "shown.csv": ut.publish.releases.withheld.WithheldTable,
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_read_and_shown(folder, name, run):
    assert type(read_release(folder / name)) is KINDS[name]
    assert type(ut.read_release(str(folder / name))) is KINDS[name]
    assert run("read", folder / name)[0] == 0
    code, out, _ = run("read", folder / name, "--json")
    assert code == 0
    assert json.loads(out)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "plan.json"])
def test_a_changed_file_is_refused(folder, name, run):
    place = folder / name
    place.write_bytes(place.read_bytes().replace(b"0", b"1"))
    place.write_bytes(place.read_bytes() + b" ")
    with pytest.raises(BadTable):
        read_release(place)
    assert run("read", place)[0] == 1


def test_a_table_of_a_plan_answers_what_the_plan_does(folder, run):
    """Sums, means and quantiles with the same bars: the statement beside the table holds the release."""
    whole, table = read_release(folder / "plan.json"), read_release(folder / "age.parquet")
    assert table.total({"sex": "men"}) == whole.total({"sex": "men"})
    assert table.quantile("age", "1/4") == whole.quantile("age", "1/4")
    assert table.mean("age") == whole.mean("age")
    for asked in (["--where", "sex=men"], ["--median", "age"], ["--mean", "age"]):
        answers = [run("total", folder / name, *asked, "--json") for name in ("plan.json", "age.parquet")]
        assert answers[0] == answers[1]
        assert answers[0][0] == 0
    (folder / "age.parquet.json").unlink()
    with pytest.raises(BadTable, match="needs its statement"):
        ut.read_release(folder / "age.parquet")


def test_an_answer_is_of_the_table_that_its_statement_is_about(folder):
    """Another cell, margin, row or column is refused; what fits has the answers of the one that was drawn."""
    table = {"place": ["a", "b"], "n": [500, 97]}
    answer = ut.release(table, ut.Promise("n", public="place", unit=ut.Unit(1, 1)), epsilon=1)
    again = Answer.of_statement(answer.table, answer.statement)
    assert (again.total(), again.statement) == (answer.total(), answer.statement)
    published = read_release(folder / "n.csv")
    for made in (answer, published):
        for change in (
            {"n": [1.5, 2]},
            {"n_margin": [9, 9]},
            {"n": [1], "place": ["a"], "n_margin": [3]},
            {"m": [1, 2]},
        ):
            with pytest.raises(BadTable):
                Answer.of_statement({**made.table, **change}, made.statement)
    with pytest.raises(BadTable):
        Answer.of_statement(answer.table | {"n": [0, 0]}, answer.statement)


def test_values_are_numbers_in_whatever_file_they_were(folder):
    """A CSV file has text alone: values and margins come back as numbers, labels as the text that they were."""
    table = {"place": ["01", "02"], "n": [500, 97], "x": [0.5, 2.25]}
    noise = ut.CellNoise(ut.Unit(1, 2), "reals", grid="1/8")
    answer = ut.release(table, ut.Promise(["n", "x"], public="place", noise=noise), epsilon=1, once=True)
    for ending in ("csv", "tsv", "parquet", "jsonl"):
        answer.save(folder / f"again.{ending}")
        read = read_release(folder / f"again.{ending}")
        assert read.to_pandas().to_dict("list") == answer.to_pandas().to_dict("list")
        assert read.statement == answer.statement | {"table": read.statement["table"]}


def test_a_released_table_has_sums_and_ratios_by_the_same_command(folder, run):
    release = read_release(folder / "n.csv")
    code, out, _ = run("total", folder / "n.csv", "--where", "place=a", "--json")
    assert code == 0
    assert json.loads(out)["value"] == release.total({"place": "a"}).value
    assert run("total", folder / "n.csv", "--where", "place=a", "--ratio")[0] == 0
    for wrong in (["--median", "age"], ["--mean", "n"]):
        assert run("total", folder / "n.csv", *wrong)[0] == 2
    assert run("total", folder / "shown.csv")[0] == 2
    assert run("read", folder / "shown.csv", "--total")[0] == 2


def test_what_cannot_be_read_is_refused_with_a_reason(folder, tmp_path):
    for wrong in (None, "", "\0", 7):
        with pytest.raises(WrongKind):
            read_release(wrong)
    with pytest.raises(BadTable, match="in the same folder"):
        read_release(folder / "n.csv.json")
    with pytest.raises(OutOfRange):
        read_release(folder / "plan.json", folder / "n.csv.json")
    with pytest.raises(BadTable):
        read_release(tmp_path / "nothing.csv")
    (folder / "moved.json").write_text((folder / "n.csv.json").read_text())
    (folder / "n.csv.json").unlink()
    assert isinstance(read_release(folder / "n.csv", folder / "moved.json"), Answer)


@pytest.fixture
def address(folder):
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    handler.func.log_message = lambda *_: None
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_address_is_read_with_the_statement_beside_it(folder, address, monkeypatch, run):
    for name, kind in KINDS.items():
        assert type(read_release(f"{address}/{name}")) is kind
    fetched = read_release(f"{address}/n.csv?version=1")
    assert fetched.total({"place": "a"}) == read_release(folder / "n.csv").total({"place": "a"})
    assert fetched.withhold(below=300).shown == 1
    assert run("total", f"{address}/age.parquet", "--where", "sex=men")[0] == 0
    for wrong in (f"{address}/nothing.csv", "http://127.0.0.1:9/n.csv"):
        with pytest.raises(Unsupported, match="address"):
            read_release(wrong)
    with pytest.raises(OutOfRange):
        read_release(f"{address}/")


def test_a_statement_of_another_kind_names_the_call_that_checks_it(folder):
    statement = json.loads((folder / "age.parquet.json").read_text(encoding="utf-8"))
    with pytest.raises(BadTable, match="table of sums") as refused:
        ut.statements.check_statement(statement, folder / "age.parquet")
    assert "ut.read_release(file)" in refused.value.remedy
    assert ut.read_release(folder / "age.parquet").epsilon == 1
