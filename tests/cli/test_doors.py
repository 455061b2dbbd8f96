"""Commands for what only Python had: minimax, databases, losslessness, trust, capacities by a measure, tabled costs."""

import json
import stat
from fractions import Fraction

import pytest

from running import with_recipe
from utmost import losses
from utmost.capacities import capacity
from utmost.leakage import shannon_entropy
from utmost.noise import optimal_noise
from utmost.optima import minimax_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import counts

HALF, NETWORK = ["--epsilon", "alpha=1/2"], "a,b\nb,c\n"


def told(run, *arguments):
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_minimax_is_what_the_library_finds_and_its_file_can_be_drawn_from(run, tmp_path):
    found = minimax_mechanism(PrivacyType(counts(5), alpha="1/2"), losses.absolute, range(2, 6))
    report = told(run, "research", "minimax", "--space", "counts:5", "--possible", "2..5", *HALF)
    assert Fraction(report["worst_loss_exact"]) == found.loss
    assert (report["verified"], report["by_remap"], report["possible"]) == (True, True, ["2", "3", "4", "5"])
    assert sum(Fraction(one["probability"]) for one in report["worst_prior"]) == 1
    out = tmp_path / "best.json"
    code, shown, err = run("research", "minimax", "--space", "counts:5", *HALF, "--out", out)
    assert (code, err) == (0, "")
    assert "212/231" in shown
    assert "checked yes" in " ".join(shown.split())
    assert run("respond", out, "--secret", 3, "--space", "counts:5")[0] == 0


def test_a_possible_secret_is_a_name_or_a_number(run, file):
    space = f"graph:{file(NETWORK)}"
    asked = ["research", "minimax", "--space", space, "--loss", "binary", *HALF, "--possible"]
    assert told(run, *asked, "a,c")["possible"] == ["a", "c"]
    for wrong in ("d", "1..7", "1/2"):
        code, _, err = run(*asked, wrong)
        assert (code, "--possible must list names of secrets, or numbers in 0..2" in err) == (2, True)


def test_proposition_6_2_and_theorem_6_3_hold_on_small_databases(run):
    """Looking at the database gains nothing against the worst one; of two priors over databases one mechanism fails."""
    report = told(run, "research", "databases", "--values", 3, "--rows", 2, "--satisfying", "0,2", *HALF)
    assert report["databases"] == 9
    assert report["oblivious_loss_exact"] == report["any_loss_exact"] == report["averaged_loss_exact"]
    assert "holds: " in run("research", "databases", *HALF)[1]
    conflict = told(run, "research", "databases", "--conflict", *HALF)
    assert (conflict["conflict"], conflict["regret_exact"], conflict["verified"]) == (True, "269/3000", True)
    assert told(run, "research", "databases", "--conflict", "--tilt", "1/8", *HALF)["conflict"] is False
    assert "must be rational" in run("research", "databases", "--epsilon", 1)[2]
    assert run("research", "databases", "--tilt", "1/8", *HALF)[0] == 2


UNUSED = {
    "databases --values": ["databases", *HALF, "--conflict", "--values", 3],
    "databases --rows": ["databases", *HALF, "--conflict", "--rows", 2],
    "databases --prior": ["databases", *HALF, "--conflict", "--prior", "binomial:0.3"],
    "databases --loss": ["databases", *HALF, "--conflict", "--loss", "binary"],
    "databases --satisfying": ["databases", *HALF, "--conflict", "--satisfying", "0"],
    "kernels --seed": ["kernels", *HALF, "--space", "line:3", "--seed", 1],
    "kernels --size": ["kernels", *HALF, "--space", "line:3", "--size", 2],
    "vertices --heights": ["vertices", "--space", "line:3", "--count", "--heights"],
    "lossless --cost": ["lossless", 1, 2, "--distribution", "laplace", "--cost", "squared"],
    "lossless --distribution": ["lossless", "distribution.csv", "other.csv", "--distribution", "laplace"],
    "universal --loss": ["universal", "--check", "distribution.csv", "--loss", "binary"],
    "capacity --space": ["capacity", "--check", "distribution.csv", "--space", "line:3"],
    "capacity --gain": ["capacity", "--check", "distribution.csv", "--gain", "distribution.csv"],
}


@pytest.mark.parametrize("which", UNUSED)
def test_an_option_without_an_effect_is_refused_by_its_name(run, file, which):
    written = {name: file("0,1\n", name) for name in ("distribution.csv", "other.csv")}
    code, out, err = run("research", *(written.get(word, word) for word in UNUSED[which]))
    assert (code, out) == (2, "")
    option = which.split()[1]
    assert f"{option} has no effect" in err
    assert f"Leave out {option}." in err


