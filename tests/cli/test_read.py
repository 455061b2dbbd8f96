"""`utmost read`: answers, intervals and losses for one response and for files of them, and every refusal."""

import csv
import io
import json
import re

import pytest

import utmost as ut
from running import changed, with_recipe

HALF = ["--epsilon", "alpha=1/2"]


def reading(prior, loss, z, **at):
    return ut.optima.read(ut.level(**at), ut.Consumer(prior, loss), z)


def test_responses_outside_the_range_fold_to_its_ends(run):
    asked = ["--n", 9, *HALF, "--prior", "binomial:1/3", "--json"]
    folded = [json.loads(run("read", "--response", z, *asked)[1]) for z in (-30, 0, 9, 39)]
    for far, end in ((folded[0], folded[1]), (folded[3], folded[2])):
        assert far["believed_after"] == end["believed_after"]
    code, out, err = run("read", "--response", 10, *asked, "--clamped")
    assert (code, out) == (2, "")
    assert "must lie in 0..9 with --clamped; got 10" in err
    for far in (-50, 10**6, 10**30):
        code, out, err = run("read", "--response", far, *asked)
        assert (code, out, "Give a larger n" in err) == (2, "", True)


def test_a_prior_file_may_name_its_counts_and_hold_weights(run, file):
    named = file("count,probability\n3,1/4\n0,3/4\n")
    weights = file("9\n0\n0\n3\n", "weights.csv")
    for prior in (named, f"weights:{weights}"):
        _, out, _ = run("read", "--response", 1, "--n", 3, *HALF, "--prior", prior, "--json")
        assert json.loads(out)["believed_before"] == [0.75, 0, 0, 0.25]
    code, _, err = run("read", "--response", 1, "--n", 2, *HALF, "--prior", named)
    assert (code, "must name secrets in 0..2; got another" in err) == (1, True)


def test_a_loss_file_may_have_its_own_answers(run, file):
    loss = file("none,few,many\n0,1,2\n1,0,1\n2,1/2,0\n", "loss.csv")
    _, out, _ = run("read", "--response", 1, "--n", 2, *HALF, "--prior", "uniform", "--loss", loss, "--json")
    matrix = [[0, 1, 2], [1, 0, 1], [2, "1/2", 0]]
    assert json.loads(out)["expected_loss_exact"] == str(reading(ut.priors.uniform(3), matrix, 1, alpha="1/2").loss)


def test_a_file_of_releases_gains_four_columns(run, file, tmp_path):
    source = file('sex,admitted,note\nmen,4,a\nwomen,-3,"b,c"\nboth,40,\n', "released.csv")
    asked = ["read", source, "--column", "admitted", "--n", 9, "--prior", "uniform", *HALF]
    code, out, err = run(*asked)
    assert (code, err) == (0, "")
    found = list(csv.DictReader(io.StringIO(out)))
    assert list(found[0]) == ["sex", "admitted", "answer", "low", "high", "expected_loss", "note"]
    for row in found:
        expected = reading(ut.priors.uniform(10), ut.losses.absolute, int(row["admitted"]), alpha="1/2")
        assert [int(row[name]) for name in ("answer", "low", "high")] == [expected.action, *expected.interval]
        assert float(row["expected_loss"]) == float(expected.loss)
    assert found[1]["note"] == "b,c"
    target = tmp_path / "answers.csv"
    assert run(*asked, "--out", target)[0] == 0
    assert target.read_text() == out
    assert json.loads(run(*asked, "--json")[1])["low"] == [int(row["low"]) for row in found]
    code, _, err = run(*asked, "--clamped")
    assert (code, "row 2 (line 3), column 'admitted'" in err) == (1, True)


def test_each_row_may_have_its_own_largest_count(run, file):
    source = file("admitted,applicants\n4,10\n4,4\n", "released.csv")
    _, out, _ = run("read", source, "--column", "admitted", "--n", "applicants", "--prior", "uniform", *HALF)
    found = list(csv.DictReader(io.StringIO(out)))
    for row, n in zip(found, (10, 4), strict=True):
        assert float(row["expected_loss"]) == float(
            reading(ut.priors.uniform(n + 1), ut.losses.absolute, 4, alpha="1/2").loss
        )


