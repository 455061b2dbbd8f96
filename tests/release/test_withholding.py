"""Withheld cells: a function of the noisy values by a public rule, its bias, and the protection by further cells."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import utmost as ut
from asking import asked
from utmost.errors import BadTable, NotANumber, OutOfRange, Unsupported, WrongKind
from utmost.exact import independent
from utmost.noise import DiscreteStaircase, Geometric
from utmost.releases import WithholdingRule
from utmost.sampling import sample
from utmost.workloads import Domain, Plan, hierarchy

TABLE = {"place": list("abcd"), "n": [500, 89, 90, 3]}
ADMISSIONS = np.array([[512, 89], [353, 17], [120, 202], [138, 131], [53, 94], [22, 24]])
DOMAIN = Domain(department=list("ABCDEF"), sex=["men", "women"])


def _released(**more):
    return ut.release(
        TABLE, **asked(columns="n", public="place", **{"sensitivity": 1, "cells": 1, "epsilon": 1, **more}), once=True
    )


def _planned(shares=None, epsilon=1):
    plan = Plan(DOMAIN, ut.Unit(1, 1), shares or {"department sex": 1})
    return ut.release(ADMISSIONS, plan, epsilon=epsilon, once=True).table


def test_a_cell_is_shown_exactly_where_its_noisy_value_satisfies_the_rule():
    release = _released()
    for rule, shown in (
        ({"below": 90}, lambda z, r: z >= 90),
        ({"relative_margin": "1/4"}, lambda z, r: r <= Fraction(1, 4) * abs(z)),
        ({"below": 90, "relative_margin": "1/100"}, lambda z, r: z >= 90 and r <= Fraction(1, 100) * z),
    ):
        table = release.withhold(**rule).table
        expected = [shown(z, release.margin()) for z in release.table["n"]]
        assert [mark == "shown" for mark in table["n_mark"]] == expected
        assert table["n"] == [z if kept else None for z, kept in zip(release.table["n"], expected, strict=True)]
        marked = release.withhold(**rule, mark="unreliable").table
        assert marked["n"] == list(release.table["n"])
        assert [mark == "shown" for mark in marked["n_mark"]] == expected


def test_withholding_is_a_function_of_the_noisy_values_and_costs_nothing():
    """Another release with the same noisy values, from other true values, has the same table and statement."""
    release = _released()
    assert release.withhold(below=90).statement_with(None) == release.withhold(below=90).statement_with(None)
    assert release.withhold(below=90).table == release.withhold(below=90).table
    assert release.level == ut.level(1)


def test_what_is_no_rule_is_refused():
    release = _released()
    for wrong in ({}, {"below": 0}, {"below": -1}, {"relative_margin": 0}, {"below": 90, "mark": "c"}):
        with pytest.raises(OutOfRange):
            release.withhold(**wrong)
    with pytest.raises(OutOfRange, match="complementary=True"):
        release.withhold(below=90, complementary=True, mark="unreliable")
    with pytest.raises(OutOfRange, match=r"needs a release by a plan.* Leave out complementary=True"):
        release.withhold(below=90, complementary=True)
    with pytest.raises(NotANumber):
        release.withhold(below="many")
    with pytest.raises(WrongKind):
        release.withhold(below=90, complementary=1)
    named = ut.release(
        {"n_mark": list("abcd"), "n": [1, 2, 3, 4]},
        ut.Promise(columns="n", public="n_mark", unit=ut.Unit(1, 1)),
        epsilon=1,
        once=True,
    )
    with pytest.raises(BadTable, match="n_mark"):
        named.withhold(below=90)


def test_no_digest_of_the_whole_release_stands_beside_a_withheld_table():
    """It would reveal a withheld value: one could try integers until the digest fits."""
    said = _released().withhold(below=90).statement_with({"of": "cells", "sha256": "0"})
    assert said["release"]["table"] is None
    whole = _planned()
    for table in whole.withhold("department sex", "", below=90).values():
        assert table.statement_with(None)["release"]["table"] is None
        assert "sums" not in table.statement_with(None)["release"]
        assert whole.statement["table"]["sha256"] not in str(table.statement_with(None))


CASES = {
    "geometric": lambda: (_released(epsilon="1/3"), "n", [Geometric("1/3")]),
    "of sensitivity 2": lambda: (_released(epsilon=1, sensitivity=2, relaxable=True), "n", [Geometric(1, 2)]),
    "staircase": lambda: (_released(epsilon="1/2", sensitivity=5), "n", [DiscreteStaircase("1/2", 5)]),
    "sums of cells": lambda: (_planned(epsilon="1/3"), "department", [Geometric("1/3")] * 2),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rule", [{"below": 20}, {"relative_margin": "1/2"}])
def test_the_bias_is_the_mean_of_shown_cells_less_the_truth(case, rule):
    """Compared with a direct sum over the probabilities."""
    release, name, distributions = CASES[case]()
    if name == "n":
        margin, said = release.margin(), release.withhold(**rule).statement_with(None)
    else:
        margin, said = release.bars(name)[name], release.withhold(name, **rule)[name].statement_with(None)
    noise, single = np.arange(-400, 401), np.eye(801)[400]
    for distribution in distributions:
        single = np.convolve(single, [float(distribution.pmf(k)) for k in noise.tolist()], "same")
    assert len(said["bias"]) > 1
    for fact in said["bias"]:
        values = int(fact["true"]) + noise
        kept = values >= 20 if "below" in rule else 2 * margin <= abs(values)
        chance = single[kept].sum()
        assert fact["chance_shown"] == pytest.approx(chance, rel=6e-3)
        assert fact["bias"] == pytest.approx((single[kept] * noise[kept]).sum() / chance, rel=1e-2, abs=1e-3)
        assert f"a true {fact['true']} is shown in " in said["words"]
    assert said["words"].count("a true ") == len(said["bias"])


@pytest.mark.parametrize("share", ["1/2", "31/71"])
def test_the_bias_of_estimates_made_of_several_noises_is_right_to_a_few_hundredths(share):
    """Least squares has fractional coefficients: compared with many draws of such a sum, on a lattice or a fine one."""
    release = _planned({"department sex": share, "department": 1 - Fraction(share)}, epsilon=2)
    noise = release.noise(release.form({"department": "A"}))
    draws = np.zeros(400_000)
    for size, own, count in zip(noise.coefficients, noise.levels, noise.counts, strict=True):
        draws += float(size) * sample(Geometric(own), (400_000, count)).sum(axis=1)
    for fact in release.withhold("department", below=90)["department"].statement_with(None)["bias"][:3]:
        shown = draws[float(fact["true"]) + draws >= 90]
        assert len(shown) / 400_000 == pytest.approx(fact["chance_shown"], abs=0.006)
        assert shown.mean() == pytest.approx(fact["bias"], rel=0.07, abs=0.015)


# Complementary withholding.


def _determined(domain, shown):
    """The cells of all marginals that follow from the shown ones: exact linear algebra over the cells."""
    rows = {}
    for marginal in shown:
        columns = [
            domain.sums(np.eye(domain.size, dtype=np.int64)[number].reshape(domain.shape), marginal).ravel()
            for number in range(domain.size)
        ]
        for place, row in enumerate(np.array(columns).T):
            rows[marginal, place] = [Fraction(int(cell)) for cell in row]
    known = [rows[marginal, place] for marginal in shown for place in np.flatnonzero(shown[marginal])]
    rank = len(independent(np.array(known, dtype=object))[0]) if known else 0
    return {
        cell
        for cell, row in rows.items()
        if not shown[cell[0]][cell[1]] and len(independent(np.array([*known, row], dtype=object))[0]) == rank
    }


TREES = Domain(
    place=hierarchy({"N": ["n1", "n2"], "S": ["s1", "s2", "s3"]}, names=["region", "district"]), sex=["men", "women"]
)
MARGINALS = [
    (DOMAIN, ["department sex", "department", "sex", ""]),
    (DOMAIN, ["department", "sex", ""]),
    (TREES, ["district sex", "region sex", "sex", "region", ""]),
    (TREES, ["district", "region sex"]),
]


@pytest.mark.parametrize("case", range(len(MARGINALS)))
def test_no_withheld_cell_follows_from_the_shown_ones(case):
    """Random tables; without the further withheld cells some would follow, so the test can fail."""
    domain, names = MARGINALS[case]
    random, betrayed, before = np.random.default_rng(case), 0, 0
    for _ in range(12 if case == 1 else 5):  # two marginals alone seldom tell a third
        cells = random.integers(0, 300, domain.shape)
        release = ut.release(cells, Plan(domain, ut.Unit(1, 1), {domain.finest: 1}), epsilon=1, once=True).table
        below = int(random.choice([30, 90, 200]))
        protected = _shown(domain, release.withhold(*names, below=below, complementary=True))
        rule = _shown(domain, release.withhold(*names, below=below))
        assert all((protected[marginal] <= rule[marginal]).all() for marginal in rule), "nothing more is shown"
        betrayed += len(_determined(domain, protected))
        before += len(_determined(domain, rule))
    assert betrayed == 0
    assert before > 0


def _shown(domain, tables):
    """The shown cells of each marginal."""
    return {
        domain.marginal(name): np.array([mark == "shown" for mark in table.table["count_mark"]])
        for name, table in tables.items()
    }


def test_a_plan_withholds_its_tables_together():
    release = _planned()
    tables = release.withhold("department sex", "department", "sex", "", below=90, complementary=True)
    shown = {
        DOMAIN.marginal(name): np.array([mark == "shown" for mark in table.table["count_mark"]])
        for name, table in tables.items()
    }
    assert _determined(DOMAIN, shown) == set()
    assert sum(table.shown for table in tables.values()) < sum(
        table.shown for table in release.withhold(*tables, below=90).values()
    )
    for name, table in tables.items():
        rows = zip(table.table["count"], table.table["count_mark"], release[name]["count"], strict=True)
        assert all(cell == (whole if mark == "shown" else None) for cell, mark, whole in rows)
    assert tables["sex"].marginals == tuple(tables)
    with pytest.raises(OutOfRange):
        release.withhold("sex", "sex", below=90)
    with pytest.raises(OutOfRange):
        tables["outcome"]
    with pytest.raises(OutOfRange):
        tables.save("x.csv")


def test_a_narrowed_table_and_the_marginals_that_a_plan_wants(tmp_path):
    release = _planned()
    assert list(release.withhold(below=90)) == ["department sex"]
    tables = release.withhold("department sex=women", "department", below=90, complementary=True)
    assert list(tables) == ["department sex=women", "department"]
    said = tables.save(tmp_path / "women.csv", marginal="department sex=women")
    assert said["marginals"] == list(tables)


def test_too_many_cells_that_hang_together_are_refused():
    domain = Domain(a=range(70), b=range(70))
    release = ut.release(np.ones((70, 70), int), Plan(domain, ut.Unit(1, 1), {"a b": 1}), epsilon=9, once=True).table
    with pytest.raises(Unsupported, match="complementary"):
        release.withhold("a b", "a", "b", below=20, complementary=True)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_frame_stays_a_frame_and_integers_beside_blanks_stay_integers(kind):
    library = pytest.importorskip(kind)
    frame = library.table(TABLE) if kind == "pyarrow" else library.DataFrame(TABLE)
    release = ut.release(frame, ut.Promise(columns="n", public="place", unit=ut.Unit(1, 1)), epsilon=1, once=True)
    withheld = release.withhold(below=90).table
    assert type(withheld) is type(release.table)
    cells = withheld["n"].to_pylist() if kind == "pyarrow" else list(withheld["n"])
    assert all(cell is None or (cell == int(cell) and "." not in str(cell)) for cell in cells)
    assert cells[3] is None
    assert cells[0] is not None


def test_reals_on_a_grid_are_withheld_too():
    release = ut.release(
        {"w": [3.5, 120.25, 99.75]},
        ut.Promise(columns="w", noise=ut.CellNoise(ut.Unit(1, 1), numbers="reals", grid="1/8")),
        epsilon=5,
        once=True,
    )
    table = release.withhold(below="99.5").table
    expected = [cell if cell >= 99.5 else None for cell in release.table["w"]]
    assert table["w"] == expected


def test_rules_in_words_and_facts():
    for below, margin, further, mark in product(
        (None, "90", "1/3"), (None, "1/4"), (False, True), ("withheld", "unreliable")
    ):
        if (below is None and margin is None) or (further and mark == "unreliable"):
            continue
        rule = WithholdingRule.of(below, margin, complementary=further, mark=mark)
        assert WithholdingRule.of_facts(rule.facts()) == rule
        assert ("25 %" in rule.words) == (margin is not None)
        assert ("Further cells" in rule.words) == further
    for forged in (None, {}, rule.facts() | {"below": "0"}, rule.facts() | {"below": 90}, rule.facts() | {"more": 1}):
        with pytest.raises(BadTable):
            WithholdingRule.of_facts(forged)
