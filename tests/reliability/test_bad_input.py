"""R12: bad input of every kind is refused by a typed error; nothing is half released, written or spent."""

import decimal
import io
import math
import os
import random
import sys
from contextlib import suppress
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import utmost as ut
from asking import asked
from utmost.errors import BadTable, UtmostError
from utmost.ledger import Ledger

GOOD = {"row": ["a", "b", "c"], "n": [5, 6, 7], "x": [0.5, 1.5, 2.5]}
CALL = {"table": GOOD, "columns": ["n"], "public": ["row"], "drop": ["x"], "unit": ut.Unit(1, 1), "epsilon": 1}

NO_NUMBERS = [
    None, True, False, "", "one", "1/0", "nan", "inf", math.nan, math.inf, -math.inf, 1j, [], {}, object(), b"1",
]  # fmt: skip
NO_NUMBERS += [decimal.Decimal("NaN"), decimal.Decimal("Infinity"), np.nan, np.datetime64("2026-01-01"), pd.NA, pd.NaT]
NO_LEVELS = [0, -1, "-1/2", Fraction(0), -0.0, *NO_NUMBERS[1:]]
NO_CELLS = [
    None, math.nan, math.inf, -math.inf, True, "five", "", 1.5, 1j, [1], {}, pd.NA, Fraction(1, 2), object(), b"5",
]  # fmt: skip
NO_TABLES = [
    None, 5, "table", [], {}, [[1, 2]], {"n": 5}, {"n": "567"}, {"n": {1, 2}}, {"n": iter([1])}, {1: [1]}, {"m": [1]},
]  # fmt: skip
NO_TABLES += [
    {"n": [1, 2], "row": ["a"]},
    np.arange(3),
    object(),
    {"n": [[1, 2], [3]]},
    {"n": np.ones((2, 2))},
    pl.LazyFrame(GOOD),
]
NO_NAMES = [None, "", 5, b"r", [], True, "a\x00b", "x" * 100_000, " ", "\n", object()]
NO_COLUMNS = [[], "", None, 5, ["m"], ["n", "n"], [5], ["n", None], "m", [""], object()]

ARGUMENTS = {
    "epsilon": NO_LEVELS,
    "sensitivity": [0, -1, *NO_NUMBERS],
    "cells": [0, -1, "3/2", 0.5, *NO_NUMBERS],
    "columns": NO_COLUMNS,
    "neighbours": [None, "", "both", 5, [], "add_remove"],
    "numbers": [None, "", "counts", 5, [], "complex"],
    "grid": [0, -1, math.nan, "x", [], object()],
    "half_step": [None, "yes", 5, []],
    "largest": [0, -1, 1 << 4096, 10**5000, *NO_NUMBERS[1:]],
    "independent": [None, "yes", 5, []],
    "id_column": ["m", "", 5, "n", ["row", "row"], object()],
    "dataset": NO_NAMES[1:],
    "version": [0, -1, 2, 7, "one", 1.5, True, math.nan, [], object(), 10**30],
    "request": NO_NAMES[1:],
    "table": NO_TABLES,
    "name": NO_NAMES,
}
WRITTEN = [(name, value) for name, values in ARGUMENTS.items() for value in values]
CELLS = [(column, place, cell) for column, place, cell in product(["n"], [0, 2], NO_CELLS)]
ASKED = [("epsilon", bad) for bad in NO_LEVELS]
ASKED += [("name", bad) for bad in [*NO_NAMES, "unknown"] if bad != []]
ASKED += [("version", bad) for bad in [0, -1, 2, "one", 1.5, object(), 10**30]]
UNHEARD = [("name", []), ("name", {}), ("version", []), ("version", {}), ("version", True)]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """A ledger with one release; no test may change it."""
    with Ledger.open(tmp_path_factory.mktemp("bad") / "l.db", create=True) as opened:
        opened.publish("r", **asked(**CALL))
        yield opened


@pytest.fixture
def unchanged(ledger):
    """Nothing may have happened by the end of the test."""
    before = ledger.history(), ledger.spent("r"), ledger.levels("r")
    yield ledger
    assert (ledger.history(), ledger.spent("r"), ledger.levels("r")) == before


def refuse(call, *arguments, **options):
    """The call must fail by one of our errors, with a message for people."""
    with pytest.raises(UtmostError) as caught:
        call(*arguments, **options)
    assert len(str(caught.value)) < 2000


def named(cases):
    return [f"{number}-{case[0]}" for number, case in enumerate(cases)]


@pytest.mark.parametrize("case", WRITTEN, ids=named(WRITTEN))
def test_publish(unchanged, case):
    name, value = case
    arguments = {"name": "new", **CALL, "numbers": "reals" if name == "grid" else "integers", name: value}
    release = arguments.pop("name")
    refuse(lambda: unchanged.publish(release, **asked(**arguments)))


