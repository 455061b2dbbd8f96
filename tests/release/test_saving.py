"""Every saved release is read back, beside a statement that follows from its promise; a save writes both files or
neither."""

import copy
import hashlib
import json
import pickle
import stat
import warnings

import numpy as np
import pandas
import pytest

import utmost as ut
from every_format import WRITTEN
from utmost.counting import CountedTable
from utmost.errors import BadTable, NotDetermined, OutOfRange, PrivacyWarning, Unsupported
from utmost.statements import check_statement, check_sums_table, stated_release
from utmost.workloads import Plan

TOGETHER = ut.Promise(["n", "m"], public="ward", noise=ut.promises.once_together(["n", "m"], unit=ut.Unit(1, 2)))

WARDS = ["Köln", 'a "b", c', "North"]
TABLE = {"ward": WARDS, "n": [7, 9, 12], "m": [1, 2, 3]}
UNIT = {"unit": ut.Unit(1, 2)}
DOMAIN = ut.Domain(department=list("AB"), sex=["men", "women"])


def _workload():
    plan = Plan(DOMAIN, ut.Unit(1, 1), {"department sex": 1})
    return ut.release(np.array([[512, 89], [353, 17]]), plan, epsilon=1, once=True).table


def _in_ledger(folder):
    ledger = ut.Ledger.open(folder / "l.db", create=True)
    ledger.publish("r", TABLE, ut.Promise(columns=["n", "m"], public="ward", **UNIT), epsilon=1)
    return ledger


def _keys(table):
    return ut.release(table, ut.Promise(noise=ut.promises.key_noise(list(table), delta="1e-6")), epsilon=1, once=True)


# name: what saves it at a path, with more arguments
KINDS = {
    "table": lambda at, folder, **how: ut.release(
        TABLE, ut.Promise(columns=["n", "m"], public="ward", **UNIT), epsilon=1, once=True
    ).save(at, **how),
    "joint": lambda at, folder, **how: ut.release(TABLE, TOGETHER, epsilon=1, once=True).save(at, **how),
    "places": lambda at, folder, **how: ut.release(
        {"ward": WARDS, "x": [1.5, 2, 3], "y": [2, 4, 5]},
        ut.Promise(["x", "y"], noise=ut.PointNoise(1), public="ward"),
        epsilon=1,
        once=True,
    ).save(at, **how),
    "keys": lambda at, folder, **how: _keys({"word": ["a", "b", "c"], "n": [900, 800, 1]}).save(at, **how),
    "pairs of keys": lambda at, folder, **how: _keys({"word": ["a", "b"], "k": [1, 2], "n": [900, 800]}).save(
        at, **how
    ),
    "sums": lambda at, folder, **how: _workload().save(at, **how),
    "narrowed sums": lambda at, folder, **how: _workload().save(at, marginal="department sex=men", **how),
    "clean": lambda at, folder, **how: _workload().clean().save(at, **how),
    "ledger": lambda at, folder, **how: _in_ledger(folder).view("r", epsilon="1/2").save(at, **how),
}
FORMATS = [f"t{ending}" for ending in (*WRITTEN, ".csv.gz", ".jsonl.gz")]


def pairs():
    """Each kind in each format; by default each kind in two formats, so that each format has four kinds or more."""
    for at, kind in enumerate(KINDS):
        for out_at, out in enumerate(FORMATS):
            marks = () if (out_at - 2 * at) % len(FORMATS) < 2 else pytest.mark.slow
            yield pytest.param(kind, out, marks=marks, id=f"{kind}-{out}")


READ = {
    "csv": pandas.read_csv,
    "csv.gz": pandas.read_csv,
    "tsv": lambda at: pandas.read_csv(at, sep="\t"),
    "jsonl": lambda at: pandas.read_json(at, lines=True),
    "jsonl.gz": lambda at: pandas.read_json(at, lines=True),
    "feather": pandas.read_feather,
    "parquet": pandas.read_parquet,
    "xlsx": pandas.read_excel,
}


def is_digested(at, said):
    """Whether the statement beside a file has the digest of the file."""
    return hashlib.sha256(at.read_bytes()).hexdigest() in json.dumps(said)


