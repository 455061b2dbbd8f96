"""`utmost respond`: what is drawn from is checked first, and what leaves holds no secret."""

import csv
import io
import json
import re
import sys
from hashlib import sha256

import pytest

from running import new_ledger
from utmost.ledger import Ledger

NINE = ["--space", "grid:3x3", "--prior", "uniform", "--loss", "distance", "--epsilon", 1]
PLACES = {f"({r}, {c})" for r in range(3) for c in range(3)}


@pytest.fixture
def design(run, tmp_path):
    """A design on nine places."""
    path = tmp_path / "design.json"
    assert run("design", *NINE, "--out", path)[0] == 0
    return path


def test_an_answer_is_a_place_and_its_price_is_said(run, design):
    """By number, by name, and by the name without brackets; each says that answers add up."""
    for secret in (4, "(1, 1)", "1,1", " ( 1,1 ) "):
        code, out, err = run("respond", design, "--secret", secret)
        assert (code, err) == (0, "")
        assert re.search(r"answer\s+\(\d, \d\)", out)
        assert "epsilon = 1 for secrets at distance 1" in out
        assert "k answers cost k times epsilon" in " ".join(out.split())
    found = json.loads(run("respond", design, "--secret", 4, "--json")[1])
    assert found["answer"] in PLACES
    assert found["statement"]["epsilon"] == "1"
    assert found["statement"]["space"] == {"kind": "grid", "sizes": [3, 3]}


def test_the_secret_may_come_through_the_pipe(run, design, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("1,2\n"))
    assert run("respond", design, "--secret", "-")[0] == 0


def test_a_design_that_proves_nothing_is_not_drawn_from(run, design):
    """One probability moved from one answer to another: the privacy is checked before anything is drawn."""
    found = json.loads(design.read_text())
    found["channel"][0] = ["1"] + ["0"] * 8
    design.write_text(json.dumps(found))
    code, out, err = run("respond", design, "--secret", 4)
    assert (code, out) == (1, "")
    assert "must prove what it states" in err


def test_refusals_do_not_repeat_the_secret(run, design, file):
    for secret in ("Atlantis", "9876", "-1"):
        code, out, err = run("respond", design, "--secret", secret)
        assert (code, out) == (2, "")
        assert secret not in err
    table = file("place\n3\nAtlantis\n")
    code, out, err = run("respond", design, "--file", table, "--column", "place")
    assert (code, out) == (2, "")
    assert "in row 2" in err
    assert "Atlantis" not in err


def test_a_missing_secret_is_none_of_the_secrets(run, file, tmp_path):
    """A missing cell of JSON was read as the text "None", which may name a secret."""
    channel, table = file("secret,Y,N\nNone,2/3,1/3\nSome,1/3,2/3\n", "coin.csv"), tmp_path / "people.json"
    asked = ["respond", channel, "--space", "discrete:2", "--file", table, "--column", "place"]
    table.write_text('[{"place": "Some"}, {"place": "None"}]')
    assert run(*asked)[0] == 0
    table.write_text('[{"place": "Some"}, {"place": null}]')
    code, out, err = run(*asked)
    assert (code, out, "in row 2" in err) == (2, "", True)


def test_a_table_leaves_with_answers_and_without_secrets(run, design, file, tmp_path):
    """The answers stand in the place of the secrets; other columns are public or dropped, and the statement says so."""
    table = file('name,place,age\nAda,"(0, 1)",36\nBea,4,007\n')
    asked = ["respond", design, "--file", table, "--column", "place", "--public", "age", "--drop", "name"]
    code, out, err = run(*asked)
    assert code == 0
    assert "k answers cost k times epsilon" in " ".join(err.split())
    rows = list(csv.reader(out.splitlines()))
    assert rows[0] == ["place_answer", "age"]
    assert [row[1] for row in rows[1:]] == ["36", "007"]
    assert {row[0] for row in rows[1:]} <= PLACES
    written = tmp_path / "answers.csv"
    assert run(*asked, "--out", written)[0] == 0
    said = json.loads((tmp_path / "answers.csv.json").read_text())
    assert (said["kind"], said["rows"], said["public"]) == ("utmost answers", 2, ["age"])
    assert len(said["table"]["sha256"]) == 64
    assert run(*asked, "--out", written)[0] == 2  # never written over


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--public", "age,place", "--drop", "name"], "must not name the column of the secrets"),
        (["--public", "age", "--drop", "name,place"], "--drop must not name the column of the secrets"),
        (["--public", "age"], "got name"),
        (["--public", "age", "--drop", "age,name"], "got age"),
        (["--public", "age", "--drop", "nam"], "Did you mean 'name'"),
    ],
)
def test_every_column_is_declared_and_the_secrets_never_public(run, design, file, options, says):
    table = file("name,place,age\nAda,3,36\n")
    code, out, err = run("respond", design, "--file", table, "--column", "place", *options)
    assert (code in (1, 2), out) == (True, "")
    assert says in err


