"""Releases by products of listed rows: answers with certified margins, documents, and a ledger that relaxes them."""

import json
import pickle

import numpy as np
import pytest

import utmost as ut
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.exact import level
from utmost.privacy import Unit
from utmost.releases import NoisySums
from utmost.testing import seeded_workload_release
from utmost.workloads import AxisRows, Domain, Plan, ProductRows, Workload, bins, values_alone

ONE = Unit(1, 1)
AGES = Domain(age=bins(18))
ALONG = np.array(
    [[3, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 2, 1, 0], [0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 2, 1, 0, 0, 0, 0, 0]]
)
LISTED = ProductRows(AGES, (AxisRows(0, ALONG, 9),))
CHOSEN = Plan(AGES, ONE, LISTED.shares, Workload.prefixes(AGES, "age"), level(1), rows=LISTED)
PLANE = Domain(x=bins(6), y=bins(5), sex=["m", "f"])
BOX = ProductRows(
    PLANE,
    (
        AxisRows(0, np.array([[1, 1, 2, 2, 1, 1]]), 5),
        AxisRows(0, np.array([[1, 2, 1, 2, 1]]), 4),
        values_alone(PLANE.axes[2]),
    ),
)
BOTH = Plan(PLANE, Unit(1, 2), BOX.shares, rows=BOX)
COUNTS = np.random.default_rng(3).poisson(8, 18)


def test_from_a_plan_to_answers_with_bars():
    released = ut.release(COUNTS, CHOSEN, epsilon=1, once=True).table
    answer = released.total({"age": slice(3, 11)}, confidence="0.999999999999")
    assert abs(answer.exact - int(COUNTS[3:11].sum())) <= answer.margin
    stated = [float(released.noise(released.form({"age": slice(0, last + 1)})).variance) for last in range(18)]
    assert np.mean(stated) == pytest.approx(CHOSEN.value, rel=1e-9)
    assert released.bars("age")["age"] == max(released["age"]["count_margin"])


@pytest.mark.parametrize("epsilon", ["0.000001", 3, 50, 600])
def test_bars_at_any_level(epsilon):
    released = seeded_workload_release(COUNTS, CHOSEN, 7, epsilon=epsilon)
    table = released["age"]
    assert (np.abs(table["count"] - COUNTS) <= 3 * table["count_margin"] + 1).all()
    assert released.total().margin >= 0


def test_drawn_noise_has_the_levels_of_its_classes():
    """In many releases of zeros, each class of sums has the variance of its share of the level."""
    runs = 100
    squares = dict.fromkeys(CHOSEN.shares, 0.0)
    for seed in range(runs):
        released = seeded_workload_release(np.zeros(18, dtype=int), CHOSEN, seed, epsilon=2)
        for marginal, sums in released.measured.items():
            squares[marginal] += float((sums.astype(float) ** 2).mean())
    for marginal, share in CHOSEN.shares.items():
        expected = 1 / (2 * np.sinh(float(share)) ** 2)
        assert squares[marginal] / runs == pytest.approx(expected, rel=0.35)


@pytest.mark.parametrize(("chosen", "where"), [(CHOSEN, {"age": slice(2, 9)}), (BOTH, {"x": slice(1, 4), "sex": "f"})])
def test_documents_say_rows_and_are_read_back(chosen, where):
    """The statement lists the rows and is checked from them alone; a changed one is refused."""
    released = seeded_workload_release(np.ones(chosen.domain.shape, dtype=int), chosen, 7, epsilon=1)
    facts = json.loads(json.dumps(released.facts()))
    assert facts["promise"]["noise"]["plan"]["rows"] == chosen.rows.facts()
    assert "listed rows" in facts["noise"]["theorem"]
    assert NoisySums.of_facts(facts).plan.rows.facts() == facts["promise"]["noise"]["plan"]["rows"]
    again = NoisySums.of_facts(facts)
    assert again.total(where).exact == released.total(where).exact
    assert again.total(where).margin == released.total(where).margin
    assert pickle.loads(pickle.dumps(released)).total().exact == released.total().exact
    changed = json.loads(json.dumps(facts))
    changed["promise"]["noise"]["plan"]["rows"][0]["rows"][0][:2] = [1, 0]
    forged = json.loads(json.dumps(facts))
    forged["promise"]["noise"]["plan"]["shares"][0][1] = "1/2"
    without = json.loads(json.dumps(facts))
    del without["promise"]["noise"]["plan"]["rows"]
    for wrong in (changed, forged, without):
        with pytest.raises(BadTable):
            NoisySums.of_facts(wrong)
    with pytest.raises(Unsupported, match="groups or hat functions"):
        released.clean()
    with pytest.raises(Unsupported, match="no labels"):
        released.raw(facts["noise"]["marginals"][0]["marginal"])
    with pytest.raises(OutOfRange, match="of the given name"):
        released[facts["noise"]["marginals"][0]["marginal"]]


def test_a_document_is_saved_and_verified(tmp_path):
    released = seeded_workload_release(COUNTS, CHOSEN, 7, epsilon=1)
    released.save(tmp_path / "ages.json")
    assert NoisySums.of_facts(json.loads((tmp_path / "ages.json").read_text())).facts() == released.facts()
    beside = released.save(tmp_path / "ages.csv", marginal="age")
    assert beside["marginal"] == "age"
