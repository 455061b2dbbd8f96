"""The daily job in one command: counts, sums and means of persons by group, saved, stated, verified and read."""

import csv
import datetime as dt
import json
import random
import shlex
import zipfile
from decimal import Decimal

import pytest

from running import new_ledger, with_recipe
from utmost.workloads import ages

REGIONS = ["01", "Köln", "nobody"]
GROUPS = ["0 to 64", "65+"]
DOMAIN = {"region": REGIONS, "age": {"ages": [0, 65, None], "on": "2025-01-01", "column": "birth_date"}}
SAY = ["--each-row", "--by", "region,age"]
MARKS = ["--missing-marks", "NA", "--leave-out", "amounts"]


def persons(rows, seed=1):
    """Persons as offices have them: leading zeros, Unicode, decimals, negative incomes and missing ones."""
    source = random.Random(seed)
    for row in range(rows):
        born = dt.date(1930, 1, 1) + dt.timedelta(days=source.randrange(34_000))
        income = "NA" if source.random() < 0.15 else f"{source.randrange(-200_000, 12_000_000) / 100:.2f}"
        yield {"id": row, "region": source.choice(REGIONS[:2]), "birth_date": born.isoformat(), "income": income}


def written(folder, rows):
    with (folder / "persons.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, ["id", "region", "birth_date", "income"])
        table.writeheader()
        table.writerows(rows)
    (folder / "domain.json").write_text(json.dumps(DOMAIN), encoding="utf-8")
    return folder / "persons.csv"


def truth(rows, low=Decimal(-500), high=Decimal(100_000)):
    """For each region and age group, the persons, those with an income, and the sum of incomes between the ends."""
    axis = ages("birth_date", [0, 65, None], on="2025-01-01").named("age")
    cells = {(region, group): [0, 0, Decimal(0)] for region in REGIONS for group in GROUPS}
    for row in rows:
        cell = cells[row["region"], GROUPS[axis.place(row["birth_date"])]]
        cell[0] += 1
        if row["income"] != "NA":
            cell[1] += 1
            cell[2] += min(max(Decimal(row["income"]), low), high)
    return cells


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["region"], row["age"]): row for row in csv.DictReader(file)}


def test_the_table_of_the_trade_is_one_command(run, tmp_path):
    """From a packed file; the other tests have plain ones."""
    rows, out, table = [*persons(250)], tmp_path / "table.csv", tmp_path / "persons.csv.zip"
    with zipfile.ZipFile(table, "w") as archive:
        archive.write(written(tmp_path, rows), "persons.csv")
    asked = ["release", table, *SAY, "--domain", tmp_path / "domain.json", "--mean", "income=-500,100000,0.01"]
    code, shown, err = run(*with_recipe(*asked, *MARKS, "--epsilon", 50, "--yes", "--out", out))
    assert (code, err.startswith("utmost: not everything is counted"), err.count("\n")) == (0, True, 1)
    assert all(name in shown for name in ("count", "income_count", "income_sum", "income_mean", "±"))
    cells, true = read(out), truth(rows)
    assert list(next(iter(cells.values()))) == [
        *("region", "age", "count", "count_margin", "income_count", "income_count_margin"),
        *("income_sum", "income_sum_margin", "income_mean", "income_mean_lower", "income_mean_upper"),
    ]
    assert cells.keys() == true.keys()
    for key, (count, stated, total) in true.items():
        row = cells[key]
        for name, number in (("count", count), ("income_count", stated), ("income_sum", total)):
            # Six margins of 95 % hold all but certainly.
            assert abs(float(row[name]) - float(number)) <= 6 * float(row[f"{name}_margin"]), (key, name)
        if stated > 5:
            assert float(row["income_mean"]) == pytest.approx(float(total / stated), abs=60_000 / stated)
            assert float(row["income_mean_lower"]) <= float(row["income_mean"]) <= float(row["income_mean_upper"])
    assert run("verify", out)[0] == 0
    code, shown, _ = run("read", out)
    assert code == 0
    code, shown, _ = run("total", out, "--where", "region=01", "--mean", "income", "--json")
    low, high = json.loads(shown)["interval"]
    of_region = [cell for (region, _), cell in true.items() if region == "01"]
    mean = float(sum(cell[2] for cell in of_region) / sum(cell[1] for cell in of_region))
    assert low - 500 <= mean <= high + 500
    text = out.read_text(encoding="utf-8")
    first = text.splitlines()[1]
    out.write_text(text.replace(first, first.replace(first.split(",")[2], "17")), encoding="utf-8")
    assert run("verify", out)[0] == 1


