"""Stopping rules for plans: the privacy loss of an outcome, margins that hold where the rule stops, what the rule
reads."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import utmost as ut
from goodness import LEVEL, no_more_often
from utmost.counting import CountedTable
from utmost.errors import BadTable, OutOfRange
from utmost.exact import level
from utmost.gradual import Tightening, joint_pmf
from utmost.noise import Geometric
from utmost.promises import Promise, Stop, SumNoise
from utmost.releases import NoisySums
from utmost.sampling import sample
from utmost.statements import change, stated_release
from utmost.workloads import Domain, Plan, Workload, choose_plan, edges

UNIT = ut.Unit(1, 1)
DOMAIN = Domain(department=list("ABC"), sex=["men", "women"])
CELLS = np.array([[512, 389], [353, 317], [320, 402]])
COUNTED = CountedTable(DOMAIN, CELLS, UNIT)
WANTED = Workload(DOMAIN, {"department": 1, "sex": 1, "": 1})
PLAN = choose_plan(WANTED, UNIT, epsilon=4)
SURE = Fraction(19, 20)


def promised(share="10 %", where=None, steps=7, plan=PLAN):
    return Promise(noise=plan, until=ut.within(share, where, steps=steps))


def test_an_outcome_loses_the_level_at_which_it_stopped():
    """Two measured marginals, two levels, the library's rule: all ratios in rationals, and one is exactly e^epsilon."""
    plan = Plan(Domain(sex=["men", "women"]), UNIT, {"sex": "1/2", "": "1/2"})
    promise = promised("100 %", steps=2, plan=plan)
    ladder = promise.until.levels(level(alpha="1/16"))
    chains = [at.scaled(Fraction(1, 2)) for at in ladder]
    assert [at.alpha for at in chains] == [Fraction(1, 2), Fraction(1, 4)]
    sex, total = plan.shares
    noise, women, at = range(-3, 4), 9, ladder[0]
    counted = CountedTable(plan.domain, np.array([9, 6]), UNIT)
    facts = ut.release(counted, promise, epsilon=at).table.ledger_facts
    facts = replace(facts, stop=Stop(ladder, True, SURE))  # an outcome by hand, of which a ledger would draw the noise

    @cache
    def stops(men, both):
        sums = {sex: np.array([men, women]), total: np.array(both)}
        return NoisySums(promise, at, SURE, sums, ledger_facts=facts).is_within(promise.until)

    def outcomes(men):
        """Probabilities of what is published about the men and the total; about the women it is the same for both
        tables."""
        found, both = {}, men + women
        for a, b in itertools.product(noise, repeat=2):
            if stops(men + a, both + b):
                chance = joint_pmf([a], chains[:1]) * joint_pmf([b], chains[:1])
                found[(men + a,), (both + b,)] = chance
                continue
            for c, d in itertools.product(noise, repeat=2):
                chance = joint_pmf([a, c], chains) * joint_pmf([b, d], chains)
                found[(men + a, men + c), (both + b, both + d)] = chance
        return found

    here, there = outcomes(6), outcomes(7)
    for count, at in ((1, ladder[0]), (2, ladder[1])):
        common = [o for o in here if len(o[0]) == count and o in there]
        ratios = [max(here[o] / there[o], there[o] / here[o]) for o in common]
        assert max(ratios) == 1 / at.alpha


