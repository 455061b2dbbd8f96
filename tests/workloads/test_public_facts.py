"""Clean tables that hold public facts: the least squares of an outside solver; refused just where no table is there."""

import warnings
from fractions import Fraction
from itertools import product

import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from utmost.errors import BadTable, FactsFarOff, Infeasible, OutOfRange, PrivacyWarning, UtmostError, WrongKind
from utmost.privacy import Amount
from utmost.publish.releases.given_facts import read_given
from utmost.publish.workloads.measuring.ways_to_measure import measurement_of

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.workloads.reconstruction.clashing_facts import check_feasible
from utmost.publish.workloads.reconstruction.clean import controlled_rounding, is_two_chains
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction
from utmost.publish.workloads.reconstruction.nonnegative_squares import nonnegative_least_squares
from utmost.publish.workloads.reconstruction.public_facts import Between, PublicFacts
from utmost.testing import seeded_workload_release
from utmost.workloads import Domain, Plan, between, bins, hierarchy

TREE = hierarchy({"N": ["a", "b"], "S": ["c", "d"]}, names=["region", "district"])
DOMAINS = {
    "plain": Domain(a=list(range(5)), b=list(range(3))),
    "tree": Domain(place=TREE, sex=[1, 2]),
    "bins": Domain(age=bins(16)),
    "three": Domain(a=[1, 2], b=[1, 2, 3], c=[1, 2, 3, 4]),
    "wide": Domain(a=list(range(6)), b=list(range(9))),
}


def problem(kind, seed):
    """Noisy sums of some families with weights, and facts that hold of the true table: numbers, bounds, zeros."""
    draw, domain = np.random.default_rng(seed), DOMAINS[kind]
    families = [family for family in domain.families() if draw.random() < 0.6 or family == domain.finest]
    weights = {family: int(draw.integers(1, 30)) for family in families}
    cells = draw.poisson(draw.choice([0.2, 1.5, 20.0]), domain.shape)

    def noise(shape):
        return draw.geometric(0.2, shape) - draw.geometric(0.2, shape)

    measured = {family: domain.sums(cells, family) + noise(domain.group_shape(family)) for family in families}
    rows = []
    for family in domain.families():
        if draw.random() < 0.5:
            for place, total in enumerate(domain.sums(cells, family).ravel().tolist()):
                slack = [int(one) for one in draw.integers(0, 3, 2)]
                values = [total, between(total - slack[0], total + slack[1]), between(high=total)]
                which = int(np.searchsorted([0.4, 0.6, 0.7], draw.random()))
                rows += [(family, place, values[which])] if which < 3 else []
    return domain, weights, measured, PublicFacts.of_places(domain, rows)


def matrix(domain, family, places):
    groups = domain.spread(np.arange(int(np.prod(domain.group_shape(family)))), family).ravel()
    return np.array([groups == place for place in places], dtype=float).reshape(len(places), domain.size)


def outside(domain, weights, measured, facts):
    """The least of half the weighed squares over x >= 0 of which the facts hold, by HiGHS' quadratic programs."""
    rows = [np.sqrt(weights[family]) * matrix(domain, family, range(y.size)) for family, y in measured.items()]
    A = np.concatenate(rows)
    y = np.concatenate([np.sqrt(weights[family]) * y.ravel() for family, y in measured.items()])
    H, held = np.tril(A.T @ A), [matrix(domain, family, facts.places(family)) for family in facts.bounds]
    B = np.concatenate([*held, np.zeros((0, domain.size))])
    ends = [
        [float(end[side].ravel()[place]) for family, end in facts.bounds.items() for place in facts.places(family)]
        for side in (0, 1)
    ]
    solver, model, lp = highspy.Highs(), highspy.HighsModel(), highspy.HighsLp()
    solver.silent()
    lp.num_col_, lp.num_row_, lp.col_cost_ = domain.size, len(B), -A.T @ y
    lp.col_lower_, lp.col_upper_ = np.zeros(domain.size), np.full(domain.size, 1e9)
    lp.row_lower_, lp.row_upper_ = map(np.array, ends)
    at = [np.flatnonzero(row) for row in B]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *map(len, at)]).astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate([*at, np.zeros(0)]).astype(np.int32)
    lp.a_matrix_.value_ = np.ones(sum(map(len, at)))
    model.lp_, model.hessian_.dim_ = lp, domain.size
    below = [np.flatnonzero(column) for column in H.T]
    model.hessian_.start_ = np.cumsum([0, *map(len, below)]).astype(np.int32)
    model.hessian_.index_ = np.concatenate(below).astype(np.int32)
    model.hessian_.value_ = np.concatenate([H[rows, j] for j, rows in enumerate(below)])
    solver.passModel(model)
    solver.run()
    return solver.getInfo().objective_function_value + y @ y / 2


