"""`utmost research vertices`, `kernels`: counts of the papers, streams, pictures, and interrupted searches."""

import csv
import io
import json
import re

import numpy as np
import pytest

import utmost as ut
from running import changed
from utmost.geometry import kernel_sizes, vertices

# A search is cut into short stretches, which takes minutes at the length that users have.
from utmost.interfaces.cli import kernel_files
from utmost.spaces import counts, grid, hamming

HALF = ["--epsilon", "alpha=1/2"]


@pytest.mark.parametrize("command", ["vertices", "kernels"])
def test_a_list_is_written_as_its_ending_says(run, tmp_path, command):
    """A file named .json holds what --json prints, asked for or not; other endings are refused."""
    asked = ("research", command, *HALF, "--space", "line:4")
    printed = run(*asked, "--json")[1]
    for name, more in (("a.json", ()), ("b.JSON", ("--json",))):
        assert run(*asked, "--out", tmp_path / name, *more)[0] == 0
        assert (tmp_path / name).read_text() == printed
    assert run(*asked, "--json", "--out", "-")[1] == printed
    assert run(*asked, "--out", tmp_path / "a.tsv")[0] == 0
    for name in ("a.parquet", "a.csv.gz", "a.xyz"):
        code, _, err = run(*asked, "--out", tmp_path / name)
        assert code == 2
        assert ".csv, .tsv, .txt, .json" in err
    going_on = ["research", "kernels", *HALF, "--space", "line:4", "--resume", tmp_path / "s.json"]
    assert run(*going_on, "--out", tmp_path / "k.json")[0] == 2, "a list that goes on is CSV"


@pytest.mark.parametrize(
    ("asked", "count"), [(["--space", "hamming:4"], 990), (["--space", "line:100", "--epsilon", "1/3"], 2**99)]
)
def test_vertices_are_counted(run, asked, count):
    """The bare number; the same in JSON."""
    assert run("research", "vertices", *asked, "--count") == (0, f"{count}\n", "")
    assert json.loads(run("research", "vertices", *asked, "--count", "--json")[1])["vertices"] == count


def test_vertices_are_shown_with_both_forms(run):
    code, out, err = run("research", "vertices", "--space", "line:3", *HALF)
    assert (code, err) == (0, "")
    assert re.search(r"2 1 0\s+1/7\s+2/7\s+4/7", out)
    assert "alpha=1/2" in out
    assert "--out FILE" in run("research", "vertices", "--space", "hamming:4", *HALF)[1]
    assert "more than 5000" in run("research", "vertices", "--space", "manhattan:6x6", *HALF)[1]
    assert "sqrt(2)" in run("research", "vertices", "--space", "grid:2x2", *HALF)[1]


def test_all_vertices_are_streamed(run, tmp_path):
    """CSV on the pipe and in a file, and JSON, hold every vertex once, in the order of the library."""
    listed = vertices(ut.PrivacyType(hamming(3), alpha="1/3"))
    asked = ["research", "vertices", "--space", "hamming:3", "--epsilon", "alpha=1/3"]
    wanted = [[str(p) for p in v] for v in listed]
    header, *rows = csv.reader(io.StringIO(run(*asked, "--out", "-")[1]))
    assert len(header) == 8
    assert rows == wanted
    out = tmp_path / "v.csv"
    assert run(*asked, "--heights", "--out", out) == (0, "", "")
    _, *heights = csv.reader(out.read_text().splitlines())
    assert np.array_equal(np.array(heights, dtype=int), listed.exponents[..., 0])
    found = json.loads(run(*asked, "--json")[1])
    assert found["vertices"] == wanted
    assert found["alpha"] == "1/3"
    assert run(*asked, "--out", out)[0] == 2, "another file is not written over"


def test_heights_need_no_level_and_name_none(run):
    """A level that nobody gave, and probabilities at it, were shown."""
    code, shown, err = run("research", "vertices", "--space", "counts:2", "--heights")
    assert (code, err) == (0, "")
    assert "2 1 0" in shown
    assert "level" not in shown
    assert "/" not in shown.replace("/ sum", ""), "no probabilities"
    found = json.loads(run("research", "vertices", "--space", "counts:2", "--heights", "--json")[1])
    assert not {"alpha", "epsilon"} & set(found)
    assert found["vertices"][0] == ["2", "1", "0"]
    found = json.loads(run("research", "vertices", "--space", "counts:2", *HALF, "--heights", "--json")[1])
    assert found["alpha"] == "1/2"


