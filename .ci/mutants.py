"""Mutation testing of a room: small faults in its code, each run against the tests that reach the line.

    python .ci/mutants.py src/utmost/laws/sampling tests/sampling --count 200 --seed 1

Faults are drawn from all that the operators below can make: a comparison, a sum, a product, a shift, a mask, a
conjunction or a condition turned around, an integer off by one, a truth negated, a call or a result left out.
Messages of errors, texts, annotations and docstrings are left alone. A fault is killed when a test fails or does not
end in time; what survives is printed with its line. Processes are forked from one that has imported the tests'
libraries, so that a fault costs a second or two.
"""

import argparse
import ast
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).parents[1]
OPTIONS = [
    "-n",
    "0",
    "-q",
    "-x",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:benchmark",
    "--no-header",
    "--tb=no",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
]
EXIT_OK = 0
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """One change at one place."""

    path: Path
    place: int  # the node's number in the order of `ast.walk`
    line: int
    last: int
    what: str


def faults(path: Path) -> Iterator[Fault]:
    """Every fault that can be made in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    quiet = _quiet(tree)
    for place, node in enumerate(ast.walk(tree)):
        if id(node) not in quiet and (what := _named(node)) is not None:
            yield Fault(path, place, node.lineno, node.end_lineno or node.lineno, what)


def faulty(fault: Fault) -> ast.Module:
    """The file with the fault."""
    tree = ast.parse(fault.path.read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[fault.place]
    match node:
        case ast.Compare():
            node.ops[0] = SWAPS[type(node.ops[0])]()
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign():
            node.op = SWAPS[type(node.op)]()
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant():
            node.value += 1
        case ast.If() | ast.IfExp() | ast.While():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.Expr():
            node.value = ast.Constant(None)
        case ast.Return():
            node.value = ast.Constant(None)
    return ast.fix_missing_locations(tree)


def _named(node: ast.AST) -> str | None:
    match node:
        case ast.Compare() if type(node.ops[0]) in SWAPS:
            return f"{type(node.ops[0]).__name__} -> {SWAPS[type(node.ops[0])].__name__}"
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in SWAPS:
            return f"{type(node.op).__name__} -> {SWAPS[type(node.op)].__name__}"
        case ast.Constant(value=bool()):
            return f"{node.value} -> {not node.value}"
        case ast.Constant(value=int()):
            return f"{node.value} -> {node.value + 1}"
        case ast.If() | ast.IfExp() | ast.While():
            return "the condition negated"
        case ast.Expr(value=ast.Call()):
            return "the call left out"
        case ast.Return() if node.value is not None and not isinstance(node.value, ast.Constant):
            return "nothing returned"
    return None


def _quiet(tree: ast.Module) -> set[int]:
    """What is never changed: what errors say, texts, types, and how a thing prints itself."""
    roots: list[ast.AST] = []
    for node in ast.walk(tree):
        match node:
            case ast.Raise() | ast.JoinedStr():
                roots.append(node)
            case ast.FunctionDef():
                roots += [*node.decorator_list, *filter(None, [node.returns])]
                roots += [node] if node.name in ("__repr__", "__str__") else []
            case ast.ClassDef():
                roots += [*node.decorator_list]
            case ast.arg() | ast.AnnAssign() if node.annotation is not None:
                roots.append(node.annotation)
            case ast.Call(func=ast.Name(id="cast" | "field" | "dataclass")):
                roots.append(node)
    return {id(inner) for root in roots for inner in ast.walk(root)}


class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the faulty module where the real one is imported."""

    def __init__(self, name: str, tree: ast.Module, path: Path) -> None:
        self.name, self.tree, self.path = name, tree, path

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        """Ours, where the name is that of the faulty module."""
        is_package = self.path.name == "__init__.py"
        return (
            importlib.util.spec_from_loader(name, self, origin=str(self.path), is_package=is_package)
            if name == self.name
            else None
        )

    def exec_module(self, module: object) -> None:
        """Run the faulty code."""
        module.__file__ = str(self.path)
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


