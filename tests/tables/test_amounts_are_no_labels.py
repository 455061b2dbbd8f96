"""The two parts of an amount are never added up as labels: each door gives the amount, and the count beside it."""

import csv
import json
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from counting_words import counted_with
from running import called
from utmost.errors import BadTable, LittleProtection, OutOfRange, Unsupported

# Parts behind the application are tried without a server.
from utmost.releases import Answer, NoisySums
from utmost.statements import change, check_sums_table, trend
from utmost.workloads import Plan, Workload, read_plan, save_plan

SHOPS, REGIONS = ["A", "B", "C"], ["north", "south"]
NO_NOISE = 4_000_000


def counted(each=(0, 200), paid=30, **words):
    sales = {
        "user": list(range(1000)),
        "shop": ["A"] * 600 + ["B"] * 400,
        "region": ["north", "south"] * 500,
        "paid": [paid] * 1000,
    }
    domain = ut.Domain(shop=SHOPS, region=REGIONS)
    return counted_with(
        sales, person="user", domain=domain, at_most=1, values="paid", each=each, most_events=1, **words
    )


def released(table, wanted, epsilon=NO_NOISE):
    plan = ut.choose_plan(Workload(table.domain, wanted), table.unit, epsilon=epsilon)
    with pytest.warns(LittleProtection) if epsilon == NO_NOISE else pytest.MonkeyPatch.context():
        return ut.release(table, plan, epsilon=epsilon, once=True).table


@pytest.mark.parametrize(("each", "paid"), [((0, 200), 30), ((-100, 50), -20), ((-8, 8), 5), ((20, 40), 30)])
def test_a_table_has_the_amounts_and_the_counts(each, paid):
    """It had the count times the width: 120 281 where 18 000 is true."""
    release = released(counted(each, paid), {"shop": 1})
    for table in (release[name] for name in ("shop", "shop paid", ["shop"], ["shop", "paid"])):
        assert list(table) == ["shop", "count", "count_margin", "paid_sum", "paid_sum_margin"]
        assert table["shop"].tolist() == SHOPS
        assert np.rint(table["count"]).tolist() == [600, 400, 0]
        assert np.rint(table["paid_sum"]).tolist() == [600 * paid, 400 * paid, 0]
    assert release.total({"shop": "A"}, column="paid").value == pytest.approx(600 * paid, abs=0.5)
    assert release.difference({"shop": "A"}, {"shop": "B"}, column="paid").value == pytest.approx(200 * paid, abs=0.5)
    assert release.ratio({"shop": "B"}, {}).estimate == pytest.approx(0.4, abs=1e-3)
    assert release.mean("paid").estimate == pytest.approx(paid, abs=1e-2)


def test_wanting_a_shop_is_wanting_both_parts(tmp_path):
    table = counted()
    for names in (["shop"], ["shop paid"], ["shop", "shop paid"]):
        plan = ut.choose_plan(Workload(table.domain, dict.fromkeys(names, 1)), table.unit, epsilon=1)
        assert plan.shares == {(0, 1, 0): 1}
    mixed = Workload(table.domain, {"shop": 2, "": 1, "region": 1})
    plan = ut.choose_plan(mixed, table.unit, epsilon=1)
    assert all(marginal[2] == 0 for marginal in plan.shares)
    assert all(marginal[2] == 0 for other in plan.alternatives().plans.values() for marginal in other.shares)
    save_plan(plan, tmp_path / "plan.json")
    again = read_plan(tmp_path / "plan.json")
    assert again.shares == plan.shares
    assert again.value == pytest.approx(plan.value)
    for wanted in ({("shop", ("paid", "above 0")): 1}, {(("paid", "above 0"),): 1}):
        with pytest.raises(OutOfRange, match="must not name"):
            ut.choose_plan(Workload(table.domain, wanted), table.unit, epsilon=1)
    for shares in ({"shop paid-": 1}, {"shop": "1/2", "shop paid": "1/2"}):
        with pytest.raises(OutOfRange):
            Plan(table.domain, table.unit, shares)


