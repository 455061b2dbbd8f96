"""Stopping rules: their cost, the level at which they stop, and margins that hold there."""

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.signal import fftconvolve

import utmost as ut
from utmost.errors import BadTable, NotANumber, OutOfRange, Unsupported, UtmostError, WrongKind
from utmost.exact import level
from utmost.gradual import Tightening, joint_pmf
from utmost.noise import Geometric
from utmost.promises import CellNoise, PointNoise, Promise
from utmost.statements import change
from utmost.workloads import Domain

DEPARTMENTS = {"department": list("ABCDEF"), "applicants": [933, 585, 918, 792, 584, 714]}
UNIT = ut.Unit(1, 1)
HALF = Fraction(1, 2)


def promised(share="10 %", where=None, steps=7, **words):
    return Promise("applicants", public="department", unit=UNIT, until=ut.within(share, where, steps=steps), **words)


# The privacy of what is published


LADDER = ut.within("50 %", steps=3).levels(level(alpha="1/16"))
REACH = 6


@cache
def chance(noise):
    """The joint probability of noise at the first levels of the ladder."""
    return joint_pmf(list(noise), LADDER[: len(noise)])


def outcomes(x, stops):
    """The probability of each outcome: the answers up to the level at which the rule stopped."""
    found = {}
    for count in (1, 2, 3):
        for noise in itertools.product(range(-REACH, REACH + 1), repeat=count):
            answers = tuple(x + each for each in noise)
            if any(stops(answers[:k], x) for k in range(1, count)) or not (count == 3 or stops(answers, x)):
                continue
            found[answers] = chance(noise)
    return found


def of_the_product(answers, x):
    """The library's rule, applied to the table of the last answer."""
    rule, at = ut.within("50 %", steps=3), LADDER[len(answers) - 1]
    noise = CellNoise(UNIT).at(at, Fraction(3, 4))
    return rule.is_met({"n": [answers[-1]]}, ("n",), noise)


RULES = {
    "the product's": of_the_product,
    "odd": lambda answers, x: abs(answers[-1]) >= 4 + len(answers) % 2 * (answers[0] % 3),
    "never": lambda answers, x: False,
    "at once": lambda answers, x: True,
    "of the whole path": lambda answers, x: sum(answers) % 3 == 0,
}


@pytest.mark.parametrize("rule", RULES)
def test_an_outcome_loses_the_level_at_which_it_stopped(rule):
    """Enumerated in rationals: no ratio exceeds e^epsilon of the reached level, and some ratio attains it."""
    assert [at.alpha for at in LADDER] == [HALF, Fraction(1, 4), Fraction(1, 16)]
    here, there = outcomes(5, RULES[rule]), outcomes(6, RULES[rule])
    common = [answers for answers in here if all(abs(each - 6) <= REACH for each in answers)]
    assert all(answers in there for answers in common)
    for count in {len(answers) for answers in common}:
        ratios = [max(here[a] / there[a], there[a] / here[a]) for a in common if len(a) == count]
        assert max(ratios) == 1 / LADDER[count - 1].alpha


def test_a_rule_of_the_true_error_loses_everything():
    """The rule that must be refused: one table has an outcome that its neighbour cannot have."""
    here = outcomes(5, lambda answers, x: abs(answers[-1] - x) <= 1)
    there = outcomes(6, lambda answers, x: abs(answers[-1] - x) <= 1)
    assert any(answers not in there for answers in here if all(abs(each - 6) <= REACH for each in answers))


# Margins that hold where the rule stops


def least_coverage(levels, margins, share, values, read=None):
    """The least P(the margin holds where the rule stops), over true values, for every behaviour of the other cells.

    The other cells let the rule stop at any levels that they choose, and at the last.

    Args:
        read: Margins that the rule reads; the tested margins if left out.
    """
    read, last = margins if read is None else read, len(levels) - 1
    reach = 40 * margins[0] // 3 + 60
    v, x = np.arange(-reach, reach + 1), np.array(values)[:, None, None]
    alphas = [float(at.alpha) for at in levels]
    mass = [(1 - a) / (1 + a) * a ** np.abs(v) for a in alphas]
    groups = np.arange(1 << last)[:, None]  # bit i: whether neighbours let it stop at level i
    going = np.broadcast_to(mass[0], (len(values), 1 << last, v.size))
    missed = np.zeros(going.shape[:2])
    for i in range(len(levels)):
        if i:
            lower, higher = alphas[i - 1], alphas[i]
            stay = higher / lower * ((1 - lower) / (1 - higher)) ** 2
            kernel = (1 - stay) * (1 - lower) / (1 + lower) * lower ** np.abs(v)
            ratio = going / mass[i - 1]
            going = mass[i] * (fftconvolve(ratio, kernel[None, None], "same", axes=2) + stay * ratio)
        may_stop = np.ones((1, 1, v.size), bool) if i == last else read[i] <= share * np.abs(x + v)
        stops = may_stop & (groups >> i & 1 > 0) if i < last else may_stop
        missed += (going * (stops & (np.abs(v) > margins[i]))).sum(2)
        going = np.where(stops, 0, going)
    return 1 - missed.max()


