"""Releasing a workload: the margins of the note, coverage, estimates that agree, documents."""

import copy
import inspect
import json
import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from goodness import LEVEL, no_more_often
from utmost.counting import CountedTable
from utmost.errors import BadTable, LittleProtection, NotDetermined, OutOfRange, PromiseBroken, Unsupported
from utmost.exact import level
from utmost.noise import Combination, Geometric
from utmost.privacy import Unit
from utmost.releases import Answer, NoisySums
from utmost.testing import SeededRandomness, seeded_workload_release
from utmost.workloads import Domain, Plan, Workload, bins, choose_plan, edges, hierarchy

BERKELEY = np.array(
    [512, 313, 89, 19, 353, 207, 17, 8, 120, 205, 202, 391, 138, 279, 131, 244, 53, 138, 94, 299, 22, 351, 24, 317]
).reshape(6, 2, 2)
APPLICANTS = Domain(department=list("ABCDEF"), sex=["men", "women"], outcome=["admitted", "rejected"])
CELLS = Plan(APPLICANTS, Unit(1, 1), {"department sex outcome": 1})


def released(domain, shares, measured, *, epsilon=1, unit=None):
    """A release with given noisy sums, by the name of the marginal."""
    plan = Plan(domain, Unit(1, 1) if unit is None else unit, shares)
    sums = {domain.marginal(name): np.array(values) for name, values in measured.items()}
    at = epsilon if isinstance(epsilon, ut.exact.Level) else level(epsilon)
    return NoisySums(ut.Promise(noise=plan), at, Fraction(19, 20), sums)


def test_an_answer_takes_every_argument_of_the_sums_of_its_plan():
    """An answer passes its arguments on to its sums: an argument or default of only one of them is found."""
    own = {"total", "ratio", "save", "withheld"}  # of a table, too
    for name in {*dir(NoisySums)} & {*dir(Answer)} - own:
        both = [getattr(kind, name) for kind in (NoisySums, Answer)]
        if not name.startswith("_") and all(map(inspect.isfunction, both)):
            of_sums, of_answer = ({one.name: one.default for one in inspect.signature(each).parameters.values()}
                                  for each in both)  # fmt: skip
            assert of_sums == of_answer, name


def test_an_answer_has_one_confidence():
    """Another confidence applies to the intervals of ratios, too, for a plan and for a table."""
    table = {"town": ["A", "B"], "n": [601, 370]}
    by_table = ut.release(table, ut.Promise("n", public="town", unit=Unit(1, 1)), epsilon=1)
    by_plan = ut.release(BERKELEY, CELLS, epsilon=1)
    for answer, where in ((by_table, {"town": "A"}), (by_plan, {"sex": "men"})):
        sure = answer.with_confidence("0.999").ratio(where)
        asked = answer.ratio(where, confidence="0.999")
        assert (sure.lower, sure.upper) == (asked.lower, asked.upper)


def test_berkeley_at_one_by_cells_alone():
    """3, 4, 5, 7, 9, 13 for sums of 1, 2, 4, 6, 12, 24 cells; every answer is the sum of noisy cells."""
    release = ut.release(BERKELEY, CELLS, epsilon=1, once=True).table
    wheres = [
        {"department": "A", "sex": "men", "outcome": "admitted"},
        {"department": "A", "sex": "men"},
        {"department": "A"},
        {"sex": "men", "outcome": "admitted"},
        {"sex": "women"},
        {},
    ]
    assert [release.total(where).margin for where in wheres] == [3, 4, 5, 7, 9, 13]
    assert list(release.bars("department sex outcome", "department sex", "department", "sex", "").values()) == [
        *(3, 4, 5, 9, 13)
    ]
    cells = release.measured[(0, 0, 0)]
    assert release.total().value == cells.sum()
    assert release["department sex"]["count"].tolist() == cells.sum(axis=2).ravel().tolist()
    assert release["department sex"]["count_margin"].tolist() == [4] * 12
    assert release["department sex"]["sex"].tolist() == ["men", "women"] * 6
    assert release.raw("department sex outcome")["measured"].tolist() == cells.ravel().tolist()
    one = release.total({"sex": "men"})
    assert one.interval == (one.value - 9, one.value + 9)
    assert one.variance == pytest.approx(12 * float(Combination([1], 1).variance))