def test_losslessness_is_decided_with_its_reason(run, file):
    def decided(*asked):
        return told(run, "research", "lossless", *asked)

    assert decided("alpha=1/2", "alpha=1/4")["difference"][4] == {"at": "0", "probability": "13/27"}
    listed = decided(1, 2, "--sensitivity", 3)["difference"]
    assert sum(float(point["probability"]) for point in listed) == pytest.approx(1, abs=1e-9)
    assert (listed[-1]["at"], float(listed[-1]["probability"]) > 0.1) == ("else", True)
    report = decided(1, "3/2", "--sensitivity", 3)
    assert (report["lossless"], report["obstacle"]) == (False, "NegativeMass")
    assert ("epsilon=1," in report["lower"], "3/2" in report["higher"]) == (True, True)
    assert "at 2" in report["because"]
    assert decided(1, 2, "--numbers", "reals")["obstacle"] == "UnmatchedZero"
    laplace = decided(1, 2, "--numbers", "reals", "--distribution", "laplace")["difference"]
    assert laplace[0]["probability"] == "1/4"
    assert decided(1, 2, "--distribution", "half-step", "--sensitivity", 5)["lossless"] is True
    coin, still = file("-1,1/2\n1,1/2\n", "coin.csv"), file("0,1\n", "still.csv")
    report = decided(coin, still)
    assert (report["lossless"], [point["at"] for point in report["difference"]]) == (True, ["-1", "1"])
    assert decided(still, coin)["lossless"] is False
    named = decided(1, 2, "--distribution", "DiscreteStaircase(step=1)", "--sensitivity", 3)
    assert (named["lossless"], named["lower"]) == (True, "DiscreteStaircase(epsilon=1, sensitivity=3, step=1)")
    for more in ([], ["--numbers", "reals"]):
        assert run("research", "lossless", 1, 2, "--distribution", "gaussian", *more)[0] == 2
    code, _, err = run("research", "lossless", "3/2", 1, "--sensitivity", 3)
    assert (code, "Give the lower epsilon first" in err) == (2, True)


def test_trust_gives_levels_by_distance_and_writes_views_for_the_owner_alone(run, file, tmp_path):
    network = file("ann,bo\nbo,cy\nx,y\n")
    report = told(run, "trust", network, "--owner", "ann", *HALF)
    assert [(one["name"], one["distance"]) for one in report["recipients"]] == [("bo", 1), ("cy", 2)]
    assert report["unreached"] == ["x", "y"]
    assert report["coalitions"]["checked"]
    listed = told(run, "trust", network, "--owner", "ann", "--at", "1=ln2", "--at", "2=1/4")
    assert run("trust", network, "--owner", "ann", "--at", "²=ln2")[0] == 2
    assert [one["epsilon"] for one in listed["recipients"]] == ["-log(1/2)", "1/4"]
    secret, out = file("198419841984\n", "secret"), tmp_path / "views.json"
    asked = ["trust", network, "--owner", "ann", *HALF, "--value", secret, "--sensitivity", 1]
    code, shown, err = run(*asked, "--out", out)
    assert (code, err) == (0, "")
    assert "19841984" not in shown
    assert set(json.loads(out.read_text())["views"]) == {"bo", "cy"}
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_trust_refuses_what_would_say_nothing(run, file):
    network = file("1,2\n2,3\n")
    for wrong in (
        ["--owner", 9, *HALF],
        ["--owner", 1, "--at", "2=1"],
        ["--owner", 1, "--at", "1=1/2", "--at", "2=1"],
        ["--owner", 1, "--at", "1=1", *HALF],
        ["--owner", 1, *HALF, "--sensitivity", 1],
        ["--owner", 1, *HALF, "--value", network, "--sensitivity", 1, "--out", "x.csv"],
    ):
        code, out, err = run("trust", network, *wrong)
        assert (code in (1, 2), out, err.count("\n")) == (True, "", 1), wrong


def test_the_capacity_by_a_measure_is_that_of_the_library(run, tmp_path):
    ptype = PrivacyType(counts(3), alpha="1/2")
    out = tmp_path / "worst.json"
    report = told(run, "research", "capacity", "--space", "counts:3", *HALF, "--measure", "shannon", "--out", out)
    assert report["value"] == float(capacity(ptype, shannon_entropy, "additive").value)
    assert report["verified"] is True
    leaked = told(run, "research", "leakage", out, "--measure", "shannon")["channels"]["worst"]["additive_leakage"]
    assert leaked["value"] == pytest.approx(report["value"], abs=1e-12)
    assert told(run, "research", "capacity", "--space", "line:3", *HALF, "--measure", "bayes")["value_exact"] == "2/9"
    for wrong in (["--multiplicative", "--measure", "bayes"], ["--measure", "bayes", "--loss", "binary"]):
        assert run("research", "capacity", "--space", "line:3", *HALF, *wrong)[0] == 2


def test_a_cost_may_be_a_table(run, file):
    """The least noise for a capped cost is the one that the library finds for the same function."""
    table = file("size,cost\n0,0\n1,1\n6,6\n")
    report = told(run, "noise", "--epsilon", 1, "--sensitivity", 5, "--cost", table)
    distribution = optimal_noise(1, 5, lambda x: min(abs(x), 6))
    assert report["cost"] == "table:0=0,1=1,6=6"
    assert report["parameters"]["step"] == distribution.step
    assert report["expected_cost"] == pytest.approx(float(distribution.expected_cost(lambda x: min(abs(x), 6))))
    assert "epsilon" in told(run, "epsilon-for", "--margin", 10, "--sensitivity", 5, "--cost", table)
    for wrong in ("1,1\n2,2\n", "0,0\n1,-1\n", "0,0\n2,2\n1,3\n3,1\n", "0\n1\n", "0,0\n0,1\n"):
        code, _, err = run("noise", "--epsilon", 1, "--sensitivity", 5, "--cost", file(wrong, "wrong.csv"))
        assert (code in (1, 2), err.count("\n")) == (True, 1), wrong


def test_a_release_at_a_tabled_cost_can_be_verified_from_its_statement(run, file, tmp_path):
    table, cost, out = file("n\n5\n7\n"), file("0,0\n1,1\n3,2\n", "cost.csv"), tmp_path / "out.csv"
    promise = ["--columns", "n", "--epsilon", 1, "--sensitivity", 3, "--cells", 1, "--cost", cost, "--out", out]
    assert run(*with_recipe("release", table, *promise))[0] == 0
    assert json.loads((tmp_path / "out.csv.json").read_text())["promise"]["noise"]["cost"] == "table:0=0,1=1,3=2"
    assert run("verify", out)[0] == 0
