"""`utmost design`: optima with their certificates, written, read back and checked again."""

import csv
import json
import re

import numpy as np
import pytest

import utmost as ut
from small_sizes import set_sizes

HALF = ["--epsilon", "alpha=1/2"]


def test_figure_2_from_its_prior_file(run, file):
    prior = file("1/4\n0\n1/4\n0\n1/4\n1/4\n", "prior.csv")
    asked = ["design", "--space", "counts:5", "--prior", prior, "--loss", "power:1.5", *HALF]
    code, out, err = run(*asked)
    assert (code, err) == (0, "")
    assert re.search(r"expected loss\s+1\.19423215532\s", out)
    assert re.search(r"checked\s+yes", out)
    assert "Theorem 3.1" in out
    assert re.search(r"1\s+2\s*\n\s*2 to 5\s+the response", out)
    found = json.loads(run(*asked, "--json")[1])
    assert found["remap"] == {"actions": [0, 2, 2, 3, 4, 5], "ties": []}
    assert found["expected_loss"] == pytest.approx(1.19423215531629191254, rel=1e-14)


def test_a_remap_is_shown_by_runs_and_a_document_names_its_loss(run, file, tmp_path):
    """Whoever knows the count gives it, whatever comes: below it, at it and above it."""
    certain, saved = file("0\n0\n1\n0\n0\n", "prior.csv"), tmp_path / "design.json"
    asked = ["design", "--space", "counts:4", "--prior", certain, "--loss", "asymmetric:1,3", *HALF]
    assert re.search(r"0 to 1 +2\s+2 +2\s+3 to 4 +2\s", run(*asked, "--out", saved)[1])
    ut.save_design(ut.read_design(saved), tmp_path / "again.json")
    for path in (saved, tmp_path / "again.json"):
        assert json.loads(path.read_text(encoding="utf-8"))["loss"] == "asymmetric:1,3"


CASES = {
    "exact, closed form": ["--space", "counts:6", "--prior", "binomial:1/3", "--loss", "squared", *HALF],
    "floats, closed form": ["--space", "counts:40", "--prior", "poisson:4", "--loss", "power:1.5", "--epsilon", "1/2"],
    "a program though a theorem answers": ["--space", "counts:3", "--prior", "uniform", "--program", *HALF],
    "one secret": ["--space", "discrete:1", "--prior", "uniform", "--loss", "binary", *HALF],
    "grid at an irrational alpha": ["--space", "grid:2x2", "--prior", "uniform", "--loss", "binary", "--epsilon", 1],
}


@pytest.mark.parametrize("asked", CASES.values(), ids=CASES)
def test_a_design_is_written_and_proves_itself_again(run, tmp_path, asked):
    out, matrix = tmp_path / "design.json", tmp_path / "matrix.csv"
    code, shown, err = run("design", *asked, "--out", out)
    assert run("design", *asked, "--out", matrix)[0] == 0
    assert (code, err) == (0, "")
    assert re.search(r"checked\s+yes", shown)
    certificate = ut.read_design(out).certificate
    assert certificate.verify()
    assert json.loads(out.read_text())["method"] in shown
    assert run("design", "--check", out)[0] == 0
    assert json.loads(run("design", "--check", out, "--json")[1])["upper"] == float(certificate.upper)
    header, *rows = csv.reader(matrix.read_text().splitlines())
    assert header == ["secret", *map(str, range(len(rows[0]) - 1))]
    channel = ut.channels.Channel(
        [row[1:] for row in rows] if "/" in str(rows) else [list(map(float, row[1:])) for row in rows]
    )
    assert certificate.ptype.contains(channel)
    prior, loss = certificate.consumer.prior, certificate.consumer.loss
    assert float((np.array(prior)[:, None] * channel.matrix * loss).sum()) == pytest.approx(float(certificate.upper))


def test_places_with_a_prior_file_are_designed_written_and_checked_again(run, file, tmp_path, monkeypatch):
    """A prior without symmetry on a Euclidean grid: found by column generation, with multipliers as a list."""
    set_sizes(monkeypatch, simplex_rows=1000)
    weights = file("".join(f"{k},{k * k % 17}\n" for k in range(19)), "weights.csv")
    out = tmp_path / "design.json"
    asked = ["design", "--space", "grid:4x5", "--prior", f"weights:{weights}", "--loss", "distance", "--epsilon", 4]
    code, shown, err = run(*asked, "--out", out)
    assert (code, err) == (0, "")
    assert re.search(r"found by\s+column generation", shown)
    written = json.loads(out.read_text())
    assert set(written["multipliers"]) == {"low", "high", "action", "value"}
    assert 0 < written["expected_loss"] - written["lower_bound"] <= 1e-6 * written["expected_loss"]
    assert run("design", "--check", out)[0] == 0
    for change in ({"value": [0.0] * len(written["multipliers"]["value"])}, {"action": [99]}, {"low": [-1]}):
        out.write_text(json.dumps(written | {"multipliers": written["multipliers"] | change}))
        assert run("design", "--check", out)[0] == 1


