"""Kernels counted and listed by the compiled walk and by double description, beside lrs in the same run.

Run: PYTHONPATH=src python benchmarks/geometry/kernels_of_the_papers_types_take_seconds.py

Compilation is done before the clock starts. lrs (Debian package lrslib) gets {lambda >= 0, V lambda = 1} in rationals
and stops after half a minute; it is skipped where it is not installed. Seconds are wall time on one core.
"""

import resource
import shutil
import subprocess
import time

import numpy as np

from utmost.geometry import vertices
from utmost.geometry.double_description import kernels_by_double_description
from utmost.geometry.walk import count_by_walk, walk_kernels
from utmost.privacy import PrivacyType
from utmost.spaces import counts, discrete, grid, hamming

LIMIT = 30
HALF = {"alpha": "1/2"}
GOALS = {"line of 6": 0.15, "3-bit cube": 2, "6 at equal distance": 2, "line of 7": 20}
TYPES = {
    "line of 5": (counts(4), HALF, 187),
    "line of 5, epsilon 1/10": (counts(4), {"epsilon": "1/10"}, 230),
    "4 points of the plane": (grid(2, 2), HALF, 403),
    "5 at equal distance": (discrete(5), HALF, 1291),
    "line of 6": (counts(5), HALF, 15346),
    "3-bit cube": (hamming(3), HALF, 29213),
    "3-bit cube, epsilon 1": (hamming(3), {"epsilon": 1}, 37255),
    "6 at equal distance": (discrete(6), HALF, 200213),
    "line of 7": (counts(6), HALF, 4757698),
}


def main():
    count_by_walk(vertices(PrivacyType(counts(2), **HALF)))
    for name, (space, at, expected) in TYPES.items():
        listed = vertices(PrivacyType(space, **at))
        seconds, sizes = timed(lambda listed=listed: count_by_walk(listed))
        assert sizes.sum() == expected
        listing, found = timed(lambda listed=listed: sum(len(haul.supports) for haul in walk_kernels(listed)))
        assert found == expected
        goal = f" (goal {GOALS[name]} s)" if name in GOALS else ""
        print(
            f"{name:25} {expected:9,}: counted in {seconds:7.3f} s{goal}, listed in {listing:7.3f} s",
            end="",
            flush=True,
        )
        if expected < 10**6:
            pure, supports = timed(lambda listed=listed: kernels_by_double_description(listed))
            assert len(supports) == expected
            print(f", without numba {pure:7.3f} s", end="", flush=True)
            print(f", lrs {lrs(listed) if listed.is_exact else 'takes rationals only'}", end="")
        print()
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def timed(work):
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def lrs(listed):
    program = shutil.which("lrs")
    if program is None:
        return "not installed"
    n, m = listed.weights.shape
    lines = [" ".join(map(str, [-1, *listed.weights[x]])) for x in range(n)]
    lines += [" ".join(map(str, [0, *row])) for row in np.eye(m, dtype=int)]
    head = ["H-representation", f"linearity {n} {' '.join(str(k + 1) for k in range(n))}", "begin"]
    text = "\n".join([*head, f"{n + m} {m + 1} rational", *lines, "end", ""])
    start = time.perf_counter()
    try:
        answer = subprocess.run([program], input=text, capture_output=True, text=True, timeout=LIMIT, check=True)
    except subprocess.TimeoutExpired:
        return f"not within {LIMIT} s"
    found = sum(line.startswith(" 1 ") for line in answer.stdout.splitlines())
    return f"{found:,} in {time.perf_counter() - start:.3f} s"


if __name__ == "__main__":
    main()
