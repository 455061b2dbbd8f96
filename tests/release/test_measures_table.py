"""Several amounts of the same persons in one table: true values, margins, shares, statement, files and errors."""

import csv
import json
import math
import random
import re
from decimal import Decimal
from hashlib import sha256

import pytest

import utmost as ut
from running import new_ledger, with_recipe
from utmost.errors import BadTable, OutOfRange, UtmostError, WrongKind
from utmost.releases import MeasuresTable, release_measures

EACH_ROW = ut.Counting(each_row=True)
REGIONS = ["01", "Köln", "nobody"]
DOMAIN = {"region": REGIONS}
MEASURES = {
    "income": ut.mean("income", each=(-50, 1000), step="0.01", missing="leave out"),
    "rent": ut.mean("rent", each=(0, 90)),
}


def people(rows=300):
    source = random.Random(5)
    return {
        "region": [source.choice(REGIONS[:2]) for _ in range(rows)],
        "income": [None if source.random() < 0.2 else source.randrange(-9000, 120_000) / 100 for _ in range(rows)],
        "rent": [source.randrange(0, 120) for _ in range(rows)],
    }


PEOPLE = people()


def released(epsilon, measures=MEASURES, events=PEOPLE):
    return release_measures(ut.count_measures(events, DOMAIN, EACH_ROW, measures), epsilon=epsilon)


def truth(region):
    rows = [row for row in zip(*PEOPLE.values(), strict=True) if row[0] == region]
    incomes = [min(max(Decimal(str(row[1])), Decimal(-50)), Decimal(1000)) for row in rows if row[1] is not None]
    rents = [min(row[2], 90) for row in rows]
    return {
        "count": len(rows),
        "income_count": len(incomes),
        "income_sum": float(sum(incomes)),
        "rent_sum": float(sum(rents)),
    }


def test_every_cell_is_that_of_the_people():
    table = released(4000).table
    names = "region count count_margin income_count income_count_margin income_sum income_sum_margin income_mean"
    names += " income_mean_lower income_mean_upper rent_sum rent_sum_margin rent_mean rent_mean_lower rent_mean_upper"
    assert list(table) == names.split()
    for row, region in enumerate(REGIONS):
        for name, number in truth(region).items():
            assert float(table[name][row]) == pytest.approx(number, abs=8), (region, name)
    assert table["rent_mean"][0] == pytest.approx(truth("01")["rent_sum"] / truth("01")["count"], rel=1e-2)


def test_no_amount_is_worse_than_by_an_equal_split_and_counts_are_better():
    measures = released("1/2")
    assert measures.level == ut.level("1/2")
    assert {release.level for release in measures.releases.values()} == {ut.level("1/4")}
    alone = {name: release.total().margin for name, release in measures.releases.items()}
    assert max(measures.table["count_margin"]) < min(
        release.total({"region": "01"}).margin for release in measures.releases.values()
    )
    assert min(alone.values()) > 0


def test_the_margin_of_counts_is_that_of_the_mean_of_independent_counts():
    """Each count is (S + S') / width with two noises of its scale; the mean of both counts has a quarter of their
    variances."""
    measures = released(1, {name: ut.mean(name, each=(0, 90)) for name in ("rent",)} | {"income": MEASURES["income"]})
    alpha = [math.exp(-1 / 2 / 90), math.exp(-1 / 2 / 105_000)]
    variances = [2 * one / (1 - one) ** 2 for one in alpha]
    stated = math.sqrt((2 * variances[0] / 90**2 + 3 * variances[1] / 105_000**2) / 4)
    assert 1.6 * stated < measures.table["count_margin"][0] < 2.4 * stated


def test_it_is_saved_stated_verified_and_read(run, tmp_path):
    measures, path = released(1), tmp_path / "table.csv"
    statement = measures.save(path)
    assert (statement["shares"], statement["epsilon"]) == ({"income": "1/2", "rent": "1/2"}, "1")
    assert run("verify", path)[0] == 0
    again = ut.read_release(path)
    assert isinstance(again, MeasuresTable)
    assert again.table == measures.table
    code, shown, _ = run("read", path)
    assert (code, "rent" in shown, "±" in shown) == (0, True, True)
    assert run("total", path, "--where", "region=01", "--mean", "rent")[0] == 0
    code, _, err = run("total", path, "--sum", "tax")
    assert (code, "--sum income or --sum rent" in err) == (2, True)
    assert run("statement", path, "--out", tmp_path / "entry.yaml")[0] == 0
    text, facts = path.read_text(encoding="utf-8"), json.loads((tmp_path / "table.csv.json").read_text())
    path.write_text(text.replace(str(measures.table["rent_sum"][0]), "17"), encoding="utf-8")
    assert run("verify", path)[0] == 1
    forged = {**facts["table"], "sha256": sha256(path.read_bytes()).hexdigest()}
    (tmp_path / "table.csv.json").write_text(json.dumps(facts | {"table": forged}))
    assert run("verify", path)[0] == 1  # a cell that no release makes, though the digest is that of the file
    path.write_text(text, encoding="utf-8")
    for change in (
        {"shares": {"income": "1/3", "rent": "2/3"}},
        {"epsilon": "1/2"},
        {"guarantee": "none"},
        {"releases": {"income": facts["releases"]["income"]}},
        {"releases": {"income": facts["releases"]["income"], "rent": facts["releases"]["income"]}},
        {"releases": []},
        {"more": 1},
    ):
        (tmp_path / "table.csv.json").write_text(json.dumps(facts | change))
        with pytest.raises(BadTable):
            ut.read_release(path)