def test_a_plan_is_released_and_its_wanted_tables_are_shown():
    """The planner measures only the cells for Berkeley; margins are those of the wanted tables; a label selects a
    part."""
    names = ["department sex outcome=admitted", "department sex", "department", ""]
    wanted = Workload(APPLICANTS, dict.fromkeys(names, 1), per_answer=True)
    release = ut.release(BERKELEY, choose_plan(wanted, Unit(1, 1), epsilon=1), epsilon=1, once=True).table
    assert list(release.measured) == [(0, 0, 0)]
    assert release.bars() == {"department sex outcome": 3, "department sex": 4, "department": 5, "": 13}
    admitted = release["department outcome=admitted"]
    assert admitted["outcome"].tolist() == ["admitted"] * 6
    assert admitted["count_margin"].tolist() == [4] * 6
    assert admitted["count"].tolist() == release.measured[(0, 0, 0)][:, :, 0].sum(axis=1).tolist()


def test_tables_of_different_marginals_agree_with_each_other():
    """Least squares is consistent: estimates of a coarser marginal are sums of those of a finer one, in rationals."""
    domain = Domain(place=hierarchy({"N": ["a", "b"], "S": ["c", "d"]}, names=["region", "district"]), sex=[1, 2, 3])
    plan = Plan(domain, Unit(2, 3), {"district sex": "1/2", "region": "1/4", "sex": "1/8", "": "1/8"})
    release = ut.release(np.arange(12).reshape(4, 3), plan, epsilon=ut.level(alpha="1/3"), once=True).table
    estimates = {}
    for marginal in domain.marginals():
        sums, divisor = release.reconstruction.estimates(release.measured, marginal)
        estimates[marginal] = np.array([Fraction(int(one), divisor) for one in sums.ravel()]).reshape(sums.shape)
    for marginal, found in estimates.items():
        assert (domain.sums(estimates[domain.finest], marginal) == found).all()
    assert release.total({"region": "N"}).exact == estimates[domain.marginal("region")].ravel()[0]
    assert release.total({"district": ["a", "b"]}).exact == release.total({"region": "N"}).exact


def test_bars_cover_as_often_as_they_say():
    """Of 150 seeded releases, true sums lie within their margins, separately and all at once, as often as stated."""
    domain = Domain(place=hierarchy({"N": ["a", "b"], "S": ["c", "d"]}, names=["region", "district"]))
    plan = Plan(domain, Unit(1, 1), {"district": "1/2", "region": "1/4", "": "1/4"})
    cells, names, runs = np.array([40, 0, 7, 300]), ["district", "region", ""], 150
    truth = {name: domain.sums(cells, domain.marginal(name)) for name in names}
    first = ut.release(cells, plan, epsilon=2, once=True).table
    alone, together = (first.bars(*names, confidence="0.8", together=both) for both in (False, True))
    hits = []
    for seed in range(runs):
        release = seeded_workload_release(cells, plan, seed, epsilon=2)
        off = {}
        for name in names:
            sums, divisor = release.reconstruction.estimates(release.measured, domain.marginal(name))
            off[name] = np.abs((sums / divisor).astype(float) - truth[name])
        hits.append([*(off[n][0] <= alone[n] for n in names), all((off[n] <= together[n]).all() for n in names)])
    rates = np.mean(hits, axis=0)
    assert (rates >= 0.8 - 3 * math.sqrt(0.16 / runs)).all()
    assert (rates <= [0.88, 0.88, 0.88, 0.97]).all()


def test_estimates_are_unbiased_in_rationals():
    """Estimate minus truth is exactly the same combination of noises for every truth."""
    domain = Domain(a=[1, 2], b=[1, 2, 3])
    plan = Plan(domain, Unit(1, 1), {"a b": "1/3", "a": "1/3", "b": "1/3"})
    for cells in (np.zeros((2, 3), int), np.arange(6).reshape(2, 3) * 10**14):
        release = seeded_workload_release(cells, plan, 5, epsilon="1/3")
        noises = {marginal: sums - domain.sums(cells, marginal) for marginal, sums in release.measured.items()}
        off = release.total({"a": 1, "b": [1, 2]}).exact - int(cells[0, :2].sum())
        alone = NoisySums(ut.Promise(noise=plan), release.level, release.confidence, noises)
        assert off == alone.total({"a": 1, "b": [1, 2]}).exact