@given(st.sampled_from(list(DOMAINS)), st.integers(0, 10**6))
def test_the_least_squares_given_facts_are_those_of_an_outside_solver(kind, seed):
    """Objective to 10^-5, a gap that says so, and whole numbers of which every fact holds."""
    domain, weights, measured, facts = problem(kind, seed)
    squares = nonnegative_least_squares(measurement_of(domain, weights).reconstruction(weights), measured, facts=facts)
    least = outside(domain, weights, measured, facts)
    assert squares.objective == pytest.approx(least, rel=1e-5, abs=1e-5)
    assert squares.gap <= 1e-5 * (1 + least)
    families = list(dict.fromkeys([*measured, *facts.bounds]))
    rounded = controlled_rounding(domain, families, squares, facts)
    assert rounded.cells.min() >= 0
    assert facts.hold(rounded.cells)
    assert rounded.whole == is_two_chains(families)
    if rounded.whole:
        x = squares.whole + squares.rest
        assert max(np.abs(domain.sums(rounded.cells - x, family)).max() for family in families) < 1 + 1e-5


@given(st.sampled_from([(2, 2), (2, 2, 2), (1, 3)]), st.integers(0, 10**6))
def test_facts_are_refused_just_where_no_table_of_whole_numbers_is(shape, seed):
    """All tables of up to two a cell, one by one: facts of any kind, of which some exclude each other."""
    draw = np.random.default_rng(seed)
    domain = Domain({name: list(range(size)) for name, size in zip("abc", shape, strict=False)})
    rows = []
    for family in domain.families():
        for place in range(int(np.prod(domain.group_shape(family)))):
            if draw.random() < 0.4:
                low = int(draw.integers(0, 3))
                rows.append((family, place, draw.choice([low, between(low, low + 1), between(high=low), between(low)])))
    rows += [(domain.finest, place, between(high=2)) for place in range(domain.size)]
    weights = dict.fromkeys(domain.families(), 1)
    measured = {family: draw.integers(-2, 6, domain.group_shape(family)) for family in weights}
    try:
        facts = PublicFacts.of_places(domain, rows)
        squares = nonnegative_least_squares(Reconstruction(domain, weights), measured, facts=facts)
        rounded = controlled_rounding(domain, list(weights), squares, facts)
    except Infeasible:
        ends = [(f, p, v if isinstance(v, Between) else between(v, v)) for f, p, v in rows]
        tables = [np.array(cells).reshape(shape) for cells in product(range(3), repeat=domain.size)]
        sums = {family: [domain.sums(table, family).ravel() for table in tables] for family in weights}
        alive = np.ones(len(tables), dtype=bool)
        for family, place, value in ends:
            column = np.array([one[place] for one in sums[family]])
            alive &= (value.low is None or column >= value.low) & (value.high is None or column <= value.high)
        assert not alive.any()
    else:
        assert facts.hold(rounded.cells)


def test_facts_that_fractions_alone_hold_are_refused_as_such():
    """u + v = u + w = v + w = 1, three cells of 2 x 2 x 2 in pairs by planes: halves, and no whole numbers."""
    domain = Domain(a=[0, 1], b=[0, 1], c=[0, 1])
    zeros = {cell: 0 for cell in product("01", repeat=3) if cell.count("1") != 1}
    facts = read_given(domain, {"a=0": 1, "b=0": 1, "c=0": 1, "a b c": zeros})
    check_feasible(facts)
    measured = {domain.finest: np.ones(domain.shape, dtype=int)}
    squares = nonnegative_least_squares(Reconstruction(domain, {domain.finest: 1}), measured, facts=facts)
    assert (squares.whole + squares.rest)[1, 0, 0] == pytest.approx(0.5)
    with pytest.raises(Infeasible, match="whole numbers, none negative, must be there"):
        controlled_rounding(domain, [domain.finest, *facts.bounds], squares, facts)


