"""`utmost init` and `utmost release --recipe`: the options in a file, from any folder; what is misspelt is named."""

import io
import json
import stat
import tomllib

import pytest

import utmost as ut
from postgres import fresh_database
from running import new_ledger, utmost_command, with_recipe
from utmost.errors import AlreadyPublished, KeyRefused

REGIONS = ("nord", '"süd, ost"', "west")
EVENTS = "".join(f"p{i % 40},{REGIONS[i % 3]},{1950 + i % 60}-03-01,{i % 7}.25\n" for i in range(120))
DOMAIN = {
    "region": ["nord", "süd, ost", 'w"est', "west"],
    "age": {"ages": [0, 65, None], "on": "2025-01-01", "column": "born"},
}
BY = ["--by", "region,age", "--domain", "d.json"]
COUNT = ["--person", "who", "--at-most", 2, *BY]
MEAN = ["--each-row", *BY, "--mean", "paid=0,10,0.01"]
CELLS = ["--columns", "n,m", "--public", '"a, b"']
WAYS = {
    "means": ("e.csv", MEAN),
    "columns": ("t.csv", [*CELLS, "--sensitivity", 3, "--cells", 2]),
    "reals": ("t.csv", [*CELLS, "--sensitivity", 3, "--cells", 2, "--numbers", "reals", "--confidence", 0.9]),
    "together": ("t.csv", [*CELLS, "--sensitivity", 3, "--once", "row", "--format", "tsv"]),
}


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Events and their domain, in a folder that is the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text("who,region,born,paid\n" + EVENTS, encoding="utf-8")
    (tmp_path / "d.json").write_text(json.dumps(DOMAIN), encoding="utf-8")
    (tmp_path / "t.csv").write_text('"a, b",n,m\nx,10,1\ny,20,2\n', encoding="utf-8")
    return tmp_path


def ran(run, *words):
    code, out, err = run(*words)
    assert code == 0, err
    return out


@pytest.mark.parametrize(("table", "options"), WAYS.values(), ids=WAYS)
def test_a_recipe_says_what_its_options_say(run, job, table, options):
    """The promise of the statement is the same, and so is every fact but the noise."""
    level = ["--epsilon", "1/2"]
    ran(run, "init", *options, *level, "--out", "r.toml")
    by_options = ran(run, *with_recipe("release", table, *options, *level, "--dry-run", "--json"))
    assert ran(run, "release", table, "--recipe", "r.toml", "--dry-run", "--json") == by_options
    out = "o.tsv" if "tsv" in options else "o.csv"
    ran(run, "release", table, "--recipe", "r.toml", "--out", out)
    ran(run, "verify", out)


def test_a_nightly_job_repeats_itself_and_refuses_other_data(run, job, monkeypatch):
    """Persons are counted by the key of the secret file, so a re-run from another folder writes the same bytes."""
    out = ran(run, "init", *COUNT, "--epsilon", "1/4", "--ledger", "n.db", "--name", "people", "--out", "night.toml")
    assert "night.secret.toml" in out
    secrets = job / "night.secret.toml"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    night = ["--recipe", "night.toml", "--request", "monday"]
    for refused in (["--dry-run"], ["--out", "o.csv"]):  # a job makes no ledger
        code, _, err = run("release", "e.csv", *night, *refused)
        assert (code, "utmost ledger create n.db --key-file night.secret.toml\n" in err) == (1, True)
    assert not list(job.glob("n.db*"))
    ran(run, "ledger", "create", "n.db", "--key-file", "night.secret.toml")
    shown = ran(run, "release", "e.csv", *night[:2], "--dry-run")
    assert "± " in shown
    assert "spent in all" in shown
    spent = "Dataset people has spent epsilon = 1/4.\n"
    assert f"Answered.\n{spent}" in ran(run, "release", "e.csv", *night, "--out", "o.csv")
    first = (job / "o.csv").read_bytes(), (job / "o.csv.json").read_bytes()
    assert f"Answered again: nothing was spent.\n{spent}" in ran(run, "release", "e.csv", *night, "--out", "o.csv")
    printed = json.loads(ran(run, "release", "e.csv", *night, "--out", "o.csv", "--json"))
    assert printed == {**json.loads(first[1]), "repeated": True}
    for _ in range(2):  # the next night, with the data of the night before: the answer that is there
        ran(run, "release", "e.csv", *night[:3], "tuesday", "--out", "p.csv")
    assert (job / "p.csv").read_bytes() == first[0]
    (job / "elsewhere").mkdir()
    monkeypatch.chdir(job / "elsewhere")
    ran(run, "release", "../e.csv", "--recipe", "../night.toml", "--request", "monday", "--out", "o.csv")
    for folder in (job, job / "elsewhere"):
        assert ((folder / "o.csv").read_bytes(), (folder / "o.csv.json").read_bytes()) == first
    assert sorted(path.name for path in (job / "elsewhere").iterdir()) == ["o.csv", "o.csv.json"]
    other = (job / "e.csv").read_text(encoding="utf-8").replace("p9,nord", "p9,west")
    (job / "other.csv").write_text(other, encoding="utf-8")
    for more in ([], ["--request", "tuesday"]):
        code, _, _ = run("release", "../other.csv", "--recipe", "../night.toml", *more, "--out", "x.csv")
        assert code == 3
    with ut.Ledger.open(job / "n.db", key=secrets) as ledger:
        assert ledger.spent("people") == ut.level("1/4")
    assert (job / "n.db.witness").exists()
    place = ["--ledger", job / "n.db", "--key-file", secrets]
    count = [f"../{word}" if word == "d.json" else word for word in COUNT]
    ran(run, "relax", "../e.csv", *count, *place, "--name", "people", "--epsilon", 1, "--out", "r.csv")
    ran(run, "ledger", "verify", *place)


