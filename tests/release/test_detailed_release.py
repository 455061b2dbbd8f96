"""Two stages: noisy sums of groups choose the detail of each group; unit and distribution by enumeration, forged
statements, ledgers."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from math import exp

import numpy as np
import pytest

import utmost as ut
from counting_words import counted_with
from goodness import LEVEL, no_more_often
from repeated_bits import nothing_is_drawn
from utmost.counting import CountedTable
from utmost.errors import BadTable, BudgetExceeded, NotDetermined, OutOfRange, Unsupported
from utmost.exact import level
from utmost.noise import Geometric
from utmost.privacy import Amount, Unit
from utmost.releases import DetailedSums, DetailRule, release_detailed
from utmost.statements import check_clean
from utmost.workloads import Domain, Plan, edges

DOMAIN = Domain(county=["A", "B", "C"], age=edges([0, 15, 65, None], groups={"broad": [0, 15, None]}), sex=["m", "w"])
CELLS = np.array([[90, 80, 70, 60, 50, 40], [9, 8, 0, 1, 0, 2], [0, 0, 1, 0, 0, 0]]).reshape(3, 3, 2)
TABLE = CountedTable(DOMAIN, CELLS, Unit(1, 1))
DETAILS = {"sex": 30, "broad sex": 200, "age": 300}


def sure(table=TABLE, details=DETAILS, **words):
    """A release at a level without noise."""
    with pytest.warns(ut.errors.LittleProtection):
        return release_detailed(table, "county", details, epsilon=10**4, first="1/2", **words)


PARTS = {"age": [[0], [1], [2]], "broad": [[0], [1, 2]], "sex": [[0], [1]]}


def by_hand(details, county, ages, sexes):
    """The sum over one county's cells, if the parts of its breakdown determine it; else None."""
    names = details.get("ABC"[county], "").split()
    columns = PARTS["sex"] if "sex" in names else [[0, 1]]
    rows = next((PARTS[name] for name in names if name in ("age", "broad")), [[0, 1, 2]])
    wanted, total = set(itertools.product(ages, sexes)), 0
    for part in (set(itertools.product(*pair)) for pair in itertools.product(rows, columns)):
        if part & wanted and not part <= wanted:
            return None
        total += sum(int(CELLS[county][cell]) for cell in part & wanted)
    return total


@pytest.mark.parametrize("bounds", [DETAILS, {"sex": 5, "age sex": 100}, {"age sex": 100, "broad": 0}, {"sex": 391}])
def test_a_sum_is_that_of_the_cells_wherever_the_breakdowns_determine_it(bounds):
    """Every selection of labels, compared with sums over the parts of each county's breakdown."""
    release = sure(details=bounds)
    details = release.rule.chosen(release.first)
    labels = DOMAIN.axes[1].labels[0]
    subsets = [list(some) for size in (1, 2, 3) for some in itertools.combinations(range(3), size)]
    for counties, ages, sexes in itertools.product(subsets, subsets, ([0], [1], [0, 1])):
        of_county = [by_hand(details, county, ages, sexes) for county in counties]
        where = {
            "county": ["ABC"[at] for at in counties],
            "age": [labels[at] for at in ages],
            "sex": ["mw"[at] for at in sexes],
        }
        if None in of_county:
            with pytest.raises(NotDetermined, match="breakdown"):
                release.total(where)
        else:
            assert release.total(where).value == sum(of_county), where


def test_the_sharper_stage_answers_where_both_can():
    release = release_detailed(TABLE, "county", {"sex": 30}, epsilon=5)
    first, fine = (stage.total({"county": "A"}).margin for stage in (release.first, release.fine))
    assert release.total({"county": "A"}).margin == min(first, fine) == fine
    assert release.total({"county": "C"}).margin == release.first.total({"county": "C"}).margin


