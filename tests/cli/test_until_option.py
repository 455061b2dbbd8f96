"""`--until`: a release that stops as soon as it is accurate, with and without a ledger; what it does not go with."""

import json

import pytest

import utmost as ut
from running import new_ledger, with_recipe

TABLE = "department,applicants\nA,933\nB,585\nC,918\n"
COLUMNS = ("--columns", "applicants", "--public", "department", "--sensitivity", "1", "--cells", "1")
RULE = ("--until", "10 % where department=A,B")


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path


def test_it_stops_and_says_what_was_promised(table, run):
    code, out, error = run("release", "t.csv", *COLUMNS, "--epsilon", "2", *RULE, "--out", "r.csv")
    assert code == 0, error
    words = " ".join(out.split())
    assert (
        "the margin of every cell where department is A or B is at most 10 % of its released value: it is met" in words
    )
    assert "promised beforehand epsilon = 2, whatever the outcome" in words
    answer = ut.read_release("r.csv")
    assert answer.is_met
    assert answer.stop.promised == ut.level(2)
    assert answer.level <= ut.level("1/4")
    for command in (("verify",), ("total",), ("read",), ("statement", "--html", "p.html")):
        assert run(command[0], "r.csv", *command[1:])[0] == 0
    code, out, _ = run("read", "r.csv", "--json")
    assert json.loads(out)["margin"] == answer.margin()
    code, out, _ = run("total", "r.csv", "--json")
    assert json.loads(out)["margin"] == answer.total().margin


def test_a_ledger_charges_the_level_reached(table, run):
    ledger = ("--ledger", new_ledger("l.db"), "--name", "a", "--dataset", "people")
    code, out, error = run("release", "t.csv", *COLUMNS, "--epsilon", "2", *RULE, *ledger, "--dry-run")
    assert code == 0, error
    assert "the epsilon spent is then smaller" in " ".join(out.split())
    asked = ("release", "t.csv", *COLUMNS, "--epsilon", "2", *RULE, *ledger, "--request", "tonight", "--out", "r.csv")
    code, _, error = run(*asked)
    assert code == 0, error
    answer = ut.read_release("r.csv")
    assert run(*asked)[0] == 0  # the same run again
    code, out, _ = run("ledger", "status", "--ledger", "l.db", "--json")
    assert json.loads(out)["datasets"][0]["spent"] == str(answer.epsilon)
    code, _, error = run("relax", "t.csv", "--ledger", "l.db", "--name", "a", "--epsilon", "1", "--out", "s.csv")
    assert code == 0, error
    assert ut.read_release("s.csv").level == ut.level(1)


def test_a_dry_run_shows_where_the_rule_may_stop(table, run):
    """With and without a ledger: the margin of the level that is reached is the one of its step of the ladder."""
    asked = ("release", "t.csv", *COLUMNS, "--epsilon", "2", *RULE)
    ladder = json.loads(run(*asked, "--dry-run", "--json")[1])["ladder"]
    assert [step["epsilon"] for step in ladder] == ["1/32", "1/16", "1/8", "1/4", "1/2", "1", "2"]
    kept = ("--ledger", new_ledger("l.db"), "--name", "a")
    assert json.loads(run(*asked, *kept, "--dry-run", "--json")[1])["ladder"] == ladder
    for more in ((), kept):
        shown = " ".join(run(*asked, *more, "--dry-run")[1].split())
        assert f"± {ladder[0]['margin']} {ladder[0]['least_cell']}" in shown
    assert run(*asked, "--out", "r.csv")[0] == 0
    answer = ut.read_release("r.csv")
    reached = next(step for step in ladder if step["epsilon"] == str(answer.epsilon))
    assert answer.margin() == reached["margin"]
    cells = dict(zip(answer.table["department"], answer.table["applicants"], strict=True))
    assert min(cells["A"], cells["B"]) >= reached["least_cell"]
    assert reached["least_cell"] == 10 * reached["margin"]


def test_a_promise_in_a_file_and_a_recipe_keep_the_rule(table, run):
    code, _, error = run("promise", *COLUMNS, *RULE, "--out", "promise.json")
    assert code == 0, error
    assert ut.read_promise("promise.json").until == ut.within("10 %", {"department": ["A", "B"]})
    assert run("release", "t.csv", "--promise", "promise.json", "--epsilon", "2", "--out", "r.csv")[0] == 0
    assert ut.read_release("r.csv").is_met
    assert run("init", *COLUMNS, *RULE, "--epsilon", "2")[0] == 0
    assert run("release", "t.csv", "--recipe", "release.toml", "--out", "s.csv")[0] == 0
    assert ut.read_release("s.csv").is_met


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((*RULE, "--cost", "squared"), "Leave out cost in the recipe"),
        (("--until", "10 % where town=X"), "--until must select cells by public columns"),
        (("--until", "10 % where department=Z"), "--until must choose cells of the table"),
        (("--until", "10 % where department"), "10 % where sex=women"),
        (("--until", "200 %"), "above 0 % and at most 100 %"),
        (("--until", "many"), "share of the released value"),
    ],
)
def test_what_does_not_go_with_it_is_refused_and_nothing_is_written(table, run, options, said):
    code, _, error = run(*with_recipe("release", "t.csv", *COLUMNS, "--epsilon", "2", *options, "--out", "r.csv"))
    assert code != 0
    assert said in error
    assert not (table / "r.csv").exists()


