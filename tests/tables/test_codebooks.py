"""Domains proposed from codebooks of every kind, and the check of a domain against a file; both by command."""

import json
import tracemalloc

import pytest

import utmost as ut

ROWS = "Variable,Code,Label\nsex,1,Men\n,2,Women\nregion,01,North\nregion,02,South\n"
ROWS += "age,0-120,Age in years\nage,-1,refused\nband,0-4,\nband,5-9,\nnote,,\n"
REDCAP = 'Variable / Field Name,"Choices, Calculations, OR Slider Labels",Text Validation Min,Text Validation Max\n'
REDCAP += 'sex,"1, Male | 2, Female",,\ndose,,0.5,7.25\nlevel,,-3,16\nstate,1=Alive,,\n'
SCHEMA = {
    "fields": [
        {"name": "sex", "constraints": {"enum": ["m", "w"]}},
        {"name": "age", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "ok", "type": "boolean"},
        {"name": "kind", "categories": [{"value": 1, "label": "a"}, {"value": 3, "label": "b"}]},
        {"name": "text", "type": "string"},
        {"name": "years", "categories": [{"value": "0-120"}, {"value": -1, "label": "refused"}]},
    ]
}
DDI = """<?xml version="1.0"?><codeBook xmlns="ddi:codebook:2_5"><dataDscr>
<var name="V1"><catgry><catValu>1</catValu><labl>yes</labl></catgry>
<catgry missing="Y"><catValu>-9</catValu><labl>none</labl></catgry></var>
<var name="V2"><valrng><range min="0" max="1000"/></valrng>
<catgry missing="Y"><catValu>9999</catValu><labl>not answered</labl></catgry></var></dataDscr></codeBook>"""
AGE = {"edges": [*range(0, 121, 10), 121], "whole": True, "missing": "missing", "missing_marks": ["-1"]}
BOOKS = {
    "rows.csv": (ROWS, {"sex": [1, 2], "region": ["01", "02"], "age": AGE, "band": ["0-4", "5-9"]}),
    "redcap.csv": (
        REDCAP,
        {
            "sex": [1, 2],
            "dose": {"bins": [0, 8], "width": 1, "fanout": 2},
            "level": {"edges": list(range(-3, 18)), "whole": True},
            "state": [1],
        },
    ),
    "schema.json": (
        json.dumps(SCHEMA),
        {
            "sex": ["m", "w"],
            "age": {"edges": list(range(0, 101, 5)), "whole": True},
            "ok": ["false", "true"],
            "kind": [1, 3],
            "years": AGE,
        },
    ),
    "package.json": (json.dumps({"resources": [{"schema": {"fields": SCHEMA["fields"][:1]}}]}), {"sex": ["m", "w"]}),
    "book.xml": (
        DDI,
        {
            "V1": [1, -9],
            "V2": {
                "edges": [*range(0, 1001, 100), 1001],
                "whole": True,
                "missing": "missing",
                "missing_marks": ["9999"],
            },
        },
    ),
}


