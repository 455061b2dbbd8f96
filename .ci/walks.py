"""Follow each tutorial and the README as a newcomer does, in a clean environment, and print how long it takes.

python .ci/walks.py [page ...] [--json FILE]        # docs/tutorial/first-release.md, or its name; without: all of them

For each set of extras that a page asks for (`pip install .` or `pip install ".[extra]"`) a fresh virtual environment is
made and the install timed. Then the page's console blocks are typed one by one, each a process of its own, and its
Python blocks in one session, in a folder that holds nothing but `examples`. What is printed must be what the page
shows; anything on standard error that a page does not show is told. Time is that of the wall and, since a machine may
be busy, that of the processor.
"""

import argparse
import doctest
import json
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/tutorial").glob("*.md"))]
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8", "LANG": "C.UTF-8"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
INSTALL = re.compile(r'pip install (?:"\.\[([\w,]+)\]"|\.)(?=[ `]|$)', re.MULTILINE)
SESSION = """
import doctest, json, sys, time
class Timed(doctest.DocTestRunner):
    slow = [0.0, ""]
    def report_start(self, out, test, example):
        self.began = time.perf_counter()
    def report_success(self, out, test, example, got):
        took = time.perf_counter() - self.began
        self.slow = max(self.slow, [took, example.source.strip().splitlines()[0]])
text = open(sys.argv[1], encoding="utf-8").read()
runner = Timed(verbose=False, optionflags=int(sys.argv[2]))
failed = runner.run(doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, sys.argv[1], sys.argv[1], 0))[0]
print(json.dumps([failed, *runner.slow]))
"""


@dataclass
class Walk:
    """One page, walked: seconds of the wall and of the processor, its longest step, and what went wrong."""

    page: str
    extras: str
    wall: float = 0.0
    processor: float = 0.0
    longest: tuple[float, str] = (0.0, "")
    faults: list[str] = field(default_factory=list)


def console_blocks(page: Path) -> list[list[tuple[str, str]]]:
    """The ```console blocks of a page, as (command, expected output); a command may go on after a backslash."""
    blocks: list[list[tuple[str, str]]] = []
    block: list[tuple[str, list[str]]] | None = None
    for line in page.read_text(encoding="utf-8").splitlines():
        if line == "```console":
            block = []
        elif line.startswith("```") and block is not None:
            blocks.append([(command, "\n".join(lines)) for command, lines in block])
            block = None
        elif block and block[-1][0].endswith("\\") and not block[-1][1]:
            block[-1] = (block[-1][0].removesuffix("\\") + line.strip(), [])
        elif block is not None and line.startswith("$ "):
            block.append((line[2:], []))
        elif block is not None:
            block[-1][1].append(line)
    return blocks


def is_drawn(command: str) -> bool:
    """Whether what the command shows was drawn, so that its numbers differ each time."""
    released = command.startswith("cat ") and "examples/" not in command and not command.endswith(".json")
    drawn = command.startswith(("utmost release", "utmost respond")) and "--dry-run" not in command
    return released or drawn


def masked(text: str) -> str:
    """The text with all numbers alike, and all bars."""
    return re.sub(r"[━─●]+", "━", re.sub(r"-?\d+", "#", text))


def is_as_shown(command: str, expected: str, printed: str) -> bool:
    """Whether a command printed what the page shows, up to what was drawn."""
    want = "\n".join(line.rstrip() for line in expected.splitlines()) + "\n"
    if is_drawn(command):
        printed, want = masked(printed), masked(want)
    return doctest.OutputChecker().check_output(want, printed, FLAGS)


def extras(page: Path) -> str:
    """The extras that a page says to install, "" for none; it has to say."""
    said = INSTALL.search(page.read_text(encoding="utf-8"))
    if said is None:
        raise SystemExit(f"{page.name} does not say `pip install .`, nor with which extras")
    return said[1] or ""


