"""One level for several measures: the best shares by three routes, their certificate, and releases at them."""

import json
import pickle
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import utmost as ut
from repeated_bits import nothing_is_drawn
from utmost.errors import LittleProtection, NotALevel, OutOfRange, WrongKind
from utmost.ledger import Ledger
from utmost.privacy import Unit
from utmost.workloads import AxisRows, Domain, Plan, ProductRows, SharedLevel, Workload, choose_plan, share_level

DOMAIN = Domain(shop=list("ABC"), sex=["men", "women"])
UNITS = {"visits": Unit(1, 2), "spent": Unit(500_000, 2), "products": Unit(3, 2)}
WANTED = {
    "visits": Workload(DOMAIN, {"shop sex": 1, "shop": 1}),
    "spent": Workload(DOMAIN, {"shop": 1, "": 2}),
    "products": Workload(DOMAIN, {"shop sex": 1}),
}


@cache
def three_plans(epsilon=1):
    return {name: choose_plan(WANTED[name], unit, epsilon=epsilon) for name, unit in UNITS.items()}


def weighted(plans, shares, weights, epsilon):
    """The objective, written out."""
    whole = ut.level(epsilon)
    return sum(
        weights.get(name, 1)
        * one.value_at(whole.scaled(Fraction(shares[name])))
        / float(one.workload.weight * one.unit.sensitivity**2)
        for name, one in plans.items()
    )


@pytest.mark.parametrize(("epsilon", "weights"), [(1, {}), (12, {"visits": "1/27", "spent": 64})])
def test_the_search_is_the_best_of_all_partitions(epsilon, weights):
    """Of the 19 701 ways to share the level of three plans in parts of 1/200, by trying them all."""
    plans, parts = three_plans(), 200
    shared = share_level(plans, epsilon=epsilon, weights=weights)
    numbers = {name: float(Fraction(weight)) for name, weight in weights.items()}
    first, second, third = (
        np.array([weighted({name: one}, {name: Fraction(at, parts)}, numbers, epsilon) for at in range(1, parts - 1)])
        for name, one in plans.items()
    )
    least = min(
        (first[a - 1] + second[: parts - a - 1] + third[: parts - a - 1][::-1]).min() for a in range(1, parts - 1)
    )
    assert weighted(plans, shared.shares, numbers, epsilon) == pytest.approx(least, rel=1e-12)
    assert all((share * parts).denominator == 1 for share in shared.shares.values())


@pytest.mark.parametrize("epsilon", ["0.000001", 1, 12, 50])
def test_no_other_shares_are_better_than_the_certificate_says(epsilon):
    """Against a numerical search over all real shares, under the exact distribution of the noise."""
    optimize = pytest.importorskip("scipy.optimize")
    plans, weights = three_plans(), {"visits": 3, "spent": 1}
    shared = share_level(plans, epsilon=epsilon, weights=weights)
    value = weighted(plans, shared.shares, weights, epsilon)
    names = list(plans)

    def objective(logs):
        parts = np.exp(logs - logs.max())
        shares = {name: Fraction(part) for name, part in zip(names, parts / parts.sum(), strict=True)}
        return np.log(weighted(plans, shares, weights, epsilon))

    start = np.log([float(shared.shares[name]) for name in names])
    best = np.exp(optimize.minimize(objective, start, method="Nelder-Mead", options={"maxiter": 20}).fun)
    assert best <= value * (1 + 1e-9)
    assert value / shared.within <= best * (1 + 1e-9)
    assert 1 <= shared.within < (1.03 if epsilon != 50 else 1.3)
    equal = weighted(plans, dict.fromkeys(names, Fraction(1, 3)), weights, epsilon)
    assert value <= equal