@pytest.mark.parametrize(
    ("bounds", "details"),
    [
        ({"sex": 5, "age sex": 100}, {"A": "age sex", "B": "sex"}),
        ({"age sex": 100, "broad": 0}, {"A": "age sex", "B": "broad", "C": "broad"}),
        ({"sex": 391}, {}),
    ],
)
def test_each_group_has_the_detail_that_its_noisy_sum_chooses(bounds, details):
    """Compared with the sums of each detail, computed from the cells."""
    release = sure(details=bounds)
    assert release.rule.chosen(release.first) == details
    if not details:
        assert (release.fine, release.tables[1]) == (None, None)
        return
    table = release.tables[1]
    kept = {"age": [[0], [1], [2]], "broad": [[0], [1, 2]]}
    expected = []
    for place, county in enumerate("ABC"):
        names = details.get(county, "").split()
        rows = kept[names[0]] if names and names[0] in kept else [[0, 1, 2]]
        columns = [[0], [1]] if "sex" in names else [[0, 1]]
        if names:
            expected += [CELLS[place][np.ix_(row, column)].sum() for row, column in itertools.product(rows, columns)]
    assert table["count"].tolist() == expected
    assert dict(zip(table["county"].tolist(), table["detail"].tolist(), strict=True)) == details


@pytest.mark.parametrize("unit", [Unit(1, 1), Unit(1, 2), Unit(2, 2), Unit(2, 2, in_total=3), Unit(1, 2, "change-one")])
def test_the_unit_of_the_rows_holds_for_every_choice_and_every_change(unit):
    """Brute force: all changes that the unit allows in 8 cells, under all choices of two details for two groups."""
    domain = Domain(g=["a", "b"], x=["0", "1"], y=["0", "1"])
    cells = np.full((2, 2, 2), 1000)
    merged = release_detailed(
        CountedTable(Domain(g=["a", "b"], x=["0", "1"], y=["0", "1"]), cells, unit), "g", {"x": 1}, epsilon=1
    ).fine.unit
    rule = DetailRule("g", {"x": 1, "x y": 2})
    most = int(unit.reach)
    largest = [0, 0, 0]
    steps = range(-int(unit.sensitivity), int(unit.sensitivity) + 1)
    choices = itertools.product(["x", "x y", None], repeat=2)
    chosen = [
        rule.keys(domain, {group: detail for group, detail in zip("ab", details, strict=True) if detail})
        for details in choices
    ]
    named = {key[1] for rows in chosen for key in rows}
    for places in itertools.combinations(range(8), unit.cells):
        for values in itertools.product(steps, repeat=unit.cells):
            if sum(map(abs, values)) > most:
                continue
            change = np.zeros(8, dtype=np.int64)
            change[list(places)] = values
            cells = {name: domain.sums(change.reshape(2, 2, 2), rule.marginal(domain, name)).ravel() for name in named}
            for rows in chosen:
                sums = [int(cells[key[1]][at]) for key, at in rows.items()]
                sizes = [abs(value) for value in sums if value]
                largest = [
                    max(a, b) for a, b in zip(largest, (max(sizes, default=0), len(sizes), sum(sizes)), strict=True)
                ]
    # Each bound holds, and is reached.
    assert largest == [merged.sensitivity, merged.cells, merged.reach]
    assert merged.neighbours == unit.neighbours


def test_both_stages_together_keep_the_level_exactly():
    """The joint distribution of a small release (one group of two cells) for all neighbours: first sum, choice, second
    sums. P(first = f) times the product of P(row = r | f), on a grid that holds nearly all probability."""
    whole, share = level(1), Fraction(1, 4)
    unit = Unit(1, 2)
    first = Geometric(whole.scaled(share), 2)  # of the group: both cells of one person are in it
    second = Geometric(whole.scaled(1 - share), 2)
    of_first, of_second = ({x: float(distribution.pmf(x)) for x in range(-30, 31)} for distribution in (first, second))
    worst = 0.0
    for cells, other in itertools.product(itertools.product(range(3), repeat=2), repeat=2):
        change = [b - a for a, b in zip(cells, other, strict=True)]
        if max(map(abs, change)) > 1 or not any(change):
            continue
        for f in range(-6, 12):
            rows, rows_other = ([sum(cells)], [sum(other)]) if f < 3 else (cells, other)
            start = of_first[f - sum(cells)] / of_first[f - sum(other)]
            for out in itertools.product(range(-5, 8), repeat=len(rows)):
                ratio = start
                for value, a, b in zip(out, rows, rows_other, strict=True):
                    ratio *= of_second[value - a] / of_second[value - b]
                worst = max(worst, ratio)
    assert worst == pytest.approx(exp(1), rel=1e-9)
    # and these are the distributions that a release states
    table = CountedTable(Domain(g=["a"], x=["0", "1"]), np.array([[2, 1]]), unit)
    release = release_detailed(table, "g", {"x": -(10**6)}, epsilon=whole, first=share)
    stated = [next(iter(own["noise"]["marginals"])) for own in (release.statement["first"], release.statement["fine"])]
    ratios = [Fraction(own["per_sum"]["epsilon"]) / own["sensitivity"] for own in stated]
    assert ratios == [Fraction(1, 8), Fraction(3, 8)]


