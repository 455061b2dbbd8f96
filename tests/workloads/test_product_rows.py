"""Listed rows and their products: the charge by brute force, unbiased estimates, the variance by dense algebra."""

import itertools
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import NotDetermined, OutOfRange, Unsupported, WrongKind
from utmost.exact import level
from utmost.noise import Geometric
from utmost.privacy import Unit

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.workloads.measuring.forms import ProductForm
from utmost.publish.workloads.measuring.measured_families import is_hats, is_listed, load_of, measured_family
from utmost.publish.workloads.measuring.product_errors import product_variances
from utmost.publish.workloads.planning.product_search import product_rows
from utmost.publish.workloads.reconstruction.least_squares import precision_weights
from utmost.publish.workloads.reconstruction.product_reconstruction import ProductReconstruction
from utmost.workloads import AxisRows, Domain, Plan, ProductRows, Workload, bins, choose_plan, hierarchy, values_alone

ONE = Unit(1, 1)
SMALL = Domain(age=bins(6), sex=["m", "w"], kind=["x", "y", "z"])
AGE = AxisRows(0, np.array([[1, 2, 2, 0, 1, 0], [0, 1, 1, 3, 0, 1]]), 6)
KIND = AxisRows(0, np.array([[1, 1, 1]]), 3)
ROWS = ProductRows(SMALL, (AGE, values_alone(SMALL.axes[1]), KIND))
ALONE = ProductRows(Domain(age=bins(6)), (AGE,))
LEVELS = ProductRows(
    Domain(place=hierarchy({"N": ["n1", "n2"], "S": ["s1"]}, names=["region", "district"]), age=bins(6)),
    (AxisRows(1, np.array([[1, 2]]), 4), AGE),
)


def rows_of(rows, family):
    """What a family measures as dense rows over the cells, from unit vectors."""
    return np.array([rows.sums(cell, [family])[family].ravel() for cell in np.eye(rows.domain.size, dtype=int)]).T


def drawn_rows(draw, axis):
    """Listed rows of an axis, at random."""
    on = draw(st.integers(0, len(axis.levels)))
    values, parts = axis.groups(on), draw(st.integers(1, 9))
    entries = st.lists(st.integers(0, 3), min_size=values, max_size=values).filter(any)
    listed = np.array(draw(st.lists(entries, max_size=3)), dtype=int).reshape(-1, values)
    return AxisRows(on, listed, int(listed.sum(axis=0).max(initial=0)) + parts)


@st.composite
def products_of_rows(draw):
    axes = [bins(5), hierarchy({"N": ["n1", "n2"], "S": ["s1"]}, names=["region", "district"]), ["a"], ["b", "c"]]
    chosen = draw(st.lists(st.sampled_from(range(len(axes))), min_size=1, max_size=3, unique=True))
    domain = Domain({f"x{place}": axes[place] for place in chosen})
    return ProductRows(domain, tuple(drawn_rows(draw, axis) for axis in domain.axes))


@settings(max_examples=30)
@given(products_of_rows())
def test_every_cell_is_charged_the_level_to_the_last_digit(rows):
    """Over all sums in which a cell lies, weight times share adds up to 1: in rationals, for every single cell."""
    charges = set()
    for cell in np.eye(rows.domain.size, dtype=int):
        sums = rows.sums(cell.reshape(rows.domain.shape), list(rows.shares))
        charges.add(sum(share * int(np.abs(sums[family]).sum()) for family, share in rows.shares.items()))
    assert charges == {Fraction(1)} == {rows.charge(rows.shares)}