ADMITTED = Domain(department=list("ABC"), sex=["men", "women"])
WOMEN_OF_C = (("department", "C"), ("sex", "women"))
COUNTS = np.array([[512, 89], [353, 17], [120, 0]])


def released(amount=None):
    unit = ut.Unit(1, 1) if amount is None else ut.Unit(5, 1, amount=amount)
    plan = Plan(ADMITTED, unit, {"department sex": "1/2", "": "1/2"})
    return seeded_workload_release(COUNTS, plan, epsilon=1, seed=3)


def test_facts_in_every_form():
    """Numbers, lists, arrays, mappings, tables of columns and frames; of one sum, of a narrowed table, of all."""
    import pandas as pd

    release, sexes = released(), COUNTS.sum(0)
    for public in (
        {"total": int(COUNTS.sum()), "sex": sexes, "department=C sex=women": 0},
        {"": str(COUNTS.sum()), "sex": {"men": 985, "women": 106}, "sex department=C": [120, 0]},
        {"total": Fraction(1091), "sex": {"sex": ["women", "men"], "n": [106, 985]}, "sex=women department=C": 0},
        {(): 1091, ("sex",): pd.DataFrame({"sex": ["men", "women"], "n": [985, 106]}), WOMEN_OF_C: 0},
        {"total": 1091, "sex=men": 985, "department sex": {("C", "women"): 0}},
    ):  # fmt: skip
        clean = release.clean(public)
        assert clean.total() == 1091
        assert clean["sex"]["clean"].tolist() == [985, 106]
        assert clean.cells[2, 1] == 0
        assert clean.exact_rounding
    bounded = release.clean({"department": between(low=400), "sex=women": between(90, 95)})
    assert min(bounded["department"]["clean"]) >= 400
    assert 90 <= bounded.total({"sex": "women"}) <= 95


@pytest.mark.parametrize(
    ("public", "error", "match"),
    [
        ({"total": 3, "sex": [1, 1]}, Infeasible, "total = 3; sex=men = 1; sex=women = 1"),
        ({"sex=men": between(5, 9), "sex": between(high=4)}, Infeasible, "sex=men from 5 to 4"),
        ({"total": -1}, Infeasible, "total = -1"),
        ({"total": 10**30, "sex": [10**30, 1]}, Infeasible, "sex=women = 1"),
        ({"department=A": 4, "department=A sex=men": between(low=5)}, Infeasible, "department=A = 4"),
        ({"total": "1.5"}, OutOfRange, "whole"),
        ({"total": between(high="1e999")}, OutOfRange, "at most 1e100"),
        ({"sex=men": 10**400}, OutOfRange, "at most 1e100"),
        ({"total": "many"}, UtmostError, "given"),
        ({"total": None}, UtmostError, "given|None|table"),
        ({"age": 5}, OutOfRange, "age"),
        ({"sex=mne": 5}, OutOfRange, "mne"),
        ({"sex": [1]}, OutOfRange, "each of the 2 sums"),
        ({"sex": {"x": 1}}, OutOfRange, "these labels"),
        ({"sex": {"sex": ["men"], "n": [1], "m": [2]}}, WrongKind, "one of numbers"),
        (7, WrongKind, "mapping"),
    ],
)
def test_facts_that_cannot_be_are_refused_by_name(public, error, match):
    with pytest.raises(error, match=match):
        released().clean(public)


def test_bounds_have_an_end_and_the_least_comes_first():
    for ends in ((None, None), (5, 4)):
        with pytest.raises(OutOfRange, match="least first"):
            between(*ends)


def test_facts_of_amounts_are_in_their_own_unit():
    release = released(Amount("spent", "0.05"))
    clean = release.clean({"total": "54.55", "sex=women": between("5.00", "5.30")})
    assert clean.total() == 54.55
    assert 5 <= clean.total({"sex": "women"}) <= 5.3
    assert "total = 54.55" in clean.guarantee
    with pytest.raises(OutOfRange, match="multiple of the step"):
        release.clean({"total": "54.56"})