def test_an_answer_that_was_kept_is_repeated_whatever_the_secret_is_by_now(run, design, file, tmp_path):
    """Only new persons are drawn for, and the kept file must be the one that was written."""
    people = [f"p{k}" for k in range(60)]
    first = file("id,place\n" + "".join(f"{name},0\n" for name in people), "first.csv")
    more = ["--column", "place", "--public", "id", "--id", "id"]
    kept = tmp_path / "kept.csv"
    assert run("respond", design, "--file", first, *more, "--out", kept)[0] == 0
    answers = dict(csv.reader(kept.read_text().splitlines()))
    moved = file("id,place\nnew,4\n" + "".join(f"{name},8\n" for name in reversed(people)), "moved.csv")
    found = json.loads(run("respond", design, "--file", moved, *more, "--kept", kept, "--json")[1])
    again = dict(zip(found["table"]["id"], found["table"]["place_answer"], strict=True))
    assert {name: again[name] for name in people} == {name: answers[name] for name in people}
    assert found["statement"]["repeated"] == 60
    assert again["new"] in PLACES
    other = tmp_path / "other.json"
    assert run("design", *NINE[:-1], 2, "--out", other)[0] == 0
    assert "same mechanism" in run("respond", other, "--file", moved, *more, "--kept", kept)[2]
    kept.write_text(kept.read_text().replace("p1,", "q1,"))
    told = run("respond", design, "--file", moved, *more, "--kept", kept)[2]
    assert "must be unchanged since utmost respond wrote it" in told


@pytest.mark.parametrize("keeping", ["--kept", "--ledger"])
def test_a_person_is_found_again_in_a_file_of_another_format(run, design, tmp_path, keeping):
    """The 7 of a Parquet file is the "7" of a CSV file, and a letter is one letter in both of its Unicode forms."""
    names = ["7", "8", "Zo\u00eb"]
    first, then = tmp_path / "first.csv", tmp_path / "then.json"
    first.write_text("id,place\n" + "".join(f"{name},0\n" for name in names), encoding="utf-8")
    then.write_text(json.dumps([{"id": name, "place": "8"} for name in (7, 8, "Zoe\u0308")]), encoding="utf-8")
    kept = tmp_path / "kept.csv"
    more = ["--column", "place", "--public", "id", "--id", "id"]
    stored = ["--ledger", new_ledger(tmp_path / "kept.db")] if keeping == "--ledger" else []
    assert run("respond", design, "--file", first, *more, *stored, "--out", kept)[0] == 0
    code, out, err = run("respond", design, "--file", then, *more, *(stored or ["--kept", kept]), "--json")
    assert code == 0, err
    assert json.loads(out)["statement"]["repeated"] == 3
    answers = [row[1] for row in csv.reader(kept.read_text(encoding="utf-8").splitlines())][1:]
    assert json.loads(out)["table"]["place_answer"] == answers


@pytest.mark.parametrize(("ids", "says"), [([7, "7"], "distinct"), ([7.0, 8.0], "text"), ([True, False], "text")])
def test_identifiers_that_another_file_would_spell_otherwise_are_refused(run, design, tmp_path, ids, says):
    """Nobody is answered before the refusal."""
    table, ledger = tmp_path / "people.json", new_ledger(tmp_path / "kept.db")
    table.write_text(json.dumps([{"id": name, "place": "8"} for name in ids]))
    asked = ["respond", design, "--file", table, "--column", "place", "--public", "id", "--id", "id"]
    for stored in ([], ["--ledger", ledger]):
        code, out, err = run(*asked, *stored)
        assert (code, out) == (1, "")
        assert says in err
    with Ledger.open(ledger) as opened:
        assert opened.mechanisms == ()


def test_a_person_has_one_row_and_can_be_found_again(run, design, file):
    twice = file("id,place\nAda,3\nAda,4\n")
    asked = ["respond", design, "--file", twice, "--column", "place"]
    code, out, err = run(*asked, "--public", "id", "--id", "id")
    assert (code, out) == (1, "")
    assert "distinct" in err
    assert "Ada" not in err
    assert "must name a public column" in run(*asked, "--drop", "id", "--id", "id")[2]
    assert "identifies persons" in run(*asked, "--public", "id", "--kept", twice)[2]


