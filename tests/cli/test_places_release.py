"""`utmost promise --planar` and its release: points of a file, verified; what does not go with it is refused."""

import json

import pytest

from running import changed, new_ledger


@pytest.fixture
def places(tmp_path):
    table = tmp_path / "places.csv"
    table.write_text("name,x,y\nhome,651300.25,6861200.5\nwork,652900.1,6860100\n")
    return table


POINTS = ["--columns", "x,y", "--planar", "--public", "name", "--per", "200"]


@pytest.fixture
def asked(run, tmp_path):
    """The options that release points as they are promised."""

    def write(*more):
        path = tmp_path / "promise.json"
        path.unlink(missing_ok=True)
        code, _, err = run("promise", *POINTS, *more, "--out", path)
        assert code == 0, err
        return ["--promise", path, "--epsilon", "1"]

    return write


def test_a_file_of_places_is_released_and_verified(run, places, asked, tmp_path):
    out = tmp_path / "out.csv"
    code, shown, err = run("release", places, *asked(), "--out", out)
    assert (code, err) == (0, "")
    for words in ("Moving one point by 200", "epsilon = 1 for each 200", "within 950.188 of the true point"):
        assert words in " ".join(shown.split())
    assert out.read_text().startswith("name,x,y,x_y_margin\nhome,")
    code, shown, _ = run("verify", out, "--json")
    found = json.loads(shown)
    assert (code, found["statement"], found["table"]) == (0, "consistent", "unchanged")
    assert "exp(-epsilon |v|" in found["distribution"]
    out.write_text(out.read_text().replace("home", "here"))
    assert run("verify", out)[0] == 1
    code, _, err = run(
        "read", "--statement", f"{out}.json", "--response", "3", "--prior", "uniform", "--loss", "binary"
    )
    assert (code, "can be read" in err) == (2, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--sensitivity", "1"], "--sensitivity cannot be combined with --planar"),
        (["--cells", "1"], "--cells cannot be combined"),
        (["--half-step"], "--half-step cannot be combined"),
        (["--numbers", "reals"], "--numbers cannot be combined"),
        (["--grid", "400"], "1.7"),
        (["--per", "0"], "per must be positive"),
    ],
)
def test_what_does_not_go_with_points(run, options, words):
    code, shown, err = run("promise", *changed([*POINTS, "--epsilon", "1"], *options))
    assert (code, shown, words in " ".join(err.split())) == (2 if code == 2 else 1, "", True)


def test_a_distance_needs_points(run):
    code, _, err = run("promise", "--columns", "x", "--per", "2", "--drop", "name,y")
    assert (code != 0, "--per needs --planar" in err) == (True, True)


def test_the_level_for_an_error_bar_of_points(run):
    code, shown, _ = run("epsilon-for", "--margin", "1000", "--planar", "--per", "200", "--json")
    found = json.loads(shown)
    assert (code, found["epsilon"], found["per"], found["dimensions"]) == (0, "951/1000", "200", 2)
    assert found["margin"] <= 1000
    code, shown, _ = run("epsilon-for", "--margin", "1000", "--planar", "--per", "200")
    assert (code, "0.951 for a Euclidean distance of 200" in shown) == (0, True)
    for options in (["--per", "200"], ["--planar", "--sensitivity", "1"], []):
        code, shown, err = run("epsilon-for", "--margin", "10", *options)
        assert (code != 0, shown, bool(err)) == (True, "", True)


def test_points_in_a_ledger_are_published_relaxed_viewed_and_verified(run, places, asked, tmp_path):
    ledger = ["--ledger", new_ledger(tmp_path / "l.db"), "--name", "homes"]
    code, shown, _ = run("release", places, *asked(), *ledger, "--dry-run")
    assert (code, "spent in all" in shown) == (0, True)
    code, shown, err = run("release", places, *asked(), *ledger, "--out", tmp_path / "one.csv")
    assert (code, err, "within 950.188 of the true point" in " ".join(shown.split())) == (0, "", True)
    code, shown, _ = run("relax", places, *ledger, "--epsilon", "4", "--out", tmp_path / "four.csv")
    assert (code, "epsilon = 4 for each 200 of Euclidean distance" in " ".join(shown.split())) == (0, True)
    for name in ("one.csv", "four.csv"):
        code, shown, err = run("verify", tmp_path / name, "--json")
        assert (code, json.loads(shown)["table"]) == (0, "unchanged")
    code, shown, _ = run("view", *ledger, "--epsilon", "4", "--json")
    rows = (tmp_path / "four.csv").read_text().splitlines()[1:]
    assert [float(row.split(",")[1]) for row in rows] == json.loads(shown)["table"]["x"]
    code, _, err = run("view", *ledger, "--epsilon", "2")
    assert (code, "must be passed at each new level" in " ".join(err.split())) == (1, True)
