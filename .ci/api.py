"""Write the list of every public name, by module, at the end of docs/reference/api.md; a test holds it to the code.

python .ci/api.py
"""

import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/api.md"
START = "## Every name, module by module\n"


def section() -> str:
    """The names of the top, then those of each public module."""
    import utmost

    lists = {"ut": utmost.__all__}
    lists |= {f"ut.{name}": dir(import_module(f"utmost.{name}")) for name in sorted(utmost._MODULES)}
    rows = [f"| `{where}` | {', '.join(f'`{name}`' for name in sorted(names))} |" for where, names in lists.items()]
    first = "Written by `.ci/api.py`."
    return "\n".join((START, first, "", "| module | names |", "|---|---|", *rows, ""))


def main() -> None:
    """Rewrite the section, which is the last of the page."""
    sys.path.insert(0, str(ROOT / "src"))
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page.partition(START)[0].rstrip() + "\n\n" + section(), encoding="utf-8")


if __name__ == "__main__":
    main()
