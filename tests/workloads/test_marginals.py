"""Marginal tables of many attributes: least squares by spaces, levels, bounds, counting that never makes the domain."""

import json
import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import strategies as st

import utmost as ut
from counting_marks import pair_mark
from counting_words import counted_with
from utmost.errors import NotDetermined, OutOfRange, PromiseBroken, Unsupported
from utmost.exact import level
from utmost.privacy import Unit
from utmost.releases import NoisySums
from utmost.workloads import (
    Domain,
    Plan,
    Workload,
    bins,
    bounds_of,
    check_lower_bounds,
    choose_plan,
    hierarchy,
    marginals,
)

ONE = Unit(1, 1)
KEY = bytes(range(32))
SIZES = (("age", 85), ("workclass", 9), ("weight", 100), ("education", 16), ("marital", 7), ("occupation", 15))
MORE = (("relationship", 6), ("race", 5), ("sex", 2), ("gain", 100), ("loss", 100), ("hours", 99), ("country", 42))
ADULT = dict((*SIZES, *MORE, ("income", 2)))
CENSUS = Domain({name: range(size) for name, size in ADULT.items()})
PLACE = hierarchy({"N": ["n1", "n2"], "S": ["s1", "s2"]}, names=["region", "district"])
SMALL = Domain(sex=["m", "w"], age=bins(3), place=PLACE, vote=["y", "n"])
BITS = Domain({f"b{at}": ["y", "n"] for at in range(30)})


@st.composite
def measured(draw):
    """Marginals of a small domain, also differences, each with a weight; the cells may be one of them."""
    levels = [st.sampled_from(choices) for choices in ([-1, 0, 1], [0, 1], [0, 1, 2], [-1, 0, 1])]
    marginals = draw(st.lists(st.tuples(*levels), min_size=1, max_size=6, unique=True))
    return {marginal: draw(st.integers(1, 1000)) for marginal in marginals}


@pytest.mark.parametrize(
    ("count", "equal", "roots", "found"), [(2, 15782.0, 5599.1, 5237.7), (3, 244814, 55022, 49208)]
)
def test_all_tables_of_adult_have_the_errors_that_are_printed(count, equal, roots, found):
    """Mean variance at epsilon 1: equal levels and cube roots in closed form, and what the search finds below."""
    wanted = Workload(CENSUS, marginals(CENSUS, count), per_answer=True)
    tables, answers = wanted.marginals, float(wanted.weight)
    alike = Plan(CENSUS, ONE, dict.fromkeys(tables, Fraction(1, len(tables))), wanted, level(1))
    assert alike.value / answers == pytest.approx(equal, rel=1e-4)
    tops = [np.prod([ADULT[name] - 1 for name in CENSUS.level_names(of)]) for of in tables]
    cells = np.array([np.prod([float(ADULT[name]) for name in CENSUS.level_names(of)]) for of in tables])
    levels = (np.array(tops) / answers) ** (1 / 3)  # mu n = (product of n - 1)/n^2, n answers, n sums
    parts = np.rint(levels / levels.sum() * 10**9).astype(int).tolist()
    shares = {marginal: Fraction(part, sum(parts)) for marginal, part in zip(tables, parts, strict=True)}
    assert Plan(CENSUS, ONE, shares, wanted, level(1)).value / answers == pytest.approx(roots, rel=1e-4)
    assert cells.sum() == answers
    chosen = choose_plan(wanted, ONE, epsilon=1)
    assert chosen.value / answers == pytest.approx(found, rel=1e-4)
    assert sum(chosen.shares.values()) == 1