@pytest.mark.parametrize(("each", "step"), [((0, 200), 1), ((-3, 5), "0.5"), ((-8, 8), 2), ((20, 40), "0.25")])
def test_margins_and_variances_are_those_of_the_covariance(each, step):
    """By the normal equations of all measured sums: both parts, then the amount h S + l S' and the count S + S'."""
    paid = each[0]
    table = counted(each, paid, step=step)
    domain, unit = table.domain, table.unit
    wanted = Workload(domain, {"shop region": 1, "shop": 1, "region": 1, "": 1})
    shares = {"shop region": "1/2", "region": "1/4", "": "1/4"}
    plan = Plan(domain, unit, shares, wanted, ut.level(1))
    release = ut.release(table, plan, epsilon=1, once=True).table
    rows, precisions = [], []
    for marginal, of in plan.levels(ut.level(1)).items():
        matrix = np.array([domain.sums(cell.reshape(domain.shape), marginal).ravel() for cell in np.eye(domain.size)]).T
        alpha = np.exp(-of.epsilon_float / float(unit.sensitivity))
        rows.append(matrix)
        precisions += [(1 - alpha) ** 2 / (2 * alpha)] * len(matrix)
    measured = np.vstack(rows)
    covariance = np.linalg.inv(measured.T @ (np.array(precisions)[:, None] * measured))
    low, high = (float(Fraction(end) / Fraction(step)) for end in each)
    answers = {
        "paid_sum": np.array([high, low]) / (high - low) * float(Fraction(step)),
        "count": np.array([1, 1]) / (high - low),
    }
    both = release
    for name, marginal in {"shop region": (0, 0), "shop": (0, 1), "region": (1, 0), "": (1, 1)}.items():
        cells = np.array([domain.sums(c.reshape(domain.shape), (*marginal, 0)).ravel() for c in np.eye(domain.size)]).T
        for column, weights in answers.items():
            one = weights @ cells[:2]
            variance = one @ covariance @ one
            stated = plan.variances_at(ut.level(1)) if column == "paid_sum" else plan.count_variances_at(ut.level(1))
            assert stated[name] == pytest.approx(variance, rel=2e-3)
            where = {level: domain.axes[domain.level_named(level)[0]].labels[0][0] for level in name.split()}
            answer = both.total(where, column="paid" if column == "paid_sum" else None)
            assert answer.variance == pytest.approx(variance, rel=2e-3)
            shown = release[name][f"{column}_margin"][0]
            bars = both.column_bars(name)[name]
            assert shown == pytest.approx(bars[column])
            # geometric noise, and sums of it, lie between the normal distribution and Laplace's
            assert 1.8 * variance**0.5 < shown < 2.3 * variance**0.5 + 3 * float(Fraction(step))


def test_files_are_what_they_say_and_other_tables_are_refused(tmp_path):
    """A table of the sums of both parts was vouched for."""
    release = released(counted(), {"shop": 1}, epsilon=1)
    release.save(tmp_path / "t.csv", marginal="shop")
    with open(tmp_path / "t.csv", encoding="utf-8") as file:
        assert next(csv.reader(file)) == ["shop", "count", "count_margin", "paid_sum", "paid_sum_margin"]
    assert called("verify", tmp_path / "t.csv").returncode == 0
    said = called("total", tmp_path / "t.csv", "--where", "shop=A", "--sum", "paid", "--json").stdout
    assert (
        json.loads(said)["value"] == release.total({"shop": "A"}, column="paid").value == release["shop"]["paid_sum"][0]
    )
    assert ut.read_release(tmp_path / "t.csv").total({"shop": "A"}) == release.total({"shop": "A"})
    statement = json.loads((tmp_path / "t.csv.json").read_text(encoding="utf-8"))
    columns = {name: column.tolist() for name, column in release["shop"].items()}
    assert check_sums_table(statement, columns)["shop"]["paid_sum"].tolist() == columns["paid_sum"]
    width = {"shop": SHOPS, "count": [200 * count for count in columns["count"]], "count_margin": [823] * 3}
    parts = {"shop": SHOPS * 2, "paid": ["above 0"] * 3 + ["below 200"] * 3, "count": [0] * 6, "count_margin": [1] * 6}
    edited = dict(columns, paid_sum=[paid + 1 for paid in columns["paid_sum"]])
    for table, marginal in ((width, "shop"), (parts, "shop paid"), (edited, "shop"), (columns, "")):
        with pytest.raises(BadTable):
            check_sums_table({**statement, "marginal": marginal}, table)
    with pytest.raises(BadTable, match="marginal"):
        check_sums_table({**statement, "marginal": [["shop", "A"], ["paid", "above 0"]]}, columns)
    facts = release.facts()
    renamed = json.loads(json.dumps(facts).replace('"shop paid"', '"shop"'))
    with pytest.raises(BadTable):
        NoisySums.of_facts(renamed)


def test_a_table_with_means_is_saved_and_checked(tmp_path):
    table = counted()
    plan = Plan(table.domain, table.unit, {"shop": 1})
    sums = {(0, 1, 0): np.array([[18_100, 102_000], [11_900, 68_000], [100, 150]])}
    release = NoisySums(ut.Promise(noise=plan), ut.level(1), Fraction(19, 20), sums)
    both = release
    both.save(tmp_path / "m.csv", marginal="shop", means=True)
    with open(tmp_path / "m.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [
        "shop",
        "count",
        "count_margin",
        "paid_sum",
        "paid_sum_margin",
        "paid_mean",
        "paid_mean_lower",
        "paid_mean_upper",
    ]
    assert list(rows[0]) == names
    mean = both.mean(where={"shop": "A"})
    shown = [float(rows[0][name]) for name in names[-3:]]
    width = mean.upper - mean.lower
    assert shown == pytest.approx([mean.estimate, mean.lower, mean.upper], abs=width / 90)
    assert shown[1] <= mean.lower < mean.upper <= shown[2]
    assert not both.mean(where={"shop": "C"}).determined
    assert [rows[2][name] for name in names[-3:]] == [""] * 3  # nobody is there, as far as the noise tells
    assert called("verify", tmp_path / "m.csv").returncode == 0
    statement = json.loads((tmp_path / "m.csv.json").read_text(encoding="utf-8"))
    assert statement["means"] is True
    edited = {name: [row[name] for row in rows] for name in names}
    edited["paid_mean_lower"][0] = "29.9"
    with pytest.raises(BadTable, match="another cell"):
        check_sums_table(statement, edited)
    del statement["means"]
    with pytest.raises(BadTable):
        check_sums_table(statement, edited)
    for ending in ("xlsx", "parquet"):
        both.save(tmp_path / f"m.{ending}", marginal="shop", means=True)
        assert called("verify", tmp_path / f"m.{ending}").returncode == 0


