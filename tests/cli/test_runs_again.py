"""A run of `utmost release` with a ledger is made again: the same bytes, nothing written, exit code 0."""

import json
import os

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from cli.test_verify import key_pair
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
RUNS += [("events", "parquet")]


def recipe_that_signs(folder):
    """Write a recipe with a new private key, and return the public one."""
    private, public = key_pair(folder, "sign")
    (folder / "r.toml").write_text(f'sign = "{private.name}"\n')
    return load_pem_public_key(public.read_bytes())


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
        higher = "higher.json" if ending == "json" else f"higher.{ending}"
        relaxed = run("relax", table, "--ledger", "r.db", "--name", "v", "--epsilon", "3", "--out", higher)
        assert relaxed[0] == 0, relaxed[2]
        code, _, err = run(*call)
        assert code == 0, err
        assert written(events) == first
    out = next(file for file in events.glob("o[.-]*") if not file.name.endswith(f".{ending}.json"))
    out.write_bytes(first[out.name][0] + b" ")
    code, _, err = run(*call)
    assert code == 2
    assert "Move the file away" in err


def test_a_view_needs_a_level_once_there_are_several(run, events):
    """With one answer it is that one; then the error names the levels and the option."""
    assert run("release", "e.csv", *EACH, *ONCE, *KEPT, "--out", "o.csv")[0] == 0
    view = ["view", "--ledger", "r.db", "--name", "v"]
    code, _, err = run(*view, "--out", "only.csv")
    assert code == 0, err
    assert (events / "only.csv").read_bytes() == (events / "o.csv").read_bytes()
    assert run(*view, "--epsilon", "1/4", "--out", "lower.csv")[0] == 0
    code, _, err = run(*view, "--out", "which.csv")
    assert code == 2
    assert "0.25, 0.5" in err
    assert "--epsilon" in err
    assert not (events / "which.csv").exists()


@pytest.mark.parametrize("wrong", ['{"junk": 1}', "no JSON"])
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
    public = recipe_that_signs(events)
    call = ["release", "e.csv", *EACH, *ONCE, *KEPT, "--recipe", "r.toml", "--out", "o.csv"]
    assert run(*call)[0] == 0
    statement, signature = events / "o.csv.json", events / "o.csv.json.sig"
    earlier = {**json.loads(statement.read_text()), "utmost": "0.1.9"}
    statement.write_text(json.dumps(earlier, indent=2) + "\n")
    signature.unlink()
    code, _, err = run(*call)
    assert code == 0, err
    public.verify(signature.read_bytes(), statement.read_bytes())
    statement.unlink()
    code, _, err = run(*call)
    assert (code, "o.csv.json.sig: an existing file must be identical" in err) == (2, True)
    assert not statement.exists()


def unsigned(call):
    """The call without the recipe that signs."""
    return [word for word in call if word not in ("--recipe", "r.toml", "--sign", "sign.pem")]


LATER = {
    "release": ["release", "e.csv", *EACH, "--name", "v", "--epsilon", "1/2"],
    "relax": ["relax", "e.csv", *EACH, "--name", "v", "--epsilon", "3"],
    "view": ["view", "--name", "v", "--epsilon", "1/4"],
}
"""Calls that have no request: the ledger knows them by name and level."""
SIGNED = {
    "release": ["--recipe", "r.toml"],
    "relax": ["--recipe", "r.toml"],
    "view": ["--sign", "sign.pem"],
}
MEANS = ["--mean", "paid=0,10", "--mean", "who2=0,10"]


