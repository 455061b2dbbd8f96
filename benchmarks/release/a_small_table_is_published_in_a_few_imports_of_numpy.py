"""What `utmost release` of one row costs a shell script: processor time as a multiple of importing numpy, and modules.

Run: PYTHONPATH=src python benchmarks/release/a_small_table_is_published_in_a_few_imports_of_numpy.py

A multiple says the same on a busy machine and an idle one. Noise for one cell takes microseconds: what is measured is
nearly all loading of code, of which the help of a command loads none that releases. Code is compiled once, before the
first time that counts, as it is where a package is installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RUNS = 7
COMPILED = tempfile.mkdtemp()
AS_INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
    "PYTHONPYCACHEPREFIX": COMPILED
}
SILENT: dict[str, Any] = {
    "check": True,
    "stdout": subprocess.DEVNULL,
    "stderr": subprocess.DEVNULL,
    "env": AS_INSTALLED,
}
START = "from utmost.interfaces.cli.main import main\n"
COUNTED = START + "try:\n    main({!r})\nfinally:\n    print(len(sys.modules), file=seen)\n"


def seconds(*words: str) -> float:
    """The least processor time of some runs of Python with these words."""
    runs = []
    for _ in range(RUNS):
        before = os.times()
        subprocess.run([sys.executable, *words], **SILENT)
        after = os.times()
        runs.append(sum(after[2:4]) - sum(before[2:4]))
    return min(runs)


def modules(folder: Path, words: list[str]) -> int:
    """How many modules a command has loaded when it ends."""
    seen = folder / "seen"
    code = f"import sys\nseen = open({str(seen)!r}, 'w')\n" + COUNTED.format(words)
    subprocess.run([sys.executable, "-c", code], **SILENT)
    return int(seen.read_text())


def main() -> None:
    """Print a line for each command."""
    numpy = seconds("-c", "import numpy")
    sys.stdout.write(f"import numpy: {numpy:.2f} s of processor\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "table.csv"
        table.write_text("town,cases\nAsh,12\n")
        row = ["release", str(table), "--columns", "cases", "--public", "town", "--sensitivity", "1", "--cells", "1"]
        for words in (["--help"], ["release", "--help"], [*row, "--epsilon", "1"]):
            times = seconds("-m", "utmost", *words) / numpy
            shown = "release of one row" if words[0] == "release" and len(words) > 2 else " ".join(words)
            sys.stdout.write(f"utmost {shown}: {times:.1f} imports of numpy, {modules(folder, words)} modules\n")


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(COMPILED)
