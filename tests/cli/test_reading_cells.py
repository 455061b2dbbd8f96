"""`utmost read FILE`: a release by itself, without a prior."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import utmost as ut
from utmost.workloads import Plan

EXAMPLES = Path(__file__).parents[2] / "examples"
RELEASED = EXAMPLES / "released_admissions.csv"


def found(run, *arguments):
    code, out, err = run("read", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_every_cell_and_all_at_once(run):
    """The twelve cells' own bar, and the bar that all keep at once, which is that of P^(1/12)."""
    report = found(run, RELEASED)
    assert (report["margin"], report["margin_together"], report["cells"]) == (6, 11, 12)
    distribution = ut.noise.Geometric("1/2")
    assert distribution.margin(0.95 ** (1 / 12)) == 11
    assert [one["margin"] for one in report["levels"]] == [3, 1]
    code, shown, _ = run("read", RELEASED)
    assert code == 0
    assert "506 to 518" in shown
    assert "501 to 523" in shown


def test_sums_differences_means_and_ratios(run):
    assert found(run, RELEASED, "--where", "sex=men")["value"] == 1199
    assert found(run, RELEASED, "--total")["cells"] == 12
    assert found(run, RELEASED, "--where", "sex=women", "--minus", "sex=men")["value"] == -630
    assert found(run, RELEASED, "--mean", "--where", "department=A,B")["margin"] == 11 / 4
    ratio = found(run, RELEASED, "--where", "sex=women", "--over", "all")
    assert ratio["interval"][0] < 569 / 1768 < ratio["interval"][1]
    code, shown, _ = run("read", RELEASED, "--where", "department=F,B", "--where", "sex=women", "--minus", "sex=women")
    assert code == 0
    assert "less sex=women" in shown


def test_several_conditions_stand_in_one_where_and_a_range_names_bins(run, file, tmp_path):
    """In a released table and in one by a plan; a range must end where bins end, and a refusal lists the bins."""
    domain, table, plan = tmp_path / "d.json", tmp_path / "r.csv", tmp_path / "r.json"
    work, old = {"groups": {"working age": [0, 18, 65, None]}}, ["no", "yes"]
    domain.write_text(json.dumps({"job": old, "age": {"bins": [0, 18, 30, 65, None], **work}}))
    people = file("job,age\n" + "yes,20\n" * 3 + "yes,40\n" * 4 + "no,40\n" * 5 + "yes,70\n" * 6 + "no,7\n" * 7)
    asked = ["release", people, "--each-row", "--by", "job,age", "--domain", domain, "--epsilon", 40, "--yes"]
    code, _, err = run(*asked, "--out", table)
    assert code == 0
    assert "has the bins of age, but not the coarser levels working age" in err
    code, _, err = run(*asked, "--want", "job age", "--out", plan)
    assert (code, "groups" in err) == (0, False)
    for released in (table, plan):
        for command in ("total", "read"):
            both = run(command, released, "--where", "job=yes,age=18..65", "--json")
            twice = run(command, released, "--where", "job=yes", "--where", "age=18..65", "--json")
            assert both == twice, both
            assert json.loads(both[1])["value"] == 7
        assert json.loads(run("total", released, "--where", "age=30..", "--json")[1])["value"] == 15
        assert "edges of bins" in run("total", released, "--where", "age=18..31")[2]
        assert "job=no,yes." in run("total", released, "--where", "job=1..2")[2]
        unknown = run("total", released, "--where", "job=yes,income=9")[2]
        assert "got 'income'. The release was counted by job, age" in unknown
        assert json.loads(run("total", released, "--over", "job=yes,age=..65", "--json")[1])["determined"]
        for where, value in (("age=0 to 17,65..", 13), ("age=..18,30..65,65+", 22), ("job=yes,age=18..30,65+", 9)):
            assert json.loads(run("total", released, "--where", where, "--json")[1])["value"] == value
        assert "age 0 to 17 or from 65" in run("total", released, "--where", "age=0 to 17,65..")[1]
        assert "start of a range must be below its end" in run("total", released, "--where", "age=65..18")[2]
    sums = ut.read_release(plan)
    assert sums.total({"age": [slice(0, 18), "65+"], "job": "yes"}).value == 6
    assert json.loads(run("total", plan, "--where", "working age=18 to 64", "--json")[1])["value"] == 12
    assert "utmost read RELEASE --where sex=women --minus sex=men" in run("total", table, "--minus", "job=no")[2]