def test_the_charge_is_that_of_the_worst_neighbour_whatever_the_shares():
    """Other shares of the same classes: the largest over all cells, and over all pairs for two cells, never more."""
    random = np.random.default_rng(1)
    for _ in range(20):
        shares = {family: Fraction(int(random.integers(1, 9)), 10) for family in ROWS.shares}
        spent = []
        for cell in np.eye(SMALL.size, dtype=int):
            sums = ROWS.sums(cell, list(shares))
            spent.append(sum(share * int(np.abs(sums[family]).sum()) for family, share in shares.items()))
        assert ROWS.charge(shares) == max(spent)
    worst = {}
    for one, other in itertools.combinations(range(ALONE.domain.size), 2):
        change = np.zeros(6, dtype=int)
        change[one], change[other] = 1, -1
        sums = ALONE.sums(change, list(ALONE.shares))
        spent = sum(share * int(np.abs(sums[family]).sum()) for family, share in ALONE.shares.items())
        worst[(one, other)] = spent / 2
    for unit in (Unit(1, 2), Unit(1, 1, "change-one"), Unit(1, 1, "change-one", nonnegative=True)):
        assert max(worst.values()) <= Plan(ALONE.domain, unit, ALONE.shares, rows=ALONE).charge == 1


@given(products_of_rows(), st.integers(0, 2**32))
def test_estimates_are_unbiased_exactly(rows, seed):
    """Of sums without noise every estimate is the truth, in rationals, whatever the weights."""
    random = np.random.default_rng(seed)
    weights = {family: int(random.integers(1, 10**9)) for family in rows.shares}
    reconstruction = ProductReconstruction(rows, weights)
    truth = random.integers(-50, 50, rows.domain.shape)
    exactly = rows.sums(truth, list(weights))
    noise = {family: random.integers(-9, 9, sums.shape) for family, sums in exactly.items()}
    noisy = {family: exactly[family] + noise[family] for family in weights}
    for family in rows.domain.families():
        if any(wanted < base for wanted, base in zip(family, rows.base, strict=True)):
            with pytest.raises(NotDetermined):
                reconstruction.estimates(noisy, family)
            continue
        sums, divisor = reconstruction.estimates(exactly, family)
        assert (sums == rows.domain.sums(truth, family).astype(object) * divisor).all()
        sums, divisor = reconstruction.estimates(noisy, family)
        place = tuple(int(random.integers(size)) for size in sums.shape)
        factors = tuple(
            (axis.group_of(at) == group).astype(int) * 3
            for axis, at, group in zip(rows.domain.axes, family, place, strict=True)
        )
        form = ProductForm(rows.domain, factors, 3 ** len(factors))
        assert reconstruction.value(noisy, form) == Fraction(sums[place]) / divisor
        known = {other: sum(count for count in of.values()) for other, of in reconstruction.terms(form).items()}
        assert all(count <= noise[other].size for other, count in known.items())


@pytest.mark.parametrize("rows", [ALONE, ROWS, LEVELS], ids=["one axis", "three", "levels"])
@pytest.mark.parametrize("epsilon", ["0.1", 1, 3])
def test_the_variance_is_that_of_dense_algebra(rows, epsilon):
    """By the coefficients of dense matrices, by `terms`, by `coefficients`, and by the planner's closed form."""
    domain, E = rows.domain, level(epsilon)
    levels = {family: E.scaled(share) for family, share in rows.shares.items()}
    weights = precision_weights(levels)
    reconstruction = ProductReconstruction(rows, weights)
    variance = {family: float(Geometric(one).variance()) for family, one in levels.items()}
    wanted = Workload(domain, {domain.family_name(rows.base): 1, "": 2})
    wanted += Workload.ranges(domain, "age") + Workload.prefixes(domain, "age", weight=3)
    along = []  # of each axis the estimates by least squares with marginal weights, dense
    for axis, listed in enumerate(rows.axes):
        A = np.vstack([np.eye(listed.values), listed.rows])
        W = np.zeros(len(A))
        for family, weight in weights.items():
            W[listed.places[rows.classes(family)[axis]]] += weight
        along.append(np.linalg.solve(A.T @ (W[:, None] * A), A.T * W))
    B = along[0]
    for other in along[1:]:
        B = np.kron(B, other)
    V = np.zeros([sum(listed.rows.shape) for listed in rows.axes])
    for family, one in variance.items():
        V[np.ix_(*rows.places(family))] = one
    groups = np.array([domain.sums(cell.reshape(domain.shape), rows.base).ravel() for cell in np.eye(domain.size)])
    covariance = (B * V.ravel()) @ B.T
    planned = product_variances(wanted, rows, rows.shares, E.epsilon_float)
    for part in wanted.parts:
        W = part.matrix(domain) @ groups / groups.sum(axis=0)
        dense = np.trace(W @ covariance @ W.T) / part.answers
        assert planned[part.name] == pytest.approx(dense, rel=1e-9)
    row = np.zeros(domain.shape)
    row[..., 1 : 4 if domain.columns[-1] == "age" else None] = 1
    form = ProductForm(domain, tuple(np.ones(size, dtype=int) for size in domain.shape))
    dense = np.ones(len(covariance)) @ covariance @ np.ones(len(covariance))
    terms = reconstruction.terms(form)
    spread = sum(
        float(size) ** 2 * count * variance[family] for family in terms for (size,), count in terms[family].items()
    )
    assert spread == pytest.approx(dense, rel=1e-9)
    others = [0] * (len(domain.axes) - 1) or [0]
    entering = reconstruction.coefficients(rows.base, others)
    squares = sum((sizes**2).sum(axis=1) * count * variance[family] for family, sizes, count in entering)
    size = domain.group_shape(rows.base)
    places = [np.arange(n) if axis == reconstruction.place else [0] for axis, n in enumerate(size)]
    flat = np.ravel_multi_index(np.ix_(*places), size).ravel()
    assert squares == pytest.approx(covariance[flat, flat], rel=1e-9)