def test_counts_alone_and_persons_with_several_rows(run, tmp_path):
    rows = [*persons(200)]
    table = written(tmp_path, [*rows, *rows[:50]])
    asked = ["release", table, "--by", "region", "--domain", tmp_path / "domain.json", "--epsilon", 50, "--yes"]
    code, shown, _ = run(*with_recipe(*asked, "--each-row"))
    assert (code, shown.splitlines()[0]) == (0, "region,count,count_margin")
    more = ["--person", "id", "--at-most", 1, "--mean", "income=0,100000,0.01"]
    code, shown, _ = run(*with_recipe(*asked, *more, *MARKS))
    counts = [float(line.split(",")[1]) for line in shown.splitlines()[1:]]
    assert counts == pytest.approx([sum(row["region"] == region for row in rows) for region in REGIONS], abs=1)


def test_a_total_says_how_often_it_may_count_a_person(run, tmp_path):
    """Each person is in three cells, once in each: the total is three times the people."""
    rows = [{"id": row, "region": region} for row in range(50) for region in ("01", "010", "110")]
    (tmp_path / "persons.csv").write_text("id,region\n" + "".join(f"{row['id']},{row['region']}\n" for row in rows))
    (tmp_path / "domain.json").write_text('{"region": ["110", "01", "010"]}')
    asked = ["release", tmp_path / "persons.csv", "--person", "id", "--at-most", 3, "--domain"]
    asked += [tmp_path / "domain.json", "--epsilon", 1]
    table, plan = tmp_path / "table.csv", tmp_path / "plan.json"
    assert run(*asked, "--by", "region", "--out", table)[0] == 0
    assert run(*asked, "--want", "region", "--out", plan)[0] == 0
    for release in (table, plan):
        for command in ("total", "read"):
            shown = " ".join(run(command, release, "--where", "region=01,010,110")[1].split())
            assert shown.startswith("number of people (each up to 3 times), region=01,010,110: ")
    told = " ".join(run("total", plan, "--where", "region=10")[2].split())
    assert "Did you mean '010'?" in told, "'110' is as near, but another number"


def test_a_ledger_keeps_it_as_a_table_and_counts_it_again(run, tmp_path):
    words = [written(tmp_path, persons(50)), *SAY, "--domain", tmp_path / "domain.json", *MARKS]
    words += ["--mean", "income=0,100000,0.01"]
    kept = ["--ledger", new_ledger(tmp_path / "l.db"), "--name", "income"]
    first, second, third = (tmp_path / name for name in ("a.csv", "b.csv", "c.json"))
    assert run(*with_recipe("release", *words, *kept, "--epsilon", 1, "--out", first))[0] == 0
    again = run(*with_recipe("release", *words, *kept, "--epsilon", 2, "--out", second))
    assert again[0] == 1
    command = shlex.split(again[2].partition(": utmost ")[2])
    assert command[0] == "relax"
    assert run(*command)[0] == 0
    assert list(read(second)) == list(read(first))
    assert run("count", *words, "--out", tmp_path / "counted.json")[0] == 0
    assert run(*with_recipe("relax", tmp_path / "counted.json", *kept, "--epsilon", 3, "--out", third))[0] == 0
    assert run("view", *kept, "--epsilon", "1/2", "--out", tmp_path / "view.csv")[0] == 0
    for file in (first, second, third, tmp_path / "view.csv"):
        assert run("verify", file)[0] == 0
    higher = run(*with_recipe("release", *words, *kept, "--epsilon", "1/3", "--out", tmp_path / "d.csv"))
    assert shlex.split(higher[2].partition(": utmost ")[2])[0] == "view"