def test_a_channel_needs_its_space_and_states_its_least_level(run, file):
    """Rows are named in the file; the level is computed along the distances of the space."""
    channel = file("secret,Y,N\nyes,2/3,1/3\nno,1/3,2/3\n", "coin.csv")
    code, _, err = run("respond", channel, "--secret", "yes")
    assert code == 2
    assert "--space" in err
    found = json.loads(run("respond", channel, "--space", "discrete:2", "--secret", "yes", "--json")[1])
    assert found["answer"] in "YN"
    assert found["statement"]["alpha"] == "1/2"
    assert run("respond", channel, "--space", "discrete:3", "--secret", "yes")[0] == 2


def test_channels_that_keep_no_level_exactly_are_refused(run, file):
    rounded = file("0.3333333333,0.6666666666\n0.6666666666,0.3333333333\n", "rounded.csv")
    code, out, err = run("respond", rounded, "--space", "discrete:2", "--secret", 0)
    assert (code, out) == (2, "")
    assert "repair" in err
    telling = file("1,0\n1/2,1/2\n", "telling.csv")
    assert run("respond", telling, "--space", "discrete:2", "--secret", 0)[:2] == (1, "")


def test_misuse(run, design, file):
    table = file("place\n3\n")
    for wrong in ([], ["--secret", 1, "--file", table], ["--file", table], ["--secret", 1, "--column", "place"]):
        assert run("respond", design, *wrong)[0] == 2
    assert run("respond", design, "--secret", 1, "--space", "grid:3x3")[0] == 2


def test_a_ledger_keeps_one_answer_for_each_person(run, design, file, tmp_path):
    """One person and then a table; the secret changes, and later is not needed."""
    ledger = ["--ledger", new_ledger(tmp_path / "answers.db")]
    code, out, err = run("respond", design, "--secret", 4, *ledger, "--id", "ada")
    assert (code, err, "drawn now, and stored in the ledger" in out) == (0, "", True)
    answer = re.search(r"answer\s+(\(\d, \d\))", out)[1]
    for secret in (["--secret", 0], []):
        found = json.loads(run("respond", design, *secret, *ledger, "--id", "ada", "--json")[1])
        assert (found["answer"], found["statement"]["repeated"]) == (answer, 1)
        assert (found["statement"]["name"], found["statement"]["together"]) == ("design", "1")
    people = file("id,place\nada,8\nben,2\n")
    asked = ["respond", design, "--file", people, "--column", "place", "--public", "id", "--id", "id", *ledger]
    code, out, err = run(*asked)
    assert (code, "2 rows (1 repeated)" in err) == (0, True)
    assert "The ledger keeps the answer" in " ".join(err.split())
    assert list(csv.reader(out.splitlines()))[1] == ["ada", answer]
    code, shown, _ = run(*asked, "--out", tmp_path / "out.csv", "--json")
    assert (code, (tmp_path / "out.csv").read_text().split()) == (0, out.split())
    said = json.loads(shown)
    assert (said["repeated"], said["data_version"]) == (2, 1)
    assert json.loads((tmp_path / "out.csv.json").read_text()) == said
    status = json.loads(run("ledger", "status", *ledger, "--json")[1])
    assert [one["persons"] for one in status["mechanisms"]] == [2]
    assert "of 2 persons" in run("ledger", "verify", *ledger)[1]
    assert "persons 1" in " ".join(run("ledger", "history", *ledger)[1].split())


def test_what_a_ledger_of_answers_refuses(run, design, file, tmp_path, monkeypatch):
    ledger = ["--ledger", tmp_path / "answers.db"]
    asked = ["respond", design, "--secret", 4, "--id", "ada"]
    assert "there must be a ledger" in run(*asked, *ledger)[2]
    new_ledger(ledger[1])
    wrong = ["respond", design, "--secret", "Atlantis", "--id", "ada", *ledger]
    assert run(*wrong)[0] == 2
    assert run(*asked, *ledger)[0] == 0
    code, out, err = run("respond", design, "--id", "hushed", *ledger)
    assert (code, out, "needs a secret" in err, "hushed" in err) == (1, "", True, False)
    other = tmp_path / "other.json"
    assert run("design", *NINE[:-1], 2, "--out", other)[0] == 0
    code, out, err = run("respond", other, "--secret", 4, "--id", "ada", *ledger, "--name", "design")
    assert (code, out, "must keep its design" in " ".join(err.split())) == (1, "", True)
    assert "Call respond" in " ".join(run("view", "--name", "design", "--epsilon", 1, *ledger)[2].split())
    table = file("id,place\nada,8\n")
    tables = ["respond", design, "--file", table, "--column", "place", "--public", "id"]
    for options, says in (
        ([*asked], "--file or --ledger"),
        ([*asked[:-2], *ledger], "needs --id"),
        ([*asked[:-2], "--name", "x"], "--name needs --ledger"),
        ([*asked[:-2], "--data-version", "2"], "--data-version needs --ledger"),
        ([*asked, *ledger, "--column", "place"], "need --file"),
        ([*tables, *ledger], "needs --id"),
        ([*tables, "--id", "id", "--kept", table, *ledger], "only one of --kept and --ledger"),
    ):
        code, out, err = run(*options)
        assert (code, out, says in " ".join(err.split())) == (2, "", True), err
    monkeypatch.setattr(sys, "stdin", io.StringIO("4\nada\n"))
    assert run("respond", design, "--id", "-", "--secret", "-", *ledger)[0] == 0