@pytest.mark.parametrize("size", [10**15, 10**20])
def test_facts_of_any_size_hold_to_the_last_digit(size):
    cells = COUNTS.astype(object) + size
    measured = {ADMITTED.finest: cells + 2, ADMITTED.family(""): ADMITTED.sums(cells, ADMITTED.family("")) - 7}
    facts = read_given(ADMITTED, {"total": int(cells.sum()), "sex": cells.sum(0).tolist()})
    squares = nonnegative_least_squares(Reconstruction(ADMITTED, dict.fromkeys(measured, 3)), measured, facts=facts)
    rounded = controlled_rounding(ADMITTED, list(dict.fromkeys([*measured, *facts.bounds])), squares, facts)
    assert facts.hold(rounded.cells)
    assert int(rounded.cells.sum()) == int(cells.sum())


def test_one_cell_ranges_by_hats_and_unequal_trees():
    """The total alone; an axis measured by hat functions, whose facts are of values and the total; groups of any
    sizes."""
    alone = seeded_workload_release(np.array(7), Plan(Domain(), ut.Unit(1, 1), {"": 1}), epsilon=1, seed=1)
    assert alone.clean({"total": 5}).total() == 5
    hours = Domain(hour=bins(24))
    hats = Plan(hours, ut.Unit(1, 1), {"hour": "1/2", "hour~4": "1/2"})
    counts = np.arange(24) % 5
    clean = seeded_workload_release(counts, hats, epsilon=1, seed=1).clean({"total": 46, "hour": {0: 0, 7: 2}} | {})
    assert clean.total() == 46
    assert (clean.cells[0], clean.cells[7]) == (0, 2)
    tree = Domain(place=hierarchy({"N": ["a", "b", "c"], "S": ["d"]}, names=["region", "district"]))
    plan = Plan(tree, ut.Unit(1, 1), {"district": "1/2", "region": "1/2"})
    clean = seeded_workload_release(np.array([3, 0, 9, 4]), plan, epsilon=1, seed=2).clean({"region": {"N": 12}})
    assert clean["region"]["clean"][0] == 12


def test_the_promise_is_said_to_hold_given_the_facts():
    """In the sentence of the guarantee; without facts the statement is what it was; JSON gives the same facts again."""
    release = released()
    clean = release.clean({"total": 1091, "department sex": between(high=600)})
    assert clean.guarantee.startswith(release.statement["guarantee"])
    assert "It holds given facts that are public and not protected: total = 1091; department=A sex=men at most 600" in (
        clean.guarantee
    )
    stated = clean.said(None, "sex")
    assert (stated["format"], stated["guarantee"]) == (1, clean.guarantee)
    again = PublicFacts.of_facts(ADMITTED, stated["given"])
    assert again.facts() == clean.given.facts()
    assert (release.clean(again).cells == clean.cells).all()
    plain = release.clean({})
    assert plain.said(None, "sex").keys() == stated.keys() - {"guarantee", "given"}
    assert (plain.said(None, "sex")["format"], plain.guarantee, plain.given) == (1, None, None)
    for wrong in ([{"family": ["age"], "sums": []}], [{"family": ["sex"], "sums": [[["x"], "1", "1"]]}], [3]):
        with pytest.raises(BadTable, match="public facts"):
            PublicFacts.of_facts(ADMITTED, wrong)


def test_many_facts_are_counted_in_the_sentence():
    domain = Domain(a=list(range(50)))
    facts = read_given(domain, {"a": range(50), "total": 1225})
    assert facts.words == "50 sums over 'a', the first a=0 = 0; total = 1225"
    with pytest.raises(Infeasible, match="and 45 more"):
        check_feasible(read_given(domain, {"a": range(50), "total": 1224}))


def sparse(seed=0, size=(12, 15)):
    """A table most of whose cells are zero, and its release by the cells alone."""
    domain = Domain(a=list(range(size[0])), b=list(range(size[1])))
    cells = np.random.default_rng(seed).poisson(0.4, domain.shape)
    return cells, seeded_workload_release(cells, Plan(domain, ut.Unit(1, 1), {"a b": 1}), epsilon=1, seed=seed)


