"""Listed rows and their products: the charge by brute force, unbiased estimates, the variance by dense algebra."""

import json
import pickle

import numpy as np
import pytest

from utmost.errors import OutOfRange, Unsupported, WrongKind
from utmost.exact import level
from utmost.privacy import Unit
from utmost.workloads import AxisRows, Domain, Plan, ProductRows, Workload, bins, choose_plan, hierarchy, values_alone

ONE = Unit(1, 1)
SMALL = Domain(age=bins(6), sex=["m", "w"], kind=["x", "y", "z"])
AGE = AxisRows(0, np.array([[1, 2, 2, 0, 1, 0], [0, 1, 1, 3, 0, 1]]), 6)
KIND = AxisRows(0, np.array([[1, 1, 1]]), 3)
ROWS = ProductRows(SMALL, (AGE, values_alone(SMALL.axes[1]), KIND))
LEVELS = ProductRows(
    Domain(place=hierarchy({"N": ["n1", "n2"], "S": ["s1"]}, names=["region", "district"]), age=bins(6)),
    (AxisRows(1, np.array([[1, 2]]), 4), AGE),
)


def test_a_plan_of_rows_is_a_plan():
    """Facts, pickles, words, levels, names; and what is no such plan is refused."""
    chosen = Plan(SMALL, Unit(2, 3), ROWS.shares, Workload(SMALL, {"age sex": 1}), level(1), rows=ROWS)
    again = Plan.of_facts(json.loads(json.dumps(chosen.facts())), Unit(2, 3))
    assert again.shares == chosen.shares == pickle.loads(pickle.dumps(chosen)).shares
    assert again.rows.facts() == ROWS.facts()
    assert chosen.charge == 1
    assert chosen.measured == 8 * 2 * 4
    marginal = next(iter(ROWS.shares))
    assert chosen.marginal_words(marginal) == "2 rows of age by 2 values of sex by 1 row of kind"
    assert chosen.lower_bounds.not_bounded["given marginals"] == (
        "a bound over marginals needs sums over groups, and this plan measures listed rows"
    )
    assert all(times >= 1 for _, times in chosen.bound_ratios())
    assert chosen.value == pytest.approx(sum(chosen.variances.values()))
    assert "share" in chosen.summary()
    wrong = {marginal: share / 2 for marginal, share in ROWS.shares.items()}
    other = Domain(age=bins(6), sex=["m", "w"])
    for make, error, says in (
        (lambda: Plan(SMALL, ONE, wrong, rows=ROWS), OutOfRange, "add up to exactly the level"),
        (lambda: Plan(SMALL, ONE, ROWS.shares), OutOfRange, "rows= must be given"),
        (lambda: Plan(SMALL, ONE, {"age sex": 1}, rows=ROWS), OutOfRange, "classes"),
        (lambda: Plan(other, ONE, ROWS.shares, rows=ROWS), OutOfRange, "domain|level"),
        (lambda: Plan(SMALL, ONE, ROWS.shares, rows=[AGE]), WrongKind, "ProductRows"),
        (lambda: Plan(SMALL, Unit(1, 2), ROWS.shares, together="sex", rows=ROWS), Unsupported, "cannot be combined"),
        (lambda: Plan(LEVELS.domain, ONE, LEVELS.shares, Workload(LEVELS.domain, {"district": 1}), rows=LEVELS),
         OutOfRange, "determine"),
        (lambda: ProductRows(SMALL, (AGE,)), OutOfRange, "every axis"),
        (lambda: ProductRows(SMALL, (AGE, KIND, KIND)), OutOfRange, "entry for each value"),
        (lambda: AxisRows(0, np.ones((600, 600), dtype=int), 601), OutOfRange, "10\\^8"),
        (lambda: AxisRows(0, np.array([[1, 2]]), 2), OutOfRange, "less than"),
        (lambda: AxisRows(0, np.array([[-1, 2]]), 5), OutOfRange, "integers of at least 0"),
        (lambda: AxisRows(0, np.array([[0, 0]]), 5), OutOfRange, "no row may be all zeros"),
        (lambda: AxisRows(0, np.array([[0.5, 1]]), 5), OutOfRange, "integers"),
        (lambda: AxisRows(0, np.array([[1, 1]]), 1 << 30), OutOfRange, "parts"),
    ):  # fmt: skip
        with pytest.raises(error, match=says):
            make()
    facts = chosen.facts()
    for spoiled in (
        [], "rows", [{}] * 3, [{**facts["rows"][0], "level": "district"}, *facts["rows"][1:]],
        [{**facts["rows"][0], "rows": [[1]]}, *facts["rows"][1:]],
        [{**facts["rows"][0], "rows": [[1.0] * 6]}, *facts["rows"][1:]],
        [{**facts["rows"][0], "rows": [[10**30] * 6]}, *facts["rows"][1:]],
        [{**facts["rows"][0], "parts": "6"}, *facts["rows"][1:]],
    ):  # fmt: skip
        with pytest.raises((OutOfRange, WrongKind)):
            Plan.of_facts({**facts, "rows": spoiled}, Unit(2, 3))


