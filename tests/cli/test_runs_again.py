"""A run of `utmost release` with a ledger is made again: the same bytes, nothing written, exit code 0."""

import json
import os

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from running import new_ledger

EVENTS = [("ann", "north", 3), ("bob", "north", 5), ("cem", "south", 2), ("dora", "south", 9), ("eve", "north", 1)]
KEPT = ["--ledger", "r.db", "--epsilon", "1/2"]
ONCE = ["--name", "v", "--request", "monday"]
EACH = ["--each-row", "--domain", "d.json"]
PERSON = ["--person", "who", "--at-most", "1", "--domain", "d.json", "--count-key", "count.key"]


@pytest.fixture
def events(tmp_path, monkeypatch):
    """Events, their domain, and a key to count by."""
    monkeypatch.chdir(tmp_path)
    new_ledger("r.db")
    (tmp_path / "e.csv").write_text("who,region,paid\n" + "".join(f"{w},{r},{p}\n" for w, r, p in EVENTS))
    (tmp_path / "d.json").write_text(json.dumps({"region": ["north", "south"]}))
    (tmp_path / "count.key").write_bytes(os.urandom(32))
    (tmp_path / "count.key").chmod(0o600)
    return tmp_path


def planned(run):
    """A plan for the counts by region, and the counted table."""
    assert run("count", "e.csv", *PERSON, "--out", "counted.json")[0] == 0
    assert run("plan", "counted.json", "--want", "region", "--epsilon", "1/2", "--out", "plan.json")[0] == 0


def measured(run):
    """Plans for two measures, and the tables of both."""
    measures = {"visits": {"per_cell": 1}, "spent": {"values": "paid", "per_cell": 10}}
    with open("measures.json", "w") as file:
        json.dump(measures, file)
    found = run("count", "e.csv", *PERSON, "--measures", "measures.json", "--out", "m.json")
    assert found[0] == 0, found[2]
    for name in measures:
        assert run("plan", f"m-{name}.json", "--want", "region", "--epsilon", "1/2", "--out", f"{name}.json")[0] == 0


WAYS = {
    "events": (None, ["e.csv", *EACH, *ONCE], "csv"),
    "counted table": (planned, ["counted.json", *ONCE], "csv"),
    "columns": (None, ["e.csv", "--columns", "paid", "--public", "region", "--drop", "who", "--sensitivity", "9",
                       "--cells", "1", *ONCE], "csv"),
    "plan of events": (planned, ["e.csv", *EACH, "--plan", "plan.json", *ONCE], "json"),
    "plan of a counted table": (planned, ["counted.json", "--plan", "plan.json", *ONCE], "json"),
    "measures": (measured, ["--publish", "m.json"], "json"),
}  # fmt: skip
RUNS = [(way, ending) for way, (_, _, ending) in WAYS.items()]
RUNS += [("events", ending) for ending in ("parquet", "jsonl", "xlsx", "tsv")] + [("columns", "parquet")]


def written(folder):
    """The files that were written, with their bytes and when."""
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.glob("o[.-]*")}


@pytest.mark.parametrize(("way", "ending"), RUNS)
def test_a_run_made_again_ends_well_and_writes_nothing(run, events, way, ending):
    """Also after the release was relaxed in between; and files of other bytes are refused."""
    prepared, words, _ = WAYS[way]
    if prepared is not None:
        prepared(run)
    command = ["share", "visits.json", "spent.json"] if way == "measures" else ["release"]
    call = [*command, *words, *KEPT, "--out", f"o.{ending}"]
    code, _, err = run(*call)
    assert code == 0, err
    first = written(events)
    assert first
    code, _, err = run(*call)
    assert code == 0, err
    assert written(events) == first
    if way in ("events", "plan of a counted table"):
        table = {"events": "counted.json", "plan of a counted table": "counted.json"}[way]
        if way == "events":
            assert run("count", "e.csv", *EACH, "--out", table)[0] == 0
        loose = "loose.json" if ending == "json" else f"loose.{ending}"
        relaxed = run("relax", table, "--ledger", "r.db", "--name", "v", "--epsilon", "3", "--out", loose)
        assert relaxed[0] == 0, relaxed[2]
        code, _, err = run(*call)
        assert code == 0, err
        assert written(events) == first
    out = next(file for file in events.glob("o[.-]*") if not file.name.endswith(f".{ending}.json"))
    out.write_bytes(first[out.name][0] + b" ")
    code, _, err = run(*call)
    assert code == 2
    assert "Move the file away" in err