def test_a_label_with_a_comma_and_an_equals_sign_is_one_condition(run, file, tmp_path):
    table = tmp_path / "r.csv"
    odd = file('rule,people\n"a=1,b=2",5\n"b=2",7\n')
    unit = ["--sensitivity", 1, "--cells", 1, "--epsilon", 40, "--yes"]
    assert run("release", odd, "--columns", "people", "--public", "rule", *unit, "--out", table)[0] == 0
    assert json.loads(run("total", table, "--where", "rule=a=1,b=2", "--json")[1])["value"] == 5


def test_what_a_level_would_buy_is_what_it_buys(run):
    """The bar that is told beforehand is that of a release at that level; nothing is drawn or spent."""
    levels = found(run, RELEASED, "--at", "2", "--at", "1/50")["levels"]
    assert [one["epsilon"] for one in levels] == ["2", "1/50"]
    assert [one["margin"] for one in levels] == [ut.noise.Geometric(one).margin("0.95") for one in ("2", "1/50")]


def test_a_curve_and_a_table_are_written(run, tmp_path):
    picture, table = tmp_path / "curve.svg", tmp_path / "read.csv"
    code, _, err = run("read", RELEASED, "--plot", picture, "--out", table)
    assert (code, err) == (0, "")
    assert "all at once" in picture.read_text()
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert (rows[0]["admitted_low"], rows[0]["admitted_all_high"]) == ("506", "523")


def test_a_release_by_a_plan_is_read(run, tmp_path):
    plan = Plan(ut.Domain(sex=["men", "women"], age=["<40", "40+"]), ut.Unit(1, 1), {"sex age": 1})
    release = ut.release(np.array([[500, 700], [300, 100]]), plan, epsilon=1, once=True).table
    path = tmp_path / "release.json"
    path.write_text(json.dumps(release.facts()))
    report = found(run, path)
    assert report["tables"] == [{"table": "sex age", "margin": 3, "margin_together": 4}]
    assert found(run, path, "--where", "sex=men", "--minus", "sex=women")["margin"] == 5
    assert found(run, path, "--where", "sex=men", "--over", "all")["determined"]
    code, shown, _ = run("read", path)
    levels = {level["epsilon"]: (level["table"], level["margin_together"]) for level in report["levels"]}
    assert (code, levels) == (0, {"2": ("sex age", 2), "4": ("sex age", 1)})
    assert "epsilon table each all at once" in " ".join(shown.split())
    halves = Plan(plan.domain, plan.unit, {"sex": "1/2", "age": "1/2"})
    path.write_text(json.dumps(ut.release(np.eye(2, dtype=int), halves, epsilon=1, once=True).table.facts()))
    code, _, err = run("clean", path)
    assert (code, '--want "sex" or --want "age"' in err) == (2, True)


def test_a_flat_prior_is_the_one_where_none_is_given(run):
    flat = run("read", "--response", "3", "--n", "9", "--epsilon", "1", "--json")
    assert flat == run("read", "--response", "3", "--n", "9", "--epsilon", "1", "--prior", "uniform", "--json")
    assert flat[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--where", "admitted=512"], "rows must be selected by public columns"),
        (["--where", "sex=other"], "each selected label must be a label of"),
        (["--mean", "--over", "all"], "only one of --over, --mean may be given"),
        (["--loss", "squared"], "--n or --prior"),
        (["--epsilon", "1"], "--n or --prior"),
        (["--column", "sex"], "--column must be one of"),
        (
            ["--n", "900", "--column", "admitted", "--where", "sex=men"],
            "cannot be combined with sums of cells and --at",
        ),
        (["--plot", "curve.txt"], ".svg"),
        (["--where", "sex=men", "--out", "x.csv"], "--out writes only a whole released table"),
    ],
)
def test_what_is_no_question_is_refused(run, arguments, said):
    code, out, err = run("read", RELEASED, *arguments)
    assert code in (1, 2)
    assert out == ""
    assert said in " ".join(err.split())