def test_a_plan_of_rows_is_a_plan():
    """Facts, pickles, words, levels, names; and what is no such plan is refused."""
    chosen = Plan(SMALL, Unit(2, 3), ROWS.shares, Workload(SMALL, {"age sex": 1}), level(1), rows=ROWS)
    again = Plan.of_facts(json.loads(json.dumps(chosen.facts())), Unit(2, 3))
    assert again.shares == chosen.shares == pickle.loads(pickle.dumps(chosen)).shares
    assert again.rows.facts() == ROWS.facts()
    assert chosen.charge == 1
    assert chosen.measured == 8 * 2 * 4
    family = next(iter(ROWS.shares))
    assert measured_family(SMALL, SMALL.family_name(family)) == family
    assert is_listed(family)
    assert not is_hats(family)
    assert load_of(family) == 1
    assert chosen.family_words(family) == "2 rows of age by 2 values of sex by 1 row of kind"
    assert chosen.lower_bounds.not_bounded["these families"] == "listed rows are no family of groups"
    assert all(times >= 1 for _, times in chosen.within())
    assert chosen.value == pytest.approx(sum(chosen.variances.values()))
    assert "share" in chosen.summary()
    wrong = {family: share / 2 for family, share in ROWS.shares.items()}
    other = Domain(age=bins(6), sex=["m", "w"])
    for make, error, says in (
        (lambda: Plan(SMALL, ONE, wrong, rows=ROWS), OutOfRange, "spend the level"),
        (lambda: Plan(SMALL, ONE, ROWS.shares), OutOfRange, "listed rows"),
        (lambda: Plan(SMALL, ONE, {"age sex": 1}, rows=ROWS), OutOfRange, "classes"),
        (lambda: Plan(other, ONE, ROWS.shares, rows=ROWS), OutOfRange, "domain|level"),
        (lambda: Plan(SMALL, ONE, ROWS.shares, rows=[AGE]), WrongKind, "ProductRows"),
        (lambda: Plan(SMALL, Unit(1, 2), ROWS.shares, together="sex", rows=ROWS), Unsupported, "alone"),
        (lambda: Plan(LEVELS.domain, ONE, LEVELS.shares, Workload(LEVELS.domain, {"district": 1}), rows=LEVELS),
         OutOfRange, "determine"),
        (lambda: ProductRows(SMALL, (AGE,)), OutOfRange, "every axis"),
        (lambda: ProductRows(SMALL, (AGE, KIND, KIND)), OutOfRange, "entry for each value"),
        (lambda: AxisRows(0, np.ones((600, 600), dtype=int), 601), OutOfRange, "10\\^8"),
        (lambda: AxisRows(0, np.array([[1, 2]]), 2), OutOfRange, "left a part"),
        (lambda: AxisRows(0, np.array([[-1, 2]]), 5), OutOfRange, "integers from 0"),
        (lambda: AxisRows(0, np.array([[0, 0]]), 5), OutOfRange, "zero throughout"),
        (lambda: AxisRows(0, np.array([[0.5, 1]]), 5), OutOfRange, "integers"),
        (lambda: AxisRows(0, np.array([[1, 1]]), 1 << 30), OutOfRange, "parts"),
        (lambda: ProductReconstruction(ALONE, dict.fromkeys(ROWS.shares, 1)), OutOfRange, "positive integer"),
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
    cells = np.full(SMALL.shape, 2**61)
    sums = ROWS.sums(cells, list(ROWS.shares))
    assert sum(int(one) for one in sums[next(iter(sums))].ravel()) == 2**61 * 12 * 2 * 3
    small = ROWS.sums(np.full(SMALL.shape, 100, dtype=np.int8), list(ROWS.shares))
    assert sum(int(one) for one in small[next(iter(small))].ravel()) == 100 * 12 * 2 * 3


LONGER = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "size", "epsilon", "laplace", "ours"),
    [
        ("prefixes", 32, "0.1", 1965.2, 2323.5),
        ("ranges", 32, 1, 20.24, 20.87),
        pytest.param("prefixes", 32, 1, 19.65, 22.98, marks=LONGER),
        pytest.param("prefixes", 64, 1, 28.32, 31.86, marks=LONGER),
        pytest.param("prefixes", 64, 3, 3.149, 3.165, marks=LONGER),
        pytest.param("ranges", 64, "0.1", 3082.6, 3274.7, marks=LONGER),
    ],
)
def test_the_search_reaches_what_is_known_of_prefixes_and_ranges(name, size, epsilon, laplace, ours):
    """Variances within .3 % of the best real rows with Laplace noise at .1, below them from 1 on, and below the plan
    of families and hat functions; the figures are those of the best real rows, found by another descent (SciPy's
    L-BFGS-B)."""
    wanted = getattr(Workload, name)(Domain(age=bins(size)), "age")
    chosen = choose_plan(wanted, ONE, epsilon=epsilon, method="rows")
    assert chosen.rows is not None
    assert chosen.value < laplace * (1.003 if epsilon == "0.1" else 1)
    assert chosen.value < ours * 0.99