def test_ratios_are_fieller_sets_of_shared_noises():
    """17 admitted of 25: [.5993, .7735]; two of three: not determined."""
    domain = Domain(outcome=["admitted", "rejected"])
    bar = released(domain, {"outcome": 1}, {"outcome": [17, 8]}).ratio({"outcome": "admitted"}, {})
    assert bar.estimate == pytest.approx(17 / 25)
    assert bar.lower == pytest.approx(0.5993, abs=3e-3)
    assert bar.upper == pytest.approx(0.7735, abs=3e-3)
    assert not released(domain, {"outcome": 1}, {"outcome": [2, 1]}).ratio({"outcome": "admitted"}, {}).determined


def test_means_along_an_axis_and_of_a_release_of_sums():
    """The mean age from bins, by midpoints or given numbers; the mean of an amount from two releases."""
    domain = Domain(age=bins(0, 40, width=10), sex=["men", "women"])
    counts = [[100, 0], [200, 50], [300, 50], [0, 100]]
    release = released(domain, {"age sex": 1}, {"age sex": counts})
    bar = release.mean("age", where={"sex": "men"})
    assert bar.estimate == pytest.approx((100 * 5 + 200 * 15 + 300 * 25) / 600)
    assert bar.lower < bar.estimate < bar.upper
    assert bar.upper - bar.lower < 0.7
    assert release.mean("age", where={"sex": "men"}, values=[1, 1, 1, 1]).estimate == 1
    assert release.mean("age", values=dict.fromkeys(domain.axes[0].labels[0], 2)).upper == pytest.approx(2)
    sums = released(domain, {"sex": 1}, {"sex": [[6000, 1000]]}, unit=Unit(10, 1))
    mean = release.mean(sums=sums, where={"sex": "men"})
    assert mean.estimate == 10
    assert mean.lower < 10 < mean.upper
    assert mean.upper - mean.lower > 2 * Geometric(1, 10).margin("0.9") / 600
    with pytest.raises(OutOfRange, match="name= and sums="):
        release.mean()
    with pytest.raises(OutOfRange, match="'men' and 'women'"):
        release.mean("sex")


def test_the_mean_of_values_in_bins_lies_between_the_means_of_their_ends():
    """The interval of middles has no reason to hold it; the one of ends does, wherever in its bin each value lies."""
    ages = edges([0, 18, 30, 45, 65, None])
    domain, counts = Domain(age=ages, sex=["men", "women"]), [[300, 0], [900, 9], [200, 9], [100, 9], [50, 9]]
    release, young = released(domain, {"age sex": 1}, {"age sex": counts}), {"sex": "men", "age": slice(0, 65)}
    middles, ends = (release.mean("age", where=young, values=values) for values in ("midpoints", "ends"))
    assert ends.estimate == middles.estimate
    for values in ((0, 18, 30, 45), (17, 29, 44, 64), (17.9, 29.9, 44.9, 64.9), (17, 18, 44, 45)):
        true = sum(value * row[0] for value, row in zip(values, counts[:4], strict=True)) / 1500
        assert ends.lower < true < ends.upper
        assert not middles.lower < true < middles.upper
    assert ends.upper - ends.lower < 15.5
    with pytest.raises(OutOfRange, match="no midpoint"):
        release.mean("age", values="ends")
    # completed years, and bins of one integer, have no more values than their labels say
    for axis, most in ((ut.workloads.ages("born", [0, 2], on="2025-01-01"), 1), (edges([0, 1]), 0), (edges([0, 2]), 2)):
        one = released(Domain(age=axis), {"age": 1}, {"age": [1000]})
        assert one.mean("age", values="ends").interval == pytest.approx((0, most))
    each = released(Domain(age=edges([0, 1, 2, 3])), {"age": 1}, {"age": [1000, 500, 500]})
    assert each.mean("age", values="ends").interval == pytest.approx(each.mean("age").interval, abs=0.02)


