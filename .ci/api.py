"""Write the list of every public name, room by room, at the end of docs/reference/api.md; a test holds it to the code.

python .ci/api.py
"""

import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/api.md"
START = "## Every name, room by room\n"


def section() -> str:
    """The top level's names, then each room's that lists its own."""
    import utmost

    rooms = sorted(path.parent for path in (ROOT / "src/utmost").glob("*/*/__init__.py"))
    lists = {"ut": utmost.__all__}
    for room in rooms:
        path = f"{room.parent.name}.{room.name}"
        names = getattr(import_module(f"utmost.{path}"), "__all__", ())
        lists |= {f"ut.{room.name if room.name in utmost.__all__ else path}": names} if names else {}
    rows = [f"| `{where}` | {', '.join(f'`{name}`' for name in sorted(names))} |" for where, names in lists.items()]
    first = "Written by `.ci/api.py`. `help(ut.spaces.grid)`, say, shows formula, units, errors, source and example."
    return "\n".join((START, first, "", "| room | names |", "|---|---|", *rows, ""))


def main() -> None:
    """Rewrite the section, which is the last of the page."""
    sys.path.insert(0, str(ROOT / "src"))
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page.partition(START)[0].rstrip() + "\n\n" + section(), encoding="utf-8")


if __name__ == "__main__":
    main()
