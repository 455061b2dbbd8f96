"""Sums and counts of one column, noised together: the unit by brute force, the figures by three routes, every door."""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import exp

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from counting_words import counted_with
from goodness import LEVEL, no_more_often
from utmost.errors import OutOfRange, Unsupported
from utmost.ledger import Ledger
from utmost.privacy import Amount, Unit
from utmost.releases import NoisySums
from utmost.workloads import Domain, Plan, Workload

KEY = bytes(range(32))
DOMAIN = Domain(shop=["A", "B", "C"])
WORDS = {"values": "paid", "step": "0.5", "each": (-1, 2), "most_events": 2}
SALES = {
    "user": [f"u{row % 9}" for row in range(80)],
    "shop": ["ABC?"[(row + row // 9) % 4] for row in range(80)],
    "paid": [Decimal((row * 37) % 23 - 9) / 4 for row in range(80)],
}


def counted(events=None, most=3, **words):
    events = SALES if events is None else events
    return counted_with(events, person="user", at_most=most, domain=DOMAIN, key=KEY, **{**WORDS, **words})


def by_hand(events):
    """Events and amounts in steps by shop, where all cells of a person are kept: no more than two events of each."""
    pairs = {}
    for user, shop, paid in zip(*events.values(), strict=True):
        if shop in "ABC":
            count, above = pairs.get((user, shop), (0, 0))
            steps = min(4, max(-2, round(Fraction(paid) * 2)))
            pairs[user, shop] = count + 1, above + steps + 2
    kept = {at: (min(2, count), round(Fraction(above * min(2, count), count))) for at, (count, above) in pairs.items()}
    return [[sum(pair[which] for (_, at), pair in kept.items() if at == shop) for shop in "ABC"] for which in (0, 1)]


def test_both_parts_are_those_of_the_definition():
    table = counted()
    events, above = by_hand(SALES)
    assert table.cells.tolist() == [[s, 6 * n - s] for n, s in zip(events, above, strict=True)]
    assert table.unit == Unit(12, 3, amount=Amount("paid", "0.5", (-1, 2)))
    assert table.domain.axes[1].labels[0] == ("above -1", "below 2")
    rows = counted_with(SALES, each_row=True, domain=DOMAIN, **{**WORDS, "most_events": 1})
    assert rows.cells.sum(axis=1).tolist() == [6 * SALES["shop"].count(shop) for shop in "ABC"]
    both = {"visits": ut.count(3), "spent": ut.sum("paid", step="0.5", each=(-1, 2), most_events=2)}
    tables = ut.count_measures(SALES, DOMAIN, ut.Counting("user", at_most=3, key=KEY), both)
    assert tables["spent"].cells.tolist() == table.cells.tolist()
    parts = counted_with(SALES, person="user", at_most=1, domain=DOMAIN, key=KEY, part="shop", **WORDS)
    assert sum(part.cells.sum() for part in parts.values()) == sum(counted(most=1).cells.ravel())


def test_no_person_charges_more_than_the_level_over_all_neighbours():
    """All small sets of events of one person beside another: both marginals together, in rationals, attained."""
    words = {"each": (-1, "0.5"), "step": "0.5", "most_events": 2}
    for most in (1, 2):
        alone = counted({"user": ["b"], "shop": ["A"], "paid": [1]}, most, **words)
        plan = Plan(alone.domain, alone.unit, {"shop": "1/2", "": "1/2"})
        levels = plan.levels(ut.level(1)).values()
        assert alone.unit.sensitivity == 6
        charges, changed = set(), set()
        amounts = [*product([-9, 7], repeat=4), ("0.24",) * 4]
        for shops, paid in product(product("AB", "A", "ABC?", "B"), amounts):
            events = {"user": ["a", "b", "a", "a", "a"], "shop": [shops[0], "A", *shops[1:]]}
            events["paid"] = [Decimal(paid[0]), Decimal(1), *map(Decimal, paid[1:])]
            change = counted(events, most, **words).cells - alone.cells
            pairs = [int(abs(row).sum()) for row in change]
            changed.add((max(pairs), sum(pair > 0 for pair in pairs)))
            # the log-ratio of independent geometric noise at a response beyond both centres
            charges.add(
                sum(
                    Fraction(int(abs(sums).sum())) * level.epsilon / 6
                    for sums, level in zip(plan.sums(change).values(), levels, strict=True)
                )
            )
        assert max(charges) == 1
        assert max(pair for pair, _ in changed) == 6
        assert max(many for _, many in changed) == most


def variance(epsilon):
    return 2 * exp(-epsilon) / (1 - exp(-epsilon)) ** 2


def test_the_figures_by_three_routes():
    """5.524 where halves of the level for sum and count have 15.67: closed form, combinations, and the draws."""
    cells = 10_000
    domain = Domain(cell=range(cells))
    rows = {"cell": [0], "x": [1]}
    table = ut.count_table(rows, domain, ut.Counting(each_row=True), measure=ut.sum("x", each=(0, 1), most_events=1))
    release = ut.release(table, Plan(table.domain, table.unit, {"cell x": 1}), epsilon=1, once=True).table
    both = release
    count, total = both.total({"cell": 7}), both.total({"cell": 7}, column="x")
    closed = 2 * variance(1) + variance(1)
    assert closed == pytest.approx(5.524, abs=5e-4)
    assert 2 * variance(0.5) == pytest.approx(15.67, abs=5e-3)
    assert count.variance + total.variance == pytest.approx(closed, rel=1e-9)
    drawn = next(iter(release.measured.values())).astype(float)[1:]
    shown = (drawn.sum(axis=1) ** 2).mean() + (drawn[:, 0] ** 2).mean()
    assert shown == pytest.approx(closed, rel=0.16)  # six standard deviations of 10 000 draws


def released(table, epsilon):
    return ut.release(table, Plan(table.domain, table.unit, {"shop paid": 1}), epsilon=epsilon, once=True).table


def test_an_answer_counts_and_averages_without_being_told_how():
    """A total counts the events unless an amount is named, in Python as on the command line; sums alone are summed."""
    table = counted()
    answer = ut.release(table, Plan(table.domain, table.unit, {"shop paid": 1}), epsilon=4000)
    events, paid = answer.total({"shop": "A"}), answer.total({"shop": "A"}, column="paid")
    assert (events, paid) == (answer.table.total({"shop": "A"}), answer.table.total({"shop": "A"}, column="paid"))
    assert round(events.value) == by_hand(SALES)[0][0] != round(paid.value)
    less = answer.difference({"shop": "A"}, {"shop": "B"}, column="paid")
    assert less.exact == paid.exact - answer.total({"shop": "B"}, column="paid").exact
    assert answer.difference({"shop": "A"}, {"shop": "B"}).exact == events.exact - answer.total({"shop": "B"}).exact
    with pytest.raises(OutOfRange, match="paid"):
        answer.total({"shop": "A"}, column="rent")
    assert answer.mean(where={"shop": "A"}) == answer.mean("paid", where={"shop": "A"})
    assert answer.with_means("shop") == answer.table.with_means("shop")
    plain = ut.release(np.array([1, 2, 3]), Plan(DOMAIN, Unit(1, 1), {"shop": 1}), epsilon=1)
    assert plain.total({"shop": "A"}) == plain.table.total({"shop": "A"})
    with pytest.raises(OutOfRange, match="name= and sums="):
        plain.mean()
    with pytest.raises(OutOfRange, match="were released together"):
        plain.column_bars()


def test_counts_sums_and_means_are_those_of_the_events():
    both, (events, above) = released(counted(), 4000), by_hand(SALES)
    sums = [float(Fraction(s, 2) - n) for n, s in zip(events, above, strict=True)]
    shown = both["shop"]
    assert list(shown) == ["shop", "count", "count_margin", "paid_sum", "paid_sum_margin"]
    assert np.rint(shown["count"]).tolist() == events
    assert shown["paid_sum"].tolist() == sums
    for shop, n, s in zip("ABC", events, sums, strict=True):
        bar = both.mean(where={"shop": shop})
        assert bar.lower <= s / n <= bar.upper
        assert bar.upper - bar.lower < 0.1
    assert both.total(column="paid").value == sum(sums)
    assert both[""]["count"].tolist() == [sum(events)]
    with pytest.raises(OutOfRange, match="must not name"):
        both.total({"paid": "above -1"})


def test_bars_hold_as_often_as_they_say():
    table, (events, above) = counted(), by_hand(SALES)
    true = events[0], Fraction(above[0], 2) - events[0]
    missed = np.zeros(3)
    for _ in range(60):
        both = released(table, 20)
        for at, (answer, truth) in enumerate(
            zip((both.total({"shop": "A"}), both.total({"shop": "A"}, column="paid")), true, strict=True)
        ):
            missed[at] += abs(answer.exact - truth) > Fraction(answer.margin)
    assert no_more_often(missed.max(), 60, 0.05) > LEVEL


def test_a_mean_lies_between_the_ends_and_is_open_where_there_may_be_nobody():
    """Of many draws, a shop without events never has a mean by a negative count, and no mean leaves its ends."""
    sales = {"user": list(range(12)), "shop": ["A"] * 12, "paid": [1, 2, 3, 9] * 3}
    paid = ut.sum("paid", each=(0, 10), most_events=1)
    table = ut.count_table(sales, {"shop": ["A", "B"]}, ut.Counting("user", at_most=1), measure=paid)
    plan, missed = Plan(table.domain, table.unit, {"shop": 1}), 0
    for _ in range(10):
        both = ut.release(table, plan, epsilon=1, once=True).table
        full, empty = both.mean(where={"shop": "A"}), both.mean(where={"shop": "B"})
        missed += full.determined and not full.lower <= 3.75 <= full.upper
        for bar in (full, empty):
            assert not bar.determined or 0 <= bar.lower <= bar.estimate <= bar.upper <= 10
        assert not empty.determined or both.total({"shop": "B"}).value > 0
        assert (both.with_means("shop")["paid_mean"][1] is None) == (not empty.determined)
    assert no_more_often(missed, 10, 0.05) > LEVEL


def test_statements_ledgers_and_what_is_refused(tmp_path):
    table = counted()
    plan = Plan(table.domain, table.unit, {"shop paid": 1})
    with Ledger.open(tmp_path / "a.db", create=True) as ledger:
        lower = ledger.publish("paid", table, plan, epsilon=1).table
        higher = ledger.relax("paid", table, epsilon=3).table
        assert ledger.publish("paid", table, ut.Promise.of_counted(table), epsilon=1).table.facts() == lower.facts()
    assert higher.total().margin < lower.total().margin
    changes = "changes at most 3 groups, with at most 2 events in each (paid from -1 to 2)"
    assert changes in lower.statement["guarantee"]
    assert NoisySums.of_facts(lower.facts()).unit == table.unit
    with pytest.raises(Unsupported, match="geometric noise"):
        ut.release(table, ut.Promise(unit=table.unit), epsilon=1, once=True)
    plain = Unit(12, 3, amount=Amount("paid", "0.5"))
    with pytest.raises(OutOfRange, match="must have measures of one kind"):
        ut.release(table, Plan(table.domain, plain, {"shop paid": 1}), epsilon=1, once=True)
    with pytest.raises(OutOfRange, match="the axis"):
        Plan(DOMAIN, table.unit, {"shop": 1})
    with pytest.raises(OutOfRange, match="were released together"):
        ut.release(np.array([1, 2, 3]), Plan(DOMAIN, Unit(1, 1), {"shop": 1}), epsilon=1, once=True).table.with_means(
            "shop"
        )
    for words in ({"per_cell": 5}, {"each": None}, {"values": None, "step": None, "each": None}):
        with pytest.raises(OutOfRange, match=r"most_events=.*(each|per_cell)="):
            counted(**words)


def test_a_plan_for_counts_and_sums_has_the_whole_level():
    table = counted()
    wanted = Workload(table.domain, {"shop paid": 1, "shop": 1})
    chosen = ut.choose_plan(wanted, table.unit, epsilon=1)
    assert {table.domain.marginal_name(marginal): share for marginal, share in chosen.shares.items()}[
        "shop paid"
    ] > Fraction(1, 2)
    for bound in chosen.lower_bounds.ratios(chosen.value).values():
        assert bound >= 1


@pytest.mark.parametrize("size", [1, 1 << 60])
def test_of_more_events_than_are_counted_the_mean_stays(size):
    """Nine events of a tenth of the most each, of which four count: four tenths, not all that four could be."""
    events = {"user": ["ann"] * 9, "shop": ["A"] * 9, "paid": [size] * 9}
    words = {"values": "paid", "each": (0, 10 * size), "most_events": 4}
    table = counted_with(events, person="user", domain={"shop": ["A"]}, at_most=1, **words)
    assert table.cells.tolist() == [[4 * size, 36 * size]]
    assert table.unit.sensitivity == 40 * size


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_with_means_is_saved_and_verified(tmp_path, library):
    """Whatever came in, the file has its columns in the order of the statement."""
    make = pytest.importorskip(library)
    sales = {"user": [f"u{at}" for at in range(300)], "shop": ["A", "B"] * 150, "paid": [at % 11 for at in range(300)]}
    frame = make.table(sales) if library == "pyarrow" else make.DataFrame(sales)
    counting, paid = ut.Counting("user", at_most=1), ut.mean("paid", each=(0, 10))
    counted = ut.count_table(frame, {"shop": ["A", "B"]}, counting, measure=paid)
    answer = ut.release(counted, Plan(counted.domain, counted.unit, {"shop": 1}), epsilon=5)
    answer.save(tmp_path / "means.csv", marginal="shop", means=True)
    header = (tmp_path / "means.csv").read_text(encoding="utf-8").split("\n")[0]
    assert header.split(",")[-3:] == ["paid_mean", "paid_mean_lower", "paid_mean_upper"]
    assert ut.read_release(tmp_path / "means.csv").mean(where={"shop": "A"}) == answer.mean(where={"shop": "A"})


@pytest.mark.parametrize("missing", [None, "leave out"])
def test_the_margin_of_a_mean_is_known_before_the_release(missing):
    """It is promised times the number that the mean divides by, and holds wherever in its range the mean lies."""
    sales = {"shop": ["A", "B", "A"], "paid": [-20, 100, 30]}
    measure = ut.mean("paid", each=(-20, 100), missing=missing)
    table = ut.count_table(sales, {"shop": ["A", "B"]}, ut.Counting(each_row=True), measure=measure)
    promise, number = ut.Promise.of_counted(table), "count" if missing is None else "paid_count"
    answer = ut.release(table, promise, epsilon=2, once=True)
    bars = answer.column_bars("shop")["shop"]
    # every cell was measured, so that the promise of the noise is that of the table
    assert promise.margins(epsilon=2) == pytest.approx({f"shop: {name}": bar for name, bar in bars.items()}, rel=5e-3)
    pair, widest = answer.table.plan.amount_pair, Fraction(0)
    for mean in (-20, -19, 0, 30, 70, 99, 100):  # the error of the mean, times the noisy number
        weights = tuple(over - mean * under for over, under in zip(pair.total, pair.stated, strict=True))
        ((_, margin),) = answer.table.widest_bars([(0, 0)], weights, Fraction(19, 20), together=False).items()
        widest = max(widest, margin)
        assert margin <= bars[f"paid_mean times {number}"]
    assert widest == bars[f"paid_mean times {number}"]


@pytest.mark.parametrize("wrap", [dict, pl.DataFrame, lambda table: duckdb.from_arrow(pa.table(table))])
def test_an_amount_may_be_grouped_by_bins_of_itself(wrap):
    """Means and medians of one column come from one release; it had to be copied under another name."""
    people = {"who": list("aabcd"), "region": list("NNNSS"), "income": ["7", "9", "25", "", "31"]}
    bins = ut.workloads.edges([0, 10, 30, None], column="income", missing="not stated")
    domain = ut.Domain(region=["N", "S"], income_group=bins)
    measure = ut.mean("income", each=(0, 30), missing="leave out")
    counted = ut.count_table(wrap(people), domain, ut.Counting("who", at_most=1), measure=measure)
    assert (counted.cells.sum(axis=-1) // 30).tolist() == [[1, 1, 0, 0], [0, 0, 1, 1]]
    assert counted.cells[..., 0].tolist() == [[8, 25, 0, 0], [0, 0, 30, 0]]
    same = ut.Domain(region=["N", "S"], income=bins)
    for measured in (measure, ut.sum("income", per_cell=30, missing="leave out")):
        with pytest.raises(OutOfRange, match=r"'income'.* Give the axis another name, such as 'income_group'"):
            ut.count_table(wrap(people), same, ut.Counting("who", at_most=1), measure=measured)


def test_the_average_of_a_person_is_rounded_to_the_nearest_step():
    """Rounded down, the mean over persons with several events was too low by half a step."""
    amounts = np.random.default_rng(5).integers(0, 9, (4_000, 3))
    events = {"user": np.repeat(np.arange(4_000), 3), "paid": amounts.ravel()}
    measure = ut.mean("paid", each=(0, 8))
    high, low = ut.count_table(events, ut.Domain(), ut.Counting("user", at_most=1), measure=measure).cells.ravel()
    assert high == sum(round(Fraction(int(three.sum()), 3)) for three in amounts)
    assert high + low == 8 * 4_000
    assert abs(high / 4_000 - amounts.mean()) < 0.02