def test_the_interval_of_ends_misses_no_more_often_than_it_says():
    """All values at the upper ends, or all at the lower ones: each is missed by one tail of the noise."""
    domain, missed = Domain(age=bins(0, 40, width=10)), np.zeros(2)
    plan, lower, upper = Plan(domain, Unit(1, 1), {"age": 1}), 900 / 70, 1600 / 70
    for _ in range(24):
        table = ut.release(np.array([20, 20, 20, 10]), plan, epsilon=1, once=True).table
        bar = table.mean("age", values="ends", confidence="0.9")
        missed += [bar.upper < upper, bar.lower > lower]
    assert min(no_more_often(int(count), 24, 0.05) for count in missed) > LEVEL


def test_simultaneous_bars_of_independent_cells_are_those_of_their_product():
    """Geometric noise at 1 in 24 and in 200 cells: 6 and 8."""
    assert ut.release(BERKELEY, CELLS, epsilon=1, once=True).bars(together=True) == {"department sex outcome": 6}
    domain = Domain(a=list(range(200)))
    release = ut.release(np.zeros(200, int), Plan(domain, Unit(1, 1), {"a": 1}), epsilon=1, once=True).table
    assert release.bars(together=True) == {"a": 8}
    assert release.bars("a", "", together=True)["a"] >= 8


def test_how_much_is_printed_follows_from_the_noise_alone():
    """Equal distributions and other data: equal decimals and equal types."""
    domain = Domain(a=[1, 2, 3])
    plan = Plan(domain, Unit(1, 1), {"a": "1/2", "": "1/2"})
    for cells in (np.zeros(3, int), np.array([10**15, 3, 1])):
        table = ut.release(cells, plan, epsilon=1, once=True).table["a"]
        assert table["count"].dtype == np.float64
        assert table["count_margin"].tolist() == [table["count_margin"][0]] * 3


