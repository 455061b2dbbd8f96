"""`utmost research leakage`: what it reads, what it says, and that its numbers are those of the library."""

import json
import re

import pytest

import utmost as ut
from utmost.leakage import guessing_entropy, shannon_entropy

GEOMETRIC = "secret,low,middle,high\na,2/3,1/6,1/6\nb,1/3,1/3,1/3\nc,1/6,1/6,2/3\n"
RESPONSE = "1/2,1/4,1/4\n1/4,1/2,1/4\n1/4,1/4,1/2\n"


@pytest.fixture
def geometric(file):
    return file(GEOMETRIC, "geometric.csv")


@pytest.fixture
def response(file):
    return file(RESPONSE, "response.csv")


def of(run, *arguments):
    code, out, err = run("research", "leakage", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)["channels"]


def test_json_holds_the_hyper_and_the_strategy(run, geometric):
    report = of(run, geometric)["geometric"]
    assert [part["weight"]["exact"] for part in report["hyper"]] == ["7/18", "2/9", "7/18"]
    assert [p["exact"] for p in report["hyper"][0]["posterior"]] == ["4/7", "2/7", "1/7"]
    assert report["strategy"][1] == {"outcome": "middle", "action": "b", "tie": False}
    assert report["exact"]
    assert report["posterior"] == {"value": 5 / 9, "exact": "5/9"}


C = ut.channels.geometric_channel(3, alpha="1/2")
UNIFORM = ut.priors.uniform(3)
MEASURED = {
    ("--measure", "bayes"): ut.leakage.bayes_vulnerability.posterior(C, UNIFORM),
    ("--measure", "Bayes-Risk"): ut.leakage.bayes_risk.posterior(C, UNIFORM),
    ("--measure", "shannon"): shannon_entropy.posterior(C, UNIFORM),
    ("--measure", "guessing"): guessing_entropy.posterior(C, UNIFORM),
    ("--measure", "property:x,x,y"): ut.leakage.property_vulnerability("xxy").posterior(C, UNIFORM),
    ("--loss", "squared"): ut.leakage.l_uncertainty(ut.losses.squared).posterior(C, UNIFORM),
    ("--loss", "asymmetric:1,3"): ut.leakage.l_uncertainty(ut.losses.asymmetric(1, 3)).posterior(C, UNIFORM),
}


@pytest.mark.parametrize("options", MEASURED, ids=" ".join)
def test_every_measure_is_that_of_the_library(run, geometric, options):
    report = of(run, geometric, *options)["geometric"]
    assert report["posterior"]["value"] == pytest.approx(float(MEASURED[options]), rel=1e-15)


def test_gains_losses_and_priors_from_files(run, geometric, file):
    gain, loss = file("1,-1\n0,0\n-1,1\n", "gain.csv"), file("0,1\n1,0\n1,1\n", "loss.csv")
    prior = file("1/2\n1/4\n1/4\n", "prior.csv")
    belief = ["1/2", "1/4", "1/4"]
    report = of(run, geometric, "--gain", gain, "--prior", prior)["geometric"]
    assert report["posterior"]["exact"] == str(
        ut.leakage.g_vulnerability([[1, -1], [0, 0], [-1, 1]]).posterior(C, belief)
    )
    assert report["multiplicative_leakage"] is None
    assert report["strategy"][2]["action"] == "1"
    report = of(run, geometric, "--loss", loss, "--prior", prior)["geometric"]
    assert report["posterior"]["exact"] == str(ut.leakage.l_uncertainty([[0, 1], [1, 0], [1, 1]]).posterior(C, belief))
    assert "not defined: some gains are negative" in run("research", "leakage", geometric, "--gain", gain)[1]


def test_several_channels_stand_side_by_side(run, geometric, response, file):
    code, out, _ = run("research", "leakage", geometric, response, "--space", "line:3")
    assert code == 0
    assert re.search(r"multiplicative capacity, this measure\s+1\.66667 = 5/3\s+1\.5 = 3/2", out)
    assert "response leaks least by this measure and prior" in out
    assert "All channels leak the same amount" in run("research", "leakage", geometric, file(GEOMETRIC, "again.csv"))[1]
    assert set(of(run, geometric, response)) == {"geometric", "response"}


@pytest.mark.parametrize(
    "options", [("--measure", "bayes-risk"), ("--loss", "absolute"), ("--measure", "shannon"), ("--gain", "gain.csv")]
)
def test_no_leakage_exceeds_the_capacity_of_its_measure(run, file, options):
    """Theorem 4 bounds gains that are not negative: a loss leaks 11/2 where that bound is 20/11."""
    channel = file("10/11,1/11\n1/11,10/11\n", "s.csv")
    chosen = [file("1,-1\n0,2\n", name) if name.endswith(".csv") else name for name in options]
    report = of(run, channel, *chosen)["s"]
    for kind in ("multiplicative", "additive"):
        leak, most = report[f"{kind}_leakage"], report[f"{kind}_capacity"]
        if leak is not None and most is not None:
            assert leak["value"] <= most["value"] * (1 + 1e-8)
    assert report["additive_capacity"] is not None
    assert report["multiplicative_capacity_any_gain"]["exact"] == "20/11"
    assert report["max_case_capacity"]["exact"] == "10"
    out = run("research", "leakage", channel, *chosen)[1]
    assert "this measure" in out
    assert "whatever the prior and the gain" not in out


