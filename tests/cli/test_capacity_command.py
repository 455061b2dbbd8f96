"""`utmost research capacity`: what it shows, writes and refuses, and that its files prove themselves again."""

import json

import pytest

ROADS = "from,to\nhub,a\nhub,b\nhub,c\n"
HALF = ["--epsilon", "alpha=1/2"]


@pytest.fixture
def run(run):
    return lambda *arguments: run("research", "capacity", *arguments)


def test_one_capacity_can_be_asked_for(run):
    for kind in ("multiplicative", "additive"):
        found = json.loads(run("--space", "discrete:3", f"--{kind}", "--json", *HALF)[1])
        assert [one["capacity"] for one in found["capacities"]] == [kind]
    both = json.loads(run("--space", "discrete:3", "--json", *HALF)[1])["capacities"]
    assert [one["value_exact"] for one in both] == ["3/2", "2/5"]
    assert all(one["verified"] for one in both)


ASKED = {
    "counts at an irrational level": ["--space", "counts:3", "--epsilon", "1/2"],
    "lattice with a middle": ["--space", "grid:3x5", "--epsilon", "1/10", "--additive"],
    "lattice by envelopes": ["--space", "grid:7x7", "--epsilon", "1/10", "--multiplicative"],
    "Manhattan": ["--space", "manhattan:3x4", *HALF],
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_a_certificate_is_written_and_proves_itself_again(run, tmp_path, asked):
    path = tmp_path / "capacity.json"
    code, _, err = run(*asked, "--out", path)
    assert (code, err) == (0, "")
    shown = json.loads(run(*asked, "--json")[1])["capacities"]
    again = json.loads(run("--check", path, "--json")[1])["capacities"]
    assert again == [{name: value for name, value in one.items() if name != "method"} for one in shown]
    assert "found by" not in run("--check", path)[1]


STRICT = "0,1,3,2,3,3\n1,0,2,1,2,2\n3,2,0,1,3,2\n2,1,1,0,2,1\n3,2,3,2,0,3\n3,2,2,1,3,0\n"


def test_files_of_distances_and_of_edges_are_read(run, file, tmp_path):
    written = tmp_path / "strict.json"
    found = json.loads(run("--space", f"distances:{file(STRICT, 'd.csv')}", *HALF, "--json", "--out", written)[1])
    assert found["capacities"][0]["value_exact"] == "122/45"
    assert json.loads(written.read_text(encoding="utf-8"))["capacities"][0]["multipliers"]
    assert run("--check", written)[0] == 0
    graph = json.loads(run("--space", f"graph:{file(ROADS, 'roads.csv')}", *HALF, "--json")[1])
    assert [one["value_exact"] for one in graph["capacities"]] == ["2", "1/2"]


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (["--space", "grid:4", *HALF], 2, "ROWSxCOLUMNS"),
        (["--space", "line:3", "--epsilon", "alpha=2"], 2, "between 0 and 1"),
        (["--space", "line:3", *HALF, "--out", "capacity.txt"], 2, ".json"),
        (["--space", "graph:nowhere.csv", *HALF], 1, "nowhere.csv"),
    ],
)
def test_misuse_is_refused_in_one_line(run, asked, code, message):
    ended, out, err = run(*asked)
    assert (ended, out, err.count("\n")) == (code, "", 1)
    assert message in err
