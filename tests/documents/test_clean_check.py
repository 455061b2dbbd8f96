"""A clean table is verified by its certificate, whoever found it, and refused where it is farther than it says."""

import itertools
import json
import shutil
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, lsq_linear

from utmost.counting import CountedTable
from utmost.errors import BadTable, WrongKind
from utmost.privacy import Unit

# No release makes the certificate of another table than the nearest.
from utmost.publish.workloads.bounds.clean_certificate import certificate_of
from utmost.releases import NoisySums
from utmost.statements import check_clean
from utmost.testing import seeded_workload_release
from utmost.workloads import Domain, Plan

RELEASE = Path(__file__).parent / "released-by-plan.json"


@pytest.fixture
def clean(tmp_path, run):
    """A clean table of a release that is kept, as the command writes it."""
    shutil.copy(RELEASE, tmp_path / "release.json")
    assert run("clean", tmp_path / "release.json", "--out", tmp_path / "clean.csv")[0] == 0
    return tmp_path / "clean.csv", tmp_path / "release.json"


def verified(run, clean):
    return run("verify", clean[0], "--release", clean[1])


def test_a_clean_table_is_verified(clean, run):
    code, shown, _ = verified(run, clean)
    assert code == 0, shown
    assert run("verify", clean[0])[0] == 2, "without its release nothing can be computed"
    assert run("verify", clean[1], "--release", clean[1])[0] == 2


def test_the_total_and_a_table_saved_in_python_are_verified(tmp_path, run):
    made = NoisySums.of_facts(json.loads(RELEASE.read_text(encoding="utf-8")))
    assert isinstance(made, NoisySums)
    for marginal in ("", "sex"):
        place = tmp_path / f"clean{len(marginal)}.csv"
        made.clean().save(place, marginal=marginal)
        assert verified(run, (place, RELEASE))[0] == 0


@pytest.mark.parametrize("ending", ["csv", "jsonl", "xlsx"])
def test_labels_that_look_like_numbers_are_compared_as_text(tmp_path, run, ending):
    """Of "010" the number 10 was compared."""
    release, clean = tmp_path / "release.json", tmp_path / f"clean.{ending}"
    domain = Domain(region=["010", "10", "1.50", "2024-01-02"])
    counted = CountedTable(domain, np.array([9, 8, 7, 6]), Unit(1, 1))
    seeded_workload_release(counted, Plan(domain, counted.unit, {"region": 1}), 4, epsilon=1).save(release)
    assert run("clean", release, "--out", clean)[0] == 0
    assert run("verify", clean, "--release", release)[0] == 0
    if ending == "csv":
        clean.write_text(clean.read_text().replace("010,", "10,"))
        beside = clean.with_name("clean.csv.json")
        digest = {"table": {"of": "file", "sha256": sha256(clean.read_bytes()).hexdigest()}}
        beside.write_text(json.dumps(json.loads(beside.read_text()) | digest))
        assert run("verify", clean, "--release", release)[0] == 1


def test_a_forged_cell_is_refused_whatever_the_digest_says(clean, run):
    """The file's digest is put right after each change, as a forger would."""
    place, _ = clean
    beside = place.with_name("clean.csv.json")
    header, *rows = place.read_text().splitlines()
    for column in range(len(header.split(","))):
        cells = rows[0].split(",")
        cells[column] = "7777"
        place.write_text("\n".join([header, ",".join(cells), *rows[1:]]) + "\n")
        said = json.loads(beside.read_text())
        beside.write_text(
            json.dumps(said | {"table": {"of": "file", "sha256": sha256(place.read_bytes()).hexdigest()}})
        )
        assert verified(run, clean)[0] == 1


def test_a_statement_without_a_digest_is_refused_by_type(clean, run):
    """It ended in a KeyError."""
    beside = clean[0].with_name("clean.csv.json")
    statement = json.loads(beside.read_text())
    for digest in ({}, {"table": None}, {"table": {}}, {"table": [1]}):
        beside.write_text(json.dumps({name: fact for name, fact in statement.items() if name != "table"} | digest))
        code, _, err = verified(run, clean)
        assert (code, "digest" in err) == (1, True), err


def test_another_release_and_other_figures_are_refused():
    document = json.loads(RELEASE.read_text(encoding="utf-8"))
    release = NoisySums.of_facts(document)
    made = release.clean()
    table, statement = made["sex"], json.loads(json.dumps(made.statement_with(None, "sex")))
    check_clean(statement, table, document)
    for name, other in (
        ("of", {"measured": "0" * 64}),
        ("words", "These counts are exact."),
        ("zero_bias", 0.0),
        ("marginal", "outcome"),
        ("largest_move", 0.5),
        ("format", 9),
    ):
        with pytest.raises(Exception, match=name if name != "marginal" else "clean table") as refused:
            check_clean(statement | {name: other}, table, document)
        assert refused.type.__module__ == "utmost.errors"
    totals = ["9", ["9"]], [None, "1e999"], ["9", "5"]
    forgeries = [
        {"note": "by the way"},
        {"marginal": "nothing"},
        *({"held": held} for held in (["nothing"], [{}])),
        *({"given": [{"marginal": [], "sums": [[[], *ends]]}]} for ends in totals),
    ]
    for forged in forgeries:
        with pytest.raises(BadTable):
            check_clean(statement | forged, table, document)
    with pytest.raises(WrongKind):
        check_clean(statement, table, [document])
    with pytest.raises(BadTable, match="column 'clean'"):
        check_clean(statement, {"sex": ["men", "women"]}, document)


