"""A million rows released from file to file by `utmost release`, CSV and Parquet: seconds of CPU, whole processes.

Run: PYTHONPATH=src python benchmarks/release/a_million_rows_are_released_in_a_second.py [rows]

Beside it what pyarrow needs for reading and writing the same files with nothing done, and what Python and the command
line need to start: the release of a table of one row. The least of some runs; the ratio is to pyarrow's.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

RUNS = 5
COMMAND = "-m utmost release {} --columns n --public ward --epsilon 1 --sensitivity 1 --cells 1 --out {}"
ARROW = {
    ".csv": "from pyarrow import csv; csv.write_csv(csv.read_csv({!r}), {!r})",
    ".parquet": "from pyarrow import parquet as p; p.write_table(p.ParquetFile({!r}).read(), {!r})",
}


def seconds(arguments: list[str], out: Path) -> float:
    """The least CPU time, user and system, of a process that writes ``out``."""
    found = []
    for _ in range(RUNS):
        before = os.times()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        found.append(after.children_user + after.children_system - before.children_user - before.children_system)
        for path in out.parent.glob(f"{out.name}*"):
            path.unlink()
    return min(found)


def written(folder: Path, rows: int) -> Path:
    """A table of counts by ward as CSV, and as Parquet beside it."""
    from pyarrow import csv, parquet

    path = folder / f"{rows}.csv"
    counts = np.random.default_rng(0).integers(0, 1000, rows).tolist()
    with path.open("w", encoding="utf-8") as file:
        file.write("ward,n\n")
        file.writelines(f"w{row},{count}\n" for row, count in enumerate(counts))
    parquet.write_table(csv.read_csv(path), path.with_suffix(".parquet"))
    return path


def main() -> None:
    """Print a line for each kind of file."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    print(f"{'seconds of CPU':16}{'pyarrow':>9}{'release':>9}{'ratio':>7}{'of it start':>13}")
    with tempfile.TemporaryDirectory() as name:
        many, one = written(Path(name), rows), written(Path(name), 1)
        for ending, code in ARROW.items():
            out = Path(name) / f"out{ending}"
            least = seconds(["-c", code.format(str(many.with_suffix(ending)), str(out))], out)
            ours, start = (seconds(COMMAND.format(path.with_suffix(ending), out).split(), out) for path in (many, one))
            print(f"{ending[1:]:16}{least:9.2f}{ours:9.2f}{ours / least:7.1f}{start:13.2f}")


if __name__ == "__main__":
    main()
