"""What all commands share: groups of options, the pipe, the words of messages, suggestions and completion."""

import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from running import COMMANDS, PLAIN, called, changed, every_command, in_options, new_ledger, python
from utmost.errors import BadTable, OutOfRange

SOURCES = Path(__file__).parents[2] / "src/utmost"
SILENT = ["--columns", "n", "--epsilon", 100, "--sensitivity", 1, "--cells", 1, "--yes"]
HALF = ["--epsilon", "alpha=1/2"]


@pytest.fixture
def piped(run, monkeypatch):
    """Run a command with this text, or these bytes, on its standard input."""

    def call(text, *arguments):
        content = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return run(*arguments)

    return call


def options_of(name):
    parts = [command for words, command in every_command() if words.split()[0] == name]
    return [{option for parameter in part.params for option in parameter.opts} for part in parts]


@pytest.mark.parametrize(
    "name", ["release", "relax", "noise", "read", "design", "research capacity", "research kernels"]
)
def test_no_level_is_assumed(run, tmp_path, name):
    table = tmp_path / "t.csv"
    table.write_text("n\n1\n")
    needed = {
        "release": [table, "--columns", "n", "--sensitivity", 1, "--cells", 1],
        "relax": [table, "--ledger", tmp_path / "l.db", "--name", "a"],
        "noise": ["--sensitivity", 1],
        "read": ["--response", 1, "--n", 1, "--prior", "uniform"],
        "design": ["--space", "counts:1", "--prior", "uniform"],
    }.get(name, ["--space", "line:3"])
    code, out, err = run(*name.split(), *needed)
    assert (code, out) == (2, "")
    assert err.startswith("utmost: --epsilon must be given; got none.")


def test_a_table_goes_through_the_pipe(piped, tmp_path, monkeypatch):
    """In and out, and nothing else is written; a place in it is shown as in a file."""
    monkeypatch.chdir(tmp_path)
    code, out, err = piped("n,a\n5,x\n6,y\n", "release", "-", *SILENT, "--public", "a", "--out", "-")
    assert (code, out) == (0, "n,n_margin,a\n5,0,x\n6,0,y\n")
    assert "Released." in err
    code, out, _ = piped("n\n5\n", "read", "-", "--column", "n", "--n", 9, "--prior", "uniform", *HALF, "--out", "-")
    assert (code, out.splitlines()[0]) == (0, "n,answer,low,high,expected_loss")
    code, out, err = piped("n\n5\nx\n", "release", "-", *SILENT)
    assert (code, out) == (1, "")
    assert "row 2 (line 3), column 'n'" in err
    assert piped("n\n5\n", "verify", "-")[0] == 2, "the statement cannot stand beside it"
    pq.write_table(pa.table({"n": [5, 6]}), parquet := io.BytesIO())
    for content in ('{"n": 5}\n{"n": 6}\n', parquet.getvalue()):
        assert piped(content, "release", "-", *SILENT)[1] == "n,n_margin\n5,0\n6,0\n", "its content says the format"
    assert list(tmp_path.iterdir()) == []


def test_a_release_from_the_pipe_is_verified(run, piped, file, tmp_path):
    out = tmp_path / "out.csv"
    assert run("release", file("n\n1\n"), *SILENT, "--out", out)[0] == 0
    asked = ["verify", "-", "--statement", f"{out}.json"]
    assert piped(out.read_text(), *asked)[0] == 0
    assert piped("n,n_margin\n2,0\n", *asked)[0] == 1


@pytest.mark.parametrize(
    "asked",
    [
        ["design", "--space", "counts:3", *HALF, "--prior", "uniform", "--loss", "binary"],
        ["research", "capacity", "--space", "line:3", *HALF],
        ["research", "universal", "--space", "line:3", *HALF, "--loss", "binary"],
    ],
)
def test_a_proof_goes_through_the_pipe_and_is_checked(run, piped, asked):
    code, out, _ = run(*asked, "--out", "-")
    assert code == 0
    command = asked[: 2 if asked[0] == "research" else 1]
    assert piped(out, *command, "--check", "-")[0] == 0
    assert piped("[]", *command, "--check", "-")[0] == 1


def test_channels_go_through_the_pipe(piped, file):
    channel = "1/2,1/2\n1/3,2/3\n"
    assert piped(channel, "research", "leakage", "-")[0] == 0
    assert piped('{"matrix": [["1/2", "1/2"], ["1/3", "2/3"]]}', "research", "leakage", "-")[0] == 0
    code, out, _ = piped(channel, "research", "refine", "-", file(channel), "--out", "-")
    assert (code, json.loads(out)["relation"]) == (0, "equal")