@pytest.mark.parametrize("case", CELLS, ids=named(CELLS))
def test_one_bad_cell(unchanged, case):
    """Any kind of table with one cell that is no integer is not released at all, and its place is named."""
    column, place, cell = case
    cells = list(GOOD[column])
    cells[place] = cell
    refuse(lambda: unchanged.publish("new", **asked(**(CALL | {"table": GOOD | {column: cells}}))))
    refuse(unchanged.relax, "r", GOOD | {column: cells}, epsilon=2)


@pytest.mark.parametrize("case", ASKED, ids=named(ASKED))
def test_relax_and_view(unchanged, case):
    name, value = case
    options = {"name": "r", "epsilon": 2, name: value}
    release = options.pop("name")
    refuse(unchanged.relax, release, GOOD, **options)
    refuse(unchanged.view, release, **(options | ({} if name == "epsilon" else {"epsilon": 1})))


@pytest.mark.parametrize("case", UNHEARD, ids=named(UNHEARD))
def test_names_and_versions_that_cannot_be_looked_up(ledger, case):
    name, value = case
    options = {"name": "r", "epsilon": 1, name: value}
    release = options.pop("name")
    refuse(ledger.view, release, **options)
    refuse(ledger.relax, release, GOOD, **options)


@pytest.mark.parametrize("table", NO_TABLES, ids=lambda table: type(table).__name__)
def test_relaxing_what_is_no_table(unchanged, table):
    refuse(unchanged.relax, "r", table, epsilon=2)


def test_there_are_two_hundred_of_them():
    assert len(WRITTEN) + 2 * len(CELLS) + 2 * len(ASKED) >= 300


@pytest.mark.parametrize(
    "table", [{"n": []}, pd.DataFrame({"n": pd.Series([], dtype="int64")})], ids=["dict", "pandas"]
)
def test_empty_tables_are_refused(tmp_path, table):
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        with pytest.raises(BadTable, match="one row"):
            ledger.publish("r", table, ut.Promise(columns=["n"], unit=ut.Unit(1, 1)), epsilon=1)
        assert len(ledger.history()) == 1


def any_value(rng):
    """A value of some kind: mostly wrong, sometimes right."""
    text = "".join(rng.choice("0123456789/.-eE +nafi\x00\uffffé\ud800") for _ in range(rng.randint(0, 8)))
    whole = rng.choice([0, 1, -1, 2**63, -(2**63), 10**30, rng.getrandbits(200)])
    real = rng.choice([rng.uniform(-1e9, 1e9), 5e-324, 1e308, math.nan, math.inf])
    few = [whole, real, text, None, True, Fraction(rng.randint(-9, 9), rng.randint(1, 9)), np.int8(5), np.float32(0.5)]
    few += [[], [text, whole], {"n": whole}, b"bytes", 1j, object(), np.array([1, 2]), {text: [whole]}]
    return rng.choice(few)


def is_huge(value):
    """Whether this may be read as a number beyond 1000, or very near 0."""
    if isinstance(value, str):
        return any(letter in value for letter in "eE") or len(value) > 3
    return isinstance(value, int | float) and not 1e-3 < abs(value) < 1e3


def fuzz(ledger, rng, calls):
    """Calls of all kinds with some arguments at random: an answer or a typed error, and never half of either."""
    refused = 0
    for _ in range(calls):
        events, releases = len(ledger.history()), len(ledger.releases)
        kind = rng.choice(["publish", "relax", "view"])
        arguments = dict(CALL) if kind == "publish" else {"epsilon": 1} | ({"table": GOOD} if kind == "relax" else {})
        arguments["name"] = rng.choice(["r", "s", "t"])
        for _ in range(rng.randint(1, 2)):
            name = rng.choice([*ARGUMENTS] if kind == "publish" else [*arguments, "version"])
            value = any_value(rng)
            # A level in the thousands is a level; to relax to it takes long.
            arguments[name] = 1000 if name == "epsilon" and is_huge(value) else value
        if rng.random() < 0.3 and isinstance(arguments.get("table"), dict):
            cells = list(GOOD["n"])
            cells[rng.randrange(3)] = any_value(rng)
            arguments["table"] = GOOD | {"n": cells}
        name = arguments.pop("name")
        with suppress(UtmostError):
            getattr(ledger, kind)(name, **(asked(**arguments) if kind == "publish" else arguments))
            continue
        refused += 1
        assert (len(ledger.history()), len(ledger.releases)) == (events, releases), (kind, arguments)
    assert ledger.verify()
    return refused


