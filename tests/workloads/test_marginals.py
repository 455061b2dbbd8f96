"""Marginal tables of many attributes: least squares by spaces, levels, bounds, counting that never makes the domain."""

import json
import pickle
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from counting_words import counted_with
from utmost.counting import CountedTable
from utmost.errors import BadTable, NotDetermined, OutOfRange, PromiseBroken, Unsupported
from utmost.exact import level
from utmost.privacy import Unit
from utmost.publish.counting import added_cells, counted_events, counting_rule

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.promises.sum_laws import noise_laws
from utmost.publish.workloads.bounds.marginal_bounds import TangentLevels
from utmost.publish.workloads.measuring.forms import group_of, selected
from utmost.publish.workloads.measuring.marginal_spaces import MarginalErrors, by_marginals
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction, precision_weights
from utmost.publish.workloads.reconstruction.marginal_reconstruction import MarginalReconstruction
from utmost.releases import NoisySums
from utmost.tables.axes.few_cells import FewCells
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
from workload_cases import precision

ONE = Unit(1, 1)
SIZES = (("age", 85), ("workclass", 9), ("weight", 100), ("education", 16), ("marital", 7), ("occupation", 15))
MORE = (("relationship", 6), ("race", 5), ("sex", 2), ("gain", 100), ("loss", 100), ("hours", 99), ("country", 42))
ADULT = dict((*SIZES, *MORE, ("income", 2)))
CENSUS = Domain({name: range(size) for name, size in ADULT.items()})
PLACE = hierarchy({"N": ["n1", "n2"], "S": ["s1", "s2"]}, names=["region", "district"])
SMALL = Domain(sex=["m", "w"], age=bins(3), place=PLACE, vote=["y", "n"])
BITS = Domain({f"b{at}": ["y", "n"] for at in range(30)})


def dense(domain, family):
    """What a family measures as rows over the cells, from unit vectors."""
    return np.array([domain.sums(cell, family).ravel() for cell in np.eye(domain.size, dtype=np.int64)]).T


@st.composite
def measured(draw):
    """Families over a small domain, differences among them, each with a weight; the cells' own family may be there."""
    levels = [st.sampled_from(choices) for choices in ([-1, 0, 1], [0, 1], [0, 1, 2], [-1, 0, 1])]
    families = draw(st.lists(st.tuples(*levels), min_size=1, max_size=6, unique=True))
    return {family: draw(st.integers(1, 1000)) for family in families}


@given(measured(), st.integers(0, 10**6))
def test_estimates_are_unbiased_exactly_and_nearly_the_least_squares(weights, seed):
    """Of tables without noise every determined sum is the truth itself; the law of errors is that of dense algebra."""
    estimator = MarginalReconstruction(SMALL, weights)
    cells = np.random.default_rng(seed).integers(-50, 50, SMALL.shape)
    tables = {family: SMALL.sums(cells, family) for family in weights}
    rows = np.vstack([dense(SMALL, family) for family in weights])
    scales = np.concatenate([np.full(len(dense(SMALL, family)), weight) for family, weight in weights.items()])
    inverse = np.linalg.pinv(rows.T @ (scales[:, None] * rows), rcond=1e-10)
    for family in product([0, 1], [0, 1], [0, 1, 2], [0, 1]):
        own = dense(SMALL, family)
        if np.abs(own - own @ inverse @ rows.T @ (scales[:, None] * rows)).max() > 1e-6:
            with pytest.raises(NotDetermined):
                estimator.estimates(tables, family)
            continue
        sums, divisor = estimator.estimates(tables, family)
        assert (sums == divisor * SMALL.sums(cells, family).ravel()).all()
        form = group_of(SMALL, family)
        assert estimator.value(tables, form) == sums[0] // divisor
        law = estimator.terms(form)
        variance = sum(float(c) ** 2 * n / weights[of] for of, each in law.items() for (c,), n in each.items())
        assert variance == pytest.approx(float(own[0] @ inverse @ own[0]), rel=1e-5)