@pytest.mark.parametrize(
    "asked",
    [
        ["noise", "--epsilon", 1, "--sensitivity", 1],
        ["epsilon-for", "--margin", 10, "--sensitivity", 1],
        ["research", "compare", "--up-to", 1],
        ["read", "--response", 1, "--n", 2, "--prior", "uniform", *HALF],
        ["research", "vertices", "--space", "line:3", "--count"],
        ["research", "kernels", "--space", "line:3", *HALF, "--by-size"],
    ],
)
def test_a_report_goes_to_a_file_and_never_over_one(run, tmp_path, asked):
    out = tmp_path / "report.json"
    assert run(*asked, "--out", out)[0] == 0
    assert run(*asked, "--json")[1] == run(*asked, "--out", "-")[1] == out.read_text()
    assert run(*asked, "--out", out)[0] == 2
    assert "written as .json" in run(*asked, "--out", tmp_path / "report.txt")[2]


def test_a_place_without_a_name_is_no_file(run, file, tmp_path):
    table = file("n\n1\n")
    for nameless in (".", "/"):
        code, _, err = run("release", table, *SILENT, "--out", nameless)
        assert (code, "must be a file with a name" in err) == (2, True)


LITERAL = r'f?"(?:[^"\\\n]|\\.)*"'


def remedies():
    """The remedies in calls of the sources, with a number for what is put into them."""
    for path in SOURCES.rglob("*.py"):
        for text in re.findall(rf"\bremedy=\(?\s*((?:{LITERAL}\s*)+)", path.read_text(encoding="utf-8")):
            literals = (re.sub(r"\{[^{}]*\}", "7", each).removeprefix("f") for each in re.findall(LITERAL, text))
            yield "".join(map(ast.literal_eval, literals))


def test_every_mend_speaks_of_options():
    """Where an argument of the library is an option, its remedy names the option; calls of Python stay as they are."""
    options = {
        name.strip("-").replace("-", "_") for command in COMMANDS for part in options_of(command) for name in part
    }
    found = set(remedies())
    assert len(found) > 400
    for remedy in found:
        said = in_options(OutOfRange("it must", remedy=remedy))
        assert not options & set(re.findall(r"(?<![(\w])(\w+)=", said)), said
        assert "(--" not in said, said
        assert not re.search(r"--\w+ (\[|[\"']\S*[\"'])", said), said


