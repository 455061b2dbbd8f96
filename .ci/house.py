"""Whether names lead to files, and files are chapters: the figures of a source tree, and what breaks the rules.

    python .ci/house.py [TREE]        src/utmost, or the same folder of another checkout

The rules (docs/decisions/0007): no module is hidden by a function or class of its name; no two files, and no two public
functions or classes, share a name; no file is longer than 500 lines; a local bears its noun; no function outside the
command line has more than ten parameters, and a docstring describes those that there are; files import each other
without a circle, and no file loads another by its name.
"""

import ast
import re
import statistics
import sys
import tokenize
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 500
MOST_PARAMETERS = 10  # outside the command line
LOADERS = ("import_module", "__import__")

# Files that load modules by a name, and why; each other file asks `utmost.provided`, which one table fills.
LOADING = {
    "doors/cli/main.py": "a command's file is loaded when the command is typed",
    "doors/interop/packages.py": "packages of others that may be missing",
    "publish/tables/extra.py": "packages of others that may be missing",
}

# Words that name nothing: a local is searched for by what it holds. Of old ones there may be so many, and each that
# goes lowers the number.
PIDGIN = frozenset({"asked", "found", "given", "kept", "made", "one", "said"})
MOST_PIDGIN = 248

# File names that two rooms share, and why neither has a better one.
SHARED_FILE_NAMES = {
    "capacities": "the documents of the room of that name",
    "ledger": "the class Ledger, in the room that is about nothing else",
    "service": "the room, and the class that it is for",
}

