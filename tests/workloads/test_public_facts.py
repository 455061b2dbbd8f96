"""Clean tables that hold public facts: the least squares of an outside solver; refused just where no table is there."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from utmost.errors import FactsFarOff, Infeasible, OutOfRange, PrivacyWarning, UtmostError, WrongKind
from utmost.privacy import Amount
from utmost.testing import seeded_workload_release
from utmost.workloads import Domain, Plan, between, bins, hierarchy

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
        ({"total": "1.5"}, OutOfRange, "integer"),
        ({"total": between(high="1e999")}, OutOfRange, "at most 1e100"),
        ({"sex=men": 10**400}, OutOfRange, "at most 1e100"),
        ({"total": "many"}, UtmostError, "given"),
        ({"total": None}, UtmostError, "given|None|table"),
        ({"age": 5}, OutOfRange, "age"),
        ({"sex=mne": 5}, OutOfRange, "mne"),
        ({"sex": [1]}, OutOfRange, "must have 2 numbers"),
        ({"sex": {"x": 1}}, OutOfRange, "must name labels of"),
        ({"sex": {"sex": ["men"], "n": [1], "m": [2]}}, WrongKind, "one column of numbers"),
        (7, WrongKind, "mapping"),
    ],
)
def test_facts_that_cannot_be_are_refused_by_name(public, error, match):
    with pytest.raises(error, match=match):
        released().clean(public)


def test_bounds_have_an_end_and_the_least_comes_first():
    for ends in ((None, None), (5, 4)):
        with pytest.raises(OutOfRange, match="low="):
            between(*ends)


def test_facts_of_amounts_are_in_their_own_unit():
    release = released(Amount("spent", "0.05"))
    clean = release.clean({"total": "54.55", "sex=women": between("5.00", "5.30")})
    assert clean.total() == 54.55
    assert 5 <= clean.total({"sex": "women"}) <= 5.3
    assert "total = 54.55" in clean.guarantee
    with pytest.raises(OutOfRange, match="multiple of the step"):
        release.clean({"total": "54.56"})


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
    """In the sentence of the guarantee; without facts the statement is what it was; the facts give the table again."""
    release = released()
    clean = release.clean({"total": 1091, "department sex": between(high=600)})
    assert clean.guarantee.startswith(release.statement["guarantee"])
    assert "It holds given facts that are public and not protected: total = 1091; department=A sex=men at most 600" in (
        clean.guarantee
    )
    stated = clean.statement_with(None, "sex")
    assert (stated["format"], stated["guarantee"]) == (1, clean.guarantee)
    assert (release.clean(clean.given).cells == clean.cells).all()
    plain = release.clean({})
    assert plain.statement_with(None, "sex").keys() == stated.keys() - {"guarantee", "given"}
    assert (plain.statement_with(None, "sex")["format"], plain.guarantee, plain.given) == (1, None, None)


def test_many_facts_are_counted_in_the_sentence():
    plan = Plan(Domain(a=list(range(50))), ut.Unit(1, 1), {"a": 1})
    release = seeded_workload_release(np.arange(50), plan, epsilon=1, seed=1)
    facts = release.clean({"a": range(50), "total": 1225}).given
    assert facts.words == "50 sums over 'a', the first a=0 = 0; total = 1225"
    with pytest.raises(Infeasible, match="and 45 more"):
        release.clean({"a": range(50), "total": 1224})


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
        assert clean[name]["clean"].tolist() == [max(0, round(one)) for one in release[name]["count"].tolist()]
    clean = release.clean({"a=3": 7}, hold="total")
    assert (clean.total(), clean.total({"a": 3})) == (max(0, round(release.total().value)), 7)
    assert "The total is held: as released" in clean.words
    assert (release.clean(clean.given, hold="").cells == clean.cells).all()
    with pytest.raises(Infeasible, match="held at"):
        release.clean({"total": 10**6}, hold="total")
    with pytest.raises(OutOfRange, match="complete tables"):
        release.clean(hold="a=3")
    plain, held = release.clean().statement_with(None, "a"), release.clean(hold="a").statement_with(None, "")
    assert (held["format"], held["held"], "guarantee" in held, "held" in plain) == (1, ["a"], False, False)


def test_a_fact_beyond_the_digits_of_floats_is_refused_by_type():
    """Far off it holds to the last digit; where floats end, what is required is said, and what to do."""
    domain = Domain(a=[1, 2, 3], b=[1, 2])
    release = ut.release(np.full((3, 2), 90), Plan(domain, ut.Unit(1, 1), {"a b": 1}), epsilon=1, once=True).table
    assert release.clean(given={"total": 10**8}).total({}) == 10**8
    with pytest.raises(OutOfRange, match=r"1e\+08.*larger steps"):
        release.clean(given={"total": 10**12})


def test_a_fact_far_from_what_was_released_is_warned_of():
    """A mistyped total of 5, where 1 502 +- 7 was released, made a table of nonsense without a word."""
    domain = Domain(a=["x", "y"], b=list("stu"))
    plan = Plan(domain, ut.Unit(1, 1), {"a b": 1})
    release = seeded_workload_release(np.array([[500, 300, 2], [400, 200, 100]]), plan, epsilon=1, seed=1)
    assert issubclass(FactsFarOff, PrivacyWarning)
    with pytest.warns(FactsFarOff, match=r"total = 5.* 1\d\d\d \+- \d+") as told:
        assert release.clean(given={"total": 5}).total() == 5
    assert len(told) == 1
    with pytest.warns(FactsFarOff, match="a=x at most 3"):
        release.clean(given={"a=x": between(high=3)})
    with pytest.warns(FactsFarOff, match="a=x b=s from 900 to 950"):
        release.clean(given={"a=x b=s": between(900, 950), "total": between(low=10)})
    with warnings.catch_warnings():
        warnings.simplefilter("error", FactsFarOff)
        for near in ({"total": 1502}, {"total": 1510}, {"a": between(0, 10_000)}, {"a b": between(low=0)}, {}):
            release.clean(given=near)
