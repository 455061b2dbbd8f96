"""Variance, spread and cumulative sums of an ordered axis: compared with direct computation, coverage over releases,
errors."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import utmost as ut
from counting_words import counted_with
from goodness import LEVEL, no_more_often
from utmost.errors import OutOfRange
from utmost.noise import RatioBar
from utmost.privacy import Unit

# An interval holds for every set of ratios, and a release has those of its own noise alone.
from utmost.publish.releases.spread import deviation_bar, variance_bar
from utmost.workloads import Domain, Plan, Workload, bins, choose_plan, edges

AGE = edges([0, 10, 20, 30, 50])
DOMAIN = Domain(age=AGE, sex=["men", "women"])
POINTS = [Fraction("4.5"), Fraction("14.5"), Fraction("24.5"), Fraction("39.5")]


def released(cells, epsilon=1, domain=DOMAIN, shares=None):
    return ut.release(
        np.array(cells), Plan(domain, Unit(1, 1), shares or {"age sex": 1}), epsilon=epsilon, once=True
    ).table


def by_hand(counts, points=POINTS):
    total = sum(counts)
    mean = sum(c * x for c, x in zip(counts, points, strict=True)) / total
    return sum(c * (x - mean) ** 2 for c, x in zip(counts, points, strict=True)) / total


def test_without_noise_the_interval_closes_on_the_variance():
    """At epsilon 60 no cell has noise; the interval is nearly a point."""
    with pytest.warns(ut.errors.LittleProtection):
        release = released([[31, 20], [44, 9], [27, 30], [11, 2]], 60)
    for where, counts in (({}, [51, 53, 57, 13]), ({"sex": "men"}, [31, 44, 27, 11])):
        bar, true = release.variance("age", where=where), float(by_hand(counts))
        assert bar.lower <= true <= bar.upper
        assert bar.upper - bar.lower < 0.001
        assert bar.estimate == pytest.approx(true, rel=1e-9)
        assert deviation_bar(bar).estimate == pytest.approx(true**0.5, rel=1e-9)


class MeanWithin:
    """An interval of possible means around the true mean; calls are counted."""

    def __init__(self, true, low, high):
        self.estimate, self.ends = (low + high) / 2, {-1: low, 1: high}
        assert low <= true <= high

    def end(self, way):
        return self.ends[way]

    def is_beyond(self, ratio):
        return ratio < self.ends[-1] if ratio < self.estimate else ratio > self.ends[1]

    def bar(self):
        low, high = (float(self.ends[way]) + way * 1e-9 for way in (-1, 1))
        return RatioBar(float(self.estimate), low, high, Fraction(39, 40))


def test_every_interval_of_exact_ratios_holds_the_variance_wherever_the_mean_lies():
    """For intervals of the mean of any width around the true one: tests the argument itself, for many counts."""
    random = np.random.default_rng(5)
    for _ in range(200):
        counts = [int(c) for c in random.integers(0, 20, 4)]
        if not sum(counts):
            continue
        slack = Fraction(int(random.integers(0, 60)), 7)
        shift = Fraction(int(random.integers(-9, 10)), 9)

        def mean_of(points, sure, counts=counts, slack=slack, shift=shift):
            assert sure == Fraction(39, 40)  # two sets share what may be missed
            true = sum(c * x for c, x in zip(counts, points, strict=True)) / Fraction(sum(counts))
            return MeanWithin(true, true + slack * (shift - 1), true + slack * (shift + 1))

        bar = variance_bar(POINTS, Fraction(19, 20), mean_of)
        assert bar.lower <= by_hand(counts) <= bar.upper
        assert bar.confidence == Fraction(19, 20)


@pytest.mark.parametrize("variance", [4.0, 2.0, 1e-30, 7.1])
def test_a_deviation_is_rounded_outward_and_no_farther(variance):
    """Its ends are the floats next to the root, or the root itself if it is a float."""
    bar = deviation_bar(RatioBar(variance, variance, variance, Fraction(19, 20)))
    assert Fraction(bar.lower) ** 2 <= Fraction(variance) <= Fraction(bar.upper) ** 2
    assert (bar.lower == bar.upper) == (variance == 4.0)


def test_where_the_mean_may_be_anything_the_variance_is_at_most_a_quarter_of_the_width_squared():
    bar = variance_bar(
        POINTS, Fraction(19, 20), lambda points, _: MeanWithin(min(points), min(points) - 999, max(points) + 999)
    )
    assert (bar.lower, bar.upper) == (0, 35**2 / 4)


def missed(counts, epsilon, releases, confidence="0.5"):
    """The number of releases whose interval misses the variance."""
    domain, miss = Domain(age=AGE), 0
    for _ in range(releases):
        bar = released(counts, epsilon, domain, {"age": 1}).variance("age", confidence=confidence)
        miss += not bar.lower <= by_hand(counts) <= bar.upper
    return miss


@pytest.mark.slow
@pytest.mark.parametrize("counts", [[9, 3, 8, 1], [0, 5, 0, 0], [400, 300, 200, 100], [1, 0, 0, 1]])
def test_intervals_miss_no_more_often_than_they_say(counts):
    """Sixty releases: a variance of few people, whose mean is uncertain, takes half a second."""
    assert no_more_often(missed(counts, 1, 60, "0.8"), 60, 0.2) > LEVEL


def test_how_wide_beside_the_distribution_of_the_estimate():
    """For thousands of people the interval is at most three times as wide as the noise of the estimate implies."""
    counts = [3100, 4400, 2700, 1100]
    bar = released(counts, 1, Domain(age=AGE), {"age": 1}).variance("age")
    true, total = by_hand(counts), sum(counts)
    mean = sum(c * x for c, x in zip(counts, POINTS, strict=True)) / total
    deviation = (sum(float((x - mean) ** 2 - true) ** 2 for x in POINTS) * 1.8413) ** 0.5 / total
    assert bar.upper - bar.lower < 3 * 2 * 2 * deviation


def test_what_cannot_be_said():
    release = released([[1, 0], [0, 0], [0, 1], [0, 0]], "1/10")
    assert not release.variance("age").determined
    assert str(release.spread("age")) == "not determined"
    with pytest.raises(OutOfRange, match="no midpoint"):
        released([5, 6], domain=Domain(age=edges([0, 10, None])), shares={"age": 1}).variance("age")
    words = {"values": "paid", "per_cell": 9}
    spent = counted_with({"age": [3], "paid": [4]}, each_row=True, domain=Domain(age=AGE), **words)
    sums = ut.release(spent, Plan(spent.domain, spent.unit, {"age": 1}), epsilon=1, once=True).table
    with pytest.raises(OutOfRange, match="a release of counts"):
        sums.variance("age")
    point = RatioBar(0.0, 0.0, 0.0, Fraction(19, 20))
    assert deviation_bar(point) == point
    one = released([[40, 40]], domain=Domain(age=edges([0, 10]), sex=["men", "women"]))
    assert (one.variance("age").lower, one.variance("age").upper) == (0, 0)


def test_labels_without_a_number_need_none_where_the_selection_leaves_them_out():
    """Ages with an open top bin, a missing label and a label for others: the closed bins are as if these did not
    exist."""
    axis = edges([0, 10, 20, 30, 50, None], below="younger", other="elsewhere", missing="not stated")
    domain, closed = Domain(age=axis), ["0 to 9", "10 to 19", "20 to 29", "30 to 49"]
    counts = [31, 44, 27, 11]
    with pytest.warns(ut.errors.LittleProtection):
        release = released([7, *counts, 9, 5, 3], 60, domain, {"age": 1})
    bar, mean = (ask("age", where={"age": closed}) for ask in (release.variance, release.mean))
    assert bar.lower <= by_hand(counts) <= bar.upper
    assert bar.estimate == pytest.approx(float(by_hand(counts)), rel=1e-9)
    assert mean.estimate == pytest.approx(sum(c * x for c, x in zip(counts, map(float, POINTS), strict=True)) / 113)
    for left_in, message in (
        ("50+", "no midpoint"),
        ("younger", "no midpoint"),
        ("not stated", "no midpoint"),
    ):
        for ask in (release.variance, release.mean):
            with pytest.raises(OutOfRange, match=message):
                ask("age", where={"age": [*closed, left_in]})


def test_cumulative_sums_are_the_totals_up_to_each_bin():
    months = ut.workloads.periods("2024", "2025", every="month", missing="not stated")
    domain = Domain(month=months, sex=["men", "women"])
    cells = np.arange(26).reshape(13, 2) * 9
    plan = choose_plan(Workload.prefixes(domain, "month", by="sex"), Unit(1, 1), epsilon=1)
    release = ut.release(cells, plan, epsilon=1, once=True).table
    table = release.cumulative("month", where={"sex": "men"})
    assert list(table) == ["month", "count", "count_margin"]
    assert len(table["month"]) == 12
    for place, label in enumerate(table["month"].tolist()):
        total = release.total({"month": list(months.labels[0][: place + 1]), "sex": "men"})
        assert table["count"][place] == pytest.approx(total.value, abs=1)
        assert table["count_margin"][place] == pytest.approx(total.margin, abs=1), label
    wider = release.cumulative("month", where={"sex": "men"}, together=True)
    assert all(b >= a for a, b in zip(table["count_margin"], wider["count_margin"], strict=True))
    assert wider["count_margin"].sum() > table["count_margin"].sum()
    with pytest.raises(OutOfRange, match="axis of bins"):
        release.cumulative("sex")
    halves = release.cumulative("month/quarter")["month/quarter"].tolist()
    assert len(halves) == 4
    assert all(a < b for a, b in pairwise(halves))
    named = Domain(count=bins(4))
    with pytest.raises(OutOfRange, match="name of a column"):
        released([1, 2, 3, 4], domain=named, shares={"count": 1}).cumulative("count")


def test_a_spread_of_people_stands_beside_means():
    """A release with --mean counts people, too: the spread of another column was refused, its mean was not."""
    people = {"age": [5] * 300 + [25] * 100, "pay": [10] * 400}
    paid = ut.mean("pay", each=(0, 20))
    counted = ut.count_table(people, Domain(age=AGE), ut.Counting(each_row=True), measure=paid)
    with pytest.warns(ut.errors.LittleProtection):
        answer = ut.release(counted, ut.Promise.of_counted(counted), epsilon=40, once=True)
    bar = answer.variance("age")
    assert bar.lower <= float(by_hand([300, 0, 100, 0])) <= bar.upper
    assert bar.upper - bar.lower < 1
    with pytest.raises(OutOfRange, match="bins of the amount"):
        answer.variance("pay", values=[1, 2, 3])
    with pytest.raises(OutOfRange, match="declare bins of 'pay'"):
        answer.median("pay")


def test_cumulative_sums_miss_no_more_often_than_they_say():
    domain, counts, miss = Domain(age=AGE), np.array([9, 3, 8, 1]), 0
    for _ in range(200):
        table = released(counts, 1, domain, {"age": 1}).cumulative("age", together=True, confidence="0.8")
        miss += (np.abs(table["count"] - counts.cumsum()) > table["count_margin"]).any()
    assert no_more_often(miss, 200, 0.2) > LEVEL
