"""The comparison written down: comparison.json with every figure, comparison.md to read, comparison.svg to see."""

import json
import os
import platform
import shutil
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from comparison.lines import Goal, Timing, beside

from utmost.errors import Unsupported
from utmost.version import __version__

PACKAGES = (
    "numpy scipy python-flint highspy numba pyarrow duckdb fastapi "
    "opendp diffprivlib python-dp qif pycddlib pplpy pyspark"
)
ROOT = Path(__file__).resolve().parents[2]
FROM, TO = "<!-- written by benchmarks/compare.py --quote -->", "<!-- until here -->"
GATE_FROM, GATE_TO = "<!-- written by benchmarks/compare.py --quick --quote -->", "<!-- the gate ends -->"
MARKS = {"met": "met", "missed": "**missed**", "not judged": "not judged"}


def machine() -> dict[str, Any]:
    """What it ran on, and the versions of all that was asked."""
    cpu = Path("/proc/cpuinfo")
    names = (
        [line.partition(":")[2].strip() for line in cpu.read_text().splitlines() if line.startswith("model name")]
        if cpu.exists()
        else []
    )
    versions = {"utmost": __version__, "Python": platform.python_version()}
    for name in PACKAGES.split():
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load of the last minute": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "versions": versions,
    }


def write_all(lines: list[dict[str, Any]], quick: bool, out: Path) -> int:
    """Write the three files; 1 where a line failed or a result is wrong."""
    told = gathered(lines, quick)
    (out / "comparison.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    (out / "comparison.md").write_text(markdown(told), encoding="utf-8")
    try:
        from comparison.picture import draw

        draw(told["lines"], out / "comparison.svg")
    except Unsupported as error:
        sys.stderr.write(f"no picture: {error}\n")
    wrong = [f"{line['key']}: {name}" for line in lines for name, right in line.get("checks", {}).items() if not right]
    wrong += [f"{line['key']}: {line['failed']}" for line in lines if "failed" in line]
    sys.stdout.write("".join(f"wrong: {one}\n" for one in wrong))
    return int(bool(wrong))


def gathered(lines: list[dict[str, Any]], quick: bool) -> dict[str, Any]:
    """The lines, judged, with the machine and the day."""
    told = {"machine": machine(), "date": datetime.now(UTC).date().isoformat(), "quick": quick}
    return told | {"lines": [judged(line) for line in lines]}


def judged(line: dict[str, Any]) -> dict[str, Any]:
    """The line with each neighbour's ratio and each goal's verdict."""
    if "failed" in line:
        return line
    timings = [Timing(**one) for one in line["timings"]]
    goals = [Goal(**one) for one in line["goals"]]
    line = {name: value for name, value in line.items() if name != "is_alone"}
    line["timings"] = [vars(one) | {"times utmost": beside(timings, one)} for one in timings]
    line["goals"] = [vars(one) | {"ratio": one.ratio, "verdict": one.verdict} for one in goals]
    return line


def markdown(told: dict[str, Any]) -> str:
    """The page: the goals, then every line with all that was measured."""
    text = ["# utmost beside its neighbours", "", where(told), ""]
    text += ["**A run at small sizes: no goal is judged.**", ""] if told["quick"] else []
    text += [
        "Seconds of processor unless a line says the clock. Ratios are of one run.",
        "",
        "## Goals",
        "",
        *goals(told),
    ]
    for line in told["lines"]:
        text += section(line) if "failed" not in line else []
    return "\n".join(text) + "\n"


def where(told: dict[str, Any]) -> str:
    """The machine, the day and the versions."""
    at = told["machine"]
    versions = ", ".join(f"{name} {found}" for name, found in at["versions"].items())
    load = f"load {at['load of the last minute']}"
    return f"{told['date']}; {at['processor']}, {at['cores']} cores, {at['system']}, {load}. {versions}."


def goals(told: dict[str, Any]) -> list[str]:
    """A table with every goal, what was measured, and whether it is met."""
    text = ["| work | measured | goal | reached | |", "|---|---|---|---|---|"]
    for line in told["lines"]:
        if "failed" in line:
            text.append(f"| {line['key']} | failed: {line['failed']} | | | **missed** |")
        for goal in line.get("goals", ()):
            most = "at least" if goal["at_least"] else "at most"
            text.append(
                f"| {line['key']}: {goal['says']} | {number(goal['measured'])} {goal['unit']} "
                f"| {most} {number(goal['limit'])} | {number(goal['ratio'])} times | {MARKS[goal['verdict']]} |"
            )
    return text


def quote(out: Path) -> None:
    """Put the goals of a comparison that was written into the page of benchmarks, and its picture beside it."""
    _put(json.loads((out / "comparison.json").read_text(encoding="utf-8")), FROM, TO)
    shutil.copy(out / "comparison.svg", ROOT / "docs/figures/comparison.svg")


def quote_gate(told: dict[str, Any]) -> None:
    """Put the ratios of the gate into the page of benchmarks."""
    _put(told, GATE_FROM, GATE_TO)


def _put(told: dict[str, Any], first: str, last: str) -> None:
    page = ROOT / "benchmarks/README.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(first)
    _, _, after = rest.partition(last)
    page.write_text(before + "\n".join([first, "", where(told), "", *goals(told), "", last]) + after, encoding="utf-8")


def section(line: dict[str, Any]) -> list[str]:
    """One line: times and ratios by work, what was checked, how it grows, what memory it takes."""
    text = [
        "",
        f"## {line['key']}: {line['work']}",
        "",
        "| work | who | time | beside utmost | |",
        "|---|---|---|---|---|",
    ]
    for one in sorted(line["timings"], key=lambda one: [each["work"] for each in line["timings"]].index(one["work"])):
        took = "" if one["amount"] is None else f"{number(one['amount'])} {one['unit']}"
        ratio = "" if one["times utmost"] is None else f"{number(one['times utmost'])} times"
        text.append(f"| {one['work']} | {one['who']} | {took} | {ratio} | {one['note']} |")
    right = [name for name, holds in line["checks"].items() if holds]
    wrong = [name for name, holds in line["checks"].items() if not holds]
    text += ["", f"Checked: {'; '.join(right) or 'nothing'}."] + ([f"**Wrong: {'; '.join(wrong)}.**"] if wrong else [])
    text += [f"Growth of {who}: {', '.join(steps)}." for who, steps in line["growth"].items() if steps]
    return [
        *text,
        f"Peak of memory, packages included: {line['memory']:.0f} MiB. By the clock {line.get('clock', 0):.0f} s.",
    ]


def number(value: float) -> str:
    """Three digits, without an exponent for what people read."""
    return (
        f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) >= 1e-3 or not value else f"{value:.1e}"
    )