# Public functions and classes that share a name, and why.
SHARED_NAMES = {
    "between": "workloads.between is of a public number's bounds, rappor.between of bits between two responses",
    "relax": "gradual.relax is of numbers and rappor.relax of bits: one idea, said with its room",
    "tighten": "gradual.tighten is of numbers and rappor.tighten of bits",
}


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax of one file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All of its syntax, walked once for every rule."""
    return list(ast.walk(parsed(path)))


def _head(path: Path) -> list[ast.stmt]:
    """The statements of a file at its head, and those for type checkers among them."""
    lines = parsed(path).body
    return [*lines, *(under for line in lines if isinstance(line, ast.If) for under in line.body)]


@cache
def listed(path: Path) -> dict[str, str]:
    """The names that a file imports at its head, or lists for type checkers, and the module that each comes from."""
    return {name: source for line in _head(path) for source, name in _imports(line)}


def sources(tree: Path) -> list[Path]:
    """The files of a tree."""
    return sorted(path for path in tree.rglob("*.py") if "__pycache__" not in path.parts)


def lengths(tree: Path) -> dict[str, int]:
    """Lines of each file, by its path in the tree."""
    return {str(path.relative_to(tree)): len(path.read_text(encoding="utf-8").splitlines()) for path in sources(tree)}


def hidden_modules(tree: Path) -> list[str]:
    """Modules that their package cannot show, because it has a function, class or value of their name."""
    found = []
    for init in (*tree.rglob("__init__.py"), *tree.rglob("__init__.pyi")):
        package = ".".join((tree.name, *init.parent.relative_to(tree).parts))
        modules = {p.stem for p in init.parent.glob("*.py")} | {
            p.parent.name for p in init.parent.glob("*/__init__.py")
        }
        for line in _head(init):
            if isinstance(line, ast.ImportFrom) and line.module != package:
                names = {name.asname or name.name for name in line.names}
                found += [f"{package}.{name}" for name in sorted(names & modules)]
    return found


def doubled_file_names(tree: Path) -> dict[str, list[str]]:
    """Base names of files, and of rooms, that two or more have."""
    places = defaultdict(list)
    for path in sources(tree):
        name = path.parent.name if path.stem == "__init__" else path.stem
        if path.parent != tree or (not name.startswith("__") and path.stem != "__init__"):
            places[name].append(str(path.relative_to(tree)))
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def doubled_names(tree: Path) -> dict[str, list[str]]:
    """Functions and classes of one name that rooms list for their readers, and two or more files define."""
    files = {_module(tree, path): path for path in sources(tree)}
    places = defaultdict(set)
    for path in files.values():
        if path.stem == "__init__":
            for name, source in listed(path).items():
                origin = _origin(files, source, name)
                if origin and _defines(files[origin], name):
                    places[name].add(origin)
    return {name: sorted(found) for name, found in sorted(places.items()) if len(found) > 1}


def _defines(path: Path, name: str) -> bool:
    kinds = ast.FunctionDef | ast.ClassDef
    return any(isinstance(line, kinds) and line.name == name for line in parsed(path).body)


def circles(tree: Path) -> list[list[str]]:
    """Groups of files that import each other, at their head, in a function or by a name made of text.

    A name of a room counts as its file; what the files of the root load is the table of who provides what.
    """
    files = {_module(tree, path): path for path in sources(tree)}
    graph = {
        module: {origin for line in nodes(path) for one in _imports(line) if (origin := _origin(files, *one))}
        | {known for name in _loads(tree, path) for known in files if name and known.startswith(name)}
        for module, path in files.items()
    }
    reached = {module: _reached(graph, module) for module in graph}
    groups = {
        frozenset(m for m in reached[module] if module in reached[m]) for module in graph if module in reached[module]
    }
    return sorted(sorted(group) for group in groups if len(group) > 1)


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    ahead = list(graph[start])
    while ahead:
        module = ahead.pop()
        if module not in seen:
            seen.add(module)
            ahead += graph[module]
    return seen


def _module(tree: Path, path: Path) -> str:
    parts = (tree.name, *path.relative_to(tree).with_suffix("").parts)
    return ".".join(parts[:-1] if path.stem == "__init__" else parts)


def _imports(line: ast.AST) -> list[tuple[str, str]]:
    if isinstance(line, ast.ImportFrom) and line.module and not line.level:
        return [(line.module, name.name) for name in line.names]
    return []


def _origin(files: dict[str, Path], module: str, name: str) -> str | None:
    """The file that a name comes from, through the lists of rooms; None outside the tree."""
    if f"{module}.{name}" in files:
        module = f"{module}.{name}"
    if module not in files:
        return None
    if files[module].stem == "__init__":
        source = listed(files[module]).get(name, module)
        return None if source == module else _origin(files, source, name)
    return module


def strange_loads(tree: Path) -> list[str]:
    """Files that load a module by a name made of text, where no contract of imports sees it, and have no reason to."""
    return [
        f"{path.relative_to(tree)} loads {name or 'what a variable says'}"
        for path in sources(tree)
        if str(path.relative_to(tree)) not in LOADING
        for name in _loads(tree, path)
        if not name or name.startswith(f"{tree.name}.")
    ]


def _loads(tree: Path, path: Path) -> list[str]:
    """What the names begin with that a file below the root loads modules by; "" where they are in a variable."""
    calls = (line for line in nodes(path) if isinstance(line, ast.Call) and path.parent != tree)
    loading = (call for call in calls if getattr(call.func, "id", getattr(call.func, "attr", "")) in LOADERS)
    return [_beginning(call.args[0]) if call.args else "" for call in loading]


def _beginning(text: ast.expr) -> str:
    """What a text begins with, where its code says so."""
    first = text.values[0] if isinstance(text, ast.JoinedStr) else text
    return str(first.value) if isinstance(first, ast.Constant) else ""


@cache
def pidgin(tree: Path) -> dict[str, int]:
    """How often names that name nothing are bound or read as locals, by file."""
    counts = {}
    for path in sources(tree):
        names = [getattr(node, "id", getattr(node, "arg", "")) for node in nodes(path)]
        counts[str(path.relative_to(tree))] = sum(name in PIDGIN for name in names)
    return {path: count for path, count in counts.items() if count}


def parameters(tree: Path) -> dict[str, int]:
    """How many parameters each function outside the command line has, by its file and name."""
    counts = {}
    for path in sources(tree):
        for line in nodes(path) if "cli" not in path.parts else ():
            if isinstance(line, ast.FunctionDef):
                names = [part.arg for part in (*line.args.posonlyargs, *line.args.args, *line.args.kwonlyargs)]
                counts[f"{path.relative_to(tree)}:{line.name}"] = len(names) - (names[:1] in (["self"], ["cls"]))
    return counts


def misnamed(tree: Path) -> list[str]:
    """What docstrings of functions describe as an argument, and the function does not take."""
    functions = [(p, node) for p in sources(tree) for node in nodes(p) if isinstance(node, ast.FunctionDef)]
    described = ((p, node, (ast.get_docstring(node) or "").partition("Args:\n")[2]) for p, node in functions)
    return [
        f"{path.relative_to(tree)}:{node.name} takes no {name}"
        for path, node, text in described
        for line in re.findall(r"^    (\w+(?:, \w+)*):", re.split(r"\n\n|\n(?=\S)", text)[0], re.MULTILINE)
        for name in line.split(", ")
        if node.args.kwarg is None and name not in {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    ]


def listed_names(tree: Path) -> tuple[int, int]:
    """How many names the rooms list for their readers, and how many the top."""
    rooms = sum(len(_own(path)) for path in tree.glob("*/*/__init__.py"))
    top = tree / "__init__.pyi"
    return rooms, len(_own(top)) if top.exists() else 0


def _own(path: Path) -> list[str]:
    """What a listing says of its tree: without `TYPE_CHECKING`, and the loader of rooms."""
    return [name for name, source in listed(path).items() if source not in ("typing", "utmost.provided")]


def comments(tree: Path) -> float:
    """The share of lines that have a comment, in a hundred."""
    found = lines = 0
    for path in sources(tree):
        with path.open("rb") as file:
            found += sum(token.type == tokenize.COMMENT for token in tokenize.tokenize(file.readline))
        lines += len(path.read_text(encoding="utf-8").splitlines())
    return 100 * found / lines


def kinds_of_lines(tree: Path) -> dict[str, int]:
    """How many lines are blank, of docstrings, of comments alone, and of code."""
    counts = {"code": 0, "docstrings": 0, "comments": 0, "blank": 0}
    for path in sources(tree):
        holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        texts = [node.body[0] for node in nodes(path) if isinstance(node, holders) and node.body]
        documented = {
            number
            for text in texts
            if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
            for number in range(text.lineno, (text.end_lineno or text.lineno) + 1)
        }
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            text = line.strip()
            is_comment = text.startswith("#")
            kind = "docstrings" if number in documented else "comments" if is_comment else "code" if text else "blank"
            counts[kind] += 1
    return counts


def tests_of_files(tree: Path, tests: Path) -> dict[str, int]:
    """How many test files import each file of a room past the room's face: those that its renaming touches."""
    files = {_module(tree, path) for path in sources(tree) if path.stem != "__init__" and path.parent != tree}
    named: dict[str, set[Path]] = defaultdict(set)
    for path in sorted(tests.rglob("*.py")):
        for module, _ in (pair for line in nodes(path) for pair in _imports(line)):
            if module in files:
                named[module].add(path)
    return {module: len(paths) for module, paths in named.items()}


