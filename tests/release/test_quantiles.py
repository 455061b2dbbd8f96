"""Quantiles from noisy sums: the answer contains the lower and the upper quantile as often as stated, in every corner
case."""

from fractions import Fraction
from time import process_time

import numpy as np
import pytest
from scipy.stats import binom

import utmost as ut
from goodness import LEVEL
from utmost.errors import NotDetermined, OutOfRange
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, bins, edges, plain

EDGES = [0, 5, 15, 25, 65, None]
SURE = Fraction(9, 10)


def true_cells(counts, q):
    """The cells of the lower and the upper quantile, by listing all persons; the whole axis if there is nobody."""
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
    "a tie at the middle": [50, 50, 0, 0, 100],
    "one person": [0, 0, 1, 0, 0],
    "nobody": [0, 0, 0, 0, 0],
    "all in the open end": [0, 0, 0, 0, 300],
    "two far apart": [1, 0, 0, 0, 1],
}


@pytest.mark.parametrize("name", TABLES)
def test_both_quantiles_lie_there_as_often_as_it_says(name):
    """Of 40 releases, the fraction that contains both cells is not below the confidence, up to chance."""
    domain, counts = Domain(age=edges(EDGES)), np.array(TABLES[name])
    plan, held = Plan(domain, Unit(1, 1), {"age": 1}), dict.fromkeys((Fraction(1, 2), Fraction(1, 10)), 0)
    for _ in range(40):
        released = ut.release(counts, plan, epsilon="1/2", once=True).table
        for q in held:
            lower, upper = true_cells(counts, q)
            found = released.quantile("age", q, confidence=SURE)
            places = [domain.axes[0].labels[0].index(label) for label in found.labels]
            assert places == list(range(places[0], places[-1] + 1))
            held[q] += places[0] <= lower and upper <= places[-1]
    assert binom.cdf(min(held.values()), 40, float(SURE)) > LEVEL


def test_a_quiet_release_answers_with_the_cells_themselves():
    """At a large level the answer is the true cells: for groups, for a selection, for a coarser level."""
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


def by_every_margin(released, places, q, where):
    """The cells between the cuts that are certain by value and exact margin, without the variance bound. The value of a
    cut after cell i is the number up to it, less q times the total number."""
    cuts = []
    for at in range(places - 1):
        up_to = [q.denominator * (place <= at) - q.numerator for place in range(places)]
        form = released.form(where, {"age": up_to})
        value = released.reconstruction.value(released.measured, form)
        cuts.append((value, abs(value) > Fraction(released.noise(form).margin(SURE))))
    first = next((at for at, (value, is_out) in enumerate(cuts) if value >= 0 or not is_out), places - 1)
    last = max((at + 1 for at, (value, is_out) in enumerate(cuts) if value <= 0 or not is_out), default=0)
    return first, last


SHAPES = {"squares": np.arange(24) ** 2, "nobody": np.zeros(24, int), "one cell": np.eye(24, dtype=int)[15] * 90,
          "ends": np.eye(24, dtype=int)[[0, 23]].sum(axis=0) * 40}  # fmt: skip


HATS = ["age sex", "age~3"]
MEASURED = [None, HATS, [*HATS, "age~2 sex", "sex"]]


@pytest.mark.parametrize(
    ("shape", "where", "measured"),
    [
        (shape, {"sex": "women"} if (row + column) % 2 else {}, MEASURED[column])
        for row, shape in enumerate(SHAPES)
        for column in ((0, 1, 2) if shape == "squares" else (row % 3,))
    ],
)
def test_bounds_by_the_variance_change_no_answer(shape, where, measured):
    """The variance of their noise decides most cuts; the answer is the same as by all exact margins."""
    domain = Domain(age=bins(12), sex=["men", "women"])
    marginals = measured or list(domain.marginals())[:4]
    plan = Plan(domain, Unit(1, 1), dict.fromkeys(marginals, Fraction(1, len(marginals))))
    labels = domain.axes[0].labels[0]
    for epsilon, q in (("1/2", Fraction(1, 2)), (2, Fraction(2, 3))):
        released = ut.release(SHAPES[shape].reshape(12, 2), plan, epsilon=epsilon, once=True).table
        first, last = by_every_margin(released, len(labels), q, where)
        assert released.quantile("age", q, where=where, confidence=SURE).labels == labels[first : last + 1]


def test_most_cuts_are_decided_without_the_distribution_of_their_noise():
    """All but a few of sixty cuts, so that a median of a long axis takes no longer than its sums."""
    domain = Domain(age=bins(60))
    released = ut.release(
        np.full(60, 50), Plan(domain, Unit(1, 1), {"age": "1/2", "age~6": "1/2"}), epsilon=1, once=True
    ).table
    begun = process_time()
    released.quantile("age", "2/3")
    by_variance = process_time() - begun
    begun = process_time()
    by_every_margin(released, 60, Fraction(2, 3), {})
    assert by_variance < (process_time() - begun) / 3


@pytest.mark.parametrize("digits", [1, 400])
@pytest.mark.parametrize("where", [{}, {"sex": "women"}])
def test_variance_bounds_of_hat_functions_hold_and_are_tight(where, digits):
    """Of cuts along the axis of hat functions: at least the exact variances, by a millionth at most."""
    domain = Domain(age=bins(30), sex=["men", "women"])
    shares = {"age sex": "1/3", "age~7": "1/3", "age~3 sex": "1/3"}
    released = ut.release(np.ones((30, 2), int), Plan(domain, Unit(1, 1), shares), epsilon=1, once=True).table
    q = Fraction(10**digits // 3, 10**digits)
    forms = [released.form(where, {"age": [(place <= at) - q for place in range(30)]}) for at in range(29)]
    squares = released.reconstruction
    noises = dict(zip(squares.weights, (1.5, 0.25, 40), strict=True))
    terms = [squares.terms(form) for form in forms]
    exact = [
        sum(noises[marginal] * float(size**2 * n) for marginal, of in found.items() for (size,), n in of.items())
        for found in terms
    ]
    bounds = squares.variance_bounds(forms, noises)
    assert all(of * (1 - 1e-12) <= bound <= of * 1.000001 for of, bound in zip(exact, bounds, strict=True))


def test_what_has_no_order_has_no_quantile():
    domain = Domain(place=["a", "b"], year=bins(4))
    released = ut.release(np.zeros((2, 4), int), Plan(domain, Unit(1, 1), {"year": 1}), epsilon=1, once=True).table
    for name, q in (("place", "1/2"), ("year", 0), ("year", 1), ("year", "3/2"), ("month", "1/2")):
        with pytest.raises(OutOfRange):
            released.quantile(name, q)
    with pytest.raises(NotDetermined):
        released.quantile("year", "1/2", where={"place": "a"})
    assert len(released.median("year").labels) >= 1
    assert plain(["x"]).edges is None


def test_undeclared_and_missing_values_have_no_place_in_the_order():
    """The median is that of the values in the bins, and so are sums up to a bin, however many values are elsewhere."""
    axis = edges([0, 5, 9, 20], other="unreadable", missing="unknown")
    plan = Plan(Domain(age=axis), Unit(1, 1), {"age": 1})
    released = ut.release(np.array([50, 100, 40, 900, 800]), plan, epsilon=50, once=True).table
    assert str(released.median("age")) == "in 5 to 8"
    assert released.cumulative("age")["count"].tolist() == [50, 150, 190]
