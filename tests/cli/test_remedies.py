"""The remedy that a refusal names is taken from its message and applied, and the command then runs.

Each row is a command line with one usual mistake. `mended` reads the first thing that the message tells the user to do:
add or write an option, leave one out, take the name that is meant, or run another command.
"""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from running import every_command, main

DOMAIN = '{"region": ["north", "south", "east"], "sex": ["men", "women"]}'
EVENTS = "".join(
    f"p{i % 40},{('north', 'south', 'east')[i % 3]},{('men', 'women')[i % 2]},{i % 7}.5\n" for i in range(120)
)
FILES = {
    "visits.csv": "who,region,sex,paid\n" + EVENTS,
    "commas.csv": "who;region;sex;paid\n" + EVENTS.replace(",", ";").replace(".5", ",5"),
    "tabs.csv": "who\tregion\tsex\tpaid\n" + EVENTS.replace(",", "\t"),
    "gaps.csv": "who,region,sex,paid\n" + EVENTS.replace("0.5\n", "\n"),
    "domain.json": DOMAIN,
    "north.json": DOMAIN.replace('"north", ', ""),
    "table.csv": "region,n\nnorth,10\nsouth,20\neast,5\n",
    "reals.csv": "region,n\nnorth,10.5\nsouth,20\neast,5\n",
    "whole.csv": ("who,region,sex,paid\n" + EVENTS).replace(".5", ""),
    "regions.json": '{"region": ["north", "south", "east"]}',
    "pairs.csv": "region,n,m\nnorth,10,1\nsouth,20,2\n",
    "commas_n.csv": "region;n\nnorth;10,5\nsouth;20\n",
    "semicolons.toml": 'separator = ";"\n',
    "reals.toml": 'numbers = "reals"\n',
}
UNIT = "--sensitivity 1 --cells 1"
CELLS = f"release table.csv --columns n --public region {UNIT}"
COUNT = "count visits.csv --person who --at-most 2 --domain domain.json"
ROWS = "count visits.csv --each-row --domain domain.json"
KEEP = f"{CELLS} --epsilon 1/2 --ledger l.db"
MADE = [
    f"{COUNT} --out counted.json",
    'plan counted.json --want "region sex" --want region --epsilon 1 --out plan.json',
    "release counted.json --plan plan.json --epsilon 1 --out release.json",
    "design --space counts:2 --prior uniform --epsilon alpha=1/2 --out design.json",
    f"{CELLS} --epsilon 1 --out released.csv",
    "release whole.csv --each-row --mean paid=0,10 --domain domain.json --epsilon 1 --out means.csv",
    "ledger create l.db",
    f"{KEEP} --dataset d --name a --out kept.csv",
    f"promise --columns n --public region {UNIT} --out promise.json",
    "ledger backup --ledger l.db --out backup.db",
    "total release.json --tables old",
    "export design.json --out phone",
]


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with everything that everyday commands write."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "latin.csv").write_bytes(FILES["visits.csv"].replace("p1,", "pé,").encode("latin-1"))
        for line in MADE:
            with pytest.raises(SystemExit) as ended:
                main(shlex.split(line))
            assert not ended.value.code, line
    return folder


