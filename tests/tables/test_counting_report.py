"""The report of a counting: right on every road, shown to the curator, and in nothing that is written."""

import copy
import datetime as dt
import json
import pickle
import re
import warnings
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from counting_words import contributions_with, counted_with
from running import with_recipe
from small_sizes import set_sizes
from spark import on, session
from utmost import Counting, count, distinct
from utmost import sum as total
from utmost.counting import count_table, read_counted
from utmost.errors import (
    BadTable,
    FewEventsKept,
    LeadingZerosRead,
    OutOfRange,
    RowsLeftOut,
    SimilarPersons,
    Unsupported,
)
from utmost.ledger import Ledger
from utmost.workloads import Domain, bins, plain

YEARS = Domain(year=bins(1970, 1983))
DATES = [dt.date(1970, 1, 1), dt.date(1975, 6, 1)]


@pytest.mark.parametrize("column", [pa.array([], pa.timestamp("ns")), np.array([], "M8[ns]"), pa.nulls(1, pa.date32())])
def test_a_type_is_refused_whatever_stands_in_the_column(column):
    users = pa.array(["a"] * len(column), pa.string())
    frames = [{"user": users, "year": column}]
    if isinstance(column, pa.Array):
        frames += [pa.table(frames[0]), pl.from_arrow(pa.table(frames[0])).lazy()]
    for events in frames:
        with pytest.raises(BadTable, match="dates or times"):
            count_table(events, YEARS, Counting("user", at_most=1))


@pytest.mark.parametrize("cell", [34, "34", 34.0, Decimal(34), np.float32(34), "34.0", None, "nan", float("inf")])
def test_numbers_of_every_type_and_their_text_are_read(cell):
    found = count_table({"user": ["a", "b"], "age": [34, cell]}, Domain(age=bins(99)), Counting("user", at_most=1))
    assert found.cells[34] == (1 if cell in (None, "nan", float("inf")) else 2)


def test_an_other_takes_in_text_and_no_dates():
    domain = Domain(age=bins(99, other="else"))
    assert count_table({"user": ["a"], "age": ["unknown"]}, domain, Counting("user", at_most=1)).cells[99] == 1
    with pytest.raises(BadTable):
        count_table({"user": ["a"], "age": DATES[:1]}, domain, Counting("user", at_most=1))


def test_a_category_that_no_event_has_is_not_refused():
    ages = pd.Categorical(["34", "34"], categories=["unknown", "34"])
    frame = pd.DataFrame({"user": ["a", "b"], "age": ages})
    assert count_table(frame, Domain(age=bins(99)), Counting("user", at_most=1)).cells[34] == 2


EVENTS = {
    "user": ["a", "a", "a", "a", "b", "b", "c", "d", "e"],
    "page": ["x", "x", "y", "z", "x", "UA", None, "y", "UA"],
    "age": [1, 1, 2, 3, 1, 2, 3, None, 99],
}
DOMAIN = Domain(page=["x", "y", "z"], age=bins(0, 10))
SAY = {"person": "user", "domain": DOMAIN, "at_most": 2}
REPORT = {
    "events": 9,
    "outside_domain": 4,
    "outside": {"page": 2, "age": 1},
    "missing_left_out": {"page": 1, "age": 1},
    "persons": 2,
    "clipped_sums": 1,
    "removed": 2,
    "removed_cells_of_persons": 1,
    "kept_of": "events",
    "counted": 5,
    "kept": 3,
    "percent_kept": 33,
}


def test_the_report_says_what_became_of_each_event():
    facts = counted_with(EVENTS, **SAY).report.facts()
    assert facts | REPORT == facts


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of Spark, about pandas
def test_the_report_of_spark_is_the_same():
    """Equal events are grouped there, and each group counts for as many as it holds."""
    events = {**EVENTS, "age": [str(age) if age else None for age in EVENTS["age"]]}
    facts = counted_with(on(session(), events), **SAY).report.facts()
    assert facts | REPORT == facts


def test_parts_have_the_report_of_all():
    events = {**EVENTS, "age": list("112313999")}
    say = {"person": "user", "domain": Domain(page=["x", "y"]), "at_most": 1}
    parts = counted_with(events, part={"age": ["1", "2"]}, **say)
    reports = [table.report for table in parts.values()]
    assert reports[0] == reports[1]
    assert (reports[0].events, list(reports[0].outside)) == (9, ["age", "page"])


