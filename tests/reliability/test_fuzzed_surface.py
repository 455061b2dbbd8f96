"""Every public name and every command, called with whatever comes: an answer, or an error of ours that names it."""

import io
import json
import os
import random
import subprocess
import sys
import warnings

import pytest

from surface import TooLong, alien_calls, call, hostile, processor_time, targets, wrong_outcome

# A second would do for most; exact answers of thousands of digits take some.
_SECONDS = 20


def fuzz_surface(seed, calls):
    """What went wrong in so many calls, by what the user typed."""
    rng, found = random.Random(seed), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(calls):
            made = call(rng)
            wrong = wrong_outcome(made, _SECONDS)
            if wrong is not None:
                found.append(f"{made}: {wrong}")
    return found


def test_the_whole_surface_is_tried():
    assert len(targets()) > 250
    assert len(hostile()) > 120


def test_every_argument_of_every_function_may_be_an_object_that_is_nothing():
    """No draw: a new function is tried on the day it becomes public, in every argument."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ended = [(made, wrong_outcome(made, _SECONDS)) for made in alien_calls(random.Random(0))]
    assert len(ended) > 1400
    assert [f"{made}: {wrong}" for made, wrong in ended if wrong is not None] == []


def test_fuzzed_calls_of_the_surface():
    assert fuzz_surface(0, 300) == []


@pytest.mark.slow
def test_many_fuzzed_calls_of_the_surface():
    """UTMOST_CALLS in the environment sets another dose, UTMOST_SEED other calls."""
    calls, first = int(os.environ.get("UTMOST_CALLS", "20000")), int(os.environ.get("UTMOST_SEED", "1"))
    found = [wrong for seed in range(-(-calls // 1000)) for wrong in fuzz_surface(first + seed, min(1000, calls))]
    assert found == []


UNIT = ["--sensitivity", "1", "--cells", "1", "--columns", "n"]
COMMANDS = [
    ["release", "good.csv", *UNIT, "--epsilon", "1"],
    ["release", "good.csv", *UNIT, "--epsilon", "1", "--out", "out.csv"],
    ["release", "good.csv", *UNIT, "--epsilon", "1", "--json", "--once", "cells"],
    ["release", "good.parquet", *UNIT, "--epsilon", "1", "--dry-run"],
    ["noise", "--sensitivity", "3", "--epsilon", "1"],
    ["noise", "--sensitivity", "3", "--epsilon", "alpha=1/2", "--json", "--cost", "squared"],
    ["epsilon-for", "--margin", "5", "--sensitivity", "1", "--cells", "1"],
    ["research", "compare", "--json"],
    ["read", "3", "--n", "5", "--epsilon", "1"],
    ["design", "--n", "3", "--epsilon", "1", "--prior", "uniform", "--loss", "absolute"],
    ["design", "--n", "3", "--epsilon", "alpha=1/2", "--json"],
    ["research", "leakage", "channel.csv"],
    ["research", "leakage", "channel.json", "--prior", "uniform", "--json"],
    ["research", "refine", "channel.csv", "channel.json"],
    ["research", "capacity", "--space", "discrete:3", "--epsilon", "1"],
    ["research", "vertices", "--space", "discrete:3", "--epsilon", "alpha=1/2"],
    ["research", "kernels", "--space", "discrete:3", "--epsilon", "alpha=1/2"],
    ["research", "universal", "channel.csv", "--loss", "absolute", "--space", "line:2", "--epsilon", "alpha=1/2"],
    ["view", "--ledger", "l.db", "--name", "r", "--epsilon", "1/2"],
    ["ledger", "verify", "--ledger", "l.db"],
    ["ledger", "history", "--ledger", "l.db"],
    ["ledger", "budget", "--ledger", "l.db", "--dataset", "d", "--limit", "5"],
]
WORDS = [
    "", "0", "-1", "1/0", "nan", "inf", "1e5", "1e999", "1e99999", "one", "½", "--", "-", "9" * 5000, "1" + "0" * 40,
]  # fmt: skip
WORDS += ["1/3", "a b", "\ud800", "\x00", "..", ".", "/", "/dev/null", "a" * 5000, "x/y/z.csv", "good.csv", "empty.csv"]
WORDS += ["deep.json", "numbers.json", "binary.csv", "binary.json", "cut.parquet", "channel.csv", "l.db", "state.json"]
WORDS += ["postgresql://nobody@127.0.0.1:1/none", "--json", "--epsilon", "--help", "grid:99999x99999", "hamming:64"]
WORDS += ["line:1e9", "graph:deep.json", "distances:good.csv", "power:1e9", "moment:1e9", "binomial:2", "poisson:1e99"]
WORDS += [
    "capped:-1", "asymmetric:1", "uniform", "--numbers", "reals", "kind.json", "fields.json", "folder", "sealed.csv",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with good files and bad ones."""
    monkeypatch.chdir(tmp_path)
    import pyarrow
    from pyarrow import parquet

    (tmp_path / "good.csv").write_text("n,place\n5,a\n6,b\n")
    parquet.write_table(pyarrow.table({"n": [5, 6]}), tmp_path / "good.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "good.parquet").read_bytes()[:-20])
    (tmp_path / "channel.csv").write_text("1/2,1/2\n1/4,3/4\n")
    (tmp_path / "channel.json").write_text('[["1/2", "1/2"], ["1/4", "3/4"]]')
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "numbers.json").write_text("[[" + "9" * 5000 + ", 1e999999]]")
    for name in ("binary.csv", "binary.json", "state.json"):
        (tmp_path / name).write_bytes(random.Random(3).randbytes(500))
    for kind in ("utmost design", "utmost statement", "utmost universality verdict", "utmost capacities"):
        (tmp_path / "kind.json").write_text(json.dumps({"kind": kind, "space": {"kind": "counts", "sizes": [[]]}}))
    (tmp_path / "fields.json").write_text('{"matrix": [[{}]], "secrets": 5}')
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "folder").mkdir()
    return tmp_path


