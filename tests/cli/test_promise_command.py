"""`utmost promise`, and `utmost release --promise`: a file says what options said, and nothing may stand beside it."""

import json
import re
import shutil
from dataclasses import fields

import pytest

from running import changed, command_named, new_ledger, with_recipe
from utmost import CellNoise, PointNoise, read_promise, read_release
from utmost.ledger import Ledger
from utmost.privacy import Unit
from utmost.promises import DistributionNoise, Promise, selected_cell_noise
from utmost.releases import Texts

COLUMNS = ["--columns", "admitted", "--public", "department", "--sensitivity", 1, "--cells", 1]
POINTS = ["--columns", "x,y", "--public", "department", "--planar", "--per", "200", "--grid", "3/7"]
TABLE = "department,admitted,x,y\nÄrzte,601,1.5,2\nB,370,-3,4\n"
DISTRIBUTION = ["--distribution", "Geometric"]
KINDS = {
    "columns": (COLUMNS, Promise("admitted", public="department", unit=Unit(1, 1))),
    "all words": (
        [*COLUMNS, "--drop", "x,y", "--rows", "observed", "--id", "department", "--neighbours", "change-one"],
        Promise("admitted", public="department", drop=["x", "y"], rows="observed", id_column="department",
                unit=Unit(1, 1, "change-one")),
    ),
    "reals": (
        [*COLUMNS[:4], "--sensitivity", "5/2", "--cells", 2, "--numbers", "reals", "--grid", "1/8"],
        Promise("admitted", public="department", noise=CellNoise(Unit("5/2", 2), numbers="reals", grid="1/8")),
    ),
    "a half-step by item": (
        [*COLUMNS[:4], "--sensitivity", 3, "--cells", 1, "--half-step", "--largest", "1e9", "--noise", "items", "--id",
         "department"],
        Promise("admitted", public="department", noise=CellNoise(Unit(3, 1), largest=10**9, half_step=True),
                keyed_by_id=True, id_column="department"),
    ),
    "a distribution": (
        [*COLUMNS, "--distribution", "DiscreteStaircase(step=1)", "--largest", "1e9"],
        Promise("admitted", public="department",
                noise=DistributionNoise(Unit(1, 1), "DiscreteStaircase(step=1)", largest=10**9)),
    ),
    "points": (POINTS, Promise(["x", "y"], public="department", noise=PointNoise(200, grid="3/7"))),
    "wide": (
        ["--columns", "admitted", "--sensitivity", 10**9, "--cells", 2],
        Promise("admitted", unit=Unit(10**9, 2)),
    ),
}  # fmt: skip


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path, run):
    """The file of a promise that options say."""

    def write(*say):
        path = tmp_path / "promise.json"
        path.unlink(missing_ok=True)
        assert run("promise", *say, "--out", path)[0] == 0
        return path

    return write


def test_words_of_a_declared_universe_are_named_by_a_file(run, tmp_path):
    """No option says a universe: a file does, and promise, rehearsal, list, statement and check follow from it."""
    path, words, named = (tmp_path / name for name in ("promise.json", "words.csv", "named.csv"))
    words.write_text("word,n\ninfluenza,900\nplague,1\n")
    universe = Texts("abcdefghijklmnopqrstuvwxyz", most=20)
    Promise(noise=selected_cell_noise(["word", "n"], universe, keys=3, false_keys="1e-9")).save(path)
    shown = " ".join(run("promise", "--promise", path, "--epsilon", 1)[1].split())
    assert f"The universe has {universe.size} cells" in shown
    assert "above 256" in " ".join(run("release", words, "--promise", path, "--epsilon", 1, "--dry-run")[1].split())
    code, shown, err = run("release", words, "--promise", path, "--epsilon", 1, "--out", named)
    assert (code, named.read_text().splitlines()[1][:10]) == (0, "influenza,"), err
    assert "plague" not in named.read_text() + shown
    assert run("verify", named)[0] == 0
    assert "The noise was drawn once" in " ".join(run("statement", named)[1].split())
    named.write_text(named.read_text().replace("influenza", "plague"))
    assert run("verify", named)[0] == 1
    outside = tmp_path / "outside.csv"
    outside.write_text("word,n\nÄrzte,900\n")
    code, shown, err = run("release", outside, "--promise", path, "--epsilon", 1)
    assert (code, "each key must be in the universe" in err, "rzte" in err) == (2, True, False)