def test_the_choice_covers_its_own_noise():
    """The sums of the chosen parts lie within their margins as often as stated, whatever was chosen."""
    miss, rows = 0, 0
    for _ in range(50):
        release = release_detailed(TABLE, "county", {"sex": 20, "age": 300}, epsilon=1, confidence="0.8")
        fine = release.tables[1]
        if fine is None:
            continue
        for county, detail, part, value, margin in zip(*(column.tolist() for column in fine.values()), strict=True):
            cells = CELLS["ABC".index(county)]
            true = cells.sum(0 if detail == "sex" else 1)[
                ("m", "w").index(part) if detail == "sex" else list(DOMAIN.axes[1].labels[0]).index(part)
            ]
            miss, rows = miss + (abs(value - true) > margin), rows + 1
    assert no_more_often(miss, rows, 0.2) > LEVEL


def test_saved_read_and_verified_and_every_forgery_is_found(run, tmp_path):
    release = sure()
    release.save(tmp_path / "two.json")
    assert run("verify", tmp_path / "two.json")[0] == 0
    read = ut.read_release(tmp_path / "two.json")
    assert isinstance(read, DetailedSums)
    assert read.facts() == json.loads(json.dumps(release.facts()))
    assert "each county is broken down" in " ".join(run("read", tmp_path / "two.json")[1].split())
    facts = json.loads((tmp_path / "two.json").read_text())
    other = json.loads(json.dumps(sure(details={"sex": 5}).facts()))
    forgeries = [
        {"epsilon": "1"},
        {"share": "1/4"},
        {"guarantee": "It is safe."},
        {"rule": {"group": "county", "details": {"sex": "30", "broad sex": "200"}}},
        {"rule": {"group": "sex", "details": facts["rule"]["details"]}},
        {"rule": {"group": "county", "details": {"sex": "30", "nothing": "200"}}},
        {"rule": 3},
        {"fine": None},
        {"fine": other["fine"]},
        {"first": facts["fine"]},
        {"first": None},
        {"more": 1},
        {"format": 2},
    ]
    for forged in forgeries:
        with pytest.raises((BadTable, Unsupported)):
            DetailedSums.of_facts(facts | forged)
    lowered = json.loads(json.dumps(facts))
    lowered["fine"]["sums"]["part"][0] += 1
    with pytest.raises(BadTable):
        DetailedSums.of_facts(lowered)


@pytest.mark.parametrize("unit", [Unit(1, 1), Unit(1, 2), Unit(2, 3, in_total=4), Unit(1, 2, "change-one")])
@pytest.mark.parametrize("bounds", [DETAILS, {"sex": 5, "age sex": 100}, {"sex": 10**6}])
def test_clean_numbers_are_nearest_to_both_stages_in_each_group(unit, bounds):
    """Compared with the least squares of another solver, group by group, weighted by the variances of the drawn
    noise."""
    optimize = pytest.importorskip("scipy.optimize")
    release = release_detailed(CountedTable(DOMAIN, CELLS, unit), "county", bounds, epsilon="1/2", first="1/3")
    clean, chosen = release.clean(), release.rule.chosen(release.first)
    cells = clean["part"]["clean"].tolist()
    stages = [stage for stage in (release.first, release.fine) if stage is not None]
    stated = [stage.statement["noise"]["marginals"][0] for stage in stages]
    distributions = [Geometric(one["per_sum"]["epsilon"], one["sensitivity"]) for one in stated]
    first, *fine = (float(distribution.variance()) ** -0.5 for distribution in distributions)
    for name, total in zip("ABC", release.first.raw("county")["measured"].tolist(), strict=True):
        of_group = [cell for cell, row in zip(cells, clean["part"]["county"], strict=True) if row == name]
        if name not in chosen:
            assert of_group == [max(0, total)]
            continue
        here = release.fine.raw("part")
        sums = [part for part, row in zip(here["measured"], here["county"], strict=True) if row == name]
        matrix = np.vstack([np.full(len(sums), first), np.eye(len(sums)) * fine[0]])
        nearest, _ = optimize.nnls(matrix, [total * first, *(part * fine[0] for part in sums)])
        assert np.abs(nearest - of_group).max() < 1 + 1e-6
        assert abs(nearest.sum() - sum(of_group)) < 1 + 1e-6