def asked_later(run, events, kind, ending):
    """Publish, and return a call that answers with a table, sums of a plan, or a table of several means."""
    recipe_that_signs(events)
    call = [*LATER[kind], "--ledger", "r.db", *SIGNED[kind], "--out", f"o.{ending}"]
    if ending == "json":
        planned(run)
        call = [word for word in call if word not in EACH]
        if kind != "view":
            call[1:2] = ["counted.json"]
        if kind == "release":
            call += ["--plan", "plan.json"]
    first = ["release", "counted.json", "--plan", "plan.json"] if ending == "json" else ["release", "e.csv", *EACH]
    if kind != "release":
        code, _, err = run(*first, "--name", "v", "--ledger", "r.db", "--epsilon", "1/2", "--out", f"first.{ending}")
        assert code == 0, err
    return call


@pytest.mark.parametrize(
    ("kind", "ending"),
    [("release", "csv"), ("relax", "parquet"), ("view", "json")],
)
def test_every_answer_of_a_ledger_can_be_asked_for_again(run, events, kind, ending):
    """The same bytes, nothing written, nothing spent; whichever files a kill left, the others are made."""
    call = asked_later(run, events, kind, ending)
    code, _, err = run(*call)
    assert code == 0, err
    first = written(events)
    events_of = ("ledger", "status", "--ledger", "r.db", "--json")
    before = json.loads(run(*events_of)[1])
    assert run(*call)[0] == 0
    assert written(events) == first
    names = sorted(first)
    for kept in [set(), *({name} for name in names), *(first.keys() - {name} for name in names)]:
        for name in first.keys() - kept:
            (events / name).unlink()
        code, _, err = run(*call)
        assert code == 0, (kept, err)
        assert {name: content for name, (content, _) in written(events).items()} == {
            name: content for name, (content, _) in first.items()
        }
    assert json.loads(run(*events_of)[1]) == before
    for name in names:
        right = (events / name).read_bytes()
        (events / name).write_bytes(right + b" ")
        code, _, err = run(*call)
        # A signature is compared only where its document is missing: another version may have written both.
        assert (code, "must be identical" in err) == ((0, False) if name.endswith(".sig") else (2, True)), name
        assert (events / name).read_bytes() == right + b" "
        (events / name).write_bytes(right)


@pytest.mark.parametrize("kind", LATER)
def test_a_file_that_the_ledger_did_not_answer_is_refused_before_a_draw(run, events, kind):
    call = unsigned(asked_later(run, events, kind, "csv"))
    before = run("ledger", "status", "--ledger", "r.db", "--json")[1]
    (events / "o.csv").write_text("mine\n")
    code, _, err = run(*call)
    assert (code, "no existing file is overwritten" in err) == (2, True)
    assert (events / "o.csv").read_text() == "mine\n"
    assert run("ledger", "status", "--ledger", "r.db", "--json")[1] == before


@pytest.mark.parametrize(
    ("kind", "step"),
    [("release", step) for step in range(12)] + [("relax", 5), ("view", 5)],
)
def test_a_command_killed_at_each_step_of_writing_is_finished(run, events, monkeypatch, kind, step):
    """The process ends at each replacing, forcing or removal of a file; the same call then gives the same files."""
    call = asked_later(run, events, kind, "csv")
    left = [step]

    def dying(real):
        def stand_in(*words, **more):
            left[0] -= 1
            if left[0] < 0:
                os._exit(77)
            return real(*words, **more)

        return stand_in

    child = os.fork()
    if child == 0:
        for name in ("replace", "fsync", "chmod"):
            monkeypatch.setattr(os, name, dying(getattr(os, name)))
        try:
            run(*call)
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (0, 77)
    code, _, err = run(*call)
    assert code == 0, err
    assert sorted(file.name for file in events.glob("*o.csv*")) == ["o.csv", "o.csv.json", "o.csv.json.sig"]
    code, _, err = run("verify", "o.csv")
    assert code == 0, err
    first = written(events)
    assert run(*call)[0] == 0
    assert written(events) == first