def broken(tree: Path) -> list[str]:
    """Every rule that does not hold, in words."""
    return [
        *(f"{path} has {lines} lines, more than {LONGEST}" for path, lines in lengths(tree).items() if lines > LONGEST),
        *(f"the module {name} is hidden by something else of its name" for name in hidden_modules(tree)),
        *(f"{n} names {p}" for n, p in doubled_file_names(tree).items() if n not in SHARED_FILE_NAMES),
        *(f"{n} is defined in {p}" for n, p in doubled_names(tree).items() if n not in SHARED_NAMES),
        *(f"these import each other: {', '.join(group)}" for group in circles(tree)),
        *([f"{total} names that name nothing"] if (total := sum(pidgin(tree).values())) > MOST_PIDGIN else []),
        *misnamed(tree),
        *(
            f"{name} has {n} parameters, more than {MOST_PARAMETERS}"
            for name, n in parameters(tree).items()
            if n > MOST_PARAMETERS
        ),
        *(f"{load} by its name, which no contract of imports sees" for load in strange_loads(tree)),
    ]


def main() -> None:
    """Report."""
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "src/utmost")
    sizes = list(lengths(tree).values())
    sys.stdout.write(f"files                    {len(sizes)}\n")
    sys.stdout.write(f"lines                    {sum(sizes)}\n")
    kinds = ", ".join(f"{count} {kind}" for kind, count in kinds_of_lines(tree).items())
    sys.stdout.write(f"{'of these':<24} {kinds}\n")
    sys.stdout.write(f"median                   {statistics.median(sizes):g}\n")
    sys.stdout.write(f"files over 400, over 500 {sum(n > 400 for n in sizes)}, {sum(n > 500 for n in sizes)}\n")
    for what, found in (
        ("hidden modules", hidden_modules(tree)),
        ("doubled file names", list(doubled_file_names(tree))),
        ("doubled names", list(doubled_names(tree))),
        ("circles", [", ".join(group) for group in circles(tree)]),
    ):
        sys.stdout.write(f"{what:<24} {len(found)} {' '.join(found)}\n")
    words = pidgin(tree)
    most = sorted(words, key=words.__getitem__, reverse=True)[:5]
    sys.stdout.write(f"{'names that name nothing':<24} {sum(words.values())} most in {' '.join(most)}\n")
    many = sorted(parameters(tree).items(), key=lambda item: -item[1])
    sys.stdout.write(
        f"{'parameters over 6, over 10':<24} {sum(n > 6 for _, n in many)}, {sum(n > 10 for _, n in many)}"
    )
    sys.stdout.write(f" most in {' '.join(name for name, _ in many[:5])}\n")
    sys.stdout.write(f"{'names of rooms, of top':<24} {', '.join(map(str, listed_names(tree)))}\n")
    if (tests := tree.parents[1] / "tests").is_dir():
        lines = sum(lengths(tests).values())
        touched = tests_of_files(tree, tests)
        most = max(touched, key=touched.__getitem__, default="")
        sys.stdout.write(f"{'lines of tests':<24} {lines}; renaming {most} touches {touched.get(most, 0)} files\n")
    sys.stdout.write(f"{'comments in 100 lines':<24} {comments(tree):.2f}\n")


if __name__ == "__main__":
    main()