def test_no_door_takes_the_parts_for_labels():
    release = released(counted(), {"shop": 1}, epsilon=1)
    part = {"paid": "above 0"}
    for ask in (
        lambda: release.total(part),
        lambda: release.total({}, along={"paid": [1, 2]}),
        lambda: release.ratio(part, {}),
        lambda: release.difference({}, part),
        lambda: release.mean("shop", where=part, values=[1, 2, 3]),
        lambda: release["shop", ("paid", "above 0")],
        lambda: release.total(part, column="paid"),
    ):
        with pytest.raises(OutOfRange, match="must not name"):
            ask()
    for ask in (release.clean, lambda: release.withhold(below=5)):
        with pytest.raises(Unsupported, match="means"):
            ask()


def test_counts_weigh_means_and_quantiles_and_amounts_weigh_sums():
    """A mean of a level is over events; a mean by the sums of another release is over the events of this one."""
    sales = {"user": [*range(90)], "age": [10] * 60 + [30] * 30, "paid": [100] * 60 + [10] * 30}
    domain = ut.Domain(age=ut.workloads.edges([0, 20, 40]))
    words = {"person": "user", "domain": domain, "at_most": 1, "values": "paid", "each": (0, 200)}
    release = released(counted_with(sales, most_events=1, **words), {"age": 1})
    assert release.mean("age").estimate == pytest.approx((60 * 9.5 + 30 * 29.5) / 90, abs=0.01)
    assert release.median("age").estimate == "0 to 19"
    other = counted_with(sales, per_cell=(0, 200), **words)
    sums = ut.release(other, Plan(other.domain, other.unit, {"age": 1}), epsilon=4000, once=True).table
    assert release.mean(sums=sums).estimate == pytest.approx(70, abs=0.1)
    steps = release.cumulative("age")
    assert list(steps) == ["age", "count", "count_margin", "paid_sum", "paid_sum_margin"]
    assert np.rint(steps["count"]).tolist() == [60, 90]
    assert np.rint(steps["paid_sum"]).tolist() == [6000, 6300]


def test_a_change_is_of_events_or_of_the_named_amounts():
    table = counted()
    releases = [Answer.of_sums(released(each, {"shop": 1})) for each in (table, counted(paid=40))]
    moved = change(releases[1], releases[0], {"shop": "A"}, column="paid")
    assert moved.value == pytest.approx(6000, abs=0.5)
    assert change(releases[1], releases[0], {"shop": "A"}).value == pytest.approx(0, abs=0.5)
    noisy = [Answer.of_sums(released(table, {"shop": 1}, epsilon=1)) for _ in range(2)]
    for column in ("paid", None):
        one = noisy[0].total({"shop": "A"}, column=column).variance
        assert change(*noisy, {"shop": "A"}, column=column).variance == pytest.approx(2 * one)
    assert [value.value for value in trend(releases, column="paid").values] == pytest.approx([30_000, 40_000], abs=0.5)


def test_the_true_table_has_both_too():
    table = counted((-100, 50), -20)
    assert {name: np.asarray(column).tolist() for name, column in table.table("shop").items()} == {
        "shop": SHOPS,
        "count": [600, 400, 0],
        "paid_sum": [-12_000, -8_000, 0],
    }
    assert table.table()["paid_sum"][0] == -20_000


def test_cards_pictures_and_pages_show_both():
    release = released(counted(), {"shop": 1}, epsilon=1)
    html = release._repr_html_()
    assert "above 0" not in html
    assert all(word in html for word in ("by shop:", "count", "paid"))


def test_a_picture_is_of_the_amounts_or_of_the_counts():
    pytest.importorskip("matplotlib")
    release = released(counted(), {"shop": 1}, epsilon=1)
    for column, name in ((None, "paid_sum"), ("count", "count")):
        axes = ut.plot(release, column=column).axes[0]
        assert [label.get_text() for label in axes.get_xticklabels()] == SHOPS
        assert axes.get_title("left").startswith(name)
    with pytest.raises(OutOfRange, match="released column"):
        ut.plot(release, column="above 0")