def test_a_capacity_that_would_take_minutes_is_not_computed(run, file):
    row = ",".join(["1/9"] * 9)
    many = file(f"{row}\n" * 9, "many.csv")
    assert of(run, many, "--loss", "absolute")["many"]["additive_capacity"] is None
    assert re.search(
        r"additive capacity, this measure\s+not computed", run("research", "leakage", many, "--loss", "squared")[1]
    )


def test_a_guess_of_a_property_is_told_by_its_name(run, geometric):
    report = of(run, geometric, "--measure", "property:small,small,large")["geometric"]
    assert [each["action"] for each in report["strategy"]] == ["small", "small", "large"]


def test_rounded_decimals_are_read_and_nothing_is_claimed_exact(run, file):
    report = of(run, file("0.3333333333,0.6666666667\n0.5,0.4999999999\n", "rounded.csv"))["rounded"]
    assert not report["exact"]
    assert report["posterior"]["exact"] is None


def test_uncertainty_that_vanishes(run, file):
    reported = file("1,0\n0,1\n", "reported.csv")
    report = of(run, reported, "--measure", "bayes-risk", "--space", "discrete:2")["reported"]
    assert report["multiplicative_leakage"] == {"value": None, "exact": "infinity"}
    assert report["smallest_epsilon"]["value"] is None
    assert "infinity" in run("research", "leakage", reported, "--measure", "bayes-risk", "--space", "discrete:2")[1]


def test_hypers_are_drawn(run, geometric, response, tmp_path):
    path = tmp_path / "hypers.svg"
    code, out, err = run("research", "leakage", geometric, response, "--space", "line:3", "--plot", path)
    assert (code, err) == (0, "")
    assert path.stat().st_size > 5000
    assert "drawn" in out


def test_many_outcomes_are_cut_on_the_screen_only(run, file):
    row = ",".join(["1/30"] * 30)
    wide = file(f"{row}\n{row}\n", "wide.csv")
    assert "and 6 more outcomes" in run("research", "leakage", wide)[1]
    assert len(of(run, wide)["wide"]["strategy"]) == 30


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--measure", "entropy"], 2, "a measure must be one of bayes, bayes-risk"),
        (["--measure", "bayes", "--loss", "binary"], 2, "one of --measure, --gain and --loss"),
        (["--prior", "zipf"], 2, "a prior by name"),
        (["--space", "line:4"], 2, "--space must have 3 secrets"),
        (["--measure", "property:a,b"], 1, "must have 3 rows"),
        (["--loss", "nothing"], 2, "a loss by name"),
        (["--plot", "x.gif"], 2, "must end in .svg"),
        (["--prior", "missing.csv"], 1, "missing.csv"),
    ],
)
def test_what_makes_no_sense_is_refused(run, geometric, options, code, says):
    found, out, err = run("research", "leakage", geometric, *options)
    assert found == code
    assert says in err
    assert out == ""


def test_channels_that_do_not_fit_are_refused(run, geometric, file, tmp_path):
    two = file("1,0\n0,1\n", "two.csv")
    code, _, err = run("research", "leakage", geometric, two)
    assert code == 2
    assert "geometric has 3, two has 2" in err
    assert "three secrets" in run("research", "leakage", two, "--plot", tmp_path / "x.svg")[2]
    assert not (tmp_path / "x.svg").exists()
    assert "sum to 1" in run("research", "leakage", file("1/2,1/4\n", "bad.csv"))[2]
    bad = file("-1,0\n0,1\n0,0\n", "bad_loss.csv")
    assert "bad_loss.csv: the loss of action 0" in run("research", "leakage", geometric, "--loss", bad)[2]


@pytest.mark.parametrize("measure", ["bayes", "guessing"])
def test_outcomes_that_never_come_have_no_guess(run, tmp_path, measure):
    """A column of zeros, and one of secrets that the prior excludes, were given an order of guesses."""
    channel, prior = tmp_path / "c.csv", tmp_path / "p.csv"
    channel.write_text("secret,x,y,never\na,1,0,0\nb,0,1,0\n")
    prior.write_text("1\n0\n")
    code, out, _ = run("research", "leakage", channel, "--measure", measure, "--json")
    (report,) = json.loads(out)["channels"].values()
    assert (code, [each["outcome"] for each in report["strategy"]]) == (0, ["x", "y"])
    code, out, _ = run("research", "leakage", channel, "--measure", measure, "--prior", prior, "--json")
    (report,) = json.loads(out)["channels"].values()
    assert (code, [each["outcome"] for each in report["strategy"]]) == (0, ["x"])


def test_a_prior_names_the_secrets(run, geometric, file):
    """By labels of the channel or of the space, in any order; it was refused, although utmost design reads it."""
    ordered, named = file("1/2\n1/3\n1/6\n", "ordered.csv"), file("secret,p\nc,1/6\na,1/2\nb,1/3\n", "named.csv")
    wanted = of(run, geometric, "--prior", ordered)
    assert of(run, geometric, "--prior", named) == wanted
    edges = file("a,b\nb,c\n", "edges.csv")
    capacity = ["research", "capacity", "--space", f"graph:{edges}", "--epsilon", "alpha=1/2", "--measure", "bayes"]
    found = [json.loads(run(*capacity, "--prior", prior, "--json")[1]) for prior in (ordered, named)]
    assert found[0] | {"prior": None} == found[1] | {"prior": None}
