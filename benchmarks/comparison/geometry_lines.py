"""Vertices and kernels beside lrs, cddlib and the Parma Polyhedra Library, and the first search on a new machine."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from comparison.lines import OURS, Line, is_installed, script, timed

from utmost.design.geometry.vertex_search import vertex_blocks
from utmost.geometry import vertices
from utmost.privacy_types import PrivacyType

HALF = {"alpha": "1/2"}
NAMES = {"lrs": "lrs", "cdd": "cddlib", "ppl": "Parma Polyhedra Library"}
SECONDS = 60
"""What a neighbour may compute for each work, and three times as long by the clock; in a quick run three seconds."""


def rivals_asked(line: Line, works: dict[str, tuple[Callable[[], Any], int]]) -> dict[str, dict[str, float]]:
    """Every neighbour on every work, each within its limit, which is named where it is reached; counts are checked."""
    rivals = script("geometry", "rivals")
    rivals.LIMIT = 3 if line.quick else SECONDS
    found: dict[str, dict[str, float]] = {}
    for rival in rivals.RIVALS:
        who, absent = NAMES[rival.__name__], ""
        for work, (rows, expected) in works.items():
            outcome = absent or rivals.run_apart(rival, *rows())
            if outcome.startswith("not"):
                line.absent(who, work, outcome)
                absent = outcome if "installed" in outcome else ""
                continue
            count, seconds = outcome.removesuffix(" s").split(" in ")
            line.checks[f"{work}: {who} finds as many"] = int(count.replace(",", "")) == expected
            found.setdefault(who, {})[work] = line.took(who, work, float(seconds))
    return found


def all_vertices(line: Line) -> None:
    """Every vertex of a privacy type listed."""
    other = script("geometry", "vertices_are_listed_at_a_million_a_second")
    names = ["line of 7", "3-bit cube", "4-bit cube", "4 x 4 grid, Manhattan", "3 x 3 grid, Euclid"]
    names = names[:2] if line.quick else [*names, "5 x 5 grid, Manhattan", "5-bit cube"]
    works, ours = {}, {}
    sum(len(block) for block in vertex_blocks(PrivacyType(other.SPACES["line of 7"][0], **HALF), rows=1 << 14))
    for name in names:
        space, expected = other.SPACES[name]
        ptype = PrivacyType(space, **HALF)
        seconds, count = timed(lambda p=ptype: sum(len(block) for block in vertex_blocks(p, rows=1 << 14)))
        work = f"{name}, {expected:,} vertices"
        line.took(OURS, work, seconds)
        line.checks[f"{work}: as many as known"] = count == expected
        works[work] = (lambda s=space: ([], list(other.rows(s))), expected)
        ours[expected] = seconds
        if name in other.GOALS or line.quick:
            line.goal(work, seconds, other.GOALS.get(name, 10))
    rivals_asked(line, works)
    line.grows("utmost, by vertices", dict(sorted(ours.items())))


def all_kernels(line: Line) -> None:
    """Every kernel of a privacy type: the mechanisms of which all others are mixtures."""
    other = script("geometry", "kernels_of_the_papers_types_take_seconds")
    if not is_installed("numba"):
        return line.absent(OURS, "the compiled search", "the extra utmost[geometry] is not installed")
    from utmost.design.geometry.kernel_walk import count_by_walk

    names = ["line of 5", "4 points of the plane", "line of 6", "3-bit cube", "6 at equal distance", "line of 7"]
    count_by_walk(vertices(PrivacyType(other.TYPES["line of 5"][0], **HALF)))
    works, ours = {}, {}
    for name in names[:2] if line.quick else names:
        space, at, expected = other.TYPES[name]
        listed = vertices(PrivacyType(space, **at))
        seconds, sizes = timed(lambda v=listed: count_by_walk(v))
        work = f"{name}, {expected:,} kernels"
        line.took(OURS, work, seconds)
        line.checks[f"{work}: as many as known"] = int(sizes.sum()) == expected
        works[work] = (lambda v=listed: other.rows(v), expected)
        ours[expected] = seconds
        if name in other.GOALS:
            line.goal(f"{work}: twice a search in C++", seconds, other.GOALS[name])
    rivals_asked(line, works)
    line.grows("utmost, by kernels", dict(sorted(ours.items())))


def first_search(line: Line) -> None:
    """The first search for kernels on a machine, compilation included."""
    work = "the kernels of a line of 6 counted, in a new process"
    if not is_installed("numba"):
        return line.absent(OURS, work, "the extra utmost[geometry] is not installed")
    command = [sys.executable, "-m", "utmost", "kernels", "--counts", "5", "--epsilon", "alpha=1/2", "--count"]
    cache = tempfile.mkdtemp()
    try:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        for name in ("nothing compiled yet", "compiled before"):
            before = os.times()
            done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            after = os.times()
            seconds = after.children_user + after.children_system - before.children_user - before.children_system
            is_said = "ompil" in done.stdout + done.stderr
            line.took(f"{OURS}, {name}", work, seconds, note="said while it compiles" if is_said else "")
            if name == "nothing compiled yet":
                line.goal("nothing compiled yet" + (": said" if is_said else ""), seconds, 3)
    finally:
        shutil.rmtree(cache)
