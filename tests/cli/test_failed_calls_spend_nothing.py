"""A call that its output file cannot hold fails before the draw: nothing is spent, and a rehearsal ends alike."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from running import new_ledger
from small_sizes import set_sizes

PEOPLE = "p,r,x\n" + "".join(f"{i},{'NS'[i % 2]},{i * 10}\n" for i in range(12))
COUNTING = ["--each-row", "--by", "r", "--domain", "d.json", "--leave-out", "outside"]
ONE, TWO = ["--mean", "x=0,400"], ["--mean", "x=0,400", "--mean", "p=0,40"]
COLUMNS = ["--columns", "n", "--public", "g", "--sensitivity", "1", "--cells", "1"]
FORMULA, SURROGATE, CONTROL, ESCAPED, LONG = "=1+1", "\ud800", "x\x01", "_x000D_", "L" * 40_000


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def spent(run):
    datasets = json.loads(run("ledger", "status", "--ledger", "l.db", "--json")[1])["datasets"]
    return [(one["dataset"], one["spent"]) for one in datasets]


def fails(run, folder, *call, because):
    """Rehearse and make a call in a ledger: both end with the same refusal, and nothing changes."""
    before, files = spent(run), sorted(folder.iterdir())
    ended = [run(*call, "--ledger", "l.db", "--name", "n", *more) for more in (["--dry-run"], [])]
    assert [code for code, _, _ in ended] in ([1, 1], [2, 2]), ended
    assert all(because in " ".join(err.split()) for _, _, err in ended), ended
    assert spent(run) == before
    assert sorted(folder.iterdir()) == files


def labels(folder, *more):
    (folder / "p.csv").write_text(PEOPLE)
    (folder / "d.json").write_text(json.dumps({"r": ["N", "S", *more]}))
    new_ledger("l.db")


def in_parquet(columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


TABLES = {
    "a label in CSV": ("t.csv", b"g,n\n=1+1,10\nb,20\n", COLUMNS),
    "a label in Parquet": ("t.parquet", in_parquet({"g": ["=1+1", "b"], "n": [10, 20]}), COLUMNS),
    "a public name": ("t.csv", b"=g,n\na,10\nb,20\n", [*COLUMNS[:3], "=g", *COLUMNS[4:]]),
    "a released name": ("t.csv", b"g,=n\na,10\nb,20\n", ["--columns", "=n", *COLUMNS[2:]]),
}


@pytest.mark.parametrize("of", TABLES)
def test_a_formula_in_a_table_of_columns(of, run, tmp_path):
    name, content, options = TABLES[of]
    (tmp_path / name).write_bytes(content)
    new_ledger("l.db")
    call = ["release", name, *options, "--epsilon", "1"]
    fails(run, tmp_path, *call, "--out", "o.csv", because="spreadsheets compute")
    assert run(*call, "--ledger", "l.db", "--name", "n", "--out", "o.xlsx")[0] == 0
    if of == "a label in CSV":
        dropped = ["--drop" if word == "--public" else word for word in call]
        assert run(*dropped, "--out", "o.csv")[0] == 0


def test_a_rehearsal_of_a_file_that_is_read_in_blocks_ends_as_its_release(run, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("g,n\na,10\n=1+1,20\n")
    set_sizes(monkeypatch, large_file=1)
    for last in (["--dry-run"], []):
        code, _, err = run("release", "t.csv", *COLUMNS, "--epsilon", "1", "--out", "o.csv", *last)
        assert code == 1
        assert "spreadsheets compute" in err
    assert not (tmp_path / "o.csv").exists()


REFUSED = [
    (FORMULA, "o.csv", "spreadsheets compute"),
    (SURROGATE, "o.csv", "valid Unicode"),
    (CONTROL, "o.xlsx", "control characters"),
    (ESCAPED, "o.xlsx", "control characters"),
    (LONG, "o.xlsx", "at most 32767 characters"),
]


@pytest.mark.parametrize(
    ("label", "out", "because", "means"),
    [*((*refused, []) for refused in REFUSED), (*REFUSED[0], ONE), (*REFUSED[2], TWO)],
)
def test_a_label_of_a_domain(label, out, because, means, run, tmp_path):
    labels(tmp_path, label)
    fails(run, tmp_path, "release", "p.csv", *COUNTING, *means, "--epsilon", "1", "--out", out, because=because)
    if label != FORMULA:
        return
    call = ["p.csv", *COUNTING, *means]
    kept = ["--ledger", "l.db", "--name", "n"]
    assert run("release", *call, "--epsilon", "1/2", "--out", "o.xlsx", *kept)[0] == 0
    fails(run, tmp_path, "relax", *call, "--epsilon", "1", "--out", out, because=because)
    before = json.loads(run("ledger", "status", "--ledger", "l.db", "--json")[1])["events"]
    code, _, err = run("view", "--epsilon", "1/4", "--out", "v.csv", *kept)
    assert code == 1
    assert because in err
    assert json.loads(run("ledger", "status", "--ledger", "l.db", "--json")[1])["events"] == before
    assert run("view", "--epsilon", "1/4", "--out", "v.xlsx", *kept)[0] == 0


TOO_LONG = [f"{'o' * size}.csv" for size in (232, 252)]


@pytest.mark.parametrize(
    ("out", "means"),
    [*((out, []) for out in (*TOO_LONG, "/sys/o.xlsx")), (TOO_LONG[1], ONE), ("/proc/o.csv", TWO)],
)
def test_a_file_that_cannot_be_made(out, means, run, tmp_path):
    labels(tmp_path)
    call = ["p.csv", *COUNTING, *means]
    fails(run, tmp_path, "release", *call, "--epsilon", "1", "--out", out, because="folder")
    assert run("release", *call, "--epsilon", "1/2", "--out", "o.csv", "--ledger", "l.db", "--name", "n")[0] == 0
    fails(run, tmp_path, "relax", *call, "--epsilon", "1", "--out", out, because="folder")
    assert run("view", "--epsilon", "1/4", "--out", out, "--ledger", "l.db", "--name", "n")[0] != 0


def test_the_longest_name_is_written(run, tmp_path):
    labels(tmp_path)
    name = f"{'o' * 231}.csv"  # beside it NAME.json, written as .NAME.json.xxxxxxxx.part
    call = ["release", "p.csv", *COUNTING, "--epsilon", "1", "--ledger", "l.db", "--name", "n"]
    assert run(*call, "--out", name)[0] == 0
    assert (tmp_path / name).is_file()


def test_without_a_ledger_a_rehearsal_ends_as_the_release(run, tmp_path):
    labels(tmp_path, FORMULA)
    for more in ([], ONE, TWO, ["--once", "cells"], ["--until", "20 %"]):
        call = ["release", "p.csv", *COUNTING, *more, "--epsilon", "1"]
        ended = [run(*call, *last) for last in (["--dry-run"], [])]  # standard output is CSV
        assert [code for code, _, _ in ended] == [1, 1]
        assert all("spreadsheets compute" in err for _, _, err in ended)
        assert run(*call, "--json")[0] == 0


def test_a_label_with_half_a_character_is_printed_as_json(run, tmp_path):
    labels(tmp_path, SURROGATE)
    code, out, _ = run("release", "p.csv", *COUNTING, "--epsilon", "1", "--json")
    assert code == 0
    assert json.loads(out)["table"]["r"] == ["N", "S", SURROGATE]


def test_share_and_detail_check_their_files_before_they_draw(run, tmp_path):
    labels(tmp_path)
    (tmp_path / "m.json").write_text(json.dumps({"a": {"per_cell": 1}, "b": {"per_cell": 2}}))
    people = ["p.csv", "--person", "p", "--at-most", "1", "--domain", "d.json", "--leave-out", "outside"]
    assert run("count", *people, "--by", "r", "--measures", "m.json", "--out", "mm.json")[0] == 0
    for name in "ab":
        assert run("plan", f"mm-{name}.json", "--want", "r", "--epsilon", "1", "--out", f"{name}.json")[0] == 0
    share = ["share", "a.json", "b.json", "--epsilon", "1", "--publish", "mm.json", "--ledger", "l.db"]
    for out in (f"{'o' * 245}.json", "/proc/o.json"):
        before = spent(run)
        assert run(*share, "--out", out, "--dry-run")[0] != 0
        assert run(*share, "--out", out)[0] != 0
        assert spent(run) == before
        detail = ["detail", *people, "--by", "r", "--group", "r", "--detail", "r=5", "--epsilon", "1", "--out", out]
        assert run(*detail)[0] == run(*detail, "--dry-run")[0] != 0
