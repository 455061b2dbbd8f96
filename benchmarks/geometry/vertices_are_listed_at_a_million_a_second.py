"""Vertices listed and counted, beside lrs, cddlib and ppl in the same run.

Run: PYTHONPATH=src python benchmarks/geometry/vertices_are_listed_at_a_million_a_second.py

Rivals get the type as inequalities at alpha = 1/2 in rationals; one that needs more than half a minute is stopped and
asked no more, and one that is not installed is skipped (Debian package lrslib; Python packages pycddlib, pplpy).
"alone" as an argument leaves them out. Seconds are wall time on one core; the memory is the growth of the process
while the list is streamed.
"""

import resource
import shutil
import subprocess
import sys
import time
from fractions import Fraction
from math import lcm

from utmost.geometry import count_vertices, vertex_blocks
from utmost.privacy import PrivacyType
from utmost.spaces import discrete, grid, hamming

LIMIT = 30
SPACES = {
    "line of 7": (grid(1, 7), 64),
    "3-bit cube": (hamming(3), 38),
    "3 x 3 grid, Manhattan": (grid(3, 3, metric="manhattan"), 82),
    "12 at equal distance": (discrete(12), 4094),
    "3 x 3 grid, Euclid": (grid(3, 3), 4346),
    "4-bit cube": (hamming(4), 990),
    "4 x 4 grid, Manhattan": (grid(4, 4, metric="manhattan"), 2604),
    "5 x 5 grid, Manhattan": (grid(5, 5, metric="manhattan"), 193662),
    "5-bit cube": (hamming(5), 395094),
    "6 x 6 grid, Manhattan": (grid(6, 6, metric="manhattan"), 33865632),
}


def main():
    rivals = [] if sys.argv[1:] == ["alone"] else [lrs, cdd, ppl]
    for name, (space, expected) in SPACES.items():
        ptype = PrivacyType(space, alpha="1/2")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        seconds, listed = timed(lambda ptype=ptype: sum(len(block) for block in vertex_blocks(ptype, rows=1 << 14)))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        counting, counted = timed(lambda space=space: count_vertices(space))
        assert listed == counted == expected
        print(f"{name:22} {expected:11,}: listed in {seconds:7.3f} s (+{grown:.0f} MiB), counted in {counting:.3f} s")
        for rival in list(rivals) if "Euclid" not in name else []:
            outcome = run_apart(rival, space)
            print(f"{'':22} {rival.__name__:>11}: {outcome}", flush=True)
            if outcome.startswith("not"):
                rivals.remove(rival)
    seconds, count = timed(lambda: count_vertices(hamming(6)))
    print(f"6-bit cube {count:,}: counted in {seconds:.1f} s")


def timed(work):
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def rows(space):
    """v(y) - alpha^d(x, y) v(x) >= 0 as [0 | a], integers."""
    n = space.size
    for x in range(n):
        for y in range(n):
            if x != y:
                factor = Fraction(1, 2) ** int(space.distances[x, y])
                row = [0] * (n + 1)
                row[1 + y], row[1 + x] = lcm(factor.denominator), -factor.numerator
                yield row


def lrs(space):
    n = space.size
    text = ["H-representation", "linearity 1 1", "begin", f"{1 + n * (n - 1)} {n + 1} integer"]
    text += [" ".join(["-1", *["1"] * n]), *(" ".join(map(str, row)) for row in rows(space)), "end"]
    program = shutil.which("lrs")
    if program is None:
        raise ImportError("lrs")
    answer = subprocess.run([program], input="\n".join(text), capture_output=True, text=True, timeout=LIMIT, check=True)
    return sum(line.startswith(" 1 ") for line in answer.stdout.splitlines())


def cdd(space):
    import cdd.gmp as exact

    table = [[-1] + [1] * space.size, *rows(space)]
    matrix = exact.matrix_from_array(table, rep_type=exact.RepType.INEQUALITY, lin_set=[0])
    return len(exact.copy_generators(exact.polyhedron_from_matrix(matrix)).array)


def ppl(space):
    from ppl import C_Polyhedron, Constraint_System, Variable

    v = [Variable(x) for x in range(space.size)]
    system = Constraint_System()
    system.insert(sum(v[1:], v[0]) == 1)
    for row in rows(space):
        terms = [a * x for a, x in zip(row[1:], v, strict=True)]
        system.insert(sum(terms[1:], terms[0]) >= 0)
    return len(C_Polyhedron(system).minimized_generators())


def run_apart(rival, space):
    """In a process of its own, which can be ended."""
    from multiprocessing import get_context

    answers = get_context("fork").SimpleQueue()
    worker = get_context("fork").Process(target=_answer, args=(rival, space, answers))
    start = time.perf_counter()
    worker.start()
    worker.join(LIMIT)
    if worker.is_alive():
        worker.kill()
        worker.join()
        return f"not within {LIMIT} s"
    found = answers.get() if not answers.empty() else "failed"
    return f"{found} in {time.perf_counter() - start:.3f} s" if isinstance(found, int) else found


def _answer(rival, space, answers):
    try:
        answers.put(rival(space))
    except ImportError:
        answers.put("not installed")
    except subprocess.TimeoutExpired:
        answers.put(f"not within {LIMIT} s")


if __name__ == "__main__":
    main()