class Watch:
    """Which tests reach which lines, and how long each test takes."""

    def __init__(self, room: Path) -> None:
        self.coverage = coverage.Coverage(
            data_file=None, source=[str(room if room.is_dir() else room.parent)], branch=True
        )
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """What runs from here on belongs to this test."""
        self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up set-up, call and tear-down."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration


def forked(job: Callable[[], int], seconds: float) -> int | None:
    """The exit code of a job in a process of its own; None where it does not end in time."""
    child = os.fork()
    if child == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            os._exit(job())
        except BaseException:
            os._exit(70)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def reached(room: Path, tests: list[str]) -> tuple[dict[str, list[str]], dict[str, float]]:
    """For each "file:line" the tests that reach it, and the seconds that each test takes."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:

        def job() -> int:
            watch = Watch(room)
            watch.coverage.start()
            code = pytest.main([*OPTIONS, *tests], plugins=[watch])
            watch.coverage.stop()
            data, lines = watch.coverage.get_data(), {}
            for path in data.measured_files():
                for line, contexts in data.contexts_by_lineno(path).items():
                    lines[f"{path}:{line}"] = sorted(one for one in contexts if one)
            Path(file.name).write_text(json.dumps([lines, watch.seconds]))
            return int(code)

        assert forked(job, 1800) == EXIT_OK, "the tests must pass before faults are planted"
        lines, seconds = json.loads(Path(file.name).read_text())
    return lines, seconds


def killed(fault: Fault, tests: list[str], seconds: dict[str, float]) -> bool:
    """Whether a test fails, or does not end."""
    parts = fault.path.with_suffix("").relative_to(ROOT / "src").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def job() -> int:
        sys.meta_path.insert(0, Planted(name, faulty(fault), fault.path))
        return int(pytest.main([*OPTIONS, "-p", "no:randomly", *tests]))

    return forked(job, 30 + 5 * sum(map(seconds.__getitem__, tests))) != EXIT_OK


def _quick_ones_first(tests: set[str], seconds: dict[str, float], first: float) -> Iterator[list[str]]:
    """The tests in two parts: those that end within so many seconds together, and the rest."""
    ordered = sorted(tests, key=seconds.__getitem__)
    spent = list(accumulate(map(seconds.__getitem__, ordered)))
    cut = bisect_right(spent, first)
    yield from filter(None, (ordered[:cut], ordered[cut:]))


def main() -> int:
    """Plant, run, and report; 1 where more survive than --score allows."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("room", type=Path)
    asked.add_argument("tests", nargs="+")
    asked.add_argument("--count", type=int, default=100, help="so many faults, drawn from all")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--score", type=float, default=0.0, help="the share that must be killed")
    asked.add_argument(
        "--first", type=float, default=4.0, help="seconds of quick tests that are tried before all others"
    )
    given = asked.parse_args()
    import hypothesis  # noqa: F401  (imported once, before the processes fork)
    import scipy.stats  # noqa: F401

    room = given.room.resolve()
    every = [fault for path in sorted([room] if room.is_file() else room.rglob("*.py")) for fault in faults(path)]
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))  # noqa: S311  (repeatable)
    lines, seconds = reached(room, given.tests)
    alive = 0
    for number, fault in enumerate(chosen, 1):
        span = {test for line in range(fault.line, fault.last + 1) for test in lines.get(f"{fault.path}:{line}", [])}
        span = span or {test for key, found in lines.items() if key.startswith(f"{fault.path}:") for test in found}
        if not any(killed(fault, tests, seconds) for tests in _quick_ones_first(span, seconds, given.first)):
            alive += 1
            text = fault.path.read_text(encoding="utf-8").splitlines()[fault.line - 1].strip()
            where = f"{fault.path.relative_to(ROOT)}:{fault.line}"
            sys.stdout.write(f"alive: {where}: {fault.what}: {text} ({len(span)} tests)\n")
        if number % 25 == 0:
            sys.stdout.write(f"{number} of {len(chosen)}: {alive} alive\n")
        sys.stdout.flush()
    score = 1 - alive / len(chosen)
    sys.stdout.write(f"{len(chosen)} of {len(every)} faults: {len(chosen) - alive} killed, {100 * score:.1f} %\n")
    return int(score < given.score)


if __name__ == "__main__":
    sys.exit(main())