@pytest.mark.parametrize(("codes", "seen"), [([1005, 1006], 2), (bins(1000, 1010), 3), (["01005", "01006"], 0)])
def test_a_zero_that_is_not_read_is_warned_about_and_counted_in_the_report(tmp_path, codes, seen):
    """In memory, from a file and from an engine; where 1005 is declared, its zeros are no number's."""
    cells = ["01005", "01005", "1006", "0", "00x", "1005"] + (["00042"] if seen == 3 else [])
    (tmp_path / "codes.csv").write_text("code\n" + "\n".join(cells) + "\n")
    tables = [{"code": cells}, tmp_path / "codes.csv"]
    for table in tables if seen != 3 else [{"code": [cell for cell in cells if cell != "00x"]}]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            counted = counted_with(table, domain=Domain(code=codes), each_row=True)
        told = [str(warning.message) for warning in caught if warning.category is LeadingZerosRead]
        assert counted.report.facts()["leading_zeros"] == {"code": seen}
        assert len(told) == bool(seen)
        assert all("'code'" in text and str(seen) not in text for text in told)
        assert ("leading zeros, code" in counted.report.rows) == bool(seen)


def test_persons_that_only_their_spelling_tells_apart_are_warned_of_and_never_merged(tmp_path, run, monkeypatch):
    """In memory, from a file, from a file that is spilled to the disk, and by the check of a domain."""
    some = ["000173", "173", " 000173", "Ann", "ann"]
    for others in (20, 12_000):
        if others > 20:
            set_sizes(monkeypatch, many_events=0, buckets=(5000, 2000, 1 << 24))
        persons = [*some, *(str(1_000_000 + number) for number in range(others))]
        path = tmp_path / f"{others}.csv"
        path.write_text("user,page\n" + "".join(f"{person},x\n" for person in persons))
        for table in [path] if others > 20 else [path, {"user": persons, "page": ["x"] * len(persons)}]:
            with pytest.warns(SimilarPersons, match="'user'.*leading zeros") as caught:
                report = counted_with(table, domain=Domain(page=["x"]), person="user", at_most=1).report
            assert (report.persons, report.similar_persons) == (others + 5, 5)
            assert not any("173" in str(warning.message) for warning in caught)
    (tmp_path / "d.json").write_text('{"page": ["x"]}')
    asked = ["domain", "check", tmp_path / "20.csv", "--domain", tmp_path / "d.json", "--person", "user"]
    assert json.loads(run(*asked, "--json")[1])["similar_persons"] == 5
    assert "5 persons whose identifiers differ only by" in " ".join(run(*asked)[1].split())


@pytest.mark.parametrize("persons", [["000173", "000174"], [173, 174], ["173", 173, "174"], ["a b", "ab"]])
def test_other_identifiers_are_no_similar_persons(persons):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        count_table({"user": persons, "page": ["x"] * len(persons)}, {"page": ["x"]}, Counting("user", at_most=1))


MANY = {"user": ["a"] * 6 + ["b"], "page": ["x", "y", "z", "x", "x", "x", "x"], "paid": [5, 5, 5, 5, 5, 5, 5]}


def test_events_outside_the_domain_are_warned_of_by_axis_and_without_numbers():
    """On every road; a release of 100 of 182 patients was made without a word, as the report is for a terminal."""
    for events in (EVENTS, pl.LazyFrame(EVENTS)):
        with pytest.warns(RowsLeftOut) as caught:
            counted_with(events, **SAY)
        (told,) = [str(warning.message) for warning in caught if issubclass(warning.category, RowsLeftOut)]
        assert "outside the declared domain on 'page', 'age'" in told, type(events)
        assert "no value on 'page', 'age'" in told
        assert not re.search("[0-9]", told)


