"""`utmost research universal`: verdicts with their numbers, and proofs written, read back and checked again."""

import json
import re

import pytest

import utmost as ut

HALF = ["--epsilon", "alpha=1/2"]


CASES = {
    "discrete 3, binary": (["--space", "discrete:3", "--loss", "binary", *HALF], False, "1/24"),
    "line of 3, absolute": (["--space", "line:3", "--loss", "absolute", *HALF], True, "0"),
    "one secret": (["--space", "line:1", "--loss", "binary", *HALF], True, "0"),
    "a judged one": (["--space", "line:3", "--loss", "squared", "--mechanism", "geometric", *HALF], True, "0"),
    "one that fails": (
        ["--space", "discrete:3", "--loss", "binary", "--mechanism", "randomized-response", *HALF],
        False,
        None,
    ),
}


@pytest.mark.parametrize(("asked", "verdict", "regret"), CASES.values(), ids=CASES)
def test_a_verdict_is_written_and_proves_itself_again(run, tmp_path, asked, verdict, regret):
    out = tmp_path / "verdict.json"
    code, shown, err = run("research", "universal", *asked, "--out", out)
    assert (code, err) == (0, "")
    assert re.search(r"checked\s+yes", shown)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert (found["verdict"], found["regret"]) == (verdict, regret)
    code, shown, err = run("research", "universal", "--check", out)
    assert (code, err) == (0, "")
    assert (re.search("verdict +(one|this) mechanism is the best", shown) is not None) == verdict
    checked = json.loads(run("research", "universal", "--check", out, "--json")[1])
    assert checked["verdict"] is verdict
    if asked == next(iter(CASES.values()))[0]:
        printed = json.loads(run("research", "universal", *asked, "--json")[1])
        assert (printed["verified"], printed["regret"]) == (True, regret)


def test_priors_that_differ_are_shown_differently(run):
    """At epsilon 1e-6 both priors were 0.25 everywhere."""
    shown = run("research", "universal", "--space", "cycle:4", "--epsilon", "1e-6", "--loss", "nib")[1]
    assert "0.249999875" in shown
    assert "0.250000125" in shown


def test_the_help_names_losses_that_are_taken(run):
    """Universality is decided in exact numbers: the help offered power:1.5, which is refused."""
    (offered,) = re.findall(
        r"Loss: ([^.]*?)\s+or\s+losses", " ".join(run("research", "universal", "--help")[1].split())
    )
    for loss in re.sub(r" \([^)]*\)", "", offered).split(", "):
        assert run("research", "universal", "--space", "line:3", *HALF, "--loss", loss)[0] == 0, loss
    refused = run("research", "universal", "--space", "line:3", *HALF, "--loss", "power:1.5")[2]
    assert "power:3" in refused


def test_irrational_numbers_are_written_exactly_and_read_back(run, tmp_path):
    """At epsilon 1 the numbers are polynomials in e^-1: a file with another coefficient proves nothing."""
    out = tmp_path / "verdict.json"
    code, shown, err = run(
        "research", "universal", "--space", "discrete:3", "--loss", "binary", "--epsilon", 1, "--out", out
    )
    assert (code, err) == (0, "")
    assert re.search(r"least regret\s+0.0489709 ", shown)
    assert run("research", "universal", "--check", out)[0] == 0
    forged = json.loads(out.read_text())
    forged["regret"][0][0][0] = "-2"
    out.write_text(json.dumps(forged))
    code, _, err = run("research", "universal", "--check", out)
    assert code != 0
    assert err.startswith("utmost: ")


def test_a_mechanism_and_a_loss_from_files(run, tmp_path):
    """The geometric mechanism as decimals and fractions; a loss with a row for each secret."""
    matrix, loss = tmp_path / "m.csv", tmp_path / "l.csv"
    matrix.write_text("2/3,1/6,1/6\n1/3,1/3,1/3\n1/6,1/6,2/3\n")
    loss.write_text("a,b\n0,1\n1/2,1/2\n1,0\n")
    code, out, err = run("research", "universal", *HALF, "--space", "line:3", "--loss", loss, "--mechanism", matrix)
    assert (code, err) == (0, "")
    assert "this mechanism is the best for every prior" in out
    assert ut.PrivacyType(ut.spaces.counts(2), alpha="1/2").contains(ut.channels.geometric_channel(3, alpha="1/2"))


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (["--space", "line:3", *HALF, "--loss", "zero"], 2, "must be one of"),
        (["--space", "line:3", *HALF, "--mechanism", "laplace"], 2, "geometric, randomized-response"),
        (["--space", "line:3", "--epsilon", "alpha=2/3", "--mechanism", "randomized-response"], 0, ""),
        (["--space", "discrete:3", *HALF, "--mechanism", "geometric"], 1, "must hold"),
    ],
)
def test_misuse(run, asked, code, said):
    ended, _, err = run("research", "universal", *asked)
    assert ended == code
    assert said in err