def test_what_is_promised_at_a_level_is_said(run, file, monkeypatch):
    path = file(*COLUMNS)
    report = json.loads(run("promise", "--promise", path, "--epsilon", 1, "--json")[1])
    assert (report["margin"], report["promise"]["columns"]) == (3, ["admitted"])
    assert report["guarantee"].startswith("Adding or removing any one individual")
    shown = run("promise", "--promise", path, "--epsilon", 1)[1]
    assert "± 3, at 95 % confidence" in shown
    assert report["digest"] in shown
    assert "guarantee" not in json.loads(run("promise", "--promise", path, "--json")[1])
    assert "moved by 200 of distance" in run("promise", *POINTS)[1]


@pytest.mark.parametrize("name", KINDS)
def test_a_ledger_knows_the_promise_of_a_file_as_that_of_its_options(run, file, table, tmp_path, name):
    """Published by options and asked again by the file it is the same answer; another promise would be refused."""
    say = {"columns": ["--drop", "x,y"], "points": ["--drop", "admitted"], "reals": ["--drop", "x,y"]}.get(name, [])
    say = [*KINDS[name][0], *(say or (["--drop", "x,y"] if name != "all words" else []))]
    say += ["--public", "department"] if name == "wide" else []
    where = ["--epsilon", 2, "--ledger", new_ledger(tmp_path / "ledger.db"), "--name", "a"]
    path = file(*say)
    code, first, err = run("release", table, *(say if name in ("columns", "wide") else ["--promise", path]), *where)
    assert code == 0, err
    assert run("release", table, "--promise", path, *where)[1] == first
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert len(ledger.releases) == 1
        assert ledger.releases[0].levels == (ledger.releases[0].spent,)
    other = ["--per", 300] if name == "points" else ["--sensitivity", 5]
    assert run("release", table, "--promise", file(*changed(say, *other)), *where)[0] == 1


def test_a_plan_is_a_promise(run, tmp_path):
    domain, plan, path = tmp_path / "domain.json", tmp_path / "plan.json", tmp_path / "promise.json"
    domain.write_text('{"sex": ["men", "women"], "age": ["young", "old"]}')
    assert run("plan", domain, "--at-most", 1, "--want", "sex", "--want", "", "--epsilon", 1, "--out", plan)[0] == 0
    events, counted = tmp_path / "events.csv", tmp_path / "counted.json"
    events.write_text("who,sex,age\na,men,old\nb,women,old\n")
    assert run("count", events, "--person", "who", "--at-most", 1, "--domain", domain, "--out", counted)[0] == 0
    assert run("promise", counted, "--plan", plan, "--out", path)[0] == 0  # the table says whom it counts
    at = [counted, "--epsilon", 1, "--dry-run", "--json"]
    by_plan, by_promise = (json.loads(run("release", *at, *say)[1]) for say in (["--plan", plan], ["--promise", path]))
    assert by_plan["shares"] == by_promise["shares"]
    where = ["--epsilon", 1, "--ledger", new_ledger(tmp_path / "ledger.db"), "--name", "a"]
    code, first, err = run("release", counted, "--plan", plan, *where)
    assert code == 0, err
    assert run("release", counted, "--promise", path, *where)[1] == first
    for more in (["--columns", "n"], ["--neighbours", "add-remove"], ["--grid", "1/2"], ["--half-step"], DISTRIBUTION):
        assert run("promise", "--plan", plan, *more)[0] == 2