@pytest.mark.filterwarnings("error")
def test_what_is_meant_to_go_is_not_warned_of():
    kept = counted_with(EVENTS, **SAY, outside="leave out")
    assert kept.report.facts() | REPORT == kept.report.facts()
    taken = {**SAY, "domain": Domain(page=plain(["x", "y", "z"], other="else"), age=bins(0, 10, other="else"))}
    assert counted_with(EVENTS, **taken).report.outside_domain == 0
    words = {"person": "user", "domain": DOMAIN}
    assert contributions_with(EVENTS, **words, at_most=[1, 2], outside="leave out").report.kept_of is None
    with pytest.warns(RowsLeftOut):
        contributions_with(EVENTS, **words, at_most=[1, 2])
    for other in ("drop", ""):
        with pytest.raises(OutOfRange, match='outside="leave out"'):
            counted_with(EVENTS, **SAY, outside=other)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("bounds", "share", "is_cut"),
    [
        ({"at_most": 3, "per_cell": 4}, "7 of 7 (100 %)", False),
        ({"at_most": 3, "per_cell": 2}, "5 of 7 (71.4 %)", False),
        ({"at_most": 3}, "4 of 7 (57.1 %)", False),
        ({"at_most": 1, "per_cell": 1}, "2 of 7 (28.5 %)", False),  # persons are counted: 2 of 4 of their cells
        ({"at_most": 1, "per_cell": 2, "by": "page"}, "of 7", True),
        ({"in_total": 2}, "3 of 7 (42.8 %)", True),
        ({"at_most": 3, "values": "paid", "each": (0, 5), "most_events": 2}, "5 of 7 (71.4 %)", False),
        ({"at_most": 3, "values": "paid", "per_cell": 20}, "100 % of what", False),
        ({"at_most": 3, "values": "paid", "per_cell": 3}, "34.2 % of what", True),
        ({"at_most": 1, "measures": {"n": count(), "paid": total("paid", per_cell=3)}}, "2 of 7 (28.5 %)", False),
        ({"at_most": 3, "measures": {"pages": distinct("page", of=["x", "y"], at_most=1)}}, "66.6 % of what", False),
    ],
)
def test_the_report_says_what_the_bounds_keep(bounds, share, is_cut):
    """`at_most=10, per_cell=3` kept 17 % of three million events without a word."""
    domain = Domain(page=["x", "y", "z"]) if "measures" not in bounds or "n" in bounds["measures"] else Domain(paid=[5])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = counted_with(MANY, person="user", domain=domain, key=bytes(32), **bounds)
    report = (next(iter(found.values())) if isinstance(found, dict) else found).report
    row = next(text for name, text in report.rows.items() if name.endswith(" kept"))
    assert share in row
    assert ("fewer than half" in row) == is_cut, "the report and the warning say the same"
    told = [str(warning.message) for warning in caught if warning.category is FewEventsKept]
    assert bool(told) == is_cut
    assert not any(re.search("[0-9]", text) for text in told)


def test_a_command_without_a_terminal_warns_on_standard_error(run, tmp_path):
    """Nothing of it is on standard output, and no number; `--leave-out outside` says that it is meant."""
    events, domain = tmp_path / "e.csv", tmp_path / "d.json"
    events.write_text("who,SEX\na,F\nb,M\nc,Undifferentiated\nd,\n")
    domain.write_text('{"SEX": ["F", "M"]}')
    said = ["count", events, "--person", "who", "--at-most", "1", "--domain", domain, "--out", "-", "--format", "csv"]
    code, out, err = run(*said)
    assert (code, out) == (0, "SEX,count\nF,1\nM,1\n")
    warned = [line for line in err.splitlines() if "warning" in line]
    assert "warning: Some events lie outside the declared domain on 'SEX' or have no value on 'SEX'" in warned[0]
    assert "--leave-out outside" in warned[0]
    assert not re.search("[0-9]", "".join(warned))
    assert (
        "utmost: not everything is counted, because of values of SEX outside the domain, missing values of SEX. " in err
    )
    assert not re.search("[0-9]", err)
    assert "warning" not in run(*said, "--leave-out", "outside")[2]
    asked = ["release", events, *said[2:8], "--epsilon", "1"]
    assert "--leave-out outside" in run(*asked)[2]
    code, _, err = run(*asked, "--leave-out", "outside")
    assert (code, "warning" in err) == (0, False)