def test_answers_are_checked_with_the_file_of_their_mechanism(run, file, tmp_path):
    """A statement could state other secrets, for which nobody computed the level; only the mechanism shows them."""
    table, answers, design = file("id,place\nAda,0\nBo,3\n"), tmp_path / "a.csv", tmp_path / "d.json"
    space = ["--space", "counts:3", "--prior", "uniform", "--epsilon", 1]
    assert run("design", *space, "--out", design)[0] == 0
    asked = ["--file", table, "--column", "place", "--public", "id"]
    assert run("respond", design, *asked, "--out", answers)[0] == 0
    trusted = "has the stated secrets"
    alone, whole = (json.loads(run("verify", answers, *more, "--json")[1]) for more in ([], ["--release", design]))
    assert trusted in " ".join(alone["on_trust"])
    assert trusted not in " ".join(whole["on_trust"])
    assert "0 of the answers were given before" in " ".join(whole["on_trust"])
    said = json.loads((tmp_path / "a.csv.json").read_text())
    forged = tmp_path / "forged.json"
    changes = (
        {"space": {"kind": "counts", "sizes": [9]}},
        {"mechanism": said["mechanism"] | {"sha256": "0" * 64}},
        {"mechanism": said["mechanism"] | {"checked": "computed from all rows: the least level that it keeps"}},
    )
    for change in changes:
        forged.write_text(json.dumps(said | change))
        assert run("verify", answers, "--statement", forged)[0] == 0
        assert run("verify", answers, "--statement", forged, "--release", design)[0] != 0
    answers.write_text("id,place_answer\nAda,0\nBo,7\n")
    said["table"]["sha256"] = sha256(answers.read_bytes()).hexdigest()
    forged.write_text(json.dumps(said))
    code, _, err = run("verify", answers, "--statement", forged, "--release", design)
    assert (code, "place_answer" in err) == (1, True)


@pytest.mark.parametrize("space", ["line:3", "discrete:3"])
def test_answers_of_a_channel_are_checked_with_its_file(run, file, tmp_path, space):
    channel = file("1/2,1/4,1/4\n1/4,1/2,1/4\n1/4,1/4,1/2\n", "channel.csv")
    table, answers = file("id,place\nAda,0\nBo,2\n"), tmp_path / "a.csv"
    asked = ["--space", space, "--file", table, "--column", "place", "--public", "id"]
    assert run("respond", channel, *asked, "--out", answers)[0] == 0
    code, _, err = run("verify", answers, "--release", channel)
    assert (code, err) == (0, "")


def test_a_statement_says_that_a_ledger_keeps_answers_only_if_it_names_the_release(run, design, file, tmp_path):
    """Either sentence was believed of either, and so was any text as the level of all versions."""
    people, kept, alone = file("id,place\nada,1\nbo,2\n", "people.csv"), tmp_path / "kept.csv", tmp_path / "alone.csv"
    asked = ["respond", design, "--file", people, "--column", "place", "--public", "id", "--id", "id", "--out"]
    assert run(*asked, alone)[0] == 0
    assert run(*asked, kept, "--ledger", new_ledger(tmp_path / "answers.db"))[0] == 0
    with_ledger, without = (json.loads(place.with_name(f"{place.name}.json").read_text()) for place in (kept, alone))
    facts = {name: with_ledger[name] for name in ("name", "data_version", "together")}
    wrong = {"name": 7, "data_version": 0, "together": "nothing at all"}
    for place, said in (
        (alone, without | {"guarantee": with_ledger["guarantee"]}),
        (alone, without | facts),
        (kept, with_ledger | {"guarantee": without["guarantee"]}),
        (kept, {name: fact for name, fact in with_ledger.items() if name not in facts}),
        *((kept, {name: fact for name, fact in with_ledger.items() if name != left}) for left in facts),
        *((kept, with_ledger | {name: value}) for name, value in wrong.items()),
        (kept, with_ledger | {"together": "1/2"}),
        (kept, with_ledger | {"data_version": True}),
    ):
        (tmp_path / "forged.json").write_text(json.dumps(said))
        assert run("verify", place, "--statement", tmp_path / "forged.json")[0] == 1
    assert run("verify", kept, "--release", design)[0] == 0
