"""A million rows from file to file by the command line, beside pyarrow, which reads and writes them only."""

import csv
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from comparison.lines import OURS, Line, is_installed

COMMAND = "-m utmost release {} --columns n --public ward --epsilon 1 --sensitivity 1 --cells 1 --out {}"
ARROW = {
    ".csv": "from pyarrow import csv; csv.write_csv(csv.read_csv({!r}), {!r})",
    ".parquet": "from pyarrow import parquet as p; p.write_table(p.ParquetFile({!r}).read(), {!r})",
}
GOALS = {".csv": 1.0, ".parquet": 0.7}


def seconds(arguments: list[str], out: Path, runs: int) -> float:
    """The least CPU time, user and system, of a process that writes ``out``."""
    found = []
    for _ in range(runs):
        for path in out.parent.glob(f"{out.name}*"):
            path.unlink()
        before = os.times()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        found.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(found)


def written(folder: Path, rows: int) -> Path:
    """A table of counts by ward as CSV, and as Parquet beside it where pyarrow is there."""
    path = folder / f"{rows}.csv"
    counts = np.random.default_rng(0).integers(0, 1000, rows).tolist()
    with path.open("w", encoding="utf-8") as file:
        file.write("ward,n\n")
        file.writelines(f"w{row},{count}\n" for row, count in enumerate(counts))
    if is_installed("pyarrow"):
        from pyarrow import csv as arrow_csv
        from pyarrow import parquet

        parquet.write_table(arrow_csv.read_csv(path), path.with_suffix(".parquet"))
    return path


def checked(line: Line, ending: str, source: Path, out: Path) -> None:
    """The statement verifies, wards are in their places, and the noise has the variance of its distribution."""
    verified = subprocess.run([sys.executable, "-m", "utmost", "verify", str(out)], capture_output=True)
    line.checks[f"{ending}: utmost verify"] = verified.returncode == 0
    if ending == ".csv":
        tables = []
        for path in (source, out):
            with path.open(newline="", encoding="utf-8") as file:
                tables.append(list(csv.DictReader(file)))
        before, after = tables
        line.checks["csv: the same wards in the same order"] = [row["ward"] for row in before] == [
            row["ward"] for row in after
        ]
        noise = np.array([int(b["n"]) - int(a["n"]) for a, b in zip(before, after, strict=True)])
        line.checks["csv: the variance of the distribution"] = bool(
            abs(noise.var() / 1.8413 - 1) < 8 / len(noise) ** 0.5
        )


def files(line: Line) -> None:
    """A table of a million rows released, from file to file."""
    rows, runs = (2_000, 1) if line.quick else (1_000_000, 5)
    sizes = [rows] if line.quick else [10_000, 100_000, rows]
    with tempfile.TemporaryDirectory() as name:
        sources = {size: written(Path(name), size) for size in {*sizes, 1}}
        for ending, code in ARROW.items():
            work, out = f"{ending[1:]}, {rows:,} rows", Path(name) / f"out{ending}"
            if not is_installed("pyarrow") and ending != ".csv":
                line.absent(OURS, work, "the extra utmost[tables] is not installed")
                continue
            ours = {}
            for size in sizes:
                source = sources[size].with_suffix(ending)
                ours[size] = seconds(COMMAND.format(source, out).split(), out, runs)
            checked(line, ending, source, out)
            took = line.took(OURS, work, ours[rows])
            line.memory = max(line.memory, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
            one = seconds(COMMAND.format(sources[1].with_suffix(ending), out).split(), out, runs)
            line.took(f"{OURS}, one row: what starting takes", work, one)
            line.goal(work, took, GOALS[ending])
            line.grows(f"{OURS}, {ending[1:]}", ours)
            if is_installed("pyarrow"):
                line.took(
                    "pyarrow, read and written only",
                    work,
                    seconds(["-c", code.format(str(source), str(out))], out, runs),
                )
            else:
                line.absent("pyarrow", work)