OTHERWISE = [
    ([], "got neither --person nor --each-row"),
    (["--each-row", "--by", "region,age"], "got --by region,age and no --mean"),
    (["--each-row", "--by", "region", "--mean", "income=0,100000,0.01"], "got --by region --mean"),
    (["--each-row", "--by", "region,age", "--mean", "income=0,9,0.01"], "--mean income=0,9,0.01"),
]


def test_a_file_that_is_counted_otherwise_is_told_the_options_of_its_release(run, tmp_path):
    mean = ["--by", "region,age", "--mean", "income=0,100000,0.01"]
    file, domain = written(tmp_path, persons(50)), ["--domain", tmp_path / "domain.json"]
    kept = ["--ledger", new_ledger(tmp_path / "l.db"), "--name", "income"]
    assert run(*with_recipe("release", file, *SAY, *domain, *MARKS, *mean[2:], *kept, "--epsilon", 1))[0] == 0
    again = ["relax", file, *kept, *MARKS[:2], "--epsilon", 2]
    for more, said in OTHERWISE:
        code, out, err = run(*with_recipe(*again, *more, *(domain + MARKS[2:] if more else MARKS[:0])))
        assert (code, out) == (2, "")
        assert f"with {shlex.join(mean)}" in err
        assert said in err
    assert run(*with_recipe(*again, "--each-row", *mean, *domain, *MARKS[2:]))[0] == 0


def test_a_table_of_zeros_is_refused_unless_rows_outside_are_meant_to_go(run, tmp_path):
    """The curator's files write 01 where the domain declares 1."""
    file, domain = written(tmp_path, persons(20)), tmp_path / "numbers.json"
    domain.write_text('{"region": [7, 8]}')
    asked = ["release", file, "--each-row", "--domain", domain, "--epsilon", 1, "--out", tmp_path / "t.csv"]
    code, _, err = run(*with_recipe(*asked))
    assert (code, (tmp_path / "t.csv").exists()) == (1, False)
    assert 'declare "01"' in err
    assert "--leave-out outside" in err
    assert run(*with_recipe(*asked, "--leave-out", "outside"))[0] == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--mean", "income=1,2,3,4"], "COLUMN=LOW,HIGH"),
        (["--mean", "wages=0,5"], "wages"),
        (["--mean", "income=0,5,0.01", "--cost", "squared"], "cost"),
        (["--mean", "income=0,5,0.01", "--once", "row"], "--once"),
    ],
)
def test_what_makes_no_table_is_refused_and_writes_nothing(run, tmp_path, more, said):
    asked = ["release", written(tmp_path, persons(20)), *SAY, "--domain", tmp_path / "domain.json"]
    leave = MARKS[:2] if "--leave-out" in more else MARKS
    code, shown, err = run(*with_recipe(*asked, *leave, *more, "--epsilon", 1, "--out", tmp_path / "t.csv"))
    assert code != 0
    assert shown == ""
    assert said in err
    assert not (tmp_path / "t.csv").exists()