def test_what_ledgers_domains_and_counts_refuse_is_told_without_python(run, file, tmp_path):
    """Arguments and calls that no command has: each with what a user of the command line would do instead."""
    none = tmp_path / "none.db"
    for words in (["view", "--name", "r"], ["relax", file("n\n1\n"), "--name", "r"]):
        _, _, error = run(*words, "--ledger", none, "--epsilon", 1)
        assert f"create a ledger, once: utmost ledger create {none}\n" in error
    kept = ["--ledger", new_ledger(tmp_path / "l.db"), "--name", "r"]
    assert run("release", file("n\n1\n"), *SILENT, *kept)[0] == 0
    refused = run("view", *kept, "--epsilon", 10**9)[2]
    assert re.search(r"The release is stored up to epsilon=\d+: relax it with the table\.", refused)
    (tmp_path / "domain.json").write_text('{"n": 3}')
    count = ["count", file("n\n1\n"), "--person", "n", "--at-most", 1]
    assert 'Create a tree with "tree", bins with "bins"' in run(*count, "--domain", tmp_path / "domain.json")[2]
    (tmp_path / "domain.json").write_text('{"n": ["1"]}')
    assert "--step needs --values" in run(*count, "--domain", tmp_path / "domain.json", "--step", 1)[2]
    for text, spoken in (
        ('Declare on the axis zone="America/New_York".', 'Declare on the axis "zone": "America/New_York".'),
        ("Declare the edges with whole=False, or other= beside.", 'the edges with "whole": false, or "other" beside.'),
        ('On its axis: spelling=ut.Spelling(pattern="%d%m%Y").', 'On its axis: "pattern": "%d%m%Y".'),
        ('Pass missing="leave out" in ut.mean or ut.sum.', "Pass --leave-out amounts."),
        ("Write: claim groups=statisticians https://id.example.", "claim groups=statisticians https"),
        ('Declare missing="not stated".', 'Declare "missing": "not stated".'),
        ('Give the level as alpha="1/2".', "Give the level as --epsilon alpha=1/2."),
        ("Pass witness=PATH, or leave it out.", "Pass --witness PATH,"),
        ("Pass key=, or set A.", "Pass --key-file,"),
        ('or pass method="marginals".', "or pass --method marginals."),
        (
            'Call ut.sum("paid", step="0.25"), or pass step="0.5".',
            'Call ut.sum("paid", step="0.25"), or pass --step 0.5.',
        ),
    ):
        assert spoken in in_options(OutOfRange("it must", remedy=text))


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["release", "E", "--want", "sex", "--sensitivity", 5], "Leave out --sensitivity."),
        (["total", "R", "--tables", "T", "--where", "sex=m"], "Leave out --where, or ask without --tables."),
        (["total", "R", "--tables", "T", "--ratio"], "Leave out --ratio, or ask without --tables."),
        (["read", "R", "--column", "sex"], "Leave out --column; for sums and means write utmost total"),
        (["read", "C", "--column", "count", "--n", 9, "--epsilon", 2], "Leave out --epsilon."),
        (["epsilon-for", "--margin", 3, "--sensitivity", 1, "--dimensions", 7], "leave out --dimensions."),
        (["epsilon-for", "--margin", 9, "--in-total", 5, "--dimensions", 7], "leave out --dimensions."),
    ],
)
def test_no_option_is_ignored(run, tmp_path, monkeypatch, words, refusal):
    """Each of these options was accepted, and changed nothing or the wrong thing."""
    monkeypatch.chdir(tmp_path)
    Path("e.csv").write_text("sex\nm\nw\nw\n", encoding="utf-8")
    Path("d.json").write_text('{"sex": ["m", "w"]}', encoding="utf-8")
    events = ["e.csv", "--each-row", "--domain", "d.json", "--epsilon", 1]
    assert run("release", *events, "--want", "sex", "--out", "r.json")[0] == 0
    assert run("release", *events, "--out", "c.csv")[0] == 0
    named = {"E": events, "R": ["r.json"], "C": ["c.csv"], "T": ["tables"]}
    asked = [each for word in words for each in named.get(word, [word])]
    code, _, error = run(*asked)
    assert (code, refusal in " ".join(error.split())) == (2, True), error
    assert not Path("tables").exists()


def test_a_refusal_names_the_option_that_was_written(run, file, tmp_path):
    events, domain = file("u,t,n\n1,a,2\n"), tmp_path / "domain.json"
    domain.write_text('{"t": ["a", "b"]}')
    count, bound = ["count", events, "--domain", domain], ["--at-most", 1]
    for asked, said in (
        ([*count, "--person", "u", *bound, "--mean", "n=5,0"], "--mean: LOW, HIGH and STEP must be numbers"),
        ([*count, "--person", "u", *bound, "--mean", "n=0,x"], "Write, for example, --mean income=0,200000"),
        ([*count, "--person", "u", *bound, "--values", "n", "--each", "5,0"], "--each 1000 or --each 0,1000."),
        ([*count, "--person", "u", "--contributions", "at-most=5,1"], "Pass ascending bounds, such as 1, 2, 5 and 10."),
        ([*count, "--each-row", "--contributions", "at-most=1,5"], "--contributions per-cell=10,100 with"),
        ([*count, "--each-row", "--at-most", 2], "got --at-most 2."),
        ([*count, "--person", "u", *bound, "--by", "sex"], "--by must name axes"),
        ([*count, "--person", "u", *bound, "--per-cell", "1,2,3"], "--per-cell must be"),
        (["count", events, "--person", "u", *bound, "--unknown-keys", "u", "--epsilon", 1, "--delta", "1e-6"],
         "another column of keys: column, or --unknown-keys"),
        (["trust", file("a,b\n", "edges.csv"), "--owner", "a", "--at", "1"], "--at must be DISTANCE=EPSILON"),
        (
            ["trust", file("a,b\n", "edges.csv"), "--owner", "a", "--at", "1=x"],
            "Write, for example, --at 1=1 --at 2=1/4.",
        ),
        (["release", events, *SILENT, "--until", "ten"], 'Write --until "10 %".'),
        ([*count, "--each-row", "u"], "--each-row takes no value: leave the value out."),
        (["read", events, "--mean", "pay (CHF)"], "--mean takes no value: leave the value out."),
    ):  # fmt: skip
        code, _, err = run(*asked)
        assert (code, said in err) == (2, True), err


