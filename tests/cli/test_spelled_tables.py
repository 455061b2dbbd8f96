"""Tables in any spelling and format, wherever a command reads or writes one; and files that are nothing of the kind."""

import json
from itertools import pairwise

import pytest

from running import new_ledger, with_recipe

ASKED = ["--columns", "n", "--public", "ward", "--sensitivity", "1", "--cells", "1", "--epsilon", "1"]


@pytest.fixture
def latin(run, tmp_path):
    """A table released in UTF-8 with semicolons."""
    table = tmp_path / "in.csv"
    table.write_bytes("ward;n\nKöln;7\nBern;9\n".encode("latin-1"))
    out = tmp_path / "out.csv"
    assert run(*with_recipe("release", table, *ASKED, "--encoding", "latin1", "--out", out))[0] == 0
    return out


def test_a_table_is_verified_and_read_as_it_is_said_to_be_spelled(run, latin, tmp_path):
    assert run("verify", latin, "--separator", ";")[0] == 0
    assert run("verify", latin, "--encoding", "nonsense")[0] == 2
    assert run("read", latin, "--separator", ";", "--encoding", "utf-8")[0] == 0


def test_decimals_behind_a_comma_are_the_same_amounts(run, tmp_path):
    """Quoted or not, of a file that goes by blocks or by records; thousands are not guessed, and JSON has numbers."""
    domain, key = tmp_path / "d.json", tmp_path / "key"
    domain.write_text('{"age": {"bins": [0, 18, 65, null]}}')
    key.write_bytes(bytes(range(32)))
    told = ["--person", "who", "--domain", domain, "--at-most", "1", "--count-key", key]
    told += ["--values", "paid", "--step", "0.01", "--each", "0,500", "--per-cell", "0,1000"]
    files = {
        "point.csv": "who;age;paid\na;7;1.25\nb;30;-3\nc;70;400.005\n",
        "comma.csv": "who;age;paid\na;7;1,25\nb;30;-3\nc;70;400,005\n",
        "quoted.csv": 'who,age,paid\na,7,"1,25"\nb,30,-3\nc,70,"400,005"\n',
        "thousands.csv": "who;age;paid\na;7;1.000,25\n",
    }
    counted = {}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        out = tmp_path / f"{name}.json"
        said = [] if name == "point.csv" else ["--decimal", ","]
        code, _, err = run("count", tmp_path / name, *told, *said, "--out", out)
        assert code == (1 if name == "thousands.csv" else 0), err
        counted[name] = out.read_bytes() if code == 0 else err
    assert counted["point.csv"] == counted["comma.csv"] == counted["quoted.csv"]
    assert "400.00" in counted["point.csv"].decode() or "40000" in counted["point.csv"].decode()
    assert "1.000,25" not in counted["thousands.csv"]
    assert '--decimal , --thousands "."' in counted["thousands.csv"]
    assert run("count", tmp_path / "point.csv", *told, "--decimal", "x")[0] == 2
    (tmp_path / "t.jsonl").write_text('{"who": "a", "age": 7, "paid": 1}\n')
    assert run("count", tmp_path / "t.jsonl", *told, "--decimal", ",", "--out", "-")[0] == 0
    assert run(*with_recipe("release", tmp_path / "t.jsonl", *ASKED, "--decimal", ","))[0] == 2


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_reading_is_written_in_any_format(run, latin, tmp_path, form):
    code, out, _ = run("read", latin, "--out", "-", "--format", form)
    assert code == 0
    first = out.splitlines()[0]
    assert (json.loads(first)["ward"] == "Köln") if form == "jsonl" else first.startswith("ward")
    assert run("read", latin, "--out", tmp_path / "bars.data", "--format", form)[0] == 0