COUNTING = {
    "no domain": "count visits.csv --person who --at-most 2",
    "no person": "count visits.csv --domain domain.json",
    "no at-most": "count visits.csv --person who --domain domain.json",
    "another column of persons": COUNT.replace("who", "whoo"),
    "at-most of 0": COUNT.replace("2", "0"),
    "at-most in words": COUNT.replace("2", "two"),
    "another table": COUNT.replace("visits.csv", "visit.csv"),
    "another domain": COUNT.replace("domain.json", "domains.json"),
    "a file that exists": f"{COUNT} --out counted.json",
    "a column beside the domain": f"{COUNT} --by regio",
    "amounts with decimals": f"{COUNT} --values paid --per-cell 10",
    "amounts without a bound": f"{COUNT} --values paid --step 0.5",
    "another column of amounts": f"{COUNT} --values paidd --per-cell 10 --step 0.5",
    "amounts with a comma": f"{ROWS} --values paid --per-cell 10 --step 0.5".replace("visits", "commas"),
    "--leave-out nothing keeps every event": f"{COUNT} --leave-out nothing".replace("domain.json", "north.json"),
    "another word of what is left out": f"{COUNT} --leave-out outsid",
    "a level": f"{COUNT} --epsilon 1",
    "a mean without ends": f"{ROWS} --mean paid".replace("visits", "whole"),
    "a mean with decimals": f"{ROWS} --mean paid=0,10",
    "rows and persons": f"{COUNT} --each-row",
    "another encoding": f"{ROWS}".replace("visits", "latin"),
    "cells without a unit": "count table.csv --count-column n --domain regions.json",
    "keys without a chance": "count visits.csv --person who --at-most 2 --unknown-keys region --epsilon 1 --out k.json",
    "an option misspelt": f"{COUNT} --sepaator ,",
    "missing amounts of no column": f"{ROWS} --leave-out amounts",
    "several events of a row": f"{ROWS} --values paid --step 0.5 --each 0,10 --most-events 2",
    "a cell of several events of a row": f"{ROWS} --per-cell 3",
    "two bounds of a cell": f"{COUNT} --values paid --step 0.5 --each 0,10 --most-events 2 --per-cell 10",
    "events without their range": f"{COUNT} --values paid --step 0.5 --most-events 2",
    "a report of unknown keys": "count visits.csv --person who --at-most 1 --unknown-keys region --epsilon 1 "
    "--delta 1e-3 --out k.json --report report.json",
    "a part of a table of cells": "count table.csv --count-column n --domain regions.json --at-most 1 --part region",
    "a counting key of rows": f"{ROWS} --count-key l.db.key",
    "a bound beside those to compare": f"{COUNT} --contributions at-most=1,2,5",
    "bounds to compare without persons": "count visits.csv --domain domain.json --contributions per-cell=1,2,5 "
    "--values paid --step 0.5",
}
PLANNING = {
    "no level": "plan counted.json --want region",
    "another column": "plan counted.json --want regio --epsilon 1",
    "nothing wanted": "plan counted.json --epsilon 1",
    "a domain without a unit": "plan domain.json --want region --epsilon 1",
    "a level of 0": "plan counted.json --want region --epsilon 0",
    "a level in words": "plan counted.json --want region --epsilon one",
    "another ending": "plan counted.json --want region --epsilon 1 --out other.csv",
    "a unit that was proved": "plan counted.json --want region --epsilon 1 --at-most 2",
    "shares of more than all": "plan counted.json --want region --epsilon 1 --share region=2",
    "exactly without a relation": "plan domain.json --want region --exactly --at-most 1 --epsilon 1",
    "exactly for a counted table": "plan counted.json --want region --exactly --epsilon 1",
    "a method beside shares": "plan counted.json --want region --share region=1 --epsilon 1 --method independent",
    "a confidence of no releases": "share plan.json --epsilon 1 --confidence 0.9",
    "a confidence of 95": "plan counted.json --want region --epsilon 1 --confidence 95",
}
RELEASING = {
    "no level": CELLS,
    "no sensitivity": "release table.csv --columns n --public region --cells 1 --epsilon 1",
    "no unit": "release table.csv --columns n --public region --epsilon 1",
    "a column that is not declared": f"release table.csv --columns n {UNIT} --epsilon 1",
    "reals": f"{CELLS} --epsilon 1".replace("table", "reals"),
    "a key of a recipe": f"{CELLS} --epsilon 1 --cost squared",
    "numbers with a comma": f"{CELLS} --epsilon 1 --recipe reals.toml".replace("table", "commas_n"),
    "a level that protects nobody": f"{CELLS} --epsilon 1000",
    "a file that exists": f"{CELLS} --epsilon 1 --out released.csv",
    "columns beside a plan": "release counted.json --plan plan.json --columns n --epsilon 1",
    "columns beside a promise": "release table.csv --promise promise.json --columns n --epsilon 1",
    "a domain of no events": "release visits.csv --at-most 1 --domain domain.json --epsilon 1",
    "events without a domain": "release visits.csv --each-row --epsilon 1",
    "a name without a ledger": f"{CELLS} --epsilon 1 --name b",
    "no name in a ledger": f"{KEEP} --dataset d",
    "no ledger there": f"{KEEP} --dataset d --name b".replace("l.db", "none.db"),
    "a release that was published": f"{KEEP} --dataset d --name a".replace("1/2", "1"),
    "cells beside a row": f"{CELLS} --epsilon 1 --once row".replace("table", "pairs").replace(" n ", " n,m "),
    "an option misspelt": f"{CELLS} --epsilon 1".replace("columns", "colums"),
    "missing amounts of no column": f"release{ROWS.removeprefix('count')} --leave-out amounts --epsilon 1",
    "a cell of several events of a row": f"release{ROWS.removeprefix('count')} --per-cell 3 --epsilon 1",
    "marks of thousands in a counted table": "release counted.json --thousands . --epsilon 1",
    "a separator in a counted table": "release counted.json --separator , --epsilon 1",
    "a column of the file as the column of counts": f"release{ROWS.removeprefix('count')} --columns paid --epsilon 1",
    "missing amounts in a strict job": "release gaps.csv --each-row --mean paid=0,10,0.1 --domain domain.json "
    "--epsilon 1 --leave-out nothing",
    "nothing and amounts": "release gaps.csv --each-row --mean paid=0,10,0.1 --domain domain.json --epsilon 1 "
    "--leave-out nothing,amounts",
    "columns of a table that is counted": "release counted.json --plan plan.json --epsilon 1 --by region",
    "bounds of a table that is counted": "release counted.json --plan plan.json --epsilon 1 --at-most 1",
    "a unit beside people in one draw": f"release{ROWS.removeprefix('count')} --epsilon 1 --once cells --cells 2",
    "fewer cells than counted": "release counted.json --cells 1 --epsilon 1",
    "less sensitivity than counted": "release counted.json --sensitivity 1/2 --epsilon 1",
    "cells beside a mean": f"release{ROWS.removeprefix('count')} --mean paid=0,10,0.1 --cells 2 --epsilon 1",
    "a plan as a table": "release counted.json --plan plan.json --epsilon 1 --out y.csv",
}
PROMISING = {
    "no cells": "promise --columns n --sensitivity 1",
    "a file that exists": f"promise --columns n {UNIT} --out promise.json",
    "another ending": f"promise --columns n {UNIT} --out p.txt",
    "a unit of points": "promise --columns x,y --planar --sensitivity 1",
    "a confidence without a level": "promise --columns n --sensitivity 1 --cells 1 --confidence 0.9",
    "a grid of integers": f"promise --columns n {UNIT} --grid 1/8",
}
READING = {
    "another label": "total release.json --where region=nord",
    "another column": "total release.json --where regio=north",
    "a column without a label": "total release.json --where region",
    "a plan without tables": "total release.json --plan plan.json",
    "another amount": "total means.csv --sum n",
    "numbers without a mean": "total release.json --values 1,2,3",
    "another label of a table": "read released.csv --where region=nort",
    "another name of a table": "read releasd.csv",
    "nothing to read": "read",
    "another column of responses": "read released.csv --column m --n 100 --prior uniform",
    "no signature": "verify released.csv --public-key promise.json",
    "a fact without its number": "clean release.json --given total",
    "another table to clean": "clean release.json --want regio",
    "a format of a screen": "read released.csv --format jsonl",
    "a separator of a .json file": "read release.json --separator ,",
    "a separator of one response": "read --response 3 --n 10 --prior uniform --epsilon 1 --separator ,",
    "a title of no page": "statement released.csv --title T",
    "the use of a page": "statement released.csv --html page.html --use U",
    "the licence of a page": "statement released.csv --html page.html --license CC0",
    "a folder with such tables": "total release.json --tables old",
    "a folder with such withheld tables": "withhold release.json --below 5 --tables old",
    "a folder with such code": "export design.json --out phone",
    "a format of several tables": "withhold release.json --below 5 --tables withheld --format tsv",
    "a format of JSON": "withhold released.csv --below 5 --format tsv --json",
    "no rule": "withhold released.csv",
    "a bound in words": "withhold released.csv --below few",
    "another mark": "withhold released.csv --below 5 --mark hidden",
    "missing amounts in two stages": "detail visits.csv --each-row --domain domain.json --group region --detail sex=1 "
    "--epsilon 1 --leave-out amounts",
    "means in two stages": "detail visits.csv --each-row --domain domain.json --group region --detail sex=1 "
    "--epsilon 1 --mean paid=0,10,0.1",
}
KEEPING = {
    "no level": "relax table.csv --ledger l.db --name a",
    "a file that exists": "relax table.csv --ledger l.db --name a --epsilon 1 --out kept.csv",
    "columns of a relaxation": "relax table.csv --ledger l.db --name a --epsilon 1 --columns n",
    "a request of a relaxation": "relax table.csv --ledger l.db --name a --epsilon 1 --request r",
    "columns of a view": "view --ledger l.db --name a --epsilon 1/4 --columns n",
    "a limit in words": "ledger budget --ledger l.db --dataset d --limit much",
    "another command": "ledger statu --ledger l.db",
    "a backup that exists": "ledger backup --ledger l.db --out backup.db",
    "a level in words": "relax table.csv --ledger l.db --name a --epsilon one",
    "no ledger": "ledger restore backup.db --key-file l.db.key --ledger l.db",
}
MISTAKES = {
    f"{command}: {name}": line
    for command, lines in {
        "count": COUNTING,
        "plan": PLANNING,
        "release": RELEASING,
        "promise": PROMISING,
        "read": READING,
        "ledger": KEEPING,
    }.items()
    for name, line in lines.items()
}

