"""What real files have: sheets, no header, quotes in names, zones, marks of missing cells, several problems at once."""

import bz2
import gzip
import json
import lzma
import re
from pathlib import Path

import pytest

import utmost as ut
from utmost.errors import BadTable, OutOfRange, Unsupported

EACH = ut.Counting(each_row=True)
SEX = {"sex": ["m", "f"]}


def workbook(path, **sheets):
    book = pytest.importorskip("openpyxl").Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name.replace("_", " "))
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


@pytest.fixture
def asked(tmp_path):
    (tmp_path / "d.json").write_text(json.dumps(SEX))
    return ["--each-row", "--domain", tmp_path / "d.json"]


def test_a_sheet_is_named_behind_its_workbook(run, asked, tmp_path):
    book = workbook(tmp_path / "b.xlsx", Notes=[["read me"]], May_2020=[["sex"], ["m"], ["f"], ["f"]])
    assert ut.count_table(Path(f"{book}#May 2020"), SEX, EACH).cells.tolist() == [1, 2]
    code, _, err = run("release", book, *asked, "--epsilon", 1)
    assert (code, "The sheets are Notes, May 2020" in err) == (1, True)
    assert f'"{book}#Notes"' in err
    assert "The sheets are Notes, May 2020" in run("release", f"{book}#June", *asked, "--epsilon", 1)[2]
    assert "which does not exist" in run("release", tmp_path / "c.xlsx#May 2020", *asked, "--epsilon", 1)[2]
    for command in (["count"], ["release", "--epsilon", 1], ["domain", "check"]):
        only = asked if command[0] != "domain" else asked[1:]
        assert run(*command, f"{book}#May 2020", *only)[0] == 0, command
    (tmp_path / "b.xlsx#May 2020").write_text("sex\nm\n")  # a file of this very name is not a sheet
    with pytest.raises(Unsupported, match="must end in"):
        ut.count_table(tmp_path / "b.xlsx#May 2020", SEX, EACH)


def test_a_workbook_with_a_wrong_size_is_read_whole(tmp_path):
    from zipfile import ZipFile

    whole = workbook(tmp_path / "b.xlsx", Sheet=[["n", "sex"], [1, "m"], [2, "f"]])
    with ZipFile(whole) as read, ZipFile(tmp_path / "c.xlsx", "w") as written:
        for name in read.namelist():
            written.writestr(name, re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1"', read.read(name)))
    assert ut.count_table(tmp_path / "c.xlsx", SEX, EACH).cells.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("start", "end", "separator"),
    [(b"", b"\n", b","), (b"\xef\xbb\xbf", b"\r\n", b";"), (b"", b"\r\n", b"\t"), (b"\xef\xbb\xbf", b"\n", b",")],
)
def test_a_file_without_a_header_has_declared_names(run, asked, tmp_path, start, end, separator):
    text = start + b"".join(separator.join(row) + end for row in ([b"m", b"1"], [b"f", b"2"], [b"f", b"3"]))
    (tmp_path / "t.csv").write_bytes(text)
    out = tmp_path / "c.json"
    if separator != b",":  # no row decides the separator of all others
        code, _, err = run("count", tmp_path / "t.csv", *asked, "--header", "sex,n")
        assert (code, "name the separator with --separator" in err) == (1, True), err
        asked += ["--separator", separator.decode()]
    assert run("count", tmp_path / "t.csv", *asked, "--header", "sex,n", "--out", out)[0] == 0
    assert json.loads(out.read_text())["cells"] == [1, 2]
    code, _, err = run("count", tmp_path / "t.csv", *asked, "--header", "sex,n,more")
    assert (code, "every row must have 3 cells; got 2 cells" in err, "line 1" in err) == (1, True, True)


def test_the_first_row_of_a_file_without_a_header_does_not_decide_the_separator(run, asked, tmp_path):
    """The commas of decimals in the other rows make two cells of each of them, so no row would be refused."""
    rows, seen = [f"{n},5;m\n" for n in range(9)], []
    for first in ("", "7;f\n"):
        (tmp_path / "t.csv").write_text("".join([first, *rows]))
        told = [*asked, "--header", "n,sex", "--leave-out", "outside"]
        seen.append(run("count", tmp_path / "t.csv", *told, "--out", tmp_path / f"guess{len(seen)}.json")[0])
        out = tmp_path / f"{len(seen)}.json"
        assert run("count", tmp_path / "t.csv", *told, "--separator", ";", "--out", out)[0] == 0
        assert json.loads(out.read_text())["cells"] == [9, len(seen) - 1]
    assert seen == [0, 1]  # 9 rows outside the domain, and a refusal


def test_a_header_is_declared_only_where_there_is_none(run, asked, tmp_path):
    (tmp_path / "t.csv").write_text("sex,n\nm,1\n")
    assert "must have no header" in run("count", tmp_path / "t.csv", *asked, "--header", "sex,n")[2]
    (tmp_path / "t.jsonl").write_text('{"sex": "m"}\n')
    code, _, err = run("count", tmp_path / "t.jsonl", *asked, "--header", "sex")
    assert (code, "--header is only for text files" in err) == (2, True)