def options_of(command):
    """Every option of a command and of its recipe, and something that it takes."""
    command = command_named(command)
    options = {option.opts[-1]: option for option in (*command.params, *command.recipe_keys)}
    values = {"--together": ["any"]}
    return {
        name: [] if option.is_flag else values.get(name, ["1"])
        for name, option in options.items()
        if name.startswith("--")
    }


def test_no_option_stands_beside_a_promise(run, file, table):
    """Of all options that a promise has, the file is the only one, and so is the default of an option: said is said."""
    path = file(*COLUMNS, "--drop", "x,y")
    beside = {"--promise", "--epsilon", "--confidence", "--out", "--json"}
    options = {name: value for name, value in options_of("promise").items() if name not in beside}
    assert len(options) > 15
    of_release = (options.keys() & options_of("release").keys()) - {"--neighbours"}  # needs --person first
    assert {"--columns", "--sensitivity", "--numbers"} < of_release
    wanted = run("release", table, "--epsilon", 1, "--promise", path, "--want", "x")
    assert wanted[:2] == (2, "")
    assert "--want" in wanted[2]
    for name, value in options.items():
        value = [path] if name == "--plan" else value
        code, shown, err = run("promise", "--promise", path, name, *value)
        assert (code, shown, f"{name} cannot be combined with --promise" in err) == (2, "", True), err
        if name in of_release:
            words = with_recipe("release", table, "--epsilon", 1, "--promise", path, name, *value)
            said = name if name in words else f"{name.removeprefix('--')} in the recipe"
            code, shown, err = run(*words)
            assert (code, shown, f"{said} cannot be combined with --promise" in err) == (2, "", True), err


def test_an_option_that_is_elsewhere_is_answered_with_its_place(run, table):
    """Options that people look for in release are in the command that the message names."""
    for name, home in {"--grid": "promise", "--each": "count", "--weight": "share", "--tables": "total"}.items():
        code, shown, err = run("release", table, name)
        assert (code, shown) == (2, "")
        assert f"utmost {home}" in err
        assert name in options_of(home)
        assert name not in options_of("release")


WAYS = {
    "one row": (["--columns", "x,y", "--public", "department", "--sensitivity", 1, "--once", "row"],
                {"--columns", "--public", "--drop", "--sensitivity", "--once", "--cost"}),
    "columns": (COLUMNS, {"--columns", "--public", "--drop", "--sensitivity", "--cells", "--numbers", "--cost",
                          "--until"}),
}  # fmt: skip
SHOWN = {"--epsilon", "--out", "--format", "--sign", "--confidence", "--json", "--dry-run", "--yes"}
COUNTING = {"--person", "--each-row", "--domain"}


@pytest.mark.parametrize(("say", "read"), WAYS.values(), ids=WAYS)
def test_an_option_that_nobody_reads_is_refused_by_its_name(run, table, tmp_path, say, read):
    """Every option of the command but those that this way reads, one by one."""
    spelled = {"--separator", "--encoding", "--decimal", "--thousands", "--missing-marks", "--currency", "--header"}
    texts = {f"--{each.name.replace('_', '-')}" for each in fields(Promise) if each.metadata["form"].hint}
    read = read | SHOWN | spelled | texts | {"--promise", "--recipe"} | (COUNTING if say is COLUMNS else set())
    chooses = {"--once", "--plan"} if say is COLUMNS else set()
    unread = {name: value for name, value in options_of("release").items() if name not in read | chooses}
    assert len(unread) > 10
    named = {"--ledger": "--name"}  # the first chooses a way, in which the other is missed
    for name, value in unread.items():
        value = [table] if name in ("--plan", "--domain") else value
        words = with_recipe("release", table, *say, "--epsilon", 1, name, *value)
        code, shown, err = run(*words)
        assert (code, shown) == (2, ""), (name, err)
        said = name if name in words else f"{name.removeprefix('--')} in the recipe"
        assert said in err or named.get(name, said) in err, (name, err)
    assert sorted(tmp_path.iterdir()) == [table]


