"""Saving: what any release writes is read back, beside a statement that follows from itself; all of it or nothing."""

import json
import stat
import sys

import numpy as np
import pytest

import utmost as ut
from utmost.counting import CountedTable
from utmost.errors import BadTable, NotALevel, OutOfRange, Unsupported, UtmostError
from utmost.releases import (
    GradualRelease,
    KeySelection,
    PlanarRelease,
    ProcessedRelease,
    TrustRelease,
    select_keys,
)
from utmost.statements import check_statement, check_sums_table, stated_release
from utmost.tables.files import files, sidecars
from utmost.tables.files.table_formats import as_columns
from utmost.workloads import Plan

TOGETHER = ut.Promise(["n", "m"], public="ward", noise=ut.promises.once_together(["n", "m"], unit=ut.Unit(1, 2)))

WARDS = ["Köln", 'a "b", c', "North"]
TABLE = {"ward": WARDS, "n": [7, 9, 12], "m": [1, 2, 3]}
UNIT = {"unit": ut.Unit(1, 2)}
DOMAIN = ut.Domain(department=list("AB"), sex=["men", "women"])
LABELS = {"public": {"ward": WARDS}}


def _workload():
    plan = Plan(DOMAIN, ut.Unit(1, 1), {"department sex": 1})
    return ut.release(np.array([[512, 89], [353, 17]]), plan, epsilon=1, once=True).table


def _in_ledger(folder):
    ledger = ut.Ledger.open(folder / "l.db", create=True)
    ledger.publish("r", TABLE, ut.Promise(columns=["n", "m"], public="ward", **UNIT), epsilon=1)
    return ledger


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
    "gradual": lambda at, folder, **how: GradualRelease({"n": [7, 9, 12]}, 1).save(at, epsilon=1, **LABELS, **how),
    "gradual staircase": lambda at, folder, **how: GradualRelease(np.arange(6).reshape(2, 3), 5, half_step=True).save(
        at, epsilon="1/2", **how
    ),
    "gradual reals": lambda at, folder, **how: GradualRelease(2.5, "5/2", numbers="reals").save(at, epsilon=1, **how),
    "points": lambda at, folder, **how: PlanarRelease([[1, 2], [3, 4], [5, 6.5]], per=200).save(
        at, epsilon=1, **LABELS, **how
    ),
    "trust": lambda at, folder, **how: TrustRelease([7, 9, 12], 1, levels={"ann": 1, "bo": "1/2"}).save(
        at, "bo", **LABELS, **how
    ),
    "reading": lambda at, folder, **how: ProcessedRelease(
        [7, 9, 12], before=np.array, after=lambda y, _: np.maximum(y, 0), sensitivity=1
    ).save(at, epsilon=1, **LABELS, **how),
    "keys": lambda at, folder, **how: select_keys({"a": 900, "b": 800, "c": 1}, epsilon=1, delta="1e-6").save(
        at, **how
    ),
    "pairs of keys": lambda at, folder, **how: select_keys(
        {("a", 1): 900, ("b", 2): 800}, epsilon="1e-1", delta="1e-6"
    ).save(at, **how),
    "keys at a delta": lambda at, folder, **how: KeySelection({"a": 900, "c": 1}, epsilon=1).save(at, "1e-6", **how),
    "sums": lambda at, folder, **how: _workload().save(at, **how),
    "narrowed sums": lambda at, folder, **how: _workload().save(at, family="department sex=men", **how),
    "clean": lambda at, folder, **how: _workload().clean().save(at, **how),
    "ledger": lambda at, folder, **how: _in_ledger(folder).view("r", epsilon="1/2").save(at, **how),
}
FORMATS = ["t.csv", "t.tsv", "t.csv.gz", "t.jsonl", "t.jsonl.gz", "t.feather", "t.parquet", "t.xlsx"]


def pairs():
    """Each kind in each format: by default each kind in two of them, and so each format for four kinds or more."""
    for at, kind in enumerate(KINDS):
        for out_at, out in enumerate(FORMATS):
            marks = () if (out_at - 2 * at) % len(FORMATS) < 2 else pytest.mark.slow
            yield pytest.param(kind, out, marks=marks, id=f"{kind}-{out}")