@pytest.mark.parametrize(("kind", "out"), list(pairs()))
def test_what_is_saved_is_read_back_beside_a_statement_that_holds(kind, out, tmp_path):
    """Table and statement appear together; the digest is that of the file; the statement can be verified."""
    at = tmp_path / out
    said = KINDS[kind](at, tmp_path)
    stored = json.loads((tmp_path / f"{out}.json").read_text())
    assert stored == json.loads(json.dumps(said))
    table = READ[out.split(".", 1)[1]](at)
    columns = {name: table[name].tolist() for name in table}
    assert is_digested(at, stored)
    if "ward" in columns:
        assert list(columns["ward"]) == WARDS
    if kind != "clean":  # which promises nothing of its own
        assert stated_release(stored).line
    if stored["kind"] == "utmost statement":
        check_statement(stored, table, digested=False)
    elif stored["kind"] == "utmost table of sums":
        assert check_sums_table(stored, table).spent == ut.level(1)
    assert len({len(column) for column in columns.values()}) == 1


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "jsonl", "xlsx"])
def test_a_release_that_was_read_is_checked_against_its_own_table(ending, tmp_path):
    """The digest is that of the file, and so compared with a path; tables in memory are compared by their values."""
    at = tmp_path / f"t.{ending}"
    table = {"ward": ["01", "02", "é"], "n": [5, 70, 12]}
    ut.release(table, ut.Promise("n", public="ward", unit=ut.Unit(1, 2)), epsilon=1).save(at)
    stored, read = json.loads((tmp_path / f"t.{ending}.json").read_text()), ut.read_release(at)
    of_pandas = pandas.DataFrame({name: list(read.table[name]) for name in read.table})
    changed = [of_pandas.assign(n=of_pandas["n"] + 1), of_pandas.assign(ward=["02", "01", "é"]), of_pandas.iloc[::-1]]
    with warnings.catch_warnings(action="error", category=PrivacyWarning):
        for same in (read.table, dict(read.table), of_pandas, at, str(at)):
            assert check_statement(read.statement, same).margin == read.margin()
        assert check_statement(stored, at).margin == read.margin()
        for other in (*changed, of_pandas.iloc[:2], of_pandas.drop(columns="ward"), of_pandas.assign(n_margin=1)):
            with pytest.raises(BadTable):
                check_statement(read.statement, other)
    # the statement of the file alone knows no values
    loaded = READ[ending](at)
    with pytest.warns(PrivacyWarning, match=r"Pass the path of the file"):
        assert check_statement(stored, loaded).margin == read.margin()
    for other in (loaded.iloc[:2], loaded.assign(n_margin=1), loaded.assign(n=loaded["n"] + 0.5)):
        with pytest.raises(BadTable):
            check_statement(stored, other)
    assert copy.deepcopy(read.statement) == pickle.loads(pickle.dumps(read.statement)) == stored
    ut.release(table, ut.Promise("n", public="ward", unit=ut.Unit(1, 2)), epsilon=1).save(at, overwrite=True)
    for call in (lambda: check_statement(stored, at), lambda: check_statement(read.statement, str(at))):
        with pytest.raises(BadTable, match="changed after it was released"):
            call()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_written_over_unless_that_is_asked_for(kind, tmp_path):
    at, old = tmp_path / "t.csv", "old\n1\n"
    at.write_text(old)
    with pytest.raises(Unsupported, match="existing file"):
        KINDS[kind](at, tmp_path)
    assert at.read_text() == old
    assert not (tmp_path / "t.csv.json").exists()
    (tmp_path / "l.db").exists() and [path.unlink() for path in tmp_path.glob("l.db*")]
    said = KINDS[kind](at, tmp_path, overwrite=True)
    assert is_digested(at, said)


@pytest.mark.parametrize("kind", KINDS)
def test_paths_are_bytes_too_and_must_name_a_file(kind, tmp_path):
    with pytest.raises(OutOfRange, match=r"^path"):
        KINDS[kind]("", tmp_path)
    (tmp_path / "l.db").exists() and [path.unlink() for path in tmp_path.glob("l.db*")]
    KINDS[kind](str(tmp_path / "t.csv").encode(), tmp_path)
    assert (tmp_path / "t.csv.json").exists()


def test_a_whole_release_of_sums_is_one_document(tmp_path):
    release = _workload()
    assert release.save(tmp_path / "r.json") == release.facts()
    assert ut.read_release(tmp_path / "r.json")["sex"]["count"].tolist() == release["sex"]["count"].tolist()


def test_true_counts_are_for_their_owner_alone(tmp_path):
    counted = CountedTable(DOMAIN, np.array([[5, 6], [7, 8]]), ut.Unit(1, 1))
    for name in ("c.json", "c.csv"):
        counted.save(tmp_path / name)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    with pytest.raises(OutOfRange, match="owner"):
        counted.save("-")


def test_standard_output_has_the_table_and_the_caller_the_statement(capfdbinary):
    said = ut.release({"n": [7]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1, once=True).save(
        "-", format="jsonl"
    )
    line = json.loads(capfdbinary.readouterr().out)
    assert list(line) == ["n", "n_margin"]
    assert said["table"]["of"] == "file"


def test_a_failure_brings_back_what_was_there(tmp_path, monkeypatch):
    """The second rename fails: the earlier table and its statement are back."""
    import os

    release = ut.release({"n": [7]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1, once=True)
    release.save(tmp_path / "t.csv")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    real, calls = os.replace, []

    def sometimes(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise OSError(5, "Input/output error")
        return real(*arguments)

    monkeypatch.setattr(os, "replace", sometimes)
    with pytest.raises(OSError, match="Input/output"):
        release.save(tmp_path / "t.csv", overwrite=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_plan_without_cells_names_the_tables_that_can_be_read(tmp_path):
    """The remedy in the message, when followed, saves and converts a table."""
    plan = Plan(DOMAIN, ut.Unit(1, 1), {"department": "1/2", "sex": "1/2"})
    answer = ut.release(np.array([[512, 89], [353, 17]]), plan, epsilon=1)
    for ask in (lambda **named: answer.save(tmp_path / "x.csv", **named), answer.to_pandas):
        with pytest.raises(NotDetermined, match="marginal=") as refused:
            ask()
        named = refused.value.remedy.split("'")[1]
        ask(marginal=named)
    assert ut.read_release(tmp_path / "x.csv").table["department"]["count"].tolist()