@given(measured(), st.integers(0, 10**6))
def test_an_answer_of_any_weights_takes_the_noises_that_its_law_says(weights, seed):
    """The estimate of an answer is the sum of coefficients times tables, group by group: by planting one sum each."""
    random = np.random.default_rng(seed)
    estimator = MarginalReconstruction(SMALL, weights)
    form = selected(SMALL, {"age": slice(0, 2)}, {"district": random.integers(-3, 4, 4).tolist()})
    try:
        law = estimator.terms(form)
        estimator.check_determined(form)
    except (NotDetermined, KeyError):
        return
    for family in weights:
        found = {}
        for place in range(int(np.prod(SMALL.group_shape(family)))):
            tables = {of: np.zeros(SMALL.group_shape(of), dtype=np.int64) for of in weights}
            tables[family].ravel()[place] = 1
            value = estimator.value(tables, form)
            found[value] = found.get(value, 0) + bool(value)
        assert {size: count for size, count in found.items() if size} == {c: n for (c,), n in law[family].items()}


def test_without_differences_it_says_what_least_squares_over_the_domain_say():
    families = {(0, 0, 2, 1): 3, (0, 1, 1, 0): 8, (1, 0, 2, 0): 5, (1, 1, 0, 1): 1}
    random = np.random.default_rng(4)
    tables = {family: random.integers(0, 99, SMALL.group_shape(family)) for family in families}
    ours, theirs = MarginalReconstruction(SMALL, families), Reconstruction(SMALL, families)
    for family in [(0, 0, 2, 1), (1, 1, 0, 1), (1, 1, 1, 0), (1, 0, 2, 1), (1, 1, 2, 1)]:
        (sums, divisor), (others, other) = ours.estimates(tables, family), theirs.estimates(tables, family)
        assert np.allclose(sums / divisor, (others / other).ravel(), atol=1e-3)


def test_the_charge_is_that_of_the_worst_neighbour():
    """By brute force over one cell more or less, and over one cell for another: in rationals."""
    shares = {(0, 0, 2, 1): Fraction(1, 4), (-1, 1, 2, -1): Fraction(1, 4), (1, 0, 2, -1): Fraction(1, 2)}

    def charged(d):
        return sum(share * int(np.abs(SMALL.sums(d, family)).sum()) for family, share in shares.items())

    cells = np.eye(SMALL.size, dtype=np.int64)
    assert {charged(cell) for cell in cells} == {1} == {Plan(SMALL, ONE, shares).charge}
    assert max(charged(one - other) for one in cells for other in cells) == 2
    known = Unit(1, 1, "change-one", nonnegative=True)
    assert Plan(SMALL, known, shares).charge == 1
    # the one difference of everybody is no total: a replacement changes it
    assert Plan(SMALL, known, {(-1, 1, 2, 1): 1}).charge == 1
    with pytest.raises(OutOfRange):
        Plan(SMALL, known, {(-1, 1, 2, 1): 1, (1, 0, 2, 1): 1})


def test_errors_are_those_of_dense_algebra():
    wanted = Workload(SMALL, {"sex age": 1, "age region": 2, "vote sex": 1, "": 1})
    families = [(0, 0, 2, 1), (-1, 0, 2, 1), (1, 0, 1, 1), (0, 1, 2, -1), (1, 1, 2, 0)]
    errors, levels = MarginalErrors.of(wanted, families), np.array([0.3, 0.1, 0.4, 0.7, 0.2])
    rows = [dense(SMALL, family) for family in families]
    information = sum(precision(own) * of.T @ of for own, of in zip(levels, rows, strict=True))
    covariance = np.linalg.pinv(information)
    for part, variance in zip(wanted.parts, errors.variances(levels), strict=True):
        of = part.matrix(SMALL)
        assert variance == pytest.approx(np.mean(np.diag(of @ covariance @ of.T)))
    value, slopes = errors.slope(levels)
    assert value == pytest.approx(errors.error(levels))
    for at in range(len(levels)):
        step = np.eye(len(levels))[at] * 1e-6
        steep = (errors.error(levels + step) - errors.error(levels - step)) / 2e-6
        assert slopes[at] == pytest.approx(steep, rel=1e-6)