def test_margins_hold_where_the_rule_stops_and_those_of_one_level_do_not():
    """20 000 paths of both marginals, combined by least squares; the worst of men, women and total."""
    runs, true, plan = 20_000, np.array([212, 212]), Plan(Domain(sex=["men", "women"]), UNIT, {"sex": "1/2", "": "1/2"})
    promise = promised("20 %", steps=5, plan=plan)
    ladder = promise.until.levels(level(2))
    rng = np.random.default_rng(3)

    def chain():
        """Noise at every level of the rule, lowest level first."""
        levels = [at.scaled(Fraction(1, 2)) for at in ladder]
        paths = [sample(Geometric(levels[-1]), runs)]
        for lower, higher in zip(levels[-2::-1], levels[:0:-1], strict=True):
            stay = float(Tightening(lower, higher).stay.number)
            paths.append(paths[-1] + np.where(rng.random(runs) < stay, 0, sample(Geometric(lower), runs)))
        return paths[::-1]

    men, women, total = chain(), chain(), chain()
    going, missed = np.ones(runs, bool), {"plain": np.zeros((3, runs), bool), "stop": np.zeros((3, runs), bool)}
    for place, at in enumerate(ladder):
        whole = NoisySums.without_data(Promise(noise=plan), at, SURE)
        bars = {
            name: np.array([whole.bars(*where, confidence=sure)[key] for where, key in ((["sex"], "sex"), ([""], ""))])
            for name, sure in (("plain", SURE), ("stop", 1 - (1 - SURE) / len(ladder)))
        }
        # equal variances: a cell takes a third of the difference of both totals
        gap = (total[place] - men[place] - women[place]) / 3
        errors = np.array([men[place] + gap, women[place] + gap, men[place] + women[place] + 2 * gap])
        figures = np.rint(errors + np.array([*true, true.sum()])[:, None])
        for name, (cell, both) in bars.items():
            margins = np.array([cell, cell, both])[:, None]
            met = (margins <= 0.2 * np.abs(figures)).all(axis=0) | (at == ladder[-1])
            if name == "stop":
                missed[name] |= going & met & (np.abs(errors) > margins)
                stopped = met
            else:
                missed[name] |= going & met & (np.abs(errors) > margins)
        going &= ~stopped
    assert not going.any()
    for row in missed["stop"]:
        assert no_more_often(int(row.sum()), runs, float(1 - SURE)) > LEVEL
    assert max(row.mean() for row in missed["plain"]) > max(row.mean() for row in missed["stop"])


def test_it_stops_at_the_first_level_at_which_every_wanted_table_is_accurate():
    answer = ut.release(COUNTED, promised(), epsilon=4)
    ladder = answer.stop.levels
    assert answer.is_met
    assert answer.release.spent == answer.level < level(4)
    assert answer.release.levels == ladder[: ladder.index(answer.level) + 1]
    for name in answer:
        table = answer[name]
        assert all(table["count_margin"] <= 0.1 * abs(table["count"]))
    for at in answer.release.levels[:-1]:
        earlier = answer.release.at(at)
        assert earlier.stop.is_met is None
        assert any((earlier[name]["count_margin"] > 0.1 * abs(earlier[name]["count"])).any() for name in earlier)
    sharper = answer.release.at(4)
    assert sharper.stop.is_met is None
    assert answer.release.at(6).stop is None


def test_margins_and_confidence_of_every_question_are_those_of_the_stop():
    """A margin at 95 % is the margin at 1 - .05/7 for the level alone; and the answer states 95 %."""
    answer = ut.release(COUNTED, promised(), epsilon=4)
    fixed = ut.release(COUNTED, PLAN, epsilon=answer.level).table
    men = {"sex": "men"}
    for sure in ("0.95", "0.9"):
        alone = 1 - (1 - Fraction(sure)) / 7
        for ask in (
            lambda sums, sure: sums.total(men, confidence=sure),
            lambda sums, sure: sums.difference(men, {"sex": "women"}, confidence=sure),
        ):
            assert ask(answer, sure).margin == ask(fixed, alone).margin
            assert ask(answer, sure).confidence == Fraction(sure)
        widths = [
            one.ratio(men, {}, confidence=at).upper - one.ratio(men, {}, confidence=at).lower
            for one, at in ((answer, sure), (fixed, alone))
        ]
        assert widths[0] == pytest.approx(widths[1], rel=0.05)
        assert answer.ratio(men, {}, confidence=sure).confidence == Fraction(sure)
        assert answer.bars(confidence=sure) == fixed.bars(confidence=alone)
        assert answer.bars(confidence=sure, together=True) == fixed.bars(confidence=alone, together=True)
    surer = answer.with_confidence("0.99")
    assert surer.bars() == answer.bars(confidence="0.99")
    assert surer.total({"sex": "men"}).margin == answer.total({"sex": "men"}, confidence="0.99").margin
    assert surer["sex"]["count_margin"].tolist() == [answer.total({"sex": "men"}, confidence="0.99").margin] * 2
    again = ut.release(COUNTED, promised(), epsilon=4)
    assert change(answer, again, {"sex": "men"}).confidence == SURE


def test_quantiles_and_means_widen_in_the_same_way():
    domain = Domain(age=edges([0, 20, 40, 60, 80]))
    table = CountedTable(domain, np.array([600, 700, 650, 500]), UNIT)
    plan = choose_plan(Workload(domain, {"age": 1, "": 1}), UNIT, epsilon=4)
    answer = ut.release(table, promised(plan=plan), epsilon=4)
    plain = Promise(noise=plan)
    fixed = NoisySums(plain, answer.level, 1 - (1 - SURE) / 7, answer.table.measured)
    assert answer.mean("age").confidence == answer.median("age").confidence == SURE
    assert answer.mean("age") == fixed.mean("age").__class__(
        fixed.mean("age").estimate, fixed.mean("age").lower, fixed.mean("age").upper, SURE
    )
    assert answer.median("age").interval == fixed.median("age").interval
    assert answer.variance("age").confidence == SURE
    assert (answer.variance("age").lower, answer.variance("age").upper) == (
        fixed.variance("age").lower,
        fixed.variance("age").upper,
    )
    assert answer.cumulative("age")["count_margin"].tolist() == fixed.cumulative("age")["count_margin"].tolist()