def test_two_stages_are_cleaned_over_their_rows_and_take_no_facts_and_no_held_table():
    """A statement with such facts is forged: a release in two stages has nothing that could satisfy them."""
    release = sure()
    clean = release.clean()
    assert release.domain.same_as(clean.domain)
    for words in ({"given": {"total": 9}}, {"hold": "total"}):
        with pytest.raises(Unsupported, match="not allowed for a release in two stages"):
            release.clean(**words)
    document, total = json.loads(json.dumps(release.facts())), str(clean.cells.sum())
    stated, table = json.loads(json.dumps(clean.statement_with(None, "part"))), clean["part"]
    assert check_clean(stated, table, document).cells.tolist() == clean.cells.tolist()
    fact = {"marginal": [], "sums": [[[], total, total]]}
    for forged in ({"held": []}, {"held": ["county"]}, {"held": ["nothing"]}, {"given": [fact]}, {"given": []}):
        with pytest.raises(BadTable):
            check_clean(stated | forged, table, document)


def test_clean_numbers_beside_some_that_no_int64_holds():
    """A group's sum from both stages, (S + 2T)/3 at equal levels, overflowed 64 bits with NumPy integers."""
    release = sure(details={"sex": 30})
    fine = release.fine.measured[release.fine.domain.finest].astype(object) + 2**70
    huge = replace(release, fine=replace(release.fine, measured={release.fine.domain.finest: fine}))
    nearest = Fraction(sum(fine.tolist()) + 2 * int(CELLS[0].sum()), 3)
    assert abs(sum(huge.clean().cells[:2].tolist()) - nearest) <= 1


def test_in_a_ledger_both_are_published_and_relaxed_and_their_levels_add_up(tmp_path):
    table, rule = CountedTable(DOMAIN, CELLS, Unit(1, 2)), DetailRule("county", {"sex": 5, "age sex": 100})
    coarse = Plan(DOMAIN, table.unit, {"county": 1})
    with ut.Ledger.open(tmp_path / "l.db", create=True) as ledger:
        ledger.budget("people", 3)
        ledger.publish("counties", table, ut.Promise(noise=coarse), epsilon="1/2", dataset="people")
        first = ledger.view("counties", epsilon="1/2").table
        fine = rule.counted(table, first)
        plan = Plan(fine.domain, fine.unit, {fine.domain.finest: 1})
        ledger.publish("details", fine, ut.Promise(noise=plan), epsilon=1, dataset="people")
        assert ledger.spent(dataset="people").epsilon == Fraction(3, 2)
        ledger.relax("details", fine, epsilon=2)
        ledger.relax("counties", table, epsilon=1)
        assert ledger.spent(dataset="people").epsilon == 3
        with pytest.raises(BudgetExceeded):
            ledger.relax("details", fine, epsilon=3)
        # The choice stays that of the first answer, though a better one is there now.
        again = rule.counted(table, ledger.view("counties", epsilon="1/2").table)
        assert again.domain.same_as(fine.domain)


def test_amounts_and_parts_and_texts(tmp_path):
    events = {"id": [*"aabbc"], "town": [*"XXXYY"], "kind": [*"pqpqq"], "paid": [1.5, 2, 3.25, 4, 0.75]}
    words = {"person": "id", "domain": {"town": ["X", "Y"], "kind": ["p", "q"]}, "at_most": 2, "key": bytes(32)}
    table = counted_with(events, **words, values="paid", step="0.01", per_cell=5)
    with pytest.warns(ut.errors.LittleProtection):
        release = release_detailed(table, "town", {"kind": "5.5"}, epsilon=10**6)
    assert release.tables[1]["paid"].tolist() == [4.75, 2.0]
    assert release.fine.unit.text(release.fine.unit.reach) == "10"
    release.save(tmp_path / "two.json")
    assert ut.read_release(tmp_path / "two.json").statement == json.loads(json.dumps(release.statement))


