"""`utmost research capacity`: what it shows, writes and refuses, and that its files prove themselves again."""

import json
import re

import pytest

from running import called

ROADS = "from,to\nhub,a\nhub,b\nhub,c\n"
HALF = ["--epsilon", "alpha=1/2"]


@pytest.fixture
def run(run):
    return lambda *arguments: run("research", "capacity", *arguments)


def test_both_capacities_of_a_grid_are_found():
    ended = called("research", "capacity", "--space", "grid:4x4", "--epsilon", "1/2")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.search(r"capacity\s+2\.65979695676116", ended.stdout)
    assert re.search(r"capacity\s+0\.67371003073187", ended.stdout)
    assert len(re.findall(r"checked\s+yes", ended.stdout)) == 2


def test_exact_capacities_are_shown_as_fractions(run):
    code, out, err = run("--space", "line:6", *HALF)
    assert (code, err) == (0, "")
    assert "= 8/3" in out
    assert "= 5/6" in out
    assert "Corollary 20" in out


def test_one_capacity_can_be_asked_for(run):
    for kind in ("multiplicative", "additive"):
        found = json.loads(run("--space", "discrete:3", f"--{kind}", "--json", *HALF)[1])
        assert [one["capacity"] for one in found["capacities"]] == [kind]
    both = json.loads(run("--space", "discrete:3", "--json", *HALF)[1])["capacities"]
    assert [one["value_exact"] for one in both] == ["3/2", "2/5"]
    assert all(one["verified"] for one in both)


def test_twenty_bits_take_no_time(run):
    found = json.loads(run("--space", "hamming:20", "--json", *HALF)[1])
    assert found["secrets"] == 2**20
    assert found["capacities"][0]["value_exact"] == "1099511627776/3486784401"


ASKED = {
    "line": ["--space", "line:7", *HALF],
    "counts at an irrational level": ["--space", "counts:3", "--epsilon", "1/2"],
    "equal distances": ["--space", "discrete:5", "--epsilon", 1],
    "bits": ["--space", "hamming:3", *HALF],
    "lattice by its magnitude": ["--space", "grid:4x4", *HALF],
    "lattice by packing": ["--space", "grid:3x3", *HALF],
    "lattice with a middle": ["--space", "grid:3x5", "--epsilon", "1/10", "--additive"],
    "lattice by envelopes": ["--space", "grid:7x7", "--epsilon", "1/10", "--multiplicative"],
    "Manhattan": ["--space", "manhattan:3x4", *HALF],
    "one secret": ["--space", "line:1", "--epsilon", 1],
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
        ([*HALF], 2, "got no --space. Add --space line:6"),
        (["--space", "line:3"], 2, "--epsilon must be given"),
        (["--space", "line:0", *HALF], 2, "at least 1"),
        (["--space", "grid:4", *HALF], 2, "ROWSxCOLUMNS"),
        (["--space", "circle:4", *HALF], 2, "Kinds"),
        (["--space", "line:3", "--epsilon", "alpha=2"], 2, "between 0 and 1"),
        (["--space", "line:3", *HALF, "--out", "capacity.txt"], 2, ".json"),
        (["--space", "graph:nowhere.csv", *HALF], 1, "nowhere.csv"),
    ],
)
def test_misuse_is_refused_in_one_line(run, asked, code, message):
    ended, out, err = run(*asked)
    assert (ended, out, err.count("\n")) == (code, "", 1)
    assert message in err


def spoiled(found, *keys, to):
    place = found["capacities"][0]
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = to
    return found


def test_a_file_that_states_more_than_it_proves_is_refused(run, file, tmp_path):
    path = tmp_path / "capacity.json"
    run("--space", "line:4", *HALF, "--out", path)
    text = path.read_text(encoding="utf-8")
    for keys, to in (
        (("value",), "3/2"),
        (("value",), "2011/1100"),
        (("theorem",), "Corollary 99 of nobody"),
        (("lower",), "5/2"),
        (("dual", "values", 0), "1/3"),
        (("mechanism", "weights", 0), "1/3"),
    ):
        changed = file(json.dumps(spoiled(json.loads(text), *keys, to=to)), "changed.json")
        code, _, err = run("--check", changed)
        assert (code, re.search("must (prove|follow)", err) is not None) == (1, True)


@pytest.mark.parametrize(
    ("keys", "to"),
    [
        (("mechanism", "form"), "magic"),
        (("mechanism", "sign"), 2),
        (("dual", "form"), "magic"),
        (("dual",), {}),
        (("capacity",), "divine"),
        (("mechanism", "weights"), ["x"]),
        (("multipliers",), {"x": [9], "y": [0], "j": [0], "values": ["1"]}),
    ],
)
def test_a_file_that_is_no_capacity_is_refused(run, file, tmp_path, keys, to):
    path = tmp_path / "capacity.json"
    run("--space", "line:4", *HALF, "--out", path)
    changed = file(json.dumps(spoiled(json.loads(path.read_text(encoding="utf-8")), *keys, to=to)), "changed.json")
    code, out, err = run("--check", changed)
    assert (code in (1, 2), out, err.count("\n")) == (True, "", 1)


@pytest.mark.parametrize("text", ["", "[]", '{"kind": "utmost design"}', '{"kind": "utmost capacity"}'])
def test_what_is_no_file_of_capacities_is_refused(run, file, text):
    assert run("--check", file(text, "capacity.json"))[:2] == (1, "")