VALUE = r"(?:,(?=\.)|\"[^\"]*\"|(?!--)[^\s;]*[^\s;,.:])"
OPTIONS = re.compile(rf"--[a-z][a-z-]*(?: {VALUE})?(?: --[a-z][a-z-]*(?: {VALUE})?)*")


def mended(words, told, flags):
    """The command line after the first remedy in the message of its refusal."""
    told = told.replace("\n", " ")
    lines = re.findall(r'([a-z-]+) = ("[^"]*"|\[.*?\]) (?:and|in the recipe|in a file)', told)
    if lines:
        words = [word for word in words if word not in (f"--{lines[0][0]}", lines[0][1].strip('"'))]
        named = words[words.index("--recipe") + 1] if "--recipe" in words else "release.toml"
        kept = Path(named).read_text().splitlines() if "--recipe" in words else []
        kept = [line for line in kept if line.partition(" = ")[0] not in dict(lines)]
        Path("mended.toml").write_text("".join(f"{line}\n" for line in [*kept, *(" = ".join(line) for line in lines)]))
        return [*(word for word in words if word not in ("--recipe", named)), "--recipe", "mended.toml"]
    meant = re.search(r"Did you mean (?:one of: )?'([^']+)'", told)
    if meant:
        wrong = re.findall(r"'([^']+)'", told[: meant.start()])[-1]
        assert any(wrong in word for word in words), (wrong, words)
        return [word.replace(wrong, meant[1]) for word in words]
    name = re.search(r"Choose another name, such as (\S+)\. ", told)
    if name:
        taken = re.search(r"utmost: (\S+): no existing file", told)[1]
        return [name[1] if word == taken else word for word in words]
    folder = re.search(r"Choose another folder, such as (\S+)\.", told)
    if folder:
        return [folder[1] if word == folder[1].removesuffix("-2") else word for word in words]
    named = re.search(r"got '([^']*)'\. Write ([^-\s]+=[^,\s]+),", told)
    if named:
        return [named[2] if word == named[1] else word for word in words]
    left = re.search(r"[Ll]eave (?:out )?(--[a-z-]+)", told)
    verbs = "(?:[Aa]dd|[Ww]rite|[Pp]ass)(?:, for example,)?|for example|Declare (?:it|the decimal mark):|a new version:"
    put = re.search(rf"\b(?:{verbs}) (?=--)", told)
    if left and (put is None or left.start() < put.start()):
        at = words.index(left[1])
        return words[:at] + words[at + (1 if left[1] in flags else 2) :]
    whole = re.search(r": utmost (\S.*?)\s*$", told)
    if put is None and whole:
        return shlex.split(whole[1])
    assert put, told
    given = shlex.split(OPTIONS.match(told, put.end())[0])
    for at, word in enumerate(given):
        value = [] if word in flags or at + 1 == len(given) or given[at + 1].startswith("--") else [given[at + 1]]
        if not word.startswith("--"):
            continue
        if word in words:
            place = words.index(word)
            words = [*words[: place + 1], *value, *words[place + 1 + len(value) :]]
        else:
            words = [*words, word, *value]
    return words


