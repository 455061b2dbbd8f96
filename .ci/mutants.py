"""Mutation testing of a room: small faults in its code, each run against the tests that reach the line.

    python .ci/mutants.py src/utmost/core/sampling tests/sampling --count 200 --seed 1

Faults are drawn from all that the operators below can make: a comparison, a sum, a product, a shift, a mask, a
conjunction or a condition turned around, an integer off by one, a truth negated, a call or a result left out.
Messages of errors, texts, annotations and docstrings are left alone. A fault is killed when a test fails or does not
end in time; what survives is printed with its line.

The tests are collected once. A fault within a function is planted by giving the function its faulty code, in a fork
of the process that has collected them, so that it costs what its tests cost; what survives that, and faults in what
runs when a module is imported, are planted at the import, in a process that has imported nothing of ours.
"""

import argparse
import ast
import gc
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType

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
    "-p",
    "no:randomly",
    "--no-header",
    "--tb=no",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
]
EXIT_OK, NOT_PLANTED = 0, 71
CO_OPTIMIZED, CO_NEWLOCALS = 1, 2
LONGEST = 60.0
"""Seconds of tests that are spent on one fault, those of the quickest tests."""
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


def codes(code: CodeType) -> Iterator[CodeType]:
    """All code that a file has: its own, that of its classes and of its functions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def is_function(code: CodeType) -> bool:
    """Whether code runs when it is called, and not when its file is imported."""
    return bool(code.co_flags & CO_NEWLOCALS and code.co_flags & CO_OPTIMIZED)


def runs_at_import(code: CodeType) -> tuple[object, ...]:
    """What a piece of code does besides making functions."""
    return code.co_code, tuple(constant for constant in code.co_consts if not isinstance(constant, CodeType))


def planted(fault: Fault) -> bool:
    """Give the functions of a module that is imported their faulty code; False where the fault is not in a function."""
    path = str(fault.path)
    right = compile(fault.path.read_text(encoding="utf-8"), path, "exec", dont_inherit=True)
    wrong = compile(faulty(fault), path, "exec", dont_inherit=True)
    for mine, other in zip(codes(right), codes(wrong), strict=True):
        if not is_function(mine) and runs_at_import(mine) != runs_at_import(other):
            return False
    table = {(code.co_qualname, code.co_firstlineno): code for code in codes(wrong) if is_function(code)}
    changed = 0
    for function in gc.get_objects():
        if type(function) is FunctionType and function.__code__.co_filename == path:
            code = table.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
            if code is not None and code != function.__code__:
                function.__code__, changed = code, changed + 1
    return changed > 0


class Watch:
    """Which tests reach which lines, and how long each test takes."""

    def __init__(self, room: Path) -> None:
        self.coverage = coverage.Coverage(data_file=None, source=[str(room if room.is_dir() else room.parent)])
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


def reached(room: Path, tests: list[str]) -> tuple[dict[str, list[str]], dict[str, float], list[str]]:
    """For each "file:line" the tests that reach it, the seconds that each test takes, and our modules it imports."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:

        def job() -> int:
            watch = Watch(room)
            watch.coverage.start()
            code = pytest.main([*OPTIONS, *tests], plugins=[watch])
            watch.coverage.stop()
            data, lines = watch.coverage.get_data(), {}
            for path in data.measured_files():
                for line, contexts in data.contexts_by_lineno(path).items():
                    lines[f"{path}:{line}"] = sorted(context for context in contexts if context)
            modules = [name for name in sys.modules if name.startswith("utmost")]
            Path(file.name).write_text(json.dumps([lines, watch.seconds, modules]))
            return int(code)

        assert forked(job, 3600) == EXIT_OK, "the tests must pass before faults are planted"
        lines, seconds, modules = json.loads(Path(file.name).read_text())
    return lines, seconds, modules