def test_a_clean_table_with_public_facts_is_verified_with_them(tmp_path, run):
    """By the command: numbers, bounds and a file; other facts than those stated give another table, and are refused."""
    shutil.copy(RELEASE, tmp_path / "release.json")
    public, place = tmp_path / "public.csv", tmp_path / "clean.csv"
    public.write_text("sex,n\nmen,25\nwomen,40\n")
    told = ["--given", "total: 65", "--given", f"sex: {public}", "--given", "sex=men outcome=admitted: 18..20"]
    code, shown, err = run("clean", tmp_path / "release.json", *told, "--out", place)
    assert (code, err) == (0, "")
    assert "given facts that are public" in " ".join(shown.split())
    code, shown, _ = run("verify", place, "--release", tmp_path / "release.json")
    assert code == 0
    assert "the public facts are true" in " ".join(shown.split())
    assert "sex=men = 25" in run("read", place)[1].replace("\n", " ")
    beside = place.with_name("clean.csv.json")
    stated = json.loads(beside.read_text())
    for name, other, failed in (("guarantee", "Nothing is promised.", 1), ("format", 2, 2)):
        beside.write_text(json.dumps(stated | {name: other}))
        assert run("verify", place, "--release", tmp_path / "release.json")[0] == failed
    stated["given"][1]["sums"][0][1:] = ["24", "25"]
    beside.write_text(json.dumps(stated))
    assert run("verify", place, "--release", tmp_path / "release.json")[0] == 1
    for wrong in ("total 65", "total: 64.5", "total: x", "sex=mne: 3"):
        assert run("clean", tmp_path / "release.json", "--given", wrong)[0] == 2
    assert run("clean", tmp_path / "release.json", "--hold", "sex", "--out", tmp_path / "held.csv")[0] == 0
    assert run("verify", tmp_path / "held.csv", "--release", tmp_path / "release.json")[0] == 0
    assert run("clean", tmp_path / "release.json", *told, "--given", "total: 3")[0] == 2
    code, _, err = run("clean", tmp_path / "release.json", *told[2:], "--given", "total: 3")
    assert code == 1, err
    assert "sex=women = 40" in err


def outside(problem, public=None):
    """The least squares by scipy, over cells that are not negative; with a public total by its multiplier."""
    domain, weights = problem.reconstruction.domain, problem.reconstruction.weights
    cells = np.eye(domain.size).reshape(-1, *domain.shape)
    rows = [
        np.sqrt(weights[marginal]) * domain.sums(cell, marginal).ravel() for cell in cells for marginal in [*weights]
    ]
    matrix = np.concatenate([np.stack(rows[k :: len(weights)], axis=1) for k in range(len(weights))])
    wanted = np.concatenate(
        [np.sqrt(weights[marginal]) * sums.ravel() / divisor for marginal, (sums, divisor) in problem.measured.items()]
    )

    def at(multiplier):
        pulled = np.linalg.lstsq(matrix.T, np.full(domain.size, -multiplier), rcond=None)[0]
        return lsq_linear(matrix, wanted + pulled, (0, np.inf), tol=1e-14, method="bvls").x

    if public is None:
        return at(0.0), 0.0
    multiplier = brentq(lambda multiplier: at(multiplier).sum() - public, -1e6, 1e6, xtol=1e-9, rtol=1e-15)
    return at(multiplier), multiplier


def certified(problem, reals, cells, multiplier=0.0):
    """A clean table, in another way than the package finds it."""
    domain = problem.reconstruction.domain
    multipliers = {} if problem.bounds is None else {domain.marginal(()): np.array([multiplier])}
    near = np.zeros(domain.shape, np.int64), reals.reshape(domain.shape)
    whole = cells.reshape(domain.shape).astype(np.int64)
    return problem.certified(certificate_of(problem.reconstruction, whole, near, multipliers, problem.bounds))


def rounded(reals, total):
    """Down, and up where most is cut off, until they are so many."""
    cells = np.floor(reals)
    cells[np.argsort(cells - reals)[: int(total - cells.sum())]] += 1
    return cells