@pytest.mark.parametrize(("share", "epsilon"), [("20 %", 2), ("100 %", 1)])
def test_the_margins_hold_where_the_rule_stops(share, epsilon):
    """By the Markov chain, for every true value and whatever other cells do; margins for one fixed level do not
    hold."""
    rule, sure = ut.within(share, steps=4), Fraction(19, 20)
    levels = rule.levels(level(epsilon))
    each = rule.cell_confidence(CellNoise(UNIT), levels, sure)
    margins = [Geometric(at).margin(each) for at in levels]
    plain = [Geometric(at).margin(sure) for at in levels]
    values = range(0, int(margins[0] / rule.share) + 3 * margins[0], 1 + margins[0] // 12)
    assert least_coverage(levels, margins, rule.share, values) >= 0.95 - 1e-9
    assert sure < each < 1 - (1 - sure) / 4  # less than the sum of the misses of all levels
    assert least_coverage(levels, plain, rule.share, values) < 0.95


@pytest.mark.parametrize(("share", "sure"), [("100 %", "0.99"), ("50 %", "0.8")])
def test_margins_of_another_confidence_hold_though_the_rule_reads_those_of_95_percent(share, sure):
    rule, wanted, noise = ut.within(share, steps=4), Fraction(sure), CellNoise(UNIT)
    levels = rule.levels(level(2))
    read, margins = (
        [Geometric(at).margin(rule.cell_confidence(noise, levels, each)) for at in levels]
        for each in (Fraction(19, 20), wanted)
    )
    values = range(0, int(read[0] / rule.share) + 3 * margins[0], 1 + read[0] // 12)
    assert least_coverage(levels, margins, rule.share, values, read) >= wanted - Fraction(1, 10**9)


def test_a_statement_with_another_confidence_is_checked_by_the_margins_that_the_rule_read():
    for _ in range(8):
        answer = ut.release({"department": ["A"], "applicants": [560]}, promised(), epsilon=4, confidence="0.999")
        assert ut.check_statement(answer.statement, answer.table).margin == answer.margin()


def test_reals_and_sums_add_the_misses_of_all_levels_up():
    """Only the union bound is known for them; it holds for any rule."""
    rule = ut.within("10 %", steps=5)
    noise, sure = CellNoise(UNIT, "reals"), Fraction(9, 10)
    assert rule.cell_confidence(noise, rule.levels(level(1)), sure) == Fraction(49, 50)
    answer = ut.release(DEPARTMENTS, promised(steps=5), epsilon=2)
    assert answer.total().confidence == Fraction(19, 20)
    total = ut.release(DEPARTMENTS, Promise("applicants", public="department", unit=UNIT), epsilon=answer.level).total
    assert answer.total().margin == total(confidence="0.99").margin > total().margin
    assert answer.ratio({"department": "A"}).confidence == Fraction(19, 20)


# What is released


def test_it_stops_at_the_first_level_that_is_accurate():
    answer = ut.release(DEPARTMENTS, promised(), epsilon=4)
    cells, margin = answer.table["applicants"], answer.margin()
    assert answer.is_met
    assert all(margin <= abs(cell) / 10 for cell in cells)
    assert answer.level <= level("1/8")
    assert answer.release.spent == answer.level
    ladder = ut.within("10 %").levels(level(4))
    assert answer.release.levels == ladder[: ladder.index(answer.level) + 1]
    assert answer.stop.levels == ladder
    assert answer.stop.promised == level(4)
    for at in answer.release.levels[:-1]:  # at none of these was the rule met
        earlier = answer.release.at(at)
        margin = answer.promise.at_stop(at, answer.stop).margin
        assert any(margin > abs(cell) / 10 for cell in earlier.table["applicants"])
        assert earlier.stop.is_met is None
        assert earlier.margin() == Geometric(at).margin("0.95")


@pytest.mark.parametrize("true", [550, 530])
def test_released_values_decide_and_true_ones_do_not(true):
    """Near 540, the least accurate value at the first level, noise changes the decision every second time."""
    table, decided = {"department": ["A"], "applicants": [true]}, set()
    for _ in range(20):
        answer = ut.release(table, promised(), epsilon=4)
        for at in answer.release.levels:
            (released,) = answer.release.at(at).table["applicants"]
            accurate = answer.promise.at_stop(at, answer.stop).margin <= abs(released) / 10
            assert accurate == (at == answer.level)
        decided.add(answer.level == answer.stop.levels[0])
    assert decided == {False, True}


def test_what_is_never_accurate_reaches_the_last_level():
    table = {"department": ["A", "B"], "applicants": [600, 0]}
    answer = ut.release(table, promised(steps=3), epsilon=1)
    assert (answer.level, answer.is_met, answer.release.levels) == (level(1), False, ladder := answer.stop.levels)
    assert len(ladder) == 3
    chosen = ut.release(table, promised(where={"department": "A"}, steps=3), epsilon=1)
    assert chosen.is_met
    assert chosen.level == ladder[0]


def test_it_goes_on_from_the_level_reached():
    answer = ut.release(DEPARTMENTS, promised(), epsilon=4)
    between = answer.release.relax(epsilon=2)
    assert between.stop.is_met is None  # of the ladder: its margins hold whoever asked for it, and why
    assert between.margin() == Geometric(2).margin(1 - Fraction(1, 140)) > Geometric(2).margin("0.95")
    assert ut.check_statement(between.statement, between.table)
    assert between.with_confidence("0.9").margin() == between.margin("0.9") == Geometric(2).margin(1 - Fraction(1, 70))
    sharper = answer.release.relax(epsilon=5)
    assert sharper.level == answer.release.spent == level(5)
    assert sharper.stop is None
    assert sharper.margin() == Geometric(5).margin("0.95")
    assert answer.release.at(answer.level).statement["stopped"] == answer.statement["stopped"]
    with pytest.raises(Unsupported, match="a stopping rule stopped") as error:
        _ = between.is_met
    assert "until=within(...)" in str(error.value)


def test_any_level_of_the_ladder_has_margins_that_hold_for_any_rule():
    """By the Markov chain: the probability that any level misses its margin is at most that of one miss."""
    levels, sure = ut.within("10 %").levels(level(4)), Fraction(19, 20)
    margins = [Geometric(at).margin(1 - (1 - sure) / len(levels)) for at in levels]
    going, v = None, np.arange(-1400, 1401)
    for i in reversed(range(len(levels))):  # from the most accurate level on, cut at each margin
        alpha = float(levels[i].alpha)
        if going is None:
            going = (1 - alpha) / (1 + alpha) * alpha ** np.abs(v)
        else:
            stay = float(Tightening(levels[i], levels[i + 1]).stay.number)
            step = (1 - stay) * (1 - alpha) / (1 + alpha) * alpha ** np.abs(v)
            going = stay * going + np.convolve(going, step, "same")
        going = np.where(np.abs(v) <= margins[i], going, 0)
    assert 0.95 <= going.sum() < 0.99


def test_another_confidence_changes_the_margins_and_not_the_stop():
    answer = ut.release(DEPARTMENTS, promised(), epsilon=4)
    surer = answer.with_confidence("0.99")
    assert (surer.level, surer.confidence, answer.confidence) == (answer.level, Fraction(99, 100), Fraction(19, 20))
    assert surer.margin() == answer.margin("0.99") == set(surer.table["applicants_margin"]).pop() > answer.margin()
    assert surer.with_confidence("0.95").table == answer.table
    assert ut.release(DEPARTMENTS, promised(), epsilon=4, confidence="0.99").confidence == Fraction(99, 100)


def test_a_statement_says_it_all_and_each_word_is_checked(tmp_path):
    answer = ut.release(DEPARTMENTS, promised(steps=3), epsilon="1/4")
    answer.save(tmp_path / "r.csv")
    again = ut.read_release(tmp_path / "r.csv")
    assert again.stop == answer.stop
    assert again.margin() == answer.margin()
    statement = answer.statement
    assert "by at most 1.29 (epsilon = 0.25)" in statement["guarantee"]  # e^(1/4), beforehand
    factor = {"1/16": "1.07", "1/8": "1.14", "1/4": "1.29"}[str(answer.level.epsilon)]
    assert f"The chance of this outcome is multiplied or divided by at most {factor}" in statement["guarantee"]
    assert statement["stopped"] == {
        "levels": ["1/16", "1/8", "1/4"], "met": answer.is_met, "confidence": "19/20"
    }  # fmt: skip
    for changed in (
        {"met": not answer.is_met},
        {"met": 1},
        {"met": None},
        {"levels": ["1/8", "1/4", "1/2"]},
        {"levels": ["1/8", "1/4"]},
        {"levels": []},
        {"confidence": "9/10"},
        {"confidence": "x"},
        {"more": 1},
    ):
        with pytest.raises(BadTable):
            ut.check_statement(statement | {"stopped": statement["stopped"] | changed}, answer.table)
    without = {name: fact for name, fact in statement.items() if name != "stopped"}
    with pytest.raises(BadTable, match="guarantee"):
        ut.check_statement(without, answer.table)
    for other in ({"share": "1/1000"}, {"steps": 4}, {"where": {"sex": ["women"]}}):
        promise = statement["promise"] | {"until": statement["promise"]["until"] | other}
        with pytest.raises(BadTable):
            ut.check_statement(statement | {"promise": promise}, answer.table)


def test_changes_between_stopped_answers_allow_for_both_ladders():
    one, other = (ut.release(DEPARTMENTS, promised(steps=2), epsilon="1/4") for _ in range(2))
    found = change(one, other)
    assert found.confidence == Fraction(19, 20)
    plain = Promise("applicants", public="department", unit=UNIT)
    fixed = [ut.release(DEPARTMENTS, plain, epsilon=answer.level) for answer in (one, other)]
    assert found.margin == change(*fixed, confidence=1 - Fraction(1, 80)).margin


# What is refused, and how it is mended


def test_a_rule_that_is_given_the_data_is_refused():
    with pytest.raises(WrongKind, match="released values"):
        Promise("n", unit=UNIT, until=lambda table: table["n"][0] > 10)
    with pytest.raises(WrongKind, match=r"a share.*function"):
        ut.within(lambda answer: True)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: ut.within("0 %"), OutOfRange),
        (lambda: ut.within("101 %"), OutOfRange),
        (lambda: ut.within("ten"), NotANumber),
        (lambda: ut.within("10 %", steps=1), OutOfRange),
        (lambda: ut.within("10 %", steps=17), OutOfRange),
        (lambda: promised(where={"applicants": "933"}), OutOfRange),
        (lambda: Promise(["x", "y"], noise=PointNoise(200), until=ut.within("10 %")), Unsupported),
        (lambda: Promise("n", noise=ut.OneDraw(UNIT, 3), until=ut.within("10 %")), Unsupported),
    ],
)
def test_what_is_no_rule_is_refused(call, error):
    with pytest.raises(error):
        call()


