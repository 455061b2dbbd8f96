"""The page of Python by purpose: what it says of arguments is what the functions take."""

import importlib.util
import inspect
import re
from functools import reduce
from pathlib import Path

import utmost as ut

PAGE = Path(__file__).parents[2] / "docs/reference/api.md"
# A union of an argument's kinds or names is written with a bar, and the rest with dots.
ARGUMENT = re.compile(r"^\*?(\w+)(?:=.*)?$")


def _found(name):
    """What a name of the page means at the top level or in the one room that lists it, or None: a method."""
    first, *rest = name.removeprefix("ut.").split(".")
    rooms = [getattr(ut, module) for module in ut._MODULES]
    holders = [room for room in (ut, *rooms) if first in getattr(room, "__all__", ())]
    try:
        return reduce(getattr, (first, *rest), holders[0]) if ut in holders or len(holders) == 1 else None
    except AttributeError:
        return None


def test_every_argument_that_the_page_names_is_one():
    page = PAGE.read_text(encoding="utf-8").partition("## Every name")[0]
    checked = 0
    for name, said in re.findall(r"`([a-zA-Z][\w.]+)\(([^`()]*)\)`", page):
        found = _found(name)
        if not callable(found):
            continue
        taken = inspect.signature(found).parameters
        if any(one.kind is one.VAR_KEYWORD for one in taken.values()):
            continue
        for argument in re.split(r",|\\\|", said):
            named = ARGUMENT.match(argument.strip())
            if named:
                assert named[1] in taken, f"{name}({said}): {named[1]} is none of {list(taken)}"
                checked += 1
    assert checked > 100


def test_every_name_of_the_page_is_where_the_page_says():
    """What begins a line is listed by a room or the top level, or is written with the way to it; methods have a dot."""
    head, _, listed = PAGE.read_text(encoding="utf-8").partition("## Every name")
    public = set(re.findall(r"`(\w+)`", listed))
    missing = []
    for line in head.splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        for span in re.findall(r"`([a-zA-Z][^`]*)`", cells[1]) if line.startswith("| `") else ():
            way = re.match(r"[\w.]+", span)[0].removeprefix("ut.").removeprefix("utmost.")
            first, *rest = way.split(".")
            if "=" in span.partition("(")[0]:  # words of the line's first name
                continue
            at = _found(first) if first in public else ut
            parts = rest if first in public else [first, *rest]
            try:
                reduce(getattr, parts, at)
            except AttributeError:
                if importlib.util.find_spec(".".join(["utmost", *parts[:-1]])) is None or not hasattr(
                    importlib.import_module(".".join(["utmost", *parts[:-1]])), parts[-1]
                ):
                    missing.append(span)
    assert missing == []