def fresh(folder: Path, wanted: str) -> tuple[Path, float]:
    """A clean environment with the package and these extras: its folder of programs, and the seconds that pip took."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    asked = f"{ROOT}[{wanted}]" if wanted else str(ROOT)
    began = time.perf_counter()
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", asked], check=True, capture_output=True)
    return folder / "bin", time.perf_counter() - began


def processor() -> float:
    """The seconds of the processor that ended children have had."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def walk(page: Path, programs: Path) -> Walk:
    """Type what the page says."""
    done = Walk(page.name, extras(page))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")
        began, used = time.perf_counter(), processor()
        for command, expected in (step for block in console_blocks(page) for step in block):
            typed(command, expected, programs, folder, done)
        if ">>> " in page.read_text(encoding="utf-8"):
            session(page, programs, folder, done)
        done.wall, done.processor = time.perf_counter() - began, processor() - used
    return done


def typed(command: str, expected: str, programs: Path, folder: Path, done: Walk) -> None:
    """One command in a terminal: errors and output together, as the page shows them."""
    program, *arguments = shlex.split(command)
    began = time.perf_counter()
    ended = run([programs / program if program == "utmost" else program, *arguments], programs, folder)
    done.longest = max(done.longest, (time.perf_counter() - began, f"$ {command}"))
    if not is_as_shown(command, expected, ended.stderr + ended.stdout):
        done.faults.append(f"$ {command}\n{ended.stderr}{ended.stdout}--- shown:\n{expected}")


def session(page: Path, programs: Path, folder: Path, done: Walk) -> None:
    """All Python blocks in one session."""
    ended = run([programs / "python", "-c", SESSION, page, str(FLAGS)], programs, folder)
    *said, last = ended.stdout.splitlines() or [""]
    failed, seconds, line = json.loads(last) if ended.returncode == 0 else (1, 0.0, "")
    done.longest = max(done.longest, (seconds, f">>> {line}"))
    if failed or ended.stderr:
        done.faults.append("\n".join([*said, ended.stderr]))


def run(words: list[str | Path], programs: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """One process with nothing of this one's environment."""
    environment = {**PLAIN, "PATH": f"{programs}:/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(
        words, cwd=folder, env=environment, check=False, capture_output=True, text=True, encoding="utf-8"
    )


def say(words: str) -> None:
    """At once, since a walk takes a while."""
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


def main() -> int:
    """Walk, print the table, and end with 1 if a page did not do what it shows."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("pages", nargs="*")
    reader.add_argument("--json", type=Path)
    asked = reader.parse_args()
    pages = [page for page in PAGES if not asked.pages or any(page.stem == Path(name).stem for name in asked.pages)]
    walks: list[Walk] = []
    with tempfile.TemporaryDirectory() as name:
        environments: dict[str, tuple[Path, float]] = {}
        for page in pages:
            wanted = extras(page)
            if wanted not in environments:
                environments[wanted] = fresh(Path(name) / f"environment{len(environments)}", wanted)
                asked_for = f'".[{wanted}]"' if wanted else "."
                say(f"pip install {asked_for}: {environments[wanted][1]:.0f} s")
            walks.append(walk(page, environments[wanted][0]))
            say(line(walks[-1]))
    for one in walks:
        for fault in one.faults:
            say(f"\n{one.page}\n{fault}")
    if asked.json:
        installs = {wanted: took for wanted, (_, took) in environments.items()}
        asked.json.write_text(json.dumps({"install": installs, "walks": [asdict(one) for one in walks]}, indent=2))
    return int(any(one.faults for one in walks))


def line(one: Walk) -> str:
    """One page in the table."""
    seconds, step = one.longest
    state = f"{len(one.faults)} FAULTS" if one.faults else "as shown"
    words = f"{one.wall:5.1f} s, {one.processor:5.1f} s of the processor"
    return f"{one.page:26} {words}, {state}; longest {seconds:.1f} s: {step[:60]}"


if __name__ == "__main__":
    sys.exit(main())