@pytest.mark.parametrize(
    ("count", "equal", "roots", "found"), [(2, 15782.0, 5599.1, 5237.7), (3, 244814, 55022, 49208)]
)
def test_all_tables_of_adult_have_the_errors_that_are_printed(count, equal, roots, found):
    """Mean variance at epsilon 1: equal levels and cube roots in closed form, and what the search finds below."""
    wanted = Workload(CENSUS, marginals(CENSUS, count), per_answer=True)
    families, answers = wanted.families, float(wanted.weight)
    errors = MarginalErrors.of(wanted, families)
    assert errors.error(np.full(len(families), 1 / len(families))) / answers == pytest.approx(equal, rel=1e-4)
    tops = [np.prod([ADULT[name] - 1 for name in CENSUS.level_names(of)]) for of in families]
    cells = np.array([np.prod([float(ADULT[name]) for name in CENSUS.level_names(of)]) for of in families])
    levels = (np.array(tops) / answers) ** (1 / 3)  # mu n = (product of n - 1)/n^2, n answers, n sums
    assert errors.error(levels / levels.sum()) / answers == pytest.approx(roots, rel=1e-4)
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
    bound = signed.lower_bounds.these_families
    assert bound.within(signed.value) < 1.0001


def test_a_hundred_attributes_are_within_a_quarter_of_a_percent_of_the_bound():
    domain = Domain({f"x{at}": range(10) for at in range(40)})
    wanted = Workload(domain, marginals(domain, 2), per_answer=True)
    chosen = choose_plan(wanted, ONE, epsilon=1)
    bounds = bounds_of(wanted, ONE, 1, wanted.families)
    assert 1 <= bounds.these_families.within(chosen.value) < 1.02
    check_lower_bounds(bounds)


def test_no_plan_is_below_the_bound_and_a_certificate_that_proves_less_is_refused():
    domain = Domain({f"x{at}": range(2 + at) for at in range(5)})
    wanted = Workload(domain, marginals(domain, 2, 1))
    families = [*wanted.families, (0, 0, 0, 1, 1), (-1, 0, 1, 1, 1)]
    for unit in (ONE, Unit(2, 3), Unit(1, 1, "change-one", nonnegative=True)):
        bounds = bounds_of(wanted + Workload(domain, {"": 1}), unit, 1, families)
        assert bounds.these_families.certificate is not None
    bounds = bounds_of(wanted, ONE, 1, families)
    errors, random = MarginalErrors.of(wanted, bounds.families), np.random.default_rng(0)
    for sharp in (1, 4, 12):
        for _ in range(100):
            parts = random.random(len(bounds.families)) ** sharp
            assert errors.error(parts / parts.sum()) >= bounds.these_families.value
    certificate = bounds.these_families.certificate
    assert isinstance(certificate, TangentLevels)
    for forged in (certificate.levels[:-1], (Fraction(0), *certificate.levels[1:])):
        object.__setattr__(bounds.these_families, "certificate", TangentLevels(forged))
        with pytest.raises(PromiseBroken):
            check_lower_bounds(bounds)
    object.__setattr__(bounds.these_families, "certificate", certificate)
    object.__setattr__(bounds.these_families, "value", bounds.these_families.value * (1 + 1e-9))
    with pytest.raises(PromiseBroken):
        check_lower_bounds(bounds)


def people(count=300, columns=("age", "sex", "race", "income", "country"), seed=0):
    random = np.random.default_rng(seed)
    events = {name: random.integers(0, ADULT[name] + 1, count) for name in ADULT}
    return {name: events[name] for name in ADULT if name in columns} | {
        "who": random.integers(0, 90, count).astype(str)
    }


FIVE = Domain({name: range(ADULT[name]) for name in ("age", "sex", "race", "country", "income")})


def in_polars(events):
    return pytest.importorskip("polars").DataFrame(events)


