"""`utmost design` of labelled places: read from a file, at a level for a distance, answered and drawn by label."""

import csv
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

import utmost as ut
from small_sizes import set_sizes

PARIS = Path(__file__).parents[2] / "examples" / "paris.csv"
TOWNS = "town,lat,lon,people\nOslo,59.91,10.75,700\nBergen,60.39,5.32,290\nHamar,60.79,11.07,32\n"


def own(towns):
    """The places of a file with columns of its own, weighted by their people."""
    return ["--space", f"places:{towns}:town,lat,lon", "--prior", "column:people", "--loss", "distance"]


def test_a_design_of_a_file_speaks_in_labels(run, file, tmp_path):
    """Both spellings of one level give one design; names stand on the screen, in JSON, CSV and the document."""
    towns, saved = file(TOWNS, "towns.csv"), tmp_path / "design.json"
    code, out, err = run("design", *own(towns), "--epsilon", "ln2 per 50km", "--out", saved)
    assert (code, err) == (0, "")
    assert re.search(r"checked\s+yes", out)
    assert "per m" in out
    assert re.search(r"likeliest answers for Oslo\s+answer +chance\s+─+\s+Oslo +\d", out)
    spelled = json.loads(run("design", *own(towns), "--epsilon", "ln 2 per 50 km", "--json")[1])
    assert spelled == json.loads(saved.read_text(encoding="utf-8"))
    assert spelled["space"]["unit"] == "m"
    assert spelled["space"]["labels"] == ["Oslo", "Bergen", "Hamar"]
    assert json.loads(run("design", *own(towns), "--epsilon", "alpha=1/2 per 50 km", "--json")[1]) == spelled
    ptype = ut.read_design(saved).certificate.ptype
    assert ptype.level.scaled(50_000).alpha_fraction() == Fraction(1, 2)
    assert ptype.space.labels == ("Oslo", "Bergen", "Hamar")
    assert ptype.space.nearest(60.8, 11) == "Hamar"
    assert run("design", "--check", saved)[0] == 0
    table = tmp_path / "design.csv"
    assert run("design", *own(towns), "--epsilon", "ln2 per 50km", "--out", table)[0] == 0
    rows = list(csv.reader(table.read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["secret", "Oslo", "Bergen", "Hamar"]
    assert [row[0] for row in rows[1:]] == ["Oslo", "Bergen", "Hamar"]


def test_a_design_of_many_places_ends_at_the_gap_that_is_asked_for(run, monkeypatch):
    set_sizes(monkeypatch, simplex_rows=1000)
    grid = ["design", "--space", "grid:4x5", "--prior", "uniform", "--loss", "distance", "--json"]
    code, out, err = run(*grid, "--epsilon", "1", "--gap", "1/20")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert 1e-6 < 1 - found["lower_bound"] / found["expected_loss"] <= 0.05
    assert run(*grid, "--epsilon", "1", "--gap", "0")[0] == 2
    assert run(*grid, "--curve", "1:2:3", "--gap", "1/20")[0] == 2


def test_the_map_has_the_labels(run, file, tmp_path):
    picture = tmp_path / "map.svg"
    code, _, err = run("design", *own(file(TOWNS, "towns.csv")), "--epsilon", "1 per 20 km", "--plot", picture)
    assert (code, err) == (0, "")
    assert "answers for Oslo" in picture.read_text(encoding="utf-8")


def test_priors_by_label(run, file):
    """A file of weights may name secrets by label; another label is refused, and a label that is left out weighs 0."""
    towns = file(TOWNS, "towns.csv")
    asked = ["design", "--space", f"places:{towns}:town,lat,lon", "--loss", "distance"]
    asked += ["--epsilon", "1 per 9 km", "--json"]
    by_label = json.loads(run(*asked, "--prior", "weights:" + str(file("town,w\nHamar,3\nOslo,1\n", "w.csv")))[1])
    by_number = json.loads(run(*asked, "--prior", "weights:" + str(file("2,3\n0,1\n", "v.csv")))[1])
    assert by_label["expected_loss"] == by_number["expected_loss"]
    assert by_label["prior"] == by_number["prior"] == ["1/4", "0", "3/4"]
    code, _, err = run(*asked, "--prior", "weights:" + str(file("Oslo,1\nRome,2\nOslo,1\n", "x.csv")))
    assert code != 0
    assert "label" in err


@pytest.mark.parametrize("wrong", [["--epsilon", "1 per 50min"], ["--epsilon", "per 50km"], []])
def test_levels_that_do_not_go_with_the_places_are_refused(run, file, wrong):
    code, _, err = run("design", *own(file(TOWNS, "towns.csv")), *wrong)
    assert code != 0
    assert err


def test_roads_in_minutes_take_levels_for_minutes(run, file):
    """A graph or a table of distances says its unit behind a colon; without it a level for minutes is refused."""
    roads = str(file("from,to,minutes\nhome,work,12.5\nwork,gym,7\n", "roads.csv"))
    asked = ["--prior", "uniform", "--loss", "distance", "--epsilon", "1 per 10min", "--json"]
    found = json.loads(run("design", "--space", f"graph:{roads}:minutes", *asked)[1])
    assert found["epsilon"] == "1/10"
    assert found["space"]["unit"] == "min"
    assert run("design", "--space", f"graph:{roads}", *asked)[0] != 0
    table = str(file("0,2\n2,0\n", "table.csv"))
    assert json.loads(run("design", "--space", f"distances:{table}:h", *asked)[1])["epsilon"] == "6"


FORGERIES = [
    {"unit": "km"},
    {"unit": "m, certified by NIST"},
    {"metric": "geodesic"},
    {"metric": "by an office"},
    {"rounded": "10"},
    {"positions": [["59", "10"], ["60.39", "5.32"], ["60.79", "11.07"]]},
    {"in_degrees": False},
    {"metres": "1000"},
    {"crs": "EPSG:25832"},
    {"labels": ["Oslo", "Bergen"]},
]


def test_nobody_vouches_for_places_that_were_changed(run, file, tmp_path):
    """Metres became kilometres, and `design --check`, `capacity --check`, `verify` and `export` took them."""
    towns, saved, capacity = file(TOWNS, "towns.csv"), tmp_path / "design.json", tmp_path / "capacity.json"
    answers, secrets = tmp_path / "answers.csv", file("id,town\na,Oslo\nb,Hamar\n", "secrets.csv")
    assert run("design", *own(towns), "--epsilon", "ln2 per 50km", "--out", saved)[0] == 0
    of_places = ["--space", f"places:{towns}:town,lat,lon", "--epsilon", "ln2 per 50km"]
    assert run("research", "capacity", *of_places, "--out", capacity)[0] == 0
    columns = ["--column", "town", "--public", "id"]
    assert run("respond", saved, "--file", secrets, *columns, "--out", answers)[0] == 0
    beside = answers.with_name("answers.csv.json")
    checks = [
        (saved, ["design", "--check", saved], "in m, along great circles, measured"),
        (capacity, ["research", "capacity", "--check", capacity], "in m, along great circles, measured"),
        (beside, ["verify", answers], "distances are in m, along great circles"),
        (saved, ["export", saved, "--round", "--to", "js", "--out", tmp_path / "phone"], ""),
    ]
    for path, command, words in checks:
        honest = json.loads(path.read_text())
        if words:
            code, shown, err = run(*command)
            assert (code, words in " ".join(shown.split())) == (0, True), (err, shown)
        for forged in FORGERIES:
            path.write_text(json.dumps(honest | {"space": honest["space"] | forged}))
            code, shown, err = run(*command)
            assert (code != 0, "Traceback" in err) == (True, False), (command, shown)
        path.write_text(json.dumps(honest))
    assert not (tmp_path / "phone").exists()


def test_a_statement_of_answers_says_how_they_were_checked_in_no_words_of_its_own(run, file, tmp_path):
    """`verify` repeated whatever stood there."""
    answers, secrets, saved = tmp_path / "answers.csv", file("id,n\na,0\nb,2\n", "secrets.csv"), tmp_path / "d.json"
    asked = ["design", "--space", "counts:2", "--epsilon", "alpha=1/2", "--prior", "uniform", "--loss", "binary"]
    assert run(*asked, "--out", saved)[0] == 0
    assert run("respond", saved, "--file", secrets, "--column", "n", "--public", "id", "--out", answers)[0] == 0
    beside = answers.with_name("answers.csv.json")
    honest = json.loads(beside.read_text())
    code, shown, _ = run("verify", answers)
    assert (code, "the mechanism with this SHA-256" in " ".join(shown.split())) == (0, True)
    told = {"sha256": honest["mechanism"]["sha256"], "checked": "certified by NIST; epsilon is 0"}
    beside.write_text(json.dumps(honest | {"mechanism": told}))
    code, _, err = run("verify", answers)
    assert (code, "NIST" in err) == (1, False)


def test_distances_along_roads_are_on_the_writers_word(run, file, tmp_path):
    """No position shows them: a check says so."""
    saved = tmp_path / "design.json"
    roads = file("a,b,10\nb,c,5\n", "roads.csv")
    words = ["--space", f"graph:{roads}:min", "--prior", "uniform", "--loss", "binary", "--epsilon", "1 per 5min"]
    assert run("design", *words, "--out", saved)[0] == 0
    shown = " ".join(run("design", "--check", saved)[1].split())
    assert "in min, along roads, as stated: no position shows them" in shown


def test_a_level_for_each_metre_is_warned_of(run, file, tmp_path):
    """Without a distance the level is for one metre: nobody is protected, and the remedy names the distance."""
    towns = file(TOWNS, "towns.csv")
    code, _, err = run("design", *own(towns), "--epsilon", 1)
    assert (code, "warning" in err) == (0, True)
    level = re.search(r'--epsilon "([^"]*)"', err)[1]
    assert run("design", *own(towns), "--epsilon", level)[::2] == (0, "")
    for epsilon, is_warned in ((10, False), (11, True)):
        err = run("design", "--space", "counts:2", "--prior", "uniform", "--epsilon", epsilon)[2]
        assert ("protects practically nobody" in err) == is_warned


def test_a_file_of_two_places_is_read_by_its_columns(run, file):
    """Two rows of numbers are no pairs of a latitude and a longitude; other names of columns are asked for."""
    two = file("name,lat,lon\n1,48.1,11.5\n2,48.2,11.6\n", "two.csv")
    assert ut.spaces.places(two).labels == ("1", "2")
    other = file("Ort,Breite,Länge\n1,48.1,11.5\n2,48.2,11.6\n", "other.csv")
    call = ["design", "--prior", "uniform", "--epsilon", "1 per 1km", "--space"]
    code, _, err = run(*call, f"places:{other}")
    assert (code, "--space places:towns.csv:name,lat,lon" in err) == (1, True)
    assert run(*call, f"places:{other}:Ort,Breite,Länge")[0] == 0