@pytest.fixture
def people(table):
    """Rows of people, and the options that count them."""
    rows = ["A,men,9", "A,women,8", "B,men,7"] * 300
    (table / "people.csv").write_text("\n".join(["department,sex,paid", *rows]), encoding="utf-8")
    (table / "domain.json").write_text('{"department": ["A", "B"], "sex": ["men", "women"]}', encoding="utf-8")
    return "people.csv", "--each-row", "--by", "department,sex", "--domain", "domain.json", "--epsilon", "2"


def test_wanted_tables_stop_together(people, run):
    """Every figure of them is within 10 %, with and without a ledger; the rehearsal says so beforehand."""
    asked = ("release", *people, "--want", "department", "--want", "sex", "--until", "10 %")
    for more in ((), ("--ledger", new_ledger("l.db"), "--name", "a")):
        code, out, error = run(*asked, *more, "--dry-run")
        assert code == 0, error
        assert "stops as soon as" in out
        code, out, error = run(*asked, *more, "--out", f"r{len(more)}.json")
        assert code == 0, error
        words = " ".join(out.split())
        assert "it is met at this level" in words
        assert "promised beforehand epsilon = 2" in words
        answer = ut.read_release(f"r{len(more)}.json")
        assert answer.is_met
        assert answer.level <= ut.level("1/2")
        assert all((answer[name]["count_margin"] <= answer[name]["count"] / 10).all() for name in answer)
        code, out, _ = run("verify", f"r{len(more)}.json")
        assert code == 0
        assert "epsilon = 2). The chance of this outcome" in " ".join(out.split())
        code, out, _ = run("total", f"r{len(more)}.json", "--where", "sex=men", "--json")
        assert json.loads(out)["margin"] == answer.total({"sex": "men"}).margin
    code, out, _ = run("ledger", "status", "--ledger", "l.db", "--json")
    assert json.loads(out)["datasets"][0]["spent"] == str(answer.epsilon)


@pytest.mark.parametrize("means", [[], ["--mean", "paid=0,9"]])
def test_a_dry_run_of_wanted_tables_shows_where_the_rule_may_stop(people, run, means):
    """Each table with its margin, alike with and without a ledger; the level that is reached has these margins."""
    asked = ("release", *people, "--want", "department", "--want", "sex", "--until", "20 % where sex=men", *means)
    shown, *others = (
        json.loads(run(*asked, *more, "--dry-run", "--json")[1])["ladder"]
        for more in ((), ("--ledger", new_ledger("l.db"), "--name", "a"))
    )
    assert others == [shown]
    names = ["sex: count", "sex: paid_sum"] if means else ["sex"]
    assert [(step["epsilon"], step["table"]) for step in shown] == [
        (at, name) for at in ("1/32", "1/16", "1/8", "1/4", "1/2", "1", "2") for name in names
    ]
    words = " ".join(run(*asked, "--dry-run")[1].split())
    assert f"± {shown[-1]['margin']}" in words
    assert "if every chosen cell is at least" in words
    code, _, error = run(*asked, "--out", "r.json")
    assert code == 0, error
    answer = ut.read_release("r.json")
    for step in (one for one in shown if one["epsilon"] == str(answer.epsilon)):
        name = step["table"].partition(": ")[2] or "count"
        assert answer["sex"][f"{name}_margin"].tolist() == [step["margin"]] * 2
        assert dict(zip(answer["sex"]["sex"], answer["sex"][name], strict=True))["men"] >= step["least_cell"]
        assert step["least_cell"] >= 5 * step["margin"]


def test_a_plan_in_a_file_takes_the_rule(people, run):
    assert run("plan", "domain.json", "--at-most", "1", "--epsilon", "2", "--want", "sex", "--out", "plan.json")[0] == 0
    asked = ("release", *people, "--plan", "plan.json", "--until", "10 % where sex=men", "--out", "r.json")
    code, _, error = run(*asked)
    assert code == 0, error
    assert ut.read_release("r.json").is_met


def test_cells_of_no_wanted_table_and_one_draw_are_refused_by_name(people, run):
    code, _, error = run("release", *people, "--want", "sex", "--until", "10 % where department=A")
    assert code != 0
    assert "Choose labels of one table: sex" in error
    code, _, error = run("release", *people, *RULE, "--once", "cells")
    assert code != 0
    assert "Leave out --until" in error