def test_thirty_bits_are_measured_by_differences_as_a_closed_form_says():
    """435 pairs, 30 bits and the total, each by its own difference: least of sum c/e^2, but for the lattice."""
    wanted = Workload(BITS, marginals(BITS, 2), per_answer=True)
    plain, signed = choose_plan(wanted, ONE, epsilon=1), choose_plan(wanted, ONE, epsilon=1, method="rows")
    assert plain.value / 1740 == pytest.approx(101354.96, rel=1e-6)
    assert signed.value / 1740 == pytest.approx(43940.4, rel=1e-5)
    parts = [(1, comb(30, 2)), (2, 30), (1, 1)]  # of mu the weight, and among how many levels it is shared
    closed = sum((weight * many**2) ** (1 / 3) for weight, many in parts) ** 3 / 8
    assert signed.value / 1740 == pytest.approx(closed, rel=2e-3)
    bound = signed.lower_bounds.given_marginals
    assert bound.ratio(signed.value) < 1.0001


def test_no_plan_is_below_the_bound_and_a_certificate_that_proves_less_is_refused():
    domain = Domain({f"x{at}": range(2 + at) for at in range(5)})
    wanted = Workload(domain, marginals(domain, 2, 1))
    measured = [*wanted.marginals, (0, 0, 0, 1, 1), (-1, 0, 1, 1, 1)]
    for unit in (ONE, Unit(2, 3), Unit(1, 1, "change-one", nonnegative=True)):
        bounds = bounds_of(wanted + Workload(domain, {"": 1}), unit, 1, measured)
        assert bounds.given_marginals.certificate is not None
    bounds = bounds_of(wanted, ONE, 1, measured)
    random = np.random.default_rng(0)
    for sharp in (1, 4, 12):
        for _ in range(20):
            parts = (random.random(len(bounds.marginals)) ** sharp * 1000 + 1).astype(int).tolist()
            shares = {
                marginal: Fraction(part, sum(parts)) for marginal, part in zip(bounds.marginals, parts, strict=True)
            }
            assert Plan(domain, ONE, shares, wanted, level(1)).value >= bounds.given_marginals.value
    proved = bounds.given_marginals
    levels = proved.certificate.levels
    for forged in (
        *(
            replace(proved, certificate=replace(proved.certificate, levels=other))
            for other in (levels[:-1], (Fraction(0), *levels[1:]))
        ),
        replace(proved, value=proved.value * (1 + 1e-9)),
    ):
        with pytest.raises(PromiseBroken):
            check_lower_bounds(replace(bounds, given_marginals=forged))


def people(count=300, columns=("age", "sex", "race", "income", "country"), seed=0):
    random = np.random.default_rng(seed)
    events = {name: random.integers(0, ADULT[name] + 1, count) for name in ADULT}
    return {name: events[name] for name in ADULT if name in columns} | {
        "who": random.integers(0, 90, count).astype(str)
    }


def in_polars(events):
    return pytest.importorskip("polars").DataFrame(events)


def in_duckdb(events):
    engine, frame = pytest.importorskip("duckdb"), in_polars(events)
    return engine.from_arrow(frame.to_arrow())


def expected(domain, events, marginal, amounts=None):
    """The sums of a marginal, row by row; rows with a value that is not declared are in none."""
    shape, found = domain.group_shape(marginal), np.zeros(domain.group_shape(marginal), dtype=int)
    for row in range(len(events["age"])):
        cell = [int(events[name][row]) for name in domain.columns]
        if all(value < size for value, size in zip(cell, domain.shape, strict=True)):
            place = tuple(0 if groups == 1 else value for value, groups in zip(cell, shape, strict=True))
            found[place] += 1 if amounts is None else amounts[row]
    return found.ravel()


def kept(domain, events, most):
    """The events in the cells of each person whose hashes are least: so many of them."""
    cells = np.array([events[name] for name in domain.columns])
    rows = np.flatnonzero((cells < np.array(domain.shape)[:, None]).all(axis=0)).tolist()
    places = {row: int(np.ravel_multi_index(tuple(cells[:, row]), domain.shape)) for row in rows}
    own = {who: [row for row in rows if events["who"][row] == who] for who in events["who"]}
    left = [
        row
        for who, mine in own.items()
        for row in sorted(mine, key=lambda row: pair_mark(b"atom", KEY, str(who), places[row]))[:most]
    ]
    return {name: column[left] for name, column in events.items()}