def test_what_cannot_be_detailed_is_refused_before_anything_is_drawn():
    distinct = CountedTable(DOMAIN, CELLS, Unit(1, 1, amount=Amount("shop", 1, distinct=3)))
    clash = CountedTable(Domain(g=["a / x", "a"], x=["b", "x / b"]), np.zeros((2, 2), dtype=int), Unit(1, 1))
    for table, group, details, words, message in (
        (TABLE, "county", {"county": 3}, {}, "must not contain the axis of the group"),
        (TABLE, "region", {"age": 3}, {}, "level of the given name"),
        (TABLE, "county", {"ages": 3}, {}, "level of the given name"),
        (TABLE, "county", {}, {}, "must have a different bound"),
        (TABLE, "county", {"age": 3, "sex": "3.0"}, {}, "must have a different bound"),
        (TABLE, "county", {"age": 3}, {"first": 1}, "between 0 and 1"),
        (distinct, "county", {"age": 3}, {}, "distinct values"),
        (clash, "g", {"x": 3}, {}, "distinct"),
    ):
        with nothing_is_drawn(), pytest.raises((OutOfRange, Unsupported), match=message):
            release_detailed(table, group, details, epsilon=1, **words)


def test_the_command(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{county},{sex}" for county, count in (("A", 60), ("B", 9), ("C", 0)) for sex in ["m", "w"] * count]
    (tmp_path / "people.csv").write_text("\n".join(["county,sex", *rows]))
    (tmp_path / "domain.json").write_text('{"county": ["A", "B", "C"], "sex": ["m", "w"]}')
    words = ["detail", "people.csv", "--each-row", "--domain", "domain.json", "--group", "county", "--epsilon", 1]
    code, out, _ = run(*words, "--detail", "sex=50", "--dry-run")
    assert code == 0
    assert "Nothing was drawn" in out
    assert "margin of sex     ± " in out
    assert run(*words, "--detail", "sex=50", "--out", "two.json")[0] == 0
    assert run("verify", "two.json")[0] == 0
    for marginal in ([], ["--want", "county"], ["--want", "total"]):
        place = f"clean{len(marginal)}{marginal[-1:]}.csv"
        assert run("clean", "two.json", *marginal, "--out", place)[0] == 0
        assert run("verify", place, "--release", "two.json")[0] == 0
        header, row, *others = (tmp_path / place).read_text().splitlines()
        *labels, cell = row.split(",")
        (tmp_path / place).write_text("\n".join([header, ",".join([*labels, str(int(cell) + 1)]), *others]) + "\n")
        assert run("verify", place, "--release", "two.json")[0] == 1
    for word, value in (("--hold", "county"), ("--given", "county=A: 3")):
        assert "not allowed for a release in two stages" in " ".join(run("clean", "two.json", word, value)[2].split())
    for more, message in (
        (["--detail", "sex"], "NAMES=NUMBER"),
        (["--detail", "sex=5", "--out", "two.csv"], "written as .json"),
        (["--detail", "sex=5", "--out", "two.json"], "no existing file is overwritten"),
    ):
        code, _, error = run(*words, *more)
        assert code != 0
        assert message in " ".join(error.split())
    code, _, error = run("detail", "people.csv", "--detail", "sex=5", "--epsilon", 1)
    assert "--group" in error


def test_the_command_counts_under_the_relation_that_was_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.json").write_text('{"county": ["A", "B"], "sex": ["f", "m"]}', encoding="utf-8")
    (tmp_path / "e.csv").write_text("county,sex\n" + "A,f\nB,m\n" * 40, encoding="utf-8")
    words = ["detail", "e.csv", "--each-row", "--domain", "d.json", "--group", "county", "--epsilon", 1]
    for relation, of_levels in (("add-remove", 1), ("change-one", 2)):
        margins = json.loads(run(*words, "--detail", "sex=50", "--neighbours", relation, "--dry-run", "--json")[1])[
            "margins"
        ]
        expected = ut.noise.Geometric(Fraction(1, 8 * of_levels)).margin("0.95")
        assert margins["county"] == expected
