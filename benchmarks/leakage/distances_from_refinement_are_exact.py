"""Distances from refinement, additive capacities at a prior and Kantorovich distances beside qif, in one run.

Run: PYTHONPATH=src python benchmarks/leakage/distances_from_refinement_are_exact.py

The first example is that of libqif's own tests; the others are random rationals from one seed. qif (the package of
libqif) answers in floats and in rationals, for gains of at most 1 of which no vulnerability is negative; the distance
for gains in [0, 1] has no counterpart there. All answers of ours are checked by their own proofs. qif is skipped where
it is not installed.
"""

import time
from fractions import Fraction
from functools import partial

import numpy as np

from utmost.geometry import additive_capacity_at, kantorovich_distance, refinement_distance
from utmost.spaces import counts, cycle, discrete

A = [["1/10", "2/5", "1/10", "2/5"], ["1/5", "1/5", "3/10", "3/10"], ["1/2", "1/10", "1/10", "3/10"]]
B = [["1/5", "11/50", "29/50"], ["1/5", "2/5", "2/5"], ["7/20", "2/5", "1/4"]]
PRIOR = ["62/100", "3/100", "35/100"]
NEAR, FAR = ["1/2", "1/2", 0, 0], [0, "1/4", 0, "3/4"]


def main():
    qif = package()
    print("distance from refinement, on the example of libqif's tests")
    for gains in ("unit", "never negative"):
        found, seconds = timed(lambda gains=gains: refinement_distance(better=A, worse=B, prior=PRIOR, gains=gains))
        assert found.verify()
        print(f"  gains {gains}: {found.value} = {float(found.value):.8f}, {1000 * seconds:.1f} ms, proved")
    if qif:
        beside(lambda: qif.refinement.add_metric(*floats(PRIOR, A, B))[0], "floats")
        beside(lambda: qif.refinement.add_metric(*rationals(qif, PRIOR, A, B))[0], "rationals")
    print("additive capacity at that prior")
    for name, channel in (("A", A), ("B", B)):
        for gains in ("unit", "never negative"):
            found, seconds = timed(lambda c=channel, g=gains: additive_capacity_at(c, PRIOR, gains=g))
            assert found.verify()
            print(f"  {name}, gains {gains}: {found.value}, {1000 * seconds:.1f} ms, proved")
        if qif:
            ask = partial(qif.measure.g_vuln.add_capacity, *rationals(qif, PRIOR, channel))
            beside(ask, "rationals, gains of at most 1")
            beside(partial(ask, True), "rationals, gains of span 1")
    print("Kantorovich distance of (1/2, 1/2, 0, 0) and (0, 1/4, 0, 3/4)")
    for name, space in (("a line", counts(3)), ("a cycle", cycle(4)), ("equal distances", discrete(4))):
        found, seconds = timed(lambda space=space: kantorovich_distance(space, NEAR, FAR))
        assert found.verify()
        print(f"  {name}: {found.value}, {1000 * seconds:.1f} ms, proved")
        if qif:
            theirs = qif.metric.kantorovich(lambda x, y, space=space: float(space.metric.length(x, y)))
            beside(partial(theirs, *floats(NEAR, FAR)), "floats")
    compared(qif)


def compared(qif):
    """On random channels of 6 secrets the larger class, in ours and in qif's rationals."""
    rng, ours, theirs, rounds = np.random.default_rng(0), 0.0, 0.0, 20
    for _ in range(rounds):
        better, worse = rows_of(rng, 6, 5), rows_of(rng, 6, 4)
        prior = rows_of(rng, 1, 6)[0]
        found, seconds = timed(
            lambda a=better, b=worse, p=prior: refinement_distance(better=a, worse=b, prior=p, gains="never negative")
        )
        assert found.verify()
        ours += seconds
        if qif:
            answer, seconds = timed(
                lambda a=better, b=worse, p=prior: qif.refinement.add_metric(*rationals(qif, p, a, b))
            )
            assert Fraction(str(answer[0])) == found.value
            theirs += seconds
    print(f"{rounds} random pairs, 6 secrets, 5 and 4 outcomes: {1000 * ours / rounds:.1f} ms a pair, proved", end="")
    print(f"; qif, the same rationals, {theirs / ours:.2f} times as long" if qif else "")


def beside(call, name):
    answer, seconds = timed(call)
    print(f"    qif, {name}: {answer}, {1000 * seconds:.1f} ms")


def rows_of(rng, rows, columns):
    """Rows of rationals that sum to 1."""
    weights = rng.integers(1, 20, (rows, columns)).tolist()
    return [[Fraction(weight, sum(row)) for weight in row] for row in weights]


def floats(*arrays):
    return [np.vectorize(lambda number: float(Fraction(number)))(np.array(array, dtype=object)) for array in arrays]


def rationals(qif, *arrays):
    return [
        np.vectorize(lambda number: qif.rat(str(number)), otypes=[object])(np.array(array, dtype=object))
        for array in arrays
    ]


def timed(call):
    start = time.process_time()
    answer = call()
    return answer, time.process_time() - start


def package():
    try:
        import qif
    except ImportError:
        return None
    return qif


if __name__ == "__main__":
    main()
