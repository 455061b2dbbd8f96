"""`utmost research policy`: the best mechanism where only some secrets are hidden from some others."""

import json

import pytest

ILLNESSES = "from,to,distance\nflu,cold\ncold,measles,2\ncold,rhinitis,0\nnone\n"


@pytest.fixture
def policy(tmp_path):
    def written(text):
        path = tmp_path / "policy.csv"
        path.write_text(text)
        return path

    return written


def test_the_mechanism_keeps_the_policy_and_the_bound(run, policy, tmp_path):
    """Secrets at distance 0 have one row, those without a path are told as they are; loss and bound agree."""
    out = tmp_path / "best.json"
    code, shown, err = run("research", "policy", policy(ILLNESSES), "--epsilon", "alpha=1/2", "--out", out)
    assert (code, err) == (0, "")
    assert "at distance 0" in shown
    found = json.loads(out.read_text())
    assert found["verified"] is True
    assert found["parts"] == [["flu", "cold", "measles", "rhinitis"], ["none"]]
    assert found["loss_exact"] == "31/75"
    assert found["lower_bound"] == pytest.approx(31 / 75)
    assert found["mechanism"][1] == found["mechanism"][3]
    assert found["mechanism"][4] == ["0", "0", "0", "0", "1"]
    assert found["capacities"]["additive"]["value_exact"] == "1"


def test_a_directed_policy_binds_one_way(run, policy):
    """[proofs/theory/policies]: "positive" is hidden among "negative" and not the reverse; the loss is 1/4."""
    code, out, err = run(
        "research", "policy", policy("positive,negative\n"), "--directed", "--epsilon", "alpha=1/2", "--json"
    )
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["loss_exact"], found["capacities"], found["both_ways"]) == ("1/4", {}, False)


def test_priors_and_losses_come_from_files(run, policy, tmp_path):
    prior, loss = tmp_path / "prior.csv", tmp_path / "loss.csv"
    prior.write_text("a,1/2\nb,1/4\nc,1/4\n")
    loss.write_text("0,1\n1,0\n1,0\n")
    code, out, err = run(
        "research", "policy", policy("a,b\nc\n"), "--epsilon", 1, "--prior", prior, "--loss", loss, "--json"
    )
    assert (code, err) == (0, "")
    assert 0 < json.loads(out)["loss"] < 0.25


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("a,b,-1\n", [], "must not be negative"),
        ("a,b,far\n", [], "policy.csv"),
        ("a,b,1,2\n", [], "line 1"),
        ("a,,1\n", [], "empty"),
        ("", [], "must contain secrets"),
        ("a,b\n", ["--loss", "absolute"], "binary, nib or a file"),
        ("a,b\n", ["--prior", "poisson:2"], "uniform"),
    ],
)
def test_what_is_no_policy_is_refused(run, policy, text, options, said):
    code, out, err = run("research", "policy", policy(text), "--epsilon", "alpha=1/2", *options)
    assert code in (1, 2)
    assert out == ""
    assert said in err


@pytest.mark.parametrize("epsilon", ["1/2", "10"])
def test_a_policy_at_a_rational_epsilon_is_checked(run, policy, epsilon):
    """The mechanism is of fractions that keep the promise exactly, and is shown to six digits."""
    code, out, err = run("research", "policy", policy("ann,bob\nbob,cem\n"), "--epsilon", epsilon)
    assert (code, err) == (0, "")
    assert "lower bound for all mechanisms" in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_a_level_above_all_floats_hides_nothing_and_is_no_crash(run, policy):
    code, out, err = run(
        "research", "policy", policy("positive,negative\n"), "--directed", "--epsilon", "1e400", "--json"
    )
    assert (code, err) == (0, "")
    assert json.loads(out)["verified"] is True