def test_a_promise_that_needs_a_ledger_says_so(run, file, table):
    path = file(*KINDS["a half-step by item"][0], "--drop", "x,y")
    code, shown, err = run("release", table, "--promise", path, "--epsilon", 1)
    assert (code, shown) == (2, "")
    assert "needs --ledger" in err


def test_a_promise_goes_through_the_pipe(run, file, table, monkeypatch, tmp_path):
    import io
    import sys

    path = file(*COLUMNS, "--drop", "x,y")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    code, shown, err = run("release", table, "--promise", "-", "--epsilon", 1)
    assert code == 0, err
    assert shown.startswith("department,admitted,admitted_margin")
    copy = shutil.copy(path, tmp_path / "copy.json")
    assert read_promise(copy) == read_promise(path)


@pytest.mark.parametrize(
    ("say", "said"),
    [
        ([], "a release needs --columns"),
        (["--planar"], "--planar needs --columns"),
        (["--columns", "n", "--sensitivity", 2, "--cells", 1, "--half-step"], ""),
        ([*COLUMNS, "--noise", "items"], "--id"),
        ([*COLUMNS, "--numbers", "complex"], "--numbers"),
    ],
)
def test_what_can_be_promised_of_no_table_is_refused(run, say, said):
    code, shown, err = run("promise", *say)
    assert (code, shown) == (2, "")
    assert said in err


def test_a_promise_of_noise_for_one_level_is_released_once(run, tmp_path):
    """Without a memory it is; a ledger refuses it, and what the remedy says works."""
    table, file = tmp_path / "t.csv", tmp_path / "p.json"
    table.write_text(TABLE)
    promise = Promise("admitted", public="department", drop=["x", "y"], unit=Unit(5, 1)).once(cost="squared")
    promise.save(file)
    asked = ["release", table, "--promise", file, "--epsilon", 1]
    code, _, err = run(*asked, "--ledger", new_ledger(tmp_path / "l.db"), "--name", "n")
    assert code == 2
    assert "on the command line without --ledger" in " ".join(err.split())
    code, _, err = run(*asked, "--out", tmp_path / "o.csv")
    assert code == 0, err
    assert read_release(tmp_path / "o.csv").margin() == promise.margin(1)
    assert run(*asked, "--once", "counts")[0] == 2


@pytest.mark.parametrize(
    "more", [["--half-step"], ["--numbers", "reals"], ["--planar"], ["--together", "any"]], ids=str
)
def test_a_distribution_is_named_for_cells_of_integers_alone(run, more):
    assert run("promise", *COLUMNS, *DISTRIBUTION, *more)[0] == 2


@pytest.mark.parametrize(
    "named", ["Nope", "Laplace", "IntegerDistribution", "__all__", "Geometric(step=1)", "DiscreteStaircase(cost=1)",
              "DiscreteStaircase(sensitivity=1)", "DiscreteStaircase(alpha=1/2)", "DiscreteStaircase(step)",
              "DiscreteStaircase(step=9)", "DiscreteStaircase(step=x)", "DiscreteStaircase(step=2, step=1)"]
)  # fmt: skip
def test_a_distribution_or_an_argument_that_does_not_exist_is_refused(run, named):
    code, _, err = run("promise", *COLUMNS, "--distribution", named)
    assert (code, "Traceback" in err) == (2, False)
    assert re.search("distribution: (the|a)|the argument step|step must lie in 1..1", err)


def test_no_screen_says_that_noise_for_one_level_can_be_relaxed(run, file, table, tmp_path):
    promise = file(*COLUMNS, "--drop", "x,y", *DISTRIBUTION)
    where = ["--ledger", new_ledger(tmp_path / "ledger.db"), "--name", "a"]
    for at, memory in enumerate(([], where)):
        out = tmp_path / f"{at}.csv"
        code, shown, err = run("release", table, "--promise", promise, "--epsilon", 1, "--out", out, *memory)
        assert code == 0, err
        shown += run("statement", out)[1]
        assert "larger epsilon" not in " ".join((shown + err).split())
        assert json.loads(run("read", out, "--json")[1])["relaxable"] is False