def run_in_process(words, monkeypatch):
    """The exit code of a command and what it printed, or the name of what it raised."""
    from running import main

    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(sys, "stdin", io.StringIO(""))
        try:
            with processor_time(_SECONDS):
                main(words)
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
        except (Exception, TooLong) as error:
            code = f"{type(error).__name__}: {error}"
    return code, (out.buffer.getvalue() + err.buffer.getvalue()).decode("utf-8", "replace")


def fuzz_commands(seed, count, monkeypatch):
    """What went wrong in so many commands."""
    rng, found = random.Random(seed), []
    for _ in range(count):
        words = list(rng.choice(COMMANDS))
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            place = rng.randrange(1, len(words) + 1)
            words[place : place + rng.randint(0, 1)] = [rng.choice(WORDS)]
        code, printed = run_in_process(words, monkeypatch)
        if code not in (0, 1, 2) or "Traceback" in printed:
            found.append(f"{[word[:60] for word in words]}: {code}")
    return found


def test_fuzzed_commands_of_all_kinds(folder, monkeypatch):
    assert fuzz_commands(0, 60, monkeypatch) == []
    assert not list(folder.rglob("*.part"))


@pytest.mark.slow
def test_many_fuzzed_commands_of_all_kinds(folder, monkeypatch):
    """UTMOST_CALLS in the environment sets another dose, UTMOST_SEED other calls."""
    found = fuzz_commands(
        int(os.environ.get("UTMOST_SEED", "1")), int(os.environ.get("UTMOST_CALLS", "2000")), monkeypatch
    )
    assert found == []
    assert not list(folder.rglob("*.part"))


def test_a_closed_standard_output_is_told_before_anything_is_drawn(folder):
    command = f"exec {sys.executable} -m utmost release good.csv {' '.join(UNIT)} --epsilon 1 >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=_environment())
    assert (done.returncode, done.stderr) == (2, "utmost: standard output must be open\n")


def test_a_reader_that_leaves_is_no_traceback(folder):
    command = f"{sys.executable} -m utmost release good.csv {' '.join(UNIT)} --epsilon 1 --json | true; sleep 0.1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=_environment())
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def _environment():
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