def test_a_table_without_a_statement_says_what_is_missing(run, tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("n\n1\n")
    code, _, err = run("read", path)
    assert code == 1
    assert "a released table needs its statement" in " ".join(err.split())


def test_a_range_of_months_selects_rows_of_a_table_and_cells_of_a_plan(run, file, tmp_path):
    domain, table, plan = tmp_path / "d.json", tmp_path / "r.csv", tmp_path / "r.json"
    domain.write_text(json.dumps({"day": {"months": ["2025", "2027"], "missing": "not stated"}}))
    days = [f"{year}-{month:02}-05" for year in (2025, 2026) for month in range(1, 13) for _ in range(month)]
    people = file("day\n" + "\n".join(days) + "\n")
    asked = ["release", people, "--each-row", "--domain", domain, "--epsilon", 40, "--yes"]
    assert run(*asked, "--out", table)[0] == 0
    assert run(*asked, "--want", "day", "--out", plan)[0] == 0
    for released in (table, plan):
        for where, value in (
            ("2025-11..2026-02", 24),
            ("2026..", 78),
            ("..2025-03,2026-12", 15),
            ("2026-11..2027", 23),
        ):
            answer = json.loads(run("total", released, "--where", f"day={where}", "--json")[1])
            assert answer["value"] == value, (released, where)
        for where in ("2026-05..2028", "2026-5..", "2026-05..2026"):
            code, _, err = run("total", released, "--where", f"day={where}")
            assert (code, "must begin" in err or "start of a range" in err or "ends of periods" in err) == (2, True), (
                err
            )


DATED = {
    "month": {"date": {"months": ["2013", "2014"]}, "age": {"edges": [0, 5, 15, 25, 65, None]}},
    "day": {"date": {"periods": ["2013", "2014"], "every": "day"}, "age": {"edges": [0, 5, 15, 65, None]}},
    "quarter": {"date": {"periods": ["2013", "2014"], "every": "quarter"}, "age": {"edges": [0, 5, 15, 65, None]}},
    "few quarters": {"date": {"periods": ["2013", "2013-07"], "every": "quarter"}, "age": {"edges": [0, 5, 15]}},
}
SAME = [
    ("quarter=2013Q2", "date=2013-04..2013-07"),
    ("quarter=Q2 2013,2013-Q3", "date=2013-04..2013-10"),
    ("quarter=2013Q1..2013Q3", "date=2013-01..2013-07"),
    ("date=2013Q2", "date=2013-04..2013-07"),
    ("half year=2013H1", "date=..2013-07"),
    ("year=2013", "date=2013"),
    ("age=15 to 64", "age=15..65"),
    ("quarter=2013Q2,age=5 to 14", "date=2013-04..2013-07,age=5..15"),
]
"""Conditions in two ways: a period or a range by its name, and by its edges."""


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    """A folder with a file of persons with dates and ages, and each kind of release of it."""
    folder = tmp_path_factory.mktemp("dated")
    days = [f"2013-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    rows = [f"{day},{(7 * place) % 90},{place % 50},{place % 90}" for place, day in enumerate(days)]
    (folder / "p.csv").write_text("date,age,paid,cost\n" + "\n".join(rows) + "\n")
    return folder


@pytest.mark.parametrize(
    ("kind", "unit"),
    [("table", "month"), ("plan", "day"), ("table", "quarter"), ("view", "quarter"), ("means", "few quarters")],
)
def test_a_period_and_a_range_are_named_in_every_kind_of_release(run, dated, tmp_path, unit, kind):
    """A quarter of months or days, a year of quarters, a range of bins by its label: the edges give the same sum."""
    (tmp_path / "d.json").write_text(json.dumps(DATED[unit]))
    counted = [dated / "p.csv", "--each-row", "--by", "date,age", "--domain", tmp_path / "d.json"]
    where = ["--ledger", tmp_path / "r.db", "--name", "r"]
    released = tmp_path / ("r.json" if kind == "plan" else "r.csv")
    out = ["--out", released]
    if kind == "view":
        assert run("ledger", "create", tmp_path / "r.db")[0] == 0
        assert run("release", *counted, *where, "--epsilon", 1)[0] == 0
    code, _, err = {
        "table": lambda: run("release", *counted, "--epsilon", 1, *out),
        "view": lambda: run("view", *where, "--epsilon", "1/2", *out),
        "plan": lambda: run("release", *counted, "--epsilon", 1, "--want", "date age", *out),
        "means": lambda: run("release", *counted, "--mean", "paid=0,50", "--mean", "cost=0,90", "--epsilon", 1, *out),
    }[kind]()
    assert code == 0, err
    for named, edges in SAME if unit in ("month", "day") else (SAME[0], SAME[-1]):  # of each of two kinds all
        both = [found(run, released, "--where", text) for text in (named, edges)]
        assert both[0]["value"] == both[1]["value"], named
        assert both[0]["margin"] == both[1]["margin"], named
    for options in (["--where", SAME[0][0]], ["--where", "age=0..15", "--over", SAME[7][0]]):
        code, out, err = run("total", released, *options, "--json")
        assert code == 0, err
        if "--over" not in options:
            assert json.loads(out)["value"] == found(run, released, *options)["value"]
    for wrong in ("quarter=2013", "quarter=2014Q1", "quarter=2013-05", "age=3 to 64", "week=2013-W40"):
        code, _, err = run("total", released, "--where", wrong)
        if wrong.startswith("week") and unit == "day":
            assert code == 0, err
        else:
            assert (code, "Traceback" in err) == (2, False), wrong
