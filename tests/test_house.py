"""Names lead to files, files are chapters, the reference lists what there is, and habits agree with each other."""

import csv
import re
import runpy
from pathlib import Path

import pytest

import utmost
from utmost.provided import provided
from utmost.publish.tables import engines

ROOT = Path(__file__).parents[1]
house = runpy.run_path(str(ROOT / ".ci/house.py"))
api = runpy.run_path(str(ROOT / ".ci/api.py"))


def test_the_tree_keeps_the_rules_of_decision_0007():
    """No file above 500 lines, no hidden module, no doubled name but those with a reason, no circle of files."""
    assert house["broken"](ROOT / "src/utmost") == []


def test_a_shared_name_that_is_shared_no_more_needs_no_reason():
    tree = ROOT / "src/utmost"
    assert set(house["SHARED_FILE_NAMES"]) <= set(house["doubled_file_names"](tree))
    assert set(house["SHARED_NAMES"]) <= set(house["doubled_names"](tree))


@pytest.fixture
def planted(tmp_path):
    """A tree that breaks every rule once."""
    tree = tmp_path / "utmost"
    for name, text in {
        "__init__.py": "from utmost.one.noise import level\n",
        "level.py": "",
        "one/__init__.py": "from utmost.one.noise import level\n",
        "one/noise.py": "from utmost.one.law import pmf\ndef level(): ...\n",
        "one/law.py": "def pmf():\n    from utmost.one import level\n    import_module(f'utmost.two.{level}')\n",
        "two/__init__.py": "from utmost.two.noise import level\nimport_module(level)\n",
        "two/noise.py": "from utmost.one.law import pmf\ndef level(): ...\n" + "\n" * 499,
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    return tree


def test_every_broken_rule_is_seen(planted):
    """A long file, a hidden module, names twice, a circle, an argument that is none, eleven of them, a hidden load."""
    (planted / "two" / "words.py").write_text("found = 1;" * (house["MOST_PIDGIN"] + 1), encoding="utf-8")
    documented = 'def mean(cells):\n    """Of cells.\n\n    Args:\n        cells, counts: numbers.\n    """\n'
    ten = ", ".join(f"cells_{k}" for k in range(10))
    wide = f"def widest({ten}): ...\ndef too_wide({ten}, cells): ...\n"
    (planted / "two" / "means.py").write_text(documented + wide, encoding="utf-8")
    long, hidden, files, names, circle, words, argument, parameters, *loads = house["broken"](planted)
    assert argument == "two/means.py:mean takes no counts"
    assert parameters == "two/means.py:too_wide has 11 parameters, more than 10"
    assert words == f"{house['MOST_PIDGIN'] + 1} names that name nothing"
    assert long == "two/noise.py has 501 lines, more than 500"
    assert hidden == "the module utmost.level is hidden by something else of its name"
    assert files == "noise names ['one/noise.py', 'two/noise.py']"
    assert names == "level is defined in ['utmost.one.noise', 'utmost.two.noise']"
    assert "utmost.one.law" in circle
    assert "utmost.one.noise" in circle
    assert "utmost.two" in circle
    seen = "by its name, which no contract of imports sees"
    assert loads == [f"one/law.py loads utmost.two. {seen}", f"two/__init__.py loads what a variable says {seen}"]


def test_a_name_that_went_does_not_come_back():
    """The number of names that name nothing is the one in .ci/house.py, and goes down alone."""
    assert sum(house["pidgin"](ROOT / "src/utmost").values()) == house["MOST_PIDGIN"]


def test_what_a_room_asks_of_one_above_it_has_a_provider():
    """Every name in the one table is asked for somewhere, and is there."""
    tree = ROOT / "src/utmost"
    asked = {
        name for path in tree.rglob("*.py") for name in re.findall(r'provided\("(\w+)"\)', path.read_text("utf-8"))
    }
    by_engine = {name for _, name in engines._DOORS.values()}
    by_argument = {"engine_ledger", "engine_release"}  # of `engine_door`
    registered = set(re.findall(r'^        "(\w+)": "utmost\.', (tree / "__init__.py").read_text("utf-8"), re.M))
    assert (asked - {"half"}) | by_engine | by_argument == registered
    assert all(provided(name) is not None for name in registered)


def test_the_reference_lists_every_public_name():
    """Where it does not: run python .ci/api.py."""
    assert (ROOT / "docs/reference/api.md").read_text(encoding="utf-8").endswith(api["section"]())


def _names(table):
    return list(csv.DictReader((ROOT / f"docs/decisions/{table}-names.csv").read_text(encoding="utf-8").splitlines()))


def test_the_tables_of_names_are_tables():
    """Three cells a row, of a kind that 0007 names; a module of the first layouts is found today by following all."""
    rows, later = _names("0007"), _names("0016")
    last = [row for table in ("0034", "0045", "0053", "0059", "0060", "0061") for row in _names(table)]
    moved = {row["old"]: row["new"] for row in later if row["what"] in ("package", "module")}
    newest = {row["old"]: row["new"] for row in last if row["what"] == "module"}
    moved = {old: newest.get(new, new) for old, new in moved.items()}
    assert {row["what"] for row in rows} <= {"package", "module", "top", "name", "argument", "command", "option"}
    assert all(set(row) == {"what", "old", "new"} and row["old"] for row in [*rows, *later, *last])
    modules = {moved.get(row["new"], row["new"]) for row in rows if row["what"] == "module" and row["new"]}
    modules |= set(moved.values())
    home = ROOT / "src"
    paths = {module: home / module.replace(".", "/") for module in modules}
    assert sorted(m for m, path in paths.items() if not (path.with_suffix(".py").exists() or path.is_dir())) == []


def test_the_hooks_run_what_ci_runs():
    hooks = re.findall(r"entry: ([^,]+),", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    checks = (ROOT / ".ci/run").read_text(encoding="utf-8").replace("ruff format --check .", "ruff format").split("\n")
    assert len(hooks) == 4
    assert [hook for hook in hooks if not any(line.removesuffix(" .") == hook for line in checks)] == []


def test_the_citation_is_of_this_version():
    assert f"\nversion: {utmost.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