def test_sums_of_huge_cells_are_exact():
    plan = Plan(SMALL, ONE, ROWS.shares, rows=ROWS)
    for cells in (np.full(SMALL.shape, 2**61), np.full(SMALL.shape, 100, dtype=np.int8)):
        sums = plan.sums(cells)
        assert sum(int(one) for one in sums[next(iter(sums))].ravel()) == int(cells.flat[0]) * 12 * 2 * 3


LONGER = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "size", "epsilon", "laplace", "ours"),
    [
        pytest.param("prefixes", 32, "0.1", 1965.2, 2323.5, marks=LONGER),
        ("ranges", 32, 1, 20.24, 20.87),
        pytest.param("prefixes", 32, 1, 19.65, 22.98, marks=LONGER),
        pytest.param("prefixes", 64, 1, 28.32, 31.86, marks=LONGER),
        pytest.param("prefixes", 64, 3, 3.149, 3.165, marks=LONGER),
        pytest.param("ranges", 64, "0.1", 3082.6, 3274.7, marks=LONGER),
    ],
)
def test_the_search_reaches_what_is_known_of_prefixes_and_ranges(name, size, epsilon, laplace, ours):
    """Variances within .3 % of the best real rows with Laplace noise at .1, below them from 1 on, and below the plan
    of marginals and hat functions; the figures are those of the best real rows, found by another descent (SciPy's
    L-BFGS-B)."""
    wanted = getattr(Workload, name)(Domain(age=bins(size)), "age")
    chosen = choose_plan(wanted, ONE, epsilon=epsilon, method="rows")
    assert chosen.rows is not None
    assert chosen.value < laplace * (1.003 if epsilon == "0.1" else 1)
    assert chosen.value < ours * 0.99


def test_the_planner_takes_the_least():
    """MarginalNames with hat functions for rectangles of 24 x 20 at epsilon 1, products where these are less; at each
    level."""
    box = Domain(x=bins(24), y=bins(20))
    assert choose_plan(Workload.ranges(box, "x", "y"), ONE, epsilon=1, method="rows").rows is None
    prefixes = Workload.prefixes(box, "x", "y")
    chosen = choose_plan(prefixes, ONE, epsilon="0.1", up_to=1, method="rows")
    assert chosen.rows is not None
    assert chosen.value < choose_plan(prefixes, ONE, epsilon="0.1", up_to=1).value
    assert chosen.value == pytest.approx(next(iter(chosen.variances.values())))
    with pytest.raises(Unsupported, match="searched only without"):
        choose_plan(prefixes, ONE, epsilon=1, method="rows", aim="largest")
    with pytest.raises(Unsupported, match="1100"):
        choose_plan(Workload.ranges(Domain(t=bins(2000)), "t"), ONE, epsilon=1, method="rows")


@pytest.mark.slow
def test_rectangles_have_less_error_than_hdmm_prints():
    """32.692 of sqrt(2)/epsilon over all rectangles of 256 x 256."""
    box = Domain(x=bins(256), y=bins(256))
    chosen = choose_plan(Workload.ranges(box, "x", "y"), ONE, epsilon="1/100", method="rows")
    assert chosen.rows is None or np.sqrt(chosen.value / 2) / 100 < 32.49
