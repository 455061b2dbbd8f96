"""A level of a domain with the name of a column that released tables add is refused before anything is drawn or
spent."""

import numpy as np
import pytest

import utmost as ut
from counting_words import counted_with
from repeated_bits import nothing_is_drawn
from utmost import Counting
from utmost.counting import count_table
from utmost.errors import OutOfRange
from utmost.ledger import Ledger, release
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, choose_plan

REFUSED = "no level may have the name of a column that the released table has; got '{}'. Rename the level."


def events(name):
    return {"person": list("abcd"), name: list("xyxy"), "paid": [1, 2, 3, 4]}


@pytest.mark.parametrize(("name", "others"), [("count", []), ("count_margin", ["sex"])])
def test_nothing_is_drawn_for_it(name, others):
    shares = Plan(Domain({of: ["x", "y"] for of in (name, *others)}), Unit(1, 1), {name: 1})
    with nothing_is_drawn(), pytest.raises(OutOfRange) as refused:
        ut.release(np.ones(shares.domain.shape, int), shares, epsilon=1, once=True)
    assert str(refused.value) == REFUSED.format(name)


def test_no_ledger_spends_for_it(tmp_path):
    name = "count"
    domain = Domain({name: ["x", "y"]})
    counted = count_table(events(name), domain, Counting("person", at_most=1))
    plan = choose_plan(Workload(domain, {name: 1}), counted.unit, epsilon=1)
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        with pytest.raises(OutOfRange, match="Rename the level"):
            ledger.publish("r", counted, ut.Promise(noise=plan), epsilon=1)
        assert (ledger.status().releases, ledger.status().events) == (0, 1)
    with pytest.raises(OutOfRange, match="Rename the level"):
        release(counted, ut.Promise(noise=plan), epsilon=1)


@pytest.mark.parametrize(
    "name", ["count", "count_margin", "paid_sum", "paid_sum_margin", "paid_count", "paid_mean", "paid_mean_lower"]
)
def test_sums_and_counts_add_more_columns(name):
    domain = Domain({name: ["x", "y"]})
    words = {"values": "paid", "each": (0, 9), "most_events": 2}
    counted = counted_with(events(name), person="person", domain=domain, at_most=1, **words)
    plan = choose_plan(Workload(counted.domain, {f"{name} paid": 1}), counted.unit, epsilon=1)
    with pytest.raises(OutOfRange, match="Rename the level"):
        ut.release(counted, plan, epsilon=1, once=True)
    if name.startswith("count"):
        return  # a table of counts alone has these columns, too
    alone = count_table(events(name), domain, Counting("person", at_most=1))
    plan = choose_plan(Workload(domain, {name: 1}), alone.unit, epsilon=1)
    assert ut.release(alone, plan, epsilon=1, once=True).table[name][name].tolist() == ["x", "y"]


def test_no_labels_are_lost_below_numbers_of_the_same_name():
    """The labels of a level called "clean" were overwritten by the clean numbers."""
    domain = Domain(clean=["yes", "no"], sex=["men", "women"])
    plan = Plan(domain, Unit(1, 1), {domain.finest: 1})
    clean = ut.release(np.ones(domain.shape, int), plan, epsilon=9, once=True).clean()
    counted = count_table({"clean": ["yes"], "sex": ["men"]}, domain, Counting(each_row=True))
    for table in (lambda: clean["clean sex"], lambda: counted.table("sex", column="sex")):
        with pytest.raises(OutOfRange, match=r"'(clean|sex)'"):
            table()
    assert list(clean["sex"]) == ["sex", "clean"]