@pytest.mark.parametrize("read", [dict, in_polars, in_duckdb])
@pytest.mark.parametrize("words", [{"person": "who", "at_most": 1, "per_cell": 2, "key": KEY}, {"each_row": True}])
def test_few_cells_are_those_of_the_events_by_every_reader(read, words):
    """A domain of 10^16 cells is never laid out: the cells that hold a number, and every sum of them."""
    events = people(columns=tuple(ADULT))
    if words.get("each_row"):
        events.pop("who")
    counted = counted_with(read(events), domain=CENSUS, **words)
    assert counted.report.events == 300
    if "person" in words:
        inside, events = kept(CENSUS, events, 300), kept(CENSUS, events, 1)
        assert len(events["age"]) < len(inside["age"]), "some are cut"
    assert len(counted.cells) == expected(CENSUS, events, CENSUS.marginal("")).sum() < 300
    for marginal in [*marginals(CENSUS, 0, 1), *list(marginals(CENSUS, 2))[::9]]:
        assert (CENSUS.sums(counted.cells, marginal) == expected(CENSUS, events, marginal)).all()


NINE = Domain({name: range(size) for name, size in list(ADULT.items())[:9]})


def test_measures_are_few_cells_too():
    """In one pass: counts, and sums; and sums and counts together, in parts that share nobody; of 10^10 cells."""
    events = {**people(columns=tuple(ADULT)), "spent": np.random.default_rng(2).integers(0, 30, 300)}
    events["sides"] = np.where(events["who"] < "5", "a", "b")
    words = {"person": "who", "domain": NINE, "at_most": 50}
    tables = counted_with(events, **words, measures={"visits": ut.count(3), "spent": ut.sum("spent", per_cell=50)})
    for marginal in marginals(NINE, 1):
        assert (NINE.sums(tables["visits"].cells, marginal) == expected(NINE, events, marginal)).all()
        assert (NINE.sums(tables["spent"].cells, marginal) == expected(NINE, events, marginal, events["spent"])).all()
    both = ut.sum("spent", each=(0, 30), most_events=1)
    parts = counted_with(events, **words, part={"sides": ["a", "b"]}, measures={"spent": both})
    for side in ("a", "b"):
        own = {name: column[events["sides"] == side] for name, column in events.items()}
        domain, counted = parts[side]["spent"].domain, parts[side]["spent"]
        for marginal in marginals(NINE, 1):
            sums = domain.sums(counted.cells, (*marginal, 0)).reshape(-1, 2)
            assert (sums[:, 0] == expected(NINE, own, marginal, own["spent"])).all()
            assert (sums.sum(axis=1) == 30 * expected(NINE, own, marginal)).all()
    with pytest.raises(Unsupported, match="distinct"):
        counted_with(events, **words, measures={"n": ut.distinct("spent", of=range(30), at_most=3)})


