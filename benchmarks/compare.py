"""The whole comparison in one run: every goal of speed beside its neighbours, as Markdown, JSON and a picture.

Run: PYTHONPATH=src python benchmarks/compare.py --out DIR [--small] [--only KEY,KEY]
     PYTHONPATH=src python benchmarks/compare.py --quick

Each line runs in a process of its own, so that its peak of memory is its own. Times are seconds of processor; figures
of one line are taken in one run, in turn where they are short, so that ratios hold on a busy machine. A neighbour that
is not installed is named as such. Results are checked, not only timed. `--small` does all at small sizes, in which no
goal is judged. benchmarks/README.md explains every line; `--quote` puts what DIR holds into it.

`--quick` is the gate: within a minute public calls beside neighbours, as ratios; it ends with 1 where one is beyond its
limit.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

LINES = {
    "noise": ("noise_lines", "million_integers"),
    "draw": ("noise_lines", "one_draw"),
    "staircase": ("noise_lines", "staircases"),
    "relax": ("noise_lines", "relaxing"),
    "counts": ("design_lines", "counts_of_users"),
    "capacity": ("design_lines", "capacities"),
    "places": ("design_lines", "places"),
    "vertices": ("geometry_lines", "all_vertices"),
    "kernels": ("geometry_lines", "all_kernels"),
    "irregular": ("design_lines", "irregular"),
    "files": ("file_lines", "files"),
    "compile": ("geometry_lines", "first_search"),
    "spark": ("spark_line", "noised_column"),
}
"""Every line: the module of comparison/ and the function in it."""
GATE = {"gate": ("gate_lines", "ratios")}
ROOT = Path(__file__).resolve().parents[1]


def measured(key: str, quick: bool) -> dict:
    """One line, measured in this process, as JSON has it."""
    from importlib import import_module

    from comparison.lines import Line

    module, name = (LINES | GATE)[key]
    work = getattr(import_module(f"comparison.{module}"), name)
    line = Line(key, (work.__doc__ or "").strip().rstrip("."), quick)
    work(line)
    return asdict(line)


def apart(key: str, quick: bool, folder: Path) -> dict:
    """One line, measured in a process of its own; what failed is said in its place."""
    answer = folder / f"{key}.line"
    start = time.monotonic()
    command = [sys.executable, __file__, "--line", key, "--out", str(answer), *(["--small"] if quick else [])]
    paths = os.pathsep.join([str(ROOT / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no word"])[-1]
        sys.stderr.write(done.stderr)
        return {"key": key, "work": key, "quick": quick, "failed": reason}
    found = json.loads(answer.read_text(encoding="utf-8"))
    answer.unlink()
    return found | {"clock": time.monotonic() - start}


def gate(is_quoted: bool) -> int:
    """Measure the ratios and print them, quote them if wanted; 1 where one is not within."""
    from comparison.report import gathered, goals, quote_gate, where

    with tempfile.TemporaryDirectory() as folder:
        told = gathered([apart("gate", False, Path(folder))], False)
    print("\n".join([where(told), "", *goals(told)]))
    if is_quoted:
        quote_gate(told)
    return int(any("failed" in line or any(goal["ratio"] < 1 for goal in line["goals"]) for line in told["lines"]))


def main() -> int:
    """Measure and write; 1 where a line failed or a result is wrong, whatever the speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the page, the figures and the picture go")
    parser.add_argument("--quick", action="store_true", help="the gate alone: ratios, each within its limit or not")
    parser.add_argument("--small", action="store_true", help="small sizes, in which no goal is judged")
    parser.add_argument("--only", metavar="KEYS", help=f"some of {', '.join(LINES)}")
    parser.add_argument(
        "--quote",
        action="store_true",
        help="put DIR's goals into benchmarks/README.md and its picture into docs/, or the gate's goals",
    )
    parser.add_argument("--line", choices=[*LINES, *GATE], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.line:
        asked.out.write_text(json.dumps(measured(asked.line, asked.small)), encoding="utf-8")
        return 0
    if asked.quick:
        return gate(asked.quote)
    if asked.out is None:
        parser.error("--out DIR is required")
    keys = asked.only.split(",") if asked.only else list(LINES)
    if unknown := [key for key in keys if key not in LINES]:
        parser.error(f"no such line: {', '.join(unknown)}")
    if asked.quote:
        from comparison.report import quote

        quote(asked.out)
        return 0
    asked.out.mkdir(parents=True, exist_ok=True)
    out = asked.out.resolve()
    from comparison.report import write_all

    found, wrong = [], 0
    for key in keys:
        print(f"{key} ...", flush=True)
        found.append(apart(key, asked.small, out))
        wrong = write_all(found, asked.small, out)  # what is done is kept, however the rest ends
    return wrong


if __name__ == "__main__":
    sys.exit(main())