def test_a_table_that_was_counted_elsewhere_may_have_no_header(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,10\nb,20\n")
    asked = ["release", tmp_path / "t.csv", "--columns", "n", "--public", "g", "--sensitivity", 1, "--cells", 1]
    assert "by --header" in run(*asked, "--epsilon", 1)[2]
    assert run(*asked, "--epsilon", 1, "--header", "g,n", "--out", tmp_path / "o.csv")[0] == 0
    lines = (tmp_path / "o.csv").read_text().splitlines()
    assert (lines[0], [line[:2] for line in lines[1:]]) == ("g,n,n_margin", ["a,", "b,"])


def test_a_recipe_names_the_columns(run, tmp_path):
    (tmp_path / "t.csv").write_text("m,1\nf,2\n")
    (tmp_path / "r.toml").write_text(
        'header = ["sex", "n"]\neach-row = true\nepsilon = 1\n[domain]\nsex = ["m", "f"]\n'
    )
    assert run("release", tmp_path / "t.csv", "--recipe", tmp_path / "r.toml")[0] == 0


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
def test_compressed_text_is_read(ending, pack, tmp_path):
    path = tmp_path / f"t.csv{ending}"
    path.write_bytes(pack.compress(b"sex\nm\nf\nf\n"))
    assert ut.count_table(path, SEX, EACH).cells.tolist() == [1, 2]
    for damaged in (path.read_bytes()[:20], b"no such file"):
        path.write_bytes(damaged)
        with pytest.raises(BadTable, match="well formed"):
            ut.count_table(path, SEX, EACH)


def test_names_need_not_repeat_the_quotes_of_the_file(tmp_path):
    (tmp_path / "t.csv").write_text("'sex','n'\nm,1\nf,2\n")
    for name in ("sex", "'sex'"):
        assert ut.count_table(tmp_path / "t.csv", {name: ["m", "f"]}, EACH).cells.tolist() == [1, 1]
    assert ut.count_table(tmp_path / "t.csv", SEX, EACH, measure=ut.sum("n", per_cell=5)).cells.tolist() == [1, 2]
    (tmp_path / "t.csv").write_text("'sex',`sex`\nm,f\n")
    with pytest.raises(BadTable, match="no column"):
        ut.count_table(tmp_path / "t.csv", SEX, EACH)


def months(zone=None, pattern=None):
    return ut.workloads.periods("2012-12", "2013-03", every="month", zone=zone, spelling=ut.Spelling(pattern=pattern))


UTC = ["2013-01-01T03:00:00Z", "2013-01-31T23:30:00-0500", "2013-02-01T06:00:00+01:00"]


def test_a_pattern_reads_zones():
    new_york = ut.Domain(time=months("America/New_York", "%Y-%m-%dT%H:%M:%S%z"))
    assert ut.count_table({"time": UTC}, new_york, EACH).cells.tolist() == [1, 1, 1]
    london = ut.Domain(time=months("UTC", "%a, %d %b %Y %H:%M:%S %z"))
    mail = {"time": ["Tue, 01 Jan 2013 00:30:00 +0100", "Fri, 01 Feb 2013 10:00:00 GMT"]}
    assert ut.count_table(mail, london, EACH).cells.tolist() == [1, 0, 1]
    plain = ut.Domain(time=months("America/New_York"))
    assert ut.count_table({"time": UTC[:1] + UTC[2:]}, plain, EACH).cells.tolist() == [1, 0, 1]


@pytest.mark.parametrize("pattern", ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M UTC"])
@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_a_zone_in_the_letters_of_a_pattern_is_refused(pattern, zone):
    with pytest.raises(OutOfRange, match="Write %z"):
        months(zone, pattern)


def test_a_pattern_with_a_zone_needs_one():
    with pytest.raises(OutOfRange, match='zone="America/New_York"'):
        months(None, "%Y-%m-%dT%H:%M:%S%z")
    table = ut.Spelling(pattern="%Y-%m-%dT%H:%M:%S%z")
    with pytest.raises(OutOfRange, match="zone"):
        ut.count_table({"time": UTC}, ut.Domain(time=months()), EACH, spelling=table)


def test_the_remedy_for_a_time_with_a_zone_mends_the_domain(run, tmp_path):
    (tmp_path / "t.csv").write_text("time\n2013-01-01T03:00:00Z\n")
    (tmp_path / "d.json").write_text('{"time": {"months": ["2012-12", "2013-03"]}}')
    asked = ["count", tmp_path / "t.csv", "--each-row", "--domain", tmp_path / "d.json", "--out", tmp_path / "c.json"]
    zone = re.search(r'"zone": "[^"]*"', run(*asked)[2])
    (tmp_path / "d.json").write_text(f'{{"time": {{"months": ["2012-12", "2013-03"], {zone[0]}}}}}')
    assert run(*asked)[0] == 0
    assert json.loads((tmp_path / "c.json").read_text())["cells"] == [1, 0, 0]


def mended(run, asked):
    """Apply the options that a refusal names, until the command succeeds; the number of runs."""
    for runs in range(1, 4):
        code, _, err = run(*asked)
        if code == 0:
            return runs
        for mark in re.findall(r'--missing-marks "?([\w.*?]+?)"?\. ', err):
            asked += ["--missing-marks", mark]
        for column, ends in re.findall(r"write --mean (\w+)=([\d,.]+\d)", err):
            at = next(place for place, word in enumerate(asked) if str(word).startswith(f"{column}="))
            asked[at] = f"{column}={ends}"
        if "--leave-out amounts" in err:
            asked += ["--leave-out", "amounts"]
    raise AssertionError(err)


@pytest.mark.filterwarnings("ignore")
def test_one_refusal_names_every_problem_of_a_file(run, tmp_path):
    (tmp_path / "t.csv").write_text("sex,x,y,n\nm,1,1,1\nf,nil,1.5,?\nf,2.5,,2\nm,..,NA,3\n")
    (tmp_path / "d.json").write_text('{"sex": ["m", "f"], "n": {"edges": [0, 2, 4], "missing": "none"}}')
    asked = ["release", tmp_path / "t.csv", "--each-row", "--domain", tmp_path / "d.json", "--epsilon", 1]
    asked += ["--mean", "x=0,500", "--mean", "y=0,20", "--out", tmp_path / "o.csv"]
    err = run(*asked)[2]
    assert all(f"column {name!r}" in err for name in "nxy")
    assert [mark for mark in ("nil", "..", "NA", "?") if f'"{mark}", which' in err] == ["nil", "..", "NA", "?"]
    assert "--mean x=0,500,0.01" in err
    assert "--mean y=0,20,0.01" in err
    assert mended(run, asked) == 2
    with pytest.raises(BadTable) as refused:
        ut.count_table(tmp_path / "t.csv", SEX, EACH, measure=ut.mean("x", each=(0, 5)))
    assert len(refused.value.__notes__) == 2


def test_a_mark_is_named_and_no_other_text(run, asked, tmp_path):
    (tmp_path / "t.csv").write_text("sex,x\nm,1\nf,nil\n")
    more = ["--epsilon", 1, "--mean", "x=0,5", "--missing-marks", "NA"]
    err = run("release", tmp_path / "t.csv", *asked, *more)[2]
    assert '"nil", which often marks' in err
    assert "in addition to the declared ones: --missing-marks nil" in err
    code, _, err = run("release", tmp_path / "t.csv", *asked, *more, "--missing-marks", "nil", "--leave-out", "amounts")
    assert code == 0, err
    (tmp_path / "t.csv").write_text("sex,x\nm,1\nf,refused by Ann\n")
    err = run("release", tmp_path / "t.csv", *asked, *more)[2]
    assert "If it marks a missing cell, declare it, for example --missing-marks NA." in err
    assert "Ann" not in err


def test_leading_zeros_are_named_for_the_axis_where_nothing_is_declared(run, tmp_path):
    (tmp_path / "t.csv").write_text("place,type\n030001,1\n030002,2\n")
    (tmp_path / "d.json").write_text('{"place": ["30001", "30002"], "type": [1, 2, 3]}')
    err = run("release", tmp_path / "t.csv", "--each-row", "--domain", tmp_path / "d.json", "--epsilon", 1)[2]
    assert "declared for 'place'" in err
    assert "'type'" not in err


def test_years_of_birth_give_the_age_reached_in_a_year():
    born = {"born": [1996, "1997", 1950]}
    with pytest.raises(BadTable, match='"2016-12-31"'):
        ut.count_table(born, ut.Domain(age=ut.workloads.ages("born", [0, 20, 65, None], on="2016-07-01")), EACH)
    age = ut.workloads.ages("born", [0, 20, 65, None], on="2016-12-31")
    assert ut.count_table(born, ut.Domain(age=age), EACH).cells.tolist() == [1, 1, 1]


@pytest.mark.parametrize("way", ["table", "plan", "ledger"])
def test_a_rule_that_is_not_met_is_warned_about(run, tmp_path, way):
    (tmp_path / "t.csv").write_text("sex\nm\nf\n")
    (tmp_path / "d.json").write_text(json.dumps(SEX))
    asked = ["release", tmp_path / "t.csv", "--each-row", "--domain", tmp_path / "d.json", "--epsilon", "1/100"]
    asked += ["--want", "sex", "--out", tmp_path / "o.json"] if way == "plan" else ["--out", tmp_path / "o.csv"]
    if way == "ledger":
        assert run("ledger", "create", tmp_path / "l.db")[0] == 0
        asked += ["--ledger", tmp_path / "l.db", "--name", "n"]
    code, _, err = run(*asked, "--until", "1 %")
    assert (code, "The rule was not met at the last level, epsilon = 0.01" in err) == (0, True), err
    written = json.loads((tmp_path / ("o.json" if way == "plan" else "o.csv.json")).read_text())
    assert '"met": false' in json.dumps(written)