def test_messages_are_in_the_words_of_the_command_line(run, file):
    table = file("n\n1\n")
    code, _, err = run("release", table, *changed(SILENT, "--sensitivity", "5/2"))
    assert (code, '; got 5/2. Pass 3, or declare numbers = "reals" in the recipe (--recipe' in err) == (2, True)
    unit = ["--columns", "n", "--sensitivity", 1, "--cells", 1]
    assert "Leave out --grid, or pass --numbers reals." in run("promise", *unit, "--grid", "1/2")[2]
    assert run("noise", "--epsilon", "0", "--sensitivity", 1)[2].startswith("utmost: --epsilon must be positive")
    half = run("noise", "--epsilon", 1, "--sensitivity", "5/2")[2]
    assert "For a query with real values pass --numbers reals." in half
    error = OutOfRange(
        "a distribution must be one", came=(Fraction(5, 2), Fraction(3)), where="id_column", remedy="Pass cells=2."
    )
    assert in_options(error) == "--id: a distribution must be one; got (5/2, 3). Pass --cells 2."
    assert in_options(OutOfRange("it must stay within epsilon=1")) == "it must stay within epsilon = 1."
    document = BadTable("a statement must follow from itself", came="another", where="rows")
    assert in_options(document) == "rows: a statement must follow from itself; got another.", "a field, and no option"


def test_a_number_is_digits_within_its_range(run):
    """Python reads 10 in 1_0, and 3 in a digit of another script, and click with it; no other door does."""
    for word in ("1_0", "٣", "x", "1.5", ""):
        code, _, error = run("serve", "--check", "--port", word)
        assert (code, f"Invalid value for '--port': {word!r} is not a valid integer." in error) == (2, True), error
    assert "65536 is not in the range 1<=x<=65535" in run("serve", "--check", "--port", "65536")[2]
    assert "'1_0.5' is not a valid number" in run("serve", "--check", "--rate", "1_0.5")[2]


def test_no_help_shows_a_range_that_is_none():
    for words, command in every_command():
        assert "None" not in command.get_help(command.context_class(command, info_name=words)), words


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (["relese"], "release"),
        (["epsilonfor"], "epsilon-for"),
        (["ledger", "statsu"], "status"),
        (["noise", "--epsilo", 1], "--epsilon"),
    ],
)
def test_what_was_mistyped_is_answered_with_what_was_meant(run, asked, meant):
    code, out, err = run(*asked)
    assert (code, out) == (2, "")
    assert meant in err.partition("No such")[2]


def completed(words, at):
    with mock.patch.dict(os.environ, {"COMP_WORDS": words, "COMP_CWORD": str(at), "_UTMOST_COMPLETE": "bash_complete"}):
        return [line.partition(",")[2] for line in called().stdout.split()]


def test_the_shell_completes_commands_and_options():
    assert completed("utmost re", 1) == ["release", "read", "relax", "respond", "research"]
    assert completed("utmost research re", 2) == ["refine"]
    assert completed("utmost research capacity --m", 3) == ["--multiplicative", "--measure"]
    assert completed("utmost ledger re", 2) == ["restore", "resume", "receipt"]


@pytest.mark.parametrize(
    ("shell", "start", "reads"),
    [
        ("bash", ".bashrc", ".local/share/utmost/complete.bash"),
        ("zsh", ".zshrc", ".local/share/utmost/complete.zsh"),
        ("fish", ".config/fish/completions/utmost.fish", "_UTMOST_COMPLETE=fish_complete"),
    ],
)
def test_a_shell_is_told_once_where_it_reads_what_completes(shell, start, reads, tmp_path, monkeypatch):
    home = tmp_path / "o'neil"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    before = "alias l=ls  # liés".encode("latin-1")
    if shell != "fish":
        (home / start).write_bytes(before)
    for _ in range(2):
        told = called("--install-completion")
        assert (told.returncode, told.stderr) == (0, "")
    written = (home / start).read_bytes()
    assert written.count(reads.encode()) == 1
    assert shell == "fish" or written.startswith(before + b"\n")
    if shell == "bash":
        assert subprocess.run(["bash", home / start], capture_output=True, check=True).stderr == b""
    assert called("--show-completion", shell).stdout.strip() in "".join(
        path.read_text(encoding="utf-8", errors="replace") for path in home.rglob("*") if path.is_file()
    )