def test_a_domain_beyond_arrays_is_counted_released_relaxed_and_read_back(tmp_path):
    events = people(columns=tuple(ADULT))
    counted = ut.count_table(events, CENSUS, ut.Counting("who", at_most=2))
    assert counted.unit == Unit(1, 2)
    assert len(pickle.loads(pickle.dumps(counted)).cells) == len(counted.cells)
    columns = ["age", "sex", "race", "income"]
    wanted = Workload(CENSUS, {" ".join(names): 1 for names in combinations(columns, 2)})
    for method in (None, "rows"):
        chosen = choose_plan(wanted, counted.unit, epsilon=1, method=method)
        release = ut.release(counted, chosen, epsilon=40, confidence=Fraction(999_999, 1_000_000), once=True).table
        table = release["sex race"]
        truth = CENSUS.sums(counted.cells, CENSUS.marginal("sex race"))
        assert (np.abs(table["count"] - truth) <= table["count_margin"]).all()
        assert release.total({"sex": 0}).exact == sum(
            (release.total({"sex": 0, "race": [at]}).exact for at in range(5)), start=Fraction(0)
        )
        again = NoisySums.of_facts(json.loads(json.dumps(release.facts())))
        assert (again["sex race"]["count"] == table["count"]).all()
        release.save(tmp_path / f"{method}.json")
        with pytest.raises(NotDetermined):
            release.clean()
        with pytest.raises(NotDetermined):
            release["country"]
        kept = ut.release(counted, ut.Promise(noise=chosen), epsilon="1/2").release
        early = kept.at("1/2")["sex race"]["count"]
        kept.at(5)
        assert (kept.at("1/2")["sex race"]["count"] == early).all()
        assert kept.spent == level(5)


def test_the_digest_is_of_one_text_however_it_is_read():
    """The sums of a large table are digested in slices: the same bytes as the text of the whole."""
    import hashlib

    large = Domain(sex=["m", "w"], age=range(300), place=range(300))
    chosen = Plan(large, ONE, {"sex age place": "1/2", "sex- age": "1/2"})
    release = ut.release(np.arange(large.size).reshape(large.shape), chosen, epsilon=1, once=True).table
    pairs = [
        [large.marginal_name(of), [str(n) for n in sums.ravel().tolist()]] for of, sums in release.measured.items()
    ]
    text = json.dumps([large.facts(), *pairs], separators=(",", ":"), ensure_ascii=False)
    assert release.digest == hashlib.sha256(text.encode()).hexdigest()


def test_what_cannot_be_is_refused_by_type():
    events = people(columns=tuple(ADULT))
    counted = ut.count_table(events, CENSUS, ut.Counting("who", at_most=2))
    for call in (
        lambda: counted.table(CENSUS.finest),
        lambda: counted.in_steps(),
        lambda: Plan(CENSUS, Unit(1, 2), {"age~8": 1}).sums(counted.cells),
    ):
        with pytest.raises(Unsupported, match=r"cells|laid out"):
            call()
    with pytest.raises(OutOfRange, match="determine"):
        Plan(CENSUS, ONE, {"age": 1}, Workload(CENSUS, {"sex": 1}))
    with pytest.raises(OutOfRange, match="at most 14"):
        marginals(CENSUS, 15)
    with pytest.raises(OutOfRange, match="20000"):
        marginals(Domain({f"x{at}": range(3) for at in range(100)}), 3)


def test_a_total_that_a_replacement_leaves_is_measured_for_nothing():
    """Under change-one with nothing negative it has a share beside the rest, whatever the domain."""
    unit = Unit(1, 1, "change-one", nonnegative=True)
    for wanted in ({"sex age": 1, "": 1}, {"sex age": 1}):
        chosen = choose_plan(Workload(CENSUS, wanted), unit, epsilon=1, method="rows")
        assert chosen.charge == 1
        assert chosen.shares[CENSUS.marginal("")] == 1


def test_a_difference_has_a_name_that_is_read_back():
    shares = {"sex- age": "1/2", ("vote-",): "1/4", "age vote": "1/4"}
    chosen = Plan(SMALL, ONE, shares)
    assert set(chosen.shares) == {(-1, 0, 2, 1), (1, 1, 2, -1), (1, 0, 2, 0)}
    assert Plan.of_facts(chosen.facts(), ONE).shares == chosen.shares
    assert chosen.marginal_words((-1, 0, 2, 1)) == "age, differences of sex"
    with pytest.raises(OutOfRange):
        Plan(SMALL, ONE, {"age-": 1})
    named = Domain({"sex": ["m", "w"], "sex-": ["a", "b", "c"]})
    assert Plan(named, ONE, {"sex-": 1}).shares == {(1, 0): 1}