def test_a_document_says_it_all_and_each_word_is_checked(tmp_path):
    answer = ut.release(COUNTED, promised(), epsilon=4)
    for written in (answer, answer.with_confidence("0.99")):
        document = json.loads(json.dumps(written.table.facts()))
        again = NoisySums.of_facts(document)
        assert again.stop == written.stop
        assert again.bars() == written.bars()
        facts = stated_release(document)
        assert "promised" in facts.composition
        for noise in facts.noises:
            (bar,) = written.bars("" if noise.name == "total" else noise.name).values()
            assert dict(noise.bars)[written.confidence] == bar
    assert "The chance of this outcome is multiplied or divided" in document["guarantee"]
    stopped = document["stopped"]
    for changed in ({"met": False}, {"levels": stopped["levels"][1:]}, {"confidence": "9/10"}):
        with pytest.raises(BadTable):
            NoisySums.of_facts(document | {"stopped": stopped | changed})
    with pytest.raises(BadTable):
        NoisySums.of_facts({name: fact for name, fact in document.items() if name != "stopped"})
    answer.save(tmp_path / "r.json")
    assert ut.read_release(tmp_path / "r.json").stop == answer.stop


def test_a_rule_that_was_not_met_is_not_said_to_be():
    """The sums in the document are too small for the stated outcome of the rule."""
    answer = ut.release(COUNTED, promised(steps=2), epsilon="1/50")
    document = json.loads(json.dumps(answer.table.facts()))
    assert not answer.is_met
    with pytest.raises(BadTable):
        NoisySums.of_facts(document | {"stopped": document["stopped"] | {"met": True}})


def test_chosen_cells_and_small_ones():
    """A cell near 0 is never within 10 %; a rule for the other cells stops."""
    cells = CELLS.copy()
    cells[0] = [0, 0]
    small = CountedTable(DOMAIN, cells, UNIT)
    never = ut.release(small, promised(steps=3), epsilon=1)
    assert (never.is_met, never.level) == (False, level(1))
    assert ut.release(small, promised(where={"department": ["B", "C"]}, steps=3), epsilon=1).is_met
    by_sex = ut.release(small, promised(where={"sex": "women"}, steps=3), epsilon=1)
    assert by_sex.is_met
    narrow = choose_plan(Workload(DOMAIN, {"department sex=men": 1, "sex": 1}), UNIT, epsilon=1)
    assert narrow.tables["department sex=men"] == {"department": list("ABC"), "sex": ["men"]}
    assert ut.release(COUNTED, promised(plan=narrow), epsilon=2).is_met


def test_sums_and_counts_together_are_both_within():
    people = {"region": ["N"] * 400 + ["S"] * 300, "income": [40] * 700}
    table = ut.count_table(
        people, {"region": ["N", "S"]}, ut.Counting(each_row=True), measure=ut.mean("income", each=(0, 100))
    )
    promise = Promise.of_counted(table, until=ut.within("10 %"))
    answer = ut.release(table, promise, epsilon=4)
    assert answer.is_met
    assert answer.level < level(4)
    shown = answer["region"]
    for name in ("count", "income_sum"):
        assert all(shown[f"{name}_margin"] <= 0.1 * np.abs(shown[name]))
    assert answer.mean().confidence == SURE


@pytest.mark.parametrize("where", [{"town": "X"}, {"department": "Z"}, {"department": "A", "sex": "men"}])
def test_cells_of_no_wanted_table_are_refused_and_the_remedy_works(where):
    with pytest.raises(OutOfRange, match="wanted table") as error:
        promised(where=where)
    assert "Choose labels of one table: department; sex" in str(error.value)
    assert ut.release(COUNTED, promised(), epsilon=4)


def test_the_plan_of_a_stopped_release_is_kept_by_a_promise():
    promise = promised(where={"sex": ["men"]})
    again = Promise.of_facts(json.loads(json.dumps(promise.facts())))
    assert again == promise
    assert isinstance(again.noise, SumNoise)
    assert again.noise.plan.tables == PLAN.tables