def in_duckdb(events):
    engine, frame = pytest.importorskip("duckdb"), in_polars(events)
    return engine.from_arrow(frame.to_arrow())


@pytest.mark.parametrize("read", [dict, in_polars, in_duckdb])
@pytest.mark.parametrize("words", [{"person": "who", "at_most": 2, "per_cell": 2}, {"each_row": True}])
def test_few_cells_are_those_of_the_array(monkeypatch, read, words):
    """The same keep by whichever reader: the cells that hold a number, and every sum of them."""
    events, key = people(), b"k" * 32
    if words.get("each_row"):
        events.pop("who")
        keys = {}
    else:
        keys = {"key": key}
    laid = counted_with(read(events), domain=FIVE, **words, **keys)
    for module in (counted_events, added_cells):
        monkeypatch.setattr(module, "MOST_LAID", 1000)
    few = counted_with(read(events), domain=FIVE, **words, **keys)
    assert isinstance(few.cells, FewCells)
    assert few.unit == laid.unit
    for family in marginals(FIVE, 0, 1, 2):
        assert (FIVE.sums(few.cells, family) == FIVE.sums(laid.cells, family).ravel()).all()
    assert len(few.cells) == np.count_nonzero(laid.cells)
    assert few.report.events == laid.report.events == 300
    difference = (1, -1, 0, 1, 1)
    assert (FIVE.sums(few.cells, difference) == FIVE.sums(laid.cells, difference).ravel()).all()


def test_parts_and_measures_are_few_cells_too(monkeypatch):
    """In one pass: counts, sums, and sums and counts together; whole, and in parts that share nobody."""
    events = {**people(), "spent": np.random.default_rng(2).integers(0, 30, 300)}
    words = {"person": "who", "domain": FIVE, "at_most": 2, "key": b"k" * 32}
    calls = [
        {"measures": {"visits": ut.count(3), "spent": ut.sum("spent", per_cell=50)}},
        {"values": "spent", "each": 20, "most_events": 2, "part": "sex"},
    ]
    laid = [counted_with(events, **words, **call) for call in calls]
    for module in (counted_events, counting_rule, added_cells):
        monkeypatch.setattr(module, "MOST_LAID", 1000)
    for call, tables in zip(calls, laid, strict=True):
        few = counted_with(events, **words, **call)
        assert list(few) == list(tables)
        for name, table in tables.items():
            assert isinstance(few[name].cells, FewCells)
            assert few[name].unit == table.unit
            for family in marginals(table.domain, 1, 2):
                of_few, of_laid = (table.domain.sums(one.cells, family).ravel() for one in (few[name], table))
                assert (of_few == of_laid).all()
    with pytest.raises(Unsupported, match="distinct"):
        counted_with(events, **words, measures={"n": ut.distinct("spent", of=range(30), at_most=3)})


def test_a_domain_beyond_arrays_is_counted_released_relaxed_and_read_back(tmp_path):
    events = people(columns=tuple(ADULT))
    counted = ut.count_table(events, CENSUS, ut.Counting("who", at_most=2))
    assert counted.unit == Unit(1, 2)
    assert isinstance(pickle.loads(pickle.dumps(counted)).cells, FewCells)
    columns = ["age", "sex", "race", "income"]
    wanted = Workload(CENSUS, {" ".join(names): 1 for names in combinations(columns, 2)})
    for method in (None, "rows"):
        chosen = choose_plan(wanted, counted.unit, epsilon=1, method=method)
        release = ut.release(counted, chosen, epsilon=40, confidence=Fraction(999_999, 1_000_000), once=True).table
        table = release["sex race"]
        truth = CENSUS.sums(counted.cells, CENSUS.family("sex race"))
        assert (np.abs(table["estimate"] - truth) <= table["margin"]).all()
        assert release.total({"sex": 0}).exact == sum(
            (release.total({"sex": 0, "race": [at]}).exact for at in range(5)), start=Fraction(0)
        )
        again = NoisySums.of_facts(json.loads(json.dumps(release.facts())))
        assert (again["sex race"]["estimate"] == table["estimate"]).all()
        release.save(tmp_path / f"{method}.json")
        with pytest.raises(NotDetermined):
            release.clean()
        with pytest.raises(NotDetermined):
            release["country"]
        kept = ut.release(counted, ut.Promise(noise=chosen), epsilon="1/2").release
        early = kept.at("1/2")["sex race"]["estimate"]
        kept.at(5)
        assert (kept.at("1/2")["sex race"]["estimate"] == early).all()
        assert kept.spent == level(5)