def test_a_shell_that_nobody_knows_is_refused_and_powershell_is_told_too(run):
    assert run("--show-completion", "tcsh")[0::2] == (
        2, "utmost: completion is for bash, zsh, fish and powershell; got tcsh. Name one of these shells.\n",
    )  # fmt: skip
    assert "Register-ArgumentCompleter" in run("--show-completion", "pwsh")[1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_by_what_it_is_told(tmp_path):
    program = tmp_path / "utmost"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m utmost "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    words = "COMP_WORDS=(utmost rel); COMP_CWORD=1; _utmost_completion utmost rel; echo ${COMPREPLY[@]}"
    script = called("--show-completion", "bash").stdout
    environment = os.environ | PLAIN | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", f"{script}\n{words}"], capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["release", "relax"], done.stderr


def test_completing_a_command_reads_none_of_them():
    code = """if True:
        import sys
        from running import app, COMMANDS
        context = app.make_context("utmost", ["x"], resilient_parsing=True)
        found = [item.value for item in app.shell_complete(context, "")]
        assert found[: len(COMMANDS)] == list(COMMANDS), found
        print([name for name in sys.modules if name.endswith("_command")])
    """
    paths = os.pathsep.join([PLAIN["PYTHONPATH"], str(Path(__file__).parents[1])])
    assert python("-c", code, env=os.environ | PLAIN | {"PYTHONPATH": paths}).stdout.strip() == "[]"


@pytest.mark.parametrize("width", [40, 80])
def test_help_is_no_wider_than_the_screen_and_says_each_part_whole(width, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    for words in ([], ["ledger"], ["ledger", "resume"], ["research"], ["research", "kernels"], ["view"]):
        code, shown, _ = run(*words, "--help")
        assert code == 0
        assert all(len(line) <= width and line == line.rstrip() for line in shown.splitlines())
        assert "..." not in shown.replace("[ARGS]...", "")
    assert "the epsilon that each dataset has spent." in " ".join(run("ledger", "--help")[1].split())


def test_help_ends_no_line_within_an_option_or_a_word_that_is_typed(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for name, _ in every_command():
        assert not re.search(r"\w-\n", run(*name.split(), "--help")[1]), name


def test_the_page_that_a_help_names_is_there():
    root = Path(__file__).parents[2]
    named = [re.search(r"^More: (\S+)$", command.help or "", re.M) for _, command in every_command()]
    pages = {found[1] for found in named if found}
    assert len(pages) > 10
    assert all((root / page).is_file() for page in pages)


WRONG_AS_JSON = {
    "a misuse": (["release", "t.csv", "--columns", "n", "--json"], "NotALevel", 2, "--epsilon 1"),
    "another option": (["release", "t.csv", "--colum", "n", "--json"], "NoSuchOption", 2, None),
    "no file": (["verify", "no.csv", "--json"], "BadParameter", 2, None),
    "a missing option": (["view", "--epsilon", 1, "--json"], "MissingParameter", 2, None),
    "another command": (["relese", "--json"], "NoSuchCommand", 2, None),
    "a table": (["release", "t.csv", *SILENT, "--json"], "BadTable", 1, "missing"),
    "no folder": (
        ["release", "t.csv", *SILENT, "--json", "--out", "no/o.csv"],
        "Unsupported",
        2,
        "Create the folder first.",
    ),
    "no ledger": (["ledger", "status", "--ledger", "no.db", "--json"], "LedgerUnavailable", 1, "create no.db"),
}


@pytest.mark.parametrize(("words", "kind", "code", "remedy"), WRONG_AS_JSON.values(), ids=WRONG_AS_JSON)
def test_with_json_an_error_is_json_too(run, tmp_path, monkeypatch, words, kind, code, remedy):
    """One line on standard error, nothing on standard output; without --json the same words stand on a line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("n\nx\n")
    found, out, err = run(*words)
    said = json.loads(err)
    assert (found, out, err.count("\n")) == (code, "", 1)
    assert (said["error"], said["exit_code"]) == (kind, code)
    assert remedy is None or remedy in said["remedy"], said
    plain = run(*(word for word in words if word != "--json"))
    assert plain[0] == code
    assert " ".join(filter(None, (said["message"], said["remedy"]))) in " ".join(plain[2].split())