@pytest.mark.parametrize(
    ("people", "means"),
    [(["--dataset", "d"], ["paid=0,10,0.01", "hours=0,9"]), (["--independent"], [])],
    ids=["two means", "counts of other people"],
)
def test_a_file_that_came_twice_is_named(run, job, means, people):
    """Each night spends its level; the second one, with the values of the first, did so without a word."""
    header, *rows = (job / "e.csv").read_text(encoding="utf-8").splitlines()
    lines = [f"{header},hours", *(f"{row},{k % 9}" for k, row in enumerate(rows))]
    (job / "e.csv").write_text("\n".join(lines), encoding="utf-8")
    count = [*COUNT, *(word for mean in means for word in ("--mean", mean))]
    ran(run, "init", *count, "--epsilon", "1/4", "--ledger", "n.db", *people, "--out", "n.toml")
    ran(run, "ledger", "create", "n.db", "--key-file", "n.secret.toml")
    told = []
    for night in ("monday", "tuesday", "tuesday"):
        code, _, err = run("release", "e.csv", "--recipe", "n.toml", "--name", night, "--out", f"{night}.csv")
        told.append((code, "values of this release" in err))
    assert told == [(0, False), (0, True), (0, False)]
    shown = ran(run, "ledger", "status", "--ledger", "n.db", "--key-file", "n.secret.toml")
    assert ("sums by region" in shown) == bool(means)


@pytest.mark.parametrize("place", [pytest.param(fresh_database, id="server"), lambda: "sqlite:///n.db"])
def test_a_recipe_for_an_address_has_its_secret_file_too(run, job, place):
    """A recipe for PostgreSQL had no keys: no run could count persons, and each refusal said: write `utmost init`."""
    place = place()
    out = ran(run, "init", *COUNT, "--epsilon", 1, "--ledger", place, "--name", "people", "--out", "night.toml")
    assert "night.secret.toml" in out
    ran(run, "ledger", "create", place, "--key-file", "night.secret.toml")
    for _ in range(2):
        ran(run, "release", "e.csv", "--recipe", "night.toml", "--request", "monday", "--out", "o.csv")
    ran(run, "ledger", "verify", "--ledger", place, "--key-file", "night.secret.toml")
    assert len(list(job.glob("*.witness"))) == 1


