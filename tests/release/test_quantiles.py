"""Quantiles from noisy sums: both lie in the answer as often as it says, in every corner."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import utmost as ut
from utmost.errors import NotDetermined, OutOfRange
from utmost.exact import level
from utmost.noise import Combination
from utmost.privacy import Unit
from utmost.publish.releases.quantiles import quantile_bar
from utmost.publish.releases.workload_errors import AnswerErrors, scaled
from utmost.publish.workloads.measuring.forms import selected
from utmost.workloads import Domain, Plan, bins, edges, plain

EDGES = [0, 5, 15, 25, 65, None]
SURE = Fraction(9, 10)


def true_cells(counts, q):
    """The cells of the lower and of the upper quantile, by listing everybody; the whole axis of nobody."""
    everybody = np.repeat(np.arange(len(counts)), counts)
    n = len(everybody)
    if n == 0:
        return 0, len(counts) - 1
    needed = q * n
    lower = int(everybody[max(0, -(-needed.numerator // needed.denominator) - 1)])
    whole = needed.denominator == 1
    upper = int(everybody[min(n - 1, int(needed) if whole else -(-needed.numerator // needed.denominator) - 1)])
    return lower, upper


TABLES = {
    "spread": [40, 55, 38, 70, 60],
    "a tie at the middle": [50, 50, 0, 0, 100],
    "one person": [0, 0, 1, 0, 0],
    "nobody": [0, 0, 0, 0, 0],
    "all in the open end": [0, 0, 0, 0, 300],
    "all in the first": [300, 0, 0, 0, 0],
    "two far apart": [1, 0, 0, 0, 1],
}


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 10)])
@pytest.mark.parametrize("name", TABLES)
def test_both_quantiles_lie_there_as_often_as_it_says(name, q):
    """Of 800 releases: the share of those that hold both cells is not below the confidence, up to chance."""
    domain, counts = Domain(age=edges(EDGES)), np.array(TABLES[name])
    margins: dict[tuple[int, ...], Fraction] = {}
    lower, upper = true_cells(counts, q)
    rng, held = np.random.default_rng(7), 0
    alpha = np.exp(-0.5)
    noises = rng.geometric(1 - alpha, (800, 5)) - rng.geometric(1 - alpha, (800, 5))

    def one_measured(form, noisy):
        factors = tuple(int(factor) for factor in form.factors[0])
        if factors not in margins:
            margins[factors] = Fraction(Combination(list(factors), "1/2").margin(SURE)) / form.denominator
        value = Fraction(sum(f * int(x) for f, x in zip(factors, noisy, strict=True)), form.denominator)
        return value, abs(value) > margins[factors]

    for noise in noises:

        def measured(forms, noisy=counts + noise):
            return [one_measured(form, noisy) for form in forms]

        found = quantile_bar(domain, selected(domain, {}), "age", q, SURE, measured)
        places = [domain.axes[0].labels[0].index(label) for label in found.labels]
        assert places == list(range(places[0], places[-1] + 1))
        held += places[0] <= lower and upper <= places[-1]
    assert binom.cdf(held, 800, float(SURE)) > 1e-6


def test_a_quiet_release_answers_with_the_cells_themselves():
    """At a large level the answer is the true cells: of groups, of a selection, of a level above."""
    counts = np.array([[5, 1], [9, 2], [3, 30], [20, 4], [8, 8]])
    domain = Domain(age=edges(EDGES, groups={"broad": [0, 15, 65, None]}), sex=["men", "women"])
    released = ut.release(counts, Plan(domain, Unit(1, 1), {"age sex": 1}), epsilon=60, once=True).table
    labels, broad = (domain.axes[0].labels[level] for level in (0, 1))
    for where, chosen in (
        ({}, counts.sum(1)),
        ({"sex": "women"}, counts[:, 1]),
        ({"broad": "15 to 64"}, counts.sum(1) * [0, 0, 1, 1, 0]),
    ):
        for q in ("1/10", "1/4", "1/2", "0.9", "99/100"):
            lower, upper = true_cells(chosen, Fraction(q))
            found = released.quantile("age", q, where=where)
            assert found.labels == labels[lower : upper + 1]
            assert found.estimate == labels[lower]
    assert released.median("broad").labels == (broad[true_cells(np.array([17, 57, 16]), Fraction(1, 2))[0]],)
    assert released.quantile("age", "0.99").interval == (65, float("inf"))
    assert str(released.median("age", where={"sex": "women"})) == "in 15 to 24"


@pytest.mark.parametrize("where", [{}, {"sex": "women"}])
def test_a_bar_leaves_0_out_where_the_margin_does_not_reach_it(where):
    """The same answers as by the margin of every cut, of integers and of thirds, whatever the noise."""
    domain = Domain(age=bins(12), sex=["men", "women"])
    measured_families = list(domain.families())[:4]
    plan = Plan(domain, Unit(1, 1), dict.fromkeys(measured_families, Fraction(1, len(measured_families))))
    for table in (np.arange(24) ** 2, np.zeros(24, int), np.eye(24, dtype=int)[15] * 90):
        released = ut.release(table.reshape(12, 2), plan, epsilon=2, once=True).table

        def measured(forms, released=released):
            values = [released.reconstruction.value(released.measured, form) for form in forms]
            margins = [Fraction(released.noise(form).margin(SURE)) for form in forms]
            return [(value, abs(value) > margin) for value, margin in zip(values, margins, strict=True)]

        for q in (Fraction(1, 2), Fraction(2, 3)):
            expected = quantile_bar(domain, selected(domain, where), "age", q, SURE, measured)
            assert released.quantile("age", q, where=where, confidence=SURE) == expected


@pytest.mark.parametrize("step", [Fraction(1), Fraction(2), Fraction(1, 3)])
def test_an_error_in_larger_steps_is_as_much_larger(step):
    noise = Combination([1, 3], level(1), [4, 1])
    assert scaled(noise, step).variance == step**2 * noise.variance


def test_no_bound_by_the_variance_says_more_than_the_law_of_an_answer():
    """At the margin itself, and on either side of it: of one sum, and of many."""
    domain, miss = Domain(age=bins(100)), 1 - SURE
    released = ut.release(np.zeros(100, int), Plan(domain, Unit(1, 1), {"age": 1}), epsilon=1, once=True).table
    errors = AnswerErrors(released.reconstruction, {(0,): level(1)}, released.unit)
    for cells in (1, 2, 40):
        form = selected(domain, {"age": [str(age) for age in range(cells)]})
        margin = Fraction(errors.of(form).margin(SURE))
        for value in (margin - 1, margin, margin + 1, 3 * margin):
            assert errors.leave_out([form, form], [value, -value], miss) == [value > margin] * 2


def test_bounds_by_the_variance_spare_most_laws_and_change_no_answer(monkeypatch):
    domain, worked_out = Domain(age=bins(100)), []
    released = ut.release(np.full(100, 50), Plan(domain, Unit(1, 1), {"age": 1}), epsilon=1, once=True).table
    laws = AnswerErrors.of
    monkeypatch.setattr(AnswerErrors, "of", lambda errors, form: worked_out.append(form) or laws(errors, form))
    quantile = released.quantile("age", "2/3")
    assert len(worked_out) < 12
    monkeypatch.setattr(AnswerErrors, "_reaches", lambda errors, forms, miss: [float("inf")] * len(forms))
    assert released.quantile("age", "2/3") == quantile
    assert len(worked_out) > 99


def test_what_has_no_order_has_no_quantile():
    domain = Domain(place=["a", "b"], age=edges([0, 5, 9], other="else"), year=bins(4))
    released = ut.release(np.zeros((2, 3, 4), int), Plan(domain, Unit(1, 1), {"year": 1}), epsilon=1, once=True).table
    for name, q in (("place", "1/2"), ("age", "1/2"), ("year", 0), ("year", 1), ("year", "3/2"), ("month", "1/2")):
        with pytest.raises(OutOfRange):
            released.quantile(name, q)
    with pytest.raises(NotDetermined):
        released.quantile("year", "1/2", where={"place": "a"})
    assert len(released.median("year").labels) >= 1
    assert plain(["x"]).edges is None