def test_tables_have_means_and_say_which_are_left_out(run, tmp_path):
    whole, tables = tmp_path / "whole.json", tmp_path / "tables"
    asked = ["release", written(tmp_path, persons(300)), *SAY, "--domain", tmp_path / "domain.json", *MARKS]
    assert run(*with_recipe(*asked, "--mean", "income=0,100000,0.01", "--epsilon", 9, "--out", whole))[0] == 0
    code, shown, _ = run("total", whole, "--tables", tables, "--json")
    assert code == 0
    assert sorted(json.loads(shown)["left_out"]) == ["age", "region", "total"]
    header = (tables / "region-age.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.endswith("income_mean,income_mean_lower,income_mean_upper")
    assert run("verify", tables / "region-age.csv")[0] == 0
    code, shown, _ = run("total", whole, "--tables", tmp_path / "again")
    assert (code, "left out" in shown, "--plan" in shown) == (0, True, True)


def test_columns_that_were_not_counted_are_named_with_the_command_that_counts_them(run, tmp_path):
    words = [written(tmp_path, persons(50)), *SAY, "--domain", tmp_path / "domain.json", "--epsilon", 1]
    means = ["--mean", "income=0,100000,0.01", *MARKS]
    for number, more in enumerate((means, [])):
        out = tmp_path / f"{number}.csv"
        assert run(*with_recipe("release", *words, *more, "--out", out))[0] == 0
        for command in ("total", "read"):
            code, _, err = run(command, out, "--where", "sex=f")
            assert (code, "--by region,age,sex" in err) == (2, True)


def test_what_is_said_of_clipped_amounts_says_how_they_were_clipped(run, tmp_path):
    words = [written(tmp_path, persons(50)), *SAY, "--domain", tmp_path / "domain.json", *MARKS]
    out, clipped = tmp_path / "t.csv", "income above 20000 counts as 20000, below 0 as 0"
    code, shown, _ = run(
        *with_recipe("release", *words, "--mean", "income=0,20000,0.01", "--epsilon", 50, "--yes", "--out", out)
    )
    assert clipped in " ".join(shown.split())
    screens = [("total", out, "--mean", "income"), ("total", out, "--sum", "income"), ("read", out), ("verify", out)]
    for command in (*screens, ("statement", out)):
        code, shown, _ = run(*command)
        assert (code, clipped in " ".join(shown.split())) == (0, True), command
    assert clipped in json.loads((tmp_path / "t.csv.json").read_text())["guarantee"]


def test_missing_birth_dates_have_a_label_of_their_own_where_the_warning_says(run, tmp_path):
    rows = [*persons(40), {"id": 99, "region": "01", "birth_date": "", "income": "5"}]
    asked = ["release", written(tmp_path, rows), *SAY, "--domain", tmp_path / "domain.json", "--epsilon", 1]
    code, _, err = run(*with_recipe(*asked, "--dry-run"))
    assert (code, '"missing": "not stated"' in err) == (0, True)
    mended = {**DOMAIN, "age": {**DOMAIN["age"], "missing": "not stated"}}
    (tmp_path / "domain.json").write_text(json.dumps(mended), encoding="utf-8")
    code, shown, err = run(*with_recipe(*asked))
    assert (code, "not stated" in shown, "no value" in err) == (0, True, False)


def test_an_array_of_records_is_a_table(run, tmp_path):
    """It is counted, and its columns are released; a document in its place is told from it."""
    records, domain = tmp_path / "cars.json", tmp_path / "domain.json"
    records.write_text('[{"car": "a", "n": 1},\n {"car": "b", "n": 2}]')
    domain.write_text('{"car": ["a", "b"]}')
    count = ["--each-row", "--domain", domain]
    assert run("count", records, *count, "--out", "-", "--format", "csv")[1] == "car,count\na,1\nb,1\n"
    columns = ["--columns", "n", "--public", "car", "--sensitivity", 1, "--cells", 1, "--epsilon", 1]
    assert run(*with_recipe("release", records, *columns, "--out", tmp_path / "out.csv"))[0] == 0
    kept = ["--ledger", new_ledger(tmp_path / "l.db"), "--name", "cars"]
    assert run(*with_recipe("release", records, *columns, *kept))[0] == 0
    assert run(*with_recipe("relax", records, *kept, "--epsilon", 2))[0] == 0
    for text, said in (('{"a": 1}', "got an object"), ("[]", "got an empty array"), ('[{"a": 1}, 2]', "record 2")):
        records.write_text(text)
        code, _, err = run("count", records, *count, "--out", tmp_path / "c.json")
        assert (code, said in err) == (1, True)
