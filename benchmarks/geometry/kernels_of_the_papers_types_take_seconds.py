"""Kernels counted and listed by the compiled walk and by double description, beside lrs, cddlib and ppl in one run.

Run: PYTHONPATH=src python benchmarks/geometry/kernels_of_the_papers_types_take_seconds.py

Compilation is done before the clock starts. Rivals get {lambda >= 0, V lambda = 1} in rationals; one that needs more
than half a minute is stopped and asked no more. Seconds are those of computing, on one core, so that a busy machine
changes little.
"""

import resource

import numpy as np
from rivals import RIVALS, run_apart, timed

from utmost.design.geometry.kernel_search import kernels_by_double_description
from utmost.design.geometry.kernel_walk import count_by_walk, walk_kernels
from utmost.geometry import vertices
from utmost.privacy_types import PrivacyType
from utmost.spaces import counts, discrete, grid, hamming

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
    rivals = list(RIVALS)
    count_by_walk(vertices(PrivacyType(counts(2), **HALF)))
    for name, (space, at, expected) in TYPES.items():
        listed = vertices(PrivacyType(space, **at))
        seconds, sizes = timed(lambda listed=listed: count_by_walk(listed))
        assert sizes.sum() == expected
        listing, found = timed(lambda listed=listed: sum(len(block.supports) for block in walk_kernels(listed)))
        assert found == expected
        goal = f" (goal {GOALS[name]} s)" if name in GOALS else ""
        print(f"{name:25} {expected:9,}: counted in {seconds:7.3f} s{goal}, listed in {listing:7.3f} s", flush=True)
        if expected < 10**6:
            pure, supports = timed(lambda listed=listed: kernels_by_double_description(listed))
            assert len(supports) == expected
            print(f"{'':25} without numba: {pure:7.3f} s", flush=True)
        for rival in list(rivals) if listed.is_exact else []:
            outcome = run_apart(rival, *rows(listed))
            print(f"{'':25} {rival.__name__:>13}: {outcome}", flush=True)
            if outcome.startswith("not"):
                rivals.remove(rival)
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def rows(listed):
    """V lambda = 1 as equations, lambda >= 0."""
    n, m = listed.weights.shape
    return [[-1, *listed.weights[x]] for x in range(n)], [[0, *row] for row in np.eye(m, dtype=int).tolist()]


if __name__ == "__main__":
    main()
