"""Withheld cells: a function of the noisy values by a public rule, its bias, and what further cells protect."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import utmost as ut
from asking import asked
from utmost.errors import BadTable, NotANumber, OutOfRange, Unsupported, WrongKind
from utmost.exact import independent
from utmost.noise import Combination, DiscreteStaircase, Geometric
from utmost.publish.releases.complementary import Relations, complementary
from utmost.publish.releases.withholding import NoiseTails, bias_words, shown_bias
from utmost.releases import WithholdingRule
from utmost.sampling import sample
from utmost.workloads import Domain, Plan, hierarchy

TABLE = {"place": list("abcd"), "n": [500, 89, 90, 3]}
ADMISSIONS = np.array([[512, 89], [353, 17], [120, 202], [138, 131], [53, 94], [22, 24]])
DOMAIN = Domain(department=list("ABCDEF"), sex=["men", "women"])


def _released(**more):
    return ut.release(
        TABLE, **asked(columns="n", public="place", sensitivity=1, cells=1, **{"epsilon": 1, **more}), once=True
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
    """Another release of the same noisy values, whatever the true ones were, gives the same table and statement."""
    release = _released()
    assert release.withhold(below=90).said(None) == release.withhold(below=90).said(None)
    assert release.withhold(below=90).table == release.withhold(below=90).table
    assert release.level == ut.level(1)


def test_what_is_no_rule_is_refused():
    release = _released()
    for wrong in ({}, {"below": 0}, {"below": -1}, {"relative_margin": 0}, {"below": 90, "mark": "c"}):
        with pytest.raises(OutOfRange):
            release.withhold(**wrong)
    with pytest.raises(OutOfRange, match="only one of complementary=True"):
        release.withhold(below=90, complementary=True, mark="unreliable")
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
    """By it a withheld value would be found out: one tries integers until the digest fits."""
    said = _released().withhold(below=90).said({"of": "cells", "sha256": "0"})
    assert said["release"]["table"] is None
    whole = _planned()
    for table in whole.withhold("department sex", "", below=90).values():
        assert table.said(None)["release"]["table"] is None
        assert "sums" not in table.said(None)["release"]
        assert whole.statement["table"]["sha256"] not in str(table.said(None))


LAWS = [Geometric("1/3"), Geometric("1/2", 2), DiscreteStaircase("1/2", 5), Combination([1], "1/3", counts=[3])]


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("rule", [{"below": 20}, {"relative_margin": "1/2"}])
def test_the_bias_is_the_mean_of_shown_cells_less_the_truth(law, rule):
    """Beside a sum over the probabilities themselves, one by one."""
    asked, margin = WithholdingRule.of(**rule), 9
    noise = np.arange(-400, 401)
    drawn = Geometric("1/3") if isinstance(law, Combination) else law
    single = np.array([float(drawn.pmf(k)) for k in noise.tolist()])
    if isinstance(law, Combination):
        single = np.convolve(np.convolve(single, single, "same"), single, "same")
    for fact in shown_bias(asked, NoiseTails(law), margin):
        truth = int(fact["true"])
        kept = asked.shows(truth + noise, np.full(len(noise), margin))
        chance = single[kept].sum()
        assert fact["chance_shown"] == pytest.approx(chance, rel=6e-3)
        assert fact["bias"] == pytest.approx((single[kept] * noise[kept]).sum() / chance, rel=6e-3, abs=1e-6)


def test_the_sentence_has_every_figure_that_there_is_and_no_other():
    rule = WithholdingRule.of(below=90)
    bias = shown_bias(rule, NoiseTails(Geometric(1)), 3)
    rare = {"true": "0", "chance_shown": 1e-12, "bias": None}
    sentence = bias_words([*bias, rare], rule)
    assert [fact["true"] for fact in bias] == ["87", "90", "93", "96"]  # one margin below, and up to two above
    assert sentence.count("a true ") == len(bias)
    assert all(f"a true {fact['true']} is shown in " in sentence for fact in bias)


def test_the_bias_is_what_many_releases_have():
    """200 000 draws of a true 90 beside the rule "90 or more"."""
    fact = shown_bias(WithholdingRule.of(below=90), NoiseTails(Geometric(1)), 3)[1]
    values = 90 + sample(Geometric(1), 200_000)
    shown = values[values >= 90]
    assert len(shown) / 200_000 == pytest.approx(fact["chance_shown"], abs=0.01)
    assert shown.mean() - 90 == pytest.approx(fact["bias"], abs=0.02)


def test_the_bias_of_estimates_made_of_several_noises_is_right_to_a_few_hundredths():
    """Least squares has fractions for coefficients: beside a million draws of such a sum."""
    sizes = [Fraction(11933743, 12982319), Fraction(1048576, 12982319)]
    noise = float(sizes[0]) * sample(Geometric(1), 10**6) + float(sizes[1]) * sample(Geometric(1), (10**6, 3)).sum(
        axis=1
    )
    tails = NoiseTails(Combination(sizes, 1, counts=[1, 3]))
    for fact in shown_bias(WithholdingRule.of(below=90), tails, 3)[:3]:
        shown = noise[float(fact["true"]) + noise >= 90]
        assert len(shown) / 10**6 == pytest.approx(fact["chance_shown"], abs=0.003)
        assert shown.mean() == pytest.approx(fact["bias"], rel=0.05, abs=0.007)  # five standard errors of the mean


# Complementary withholding.


def _determined(domain, shown):
    """The cells of all families that follow from the shown ones: linear algebra over the cells, exactly."""
    rows = {}
    for family in shown:
        columns = [
            domain.sums(np.eye(domain.size, dtype=np.int64)[number].reshape(domain.shape), family).ravel()
            for number in range(domain.size)
        ]
        for place, row in enumerate(np.array(columns).T):
            rows[family, place] = [Fraction(int(cell)) for cell in row]
    known = [rows[family, place] for family in shown for place in np.flatnonzero(shown[family])]
    rank = len(independent(np.array(known, dtype=object))[0]) if known else 0
    return {
        cell
        for cell, row in rows.items()
        if not shown[cell[0]][cell[1]] and len(independent(np.array([*known, row], dtype=object))[0]) == rank
    }


TREES = Domain(
    place=hierarchy({"N": ["n1", "n2"], "S": ["s1", "s2", "s3"]}, names=["region", "district"]), sex=["men", "women"]
)
FAMILIES = [
    (DOMAIN, ["department sex", "department", "sex", ""]),
    (DOMAIN, ["department", "sex", ""]),
    (TREES, ["district sex", "region sex", "sex", "region", ""]),
    (TREES, ["district", "region sex"]),
]


@pytest.mark.parametrize("case", range(len(FAMILIES)))
def test_no_withheld_cell_follows_from_the_shown_ones(case):
    """Random tables; and without further cells some would follow, so the check has something to find."""
    domain, names = FAMILIES[case]
    families = [domain.family(name) for name in names]
    random, betrayed, before = np.random.default_rng(case), 0, 0
    for _ in range(25):
        values = {
            family: random.integers(0, 500, len(domain.sums(np.ones(domain.shape), family).ravel())).astype(float)
            for family in families
        }
        everything = {family: np.ones(len(sizes), dtype=bool) for family, sizes in values.items()}
        rule = {family: sizes >= random.choice([30, 90, 200]) for family, sizes in values.items()}
        protected = complementary(domain, everything, rule, values)
        assert all((protected[family] <= rule[family]).all() for family in families), "nothing more is shown"
        betrayed += len(_determined(domain, protected))
        before += len(_determined(domain, rule))
    assert betrayed == 0
    assert before > 0


def test_cells_that_only_several_relations_together_give_away_are_protected():
    """A square of withheld cells, one of which a sum of other tables determines: no single relation shows it."""
    domain = Domain(row=list("ab"), column=list("xyz"))
    families = [domain.family(name) for name in ("row column", "row", "column")]
    shown = {
        families[0]: np.array([0, 0, 1, 0, 0, 0], bool),
        families[1]: np.ones(2, bool),
        families[2]: np.ones(3, bool),
    }
    found = _determined(domain, shown)
    assert found == {(families[0], 5)}
    sizes = {family: np.arange(1.0, len(cells) + 1) for family, cells in shown.items()}
    everything = {family: np.ones(len(cells), bool) for family, cells in shown.items()}
    assert _determined(domain, complementary(domain, everything, shown, sizes)) == set()


def test_the_relations_of_families_hold_for_every_table():
    relations = Relations.of(TREES, [TREES.family(name) for name in ("district", "region sex", "sex")])
    table = np.random.default_rng(0).integers(0, 100, TREES.shape)
    cells = np.zeros(sum(TREES.sums(table, family).size for family in relations.places), dtype=np.int64)
    for family, start in relations.places.items():
        sums = TREES.sums(table, family).ravel()
        cells[start : start + len(sums)] = sums
    assert all(
        cells[total] == cells[parts].sum() for total, parts in zip(relations.totals, relations.parts, strict=True)
    )


def test_a_plan_withholds_its_tables_together():
    release = _planned()
    tables = release.withhold("department sex", "department", "sex", "", below=90, complementary=True)
    shown = {
        DOMAIN.family(name): np.array([mark == "shown" for mark in table.table["estimate_mark"]])
        for name, table in tables.items()
    }
    assert _determined(DOMAIN, shown) == set()
    assert sum(table.shown for table in tables.values()) < sum(
        table.shown for table in release.withhold(*tables, below=90).values()
    )
    for name, table in tables.items():
        rows = zip(table.table["estimate"], table.table["estimate_mark"], release[name]["estimate"], strict=True)
        assert all(cell == (whole if mark == "shown" else None) for cell, mark, whole in rows)
    assert tables["sex"].families == tuple(tables)
    with pytest.raises(OutOfRange):
        release.withhold("sex", "sex", below=90)
    with pytest.raises(OutOfRange):
        tables["outcome"]
    with pytest.raises(OutOfRange):
        tables.save("x.csv")


def test_a_narrowed_table_and_the_families_that_a_plan_wants(tmp_path):
    release = _planned()
    assert list(release.withhold(below=90)) == ["department sex"]
    tables = release.withhold("department sex=women", "department", below=90, complementary=True)
    assert list(tables) == ["department sex=women", "department"]
    said = tables.save(tmp_path / "women.csv", family="department sex=women")
    assert said["families"] == list(tables)


def test_too_many_cells_that_hang_together_are_refused(monkeypatch):
    monkeypatch.setattr("utmost.publish.releases.complementary.MOST_UNKNOWN", 3)
    with pytest.raises(Unsupported, match="complementary"):
        _planned().withhold("department sex", "department", "sex", below=300, complementary=True)


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
