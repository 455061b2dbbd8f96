"""Standard output holds the answer of a command and nothing else, byte by byte, whatever libraries print."""

import csv
import io
import json
import subprocess
import sys
import tomllib
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

import utmost as ut
from command_lines import FILES, JSON, PIPE, READY

# A driver runs all commands in one process, whose standard output is a file.
from noisy import NOISE, noisy_libraries
from running import every_command

TABLES = {
    "count", "release", "clean", "withhold", "relax", "view", "respond", "research vertices", "research kernels",
    "categories",
}  # fmt: skip

DRIVER = """
import json, os, sys
from utmost.__main__ import main

told = []
for line in json.load(open("lines.json")):
    before = os.path.getsize("said")
    try:
        sys.argv[1:] = line
        main()
    except SystemExit as ended:
        code = ended.code or 0
    sys.stdout.flush()
    told.append([code, before, os.path.getsize("said")])
json.dump(told, open("told.json", "w"))
"""


def parts():
    for words, command in every_command():
        yield words, {option: each for each in command.params for option in each.opts}


def test_each_command_that_answers_on_standard_output_is_tried():
    """A new command, or a new option of an old one, belongs into the tables of command_lines.py."""
    options = dict(parts())
    assert set(JSON) == {name for name, there in options.items() if "--json" in there}
    assert set(PIPE) >= {name for name, there in options.items() if "--out" in there and "- " in there["--out"].help}


def check(name, line, said):
    """What came is one document, or one table, from its first byte to its last."""
    assert said
    assert NOISE.strip() not in said
    text = said.decode("utf-8")
    if "--json" in line or name not in TABLES | {"statement", "init"}:
        json.loads(text)
    elif name == "statement":
        assert yaml.safe_load(text)
    elif name == "init":
        assert tomllib.loads(text)
    else:
        rows = list(csv.reader(io.StringIO(text), strict=True))
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1


def test_what_libraries_print_is_in_no_answer(tmp_path):
    """Every --json and every --out - of every command, in a process whose libraries print wherever they can."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    lines = [("", line.split()) for line in READY.strip().replace(" && ", "\n").splitlines()]
    lines += [(name, [*name.split(), *words.split(), "--json"]) for name, words in JSON.items()]
    lines += [(name, [*name.split(), *words.split()]) for name, words in PIPE.items()]
    (tmp_path / "lines.json").write_text(json.dumps([line for _, line in lines]))
    environment = noisy_libraries(tmp_path / "noisy")
    with (tmp_path / "said").open("wb") as out, (tmp_path / "err").open("wb") as err:
        subprocess.run(
            [sys.executable, "-c", DRIVER], cwd=tmp_path, env=environment, stdout=out, stderr=err, check=True
        )
    said, err = (tmp_path / "said").read_bytes(), (tmp_path / "err").read_bytes()
    told, faults = json.loads((tmp_path / "told.json").read_text()), {}
    for (name, line), (code, begin, end) in zip(lines, told, strict=True):
        try:
            assert code == 0
            if name:
                check(name, line, said[begin:end])
        except (AssertionError, ValueError, csv.Error) as error:
            faults[" ".join(line)] = repr(error), code, said[begin:end][:300]
    assert not faults, (faults, err[-3000:])
    assert said[told[-1][2] :] == b"", "what a library held back is printed when the process ends"
    assert err.count(NOISE) > 20, "the libraries did print"


def test_dates_times_and_truths_are_json_as_in_a_file_of_lines(run, tmp_path, monkeypatch):
    """Of Parquet and Excel: each command that prints a table; it ended with Python's own error, after the draw."""
    monkeypatch.chdir(tmp_path)
    days, at = [date(2013, 5, 1), date(2013, 6, 1)], [datetime(2013, 5, 1, 3), datetime(2013, 6, 1, 4)]
    cents = pa.array([Decimal("0.50"), None], pa.decimal128(9, 2))
    table = pa.table({"day": days, "at": at, "open": [True, None], "price": cents, "n": [3, 4]})
    pq.write_table(table, "t.parquet")
    ut.Ledger.open("l.db", create=True).close()
    promise = ["--columns", "n", "--public", "day,at,open,price", "--sensitivity", 1, "--cells", 1, "--epsilon", 1]
    kept = ["--ledger", "l.db", "--name", "a"]
    assert run("release", "t.parquet", *promise, "--out", "o.parquet")[0] == 0
    for words in (
        ["release", "t.parquet", *promise],
        ["release", "t.parquet", *promise, *kept],
        ["view", *kept, "--epsilon", "1/2"],
        ["relax", "t.parquet", *kept, "--epsilon", 2],
        ["withhold", "o.parquet", "--below", 3],
    ):
        code, out, err = run(*words, "--json")
        assert code == 0, err
        answer = json.loads(out)
        shown = (answer[0] if isinstance(answer, list) else answer)["table"]
        assert (shown["day"], shown["at"]) == (["2013-05-01", "2013-06-01"], [f"{time}" for time in at])
        assert (shown["open"], shown["price"]) == ([True, None], [0.5, None])


def test_a_quantile_of_dates_and_sums_up_to_each_are_json(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text("day\n" + "".join(f"2013-{k % 12 + 1:02d}-05\n" for k in range(600)))
    (tmp_path / "d.json").write_text('{"day": {"months": ["2013", "2014"]}}')
    asked = ["release", "e.csv", "--each-row", "--domain", "d.json", "--want", "day", "--epsilon", 1]
    assert run(*asked, "--out", "r.json")[0] == 0
    median = json.loads(run("total", "r.json", "--median", "day", "--json")[1])
    assert [len(end) for end in median["interval"]] == [10, 10]
    assert median["interval"][0] == f"{median['labels'][0]}-01"
    for row in json.loads(run("total", "r.json", "--cumulative", "day", "--json")[1])["values"]:
        assert row["interval"] == [round(row["value"] + sign * row["margin"], 3) for sign in (-1, 1)]


def test_the_median_of_ages_is_without_unreadable_birth_dates(run, tmp_path, monkeypatch):
    """It was refused after the release, with a remedy that no axis of ages has."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("born\n" + "1990-05-05\n" * 300 + "05/05/1990\n" * 900)
    ages = {"ages": [0, 18, 40, 65, None], "on": "2025-01-01", "column": "born", "other": "unreadable"}
    (tmp_path / "d.json").write_text(json.dumps({"age": ages | {"missing": "not stated"}}))
    asked = ["release", "p.csv", "--each-row", "--domain", "d.json", "--want", "age", "--epsilon", 1]
    assert run(*asked, "--out", "r.json")[0] == 0
    median = json.loads(run("total", "r.json", "--median", "age", "--json")[1])
    assert median["labels"] == ["18 to 39"]
    assert median["question"].startswith("median of age without unreadable and not stated")
    cumulative = json.loads(run("total", "r.json", "--cumulative", "age", "--json")[1])
    assert cumulative["question"].endswith("up to each age without unreadable and not stated")
    assert len(cumulative["values"]) == 4