def test_each_run_tells_the_curator_which_bounds_take_something(run, tmp_path):
    """A bound in all kept 62 % of 200 000 events without a word, in `release`, `--dry-run` and `count`."""
    events, domain, out = tmp_path / "e.csv", tmp_path / "d.json", tmp_path / "out.csv"
    events.write_text("who,page\n" + "a,x\n" * 5 + "b,y\n" * 2 + "b,x\n")
    domain.write_text('{"page": ["x", "y"]}')
    count = [events, "--person", "who", "--domain", domain, "--in-total", "3", "--at-most", "2"]
    asked = [*count, "--per-cell", "3", "--epsilon", "1"]
    both = "--per-cell or --in-total"
    for bounds, command in (
        ("--in-total", ["count", *count, "--out", out]),
        (both, ["release", *asked]),
        (both, ["release", *asked, "--dry-run"]),
    ):
        line = f"utmost: not everything is counted, because of {bounds}. `utmost count --report FILE` shows"
        code, shown, err = run(*with_recipe(*command))
        assert (code, line in err, "not everything" in shown) == (0, True, False), command
    assert "not everything" not in out.read_text()
    cut = run("release", events, *asked[1:5], "--at-most", "1", "--epsilon", "1")[2]
    assert "because of --at-most" in cut
    events.write_text("who,page\n" + "".join(f"a,{page}\n" for page in "xyz"))
    domain.write_text('{"page": ["x", "y", "z"]}')
    cut = run("release", events, *asked[1:5], "--at-most", "1", "--epsilon", "1")[2]
    lines = [line for line in cut.splitlines() if line.startswith("utmost: ")]
    assert [line.partition(". ")[0] for line in lines] == ["utmost: less than half is counted, because of --at-most"]
    assert "`utmost bounds`" in lines[0]


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ([], None),
        (["--by", "page"], None),
        (["--per-cell", "1"], "--per-cell"),
        (["--mean", "paid=0,9"], None),
        (["--values", "paid", "--per-cell", "3"], "--per-cell"),
        (["--values", "paid"], "--per-cell"),
        (["--values", "paid", "--each", "0,9", "--most-events", "1"], "--most-events"),
        (["--measures", "m.json"], "--measures"),
        (["--measures", "persons.json"], None),
    ],
)
def test_two_events_of_a_person_in_a_cell_are_a_loss_where_more_than_persons_is_counted(
    run, tmp_path, monkeypatch, options, cause
):
    """A count of persons loses nobody by them: it warned of options that nobody had typed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text("who,page,paid\na,x,2\na,x,2\nb,y,3\n")
    (tmp_path / "d.json").write_text('{"page": ["x", "y"]}')
    (tmp_path / "m.json").write_text('{"paid": {"values": "paid", "per_cell": 3}}')
    (tmp_path / "persons.json").write_text('{"persons": {}}')
    asked = ["count", "e.csv", "--person", "who", "--at-most", "1", "--domain", "d.json", "--out", "c.json"]
    code, _, err = run(*asked, *options)
    assert (code, re.findall(" is counted, because of (.*?)\\. ", err)) == (0, [cause] if cause else [])


def test_an_amount_that_a_mean_clips_is_named_by_the_mean(run, tmp_path):
    """`utmost release` has no --each."""
    events, domain, report = tmp_path / "e.csv", tmp_path / "d.json", tmp_path / "report.json"
    events.write_text("page,income,rent\nx,900,1\ny,5,3\n")
    domain.write_text('{"page": ["x", "y"]}')
    asked = [events, "--each-row", "--domain", domain]
    code, _, err = run("release", *asked, "--mean", "income=0,100", "--epsilon", 1)
    assert (code, "because of --mean income. " in err, re.search(r"--each\b(?!-)", err)) == (0, True, None)
    means = ["--mean", "income=0,1000", "--mean", "rent=0,2"]
    err = run("release", *asked, *means, "--epsilon", 1)[2]
    assert "rent: not everything is counted, because of --mean rent. " in err
    assert "income: not everything" not in err  # none of its amounts was clipped
    both = tmp_path / "both.json"
    assert run("count", *asked, "--by", "page", *means, "--report", both, "--out", tmp_path / "c.json")[0] == 0
    assert json.loads(both.read_text())["clipped_amounts"] == {"income": 0, "rent": 1}
    assert run("count", *asked, "--values", "income", "--each", "0,9", "--per-cell", 9, "--report", report)[0] == 0
    facts = json.loads(report.read_text())
    assert (facts["clipped_amounts"], facts["clipped_sums"], "clipped" in facts) == ({"income": 1}, 0, False)


def test_leave_out_nothing_ends_the_run_and_says_what_it_refuses(run, tmp_path):
    events, domain = tmp_path / "e.csv", tmp_path / "d.json"
    events.write_text("who,page\n" + "a,x\n" * 5)
    domain.write_text('{"page": ["x", "y"]}')
    asked = ["release", events, "--person", "who", "--domain", domain, "--at-most", "1", "--epsilon", "1"]
    code, out, err = run(*with_recipe(*asked, "--per-cell", "1", "--in-total", "1", "--leave-out", "nothing"))
    assert (code, out) == (1, "")
    assert "refuses events outside the domain, and bounds that keep less than half" in err
    events.write_text("who,page,paid\na,x,1\na,y,1\nb,x,2\n")
    code, _, err = run(*asked, "--mean", "paid=0,1", "--leave-out", "nothing")
    assert (code, "because of --at-most, --mean paid. " in err) == (0, True)  # less than half is only reported


TELLING = ("730412599135721", "689710440213377", "events read", "Confidential, for")


@pytest.fixture
def counted():
    """A table whose report has numbers that come up nowhere by chance."""
    counted = counted_with(EVENTS, **SAY)
    numbers = {"events": int(TELLING[0]), "outside_domain": int(TELLING[0]), "outside": {"page": int(TELLING[1])}}
    return replace(counted, report=replace(counted.report, **numbers))


def test_the_report_is_shown_and_marked(counted):
    for shown in (repr(counted), counted._repr_html_()):
        assert all(telling in shown for telling in TELLING)


def test_a_terminal_alone_is_shown_the_report(run, tmp_path, monkeypatch):
    pd.DataFrame(EVENTS).to_csv(tmp_path / "events.csv", index=False)
    (tmp_path / "domain.json").write_text(json.dumps(DOMAIN.facts()))
    asked = ["count", tmp_path / "events.csv", "--person", "user", "--at-most", 2, "--domain", tmp_path / "domain.json"]
    asked += ["--out", "-", "--format", "csv"]
    _, out, err = run(*asked)
    assert "events read" not in out + err
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    _, shown, err = run(*asked)
    assert len(shown) == len(out)
    assert all(telling in err for telling in TELLING[2:])


def test_a_terminal_alone_is_told_that_rows_repeat_persons(run, tmp_path, monkeypatch):
    """A column of names, of which two stand twice; a column without repeats, and a counted one, say nothing."""
    events, domain = tmp_path / "e.csv", tmp_path / "d.json"
    names = [*range(30), 0, 1]
    events.write_text("who,line,page\n" + "".join(f"p{who},{at},x\n" for at, who in enumerate(names)))
    domain.write_text('{"page": ["x"]}')
    asked = ["count", events, "--each-row", "--domain", domain, "--out", "-", "--format", "csv"]
    assert "repeat" not in run(*asked)[2]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    told = " ".join(run(*asked)[2].split())
    assert "who differs in nearly all rows, and 2 rows repeat" in told
    assert "--person who" in told
    assert told.count("Some persons may have several rows") == 1
    by_person = run("count", events, "--person", "who", "--at-most", 1, *asked[3:])
    assert (by_person[0], "repeat" in by_person[2]) == (0, False)


def test_nothing_that_is_written_has_the_report(counted, tmp_path, capsys):
    """Files, statements, the ledger with its answers, pickles and copies: none has a number of it, or its words."""
    counted.save(tmp_path / "counted.json")
    counted.save(tmp_path / "counted.csv")
    release = ut.release(counted, ut.Promise.of_counted(counted), epsilon=1, once=True)
    release.save(tmp_path / "release.csv")
    with Ledger.open(tmp_path / "l.db", create=True, key=bytes(32)) as ledger:
        ledger.publish("pages", counted, ut.Promise.of_counted(counted), epsilon=1, dataset="people")
    texts = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    texts += [pickle.dumps(counted), pickle.dumps(release), repr(release).encode(), release._repr_html_().encode()]
    texts += [json.dumps(counted.facts()).encode(), *map(str.encode, capsys.readouterr())]
    assert len(texts) > 8
    for text in texts:
        assert not any(telling.encode() in text for telling in TELLING)
    for again in (pickle.loads(pickle.dumps(counted)), copy.copy(counted), copy.deepcopy(counted)):
        assert again.report is None
        assert again.cells.tolist() == counted.cells.tolist()
        assert not again.cells.flags.writeable
    with pytest.raises(Unsupported, match=r"report\.facts\(\)"):
        pickle.dumps(counted.report)


def test_integers_beside_a_missing_cell_name_the_cause_and_the_cast():
    frame = pd.DataFrame({"user": ["a", "b"], "page": [7, None]})
    with pytest.raises(BadTable, match="nullable integer"):
        count_table(frame, Domain(page=[7]), Counting("user", at_most=1))


def test_a_counting_names_no_argument_that_it_has_not():
    events = {"user": ["a"], "page": ["x"], "amount": [1.5]}
    with pytest.raises(BadTable, match="step=") as caught:
        count_table(events, Domain(page=["x"]), Counting("user", at_most=1), measure=ut.sum("amount"))
    assert "numbers=" not in str(caught.value)


def test_a_job_reads_the_report_as_json(run, tmp_path):
    pd.DataFrame(EVENTS).to_csv(tmp_path / "events.csv", index=False)
    (tmp_path / "domain.json").write_text(json.dumps(DOMAIN.facts()))
    asked = ["count", tmp_path / "events.csv", "--person", "user", "--at-most", 2, "--domain", tmp_path / "domain.json"]
    path = tmp_path / "report.json"
    code, shown, err = run(*asked, "--out", tmp_path / "c.json", "--report", path)
    assert code == 0
    assert "events read" not in shown + err
    facts = json.loads(path.read_text())
    assert facts | REPORT == facts
    assert path.stat().st_mode & 0o077 == 0
    assert run(*asked, "--dry-run", "--report", path)[0] == 2  # no existing file is overwritten


def test_a_table_of_cells_has_no_report(run, tmp_path):
    (tmp_path / "cells.csv").write_text("page,n\nx,3\n")
    (tmp_path / "domain.json").write_text('{"page": ["x"]}')
    asked = ["count", tmp_path / "cells.csv", "--count-column", "n", "--at-most", 1]
    asked += ["--domain", tmp_path / "domain.json"]
    code, _, err = run(*asked, "--dry-run", "--report", tmp_path / "report.json")
    assert (code, "--report" in err) == (2, True)
    assert not (tmp_path / "report.json").exists()


def test_a_copy_and_a_file_say_of_themselves_what_the_table_says(tmp_path):
    table = ut.counting.CountedTable(
        ut.Domain(town=["A", "B"], column=["n", "m"]),
        [[1, 2], [3, 4]],
        ut.Unit(1, 2),
        part=("sex", "men"),
        together="column",
        measure="visits",
        individual="one household",
        proved=True,
    )
    assert all(said not in (None, False) for said in table.counted_facts().values())  # a new field is given above
    table.save(tmp_path / "c.json")
    for again in (pickle.loads(pickle.dumps(table)), copy.copy(table), read_counted(tmp_path / "c.json")):
        assert (again.counted_facts(), again.unit, again.facts()) == (table.counted_facts(), table.unit, table.facts())


@pytest.mark.parametrize("measure", [ut.count(), ut.mean("paid", each=(0, 9))])
def test_rows_of_a_person_that_count_as_one_are_no_loss(measure):
    """The report advised larger bounds where nobody was lost, and the warning said nothing."""
    events = {"who": ["a"] * 9, "page": ["x"] * 9, "paid": [1] * 9}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = ut.count_table(events, Domain(page=["x"]), ut.Counting("who", at_most=1), measure=measure).report
    assert report.rows["events kept"] == "1 of 9 (11.1 %); all events of a person in a cell count as one"


def test_persons_are_looked_at_beside_cells_that_cannot_be_read(tmp_path, run):
    """Rows and columns that the domain leaves out are in the column of persons; an empty cell is no person."""
    (tmp_path / "l.csv").write_text("card,age\n01,30\n1,old\n,40\n3,50\n")
    (tmp_path / "d.json").write_text('{"age": {"edges": [0, 35, 120]}}')
    asked = ["domain", "check", tmp_path / "l.csv", "--domain", tmp_path / "d.json", "--person", "card"]
    report = json.loads(run(*asked, "--json")[1])
    assert (report["similar_persons"], report["without_person"]) == (2, 1)
    assert "rows without a person" in run(*asked)[1]