@pytest.mark.parametrize("form", ["tsv", "jsonl", "parquet"])
def test_answers_and_reports_and_counts_are_written_in_any_format(run, tmp_path, form):
    """`respond`, `categories` and `count` write what they are told to, and read it again."""
    secrets = tmp_path / "s.csv"
    secrets.write_text("who;c\na;1\nb;3\n")
    design, answers = tmp_path / "d.json", tmp_path / f"a.{form}"
    assert run("design", "--space", "counts:3", "--prior", "uniform", "--epsilon", "1", "--out", design)[0] == 0
    told = ["respond", design, "--file", secrets, "--column", "c", "--public", "who"]
    assert run(*told, "--out", answers)[0] == 0
    assert run("verify", answers)[0] == 0
    entry = tmp_path / "e.yaml"
    assert run("statement", answers, "--out", entry)[0] == 0
    assert "Custom" in entry.read_text()
    reports = tmp_path / f"r.{form}"
    drawn = ["categories", "--labels", "1,2,3", "--epsilon", "1"]
    assert run(*drawn, "--file", secrets, "--column", "c", "--out", reports)[0] == 0
    assert json.loads(run(*drawn, "--reports", reports, "--json")[1])["clients"] == 2
    domain, counted = tmp_path / "domain.json", tmp_path / f"c.{form}"
    domain.write_text('{"c": ["1", "2", "3"]}')
    count = ["count", secrets, "--person", "who", "--at-most", "1", "--domain", domain]
    assert run(*count, "--out", counted)[0] == 0
    assert (counted.stat().st_mode & 0o777) == 0o600


def test_keys_that_were_named_are_verified_and_written_up(run, tmp_path):
    events, out = tmp_path / "events.csv", tmp_path / "domain.json"
    events.write_text("user,word\n" + "".join(f"p{k},apple\n" for k in range(60)))
    told = ["--person", "user", "--at-most", "1", "--unknown-keys", "word", "--epsilon", "1", "--delta", "1e-6"]
    assert run("count", events, *told, "--out", out)[0] == 0
    keys = out.with_suffix(".csv")  # the noisy counts of the keys, with their statement
    assert run("verify", keys)[0] == 0
    code, entry, _ = run("statement", keys, "--out", "-")
    assert (code, "Approximate DP" in entry, "delta: 1.0" in entry) == (0, True, True)
    code, page, _ = run("statement", keys, "--html", "-")
    assert (code, page.startswith("<!DOCTYPE html>")) == (0, True)
    keys.write_text(keys.read_text().replace("apple", "pear"))
    assert run("verify", keys)[0] == 1


@pytest.mark.parametrize("command", ["read", "statement", "verify"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b'{"a": 1}', b"[1]", b"[" * 100_000, b"n\n" + b"9" * 10**6])
@pytest.mark.parametrize("name", ["f.csv", "f.json"])
def test_files_that_are_nothing_of_the_kind_are_refused_in_words(run, tmp_path, command, content, name):
    """No traceback, no codec's words, no recursion; the file is named, and nothing of what is in it."""
    (tmp_path / name).write_bytes(content)
    code, out, err = run(command, tmp_path / name)
    assert (code, out) == (1, "")
    assert name in err
    for word in ("Traceback", "codec", "recursion", "99999", "No such file"):
        assert word not in err