def flags_of(words):
    """The options of a command that take no value."""
    commands = [each for name, each in every_command() if shlex.join(words).startswith(name)]
    return {name for each in commands for one in each.params if getattr(one, "is_flag", False) for name in one.opts}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_remedy_of_a_refusal_works(run, made, tmp_path, monkeypatch, name):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(MISTAKES[name])
    code, out, err = run(*words)
    assert code in (1, 2), (name, out)
    again = mended(words, err, flags_of(words))
    assert again != words
    code, _, still = run(*again)
    assert code == 0, f"{shlex.join(words)}\n{err}\n{shlex.join(again)}\n{still}"


PEOPLE = "--person who --at-most 2 --domain domain.json --epsilon 1"


def test_what_is_said_after_a_release_of_people_makes_a_ledger_of_it(run, made, tmp_path, monkeypatch):
    """The note after a release, as printed: a new ledger, and the same command again with two more options."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    code, _, note = run("release", "visits.csv", *shlex.split(PEOPLE))
    assert code == 0
    note = " ".join(note.split())
    create, kept = re.search(r"\(utmost (.*?), then (.*?)\)", note).groups()
    assert run(*shlex.split(create.replace("FILE", "x.db")))[0] == 0
    kept = shlex.split(kept.replace("FILE", "x.db").replace("N", "a"))
    for _ in range(2):  # the same persons' rows are kept each time
        assert run("release", "visits.csv", *shlex.split(PEOPLE), *kept, "--out", "a.csv")[0] == 0


def test_a_ledger_that_is_not_there_is_created_as_the_refusal_says(run, tmp_path):
    """With the key file and the witness of the refused command."""
    key = tmp_path / "my key"
    key.write_text("cd" * 32)
    key.chmod(0o600)
    files = ["--key-file", key, "--witness", tmp_path / "w"]
    for number, more in enumerate(([], files)):
        words = ["ledger", "budget", "--ledger", tmp_path / f"{number}.db", *more, "--dataset", "d", "--limit", 2]
        code, _, refused = run(*words)
        create = re.search(r"once: utmost (.*)$", refused.strip())[1]
        assert (code, run(*shlex.split(create))[0], run(*words)[0]) == (1, 0, 0)
    assert (tmp_path / "w").exists()
    code, _, refused = run(*shlex.split(create))
    assert (code, "a ledger with 2 events" in refused) == (2, True)


def test_a_recipe_stops_at_misspelt_labels_and_leaves_out_missing_amounts(run, made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    Path("job.toml").write_text('leave-out = "nothing but amounts"\n[mean]\npaid = [0, 10, 0.1]\n')
    call = ["release", "gaps.csv", "--each-row", "--recipe", "job.toml", "--epsilon", "1", "--domain"]
    assert run(*call, "domain.json")[0] == 0
    code, out, err = run(*call, "north.json")
    assert (code, out, "lie outside the declared domain on 'region'" in err) == (1, "", True)
    assert run(*call, "north.json", "--leave-out", "outside,amounts")[0] == 0


def test_an_option_that_only_the_recipe_has_is_left_out_there(run, made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    call = ["release", "released.parquet", *UNIT.split(), "--columns", "n", "--public", "region", "--epsilon", 1]
    assert run(*shlex.split(CELLS), "--epsilon", 1, "--out", "released.parquet")[0] == 0
    call += ["--drop", "n_margin"]
    code, _, err = run(*call, "--recipe", "semicolons.toml")
    assert (code, "Leave out separator in the recipe." in err) == (2, True)
    Path("semicolons.toml").write_text("")
    assert run(*call, "--recipe", "semicolons.toml")[0] == 0
    code, _, err = run(*call, "--separator", ";")
    assert (code, "Leave out --separator." in err) == (2, True)


def test_withheld_tables_are_counted_without_a_file(run, made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("withhold", "release.json", "--below", 5)
    assert (code, "region" in out, "--tables DIR" in out) == (0, True, True)


def test_a_new_answer_under_another_name_is_said_to_cost(run, made, tmp_path, monkeypatch):
    """As after a restore, where the ledger lacks an answer whose file exists."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    call = ["relax", "table.csv", "--ledger", "l.db", "--name", "a", "--epsilon", 1]
    code, _, err = run(*call, "--out", "kept.csv")
    assert (code, "spends its epsilon" in err) == (2, True)
    assert run(*call, "--out", "new.csv")[0] == 0
    Path("new.csv").write_text("other")
    code, _, err = run(*call, "--out", "new.csv")  # a stored answer costs nothing under any name
    assert (code, "spends its epsilon" in err) == (2, False)


def test_options_and_arguments_of_other_commands_are_explained(run):
    code, _, err = run("view", "--recipe", "x.toml")
    assert (code, "--key-file" in err) == (2, True)
    code, _, err = run("research", "capacity", "channel.csv")
    assert (code, "utmost research leakage" in err) == (2, True)
    code, _, err = run("noise", "table.csv", "--sensitivity", 1)
    assert (code, "utmost noise reads no table" in err) == (2, True)


def test_a_cost_that_changes_nothing_is_named(run):
    call = ["epsilon-for", "--margin", 5]
    assert "--cost" in run(*call, "--sensitivity", 1, "--cost", "squared")[2]
    assert run(*call, "--sensitivity", 1)[2] == run(*call, "--sensitivity", 3, "--cost", "squared")[2] == ""
