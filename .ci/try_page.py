"""Write docs/try.html, a page that releases a table of counts in the browser: python .ci/try_page.py

The page is one file, with the script and style of .ci/try_page. The library writes the statement of each privacy level
that the page offers, so that the page computes no margin; `tests/docs/test_try_page.py` compares the file with this.
"""

import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES, PAGE = ROOT / ".ci/try_page", ROOT / "docs/try.html"
LEVELS = ["1/10", "1/4", "1/2", "1", "2"]


def facts(epsilon: str) -> dict[str, object]:
    """What the page states of counts at one level: COLUMNS, PUBLIC, ROWS and SHA256 stand for what it fills in."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows.csv").write_text("first,second\na,c\n", encoding="utf-8")
        (folder / "domain.json").write_text('{"first": ["a", "b"], "second": ["c"]}', encoding="utf-8")
        options = ["--each-row", "--by", "first,second", "--domain", "domain.json", "--out", "released.csv"]
        command = [sys.executable, "-m", "utmost", "release", "rows.csv", *options, "--epsilon", epsilon]
        here = os.environ | {"PYTHONPATH": str(ROOT / "src")}  # of this tree, whatever is installed
        subprocess.run(command, cwd=folder, env=here, check=True, capture_output=True)
        stated = json.loads((folder / "released.csv.json").read_text(encoding="utf-8"))
    stated["utmost"] += "+browser"
    stated["guarantee"] = stated["guarantee"].replace("(first, second)", "(COLUMNS)")
    stated["promise"]["public"], stated["rows"], stated["table"]["sha256"] = "PUBLIC", "ROWS", "SHA256"
    level = Fraction(epsilon)
    return {
        "level": [level.numerator, level.denominator],
        "margin": stated["margins"]["count_margin"],
        "guarantee": stated["guarantee"].partition(". ")[0] + ".",
        "statement": json.dumps(stated, indent=2) + "\n",
    }


def page() -> str:
    """The whole page."""
    parts = {name: (SOURCES / f"page.{name}").read_text(encoding="utf-8") for name in ("html", "css", "mjs")}
    listed = json.dumps({epsilon: facts(epsilon) for epsilon in LEVELS}, ensure_ascii=True).replace("<", "\\u003c")
    hashes = [base64.b64encode(hashlib.sha256(parts[name].encode()).digest()).decode() for name in ("css", "mjs")]
    allowed = "style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:".format(*hashes)
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    text = parts["html"].replace("POLICY", policy).replace("STYLE", parts["css"])
    return text.replace("FACTS", listed).replace("SCRIPT", parts["mjs"])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