class Collected:
    """A session that has collected the tests, and forks for each fault instead of running them.

    Args:
        modules: what is imported before.
        judge: called with the way to try a fault, while the session lasts.
    """

    def __init__(self, modules: list[str], judge: Callable[["Collected"], None]) -> None:
        self.modules, self.judge = modules, judge
        self.items: dict[str, pytest.Item] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the faults."""
        for name in self.modules:
            importlib.import_module(name)
        self.items = {item.nodeid: item for item in session.items}
        gc.collect()
        gc.freeze()
        gc.unfreeze()
        self.judge(self)
        return True

    def passes(self, fault: Fault, tests: list[str], seconds: float) -> int | None:
        """The exit code of the tests with a fault in a function; `NOT_PLANTED` for one that is not in a function."""

        def job() -> int:
            if not planted(fault):
                return NOT_PLANTED
            items = [item for name, item in self.items.items() if name in set(tests)]
            ends = [*pairwise([*items, None])]
            for item, following in ends:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if item.session.testsfailed:
                    return 1
            return EXIT_OK

        return forked(job, seconds)


def fails_at_import(fault: Fault, tests: list[str], seconds: float) -> bool:
    """Whether a test fails, or does not end, where the faulty module is imported."""
    parts = fault.path.with_suffix("").relative_to(ROOT / "src").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def job() -> int:
        sys.meta_path.insert(0, Planted(name, faulty(fault), fault.path))
        return int(pytest.main([*OPTIONS, *tests]))

    return forked(job, 30 + seconds) != EXIT_OK


def in_parts(tests: set[str], seconds: dict[str, float], first: float) -> list[list[str]]:
    """The quickest tests that end within so many seconds, and those of the rest that end within `LONGEST`."""
    parts: list[list[str]] = [[], []]
    spent = 0.0
    for test in sorted(tests, key=seconds.__getitem__):
        spent += seconds[test]
        if spent <= LONGEST or not any(parts):
            parts[spent > first].append(test)
    return [part for part in parts if part]


def main() -> int:
    """Plant, run, and report; 1 where more survive than --score allows."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("room", help="a folder or a file; several with commas between")
    asked.add_argument("tests", nargs="+")
    asked.add_argument("--count", type=int, default=100, help="so many faults, drawn from all")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--score", type=float, default=0.0, help="the share that must be killed")
    asked.add_argument(
        "--first", type=float, default=4.0, help="seconds of quick tests that are tried before all others"
    )
    given = asked.parse_args()
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != Path(__file__).parent]  # cli.py hides tests/cli
    import hypothesis  # noqa: F401  (imported once, before the processes fork)
    import scipy.stats  # noqa: F401

    rooms = [Path(path).resolve() for path in given.room.split(",")]
    paths = [path for room in rooms for path in ([room] if room.is_file() else sorted(room.rglob("*.py")))]
    every = [fault for path in paths for fault in faults(path)]
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))  # noqa: S311  (repeatable)
    lines, seconds, modules = reached(Path(os.path.commonpath(rooms)), given.tests)
    reaching = {fault: _reaching(fault, lines) for fault in chosen}

    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:

        def judge(session: Collected) -> None:
            codes: list[int | None] = []
            for number, fault in enumerate(chosen, 1):
                code: int | None = EXIT_OK
                for tests in in_parts(reaching[fault], seconds, given.first):
                    code = session.passes(fault, tests, 10 + 5 * sum(map(seconds.__getitem__, tests)))
                    if code != EXIT_OK:
                        break
                codes.append(code)
                if number % 20 == 0:
                    os.write(2, f"{number} of {len(chosen)}: {codes.count(EXIT_OK)} live so far\n".encode())
            Path(file.name).write_text(json.dumps(codes))

        def job() -> int:
            return int(pytest.main([*OPTIONS, *given.tests], plugins=[Collected(modules, judge)]))

        forked(job, 10**6)
        codes = json.loads(Path(file.name).read_text())
    alive = 0
    for fault, code in zip(chosen, codes, strict=True):
        if code not in (EXIT_OK, NOT_PLANTED):
            continue
        tests = reaching[fault] or {
            test for key, of in lines.items() if key.startswith(f"{fault.path}:") for test in of
        }
        parts = in_parts(tests, seconds, given.first)
        if any(fails_at_import(fault, part, 5 * sum(map(seconds.__getitem__, part))) for part in parts):
            continue
        alive += 1
        text = fault.path.read_text(encoding="utf-8").splitlines()[fault.line - 1].strip()
        where = f"{fault.path.relative_to(ROOT)}:{fault.line}"
        sys.stdout.write(f"alive: {where}: {fault.what}: {text} ({len(tests)} tests)\n")
        sys.stdout.flush()
    score = 1 - alive / len(chosen)
    sys.stdout.write(f"{len(chosen)} of {len(every)} faults: {len(chosen) - alive} killed, {100 * score:.1f} %\n")
    return int(score < given.score)


def _reaching(fault: Fault, lines: dict[str, list[str]]) -> set[str]:
    return {test for line in range(fault.line, fault.last + 1) for test in lines.get(f"{fault.path}:{line}", [])}


if __name__ == "__main__":
    sys.exit(main())