def test_few_values_have_rows_at_a_large_level():
    few = choose_plan(Workload.ranges(Domain(age=bins(16)), "age"), ONE, epsilon=3, method="rows")
    assert few.value == pytest.approx(0.6617, abs=1e-4)


def test_the_planner_takes_the_least():
    """Families with hat functions for rectangles of 24 x 20 at epsilon 1, products where these are less; at each
    level."""
    box = Domain(x=bins(24), y=bins(20))
    assert choose_plan(Workload.ranges(box, "x", "y"), ONE, epsilon=1, method="rows").rows is None
    prefixes = Workload.prefixes(box, "x", "y")
    chosen = choose_plan(prefixes, ONE, epsilon="0.1", up_to=1, method="rows")
    assert chosen.rows is not None
    assert chosen.value < choose_plan(prefixes, ONE, epsilon="0.1", up_to=1).value
    assert chosen.value == pytest.approx(next(iter(chosen.variances.values())))
    with pytest.raises(Unsupported, match="mean error"):
        choose_plan(prefixes, ONE, epsilon=1, method="rows", aim="largest")
    with pytest.raises(Unsupported, match="1100"):
        choose_plan(Workload.ranges(Domain(t=bins(2000)), "t"), ONE, epsilon=1, method="rows")
    with pytest.raises(Unsupported, match="2 to 1100"):
        product_rows(Workload(Domain(sex=["m", "w"]), {"": 1}), 1.0)


def test_rectangles_have_less_error_than_hdmm_prints():
    """32.692 of sqrt(2)/epsilon over all rectangles of 256 x 256; the seconds are those of one processor."""
    _, error = product_rows(Workload.ranges(Domain(x=bins(256), y=bins(256)), "x", "y"), 1.0)
    assert np.sqrt(error / 2) < 32.49