def test_a_file_that_no_ledger_answered_is_refused_before_anything_is_spent(run, events):
    (events / "o.csv").write_text("mine\n")
    call = ["release", "e.csv", *EACH, *ONCE, *KEPT, "--out", "o.csv"]
    assert run(*call)[0] == 2
    assert run("release", "e.csv", *EACH, *KEPT, "--name", "w", "--out", "w.csv")[0] == 0
    assert run(*call)[0] == 2
    releases = json.loads(run("ledger", "status", "--ledger", "r.db", "--json")[1])["releases"]
    assert [release["name"] for release in releases] == ["w"]
    assert (events / "o.csv").read_text() == "mine\n"


def test_a_view_needs_a_level_once_there_are_several(run, events):
    """With one answer it is that one; then the error names the levels and the option."""
    assert run("release", "e.csv", *EACH, *ONCE, *KEPT, "--out", "o.csv")[0] == 0
    view = ["view", "--ledger", "r.db", "--name", "v"]
    code, _, err = run(*view, "--out", "only.csv")
    assert code == 0, err
    assert (events / "only.csv").read_bytes() == (events / "o.csv").read_bytes()
    assert run(*view, "--epsilon", "1/4", "--out", "strict.csv")[0] == 0
    code, _, err = run(*view, "--out", "which.csv")
    assert code == 2
    assert "0.25, 0.5" in err
    assert "--epsilon" in err
    assert not (events / "which.csv").exists()


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize("lost", ["table", "statement", "signature"])
def test_a_run_that_was_killed_between_its_files_is_finished(run, events, ending, lost):
    """What is missing is written with the same bytes; the ledger spends nothing more."""
    private = Ed25519PrivateKey.generate()
    secret = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (events / "sign.pem").write_bytes(secret)
    (events / "sign.pem").chmod(0o600)
    (events / "r.toml").write_text('sign = "sign.pem"\n')
    call = ["release", "e.csv", *EACH, *ONCE, *KEPT, "--recipe", "r.toml", "--out", f"o.{ending}"]
    assert run(*call)[0] == 0
    first = {name: content for name, (content, _) in written(events).items()}
    assert len(first) == 3
    gone = {"table": f"o.{ending}", "statement": f"o.{ending}.json", "signature": f"o.{ending}.json.sig"}[lost]
    (events / gone).unlink()
    code, _, err = run(*call)
    assert code == 0, err
    assert {name: content for name, (content, _) in written(events).items()} == first
    assert json.loads(run("ledger", "budget", "--ledger", "r.db", "--dataset", "v", "--json")[1])["spent"] == "1/2"


@pytest.mark.parametrize("wrong", ['{"junk": 1}', "no JSON", "[]"])
def test_another_statement_beside_the_table_is_never_taken_for_this_one(run, events, wrong):
    call = ["release", "e.csv", *EACH, *ONCE, *KEPT, "--out", "o.csv"]
    assert run(*call)[0] == 0
    for keeps_table in (True, False):
        (events / "o.csv.json").write_text(wrong)
        if not keeps_table:
            (events / "o.csv").unlink()
        assert run(*call)[0] != 0
        assert (events / "o.csv.json").read_text() == wrong
        assert (events / "o.csv").exists() is keeps_table


def test_a_missing_signature_is_made_of_the_statement_that_is_there(run, events):
    """Which another version of utmost may have written; and a signature of another statement is refused."""
    private = Ed25519PrivateKey.generate()
    (events / "sign.pem").write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (events / "sign.pem").chmod(0o600)
    (events / "r.toml").write_text('sign = "sign.pem"\n')
    call = ["release", "e.csv", *EACH, *ONCE, *KEPT, "--recipe", "r.toml", "--out", "o.csv"]
    assert run(*call)[0] == 0
    statement, signature = events / "o.csv.json", events / "o.csv.json.sig"
    earlier = {**json.loads(statement.read_text()), "utmost": "0.1.9"}
    statement.write_text(json.dumps(earlier, indent=2) + "\n")
    signature.unlink()
    code, _, err = run(*call)
    assert code == 0, err
    private.public_key().verify(signature.read_bytes(), statement.read_bytes())
    statement.unlink()
    code, _, err = run(*call)
    assert (code, "o.csv.json.sig: an existing file must be identical" in err) == (2, True)
    assert not statement.exists()
