"""Vertices listed and counted, beside lrs, cddlib and ppl in the same run.

Run: PYTHONPATH=src python benchmarks/geometry/vertices_are_listed_at_a_million_a_second.py

Rivals get the easiest form there is, the Lipschitz polytope of the essential pairs in integers; one that needs more
than half a minute is stopped and asked no more. "alone" as an argument leaves them out. Seconds are those of computing,
on one core, so that a busy machine changes little; the memory is the growth of the process while the list is streamed.
"""

import resource
import sys

from rivals import RIVALS, run_apart, timed

from utmost.design.geometry.essential_graph import essential_edges
from utmost.design.geometry.log_domain import Distances
from utmost.design.geometry.vertex_search import vertex_blocks
from utmost.geometry import count_vertices
from utmost.privacy_types import PrivacyType
from utmost.spaces import discrete, grid, hamming

SPACES = {
    "line of 7": (grid(1, 7), 64),
    "3-bit cube": (hamming(3), 38),
    "3 x 3 grid, Manhattan": (grid(3, 3, metric="manhattan"), 82),
    "4-bit cube": (hamming(4), 990),
    "4 x 4 grid, Manhattan": (grid(4, 4, metric="manhattan"), 2604),
    "3 x 3 grid, Euclid": (grid(3, 3), 4346),
    "12 at equal distance": (discrete(12), 4094),
    "5-bit cube": (hamming(5), 395094),
    "5 x 5 grid, Manhattan": (grid(5, 5, metric="manhattan"), 193662),
    "6 x 6 grid, Manhattan": (grid(6, 6, metric="manhattan"), 33865632),
}
GOALS = {"5-bit cube": 10, "5 x 5 grid, Manhattan": 10}


def main():
    rivals = [] if sys.argv[1:] == ["alone"] else list(RIVALS)
    for name, (space, expected) in SPACES.items():
        ptype = PrivacyType(space, alpha="1/2")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        seconds, listed = timed(lambda ptype=ptype: sum(len(block) for block in vertex_blocks(ptype, rows=1 << 14)))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        counting, counted = timed(lambda space=space: count_vertices(space))
        assert listed == counted == expected
        goal = f" (goal {GOALS[name]} s)" if name in GOALS else ""
        print(
            f"{name:22} {expected:11,}: listed in {seconds:7.3f} s{goal}, +{grown:.0f} MiB; counted in {counting:.3f} s"
        )
        for rival in list(rivals):
            outcome = run_apart(rival, [], list(rows(space)))
            print(f"{'':22} {rival.__name__:>11}: {outcome}", flush=True)
            if outcome.startswith("not"):
                rivals.remove(rival)
    seconds, count = timed(lambda: count_vertices(hamming(6)))
    print(f"6-bit cube {count:,}: counted in {seconds:.1f} s")


def rows(space):
    """d(x, y) - f(x) + f(y) >= 0 with f(0) = 0 as [d | a], for the essential pairs of an integer metric, both ways."""
    distances = Distances.of(space).integers()
    for x, y in essential_edges(distances):
        for a, b in ((x, y), (y, x)):
            row = [int(distances[x, y])] + [0] * (space.size - 1)
            for secret, sign in ((a, -1), (b, 1)):
                if secret:
                    row[secret] += sign
            yield row


if __name__ == "__main__":
    main()