def test_the_level_comes_from_the_statement_beside_a_release(run, file, tmp_path):
    """Two cells at epsilon = 2 in all: each is read at epsilon = 1."""
    source, out = file("admitted\n4\n9\n", "counts.csv"), tmp_path / "released.csv"
    promise = ["--columns", "admitted", "--epsilon", "2", "--sensitivity", 1, "--cells", 2]
    assert run("release", source, *promise, "--out", out)[0] == 0
    asked = ["--column", "admitted", "--n", 9, "--prior", "uniform"]
    by_statement = run("read", out, *asked)
    code, _, err = run("read", out, *asked, "--epsilon", 2)
    assert (code, "Leave out --epsilon." in err) == (2, True)
    alone = tmp_path / "alone.csv"
    alone.write_bytes(out.read_bytes())
    assert by_statement == run("read", alone, *asked, "--epsilon", 1)
    one = ["read", "--response", 4, "--n", 9, "--prior", "uniform", "--json"]
    assert run(*one, "--statement", f"{out}.json") == run(*one, "--epsilon", 1)
    code, _, err = run(*one, "--statement", f"{out}.json", *HALF)
    assert (code, "one of --epsilon and --statement" in err) == (2, True)
    irrational = ["--columns", "admitted", "--epsilon", "1", "--sensitivity", 1, "--cells", 2]
    assert run("release", source, *irrational, "--out", tmp_path / "e.csv")[0] == 0
    assert run(*one, "--statement", tmp_path / "e.csv.json") == run(*one, "--epsilon", "1/2")


def test_a_staircase_release_is_read_by_its_statement(run, file, tmp_path):
    """Responses far outside 0..n among them; each row is what the library reads."""
    source, out = file("admitted\n" + "4\n0\n9\n" * 20, "counts.csv"), tmp_path / "released.csv"
    promise = ["--columns", "admitted", "--epsilon", 1, "--sensitivity", 3, "--cells", 1, "--out", out]
    assert run("release", source, *promise)[0] == 0
    asked = ["--n", 9, "--prior", "uniform", "--json"]
    code, found, _ = run("read", out, "--column", "admitted", *asked)
    assert code == 0
    rows = json.loads(found)
    responses = list(map(int, rows["admitted"]))
    distribution, consumer = (
        ut.noise.DiscreteStaircase(epsilon=1, sensitivity=3),
        ut.Consumer(ut.priors.uniform(10), ut.losses.absolute),
    )
    for z, answer, loss in zip(responses, rows["answer"], rows["expected_loss"], strict=True):
        expected = ut.optima.read(distribution, consumer, z)
        assert (answer, loss) == (expected.action, float(expected.loss))
    assert {True, False} == {0 <= z <= 9 for z in responses}
    code, found, _ = run("read", "--response", 4, "--statement", f"{out}.json", *asked)
    assert json.loads(found)["expected_loss"] == float(ut.optima.read(distribution, consumer, 4).loss)
    code, _, err = run("read", "--response", 4, "--statement", f"{out}.json", "--clamped", *asked)
    assert (code, "--clamped only works with geometric noise" in err) == (2, True)


def test_noise_on_the_reals_is_not_read(run, file, tmp_path):
    source, out = file("x\n4.5\n", "sums.csv"), tmp_path / "released.csv"
    promise = ["--columns", "x", "--epsilon", 1, "--sensitivity", 3, "--cells", 1, "--numbers", "reals", "--out", out]
    assert run(*with_recipe("release", source, *promise))[0] == 0
    code, _, err = run("read", "--response", 4, "--statement", f"{out}.json", "--n", 9, "--prior", "uniform")
    assert (code, "discrete staircases can be read; got Staircase" in err) == (2, True)


def test_the_picture_is_always_the_same_bytes(run, tmp_path):
    drawn = []
    for name in ("a.svg", "b.svg"):
        asked = ["--response", 4, "--n", 9, "--prior", "uniform", *HALF, "--plot", tmp_path / name]
        assert run("read", *asked)[0] == 0
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0] == drawn[1]
    assert drawn[0].startswith(b"<?xml")


