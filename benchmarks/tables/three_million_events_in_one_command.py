"""Three million events of 400 000 persons in CSV: a table of counts, and one of counts, sums and means.

Run: python benchmarks/tables/three_million_events_in_one_command.py [runs]

Each person counts in one cell of 20 countries x 2 plans, with one event; amounts are decimals of two digits, clipped to
0 to 200. Seconds of processor of the whole process, its start included: the least of the runs.

Measured on two quiet cores, Python 3.13: counts 2.7 s, with sums and means 4.2 s. On the same cores, busy with other
work: 3.8 s and 5.3 s; before events with amounts were spilled and sorted once for all sums, 4.1 s and 7.9 s.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SOURCES = Path(__file__).resolve().parents[2] / "src"
EVENTS, PERSONS, COUNTRIES = 3_000_000, 400_000, [f"C{number:02d}" for number in range(20)]
OPTIONS = ["--person", "user", "--domain", "domain.json", "--at-most", "1", "--epsilon", "1"]


def seconds(folder: Path, *words: str) -> float:
    """The processor's time of one release."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "utmost", "release", "events.csv", *OPTIONS, *words, "--out", "out.csv"]
    here = os.environ | {"PYTHONPATH": str(SOURCES)}  # of this tree, whatever is installed
    subprocess.run(command, cwd=folder, env=here, check=True, capture_output=True)
    for written in folder.glob("out.csv*"):
        written.unlink()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    rng, runs = np.random.default_rng(0), int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        columns = rng.integers(PERSONS, size=EVENTS), rng.integers(20, size=EVENTS), rng.integers(2, size=EVENTS)
        amounts = rng.gamma(2, 30, EVENTS)
        with (folder / "events.csv").open("w") as file:
            file.write("user,country,plan,amount\n")
            for user, country, plan, amount in zip(*(column.tolist() for column in (*columns, amounts)), strict=True):
                file.write(f"u{user},{COUNTRIES[country]},{'free' if plan else 'paid'},{amount:.2f}\n")
        (folder / "domain.json").write_text(json.dumps({"country": COUNTRIES, "plan": ["free", "paid"]}))
        for said, words in (("counts", []), ("counts, sums and means", ["--mean", "amount=0,200,0.01"])):
            print(f"{said:<24} {min(seconds(folder, *words) for _ in range(runs)):.2f} s of processor", flush=True)


if __name__ == "__main__":
    main()