def test_a_held_table_has_the_sums_of_the_release():
    """Rounded, and 0 where they are negative; its bars hold with a half more; beside facts, and not against them."""
    _, release = sparse()
    for hold in ("total", "", "a", ("b",), "a b"):
        clean = release.clean(hold=hold)
        name = "" if hold == "total" else hold
        assert clean[name]["clean"].tolist() == [max(0, round(one)) for one in release[name]["estimate"].tolist()]
    clean = release.clean({"a=3": 7}, hold="total")
    assert (clean.total(), clean.total({"a": 3})) == (max(0, round(release.total().value)), 7)
    assert "The total is held: as released" in clean.words
    assert (release.clean(clean.given, hold="").cells == clean.cells).all()
    with pytest.raises(Infeasible, match="held at"):
        release.clean({"total": 10**6}, hold="total")
    with pytest.raises(OutOfRange, match="whole table"):
        release.clean(hold="a=3")
    plain, held = release.clean().said(None, "a"), release.clean(hold="a").said(None, "")
    assert (held["format"], held["held"], "guarantee" in held, "held" in plain) == (1, ["a"], False, False)


def test_the_error_about_the_truth_on_the_held_scale_never_grows():
    """|x - c| <= |y - c| in the norm of the plan, c the truth times released over true total: by projection."""
    for seed in range(8):
        cells, release = sparse(seed, (4, 5))
        total = float(release.total().value)
        if total < 0 or not cells.sum():
            continue
        domain, raw = release.domain, release.reconstruction.floats(release.measured, release.domain.finest)
        target = cells * total / cells.sum()
        facts = PublicFacts.of_places(domain, [(domain.family(""), 0, round(total))])
        squares = nonnegative_least_squares(release.reconstruction, release.measured, facts=facts)
        held = squares.whole + squares.rest
        assert ((held - target) ** 2).sum() <= ((raw - target) ** 2).sum() + 1e-6


def test_holding_the_total_betters_sparse_tables():
    """Twenty releases of tables of which two cells of three are zero: cells and marginals by a quarter at least."""
    errors = {"raw": [], "plain": [], "held": []}
    for seed in range(20):
        cells, release = sparse(seed)
        raw = np.asarray(release["a b"]["estimate"], dtype=float).reshape(cells.shape)
        tables = {"raw": raw, "plain": release.clean().cells, "held": release.clean(hold="total").cells}
        for name, table in tables.items():
            off = np.asarray(table, dtype=float) - cells
            errors[name].append([(off**2).mean(), (off.sum(1) ** 2).mean(), (off.sum(0) ** 2).mean(), off.sum() ** 2])
    mean = {name: np.sqrt(np.mean(one, axis=0)) for name, one in errors.items()}
    assert (mean["held"] <= 1.001 * mean["raw"]).all()
    assert (mean["held"] < mean["plain"]).all()
    assert (mean["held"][:3] < 0.75 * mean["raw"][:3]).all()


def test_a_fact_beyond_the_digits_of_floats_is_refused_by_type():
    """Far off it holds to the last digit; where floats end, what is required is said, and what to do."""
    domain = Domain(a=[1, 2, 3], b=[1, 2])
    release = ut.release(np.full((3, 2), 90), Plan(domain, ut.Unit(1, 1), {"a b": 1}), epsilon=1, once=True).table
    assert release.clean(given={"total": 10**8}).total({}) == 10**8
    with pytest.raises(OutOfRange, match=r"within 1e\+08 of the released sums.*larger steps"):
        release.clean(given={"total": 10**12})


def test_a_fact_far_from_what_was_released_is_warned_of():
    """A mistyped total of 5, where 1 502 +- 7 was released, made a table of nonsense without a word."""
    domain = Domain(a=["x", "y"], b=list("stu"))
    plan = Plan(domain, ut.Unit(1, 1), {"a b": 1})
    release = seeded_workload_release(np.array([[500, 300, 2], [400, 200, 100]]), plan, epsilon=1, seed=1)
    assert issubclass(FactsFarOff, PrivacyWarning)
    with pytest.warns(FactsFarOff, match=r"total = 5, where 1\d\d\d \+- \d+ was released. Check them") as told:
        assert release.clean(given={"total": 5}).total() == 5
    assert len(told) == 1
    with pytest.warns(FactsFarOff, match="a=x at most 3, where"):
        release.clean(given={"a=x": between(high=3)})
    with pytest.warns(FactsFarOff, match="a=x b=s from 900 to 950, where"):
        release.clean(given={"a=x b=s": between(900, 950), "total": between(low=10)})
    with warnings.catch_warnings():
        warnings.simplefilter("error", FactsFarOff)
        for near in ({"total": 1502}, {"total": 1510}, {"a": between(0, 10_000)}, {"a b": between(low=0)}, {}):
            release.clean(given=near)