@pytest.mark.parametrize("kind", ["release", "relax", "view"])
def test_a_quarantine_is_told_before_a_file_that_exists(run, events, kind):
    """A ledger that was put back to an older copy: the job learns of that, and not of its file."""
    call = unsigned(asked_later(run, events, kind, "csv"))
    older = (events / "r.db").read_bytes()
    assert run(*call)[0] == 0
    (events / "r.db").write_bytes(older)
    code, _, err = run(*call)
    assert (code, "quarantine" in err) == (1, True), err
    if kind == "release":
        code, _, err = run(*call, "--request", "tuesday")
        assert (code, "quarantine" in err) == (1, True), err


@pytest.mark.parametrize("kind", ["release", "relax", "view"])
def test_a_table_of_several_means_is_asked_for_again(run, events, kind):
    (events / "e.csv").write_text("who,region,paid,who2\n" + "".join(f"{w},{r},{p},{p}\n" for w, r, p in EVENTS))
    recipe_that_signs(events)
    first = ["release", "e.csv", *EACH, *MEANS, "--by", "region", "--ledger", "r.db", "--name", "v", "--epsilon", "1/2"]
    if kind != "release":
        code, _, err = run(*first, "--out", "first.csv")
        assert code == 0, err
    call = {
        "release": first,
        "relax": ["relax", *first[1:-1], "3"],
        "view": ["view", "--ledger", "r.db", "--name", "v", "--epsilon", "1/4"],
    }[kind] + [*SIGNED[kind], "--out", "o.csv"]
    assert run(*call)[0] == 0
    made = written(events)
    assert len(made) == 3
    for gone in (made.keys(), {"o.csv.json"}):
        for name in gone:
            (events / name).unlink()
        code, _, err = run(*call)
        assert code == 0, err
        assert {name: content for name, (content, _) in written(events).items()} == {
            name: content for name, (content, _) in made.items()
        }
    (events / "o.csv").write_text("mine\n")
    assert run(*call)[0] == 2


def test_a_refusal_by_a_ledger_in_quarantine_says_both(run, events):
    call = ["release", "e.csv", *EACH, "--name", "v", "--ledger", "r.db", "--epsilon", "1/2"]
    assert run(*call, "--out", "o.csv")[0] == 0
    older = (events / "r.db").read_bytes()
    assert run("view", "--ledger", "r.db", "--name", "v", "--epsilon", "1/4")[0] == 0
    (events / "r.db").write_bytes(older)
    assert run(*call)[0] == 0  # an answer that is there can be had
    (events / "e.csv").write_text("who,region,paid\nann,north,3\n")
    code, _, err = run(*call)
    assert (code, "The ledger is also in quarantine: its witness has" in err) == (3, True), err


def test_a_table_that_is_not_there_yet_is_no_misuse(run, events):
    """Exit code 1, as of other refusals by the data, with the cause; another missing file is misuse."""
    code, _, err = run("release", "e-2026-11-29.csv", *EACH, "--epsilon", "1")
    assert (code, "'e-2026-11-29.csv', which does not exist. Run the command again" in err) == (1, True)
    code, _, err = run("release", "e-2026-11-29.csv", *EACH, "--epsilon", "1", "--json")
    assert (code, json.loads(err)["exit_code"]) == (1, 1)
    assert run("release", "e.csv", "--each-row", "--domain", "none.json", "--epsilon", "1")[0] == 2


def test_shared_measures_that_were_killed_between_their_files_are_finished(run, events):
    measured(run)
    recipe_that_signs(events)
    call = ["share", "visits.json", "spent.json", "--publish", "m.json", *KEPT, "--sign", "sign.pem", "--out", "o.json"]
    code, _, err = run(*call)
    assert code == 0, err
    first = {name: content for name, (content, _) in written(events).items()}
    assert len(first) == 4
    for name in first:
        for gone in ({name}, first.keys() - {name}):
            for file in gone:
                (events / file).unlink()
            code, _, err = run(*call)
            assert code == 0, (gone, err)
            assert {name: content for name, (content, _) in written(events).items()} == first