@pytest.mark.parametrize(
    "place", ["postgresql://u:hushhush@h/l", "postgresql://h/l?password=hushhush", "https://h/l", "POSTGRESQL://h/l"]
)
@pytest.mark.parametrize("asked", [False, True], ids=["options", "questions"])
def test_a_recipe_has_no_password_and_no_address_of_another_kind(run, job, monkeypatch, place, asked):
    """A recipe is for version control; that of a password had it, and that of https:// named a file https:/h."""
    answers = ["y", "region", "values", "A,B", "", "1", "y", place, "a"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*answers, ""])))
    options = [] if asked else [*COUNT, "--epsilon", 1, "--ledger", place, "--name", "a"]
    code, out, err = run("init", *options, "--out", "r.toml")
    assert (code, "hushhush" in out + err, list(job.glob("r*.toml"))) == (2, False, [])
    assert "--ledger: " in err


@pytest.mark.parametrize(
    ("key_file", "remedy"), [("k.secret.toml", "Leave out --key-file"), (None, "--key-file NAME.secret.toml")]
)
def test_a_recipe_that_no_run_could_count_by_is_refused(run, job, key_file, remedy):
    """Such a recipe was written, and its first night was sent back to `utmost init`."""
    ran(run, "init", *COUNT, "--epsilon", 1, "--ledger", "l.db", "--out", "of_another.toml")
    ran(run, "ledger", "create", "l.db", "--key-file", "of_another.secret.toml")
    named = ["--ledger", "l.db", "--name", "a", *(["--key-file", key_file] if key_file else [])]
    code, _, err = run("init", *COUNT, "--epsilon", 1, *named, "--out", "r.toml")
    assert (code, remedy in err, (job / "r.toml").exists()) == (2, True, False)


def test_sums_of_totals_are_counted_first_and_kept_by_a_recipe_without_counting_options(run, job):
    """`utmost init --values` had no way on; this is the way that it names."""
    code, _, err = run("init", *COUNT, "--epsilon", 1, "--values", "paid", "--out", "r.toml")
    assert (code, "utmost count TABLE" in err) == (2, True)
    ran(run, "init", "--epsilon", 1, "--ledger", "l.db", "--dataset", "people", "--out", "r.toml")
    ran(run, "ledger", "create", "l.db", "--key-file", "r.secret.toml")
    (job / "count.key").write_bytes(bytes(32))
    sums = ["--values", "paid", "--step", "0.01", "--per-cell", 20, "--count-key", "count.key", "--out", "counted.json"]
    for _ in range(2):  # each night counts again
        (job / "counted.json").unlink(missing_ok=True)
        ran(run, "count", "e.csv", *COUNT, *sums)
        ran(run, "release", "counted.json", "--recipe", "r.toml", "--name", "monday", "--out", "o.csv")
    with ut.Ledger.open("l.db", key="r.secret.toml") as ledger:
        assert ledger.spent(dataset="people") == ut.level(1)


def test_the_witness_of_a_recipe_is_made_where_the_recipe_says(run, job):
    """The secret file named another one, which `utmost ledger create` made: the first night found none."""
    (job / "disk").mkdir()
    ledger = ["--ledger", "n.db", "--name", "people", "--witness", "disk/n.witness"]
    ran(run, "init", *COUNT, "--epsilon", 1, *ledger, "--out", "night.toml")
    ran(run, "ledger", "create", "n.db", "--key-file", "night.secret.toml")
    assert ((job / "disk/n.witness").exists(), (job / "n.db.witness").exists()) == (True, False)
    ran(run, "release", "e.csv", "--recipe", "night.toml", "--out", "o.csv")
    ran(run, "ledger", "verify", "--ledger", "n.db", "--key-file", "night.secret.toml")


def test_persons_are_counted_by_a_key_derived_from_that_of_the_ledger(run, job, monkeypatch):
    """With and without a recipe, for `relax`, and for a key in the environment; it was refused, with two ways on."""
    place = ["--ledger", new_ledger("l.db"), "--name", "a"]
    asked = ["release", "e.csv", *COUNT, *place, "--epsilon", 1]
    ran(run, *asked, "--out", "a.csv")
    ran(run, "init", *COUNT, "--epsilon", 1, *place, "--out", "r.toml")
    assert not (job / "r.secret.toml").exists()
    ran(run, "release", "e.csv", "--recipe", "r.toml", "--out", "b.csv")
    ran(run, "relax", "e.csv", *COUNT, *place, "--epsilon", 2, "--out", "c.csv")
    monkeypatch.setenv("UTMOST_LEDGER_KEY", (job / "l.db.key").read_text().strip())
    ran(run, *asked, "--out", "d.csv")
    assert (job / "a.csv").read_bytes() == (job / "b.csv").read_bytes() == (job / "d.csv").read_bytes()
    with ut.Ledger.open("l.db") as ledger:
        assert ledger.spent("a") == ut.level(2)