def test_fuzzed_calls(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        assert fuzz(ledger, random.Random(12), 200) > 100


@pytest.mark.parametrize("version", [np.array([1, 2]), np.array([]), [1], {}, "x", 1.5, -1])
@pytest.mark.parametrize("numbers", ["integers", "reals"])
def test_a_version_that_is_none_is_refused_by_name(tmp_path, numbers, version):
    """An array of versions has no truth value: nothing may ask for it before it is read as a number."""
    call = CALL | {"numbers": numbers}
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        ledger.publish("r", **asked(**call))
        events = ledger.history()
        for ask in (
            lambda: ledger.view("r", epsilon=1, version=version).table,
            lambda: ledger.relax("r", GOOD, epsilon=2, version=version).table,
            lambda: ledger.levels("r", version),
            lambda: ledger.publish("r", **asked(**call, version=version)).table,
        ):
            with pytest.raises(UtmostError):
                ask()
        assert ledger.history() == events


@pytest.mark.slow
def test_a_million_fuzzed_calls(tmp_path):
    """UTMOST_CALLS in the environment sets another dose; each ledger takes a thousand, so that it stays small."""
    calls = int(os.environ.get("UTMOST_CALLS", "1000000"))
    refused = 0
    for seed in range(-(-calls // 1000)):
        place = tmp_path / f"{seed}.db"
        with Ledger.open(place, create=True) as ledger:
            refused += fuzz(ledger, random.Random(seed), min(1000, calls))
        for path in tmp_path.glob(f"{seed}.db*"):
            path.unlink()
    print(f"{refused} of {calls} calls were refused, each by a typed error")


LINES = [
    "", "n", "n\n", "n\n1\n2", "n,n\n1,2", "a,b\n1", "n\n1\n\x00", '"n\n1', "n\r\n1\r\n2\r\n", "n\nNaN", "n\n1e400",
    "é\n1",
]  # fmt: skip
WORDS = ["", "0", "-1", "1/0", "nan", "1e999", "one", "½", "--", "-", "\x00", "9" * 5000, "1/3", "log(1/2)", "a b", "é"]


def run_quietly(arguments, monkeypatch):
    """The exit code of a command and all it printed."""
    from running import main

    out, err = io.StringIO(), io.StringIO()
    out.buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    code = 0
    try:
        main(arguments)
    except SystemExit as ended:
        code = ended.code or 0
    return code, out.getvalue() + err.getvalue()


def fuzzed_command(rng):
    """A command of the ledger with a word or two out of place."""
    unit = ["--sensitivity", "1", "--cells", "1", "--columns", "n"]
    base = rng.choice(
        [
            ["release", "t.csv", *unit, "--epsilon", "1", "--ledger", "l.db", "--name", "r"],
            ["release", "good.csv", *unit, "--epsilon", "1", "--ledger", "l.db", "--name", "r", "--dataset", "d"],
            ["relax", "t.csv", "--ledger", "l.db", "--name", "r", "--epsilon", "2"],
            ["relax", "good.csv", "--ledger", "l.db", "--name", "r", "--epsilon", "2", "--dry-run"],
            ["view", "--ledger", "l.db", "--name", "r", "--epsilon", "1/2"],
            ["ledger", "budget", "--ledger", "l.db", "--dataset", "d", "--limit", "5"],
            ["ledger", "history", "--ledger", "l.db"],
            ["ledger", "receipt", "--ledger", "l.db", "--check", "utmost-receipt:"],
            ["ledger", "resume", "--ledger", "l.db", "--reason", "x", "--missing", "d=1"],
        ]
    )
    words = list(base)
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(1, len(words) + 1)
        words[place : place + rng.randint(0, 1)] = [rng.choice(WORDS)]
    return words


def fuzz_commands(monkeypatch, folder, rng, count):
    monkeypatch.chdir(folder)
    (folder / "good.csv").write_text("n\n5\n6\n")
    run_quietly(["release", "good.csv", "--sensitivity", "1", "--cells", "1", "--columns", "n", "--epsilon", "1",
                 "--ledger", "l.db", "--name", "r"], monkeypatch)  # fmt: skip
    for _ in range(count):
        (folder / "t.csv").write_text(rng.choice(LINES))
        words = fuzzed_command(rng)
        code, printed = run_quietly(words, monkeypatch)
        assert code in (0, 1, 2), words
        assert "Traceback" not in printed, words


def test_fuzzed_commands(monkeypatch, tmp_path):
    fuzz_commands(monkeypatch, tmp_path, random.Random(4), 60)
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        assert ledger.verify()


@pytest.mark.slow
def test_many_fuzzed_commands(monkeypatch, tmp_path):
    fuzz_commands(monkeypatch, tmp_path, random.Random(5), 3000)