def test_once_is_refused_and_the_remedy_works():
    with pytest.raises(Unsupported, match="without once=True"):
        ut.release(DEPARTMENTS, promised(), epsilon=2, once=True)
    with pytest.raises(Unsupported, match="without once=True"):
        promised().once()
    assert ut.release(DEPARTMENTS, promised(), epsilon=2)


def test_a_share_that_no_statement_could_print_is_refused():
    for share in (Fraction(1, 10**5000 + 1), f"1/{'9' * 5000} %"):
        with pytest.raises(OutOfRange, match="digits"):
            ut.within(share)


def test_an_engines_frame_is_refused_and_the_remedy_works():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(DEPARTMENTS)
    words = {"columns": "applicants", "unit": UNIT, "until": ut.within("10 %")}
    with pytest.raises(Unsupported, match="Leave out until="):
        ut.release(frame.lazy(), Promise(**words, id_column="department", keyed_by_id=True), epsilon=2)
    assert ut.release(frame, Promise(**words, public="department"), epsilon=2).is_met in (True, False)


def test_cells_that_are_not_there_are_refused_before_anything_is_drawn(tmp_path):
    with ut.Ledger.open(tmp_path / "l.db", create=True) as ledger:
        with pytest.raises(OutOfRange, match="cells of the table"):
            ledger.publish("a", DEPARTMENTS, promised(where={"department": "Z"}), epsilon=2)
        with pytest.raises(UtmostError):
            ledger.rehearse("a", epsilon=2, table=DEPARTMENTS, promise=promised(where={"department": "Z"}))
        assert not ledger.releases


def test_counted_tables_and_amounts_and_reals_and_half_steps_climb():
    domain = Domain(department=list("AB"), sex=["men", "women"])
    counted = ut.counting.CountedTable(domain, np.array([[512, 89], [353, 17]]), UNIT)
    rule = ut.within("20 %", {"sex": ["men"]}, steps=4)
    answer = ut.release(counted, Promise.of_counted(counted, until=rule), epsilon=1)
    assert answer.is_met
    assert answer.level < level(1)
    assert answer.total({"sex": "men"}).margin > 0
    for noise in (CellNoise(UNIT, "reals"), CellNoise(ut.Unit(3, 1), half_step=True)):
        found = ut.release({"n": [4000]}, Promise("n", noise=noise, until=ut.within("5 %", steps=5)), epsilon=2)
        assert found.is_met
        assert found.margin() <= abs(found.table["n"][0]) / 20