def test_json_says_whether_an_answer_was_repeated(run, job):
    """A program could not tell whether its call had spent anything; each form of an answer says it."""
    forms = {
        "cells": ["--out", "a.csv"],
        "shown": [],
        "sums": ["--want", "region", "--want", "total", "--out", "s.json"],
        "means": ["--mean", "paid=0,9,0.01", "--out", "m.csv"],
    }
    new_ledger("l.db")
    count = ["--person", "who", "--at-most", 2, "--by", "region", "--domain", "d.json"]
    for name, more in forms.items():
        asked = [
            "release", "e.csv", *count, "--ledger", "l.db", "--name", name, "--dataset", "d", "--epsilon", 1, *more,
        ]  # fmt: skip
        found = [json.loads(ran(run, *asked, "--json"))["repeated"] for _ in range(2)]
        assert found == [False, True], name
    relax = ["relax", "e.csv", *count, "--ledger", "l.db", "--name", "cells", "--epsilon", 2, "--json"]
    assert [json.loads(ran(run, *relax))["repeated"] for _ in range(2)] == [False, True]
    assert "repeated" not in json.loads((job / "a.csv.json").read_text())
    ran(run, "verify", "a.csv")
    place = ["--ledger", "l.db", "--name", "sums", "--dataset", "d"]
    again = ["--want", "region", "--want", "total", *place, "--epsilon", 1, "--json"]
    (job / "printed.json").write_text(ran(run, "release", "e.csv", *count, *again))
    assert (job / "printed.json").read_bytes() == (job / "s.json").read_bytes()  # readers refuse any other field


def test_the_key_of_a_ledger_keeps_the_same_rows_wherever_it_is(run, job, monkeypatch):
    """In a secret file, a key file, a variable, and in Python. A secret file had a counting key of its own."""
    ran(run, "init", *COUNT, "--epsilon", 1, "--ledger", "l.db", "--name", "a", "--out", "r.toml")
    ran(run, "ledger", "create", "l.db", "--key-file", "r.secret.toml")
    ran(run, "release", "e.csv", "--recipe", "r.toml", "--out", "a.csv")
    key = tomllib.loads((job / "r.secret.toml").read_text())["ledger-key"]
    asked = ["release", "e.csv", *COUNT, "--ledger", "l.db", "--name", "a", "--epsilon", 1]
    monkeypatch.setenv("UTMOST_LEDGER_KEY", key)
    ran(run, *asked, "--out", "b.csv")
    monkeypatch.delenv("UTMOST_LEDGER_KEY")
    (job / "k.key").write_text(key)
    (job / "k.key").chmod(0o600)
    monkeypatch.setenv("UTMOST_LEDGER_KEY_FILE", "k.key")
    ran(run, *asked, "--out", "c.csv")
    assert (job / "a.csv").read_bytes() == (job / "b.csv").read_bytes() == (job / "c.csv").read_bytes()
    sums = ["--person", "who", "--at-most", 2, *BY, "--out"]
    ran(run, "count", "e.csv", *sums, "counted.json", "--count-key", "r.secret.toml")
    ran(run, "release", "counted.json", *asked[-6:], "--out", "d.csv")
    assert (job / "a.csv").read_bytes() == (job / "d.csv").read_bytes()
    monkeypatch.delenv("UTMOST_LEDGER_KEY_FILE")
    counting = ut.Counting("who", at_most=2, key="r.secret.toml")
    counted = ut.count_table(job / "e.csv", ut.Domain.of_facts(DOMAIN), counting)
    with ut.Ledger.open("l.db", key="r.secret.toml") as ledger:
        assert ledger.relax("a", counted, epsilon=2).epsilon == 2


