"""A page as a list of blocks, and a run of it: code in order in one folder, each output beside what the page shows.

- ```python: run in one namespace; the value of the last expression is shown, as in a notebook.
- ```sh: its commands are run, but for programs in `NOT_RUN`.
- ```text straight after one of these is its output. `...` stands for anything. After the line `<!-- drawn -->` all
  numbers count as equal, since they are noise.
- `<!-- not run: reason -->` on the line before a block says that its code is shown only.
"""

import ast
import contextlib
import doctest
import gc
import io
import itertools
import re
import shlex
import subprocess
import sysconfig
import warnings
from dataclasses import dataclass
from pathlib import Path

from running import PLAIN, called, every_command, main

# A page may add a kind of noise, which is taken away again.
from utmost.publish.promises import noise_kinds
from utmost_papers.command import main as papers

ROOT = Path(__file__).parents[2]
KINDS_OF_NOISE = frozenset(noise_kinds.KINDS)
PROGRAMS = {"utmost": main, "utmost-papers": papers}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NOT_RUN = re.compile(
    r"^(pip|python3?|pytest|make|apt|docker|sudo|git|npm|crontab|curl|coverage|UTMOST_\w+=|utmost serve)\b", re.M
)
BLOCK = re.compile(r"^([ ]*)```(\w*)\n(.*?)^\1```$", re.M | re.S)

_OF_A_SHELL = re.compile(r"[|<>]")
_SIMPLE = re.compile(r"(echo|printf) [^$`]*|utmost(-papers)? [^|<>&;$`]*( > [\w.-]+)?")
"""A line that needs no shell, or that a shell runs alone."""

# What a slow machine says once in ten seconds, and a new one once.
_PROGRESS = re.compile(r"(Designing: round \d+, relative gap |Compiling this search, once on this machine).*\n?")


@dataclass(frozen=True)
class Block:
    """Code of a page, and the output that the page shows for it, or None."""

    language: str
    code: str
    output: str | None
    is_drawn: bool


def blocks(page):
    """The blocks of code of a page."""
    text, found = page.read_text(encoding="utf-8"), []
    matches = [*BLOCK.finditer(text), None]
    for match, after in itertools.pairwise(matches):
        if match[2] not in ("python", "sh") or re.search(r"<!-- not run: [^\n]* -->\n$", text[: match.start()]):
            continue
        between = text[match.end() : after.start()].strip() if after else ""
        has_output = after is not None and after[2] == "text" and between in ("", "<!-- drawn -->")
        code = re.sub(rf"^{match[1]}", "", match[3], flags=re.M)
        output = re.sub(rf"^{match[1]}", "", after[3], flags=re.M) if has_output else None
        found.append(Block(match[2], code, output, has_output and between != ""))
    return found


def run_page(page):
    """Run all blocks of a page in the current folder; the names that its Python made."""
    names = {"__name__": "__main__"}
    gc.freeze()  # so that `forget` looks through what the page makes, and not through all modules
    for block in blocks(page):
        printed = run_python(block.code, names, page) if block.language == "python" else run_shell(block.code)
        if block.output is None:
            assert block.language == "sh" or printed == "", f"{block.code}prints what the page leaves out:\n{printed}"
        elif printed is not None:
            shown, expected = (masked(text) if block.is_drawn else text for text in (printed, block.output))
            same = doctest.OutputChecker().check_output(expected, shown, FLAGS)
            assert same, f"{block.code}prints\n{printed}\nand {page.name} shows\n{block.output}"
    return names


def strange_options(text):
    """The options in a page's sentences that the command before them does not take on the command line."""
    options = {name: {word for each in command.params for word in each.opts} for name, command in every_command()}
    sentences = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    found = []
    for code in re.findall(r"`utmost ([^`\n]+)`", sentences):
        words = code.split()
        name = next((name for name in (" ".join(words[:2]), words[0]) if name in options), None)
        typed = [] if name is None else re.findall(r"(?<!\S)--[a-z][a-z-]*", code)
        found += [f"{name} {word}" for word in typed if word not in {*options[name], "--help"}]
    return found


def forget(names):
    """Let go of all that a page made, as a reader's process does by ending: ledgers left open, kinds of noise."""
    for kind in noise_kinds.KINDS.keys() - KINDS_OF_NOISE:
        del noise_kinds.KINDS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        names.clear()
        gc.collect()


def run_python(code, names, page):
    """What a block prints, with the value of its last expression, or the error that ends it."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(tree, page.name, "exec"), names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), page.name, "eval"), names)
                if value is not None:
                    print(repr(value))
        except Exception as error:
            if not out.getvalue() and type(error).__module__ != "utmost.errors":
                raise
            print(f"{type(error).__module__}.{type(error).__name__}: {error}")
    return out.getvalue()


def run_shell(code):
    """What the commands of a block print, errors first, or None where it is not run."""
    if NOT_RUN.search(code):
        return None
    commands = [line for line in code.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    if any(not line.startswith(("utmost ", "utmost-papers ", "cat ")) or _OF_A_SHELL.search(line) for line in commands):
        if not all(map(_SIMPLE.fullmatch, commands)):
            return run_bash(code)
        return "".join(run_bash(line) if line.startswith(("echo", "printf")) else run_simple(line) for line in commands)
    printed = ""
    for line in commands:
        program, *arguments = shlex.split(line, comments=True)
        if program == "cat":
            printed += Path(arguments[0]).read_text(encoding="utf-8")
        else:
            done = called(*arguments, program=PROGRAMS[program])
            printed += _PROGRESS.sub("", done.stderr) + done.stdout
    return printed


def run_bash(code):
    """What a script prints, errors first; each of its commands has to succeed."""
    path = f"{sysconfig.get_path('scripts')}:/usr/local/bin:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", code], env=PLAIN | {"PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return _PROGRESS.sub("", done.stderr) + done.stdout


def run_simple(line):
    """What a command prints, run in this process, where its output may go to a file; it has to succeed."""
    command, _, file = line.partition(" > ")
    program, *arguments = shlex.split(command)
    done = called(*arguments, program=PROGRAMS[program])
    assert done.returncode == 0, done.stderr
    if file:
        Path(file.strip()).write_text(done.stdout, encoding="utf-8")
    return _PROGRESS.sub("", done.stderr) + done.stdout * (not file)


def masked(text):
    """The text with all numbers and bars alike."""
    return re.sub(r"[━─●]+", "━", re.sub(r"-?\d+", "#", text))