def test_shares_are_tuned_where_they_are_told_and_stay():
    shared = share_level(three_plans(), epsilon=1, up_to=40, weights={"spent": 5})
    assert shared.shares == share_level(three_plans(), epsilon=40, weights={"spent": 5}).shares
    assert shared.shares != share_level(three_plans(), epsilon=1, weights={"spent": 5}).shares
    assert [one.level for one in shared.plans.values()] == list(shared.levels(ut.level(1)).values())
    again = pickle.loads(pickle.dumps(shared))
    assert again.shares == shared.shares
    assert str(again) == str(shared)
    assert "visits: " in str(shared)
    one = share_level({"visits": three_plans()["visits"]}, epsilon=1)
    assert one.shares == {"visits": 1}


EVENTS = {
    "user": [f"u{row % 40}" for row in range(200)],
    "shop": ["ABC"[row % 3] for row in range(200)],
    "sex": [["men", "women"][row % 40 % 2] for row in range(200)],
    "paid": [row % 90 for row in range(200)],
    "product": [f"p{row % 9}" for row in range(200)],
}
MEASURES = {
    "visits": ut.count(),
    "spent": ut.sum("paid", per_cell=100),
    "products": ut.distinct("product", of=[f"p{at}" for at in range(9)], at_most=2),
    "both": ut.sum("paid", each=(0, 90), most_events=2),
}


@cache
def counted():
    tables = ut.count_measures(EVENTS, DOMAIN, ut.Counting("user", at_most=2, key=bytes(32)), MEASURES)
    wanted = {name: {"shop sex": 1} for name in MEASURES} | {"both": {"shop both": 1}, "visits": {"shop": 1, "": 1}}
    return tables, {
        name: choose_plan(Workload(table.domain, wanted[name]), table.unit, epsilon=1) for name, table in tables.items()
    }


def test_measures_are_released_together_read_and_compared(tmp_path):
    """One level; each release states, verifies and answers as any other, and means between them have their bars."""
    tables, plans = counted()
    shared = ut.workloads.share_level(plans, epsilon=1, weights={"visits": 3})
    releases = ut.releases.release_shared(tables, shared)
    spent = {name: release.level for name, release in releases.items()}
    assert spent == shared.levels(ut.level(1))
    assert sum(level.epsilon for level in spent.values()) == 1
    for name, release in releases.items():
        release.save(tmp_path / f"{name}.json")
        assert ut.read_release(tmp_path / f"{name}.json").level == spent[name]
    with pytest.warns(LittleProtection):
        sure = ut.releases.release_shared(tables, shared, epsilon=10**7)  # no noise but with the chance e^-1000
    assert sure["visits"].total().value == tables["visits"].cells.sum()
    mean = sure["visits"].mean(sums=sure["spent"], where={"shop": "A"})
    true = [tables[name].cells[0].sum() for name in ("spent", "visits")]
    assert mean.lower <= true[0] / true[1] <= mean.upper
    assert mean.estimate == pytest.approx(true[0] / true[1])
    with pytest.warns(LittleProtection, match="above 10"):
        ut.releases.release_shared(tables, shared, epsilon=11)


def test_a_plan_of_few_cells_still_reads_the_whole_table():
    """A plan over only the cells that its wanted sums read keeps the domain of the counted table."""
    rows = {"a": [3, 3, 4, 9], "b": ["x", "y", "x", "y"], "id": [1, 2, 3, 4]}
    table = ut.count_table(rows, Domain(a=range(10), b=["x", "y"]), ut.Counting(person="id", at_most=10))
    plan = choose_plan(Workload.sums(table.domain, [{"a": 3}, {"a": 4}]), table.unit, epsilon=1)
    assert plan.narrowed_from is not None
    shared = share_level({"one": plan, "two": plan}, epsilon=1)
    assert all(own.narrowed_from is plan.narrowed_from for own in shared.plans.values())
    released = ut.releases.release_shared({"one": table, "two": table}, shared)
    assert released["one"].total({"a": 3}).value is not None