def test_an_option_that_only_a_recipe_has_names_the_line_to_write(run, job):
    """With its value as TOML has it; a key's wrong value is named as the key, and wrong TOML stays wrong."""
    asked = ["release", "e.csv", "--each-row", *BY, "--epsilon", 1]
    for words, line in {
        ("--currency", "$"): 'currency = "$"',
        ("--independent",): "independent = true",
        ("--numbers=real",): 'numbers = "real"',
    }.items():
        code, _, err = run(*asked, *words)
        assert (code, f"Write {line} in a file release.toml, and add --recipe release.toml." in err) == (2, True), err
        (job / "r.toml").write_text(f"{line}\n")
        code, _, err = run(*asked, "--recipe", "r.toml", "--ledger", "l.db", "--dry-run")
        assert (code, "No such option" in err) == (2, False), err
    (job / "r.toml").write_text('cost = "cubic"\n')
    code, _, err = run(*asked, "--recipe", "r.toml")
    assert (code, "cost in the recipe must be" in err) == (2, True)


WRONG = {
    "a misspelt key": ("epsilom = 1", 2, "Did you mean 'epsilon'?"),
    "an underscore": ("at_most = 1", 2, "Did you mean 'at-most'?"),
    "another word": ("xyz = 1", 2, "Its keys are at-most, by"),
    "an option of a run": ('out = "o.csv"', 2, "Write --out on the command line"),
    "no TOML": ("epsilon = ", 1, "must be TOML"),
    "a flag as text": ('each-row = "yes"', 1, "true or false"),
    "a list of lists": ("by = [[1]]", 1, "list of texts"),
    "no level": ('columns = "n"', 2, "--epsilon must be given"),
    "a domain that is not there": ('each-row = true\nepsilon = 1\ndomain = "no.json"', 2, "no.json"),
    "an axis that is none": ("each-row = true\nepsilon = 1\n[domain]\nage = { bin = [0, 1] }", 2, "axis 'age'"),
    "not a number": ("epsilon = nan", 1, "nan"),
}


@pytest.mark.parametrize(("text", "code", "message"), WRONG.values(), ids=WRONG)
def test_a_recipe_that_is_wrong_is_refused_with_the_place(run, job, text, code, message):
    (job / "r.toml").write_text(text, encoding="utf-8")
    found = run("release", "e.csv", "--recipe", "r.toml", "--out", "o.csv")
    assert (found[0], message in found[2]) == (code, True), found
    assert not (job / "o.csv").exists()


def test_what_init_writes_is_read_as_it_was_declared(run, job):
    """Open ends, quotes, commas and letters of other alphabets; other commands take the domain from the recipe."""
    ran(run, "init", *MEAN, "--epsilon", 1, "--out", "r.toml")
    facts = tomllib.loads((job / "r.toml").read_text(encoding="utf-8"))
    assert facts["mean"] == {"paid": [0, 10, "0.01"]}
    assert facts["domain"]["region"] == DOMAIN["region"]
    rows = ["count", "e.csv", "--each-row", "--by", "region,age", "--out", "-", "--domain"]
    assert ran(run, *rows, "r.toml") == ran(run, *rows, "d.json")
    assert run("init", *MEAN, "--epsilon", 1, "--out", "r.toml")[0] == 2, "no existing file is overwritten"
    assert run("init", *MEAN, "--out", "s.toml")[0] == 2, "no level is assumed"
    assert run("init", *MEAN, "--epsilon", 1, "--name", "a", "--out", "s.toml")[0] == 2
    assert run("init", *MEAN[:1], "--by", "regio", *BY[2:], "--epsilon", 1, "--out", "s.toml")[0] == 2
    assert not (job / "s.toml").exists()


ANSWERS = (
    "n\nwho\n2\nregion, age\n\nnord,west\nbirth dates\n0,18,65,\nborn\n2025-01-01\npaid\n0\n10\n0.01\n1/2\ny\n\np\n"
)


def test_init_asks(run, job, monkeypatch):
    """Question by question, on standard error; and what comes of the answers is a recipe that runs."""
    asked = utmost_command("init", input=ANSWERS, cwd=job)
    assert asked.returncode == 0, asked.stderr
    assert "Is each row a different person" in asked.stderr
    recipe = tomllib.loads((job / "release.toml").read_text(encoding="utf-8"))
    assert recipe["domain"]["age"] == {"ages": [0, 18, 65, float("inf")], "on": "2025-01-01", "column": "born"}
    ran(run, "ledger", "create", "releases.db", "--key-file", "release.secret.toml")
    ran(run, "release", "e.csv", "--recipe", "release.toml", "--out", "o.csv")
    (job / "release.toml").unlink()
    (job / "release.secret.toml").unlink()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run("init")[0] != 0