@pytest.mark.parametrize("name", BOOKS)
def test_a_domain_is_proposed_from_a_codebook(run, tmp_path, name):
    text, expected = BOOKS[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    code, out, err = run("domain", "propose", tmp_path / name)
    assert code == 0, err
    assert json.loads(out) == expected
    written = tmp_path / "domain.json"
    assert run("domain", "propose", tmp_path / name, "--out", written)[0] == 0
    assert ut.Domain.of_facts(json.loads(written.read_text())).facts() == expected
    first = next(iter(expected))
    assert json.loads(run("domain", "propose", tmp_path / name, "--by", first)[1]) == {first: expected[first]}


WRONG = {
    "data.csv": ("sex,region\n1,01\n", 1, "Rename two of the columns"),
    "none.json": ("[]", 1, "a codebook must name variables"),
    "bomb.xml": ('<!DOCTYPE a [<!ENTITY b "b">]><a/>', 1, "no entities"),
    "odd.xml": ('<?xml version="1.0" encoding="utf-7"?><a/>', 1, "encoding that is known"),
    "torn.xml": ("<a>", 1, "must be XML"),
    "empty.csv": ("variable,code\nnote,\n", 2, "must list the codes"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_codebook_is_refused(run, tmp_path, name):
    text, code, message = WRONG[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = run("domain", "propose", tmp_path / name, "--out", tmp_path / "o.json")
    assert (found[0], message in found[2]) == (code, True), found
    assert not (tmp_path / "o.json").exists()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_codebook_with_entities_is_refused_in_every_encoding(run, tmp_path, encoding):
    """A search of the bytes for a DOCTYPE missed it in UTF-16, and the entities were replaced."""
    text = '<!DOCTYPE a [<!ENTITY b "1">]><a><var name="sex"><catgry><catValu>&b;</catValu></catgry></var></a>'
    path = tmp_path / "book.xml"
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(encoding))
    code, _, err = run("domain", "propose", path)
    assert (code, "no entities" in err) == (1, True), err


def test_a_check_says_what_share_of_each_column_lies_outside(run, tmp_path):
    """Also of missing cells, and of those that the label for others takes in; no value of the file is shown."""
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    domain, data = tmp_path / "domain.json", tmp_path / "data.csv"
    facts = BOOKS["rows.csv"][1] | {"band": {"values": ["0-4"], "other": "else"}}
    domain.write_text(json.dumps(facts), encoding="utf-8")
    data.write_text("sex,region,age,band\n1,01,5,0-4\n3,1,200,5-9\n,02,-1,qq\n", encoding="utf-8")
    code, out, err = run("domain", "check", data, "--domain", domain, "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert (report["rows"], report["outside_domain"]) == (3, 2)
    decades = [f"{low} to {low + 9}" for low in range(10, 110, 10)]
    assert report["axes"] == {
        "sex": {"outside": 1, "missing": 1, "without_rows": {"values": 1, "first": ["2"]}},
        "region": {"outside": 0, "missing": 0},
        "age": {"outside": 1, "missing": 1, "without_rows": {"values": 12, "first": decades}},
        "band": {"outside": 0, "missing": 0, "other": 2},
    }
    code, out, _ = run("domain", "check", data, "--domain", domain, "--by", "age,band", "--out", tmp_path / "r.json")
    assert code == 0
    assert "34 %" in out
    assert "Confidential" in out
    assert "qq" not in out
    assert json.loads((tmp_path / "r.json").read_text())["axes"].keys() == {"age", "band"}
    assert run("domain", "check", data)[0] == 2


@pytest.mark.parametrize(
    ("ends", "bins"),
    [
        (("30", "200"), {"bins": [30, 210], "width": 10, "fanout": 2}),
        (("0", "1"), {"bins": [0, "21/20"], "width": "1/20"}),
        (("-2.5", "4"), {"bins": [-3, 5], "width": 1, "fanout": 2}),
        (("0.5", "1.75"), {"bins": ["1/2", "9/5"], "width": "1/10"}),
    ],
)
def test_decimals_are_grouped_by_whole_numbers_where_they_reach_over_five(run, tmp_path, ends, bins):
    """Also where both ends are whole, if the codebook says that the numbers are not; both ends lie in a group."""
    least, most = ends
    limits = {"minimum": float(least), "maximum": float(most)}
    books = {
        "s.json": json.dumps({"fields": [{"name": "dose", "type": "number", "constraints": limits}]}),
        "t.csv": f"variable,code,min,max,type\ndose,,{least},{most},decimal\n",
        "d.xml": f'<b><var name="dose" dcml="2"><valrng><range min="{least}" max="{most}"/></valrng></var></b>',
    }
    (tmp_path / "data.csv").write_text(f"dose\n{least}\n{most}\n{(float(least) + float(most)) / 2}\n")
    for name, text in list(books.items())[: 3 if least == "-2.5" else 1]:
        (tmp_path / name).write_text(text, encoding="utf-8")
        code, out, err = run("domain", "propose", tmp_path / name)
        assert code == 0, err
        assert json.loads(out)["dose"] == bins, name
        (tmp_path / "domain.json").write_text(out)
        code, out, err = run("domain", "check", tmp_path / "data.csv", "--domain", tmp_path / "domain.json", "--json")
        assert code == 0, err
        assert '"outside": 0' in out


def test_the_check_counts_unreadable_cells_and_shows_the_first(run, tmp_path):
    """It refused at the first one, and showed nothing of the other columns."""
    rows = ["men,12,2024-01-03", "women,old,2024-02-30", "x,?,2024-01-09", "men,15,n", "women,?,2024-01-01"]
    (tmp_path / "p.csv").write_text("\n".join(["sex,age,day", *rows, "x,1,2024-01-01", ",2,"]) + "\n")
    domain = {"sex": ["men"], "age": {"bins": [0, 99], "width": 9}, "day": {"months": ["2024-01", "2024-03"]}}
    (tmp_path / "d.json").write_text(json.dumps(domain))
    asked = ["domain", "check", tmp_path / "p.csv", "--domain", tmp_path / "d.json"]
    code, out, err = run(*asked, "--json")
    assert code == 0, err
    report = json.loads(out)
    age, day = report["unreadable"]["age"], report["unreadable"]["day"]
    assert (age["cells"], age["first_rows"], day["cells"], day["first_rows"]) == (3, [2, 3, 5], 2, [2, 4])
    assert "must be numbers" in age["problem"]
    assert "--missing-marks" in age["problem"]
    assert (report["rows"], report["axes"]["sex"], report["outside_domain"]) == (7, {"outside": 1, "missing": 1}, 2)
    shown = " ".join(run(*asked)[1].split())
    assert "7 in the file rows with unreadable cells 4: they are in no share" in shown
    assert "3 (row 2, 3, 5): " in shown


def test_the_check_tells_a_list_and_a_truth_value_from_numbers(run, tmp_path):
    """A list raised an error of Python; True equals 1, so that all rows with 1 were unreadable, or none."""
    cells = ["true", "1", "[1, 2]", "1", '{"a": 1}', "[1, 2]"]
    (tmp_path / "p.jsonl").write_text("".join(f'{{"age": {cell}}}\n' for cell in cells))
    (tmp_path / "d.json").write_text(json.dumps({"age": {"bins": [0, 99], "width": 9}}))
    code, out, err = run("domain", "check", tmp_path / "p.jsonl", "--domain", tmp_path / "d.json", "--json")
    assert code == 0, err
    found = json.loads(out)["unreadable"]["age"]
    assert (found["cells"], found["first_rows"]) == (4, [1, 3, 5])


def test_a_check_of_a_column_of_another_kind_keeps_no_error_for_each_cell(run, tmp_path):
    """A column of 300 000 names took 2.9 GB and minutes."""
    (tmp_path / "p.csv").write_text("age\n" + "".join(f"person {i}x\n" for i in range(1500)))
    (tmp_path / "d.json").write_text(json.dumps({"age": {"bins": [0, 99], "width": 9}}))
    asked = ["domain", "check", tmp_path / "p.csv", "--domain", tmp_path / "d.json", "--json"]
    run(*asked)  # imports
    tracemalloc.start()
    try:
        code, out, err = run(*asked)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert code == 0, err
    assert json.loads(out)["unreadable"]["age"]["cells"] == 1500
    assert most < 10 << 20


def test_the_check_names_respelled_values_and_counts_blanks_under_their_label(run, tmp_path):
    """Blanks that a label takes showed as 0 missing."""
    rows = ["A,1980-01-01", " A,", "a ,1990-01-01", "Á,1990-01-01", "B,1990-01-01", "C,1990-01-01"]
    (tmp_path / "p.csv").write_text("\n".join(["town,born", *rows]) + "\n")
    age = {"ages": [0, 65, None], "on": "2025-01-01", "column": "born", "missing": "not stated"}
    (tmp_path / "d.json").write_text(json.dumps({"town": ["A", "B"], "age": age}))
    asked = ["domain", "check", tmp_path / "p.csv", "--domain", tmp_path / "d.json"]
    code, out, err = run(*asked, "--json")
    assert code == 0, err
    axes = json.loads(out)["axes"]
    assert axes["town"] == {"outside": 4, "missing": 0, "similar": 3}
    assert axes["age"] == {"outside": 0, "missing": 1, "without_rows": {"values": 1, "first": ["65+"]}}
    assert "differ from declared values only by blanks, capitals or accents" in " ".join(run(*asked)[1].split())