def test_one_command_releases_them(run, tmp_path):
    with (tmp_path / "p.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(PEOPLE)
        rows.writerows(["NA" if cell is None else cell for cell in row] for row in zip(*PEOPLE.values(), strict=True))
    (tmp_path / "d.json").write_text(json.dumps(DOMAIN))
    asked = ["release", tmp_path / "p.csv", "--each-row", "--domain", tmp_path / "d.json", "--epsilon", 4000, "--yes"]
    asked += ["--leave-out", "amounts", "--missing-marks", "NA"]
    means = ["--mean", "income=-50,1000,0.01", "--mean", "rent=0,90"]
    out = tmp_path / "t.csv"
    code, shown, _ = run(*with_recipe(*asked, *means, "--out", out))
    assert (code, "rent" in shown) == (0, True)
    assert run("verify", out)[0] == 0
    with out.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for name, number in truth(row["region"]).items():
                assert float(row[name]) == pytest.approx(number, abs=8)
    assert run(*with_recipe(*asked, *means))[1].splitlines()[0] == out.read_text(encoding="utf-8").splitlines()[0]
    assert {"statement", "table"} <= json.loads(run(*with_recipe(*asked, *means, "--json"))[1]).keys()
    for more in (
        ["--mean", "rent=0,5"],
        ["--cost", "squared"],
        ["--columns", "rent"],
        ["--ledger", new_ledger(tmp_path / "l.db")],
        ["--name", "x"],
    ):
        code, shown, _ = run(*with_recipe(*asked, *means, *more, "--out", tmp_path / "x.csv"))
        assert (code, shown) == (2, ""), more
        assert not (tmp_path / "x.csv").exists()
    code, shown, _ = run(*with_recipe(*asked, *means, "--dry-run", "--out", tmp_path / "x.csv"))
    assert (code, "rent_mean ± at most about" in " ".join(shown.split())) == (0, True)
    counted = ["count", *asked[1:5], *asked[8:], *means, "--out", tmp_path / "c.json"]
    assert run(*counted)[0] == 0
    assert {path.name for path in tmp_path.glob("c*.json")} == {"c-income.json", "c-rent.json"}


def tables(measures):
    return ut.count_measures(PEOPLE, DOMAIN, EACH_ROW, measures)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: release_measures({}, epsilon=1), OutOfRange),
        (lambda: release_measures({"a": 1}, epsilon=1), WrongKind),
        (lambda: release_measures(tables({"visits": ut.count()}), epsilon=1), OutOfRange),
        (lambda: release_measures({"rent": tables(MEASURES)["income"]}, epsilon=1), OutOfRange),
        (lambda: MeasuresTable({}), OutOfRange),
        (lambda: MeasuresTable({"a": 1}), WrongKind),
        (lambda: MeasuresTable(dict(released(1).releases) | {"rent": released(2).releases["rent"]}), OutOfRange),
    ],
)
def test_what_makes_no_table_is_refused(make, error):
    with pytest.raises(UtmostError) as refused:
        make()
    assert type(refused.value) is error


def test_people_are_counted_and_shared_by_default_and_amounts_where_they_are_named(run, tmp_path):
    measures, path = released(4000), tmp_path / "table.csv"
    measures.save(path)
    people, incomes = truth("01"), truth("Köln")
    share = people["count"] / (people["count"] + incomes["count"])
    assert measures.total({"region": "01"}).value == pytest.approx(people["count"], abs=0.1)
    assert measures.difference({"region": "01"}, {"region": "Köln"}).value == pytest.approx(
        people["count"] - incomes["count"], abs=0.2
    )
    assert measures.ratio({"region": "01"}).estimate == pytest.approx(share, abs=1e-3)
    of_rent = people["rent_sum"] / (people["rent_sum"] + incomes["rent_sum"])
    measures.releases["rent"].save(tmp_path / "rent.json")
    asked = {
        ("total", path): ("number of people", people["count"]),
        ("total", path, "--ratio"): ("number of people", share),
        ("total", path, "--sum", "income"): ("sum of income", people["income_sum"]),
        ("total", tmp_path / "rent.json"): ("number of people", people["count"]),
        ("total", tmp_path / "rent.json", "--ratio"): ("number of people", share),
        ("total", tmp_path / "rent.json", "--ratio", "--sum", "rent"): ("sum of rent", of_rent),
        ("read", path): ("number of people", people["count"]),
        ("read", path, "--over", "all"): ("number of people", share),
    }
    for command, (quantity, value) in asked.items():
        code, shown, _ = run(*command, "--where", "region=01", "--json")
        assert (code, json.loads(shown)["value"]) == (0, pytest.approx(value, rel=1e-2)), command
        if command[1] == path and command[0] == "read":
            code, shown, _ = run(*command, "--where", "region=01")
            assert (code, quantity in shown) == (0, True), command
    code, shown, _ = run("read", path, "--where", "region=01", "--minus", "region=Köln", "--json")
    assert json.loads(shown)["value"] == pytest.approx(people["count"] - incomes["count"], abs=0.2)