@pytest.mark.parametrize("text", ["", "ledger-key = 7", 'ledger-key = "zz"', "[[", 'ledger-key = "00"'])
def test_a_secret_file_without_its_keys_is_refused_and_not_quoted(run, job, text):
    (job / "s.toml").write_text(text)
    (job / "s.toml").chmod(0o600)
    keep = ["--ledger", new_ledger("l.db"), "--name", "a", "--key-file", "s.toml", "--epsilon", 1]
    code, _, err = run(*with_recipe("release", "e.csv", *COUNT, *keep))
    assert code == 1
    assert "s.toml" in err
    assert "zz" not in err


def test_a_job_is_rehearsed_relaxed_and_refused_as_it_runs(run, job):
    """A dry run ends as the run would, relax takes the recipe, and no remedy is a new version or a new key."""
    ran(run, "init", *COUNT, "--epsilon", 1, "--ledger", "n.db", "--name", "people", "--out", "r.toml")
    ran(run, "ledger", "create", "n.db", "--key-file", "r.secret.toml")
    out = ran(run, "release", "e.csv", "--recipe", "r.toml", "--out", "a.csv")
    assert "not counted" in out
    assert "more than 2 released cells" in " ".join(out.split())
    assert "the sum of the counted contributions is from" in ran(run, "total", "a.csv")
    assert "the sum of the counted contributions is from" in ran(run, "read", "a.csv", "--where", "region=west")
    beyond = "what one individual has in more than 2 released cells, or beyond 1 in any cell"
    for command in (("total", "a.csv"), ("read", "a.csv"), ("read", "a.csv", "--where", "region=west")):
        assert beyond in json.loads(ran(run, *command, "--json"))["not_counted"], command
    assert beyond in " ".join(ran(run, "statement", "a.csv", "--out", "-").split())
    ran(run, "release", "e.csv", "--recipe", "r.toml", "--dry-run")

    (job / "less.csv").write_text("\n".join((job / "e.csv").read_text(encoding="utf-8").split("\n")[:60]) + "\n")
    (job / "two.toml").write_text((job / "r.toml").read_text().replace('epsilon = "1"', 'epsilon = "2"'))
    for words in (
        ["release", "less.csv", "--recipe", "r.toml"],
        ["release", "e.csv", "--recipe", "two.toml"],
        ["relax", "less.csv", "--recipe", "r.toml", "--epsilon", 2],
    ):
        rehearsed, done = run(*words, "--dry-run"), run(*words, "--out", "never.csv")
        assert rehearsed[0] == done[0] != 0

    again = ["relax", "e.csv", "--ledger", "n.db", "--key-file", "r.secret.toml", "--name", "people", "--epsilon", 2]
    code, _, err = run(*again, "--person", "who", *BY, "--at-most", 1, "--out", "never.csv")
    assert (code, "--at-most 2" in err) == (3, True)
    code, _, err = run(*again, "--out", "never.csv")
    assert (code, "--person COLUMN" in err) == (2, True)
    assert "--epsilon must be on the command line" in run("relax", "e.csv", "--recipe", "r.toml", "--dry-run")[2]
    shown = " ".join(run("relax", "--help")[1].split())
    assert (shown.count("[required, here or in the recipe]"), "[required]" in shown) == (2, False)
    ran(run, "relax", "e.csv", "--recipe", "r.toml", "--epsilon", 2, "--out", "b.csv")

    (job / "r.secret.toml").unlink()
    code, _, err = run("release", "e.csv", "--recipe", "r.toml", "--dry-run")
    assert code != 0
    assert "Restore the secret file from a backup" in err


def test_an_option_on_the_command_line_replaces_that_of_the_recipe(run, job):
    (job / "amounts.csv").write_text("who,region,born,paid\n" + EVENTS + "p1,west,1950-03-01,\n", encoding="utf-8")
    ran(run, "init", "--each-row", *BY, "--mean", "paid=0,100", "--epsilon", 1, "--out", "r.toml")
    asked = ["release", "amounts.csv", "--recipe", "r.toml", "--dry-run"]
    code, _, err = run(*asked)
    assert (code, "write --mean paid=0,100,0.01" in err, "Pass --leave-out amounts" in err) == (1, True, True), err
    ran(run, *asked, "--mean", "paid=0,100,0.01", "--leave-out", "amounts")