def test_orbits(run):
    found = json.loads(run("research", "vertices", "--space", "hamming:3", "--orbits", "--json")[1])
    assert sorted(orbit["size"] for orbit in found["orbits"]) == [2, 8, 8, 8, 12]
    assert re.search(r"orbits\s+4\b", run("research", "vertices", "--space", "grid:2x2", "--orbits")[1])
    found = json.loads(run("research", "kernels", *HALF, "--space", "hamming:2", "--orbits", "--json")[1])
    assert [(orbit["kernels"], len(orbit["vertices"])) for orbit in found["orbits"]] == [(1, 2), (2, 3), (1, 4)]
    assert re.search(r"orbits\s+3\s", run("research", "kernels", *HALF, "--space", "hamming:2", "--orbits")[1])


def test_kernels_by_size_and_themselves(run):
    found = json.loads(run("research", "kernels", *HALF, "--space", "line:6", "--by-size", "--json")[1])
    assert found["by_size"] == {"2": 1, "3": 8, "4": 77, "5": 816, "6": 14444}
    assert found["kernels"] == 15346
    out = run("research", "kernels", *HALF, "--space", "line:3")[1]
    assert re.search(r"1\s+1/3\s+1/3\s+1/3\s*\n", out), "the geometric mechanism"
    assert "Kernel" not in run("research", "kernels", *HALF, "--space", "line:3", "--by-size")[1]


def test_kernels_are_streamed(run, tmp_path):
    """Sets of vertices, each kernel once; the vertices are those of `utmost research vertices`."""
    found = json.loads(run("research", "kernels", *HALF, "--space", "line:4", "--json")[1])
    listed = ut.geometry.kernels(ut.PrivacyType(counts(3), alpha="1/2"))
    assert sorted(map(tuple, found["kernels"])) == sorted(listed.support(k) for k in range(11))
    assert found["vertices"] == [[str(p) for p in v] for v in listed.vertices]
    out = tmp_path / "k.csv"
    assert run("research", "kernels", *HALF, "--space", "line:4", "--out", out) == (0, "", "")
    header, *rows = csv.reader(out.read_text().splitlines())
    assert header[0] == "outcomes"
    assert sorted(tuple(int(v) for v in row[1:] if v) for row in rows) == sorted(map(tuple, found["kernels"]))
    assert all(int(row[0]) == sum(v != "" for v in row[1:]) for row in rows)
    assert run("research", "kernels", *HALF, "--space", "line:4", "--out", "-")[1] == out.read_text()


def test_an_estimate_is_repeatable_and_holds_the_truth(run):
    asked = [
        "research", "kernels", "--space", "grid:2x2", *HALF, "--estimate", 100, "--seed", 4, "--confidence", "0.999",
    ]  # fmt: skip
    found = json.loads(run(*asked, "--json")[1])
    assert found == json.loads(run(*asked, "--json")[1])
    by_size = kernel_sizes(ut.PrivacyType(grid(2, 2), alpha="1/2"))
    assert found["low"] < by_size[4] < found["high"]
    assert found["outcomes"] == 4
    assert "between" in run(*asked)[1]
    three = json.loads(run(*asked, "--size", 3, "--json")[1])
    assert three["low"] <= by_size.get(3, 0) <= three["high"]


@pytest.fixture
def short_stretches(monkeypatch):
    """A search that is stopped after so many stretches of 300 kernels, as by a power cut."""
    whole = kernel_files.kernel_blocks

    def stop_after(stretches):
        def blocks(ptype, start=None):
            for done, block in enumerate(whole(ptype, rows=300, start=start)):
                yield block
                if done + 1 == stretches:
                    raise KeyboardInterrupt

        monkeypatch.setattr(kernel_files, "kernel_blocks", blocks)

    return stop_after