@pytest.mark.parametrize("word", ["1_0", "１２", "٣", "0x10", "nan", "inf", "1,5", "1 0", "−5"])
def test_what_spells_no_number_is_none_at_any_door(run, tmp_path, word):
    """In a cell, an option and a document of JSON: by type, and a cell by its row; nothing is drawn or spent."""
    table, promise = tmp_path / "t.csv", tmp_path / "p.json"
    table.write_text(f'ward,n\nA,7\nB,"{word}"\n', encoding="utf-8")
    code, out, err = run("release", table, *ASKED)
    assert (code, out, "row 2 (line 3), column 'n'" in err, "Traceback" in err) == (1, "", True, False), err
    table.write_text("ward,n\nA,7\nB,+9\nC, 1e1 \n", encoding="utf-8")
    for option in ("--epsilon", "--sensitivity", "--cells"):
        words = [word if before == option else there for before, there in pairwise(["", *ASKED])]
        code, out, err = run("release", table, *words)
        assert (code, out, "Traceback" in err) == (2, "", False), (option, err)
        assert option in err or option[2:] in err
    assert run("release", table, *ASKED)[0] == 0
    code, *_ = run("promise", *ASKED[:-2], "--out", promise)
    assert code == 0
    promise.write_text(promise.read_text().replace('"sensitivity": "1"', f'"sensitivity": {json.dumps(word)}'))
    assert word in json.loads(promise.read_text()).__repr__()
    assert run("release", table, "--promise", promise, "--epsilon", "1")[0] in (1, 2)


def test_a_column_is_named_as_it_is_written(run, tmp_path):
    """With a comma or a blank it is quoted; what differs in case or in how letters are composed is named."""
    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    table.write_text('ward,n ,"a,b",N,e\u0301\nA,1,2,3,4\n', encoding="utf-8")
    words = ["release", table, "--public", "ward", "--sensitivity", 1, "--cells", 4, "--epsilon", 1]
    assert run(*words, "--columns", '"n ", "a,b"', "--columns", "N,e\u0301", "--out", out)[0] == 0
    assert out.read_text().startswith('ward,n ,n _margin,"a,b","a,b_margin",N,N_margin,e\u0301,')
    assert run("verify", out)[0] == 0
    for column, hint in (("n", "'n '? On the command line, put"), ("WARD", "'ward'?"), ("\xe9", "'e\\u0301'?")):
        assert f"Did you mean {hint}" in " ".join(run(*words, "--columns", column)[2].split())


def test_half_of_a_character_is_refused_before_anything_is_drawn(run, tmp_path):
    """As a truncated emoji stands in JSON: no file but one of JSON lines can hold it, and no error is Python's own."""
    table, place = tmp_path / "t.jsonl", tmp_path / "l.db"
    table.write_text('{"ward": "\\ud83d", "n": 7}\n{"ward": "x", "n": 9}\n')
    for form in ("csv", "tsv", "parquet", "feather", "xlsx", "csv.gz"):
        for ledger in ([], ["--ledger", new_ledger(place), "--name", "r"]):
            code, _, err = run("release", table, *ASKED, *ledger, "--out", tmp_path / f"out.{form}")
            assert (code, "surrogate" in err or "halves" in err or "half" in err) == (1, True), err
    assert run("release", table, *ASKED)[0] == 1
    assert json.loads(run("ledger", "status", "--ledger", place, "--json")[1])["events"] == 1
    assert run("release", table, *ASKED, "--out", tmp_path / "out.jsonl")[0] == 0
    assert run("verify", tmp_path / "out.jsonl")[0] == 0


def test_labels_of_half_a_character_are_kept_in_documents(run, tmp_path):
    (tmp_path / "d.json").write_text('{"ward": ["\\ud83d", "x"]}')
    (tmp_path / "e.csv").write_text("who,ward\na,x\n")
    words = ["--person", "who", "--domain", tmp_path / "d.json", "--at-most", "1"]
    assert run("count", tmp_path / "e.csv", *words, "--out", tmp_path / "c.json")[0] == 0
    assert run("release", tmp_path / "c.json", "--epsilon", "1", "--out", tmp_path / "r.csv")[0] == 1
    plan = ["--want", "ward", "--epsilon", "1", "--out", tmp_path / "p.json"]
    assert run("plan", tmp_path / "c.json", *plan)[0] == 0
    released = ["--plan", tmp_path / "p.json", "--epsilon", "1", "--out", tmp_path / "r.json"]
    assert run("release", tmp_path / "c.json", *released)[0] == 0
    assert run("verify", tmp_path / "r.json")[0] == 0