@pytest.mark.parametrize("given", [None, {"total": 65}])
def test_a_table_that_another_solver_found_is_verified_by_its_certificate(given):
    """By scipy, and rounded in a way of its own: what is checked is how near it is, and not who made it."""
    document = json.loads(RELEASE.read_text(encoding="utf-8"))
    release = NoisySums.of_facts(document)
    problem = release.clean_problem(given)
    reals, multiplier = outside(problem, None if given is None else given["total"])
    cells = rounded(reals, np.rint(reals.sum()))
    made = certified(problem, reals, cells, multiplier)
    assert made.residual < 1e-4
    assert made.facts_moved <= 1e-6
    said = json.loads(json.dumps(made.statement_with(None, made.domain.finest)))
    assert check_clean(said, made[made.domain.finest], document).residual == made.residual
    own = release.clean(given)
    apart = (own.cells - own.certificate.cells).ravel() + own.certificate.rest.ravel() / 2**own.certificate.bits
    assert (
        np.abs(own.cells.ravel() + apart - reals).max() <= own.residual + made.residual + 1e-6
    )  # facts are moved by so much


def test_a_table_that_was_moved_from_what_it_says_is_refused():
    """In the table alone; in the certificate, too; in the real cells; and in what is said of them."""
    document = json.loads(RELEASE.read_text(encoding="utf-8"))
    release = NoisySums.of_facts(document)
    clean = release.clean()
    finest, table = clean.domain.finest, clean[clean.domain.finest]
    said = json.loads(json.dumps(clean.statement_with(None, finest)))
    check_clean(said, table, document)
    for cell, step in itertools.product(range(clean.domain.size), (-1, 1)):
        moved = clean.cells.ravel().copy()
        moved[cell] += step
        elsewhere = table | {"clean": moved}
        with pytest.raises(BadTable, match="certificate"):
            check_clean(said, elsewhere, document)
        told = said["certificate"] | {"cells": " ".join(map(str, moved))}
        with pytest.raises(BadTable):
            check_clean(said | {"certificate": told}, elsewhere, document)
        rest = clean.certificate.rest.ravel().copy()
        rest[cell] += step << (clean.certificate.bits - 10)  # by a thousandth of a cell
        told = said["certificate"] | {"rest": " ".join(map(str, rest))}
        with pytest.raises(BadTable, match=r"must follow|within their bounds"):
            check_clean(said | {"certificate": told}, table, document)
    for name in ("residual", "largest_move", "cell_move", "facts_moved"):
        for other in (0.0, said[name] / 2, said[name] * 2 + 1e-9):
            if other != said[name]:
                with pytest.raises(BadTable, match="must follow"):
                    check_clean(said | {name: other}, table, document)


@pytest.mark.parametrize("seed", range(8))
def test_no_table_is_farther_from_the_nearest_than_its_certificate_proves(seed):
    """Real cells moved on purpose: the residual is never below the distance, and near it where curvatures are alike."""
    generator = np.random.default_rng(seed)
    domain = Domain(sex=["men", "women"], age=["<40", "40-60", "60+"])
    weights = {"sex age": Fraction(1, 2), "sex": Fraction(1, 4), "": Fraction(1, 4)}
    unit = Unit(1, 1)
    counted = CountedTable(domain, generator.poisson(2, (2, 3)), unit)
    release = seeded_workload_release(counted, Plan(domain, unit, weights), seed, epsilon="1/2")
    problem = release.clean_problem()
    reals, _ = outside(problem)
    size = 10.0 ** generator.uniform(-6, 1)
    moved = np.maximum(reals + size * generator.normal(size=6), 0)
    made = certified(problem, moved, np.rint(moved))
    least, largest = problem.reconstruction.curvatures
    apart = float(np.linalg.norm(moved - reals))
    assert apart <= made.residual + 1e-9
    # Strong convexity loses the ratio of curvatures, and cells near zero the root of what they could gain.
    assert made.residual <= 20 * largest / least * (apart + np.sqrt(apart)) + 1e-6


def test_what_is_no_certificate_is_refused_by_type():
    document = json.loads(RELEASE.read_text(encoding="utf-8"))
    clean = NoisySums.of_facts(document).clean(hold="total")
    said, table = json.loads(json.dumps(clean.statement_with(None, "sex"))), clean["sex"]
    check_clean(said, table, document)
    honest = said["certificate"]
    forged = [
        *({name: fact for name, fact in honest.items() if name != left_out} for left_out in honest),
        *(honest | {"bits": bits} for bits in (0, -1, 10**9, "40", True, 40.0)),
        *(
            honest | {"cells": cells}
            for cells in (
                "", "1", "-1 1 1 1", "1 2 3 x", f"{1 << 341} 2 3 4", "9" * 5000, " 1 2 3 4", [1, 2, 3, 4], None,
            )
        ),
        *(honest | {"rest": rest} for rest in ("0 0 0", "1e3 0 0 0", f"{1 << 70} 0 0 0", 7)),
        *(honest | {"multipliers": rows} for rows in ([{}], [1], None, honest["multipliers"] * 2)),
        *(honest | {"multipliers": [{"marginal": [of], "values": "1 1"}]} for of in ("sex", "nothing", 7)),
        honest | {"note": "by the way"},
    ]  # fmt: skip
    for certificate in forged:
        with pytest.raises(BadTable):
            check_clean(said | {"certificate": certificate}, table, document)