BAD = {
    "a prior above 1": ("1/2\n3/5\n", "absolute", "csv: the prior must sum to 1; got a sum above 1"),
    "a prior below 1": ("0.5\n0.4\n", "absolute", r"got a sum below 1.*weights:FILE"),
    "a negative probability": ("3/2\n-1/2\n", "absolute", r"entry \[1\] of the prior must not be negative"),
    "three probabilities": ("1/2\n1/4\n1/4\n", "absolute", "must have 2 probabilities, one for each secret; got 3"),
    "three columns": ("1,2,3\n4,5,6\n", "absolute", "one column, or two"),
    "no probability": ("", "absolute", "must contain numbers; got none"),
    "text": ("1/2\nhalf\n", "absolute", r"table.csv, line 2, column 1: every cell must be a finite number; got text"),
    "a count twice": ("0,1/2\n0,1/2\n", "absolute", "csv, row 2: each secret must be named once; got one secret twice"),
    "a ragged file": ("0,1/2\n1\n", "absolute", "got a row of 1 cells after rows of 2"),
    "a negative loss": ("1/2\n1/2\n", "0,-1\n1,0\n", r"the loss of action 1 for secret 0 must not be negative"),
    "a loss with names": ("1/2\n1/2\n", "count,0,1\n0,0,1\n1,1,0\n", "line 1, column 1.*Leave out the names of rows"),
    "a short loss": ("1/2\n1/2\n", "0,1\n", "loss.csv: the loss must have 2 rows, one for each secret"),
}  # fmt: skip


@pytest.mark.parametrize(("prior", "loss", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_one_message(run, file, prior, loss, message):
    loss = file(loss, "loss.csv") if "," in loss else loss
    code, out, err = run("read", "--response", 1, "--n", 1, *HALF, "--prior", file(prior), "--loss", loss)
    assert (code, out) == (1, "")
    assert re.search(message, err), err
    assert len(err.splitlines()) == 1


ASKED = ["--response", "1", "--n", "1", *HALF, "--prior", "uniform"]
MISUSE = {
    "nothing to read": (ASKED[2:], "exactly one of --response and FILE"),
    "half a person": (["--response", "1.5", *ASKED[2:]], "--response must be an integer"),
    "an unknown prior": (changed(ASKED, "--prior", "gaussian"), "a prior by name must be"),
    "an unknown loss": ([*ASKED, "--loss", "cubic"], "a loss by name must be"),
    "a negative power": ([*ASKED, "--loss", "power:-1"], "power must be positive"),
    "no n": (ASKED[:2] + ASKED[4:], "needs --n, the largest possible count"),
    "an n that is a word": (changed(ASKED, "--n", "many"), "n must be a finite number"),
    "no confidence": ([*ASKED, "--confidence", "1"], "confidence must lie strictly between"),
    "a column of nothing": ([*ASKED, "--column", "x"], "FILE and --column"),
}


@pytest.mark.parametrize(("arguments", "message"), MISUSE.values(), ids=MISUSE)
def test_misuse_ends_with_code_2(run, arguments, message):
    code, out, err = run("read", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


BAD_TABLES = {
    "no such column": ("released\n4\n", "9", "there is no column 'admitted'"),
    "a missing cell": ("admitted,x\n4,1\n,2\n", "9", r"row 2 \(line 3\), column 'admitted'"),
    "a taken name": ("admitted,low\n4,1\n", "9", "must have no column 'low'"),
    "no column of n": ("admitted\n4\n", "applicants", "there is no column 'applicants'"),
}


@pytest.mark.parametrize(("text", "n", "message"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_a_bad_table_is_refused_with_its_place(run, file, text, n, message):
    source = file(text, "released.csv")
    code, out, err = run("read", source, "--column", "admitted", "--n", n, *HALF, "--prior", "uniform")
    assert (code, out) == (1, "")
    assert re.search(message, err), err


def test_a_prior_that_is_not_there_is_one_message(run):
    code, _, err = run("read", "--response", 1, *HALF, "--prior", "nowhere.csv")
    assert (code, len(err.splitlines())) == (1, 1)


def test_a_statement_without_a_level_is_refused(run, file):
    for text in ("{}", '{"kind": "utmost statement", "distribution": "Geometric"}'):
        code, _, err = run("read", "--response", 1, "--n", 1, "--prior", "uniform", "--statement", file(text, "s.json"))
        assert (code, len(err.splitlines())) == (1, 1)