def test_an_interrupted_search_goes_on(tmp_path, short_stretches):
    """Stopped again and again, with rubbish after the last state, it lists every kernel once."""
    ptype, state, out = ut.PrivacyType(counts(5), alpha="1/2"), tmp_path / "state.json", tmp_path / "k.csv"
    shares, runs = [], 0
    short_stretches(4)
    while True:
        runs += 1
        try:
            found = kernel_files.search(ptype, state, out, shares.append)
            break
        except KeyboardInterrupt:
            with out.open("a") as file:
                file.write("6,1,2,3")
    assert runs > 3
    assert dict(found.sizes) == kernel_sizes(ptype)
    assert shares[-1] == 1
    assert sorted(shares) == shares
    rows = out.read_text().splitlines()[1:]
    assert len(rows) == len(set(rows)) == 15346
    again = kernel_files.search(ptype, state, out)
    assert again.sizes == found.sizes
    assert len(out.read_text().splitlines()) == 15347


def test_a_resumed_count_on_the_command_line(run, tmp_path, short_stretches):
    state = tmp_path / "state.json"
    short_stretches(3)
    with pytest.raises(KeyboardInterrupt):
        kernel_files.search(ut.PrivacyType(counts(5), alpha="1/2"), state, None)
    assert 0 < json.loads(state.read_text())["done"] < 1
    short_stretches(10**9)
    assert run("research", "kernels", *HALF, "--space", "line:6", "--resume", state, "--count") == (0, "15346\n", "")
    assert json.loads(state.read_text())["position"] is None
    assert run("research", "kernels", *HALF, "--space", "line:6", "--resume", state, "--count")[1] == "15346\n"


def test_a_state_that_does_not_fit_is_refused(run, tmp_path):
    state, out = tmp_path / "state.json", tmp_path / "k.csv"
    asked = ["research", "kernels", *HALF, "--space", "line:4", "--out", out, "--resume"]
    assert run(*asked, state, "--count")[1] == "11\n"
    honest = state.read_text()
    for change, other in [
        ("{", ["--space", "line:4"]),
        ("[]", ["--space", "line:4"]),
        ('{"kind": "utmost design"}', ["--space", "line:4"]),
        (honest.replace('"orbit"', '"orbits"').replace("null", "{}"), ["--space", "line:4"]),
        (honest, ["--space", "line:5"]),
        (honest, ["--space", "line:4", "--epsilon", "alpha=1/3"]),
    ]:
        state.write_text(change)
        code, shown, err = run("research", "kernels", *changed(HALF, *other), "--resume", state, "--out", out)
        assert (code, shown) == (1, ""), change
        assert err.startswith("utmost: "), err
    state.write_text(honest)
    out.write_text("cut")
    assert "bytes" in run(*asked, state)[2]
    assert run(*asked, tmp_path / "other.json")[0] == 2, "a list is not written over"


@pytest.mark.parametrize(
    "asked", [["research", "vertices", "--space", "line:3"], ["research", "kernels", "--space", "discrete:4"]]
)
def test_types_on_three_and_four_secrets_are_drawn(run, tmp_path, asked):
    plot = tmp_path / "type.svg"
    code, out, err = run(*asked, *HALF, "--plot", plot)
    assert (code, err) == (0, "")
    assert str(plot) in out.replace("\n", "")
    assert plot.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["research", "vertices"], "got no --space"),
        (["research", "vertices", "--space", "torus:3"], "The kinds are"),
        (["research", "vertices", "--space", "line:0"], "at least 1"),
        (["research", "vertices", "--space", "line:3", "--epsilon", "alpha=1"], "alpha"),
        (["research", "vertices", "--space", "line:3", "--count", "--orbits"], "only one of"),
        (["research", "vertices", "--space", "line:5", *HALF, "--plot", "x.svg"], "3 or 4 secrets"),
        (["research", "kernels", "--space", "line:3", *HALF, "--count", "--orbits"], "--count and --orbits"),
        (["research", "kernels", "--space", "line:3", *HALF, "--estimate", 1], "at least 2"),
        (["research", "kernels", "--space", "line:3", *HALF, "--estimate", 10, "--size", 9], "between 1 and 3"),
        (["research", "kernels", "--space", "line:3", *HALF, "--estimate", 10, "--confidence", 2], "between 0 and 1"),
        (["research", "kernels", "--space", "hamming:5", *HALF], "--estimate"),
        (
            ["research", "kernels", "--space", "line:3", *HALF, "--resume", "s.json", "--out", "-"],
            "--out must name a file",
        ),
    ],
)
def test_misuse(run, asked, said):
    code, out, err = run(*asked)
    assert (code, out) == (2, "")
    assert said in err