def test_the_digest_is_of_one_text_however_it_is_read(monkeypatch):
    """Sums are digested in slices: the same bytes as the text of the whole."""
    import hashlib

    chosen = Plan(SMALL, ONE, {(0, 0, 2, 1): "1/2", (-1, 0, 2, 1): "1/2"})
    release = ut.release(np.arange(SMALL.size).reshape(SMALL.shape), chosen, epsilon=1, once=True).table
    pairs = [[SMALL.family_name(of), [str(n) for n in sums.ravel().tolist()]] for of, sums in release.measured.items()]
    text = json.dumps([SMALL.facts(), *pairs], separators=(",", ":"), ensure_ascii=False)
    monkeypatch.setattr("utmost.publish.releases.sums_document._AT_ONCE", 2)
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
    for places, numbers in (([[0], [9]], [1]), ([[0, 0], [1, 1]], [1, 1]), ([[0], [0]], [0]), ([[0]], [1])):
        with pytest.raises(BadTable):
            FewCells((2, 3), np.array(places), np.array(numbers))
    with pytest.raises(BadTable):
        CountedTable(SMALL, FewCells((2, 3), np.array([[0], [1]]), np.array([4])), ONE)


def test_a_total_that_a_replacement_leaves_is_measured_for_nothing():
    """Under change-one with nothing negative it has a share beside the rest, whatever the domain."""
    unit = Unit(1, 1, "change-one", nonnegative=True)
    for wanted in ({"sex age": 1, "": 1}, {"sex age": 1}):
        chosen = choose_plan(Workload(CENSUS, wanted), unit, epsilon=1, method="rows")
        assert chosen.charge == 1
        assert chosen.shares[CENSUS.family("")] == 1


def test_a_difference_has_a_name_that_is_read_back():
    shares = {"sex- age": "1/2", ("vote-",): "1/4", "age vote": "1/4"}
    chosen = Plan(SMALL, ONE, shares)
    assert set(chosen.shares) == {(-1, 0, 2, 1), (1, 1, 2, -1), (1, 0, 2, 0)}
    assert Plan.of_facts(chosen.facts(), ONE).shares == chosen.shares
    assert chosen.family_words((-1, 0, 2, 1)) == "age, differences of sex"
    assert by_marginals(SMALL, chosen.shares)
    with pytest.raises(OutOfRange):
        Plan(SMALL, ONE, {"age-": 1})
    named = Domain({"sex": ["m", "w"], "sex-": ["a", "b", "c"]})
    assert Plan(named, ONE, {"sex-": 1}).shares == {(1, 0): 1}


def test_the_noise_of_a_plan_has_the_stated_variance():
    """Simulated: of all answers of a small plan with differences, over 400 releases."""
    wanted = Workload(SMALL, {"sex vote": 1, "sex age": 1})
    chosen = choose_plan(wanted, ONE, epsilon=1, method="rows")
    zeros, squares = np.zeros(SMALL.shape, dtype=np.int64), []
    weights = precision_weights({of: law.ratio for of, law in noise_laws(chosen, level(1)).items()})
    for _ in range(400):
        release = ut.release(zeros, chosen, epsilon=1, once=True).table
        assert release.weights == weights
        sums, divisor = release.reconstruction.estimates(release.measured, SMALL.family("sex age"))
        squares.append(np.mean((sums / divisor).astype(float) ** 2))
    stated = chosen.variances["sex age"]
    assert np.mean(squares) == pytest.approx(stated, abs=5 * np.std(squares) / 20)
