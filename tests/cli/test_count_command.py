"""`utmost count`, and `utmost release` that counts first: the same table, its unit, files for their owner alone."""

import csv
import io
import json
import os
import stat
from pathlib import Path

import pytest

from running import changed, new_ledger
from utmost import Counting
from utmost.counting import count_table, read_counted
from utmost.errors import BadTable, UtmostError
from utmost.privacy import Unit
from utmost.workloads import Domain

FACTS = {"page": {"values": ["A", "B"], "other": "else"}, "age": {"bins": [0, 100], "width": 50}}
ROWS = [("ann", "A", 3, 5), ("ann", "B", 60, 2), ("bob", "A", 99, 9), ("bob", "X", 7, 1), ("ann", "A", 3, 4)]
SAY = ["--person", "user", "--at-most", 2]


@pytest.fixture
def files(tmp_path):
    events, domain = tmp_path / "events.csv", tmp_path / "domain.json"
    events.write_text("user,page,age,amount\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS))
    domain.write_text(json.dumps(FACTS))
    return events, domain


def test_a_count_is_for_its_owner_alone_and_says_so(run, files, tmp_path):
    events, domain = files
    out = tmp_path / "counted.json"
    code, shown, err = run("count", events, *SAY, "--domain", domain, "--out", out)
    assert code == 0
    assert "changes at most 2 of these cells, each by at most 1" in shown
    assert "do not publish them" in err
    if os.name == "posix":
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
    counted = read_counted(out)
    same = count_table(events, Domain.of_facts(FACTS), Counting("user", at_most=2))
    assert counted.unit == same.unit == Unit(1, 2)
    assert counted.domain.same_as(same.domain)
    assert counted.cells.tolist() == same.cells.tolist() == [[1, 1], [0, 1], [1, 0]]


def test_what_is_left_out_is_said_from_the_domain_alone(run, files, tmp_path):
    """Which axes take no other value is a fact of the domain: the line is the same whether or not an event was lost."""
    events, domain = files
    said = []
    for age in (3, 700):
        events.write_text(f"user,page,age,amount\nann,A,{age},5\nbob,A,3,5\n")
        said.append(run("count", events, *SAY, "--domain", domain, "--dry-run")[1])
    assert said[0] == said[1]
    assert 'events with another age; declare "other" in the domain' in " ".join(said[0].split())
    domain.write_text(json.dumps({"page": ["A"], "age": {"bins": [0, 100], "width": 50}, "amount": [5]}))
    shown = run("count", events, *SAY, "--domain", domain, "--dry-run")[1]
    assert "events with another page, age or amount" in " ".join(shown.split())
    domain.write_text(json.dumps({"page": FACTS["page"]}))
    assert "left out" not in run("count", events, *SAY, "--domain", domain, "--dry-run")[1]
    shown = run("statement", _released(run, files, tmp_path), "--html", "-")[1]
    assert "left out, except those of page, counted as else" in shown


def _released(run, files, tmp_path):
    events, domain = files
    domain.write_text(json.dumps(FACTS))
    out = tmp_path / "released.json"
    assert run("count", events, *SAY, "--domain", domain, "--out", tmp_path / "c.json")[0] == 0
    plan = tmp_path / "plan.json"
    assert run("plan", tmp_path / "c.json", "--want", "page", "--epsilon", 1, "--out", plan)[0] == 0
    assert run("release", tmp_path / "c.json", "--plan", plan, "--epsilon", 1, "--out", out)[0] == 0
    return out


def test_a_csv_of_counts_is_for_its_owner_too(run, files, tmp_path):
    events, domain = files
    out = tmp_path / "counted.csv"
    code, shown, _ = run("count", events, *SAY, "--domain", domain, "--out", out)
    assert code == 0
    line = " ".join(shown.split()).partition("release it utmost ")[2].replace(" ...", " 1")
    assert "--sensitivity 1 --cells 2" in line
    assert run(*line.split())[0] == 0  # as it is printed
    assert out.read_text().startswith("page,age,count\n")
    if os.name == "posix":
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
    code, _, err = run("count", events, *SAY, "--domain", domain, "--out", out)
    assert code == 2
    assert "no existing file is overwritten" in err


def test_programs_are_told_the_unit(run, files, tmp_path):
    events, domain = files
    code, shown, _ = run("count", events, *SAY, "--domain", domain, "--dry-run", "--json")
    assert (code, json.loads(shown)["unit"]["cells"]) == (0, 2)
    code, shown, _ = run("count", events, *SAY, "--domain", domain, "--json")
    assert sum(json.loads(shown)["cells"]) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["domain.json", "events.csv"]


def test_a_release_counts_first(run, files, tmp_path):
    """In one line, or by way of a file: labels are public, and what one person changes is proved."""
    events, domain = files
    loud = ["--epsilon", 100, "--yes"]
    code, shown, err = run("release", events, *SAY, "--domain", domain, *loud)
    assert code == 0
    assert [row["count"] for row in csv.DictReader(io.StringIO(shown))] == ["1", "1", "0", "1", "1", "0"]
    assert "changes at most 2 released cells, each by at most 1" in " ".join(err.split())
    run("count", events, *SAY, "--domain", domain, "--out", tmp_path / "counted.json")
    assert run("release", tmp_path / "counted.json", *loud)[1] == shown
    code, _, err = run("release", tmp_path / "counted.json", *loud, "--cells", 1)
    assert code == 2
    assert "--cells must not be below the bound that counting has proved" in err


def test_nothing_is_counted_that_cannot_be_written(run, files):
    """What is wrong with the file or the level is said before a long count, which would find the bad last row."""
    events, domain = files
    with events.open("a") as file:
        file.write("a row,of,too,many,cells,by,far,for,this,file\n")
    say = ["release", events, *SAY, "--domain", domain]
    assert "no existing file is overwritten" in run(*say, "--epsilon", 1, "--out", events)[2]
    assert "--epsilon must be given" in run(*say)[2]
    assert "cells" in run(*say, "--epsilon", 1)[2]


def test_a_table_without_events_is_told(run, files, tmp_path):
    """A day on which nothing happened is published; an upload that failed after its header looks the same."""
    events, domain = files
    empty = tmp_path / "empty.csv"
    empty.write_text(events.read_text().splitlines()[0] + "\n")
    say = ["release", empty, *SAY, "--domain", domain, "--epsilon", 1]
    code, _, err = run(*say)
    assert (code, "There are no events" in err) == (0, True)
    out = tmp_path / "out.csv"
    code, _, err = run(*say, "--leave-out", "nothing", "--out", out)
    assert (code, "There are no events" in err, out.exists()) == (1, True, False)


def test_a_second_count_without_the_key_is_told_to_use_it(run, tmp_path):
    """The remedy was a new version, which spends the level twice for the same events."""
    events, domain, counted = tmp_path / "e.csv", tmp_path / "d.json", tmp_path / "counted.json"
    events.write_text("user,page\n" + "".join(f"u{i},{page}\n" for i in range(30) for page in "ABC"))
    domain.write_text('{"page": ["A", "B", "C"]}')
    place = ["--ledger", new_ledger(tmp_path / "ledger.db"), "--name", "views", "--epsilon", 1]
    code, counts = 0, ["--person", "user", "--at-most", 1, "--domain", domain, "--out", counted]
    while code == 0:  # one of three pages of each person is kept, by chance
        counted.unlink(missing_ok=True)
        assert run("count", events, *counts)[0] == 0
        code, _, err = run("release", counted, *place)
    assert (code, "--count-key" in err) == (3, True)
    code, _, err = run("relax", counted, *place[:-1], 2)
    assert (code, "--count-key" in err) == (3, True)
    code, _, err = run("release", events, *counts[:-2], *place)  # by the ledger's key, and so by another one
    assert (code, "of a file of `utmost count`, release that file again" in err) == (3, True)


def test_parts_are_counted_into_files_that_share_nobody(run, files, tmp_path):
    """Each person is in one part; the files of one count know that they are parts of one partition."""
    events, domain = files
    code, shown, err = run("count", events, *SAY, "--domain", domain, "--part", "page", "--out", tmp_path / "c.json")
    assert code == 0, err
    assert "each person is in one of them" in shown
    parts = [read_counted(tmp_path / f"c-{label}.json") for label in ("A", "B", "else")]
    assert len({part.part[0] for part in parts}) == 1
    assert [part.part[1] for part in parts] == ["A", "B", "else"]
    assert sum(int(part.cells.sum()) for part in parts) <= 4
    say = ["count", events, *SAY, "--domain", domain, "--part", "page"]
    assert "--part needs --out" in run(*say)[2]
    assert json.loads(run(*say, "--dry-run", "--json")[1])["labels"] == ["A", "B", "else"]
    assert "must name an axis of the domain" in run(*say[:-1], "country", "--dry-run")[2]


def test_keys_that_nobody_listed_are_named_at_epsilon_and_delta(run, tmp_path):
    """A frequent key is named, one of a single person is not; the domain is written, with what was promised beside."""
    events, out = tmp_path / "e.csv", tmp_path / "keys.json"
    events.write_text("user,word\n" + "".join(f"{n},common\n{n},usual\n" for n in range(400)) + "0,rare\n")
    say = ["count", events, "--person", "user", "--unknown-keys", "word", "--at-most", 2, "--epsilon", 1]
    code, shown, err = run(*say, "--delta", "1e-9", "--out", out)
    assert code == 0, err
    assert json.loads(out.read_text()) == {"word": ["common", "usual"]}
    assert "(epsilon=1, delta=1/1000000000)" in " ".join(shown.split())
    assert "cannot be relaxed" in shown
    assert json.loads((tmp_path / "keys.csv.json").read_text())["delta"] == "1/1000000000"
    named = [line.split(",")[0] for line in (tmp_path / "keys.csv").read_text().splitlines()]
    assert named == ["word", "common", "usual"]
    assert run("verify", tmp_path / "keys.csv")[0] == 0
    assert run("count", events, "--person", "user", "--at-most", 2, "--domain", out, "--dry-run")[0] == 0
    code, shown, _ = run(*say, "--delta", "1e-9", "--dry-run", "--json")
    assert (code, json.loads(shown)["relaxable"]) == (0, False)
    assert "no --delta" in run(*say)[2]
    assert "counting spends no epsilon" in run("count", events, "--person", "user", "--epsilon", 1)[2]
    for weak in (["--epsilon", "50", "--delta", "1e-9"], ["--epsilon", "1", "--delta", "0.9"]):  # as release refuses
        words = [*changed(say, *weak), "--out", tmp_path / "weak.json"]
        for asked in (words, [*words, "--dry-run"]):
            code, _, err = run(*asked)
            assert (code, "protects practically nobody" in err, "add --yes" in err) == (2, True, True)
        assert run(*words, "--dry-run", "--yes")[0] == 0
    assert not (tmp_path / "weak.json").exists()
    more = tmp_path / "more.json"
    (tmp_path / "d.json").write_text('{"sex": ["m", "w"]}')
    run(*say, "--delta", "1e-9", "--domain", tmp_path / "d.json", "--out", more)
    assert list(json.loads(more.read_text())) == ["sex", "word"]


def test_persons_of_few_keys_give_each_more_by_shares(run, tmp_path):
    """Forty persons of one key name it, where ten keys at most and one count for each would need hundreds."""
    events, out = tmp_path / "e.csv", tmp_path / "keys.json"
    events.write_text("user,word\n" + "".join(f"{n},common\n" for n in range(40)))
    say = ["count", events, "--person", "user", "--unknown-keys", "word", "--at-most", 10, "--epsilon", 1]
    assert "needs at least one key" in run(*say, "--delta", "1e-6", "--out", tmp_path / "none.json")[2]
    assert (tmp_path / "none.csv").read_text() == "word,persons\n"
    code, shown, err = run(*say, "--delta", "1e-6", "--shares", 60, "--out", out)
    assert (code, json.loads(out.read_text())) == (0, {"word": ["common"]}), err
    assert "gives them at most 60 shares in all" in " ".join(shown.split())
    assert run("verify", tmp_path / "keys.csv")[0] == 0
    said = json.loads(run(*say, "--delta", "1e-6", "--shares", 60, "--dry-run", "--json")[1])
    assert 60 * 13 < said["threshold"] < 60 * 14
    assert "needs --unknown-keys" in run("count", events, "--person", "user", "--shares", 60)[2]
    assert "shares" in run(*say, "--delta", "1e-6", "--shares", 9, "--dry-run")[2]


def test_a_table_of_cells_is_read_with_the_unit_that_is_said(run, tmp_path):
    examples = Path(__file__).parents[2] / "examples"
    say = ["count", examples / "berkeley_admissions.csv", "--domain", examples / "applicants_domain.json"]
    code, shown, err = run(*say, "--nested", "outcome=admitted,applicants", "--at-most", 1, "--dry-run")
    assert (code, "as your options say" in shown) == (0, True), err
    assert "need --at-most" in run(*say, "--nested", "outcome=admitted,applicants")[2]
    assert "AXIS=NAMES" in run(*say, "--nested", "admitted", "--at-most", 1)[2]
    said = run(*say, "--nested", "outcome=applicants,admitted", "--at-most", 1)[2]
    assert "admitted must be at least applicants in every row" in said


def test_no_message_quotes_an_event(run, files):
    events, domain = files
    for line in ("9876543,A\n", ",A,1,9876543\n", "ann,A,9876543,9876543x\n"):
        events.write_text("user,page,age,amount\nann,A,1,1\n" + line)
        code, _, err = run("count", events, *SAY, "--domain", domain, "--values", "amount")
        assert code == 1
        assert "9876543" not in err


def test_a_file_of_counts_is_read_as_it_was_written(tmp_path):
    counted = count_table({"user": ["a"], "page": ["A"]}, Domain(page=["A"]), Counting("user", at_most=1))
    counted.save(tmp_path / "good.json")
    good = json.loads((tmp_path / "good.json").read_text())
    changes = {"cells": [1, 2]}, {"cells": [1.5]}, {"cells": [True]}, {"unit": {}}, {"part": 3}, {"domain": 1}
    for change in (*changes, {"kind": "design"}, {"format": 2}, {"more": 1}):
        (tmp_path / "bad.json").write_text(json.dumps(good | change))
        with pytest.raises(UtmostError):
            read_counted(tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(BadTable):
        read_counted(tmp_path / "bad.json")


def test_remedies_of_measures_work_in_their_file(run, files, tmp_path):
    events, domain = files
    events.write_text("user,page,amount\nann,A,1.5\nbob,A,\n")
    measures, out = tmp_path / "measures.json", tmp_path / "m.json"
    say = ["count", events, *SAY, "--domain", domain, "--by", "page", "--measures", measures, "--out", out]
    spent = '"values": "amount", "each": 100, "per_cell": 500'

    def told(keys, *more):
        measures.write_text(f'{{"visits": {{}}, "spent": {{{keys}}}}}')
        code, _, err = run(*say, *more)
        return "" if code == 0 else " ".join(err.split())

    for remedy in ('"step": "0.01"', '"missing": "leave out"'):
        assert f"{remedy} in the file of --measures" in told(spent)
        spent += f", {remedy}"
    assert told(spent) == ""
    beside = told(spent, "--per-cell", 3, "--leave-out", "amounts")
    assert "got --per-cell, --leave-out amounts outside this file. In place of the option, write" in beside
    wrong = told(spent.replace("per_cell", "per-cell"))
    assert all(words in wrong for words in ("measure 'spent'", "got 'per-cell'", "each, per_cell, most_events"))


def test_distinct_values_are_planned_released_and_never_added(run, files, tmp_path):
    events, domain = files
    events.write_text("user,page,age,kind\nann,A,3,x\nann,A,4,y\nbob,A,99,x\nbob,B,99,z\n")
    measures, plan, out = tmp_path / "measures.json", tmp_path / "plan.json", tmp_path / "out.json"
    measures.write_text('{"kinds": {"distinct": "kind", "of": {"values": ["x", "y"]}, "at_most": 2}}')
    say = [*SAY, "--domain", domain, "--by", "page", "--measures", measures]
    assert run("count", events, *say, "--out", tmp_path / "counted.json")[0] == 0
    counted = tmp_path / "counted-kinds.json"
    assert read_counted(counted).table("page")["kinds"].tolist() == [2, 0, 0]
    code, _, told = run("plan", counted, "--want", "total", "--epsilon", 5, "--out", plan)
    assert code == 2
    assert "have no sum" in " ".join(told.split())
    assert run("plan", counted, "--want", "page", "--epsilon", 50, "--out", plan)[0] == 0
    assert run("release", counted, "--plan", plan, "--epsilon", 50, "--yes", "--out", out)[0] == 0
    assert run("verify", out)[0] == 0
    told = " ".join(run("statement", out)[1].split())
    assert "counts the different values in each cell, of 2 values that were declared beforehand" in told
    assert json.loads(run("total", out, "--where", "page=A", "--json")[1])["value"] == 2
    for wrong in (["total", out], ["clean", out, "--out", tmp_path / "clean.csv"]):
        code, _, told = run(*wrong)
        assert code == 2
        assert "have no sum" in " ".join(told.split())
    by_plan = ["release", events, "--plan", plan, "--person", "user", "--epsilon", 1]
    code, _, told = run(*by_plan, "--out", tmp_path / "b.json")
    assert code == 2
    assert "Count first" in " ".join(told.split())


def test_counts_and_sums_are_released_together(run, files, tmp_path):
    events, domain = files
    domain.write_text('{"page": ["A", "B"]}')
    events.write_text("user,page,amount\nann,A,5.125\nbob,A,30\nbob,B,7\n")
    plan, out = tmp_path / "plan.json", tmp_path / "out.json"
    words = ["--values", "amount", "--step", "0.01", "--each", "0,10", "--most-events", 2]
    code, shown, _ = run("count", events, *SAY, "--domain", domain, *words, "--out", tmp_path / "both.json")
    assert code == 0
    assert "changes at most 2 groups, each by at most 2 events with amount from 0 to 10" in " ".join(shown.split())
    assert read_counted(tmp_path / "both.json").cells.tolist() == [[1512, 488], [700, 300]]
    assert run("plan", tmp_path / "both.json", "--want", "page amount", "--epsilon", 3000, "--out", plan)[0] == 0
    for source, more in ((tmp_path / "both.json", []), (events, ["--person", "user"])):  # the plan says how to count
        assert run("release", source, "--plan", plan, *more, "--epsilon", 3000, "--yes", "--out", out)[0] == 0
        assert run("verify", out)[0] == 0
        answers = [run("total", out, *asks, "--json")[1] for asks in (["--sum", "amount"], [], ["--mean", "amount"])]
        answers = [json.loads(answer) for answer in answers]
        assert answers[0]["value"] == pytest.approx(22.12, abs=0.2)
        assert answers[1]["value"] == pytest.approx(3, abs=0.05)
        assert answers[2]["interval"] == pytest.approx([22.12 / 3] * 2, abs=0.2)
        out.unlink()
    cells = run("release", tmp_path / "both.json", "--epsilon", 3000, "--yes")[1]
    assert cells.splitlines()[0].startswith("page,count,count_margin,amount_sum,amount_sum_margin,amount_mean,")
