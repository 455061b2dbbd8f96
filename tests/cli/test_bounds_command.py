"""`utmost count --contributions` and `utmost bounds`: from events to a bound that was chosen, by files."""

import json

import pytest

from utmost import Counting
from utmost.counting import count_contributions, read_counted
from utmost.statements import bound_costs, read_release
from utmost.workloads import Domain

FACTS = {"page": ["A", "B", "C"], "age": {"bins": [0, 90], "width": 30}}


@pytest.fixture
def files(tmp_path):
    events, domain = tmp_path / "events.csv", tmp_path / "domain.json"
    rows = [
        (user, "ABC"[at % 3], 29 * at % 90, f"{at * user % 7}.5") for user in range(40) for at in range(user % 5 + 1)
    ]
    events.write_text("user,page,age,paid\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    domain.write_text(json.dumps(FACTS))
    return events, domain


def test_contributions_are_counted_released_and_read(run, files, tmp_path):
    events, domain = files
    counted, table = tmp_path / "contributions.json", tmp_path / "contributions.csv"
    bounds = ("--contributions", "at-most=1,2,3")
    code, shown, err = run("count", events, "--person", "user", "--domain", domain, *bounds, "--out", counted)
    assert code == 0
    assert "changes at most 1 of these cells, each by at most 1" in shown
    assert "do not publish them" in err
    same = count_contributions(events, Domain.of_facts(FACTS), Counting("user"), "at_most", [1, 2, 3])
    assert read_counted(counted).cells.tolist() == same.cells.tolist()
    assert run("release", counted, "--epsilon", "1/10", "--out", table)[0] == 0
    code, shown, _ = run("bounds", table, "--domain", domain, "--epsilon", "9/10", "--plot", tmp_path / "costs.svg")
    assert code == 0
    assert "has the least expected error" in shown
    assert "they cost epsilon=1" in " ".join(shown.split())
    assert (tmp_path / "costs.svg").read_bytes().startswith(b"<?xml")
    code, shown, _ = run("bounds", table, "--domain", domain, "--epsilon", "9/10", "--want", "total", "--json")
    costs = bound_costs(read_release(table), Domain.of_facts(FACTS), epsilon="9/10", marginal="")
    report = json.loads(shown)
    assert (report["best"], report["words"]) == (costs.best, costs.words)
    assert [row["margin"] for row in report["costs"]] == [row.margin for row in costs.rows]
    assert [row["error"] for row in report["costs"]] == [row.error for row in costs.rows]


def test_no_bound_is_recommended_where_persons_are_beyond_the_largest(run, files, tmp_path):
    """Nothing says how much more they have: every loss is one from below, on the screen, in JSON, and in a picture."""
    events, domain = files
    counted, table = tmp_path / "contributions.json", tmp_path / "contributions.csv"
    bounds = ("--contributions", "in-total=1,2")
    assert run("count", events, "--person", "user", "--domain", domain, *bounds, "--out", counted)[0] == 0
    assert run("release", counted, "--epsilon", 9, "--yes", "--out", table)[0] == 0
    code, shown, _ = run("bounds", table, "--domain", domain, "--epsilon", 1, "--plot", tmp_path / "costs.svg")
    words = " ".join(shown.split())
    assert "No bound can be recommended: 24 persons have more than 2. List larger bounds at the next count." in words
    assert (code, words.count("at least"), "*" in words) == (0, 4, False)
    assert (tmp_path / "costs.svg").read_bytes().startswith(b"<?xml")
    report = json.loads(run("bounds", table, "--domain", domain, "--epsilon", 1, "--json")[1])
    assert (report["best"], report["beyond"]) == (None, [24, 0])
    for row, lost in zip(report["costs"], (8 + 24 * 2, 24), strict=True):
        assert row["lost_at_least"] == lost
        assert not {"lost", "loss", "error"} & row.keys()


def test_amounts_that_were_released_are_no_contributions_and_withheld_in_their_own_unit(run, files, tmp_path):
    events, domain = files
    counted, table = tmp_path / "paid.json", tmp_path / "paid.csv"
    amounts = ("--values", "paid", "--step", "0.01", "--at-most", 2, "--per-cell", 7)
    assert run("count", events, "--person", "user", "--domain", domain, *amounts, "--out", counted)[0] == 0
    assert run("release", counted, "--epsilon", 1, "--out", table)[0] == 0
    code, _, err = run("bounds", table, "--domain", domain, "--epsilon", 1)
    assert code == 2
    assert "utmost count --contributions" in err
    code, shown, _ = run("withhold", table, "--below", "10.01", "--out", tmp_path / "shown.csv")
    assert code == 0
    assert "a true value 10.01" in shown
    assert "/100" not in shown


def test_a_public_sample_is_said_to_be_one(run, files, tmp_path):
    events, domain = files
    counted = tmp_path / "sample.json"
    amounts = ("--values", "paid", "--step", "0.5", "--contributions", "per-cell=0.5,2,10")
    assert run("count", events, "--person", "user", "--domain", domain, *amounts, "--out", counted)[0] == 0
    asked = ("bounds", counted, "--domain", domain, "--epsilon", 1, "--step", "0.5", "--at-most", 2)
    assert run(*asked)[0] == 2
    code, shown, _ = run(*asked, "--public", "--persons", 4000)
    assert code == 0
    assert "costs no level" in shown


@pytest.mark.parametrize(
    "words",
    [
        ["--contributions", "at_most=1"],
        ["--contributions", "at-most=1,1"],
        ["--contributions", "at-most"],
        ["--contributions", "at-most=1", "--at-most", "2"],
        ["--contributions", "at-most=1", "--part", "page"],
        ["--contributions", "at-most=1", "--values", "paid"],
    ],
)
def test_what_cannot_be_counted_is_refused(run, files, words):
    events, domain = files
    assert run("count", events, "--person", "user", "--domain", domain, *words)[0] == 2
    assert run("count", events, "--each-row", "--domain", domain, "--contributions", "at-most=1")[0] == 2


def test_another_table_is_refused(run, files, tmp_path):
    events, domain = files
    table = tmp_path / "table.csv"
    asked = ["release", events, "--person", "user", "--at-most", 1, "--domain", domain, "--epsilon", 1]
    assert run(*asked, "--out", table)[0] == 0
    assert run("bounds", table, "--domain", domain, "--epsilon", 1)[0] == 2
    assert run("bounds", table, "--epsilon", 1)[0] == 2


def test_the_clip_of_an_amount_is_weighed_where_each_row_is_a_person(run, tmp_path):
    """As with a column that names each row; missing amounts are left out; the best bound is one that can be typed."""
    events, domain = tmp_path / "people.csv", tmp_path / "domain.json"
    rows = [(user, "NS"[user % 2], "" if user % 10 == 0 else user % 90 + 0.5) for user in range(600)]
    events.write_text("id,region,income\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    domain.write_text('{"region": ["N", "S"]}')
    asked = ["--domain", domain, "--values", "income", "--step", "0.5", "--leave-out", "amounts"]
    asked += ["--contributions", "per-cell=10,50,100"]
    for who, out in ((["--each-row"], "rows.json"), (["--person", "id"], "persons.json")):
        assert run("count", events, *who, *asked, "--out", tmp_path / out)[0] == 0
    counted = [read_counted(tmp_path / name).cells.tolist() for name in ("rows.json", "persons.json")]
    needed = [income for _, _, income in rows if income != ""]
    bins = [sum(low < income <= high for income in needed) for low, high in ((0, 10), (10, 50), (50, 100), (100, 999))]
    assert counted == [bins, bins]
    assert run("release", tmp_path / "rows.json", "--epsilon", 9, "--yes", "--out", tmp_path / "rows.csv")[0] == 0
    code, shown, _ = run("bounds", tmp_path / "rows.csv", "--domain", domain, "--step", "0.5", "--epsilon", 9, "--json")
    best = json.loads(shown)["best"]
    assert (code, best) == (0, 100)
    mean = ["--mean", f"income=0,{best},0.5", "--leave-out", "amounts", "--epsilon", 9, "--out", tmp_path / "m.csv"]
    assert run("release", events, "--each-row", "--domain", domain, *mean)[0] == 0
    code, _, err = run("count", events, "--each-row", "--domain", domain, "--contributions", "at-most=1,2")
    assert (code, "amount" in err) == (2, True)