@pytest.mark.parametrize(
    ("space", "loss"),
    [("counts", "absolute"), ("line", "absolute"), ("discrete", "distance"), ("hamming", "distance")],
)
def test_an_error_costs_its_size_where_no_loss_is_named(run, space, loss):
    """Counts and lines by their difference, other secrets by their distance; the report names the loss."""
    asked = ["design", "--space", f"{space}:3", "--prior", "uniform", *HALF, "--json"]
    found, named = (json.loads(run(*asked, *more)[1]) for more in ([], ["--loss", loss]))
    assert found == named


def test_a_picture_of_places_is_drawn(run, tmp_path):
    """Only of a grid, and only in a format of pictures."""
    pytest.importorskip("matplotlib")
    asked = ["design", "--prior", "uniform", "--loss", "binary", *HALF]
    picture = tmp_path / "one.svg"
    assert run(*asked, "--space", "manhattan:2x3", "--plot", picture)[0] == 0
    assert b"answers for place 0" in picture.read_bytes()
    assert run(*asked, "--space", "discrete:3", "--plot", tmp_path / "no.svg")[0] == 2
    assert run(*asked, "--space", "manhattan:2x3", "--plot", tmp_path / "no.csv")[0] == 2
    assert not (tmp_path / "no.svg").exists()


def test_a_theorem_that_does_not_apply_names_the_entry(run, file):
    code, out, err = run("design", "--space", "counts:3", "--prior", "uniform", "--loss", "nib", "--theorem", *HALF)
    assert (code, out) == (1, "")
    assert "l(0, 1) = 0 but l(0, 0) = 1" in err
    loss = file("0,2,1\n1,0,1\n2,1,0\n", "loss.csv")
    code, _, err = run("design", "--space", "counts:2", "--prior", "uniform", "--loss", loss, "--theorem", *HALF)
    assert (code, "l(0, 2) = 1 but l(0, 1) = 2" in err) == (1, True)
    code, _, err = run("design", "--space", "discrete:3", "--prior", "uniform", "--loss", "binary", "--theorem", *HALF)
    assert (code, "the theorem needs counts" in err) == (1, True)
    code, out, _ = run("design", "--space", "counts:2", "--prior", "uniform", "--loss", loss, *HALF)
    assert (code, "none: the lower bound proves optimality" in out) == (0, True)


ASKED = ["--space", "counts:2", "--prior", "uniform", *HALF]
MISUSE = {
    "no prior": (ASKED[:2] + ASKED[4:], "--prior must be given"),
    "a negative space": (["--space", "counts:-1", *ASKED[2:]], "the largest count must be at least 0"),
    "a grid of one number": (["--space", "grid:4", *ASKED[2:]], "must be ROWSxCOLUMNS"),
    "a theorem and a program": ([*ASKED, "--theorem", "--program"], "one of --theorem and --program"),
    "a prior of counts elsewhere": (
        ["--space", "discrete:3", "--prior", "poisson:1", *HALF],
        "unless the secrets are counts",
    ),
    "a loss of counts elsewhere": (
        ["--space", "discrete:3", *ASKED[2:], "--loss", "absolute"],
        "Write --loss distance",
    ),
    "a matrix in a picture": ([*ASKED, "--out", "m.png"], "--out must end in .json"),
}


@pytest.mark.parametrize(("arguments", "message"), MISUSE.values(), ids=MISUSE)
def test_misuse_ends_with_code_2(run, arguments, message):
    code, out, err = run("design", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_what_an_attacker_learns_stands_beside_the_loss(run):
    """Chances and the reader's loss rounded up, errors down: exactly 1/5 and 6/5 are shown as they are."""
    code, out, _ = run("design", "--space", "counts:4", "--prior", "uniform", "--loss", "absolute", *HALF)
    assert code == 0
    space, prior = ut.spaces.counts(4), ut.priors.uniform(5)
    told = ut.optimal_mechanism(ut.PrivacyType(space, alpha="1/2"), ut.Consumer(prior, ut.losses.absolute)).attack()
    rows = re.findall(
        r"^\s*(optimal|geometric noise|exponential mechanism)\s+([\d.]+) %\s+([\d.]+)\s+([\d.]+) times", out, re.M
    )
    assert [row[0] for row in rows] == [told.mechanism, *(other.mechanism for other in told.others)]
    for (_, guessed, error, odds), attack in zip(rows, (told, *told.others), strict=True):
        assert attack.vulnerability <= float(guessed) / 100 + 1e-12 <= attack.vulnerability + 2e-4
        assert attack.error - 1e-3 <= float(error) <= attack.error
        assert attack.odds.factor <= float(odds) <= attack.odds.factor + 1e-2
    assert re.search(r"without an answer\s+20 %\s+1\.2\s", out)
