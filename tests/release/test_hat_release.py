"""Releases by hat functions: answers with certified margins, documents, clean tables, and a ledger that relaxes
them."""

import json
import pickle

import numpy as np
import pytest

import utmost as ut
from utmost.counting import CountedTable
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.exact import level
from utmost.privacy import Unit
from utmost.releases import NoisySums
from utmost.testing import seeded_ledger, seeded_workload_release
from utmost.workloads import Domain, Plan, bins

ONE = Unit(1, 1)
AGES = Domain(age=bins(40))
CHOSEN = Plan(AGES, ONE, {"age": "1/2", "age~5": "1/4", "age~16": "1/4"})
CROSSED = Domain(age=bins(30), sex=["m", "f"])
BOTH = Plan(CROSSED, ONE, {"age sex": "1/2", "age~6 sex": "1/4", "age~12": "1/8", "sex": "1/8"})
COUNTS = np.random.default_rng(3).poisson(8, 40)


def test_documents_say_hats_and_are_read_back():
    """The statement names the measured sums and how much one individual changes them; a changed statement is
    refused."""
    released = seeded_workload_release(np.ones((30, 2), dtype=int), BOTH, 7, epsilon=1)
    facts = json.loads(json.dumps(released.facts()))
    by_name = {one["marginal"]: one for one in facts["noise"]["marginals"]}
    assert by_name["age~6 sex"]["sensitivity"] == 6
    assert by_name["age~6 sex"]["of"] == "hat functions of age, 6 apart, by sex"
    assert "of" not in by_name["age sex"]
    assert "add up to s" in facts["noise"]["theorem"]
    again = NoisySums.of_facts(facts)
    assert again.total({"age": slice(3, 9)}).exact == released.total({"age": slice(3, 9)}).exact
    assert pickle.loads(pickle.dumps(released)).total().exact == released.total().exact
    assert released.raw("age~12")["measured"].tolist() == facts["sums"]["age~12"]
    assert released.raw("age~12")["age~12"][1] == "0..17"
    facts["noise"]["marginals"][0]["sensitivity"] = 1
    with pytest.raises(BadTable, match="must follow"):
        NoisySums.of_facts(facts)
    with pytest.raises(OutOfRange, match="of the given name"):
        released["age~12"]
    with pytest.raises(OutOfRange, match="of the given name"):
        released.bars("age~12")
    assert set(released.bars()) == {"age sex", "sex"}


@pytest.mark.parametrize("chosen", [CHOSEN, BOTH], ids=["one axis", "two"])
def test_clean_tables(chosen):
    """Integers, not negative, near the least squares over x >= 0, which a second solver confirms."""
    counts = np.random.default_rng(2).poisson(2, chosen.domain.shape) * (np.indices(chosen.domain.shape)[0] < 15)
    released = seeded_workload_release(counts, chosen, 7, epsilon=1)
    clean = released.clean()
    assert clean.cells.min() >= 0
    assert clean.residual <= 1e-6
    assert abs(clean.total() - float(released.total().exact)) < 60
    x = np.zeros(chosen.domain.size)  # cyclic coordinate descent
    domain, weights = chosen.domain, released.weights
    A = np.array([domain.sums(one.reshape(domain.shape), domain.finest).ravel() for one in np.eye(domain.size)])
    assert (np.eye(domain.size) == A).all()
    rows = {
        marginal: np.array([domain.sums(one.reshape(domain.shape), marginal).ravel() for one in np.eye(domain.size)]).T
        for marginal in weights
    }
    top = max(weights.values())
    N = sum(weights[f] / top * rows[f].T @ rows[f] for f in weights)
    b = sum(weights[f] / top * rows[f].T @ released.measured[f].ravel().astype(float) for f in weights)
    for _ in range(500):
        for j in range(domain.size):
            x[j] = max(0.0, x[j] + (b[j] - N[j] @ x) / N[j, j])
    assert np.abs(clean.cells.ravel() - x).max() < 1 + 1e-4


def test_a_ledger_relaxes_and_views_without_loss(tmp_path):
    """Published, viewed lower, relaxed higher, read by another process: the same noisy sums; the highest level is
    spent."""
    table = CountedTable(AGES, COUNTS, ONE)
    with seeded_ledger(tmp_path / "l.db", "hat functions", create=True) as ledger:
        first = ledger.publish("ages", table, ut.Promise(noise=CHOSEN), epsilon="1/4").table
        lower = ledger.view("ages", epsilon="1/8").table
        higher = ledger.relax("ages", table, epsilon=1).table
        assert ledger.spent("ages") == level(1)
    with seeded_ledger(tmp_path / "l.db", "hat functions") as again:
        for at, said in (("1/4", first), ("1/8", lower), (1, higher)):
            seen = again.view("ages", epsilon=at).table
            assert all((seen.measured[marginal] == sums).all() for marginal, sums in said.measured.items())
            assert seen.facts() == said.facts()
        alone = Plan(AGES, ONE, {"age~5": 1})
        with pytest.raises(Unsupported):
            again.publish("other", table, ut.Promise(noise=alone), epsilon=1)
