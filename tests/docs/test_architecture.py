"""ARCHITECTURE.md names what is there: every file in backticks, and every identifier."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ["src", "papers", "tests", "docs", "proofs", "benchmarks", ".ci"]
FILES = [*ROOT.glob("*.*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
PATHS = {f"/{path.relative_to(ROOT).as_posix()}{'/' * path.is_dir()}" for path in FILES}
WORDS = [
    {*re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    for path in FILES
    if path.suffix in (".py", ".toml") and path.relative_to(ROOT).parts[0] in ("src", "tests", "pyproject.toml")
]


def is_there(name):
    """Whether a file has this path or ends in it, or one source has all parts of an identifier."""
    if "/" in name or name.endswith((".py", ".md", ".toml", ".json")):
        return any(path.endswith((f"/{name}", f"/{name.rstrip('/')}/")) for path in PATHS)
    return any({*name.split(".")} <= words for words in WORDS)


def test_architecture_names_what_is_there():
    page = re.sub(r"```.*?```", "", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    names = {name for name in re.findall(r"`([^`\n]+)`", page) if re.fullmatch(r"[\w./]+", name)}
    assert len(names) > 200
    assert sorted(name for name in names if not is_there(name)) == []
