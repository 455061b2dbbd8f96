"""Releases in one draw: draws, guarantees and statements; counted tables; errors."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from goodness import LEVEL, as_often, no_more_often
from utmost.counting import CountedTable
from utmost.errors import BadTable, NotDeclared, OutOfRange, Unsupported, WrongKind
from utmost.noise import CellsDraw, Combination, Geometric, TablesDraw
from utmost.privacy import Amount
from utmost.statements import stated_release

TABLE = {"ward": list("abcde"), "n": [10, 20, 30, 40, 50], "m": [1, 0, 2, 0, 3]}
REPLACED = ut.Unit(1, 1, "change-one", nonnegative=True)
DOMAIN = ut.Domain(sex=["men", "women"], smoker=["yes", "no"], age=["young", "middle", "old"])


def counted(unit=None, kind="columns:"):
    return CountedTable(DOMAIN, np.arange(12).reshape(2, 2, 3) * 5, ut.Unit(1, 1) if unit is None else unit, kind)


def once(table, promise, epsilon=1):
    return ut.release(table, promise, epsilon=epsilon, once=True)


@pytest.mark.parametrize(
    ("unit", "distribution"),
    [
        (REPLACED, TablesDraw(1, [5], "change-one")),
        (ut.Unit(1, 1, "change-one", nonnegative=True, exactly=True), TablesDraw(1, [5], "change-one", exactly=True)),
        (ut.Unit(1, 3, nonnegative=True), CellsDraw(1, 5, 3)),
        (ut.Unit(1, 3), CellsDraw(1, 5, 3, nonnegative=False)),
        (ut.Unit(1, 3, "change-one"), CellsDraw(1, 5, 3, nonnegative=False, neighbours="change-one")),
        (ut.Unit(3, 2, nonnegative=True, in_total=4), CellsDraw(1, 5, 2, 3, in_total=4)),
        (ut.Unit(4, 2, nonnegative=True), CellsDraw(1, 5, 2, 4, step=3)),
    ],
    ids=repr,
)
def test_a_column_is_released_in_one_draw(unit, distribution):
    """The distribution for its unit, one margin that covers, a statement that can be checked, and no relaxing."""
    promise = ut.Promise("n", public="ward", drop="m", noise=ut.OneDraw(unit, released_cells=5))
    answer = once(TABLE, promise)
    assert answer.distribution == distribution
    if isinstance(distribution, CellsDraw):
        assert distribution.variance == min(
            distribution.with_step(r).variance for r in range(1, distribution.sensitivity + 1)
        )
    assert answer.table["n_margin"] == [distribution.margin("0.95")] * 5
    assert all(type(cell) is int for cell in answer.table["n"])
    said = json.loads(json.dumps(answer.statement))
    assert ut.check_statement(said, answer.table).distribution == distribution
    assert "nothing" not in said["guarantee"]
    assert "cannot be relaxed" in said["noise"]["drawn"]
    with pytest.raises(Unsupported, match="once=True"):
        _ = answer.release
    with pytest.raises(Unsupported, match="whose noise can be relaxed"):
        ut.release(TABLE, promise, epsilon=1)
    assert ut.Promise.of_facts(json.loads(json.dumps(promise.facts()))) == promise
    assert repr(distribution) in stated_release(said).noises[0].distribution


def test_draws_of_a_release_have_the_distribution():
    """Zero noise is as frequent as the distribution states; errors of columns are the cells of one draw."""
    unit = ut.Unit(1, 4, nonnegative=True)
    promise = ut.Promise(["n", "m"], drop="ward", noise=ut.OneDraw(unit, 10))
    distribution, none, beyond, runs = CellsDraw(1, 10, 4), 0, 0, 150
    margin = distribution.margin("0.9")
    for _ in range(runs):
        table = once(TABLE, promise).table
        errors = [table[name][row] - TABLE[name][row] for name in ("n", "m") for row in range(5)]
        none += errors[3] == 0
        beyond += abs(errors[7]) > margin
    assert as_often(none, runs, float(1 - distribution.tail(0))) > LEVEL
    assert no_more_often(beyond, runs, 0.1) > LEVEL


def test_forged_statements_of_one_draw_are_refused():
    """Another first step, margin, unit or number of cells; a cell that is no integer."""
    unit = ut.Unit(4, 2, nonnegative=True)
    answer = once({"n": [1, 2, 3]}, ut.Promise("n", noise=ut.OneDraw(unit, 3)))
    said = json.loads(json.dumps(answer.statement))
    noise = said["promise"]["noise"]
    assert noise["step"] == answer.distribution.step
    for change in (
        {"step": 1},
        {"step": 5},
        {"step": None},
        {"released_cells": 4},
        {"cells": 1},
        {"nonnegative": False},
    ):
        forged = {**said, "promise": {**said["promise"], "noise": {**noise, **change}}}
        with pytest.raises(BadTable):
            ut.check_statement(forged, answer.table)
    # A number of cells that no table of the statement has is refused before its noise is computed, which takes minutes.
    forged = {**said, "promise": {**said["promise"], "noise": {**noise, "released_cells": 1000}}}
    with pytest.raises(BadTable, match="rows"):
        ut.check_statement(forged, answer.table)
    with pytest.raises(BadTable):
        ut.check_statement({**said, "margins": {"n_margin": 1}}, answer.table)
    with pytest.raises(BadTable):
        ut.check_statement(said, {**answer.table, "n": [1, 2, 2.5]})


@pytest.mark.parametrize("unit", [ut.Unit(1, 1), REPLACED, ut.Unit(1, 1, "change-one", nonnegative=True, exactly=True)])
def test_all_one_way_tables_are_released_in_one_draw(unit, tmp_path):
    """Each table adds up to the noisy total; margins by table; a file that can be verified and read again."""
    table = counted(unit)
    answer = once(table, ut.Promise(noise=ut.OneWayDraw.of_counted(table)))
    names, counts = answer.table["table"].tolist(), answer.table["count"].tolist()
    for name in ("sex", "smoker", "age"):
        assert sum(n for table, n in zip(names, counts, strict=True) if table == name) == counts[0]
    distribution = answer.distribution
    assert distribution == TablesDraw(1, [2, 2, 3], unit.neighbours, unit.exactly)
    margins = dict(zip(names, answer.table["count_margin"], strict=True))
    assert margins == {
        "total": distribution.total_margin(), "sex": distribution.margin(), "smoker": distribution.margin(), "age":
    distribution.margin(cell=4) }  # fmt: skip
    assert (counts[0] == 330) >= unit.exactly
    said = json.loads(json.dumps(answer.statement))
    assert ut.check_statement(said, answer.table).distribution == distribution
    assert said["margins"]["count_margin"] == list(answer.table["count_margin"])
    answer.save(tmp_path / "tables.csv")
    again = ut.read_release(tmp_path / "tables.csv")
    assert again.total({"table": "sex", "group": "men"}).exact == counts[1]
    forged = [*said["margins"]["count_margin"][1:], 1]
    with pytest.raises(BadTable):
        ut.check_statement({**said, "margins": {"count_margin": forged}}, answer.table)
    with pytest.raises(BadTable):
        ut.check_statement(said, {**answer.table, "count_margin": [1] * 8})
    assert "group of each table" in stated_release(said).unit


def test_further_tables_have_noise_of_their_own(tmp_path):
    """Rows, margins and sums of further tables; the same from the file; a forged share is refused."""
    table = counted()
    noise = ut.OneWayDraw.of_counted(table, table_shares={"sex age": "1/4"})
    answer = once(table, ut.Promise(noise=noise))
    distribution, own = answer.distribution, Geometric("1/4")
    assert distribution == TablesDraw("3/4", [2, 2, 3])
    assert answer["sex age"]["count_margin"].tolist() == [own.margin("0.95")] * 6
    assert answer["age"]["count_margin"].tolist() == [distribution.margin(cell=4)] * 3
    assert list(answer["age sex"]) == ["sex", "age", "count", "count_margin"]
    assert answer[""]["count"].tolist() == answer["total"]["count"].tolist() == [answer.table["count"][0]]
    assert answer.total().exact == answer.total({}).exact == answer.table["count"][0]
    own_rows = {"table": "sex age", "group": ["men old", "women old"]}
    assert answer.total({"age": "old", "sex": ["men", "women"]}) == answer.total(own_rows)
    assert answer.total({"smoker": "yes"}) == answer.total({"table": "smoker", "group": "yes"})
    with pytest.raises(OutOfRange, match=": sex"):
        answer.total({"sex": "men", "smoker": "yes"})
    for words in ({"marginal": "age"}, {"means": True}):
        with pytest.raises(OutOfRange, match="by a plan"):
            answer.save(tmp_path / "none.csv", **words)
    two = {"table": "sex age", "group": ["men young", "women young"]}
    assert answer.total(two).margin == Combination([1, 1], "1/4").margin("0.95")
    assert answer.total(two).variance == pytest.approx(2 * float(own.variance()))
    apart = 1 - Fraction(1, 40)  # a sum of both: each may miss half as often
    assert answer.total({"group": ["old", "men old"]}).margin == distribution.margin(apart, cell=6) + own.margin(apart)
    answer.save(tmp_path / "tables.csv")
    again = ut.read_release(tmp_path / "tables.csv")
    assert again["sex age"]["count"].tolist() == answer["sex age"]["count"].tolist()
    said = json.loads(json.dumps(answer.statement))
    said["promise"]["noise"]["table_shares"] = {"sex age": "1/2"}
    with pytest.raises(BadTable):
        ut.check_statement(said, answer.table)
    with pytest.raises(OutOfRange, match=": sex"):
        answer["sex smoker"]
    for shares in (
        {"sex": "1/4"},
        {"": "1/4"},
        {"sex age": 0},
        {"sex age": 1},
        {"sex age": "1/2", "sex smoker": "1/2"},
    ):
        with pytest.raises(OutOfRange):
            ut.OneWayDraw(DOMAIN, ut.Unit(1, 1), table_shares=shares)


def test_one_way_tables_as_dataframes_and_with_other_margins():
    """The answer has the kind of the table; another confidence changes every margin."""
    polars = pytest.importorskip("polars")
    table = counted(kind="dataframe:polars")
    answer = once(table, ut.Promise(noise=ut.OneWayDraw.of_counted(table)))
    assert isinstance(answer.table, polars.DataFrame)
    sharper = answer.with_confidence("0.5")
    assert sharper.table["count_margin"].to_list()[0] == answer.distribution.total_margin("0.5")
    assert ut.check_statement(sharper.statement, sharper.table).confidence == Fraction(1, 2)


def test_sums_of_cells_have_margins():
    """Single cells and totals exactly; other sums by draws of the distribution, which is public."""
    table = counted()
    answer = once(table, ut.Promise(noise=ut.OneWayDraw.of_counted(table)))
    distribution = answer.distribution
    assert answer.total({"table": "age", "group": "old"}).margin == distribution.margin(cell=6)
    assert (
        answer.total({"table": "age"}).margin == answer.total({"table": "total"}).margin == distribution.total_margin()
    )
    two = answer.total({"table": "age", "group": ["young", "old"]})
    assert distribution.margin(cell=4) <= two.margin <= 2 * distribution.margin(cell=4)
    assert two.variance == pytest.approx(float(distribution.variance_of([0, 0, 0, 0, 1, 0, 1])))
    both = once(TABLE, ut.Promise(["n", "m"], public="ward", noise=ut.OneDraw(ut.Unit(1, 2, nonnegative=True), 10)))
    assert both.total({"ward": "a"}, column="m").margin == both.distribution.margin()
    assert both.total(column="n").exact == sum(both.table["n"])
    noise = ut.OneDraw(ut.Unit(1, 2, nonnegative=True), 10).at(ut.level(1))
    some = [[Fraction(at in cells) for at in range(10)] for cells in ((0, 1, 2), (0, 1, 4), (3, 4, 5))]
    assert len({noise.sum_margin(cells, Fraction(19, 20)) for cells in some}) == 1  # whichever cells are added up


def test_counted_tables_and_amounts():
    """The proved unit; amounts in steps; promises that counting did not prove."""
    table = counted(ut.Unit(1, 2, nonnegative=True))
    noise = ut.OneDraw.of_counted(table)
    assert (noise.released_cells, noise.unit) == (12, table.unit)
    answer = once(table, ut.Promise.of_counted(table, noise=noise))
    assert answer.distribution == CellsDraw(1, 12, 2)
    unit = ut.Unit(100, 2, amount=Amount("paid", "0.05"), nonnegative=True)
    paid = once(counted(unit), ut.Promise.of_counted(counted(unit), noise=ut.OneDraw(unit, 12)))
    steps = [Fraction(cell).limit_denominator(100) * 20 for cell in paid.table["paid"]]
    assert all(step.denominator == 1 for step in steps)
    assert paid.margin() == pytest.approx(0.05 * paid.distribution.margin())
    proved = replace(counted(ut.Unit(1, 2)), proved=True)
    assert once(proved, ut.Promise.of_counted(proved, noise=noise)).distribution == answer.distribution
    # In a table that was counted elsewhere, an individual may raise one cell and lower another.
    assert not ut.OneDraw.of_counted(counted(ut.Unit(1, 2))).unit.nonnegative
    assert ut.OneDraw.of_counted(proved).unit.nonnegative
    with pytest.raises(OutOfRange, match="without that proof"):
        once(counted(ut.Unit(1, 2)), ut.Promise.of_counted(counted(ut.Unit(1, 2)), noise=noise))
    wanted = ut.Workload(DOMAIN, {DOMAIN.marginal_name(DOMAIN.finest): 1})
    for table, lowers_none in ((counted(ut.Unit(1, 2)), False), (proved, True)):
        assert once(table, wanted).distribution.nonnegative == lowers_none
    lowered = ut.Unit(100, 2, amount=Amount("paid", "0.05"))
    assert not ut.OneDraw.of_counted(counted(lowered)).unit.nonnegative
    with pytest.raises(OutOfRange, match="without that proof"):
        once(counted(lowered), ut.Promise.of_counted(counted(lowered), noise=ut.OneDraw(unit, 12)))


def test_what_is_refused():
    """Another number of cells, fractions, people who are counted twice, other domains, undeclared columns."""
    unit = ut.Unit(1, 2)
    with pytest.raises(OutOfRange, match="released_cells=5"):
        once({"n": [1] * 5}, ut.Promise("n", noise=ut.OneDraw(unit, 4)))
    with pytest.raises(OutOfRange, match="integer"):
        ut.OneDraw(ut.Unit("1/2", 1), 4)
    with pytest.raises(OutOfRange, match="step="):
        ut.OneDraw(unit, 4, step=2)
    with pytest.raises(OutOfRange):
        ut.OneDraw(unit, 0)
    with pytest.raises(OutOfRange, match="1000 cells"):
        ut.OneDraw(unit, 1001)
    with pytest.raises(OutOfRange, match="200 groups"):
        ut.OneWayDraw(ut.Domain(age=range(201)), ut.Unit(1, 1))
    with pytest.raises(NotDeclared):
        once(TABLE, ut.Promise("n", noise=ut.OneDraw(unit, 5)))
    with pytest.raises(BadTable):
        once({"n": [1, 0.5]}, ut.Promise("n", noise=ut.OneDraw(unit, 2)))
    with pytest.raises(OutOfRange, match="at_most=1"):
        ut.OneWayDraw(DOMAIN, ut.Unit(1, 2))
    with pytest.raises(OutOfRange, match="nonnegative=True"):
        ut.OneWayDraw(DOMAIN, ut.Unit(1, 1, "change-one"))
    with pytest.raises(OutOfRange, match="total"):
        ut.OneWayDraw(ut.Domain(total=["a", "b"]), ut.Unit(1, 1))
    noise = ut.OneWayDraw(ut.Domain(sex=["men", "women"]), ut.Unit(1, 1))
    with pytest.raises(OutOfRange, match="of_counted"):
        once(counted(), ut.Promise(noise=noise))
    with pytest.raises(WrongKind, match=r"Pass ut\.Promise\(noise=OneWayDraw\(\.\.\.\)\)"):
        once(counted(), ut.OneWayDraw.of_counted(counted()))
    with pytest.raises(WrongKind, match="count_table"):
        once(TABLE, ut.Promise(noise=noise))
    for beside in ({"columns": "n"}, {"public": "ward"}):
        with pytest.raises(OutOfRange):
            ut.Promise(noise=noise, **beside)
    with pytest.raises(Unsupported):
        ut.Promise("n", noise=ut.OneDraw(unit, 4)).once("squared")


def test_one_draw_at_a_level_that_protects_little_is_warned_of():
    with pytest.warns(ut.errors.LittleProtection):
        once({"n": [1, 2]}, ut.Promise("n", noise=ut.OneDraw(ut.Unit(1, 2), 2)), epsilon=20)