def test_a_currency_beside_commas_names_both_keys(run, job):
    (job / "m.csv").write_text('who,region,paid\np1,west,"$1,234.50"\n', encoding="utf-8")
    words = ["release", "m.csv", "--each-row", "--by", "region", "--domain", "d.json", "--mean", "paid=0,2000,0.01"]
    more = ["--epsilon", 1, "--currency", "$", "--out", "m2.csv"]
    code, _, err = run(*with_recipe(*words, *more))
    assert code != 0
    assert "--thousands ,." in err
    ran(run, *with_recipe(*words, *more, "--thousands", ","))


def test_bounds_and_spelling_stand_on_the_command_line_of_a_release_and_of_its_refinement(run, job):
    """A release of an everyday file was refused without a recipe."""
    (job / "m.csv").write_text("who;region;paid\n" + "p1;west;1.234,50\np2;west;2,00\n" * 30, encoding="latin-1")
    words = ["m.csv", "--person", "who", "--by", "region", "--domain", "d.json", "--at-most", 1, "--in-total", 1]
    spelling = ["--thousands", ".", "--decimal", ",", "--separator", ";", "--encoding", "latin-1"]
    ran(run, "ledger", "create", "s.db")
    kept = ["--ledger", "s.db", "--name", "a", "--epsilon"]
    ran(run, "release", *words, "--mean", "paid=0,2000,0.01", *spelling, *kept, 1, "--out", "m.csv.out.csv")
    ran(run, "relax", *words, "--mean", "paid=0,2000,0.01", *spelling, *kept, 2, "--out", "more.csv")
    counts = ["--person", "who", "--by", "region", "--domain", "d.json", "--at-most", 1, "--per-cell", 20]
    shown = ran(run, "release", "m.csv", *counts, *spelling, "--epsilon", 1, "--out", "counts.csv")
    assert "at most 20 of each person" in " ".join(shown.split())


def test_several_events_of_a_person_in_a_cell_and_a_name_for_each_night(run, job):
    """With bounds in a recipe; a recipe without a name leaves it to the run."""
    (job / "twice.csv").write_text("who,region,born,paid\n" + 2 * EVENTS, encoding="utf-8")
    bounds = {"one": ["--at-most", 2, "--per-cell", 3], "two": ["--in-total", 4]}
    for name, bound in bounds.items():
        ran(run, "init", "--person", "who", *BY, *bound, "--epsilon", 1, "--ledger", f"{name}.db", "--independent",
            "--out", f"{name}.toml")  # fmt: skip
        ran(run, "ledger", "create", f"{name}.db", "--key-file", f"{name}.secret.toml")
        code, _, err = run("release", "twice.csv", "--recipe", f"{name}.toml", "--out", "never.csv")
        assert (code, "--name" in err) == (2, True)
        for night in ("n1", "n2"):
            called = ["release", "twice.csv", "--recipe", f"{name}.toml", "--name", night, "--request", night]
            ran(run, *called, "--out", f"{name}-{night}.csv")
            ran(run, "verify", f"{name}-{night}.csv")
        relaxed = ["relax", "twice.csv", "--recipe", f"{name}.toml", "--name", "n1", "--epsilon", 2]
        ran(run, *relaxed, "--out", f"{name}-more.csv")
        status = ran(run, "ledger", "status", "--ledger", f"{name}.db", "--key-file", f"{name}.secret.toml", "--json")
        assert {one["dataset"]: one["spent"] for one in json.loads(status)["datasets"]} == {"n1": "2", "n2": "1"}
    key = ["--ledger", "one.db", "--key-file", "one.secret.toml", "--name", "n1", "--epsilon", 3]
    code, _, err = run("relax", "twice.csv", *key, "--person", "who", *BY, "--at-most", 2, "--out", "never.csv")
    assert (code, "--at-most 2 --per-cell 3" in err) == (3, True)


