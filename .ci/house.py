"""Whether names lead to files, and files are chapters: the figures of a source tree, and what breaks the rules.

    python .ci/house.py [TREE]        src/utmost, or the same folder of another checkout

The rules (docs/decisions/0007): no module is hidden by a function or class of its name; no two files, and no two public
functions or classes, share a name; no file is longer than 500 lines; files import each other without a circle.
"""

import ast
import statistics
import sys
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 500

# File names that two rooms share, and why neither has a better one.
SHARED_FILE_NAMES: dict[str, str] = {}

# Public functions and classes that share a name, and why.
SHARED_NAMES: dict[str, str] = {}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def sources(tree: Path) -> list[Path]:
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
        for line in parsed(init).body:
            if isinstance(line, ast.ImportFrom) and line.module != package:
                names = {name.asname or name.name for name in line.names}
                found += [f"{package}.{name}" for name in sorted(names & modules)]
    return found


def doubled_file_names(tree: Path) -> dict[str, list[str]]:
    """Base names of files, and of rooms, that two or more have."""
    places = defaultdict(list)
    for path in sources(tree):
        name = path.parent.name if path.stem == "__init__" else path.stem
        if path.parent != tree or not name.startswith("__") and path.stem != "__init__":
            places[name].append(str(path.relative_to(tree)))
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def doubled_names(tree: Path) -> dict[str, list[str]]:
    """Functions and classes of one name that rooms list for their readers, and two or more files define."""
    files = {_module(tree, path): path for path in sources(tree)}
    places = defaultdict(set)
    for path in files.values():
        if path.stem == "__init__":
            for source, name in (one for line in parsed(path).body for one in _imports(line)):
                origin = _origin(files, source, name)
                if origin and _defines(files[origin], name):
                    places[name].add(origin)
    return {name: sorted(found) for name, found in sorted(places.items()) if len(found) > 1}


def _defines(path: Path, name: str) -> bool:
    kinds = ast.FunctionDef | ast.ClassDef
    return any(isinstance(line, kinds) and line.name == name for line in parsed(path).body)


def circle(tree: Path) -> list[str]:
    """Files that import each other in a circle, or none; a name from a room counts as its file."""
    files = {_module(tree, path): path for path in sources(tree)}
    graph = {
        module: {_origin(files, *one) for line in ast.walk(parsed(path)) for one in _imports(line)} - {module, None}
        for module, path in files.items()
        if path.stem != "__init__"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(module) for module in error.args[1]]
    return []


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
        for line in parsed(files[module]).body:
            for source, known in _imports(line):
                if known == name and source != module:
                    return _origin(files, source, known)
        return None
    return module


def broken(tree: Path) -> list[str]:
    """Every rule that does not hold, in words."""
    return [
        *(f"{path} has {lines} lines, more than {LONGEST}" for path, lines in lengths(tree).items() if lines > LONGEST),
        *(f"the module {name} is hidden by something else of its name" for name in hidden_modules(tree)),
        *(f"{n} names {p}" for n, p in doubled_file_names(tree).items() if n not in SHARED_FILE_NAMES),
        *(f"{n} is defined in {p}" for n, p in doubled_names(tree).items() if n not in SHARED_NAMES),
        *([f"these import each other: {' -> '.join(found)}"] if (found := circle(tree)) else []),
    ]


def main() -> None:
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "src/utmost")
    sizes = list(lengths(tree).values())
    print(f"files                    {len(sizes)}")
    print(f"lines                    {sum(sizes)}")
    print(f"median                   {statistics.median(sizes):g}")
    print(f"files over 400, over 500 {sum(n > 400 for n in sizes)}, {sum(n > 500 for n in sizes)}")
    for what, found in (
        ("hidden modules", hidden_modules(tree)),
        ("doubled file names", list(doubled_file_names(tree))),
        ("doubled names", list(doubled_names(tree))),
        ("circle", circle(tree)),
    ):
        print(f"{what:<24} {len(found)} {' '.join(found)}")


if __name__ == "__main__":
    main()
