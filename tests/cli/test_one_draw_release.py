"""`utmost release --once`: all cells, all one-way tables or the cells of each row in one draw; `utmost verify`."""

import csv
import json
from fractions import Fraction

import pytest

import utmost as ut
from running import main

PEOPLE = [("men", "yes"), ("women", "no"), ("men", "no"), ("women", "no")]


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call


@pytest.fixture
def files(tmp_path):
    table, people, domain = tmp_path / "t.csv", tmp_path / "p.csv", tmp_path / "d.json"
    table.write_text("ward,n,m\na,10,1\nb,20,2\nc,30,0\n")
    people.write_text("sex,smoker\n" + "".join(f"{sex},{smoker}\n" for sex, smoker in PEOPLE))
    domain.write_text(json.dumps({"sex": ["men", "women"], "smoker": ["yes", "no"]}))
    return table, [people, "--each-row", "--by", "sex,smoker", "--domain", domain]


@pytest.mark.parametrize(("what", "distribution"), [("cells", "nonnegative=False"), ("counts", "cells=6, changed=2)")])
def test_all_cells_of_a_table(run, files, tmp_path, what, distribution):
    """Both columns in one draw; the margin; the file is verified."""
    table, _ = files
    out = tmp_path / "out.csv"
    cells = ["--columns", "n,m", "--public", "ward", "--sensitivity", 1, "--cells", 2]
    code, _, _ = run("release", table, *cells, "--once", what, "--epsilon", 1, "--out", out)
    assert code == 0
    assert "it cannot be relaxed later" in " ".join(run("verify", out)[1].split())
    assert distribution in json.loads((tmp_path / "out.csv.json").read_text())["noise"]["distribution"]
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["ward"] for row in rows] == list("abc")
    assert len({row["n_margin"] for row in rows} | {row["m_margin"] for row in rows}) == 1
    code, shown, _ = run("total", out, "--where", "ward=a,b", "--sum", "n", "--json")
    assert (code, json.loads(shown)["value"]) == (0, int(rows[0]["n"]) + int(rows[1]["n"]))


def test_all_one_way_tables_of_people(run, files, tmp_path):
    """Counted and released in one step; every table adds up to the total."""
    _, people = files
    out = tmp_path / "out.csv"
    assert run("release", *people, "--once", "one-way", "--epsilon", 1, "--out", out)[0] == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    sums = {name: sum(int(row["count"]) for row in rows if row["table"] == name) for name in ("total", "sex", "smoker")}
    assert len(set(sums.values())) == 1
    assert run("verify", out)[0] == 0
    answer = ut.read_release(out)
    for where, wanted in (
        ([], {}),
        (["--where", "sex=men"], {"sex": "men"}),
        (["--where", "group=yes"], {"group": "yes"}),
    ):
        code, shown, _ = run("total", out, *where, "--json")
        assert (code, json.loads(shown)["value"]) == (0, answer.total(wanted).value)
    assert answer.total().value == sums["total"]
    assert json.loads(run("total", out, "--where", "sex=men", "--over", "all", "--json")[1])["value"] == pytest.approx(
        answer.ratio({"sex": "men"}).estimate
    )
    code, shown, _ = run("release", *people, "--once", "counts", "--epsilon", 1, "--dry-run")
    assert code == 0
    assert "one draw" in shown


def test_a_total_of_its_own_beside_the_draw(run, tmp_path):
    """Where it is the least for the wanted tables; the file is verified and says what was drawn."""
    people, domain, out = tmp_path / "p.csv", tmp_path / "d.json", tmp_path / "out.csv"
    people.write_text("a,b,c,d\n" + "no,no,yes,no\n" * 5)
    domain.write_text(json.dumps({name: ["no", "yes"] for name in "abcd"}))
    asked = ["release", people, "--each-row", "--by", "a,b,c,d", "--domain", domain, "--epsilon", 1]
    wanted = ["--want", "tables of 1 column", "--want", "=8", "--once", "tables"]  # the total with a weight of 8
    assert run(*asked, *wanted, "--out", out)[0] == 0
    said = json.loads((tmp_path / "out.csv.json").read_text())
    assert 0 < Fraction(said["promise"]["noise"]["total_share"]) < 1
    assert "DrawWithTotal" in said["noise"]["distribution"]
    assert "separate noise for their total" in " ".join(run("statement", out)[1].split())
    assert run("verify", out)[0] == 0


def test_the_cells_of_each_row(run, files, tmp_path):
    """Without the promise that nobody lowers a count, and with it."""
    out = tmp_path / "out.csv"
    asked = ["release", files[0], "--columns", "n,m", "--public", "ward", "--sensitivity", 1, "--epsilon", 1, "--once"]
    assert run(*asked, "row", "--out", out)[0] == 0
    assert json.loads((tmp_path / "out.csv.json").read_text())["noise"]["kind"] == "joint"
    assert run("verify", out)[0] == 0
    for row, is_promised in (("row-counts", True), ("row", False)):
        guarantee = json.loads(run(*asked, row, "--dry-run", "--json")[1])["guarantee"]
        assert ("lowers none of them" in guarantee) == is_promised
    code, _, err = run(*asked, "row", "--cells", 2)
    assert (code, "cells" in err) == (2, True)
    assert run(*asked, "all")[0] == 2


def test_one_way_tables_are_of_people(run, files):
    """A table of columns is refused with what to add."""
    code, _, said = run("release", files[0], "--once", "one-way", "--epsilon", 1)
    assert code != 0
    assert "add --each-row" in said
