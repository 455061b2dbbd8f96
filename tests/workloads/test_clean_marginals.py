"""Clean tables of overlapping marginals that leave the cells open: the least by another optimiser, and certificates."""

import itertools
import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

import utmost as ut
from utmost.errors import BadTable, FactsFarOff, NotDetermined
from utmost.statements import check_clean
from utmost.workloads import Plan

optimize = pytest.importorskip("scipy.optimize")

DOMAIN = ut.Domain(age=range(3), place=["N", "E", "S", "W"], work=["yes", "no", "?"])
PAIRS = ["age place", "age work", "place work"]
UNIT = ut.Unit(1, 1)


def released(people, seed=0, shares=None, domain=DOMAIN, epsilon=1):
    """Noisy marginals of a table with many empty cells; nothing but the noise is random from call to call."""
    of = np.random.default_rng(seed)
    cells = of.multinomial(people, of.dirichlet(np.full(domain.size, 0.2))).reshape(domain.shape)
    shares = dict.fromkeys(PAIRS, "1/3") if shares is None else shares
    return ut.release(cells, Plan(domain, UNIT, shares), epsilon=epsilon, once=True).table


@pytest.mark.parametrize("seed", range(2))
def test_another_optimiser_finds_the_same_sums(seed):
    """`nnls` of scipy on the stacked sums: the least has one vector of measured sums, whichever table has them."""
    release = released(40, seed)
    problem = release.clean_problem()
    clean = problem.solved()
    weights = problem.reconstruction.weights
    rows, aims = [], []
    for marginal, sums in release.measured.items():
        each = np.array([release.domain.sums(cell.reshape(DOMAIN.shape), marginal).ravel() for cell in np.eye(36)]).T
        rows.append(weights[marginal] ** 0.5 * each)
        aims.append(weights[marginal] ** 0.5 * sums.ravel())
    other, _ = optimize.nnls(np.vstack(rows), np.concatenate(aims))
    reals = clean.cells + clean.certificate.rest / 2**clean.certificate.bits
    for marginal in release.measured:
        theirs = release.domain.sums(other.reshape(DOMAIN.shape), marginal)
        assert np.abs(release.domain.sums(reals, marginal) - theirs).max() <= clean.residual + 1e-6
    assert clean.residual < 0.01


def test_whatever_the_marginals_the_bound_holds_and_tables_are_whole_and_agree():
    """Groups of regions, nested and crossed; the finest of four axes measured in threes, pairs and ones."""
    domain = ut.Domain(a=range(3), b=range(4), c=range(2), d=range(5))
    for size in (1, 2, 3):
        names = [" ".join(part) for part in itertools.combinations("abcd", size)]
        release = released(200, size, dict.fromkeys(names, f"1/{len(names)}"), domain)
        clean = release.clean()
        assert clean.cells.dtype == np.int64
        assert (clean.cells >= 0).all()
        assert clean.residual < 0.1
        totals = {int(np.sum(clean[name]["clean"])) for name in names}
        assert totals == {clean.total()} == {int(clean.cells.sum())}
        errors = [
            np.abs(np.array(clean[name]["clean"]) - np.maximum(0, np.array(release[name]["count"]))).mean()
            for name in names
        ]
        assert max(errors) < 40 * max(bar for bar in release.bars().values())


def test_only_what_was_measured_is_a_table():
    clean = released(100).clean()
    assert set(clean["age place"]) == {"age", "place", "clean"}
    assert clean.total({"age": 1, "work": "no"}) >= 0
    for ask in (
        lambda: clean["age place work"],
        lambda: clean.total({"age": 1, "place": "N", "work": "no"}),
        lambda: clean.save("nowhere.csv"),
    ):
        with pytest.raises(NotDetermined):
            ask()
    assert "those of the non-negative table nearest to the released sums" in clean.words


def test_public_facts_hold_and_one_that_is_mistyped_is_warned_about():
    release = released(1502)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clean = release.clean({"total": 1502, "work=yes": ut.workloads.between(low=200)})
    assert clean.total() == 1502
    assert clean.total({"work": "yes"}) >= 200
    assert clean.residual < 0.1
    with pytest.warns(FactsFarOff, match=r"total = 5.* 15"):
        assert release.clean({"total": 5}).total() == 5


def test_it_is_saved_verified_and_forged_in_vain(tmp_path):
    release = released(300)
    document = release.save(tmp_path / "r.json")
    said = release.clean().save(tmp_path / "c.csv", marginal="age work")
    again = check_clean(said, ut.read_release(tmp_path / "c.csv").table, document)
    with pytest.raises(NotDetermined):
        again["age place work"]
    smaller = replace(release, measured={marginal: sums + 1 for marginal, sums in release.measured.items()})
    with pytest.raises(BadTable):
        check_clean(said, ut.read_release(tmp_path / "c.csv").table, smaller.facts())
    for change in ({"residual": said["residual"] / 2}, {"marginal": "age place work"}, {"words": "all is well"}):
        with pytest.raises((BadTable, NotDetermined)):
            check_clean(said | change, ut.read_release(tmp_path / "c.csv").table, document)


def test_by_command_the_table_is_named(run, tmp_path):
    release = released(300)
    release.save(tmp_path / "r.json")
    code, _, err = run("clean", tmp_path / "r.json", "--out", tmp_path / "c.csv")
    assert (code, '--want "age place"' in err) == (2, True)
    assert run("clean", tmp_path / "r.json", "--want", "age place", "--out", tmp_path / "c.csv")[0] == 0
    assert run("verify", tmp_path / "c.csv", "--release", tmp_path / "r.json")[0] == 0
    assert json.loads((tmp_path / "c.csv.json").read_text())["marginal"] == "age place"
    code, _, err = run("clean", tmp_path / "r.json", "--want", "age place work")
    assert (code, "age place work" in err) == (2, True)


def test_hat_functions_that_leave_the_cells_open_are_refused_by_name():
    domain = ut.Domain(age=ut.workloads.edges([*range(64), None]), place=["N", "S"])
    plan = ut.choose_plan(ut.Workload.ranges(domain, "age"), UNIT, epsilon=1)
    assert plan.clean_needs == "age place"
    release = ut.release(np.ones(domain.shape, dtype=np.int64), plan, epsilon=1, once=True).table
    with pytest.raises(NotDetermined, match="'age place'"):
        release.clean()