def test_all_are_released_or_none():
    """Whatever can fail is tried before the first draw."""
    tables, plans = counted()
    shared = ut.workloads.share_level(plans, epsilon=1)
    other = Plan(DOMAIN, Unit(1, 1), {"shop sex": 1}, Workload(DOMAIN, {"shop": 1}))
    smaller = SharedLevel({**plans, "both": other}, shared.shares, ut.level(1))
    for call in (
        lambda: ut.releases.release_shared({"visits": tables["visits"]}, shared),
        lambda: ut.releases.release_shared(tables, smaller),
        lambda: ut.releases.release_shared(tables, shared, epsilon=0),
        lambda: ut.releases.release_shared(tables, plans),
    ):
        with nothing_is_drawn(), pytest.raises((OutOfRange, NotALevel, WrongKind)):
            call()


def test_a_ledger_adds_up_to_the_level_and_relaxes_each_to_its_share(tmp_path):
    tables, plans = counted()
    shared = ut.workloads.share_level(plans, epsilon=1, up_to=8)
    with Ledger.open(tmp_path / "a.db", create=True) as ledger:
        for name, level in shared.levels(ut.level(1)).items():
            ledger.publish(name, tables[name], ut.Promise(noise=plans[name]), epsilon=level, dataset="sales")
        assert ledger.spent(dataset="sales") == ut.level(1)
        for name, level in shared.levels(ut.level(8)).items():
            ledger.relax(name, tables[name], epsilon=level)
        assert ledger.spent(dataset="sales") == ut.level(8)
        assert json.dumps([release.name for release in ledger.releases]) == json.dumps(list(MEASURES))


REFUSED = {
    "nothing": ({}, {}, "shared by 1 to 50"),
    "a list": ([], {}, "plans must be a mapping"),
    "no plan": ({"a": 1}, {}, "a Plan"),
    "no workload": ({"a": Plan(DOMAIN, Unit(1, 1), {"shop": 1})}, {}, "are known only for a workload"),
    "another name": (None, {"other": 1}, "must have names of plans"),
    "no weight": (None, {"visits": 0}, "weights must be positive"),
    "weights of none": (None, [1], "weights must be a mapping"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_sense_is_refused(case):
    plans, weights, text = REFUSED[case]
    with pytest.raises((OutOfRange, WrongKind), match=text):
        share_level(three_plans() if plans is None else plans, epsilon=1, weights=weights)


def test_shares_by_hand_must_add_up():
    plans = three_plans()
    for shares in ({"visits": 1}, dict.fromkeys(plans, "1/2"), {**dict.fromkeys(plans, 1), "spent": -1}):
        with pytest.raises(OutOfRange):
            SharedLevel(plans, shares, ut.level(1))
    with pytest.raises(NotALevel, match="up_to"):
        share_level(plans, epsilon=2, up_to=1)


def test_levels_against_two_relations_are_not_added():
    """A replacement pays twice for a level of one record more or less: together that is more than the level."""
    alone = Plan(Domain(), Unit(1, 1), {"": 1})
    replaced = Plan(Domain(), Unit(1, 1, "change-one"), {"": 1})
    with pytest.raises(OutOfRange, match="add-remove and change-one"):
        SharedLevel({"visits": alone, "spent": replaced}, {"visits": "1/2", "spent": "1/2"}, ut.level(1))


def test_plans_that_list_rows_share_a_level_too():
    """Their rows stay with them, and the release is theirs."""
    events = {"user": list("abcd"), "page": [0, 1, 1, 3], "paid": [1, 2, 3, 4]}
    measures = {"visits": ut.count(), "spent": ut.sum("paid", per_cell=4)}
    tables = ut.count_measures(events, {"page": range(4)}, ut.Counting("user", at_most=1), measures)
    domain = tables["visits"].domain
    rows = ProductRows(domain, (AxisRows(0, np.array([[1, 1, 2, 2]]), 4),))
    wanted = Workload(domain, {"page": 1, "": 1})
    plans = {name: Plan(domain, table.unit, rows.shares, wanted, rows=rows) for name, table in tables.items()}
    shared = share_level(plans, epsilon=10**4)
    releases = ut.releases.release_shared(tables, pickle.loads(pickle.dumps(shared)))
    assert {name: release.total({"page": 1}).value for name, release in releases.items()} == {"visits": 2, "spent": 5}
    assert sum(shared.shares.values()) == 1
