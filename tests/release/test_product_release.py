"""Releases by products of listed rows: answers with certified margins, documents, and a ledger that relaxes them."""

import json
import pickle

import numpy as np
import pytest

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