@pytest.mark.parametrize(("kind", "out"), list(pairs()))
def test_what_is_saved_is_read_back_beside_a_statement_that_holds(kind, out, tmp_path):
    """Table and statement appear together; the digest is the file's; the statement follows from itself."""
    at = tmp_path / out
    said = KINDS[kind](at, tmp_path)
    stored = json.loads((tmp_path / f"{out}.json").read_text())
    assert stored == json.loads(json.dumps(said))
    table = files.read(at)
    columns = as_columns(table)
    sidecars.check_unchanged(at, stored)
    if "ward" in columns:
        assert list(columns["ward"]) == WARDS
    if kind != "clean":  # which promises nothing of its own
        assert stated_release(stored).line
    if stored["kind"] == "utmost statement":
        check_statement(stored, table, digested=False)
    elif stored["kind"] == "utmost table of sums":
        assert check_sums_table(stored, table).spent == ut.level(1)
    assert len({len(column) for column in columns.values()}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_written_over_unless_that_is_asked_for(kind, tmp_path):
    at, old = tmp_path / "t.csv", "old\n1\n"
    at.write_text(old)
    with pytest.raises(Unsupported, match="nothing is written over"):
        KINDS[kind](at, tmp_path)
    assert at.read_text() == old
    assert not (tmp_path / "t.csv.json").exists()
    (tmp_path / "l.db").exists() and [path.unlink() for path in tmp_path.glob("l.db*")]
    said = KINDS[kind](at, tmp_path, overwrite=True)
    sidecars.check_unchanged(at, said)


def test_a_refused_save_spends_nothing(tmp_path):
    """A file that is there, a folder that is not, a wrong ending, a column that does not fit: before any draw."""
    (tmp_path / "t.csv").touch()
    bad = [("t.csv", {}), ("t.xls", {}), ("nowhere/t.csv", {}), ("nowhere/t.csv", {"overwrite": True}), ("", {})]
    gradual, points = GradualRelease([1, 2], 1), PlanarRelease([[1, 2]])
    for release, shapes in ((gradual, 3), (points, 2)):
        for path, more in (*bad, ("u.csv", {"public": {"w": [1] * shapes}})):
            with pytest.raises(UtmostError):
                release.save(tmp_path / path, epsilon=1, **more)
        assert release.spent is None
    with pytest.raises(NotALevel):
        gradual.save(tmp_path / "u.csv")


def test_a_format_whose_package_is_missing_is_refused_before_a_draw(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    gradual = GradualRelease([1, 2], 1)
    for path, form in ((tmp_path / "t.parquet", None), (tmp_path / "t.feather", None), ("-", "parquet")):
        with pytest.raises(Unsupported, match="pyarrow"):
            gradual.save(path, epsilon=1, format=form)
    assert gradual.spent is None


@pytest.mark.parametrize("kind", KINDS)
def test_paths_are_bytes_too_and_must_name_a_file(kind, tmp_path):
    with pytest.raises(OutOfRange, match="path must name a file"):
        KINDS[kind]("", tmp_path)
    (tmp_path / "l.db").exists() and [path.unlink() for path in tmp_path.glob("l.db*")]
    KINDS[kind](str(tmp_path / "t.csv").encode(), tmp_path)
    assert (tmp_path / "t.csv.json").exists()


UNFIT = {
    "a set": {"w": {1, 2}},
    "a mapping": {"w": {1: 2, 2: 3}},
    "text": {"w": "ab"},
    "a matrix": {"w": np.zeros((2, 2))},
    "a number": {"w": 2},
    "two lengths": {"w": [1, 2], "v": [1]},
}


def test_a_reading_has_no_error_bars_of_any_confidence(tmp_path):
    """A function of noisy values has an error of its own: a confidence is refused, and nothing is answered or spent."""
    reading = ProcessedRelease([1, 2], before=list, sensitivity=1, after=lambda y, _: y)
    with pytest.raises(TypeError, match="confidence"):
        reading.save(tmp_path / "n.csv", epsilon=1, confidence="0.9")
    assert (reading.spent, list(tmp_path.iterdir())) == (None, [])
    with pytest.raises(TypeError, match="confidense"):
        GradualRelease([1, 2], 1).save(tmp_path / "n.csv", epsilon=1, confidense="0.9")


@pytest.mark.parametrize("public", UNFIT.values(), ids=UNFIT)
def test_public_columns_that_are_none_are_refused_before_anything_is_spent(public, tmp_path):
    reading = ProcessedRelease([1, 2], before=list, sensitivity=1, after=lambda y, _: y)
    for release in (GradualRelease([1, 2], 1), reading, PlanarRelease([[1, 2], [3, 4]])):
        with pytest.raises(BadTable):
            release.save(tmp_path / "t.csv", epsilon=1, public=public)
        assert release.spent is None


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_that_is_not_there_is_told_before_anything_is_spent(tmp_path, overwrite):
    release = GradualRelease([1, 2], 1)
    with pytest.raises(Unsupported, match=r"an existing folder\. Make it first"):
        release.save(tmp_path / "none" / "t.csv", epsilon=1, overwrite=overwrite)
    assert release.spent is None


READINGS = {
    "nothing": None,
    "text": "high",
    "an object": object(),
    "rows of two lengths": [[1], [2, 3]],
    "objects": [None],
    "a complex number": 1j,
    "columns of two lengths": {"a": [1], "b": [1, 2]},
}


@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
def test_a_reading_that_is_no_table_is_not_saved_and_stays(reading, tmp_path):
    """What it is is known when it has been read, and so spent; the same reading is given again for nothing."""
    release = ProcessedRelease([1, 2], before=list, sensitivity=1, after=lambda y, _: reading)
    with pytest.raises(Unsupported):
        release.save(tmp_path / "t.csv", epsilon=1)
    assert not list(tmp_path.iterdir())
    assert release.at(epsilon=1) is reading
    assert release.levels == (ut.level(1),)


@pytest.mark.parametrize(
    "reading", [3, 2.5, np.float64(1), 10**30, ["high", "low"], [10**30, 1], {"a": [1], "b": ["x"]}]
)
def test_a_reading_of_numbers_or_texts_is_saved(reading, tmp_path):
    release = ProcessedRelease([1, 2], before=list, sensitivity=1, after=lambda y, _: reading)
    assert release.save(tmp_path / "t.csv", epsilon=1)["rows"] == (2 if isinstance(reading, list) else 1)


def test_the_statement_of_an_answer_names_all_levels_and_what_they_cost(tmp_path):
    """Of several answers none is picked unasked; all answers together cost the largest level."""
    release = GradualRelease([1, 2], 1)
    release.at(epsilon="1/4")
    assert release.save(tmp_path / "only.csv")["epsilon"] == "1/4"
    release.at(epsilon=1)
    with pytest.raises(NotALevel, match=r"several answers.*0\.25, 1\..*Pass epsilon="):
        release.save(tmp_path / "a.csv", name="visits")
    said = release.save(tmp_path / "a.csv", epsilon=1, name="visits")
    assert (said["epsilon"], said["levels"], said["together"]["epsilon"], said["name"]) == (
        "1",
        ["1/4", "1"],
        "1",
        "visits",
    )
    strict = release.save(tmp_path / "b.csv", epsilon="1/4")
    assert (strict["epsilon"], strict["together"]["epsilon"]) == ("1/4", "1")


def test_columns_of_two_kinds_have_no_one_statement(tmp_path):
    mixed = GradualRelease({"a": [1], "b": [2]}, {"a": 1, "b": 2})
    with pytest.raises(Unsupported, match="of one kind"):
        mixed.save(tmp_path / "t.csv", epsilon=1)
    assert mixed.spent is None


def test_a_whole_release_of_sums_is_one_document(tmp_path):
    release = _workload()
    assert release.save(tmp_path / "r.json") == release.facts()
    assert ut.read_release(tmp_path / "r.json")["sex"]["estimate"].tolist() == release["sex"]["estimate"].tolist()


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
    """The second rename fails: the table of before and its statement stand as they were."""
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