def test_the_first_run_that_a_recipe_without_a_name_prints_works(run, job):
    """On the screen and in the recipe; it ended with 2, "--ledger needs --name"."""
    shown = ran(run, "init", *COUNT, "--epsilon", 1, "--ledger", "l.db", "--out", "r.toml")
    named = '--name "NAME-$(date +%F)" --dry-run'
    assert named in " ".join(shown.split())
    assert named in (job / "r.toml").read_text()
    ran(run, "ledger", "create", "l.db", "--key-file", "r.secret.toml")
    ran(run, "release", "e.csv", "--recipe", "r.toml", "--name", "NAME-2026-11-29", "--dry-run")
    ran(run, "init", *COUNT, "--epsilon", 1, "--ledger", "m.db", "--name", "a", "--out", "s.toml")
    assert "NAME" not in (job / "s.toml").read_text()
    for dataset, named in (("visits", "visits-$(date"), ("a $b", "NAME-$(date")):
        more = ["--ledger", "o.db", "--dataset", dataset, "--out", f"{dataset[0]}.toml"]
        assert f'--name "{named}' in " ".join(ran(run, "init", *COUNT, "--epsilon", 1, *more).split())


def test_python_takes_the_secret_file_of_a_job_and_publishes_its_release_again(run, job):
    count = ["--person", "who", *BY, "--in-total", 4]
    ran(run, "init", *count, "--epsilon", 1, "--ledger", "l.db", "--name", "a", "--out", "r.toml")
    ran(run, "ledger", "create", "l.db", "--key-file", "r.secret.toml")
    ran(run, "release", "e.csv", "--recipe", "r.toml", "--out", "a.csv")
    counting = ut.Counting("who", key="r.secret.toml")
    domain = ut.Domain.of_facts(DOMAIN)
    counted = ut.count_table(job / "e.csv", domain, counting, measure=ut.count(in_total=4), by=["region", "age"])
    with ut.Ledger.open("l.db", key="r.secret.toml") as ledger:
        plan = ut.choose_plan(ut.Workload(domain, {"region age": 1}), counted.unit, epsilon=1)
        uncounted = ut.counting.CountedTable(counted.domain, counted.cells, counted.unit)
        with pytest.raises(AlreadyPublished) as caught:
            ledger.publish("a", uncounted, ut.Promise(noise=plan), epsilon=1)
        own = {"individual": "all rows with the same value of the column who", "proved": True}
        assert "got individual=None, proved=False, published with individual='all rows" in str(caught.value)
        assert f"Make the promise with individual={own['individual']!r}, proved=True" in str(caught.value)
        again = ledger.publish("a", counted, ut.Promise(noise=plan, **own), epsilon=1)
        assert ledger.publish("a", counted, plan, epsilon=1).table.measured.keys() == again.table.measured.keys()
        assert ledger.spent("a") == again.level
    for path, required in (("no.key", "key file"), ("no.toml", "secret file")):
        with pytest.raises(KeyRefused, match=required):
            ut.count_table(job / "e.csv", domain, ut.Counting("who", at_most=2, key=path), by=["region", "age"])


def test_a_creation_that_was_cut_off_is_made_again(run, job):
    ran(run, "init", *COUNT, "--epsilon", 1, "--ledger", "l.db", "--name", "a", "--out", "r.toml")
    (job / "l.db").touch()
    key = ["--ledger", "l.db", "--key-file", "r.secret.toml"]
    code, _, err = run("ledger", "budget", *key, "--dataset", "a")
    assert (code, "utmost ledger create l.db" in err) == (1, True)
    for _ in range(2):  # an empty ledger may be created again
        ran(run, "ledger", "create", "l.db", "--key-file", "r.secret.toml")
    ran(run, "release", "e.csv", "--recipe", "r.toml", "--out", "a.csv")
    ran(run, "ledger", "budget", *key, "--dataset", "a")


@pytest.mark.parametrize("key", ["key-file", "witness", "sign", "domain", "name", "leave-out"])
def test_a_character_that_no_command_line_has_is_refused(run, job, key):
    """TOML can write NUL, which ended in a traceback where the option is a path."""
    (job / "r.toml").write_text(f'{key} = "a\\u0000b"\n', encoding="utf-8")
    code, _, err = run("release", "e.csv", "--recipe", "r.toml", "--epsilon", 1, "--dry-run")
    assert code == 1
    assert f"r.toml, {key}: " in err
    assert "NUL" in err