def test_the_count_of_a_group_has_the_margin_of_its_cell():
    measures = released(1)
    assert measures.total({"region": "01"}).margin == measures.table["count_margin"][0]


def test_a_remedy_for_each_refusal_of_several_means(run, tmp_path):
    path, domain = tmp_path / "people.csv", tmp_path / "domain.json"
    path.write_text("region,income,rent\n" + "01,10,5\n02,20,7\n" * 20, encoding="utf-8")
    domain.write_text('{"region": ["01", "02"]}', encoding="utf-8")
    say = ["--each-row", "--domain", domain]
    means = ["--mean", "income=0,100", "--mean", "rent=0,20"]
    code, _, err = run("release", path, *say, *means, "--want", "region", "--epsilon", 1, "--dry-run")
    assert (code, "Leave out --want" in err, "--each-row" in err) == (2, True, False)
    out, ledger = tmp_path / "t.csv", ["--ledger", new_ledger(tmp_path / "r.db"), "--name", "pay"]
    assert run("release", path, *say, *means, "--epsilon", 1, *ledger, "--out", out)[0] == 0
    code, _, err = run("clean", out)
    assert (code, '--want "region' in err, "without --mean" in err) == (2, True, True)
    whole = tmp_path / "counts.json"
    assert run("release", path, *say, "--want", "region", "--epsilon", 1, "--out", whole)[0] == 0
    assert run("clean", whole)[0] == 0
    code, _, err = run("relax", path, *ledger, "--epsilon", 2)
    assert (code, "--recipe" in err, "--mean income, --mean rent" in err) == (2, True, True)
    assert run("relax", path, *say, *means, *ledger, "--epsilon", 2)[0] == 0


def test_empty_means_are_explained_and_their_number_is_for_a_terminal(run, tmp_path, monkeypatch):
    path, domain = tmp_path / "people.csv", tmp_path / "domain.json"
    path.write_text("region,income,rent\n" + "01,10,5\n02,20,7\n" * 20, encoding="utf-8")
    domain.write_text('{"region": ["01", "02", "03"]}', encoding="utf-8")
    asked = ["release", path, "--each-row", "--domain", domain, "--epsilon", "1/1000"]
    for means in (["--mean", "income=0,100"], ["--mean", "income=0,100", "--mean", "rent=0,20"]):
        shown = " ".join(run(*asked, *means, "--out", tmp_path / f"{len(means)}.csv")[1].split())
        assert "not determined some means are empty: the count of people is smaller than its margin" in shown
        with monkeypatch.context() as patched:
            patched.setenv("FORCE_COLOR", "1")
            shown = " ".join(run(*asked, *means, "--out", tmp_path / f"{len(means)}t.csv")[1].split())
        assert re.search(rf"\b\d of {3 * len(means) // 2} means are empty", shown)
    shown = run(*asked[:-1], 40, "--yes", "--mean", "income=0,100", "--by", "region", "--out", tmp_path / "x.csv")[1]
    assert "means are empty" in shown  # region 03 has nobody


def test_a_list_with_empty_values_is_told_how_to_name_them(run, tmp_path):
    path, domain = tmp_path / "people.csv", tmp_path / "domain.json"
    path.write_text('work\nyes\nno\n""\n', encoding="utf-8")
    for values in (["yes", "no", ""], ["yes", "no", None], {"values": ["yes", "no", None]}):
        domain.write_text(json.dumps({"work": values}), encoding="utf-8")
        code, _, err = run("release", path, "--each-row", "--domain", domain, "--epsilon", 1, "--dry-run")
        mended = '{"values": ["yes", "no"], "missing": "not stated"}'
        assert (code, mended in " ".join(err.split())) == (2, True)
    domain.write_text(f'{{"work": {mended}}}', encoding="utf-8")
    assert run("release", path, "--each-row", "--domain", domain, "--epsilon", 1, "--dry-run")[0] == 0