def test_clean_tables_agree_and_say_that_they_are_biased():
    """Integers, not negative, every table a sum of the cells; .4255 at epsilon 1 by cells alone, with its sentence."""
    release = seeded_workload_release(BERKELEY // 100, CELLS, 3, epsilon=1)
    clean = release.clean()
    assert clean.cells.min() == 0
    assert (clean.cells == np.maximum(release.measured[(0, 0, 0)], 0)).all()
    assert clean.zero_bias == pytest.approx(0.42546, abs=1e-5)
    assert "biased" in clean.words
    assert "0.4255" in clean.words
    assert clean["department"]["clean"].sum() == clean.total() == clean.cells.sum()
    assert clean.total({"sex": "men"}) == clean["sex"]["clean"][0]
    assert pickle.loads(pickle.dumps(clean)).total() == clean.total()
    assert json.loads(json.dumps(clean.facts()))["counts"] == clean.cells.ravel().tolist()
    shares = {"department sex outcome": "1/2", "department": "1/4", "": "1/4"}
    mixed = seeded_workload_release(BERKELEY, Plan(APPLICANTS, Unit(1, 1), shares), 3).clean()
    assert mixed.exact_rounding
    assert mixed.largest_move < 1
    assert not mixed.zero_bias_is_exact


@pytest.mark.parametrize("digits", [1, 5, 7, 12, 17, 40])
def test_the_bias_of_true_zeros_is_right_to_a_float_where_alpha_is_near_1(digits):
    """alpha / (1 - alpha^2) in rationals; 1/alpha - alpha in floats was 5 % off at 10^-15, and 0 at 10^-17."""
    alpha = 1 - Fraction(1, 10**digits)
    clean = released(Domain(a=["x"]), {"a": 1}, {"a": [0]}, epsilon=level(alpha=alpha)).clean()
    assert clean.zero_bias_is_exact
    assert clean.zero_bias == pytest.approx(float(alpha / (1 - alpha**2)), rel=1e-9)


@pytest.mark.slow
def test_a_three_way_table_of_ten_thousand_cells():
    """20 x 20 x 25 with its eight marginals: released, reconstructed, cleaned; all estimates are near the truth."""
    domain = Domain(a=list(range(20)), b=list(range(20)), c=list(range(25)))
    marginals = list(domain.marginals())
    plan = Plan(domain, Unit(1, 1), {marginal: Fraction(1, 8) for marginal in marginals})
    cells = np.random.default_rng(0).poisson(3, domain.shape)
    release = seeded_workload_release(cells, plan, 1, epsilon=8)
    for name in ("a b c", "a b", "c", ""):
        table = release[name]
        truth = domain.sums(cells, domain.marginal(name)).ravel()
        assert np.mean(np.abs(table["count"] - truth)) < table["count_margin"][0]
    clean = release.clean()
    assert not clean.exact_rounding
    assert abs(clean.total() - cells.sum()) < 60


@pytest.mark.parametrize("epsilon", ["1e-6", 50])
def test_extreme_levels_huge_counts_zeros_and_single_cells(epsilon):
    """Counts of 10^15 and of 10^30, tables of zeros, one cell, at 10^-6 and at 50: numbers, margins and documents."""
    for values in ([0, 0], [10**15, 3], [10**30, 0]):
        domain = Domain(a=["x", "y"])
        plan = Plan(domain, Unit(1, 1), {"a": "1/2", "": "1/2"})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LittleProtection)
            release = ut.release(np.array(values, dtype=object), plan, epsilon=epsilon, once=True).table
        answer = release.total({"a": "x"})
        near = 10**9 if epsilon == "1e-6" else 1
        assert abs(answer.exact - values[0]) < near
        assert answer.margin > 0 or epsilon == 50
        assert NoisySums.of_facts(json.loads(json.dumps(release.facts()))).total().exact == release.total().exact
        assert release.clean().total() >= 0
    one = Domain(only=["x"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LittleProtection)
        single = ut.release(
            np.array([7]), Plan(one, Unit(1, 1), {"only": "1/2", "": "1/2"}), epsilon=epsilon, once=True
        ).table
    assert single["only"]["count"].tolist() == single[""]["count"].tolist()


def test_groups_of_different_sizes_have_margins_of_their_own():
    """Regions with three districts and with one, where districts are measured: 4 and 3 at epsilon 1."""
    domain = Domain(place=hierarchy({"N": ["a", "b", "c"], "S": ["d"]}, names=["region", "district"]))
    release = ut.release(np.array([5, 6, 7, 8]), Plan(domain, Unit(1, 1), {"district": 1}), epsilon=1, once=True).table
    assert release["region"]["count_margin"].tolist() == [Combination([1], 1, counts=[3]).margin(), 3]
    assert release.bars("region") == {"region": Combination([1], 1, counts=[3]).margin()}
    both = Plan(domain, Unit(1, 1), {"district": "1/2", "region": "1/2"})
    release = ut.release(np.array([5, 6, 7, 8]), both, epsilon=1, once=True).table
    one, other = release["region"]["count_margin"].tolist()
    assert one > other
    assert release["district"]["count_margin"].tolist()[3] == other < release["district"]["count_margin"].tolist()[0]
    assert release.total({"district": "d"}).exact == release.total({"region": "S"}).exact
    assert release.clean()["region"]["clean"].sum() == release.clean().total()
    crossed = Domain(place=domain.axes[0], sex=[1, 2])
    with pytest.raises(Unsupported, match="the same size"):
        ut.release(np.zeros((4, 2), int), Plan(crossed, Unit(1, 1), {"region": 1}), epsilon=1, once=True)


def test_what_is_refused_before_anything_is_drawn():
    """A smaller unit, another domain, a seeded source, invalid cells, a fractional sensitivity."""
    proved = CountedTable(APPLICANTS, BERKELEY, Unit(1, 3))
    with pytest.raises(OutOfRange, match="proved"):
        ut.release(proved, CELLS, epsilon=1, once=True)
    for unit in (Unit(2, 1), Unit(1, 1, "change-one")):
        with pytest.raises(OutOfRange):
            ut.release(CountedTable(APPLICANTS, BERKELEY, unit), CELLS, epsilon=1, once=True)
    assert ut.release(proved, Plan(APPLICANTS, Unit(1, 3), {"sex": 1}), epsilon=1, once=True).table.unit.cells == 3
    with pytest.raises(OutOfRange, match="domain"):
        ut.release(CountedTable(Domain(a=[1]), np.array([1]), Unit(1, 1)), CELLS, epsilon=1, once=True)
    with pytest.raises(PromiseBroken, match="nobody can predict"):
        ut.release(BERKELEY, CELLS, epsilon=1, randomness=SeededRandomness(1), once=True)
    with pytest.raises(BadTable):
        ut.release(BERKELEY / 2, CELLS, epsilon=1, once=True)
    with pytest.raises(OutOfRange, match="integer"):
        ut.release(BERKELEY, Plan(APPLICANTS, Unit("1/2", 1), {"sex": 1}), epsilon=1, once=True)
    margins = ut.release(
        BERKELEY, Plan(APPLICANTS, Unit(1, 1), {"sex": "1/2", "outcome": "1/2"}), epsilon=1, once=True
    ).table
    with pytest.raises(NotDetermined, match="measure 'sex outcome'"):
        margins["sex outcome"]
    with pytest.raises(NotDetermined):
        margins.ratio({"sex": "men", "outcome": "admitted"}, {"sex": "men"})
    with pytest.raises(NotDetermined):
        margins.clean()["sex outcome"]
    with pytest.raises(OutOfRange, match="a measured table"):
        margins.raw("department")
    with pytest.warns(LittleProtection):
        ut.release(BERKELEY, CELLS, epsilon=20, once=True)


def test_a_document_gives_back_the_release_and_shows_what_was_changed():
    """of_facts(facts) gives the same answers; a changed sum, share, level or domain is refused."""
    shares = {"department sex outcome": "1/2", "sex": "1/2"}
    release = ut.release(
        BERKELEY, Plan(APPLICANTS, Unit(1, 2, "change-one"), shares), epsilon=ut.level(alpha="1/3"), once=True
    ).table
    facts = json.loads(json.dumps(release.facts()))
    again = NoisySums.of_facts(facts)
    assert again.total({"sex": "men"}) == release.total({"sex": "men"})
    assert again.statement == release.statement
    assert pickle.loads(pickle.dumps(release)).statement == release.statement
    said = release.statement
    assert said["noise"]["epsilon_parts"] == 4
    assert [one["share"] for one in said["noise"]["marginals"]] == ["1/2", "1/2"]
    assert said["noise"]["marginals"][0]["per_sum"]["epsilon"] == "-1/8 log(1/3)"
    assert said["promise"]["noise"]["plan"]["domain"]["sex"] == ["men", "women"]
    assert "at most 2 cells, each by at most 1" in said["guarantee"]
    for change in (
        lambda one: one["sums"]["sex"].__setitem__(0, 17),
        lambda one: one["promise"]["noise"]["plan"]["shares"][0].__setitem__(1, "1/4"),
        lambda one: one.update(epsilon="1/100"),
        lambda one: one["promise"]["noise"]["plan"]["unit"].update(cells=1),
        lambda one: one.update(kind="another"),
        lambda one: one["promise"]["noise"]["plan"]["domain"].update(sex=["women", "men"]),
        lambda one: one["noise"]["marginals"].pop(),
        lambda one: one["sums"]["sex"].__setitem__(0, 1.5),
        lambda one: one.pop("confidence_exactly"),
        lambda one: one["noise"]["marginals"][0].update(weight=-1),
    ):
        changed = copy.deepcopy(facts)
        change(changed)
        with pytest.raises(BadTable):
            NoisySums.of_facts(changed)


def test_a_statement_holds_no_true_value():
    """Two tables with the same seed: the noise is the same, and the statements differ only in their digests."""
    one, other = (seeded_workload_release(BERKELEY + shift, CELLS, 9).statement for shift in (0, 10**9))
    assert {name for name in one if one[name] != other[name]} == {"table"}


def test_tables_come_in_the_kind_that_came_in():
    """A dataframe, if the counted table was made from one."""
    pandas = pytest.importorskip("pandas")
    rows = [(d, x, o) for d in "ABCDEF" for x in ("men", "women") for o in ("admitted", "rejected")]
    frame = pandas.DataFrame(rows, columns=["department", "sex", "outcome"])
    counted = ut.count_table(frame, APPLICANTS, ut.Counting(each_row=True))
    release = ut.release(counted, CELLS, epsilon=1, once=True).table
    assert list(release["department"].columns) == ["department", "count", "count_margin"]
    assert list(release.clean()["sex"].columns) == ["sex", "clean"]
