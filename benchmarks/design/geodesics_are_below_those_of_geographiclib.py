"""Distances along the ellipsoid, never above geographiclib's: by how much they are short of them, by length.

Run: PYTHONPATH=src python benchmarks/design/geodesics_are_below_those_of_geographiclib.py [PAIRS]

Pairs of places on all of the earth, from some hundred metres to its other side, of one seed; geographiclib (`pip
install geographiclib`) says of its own answers that they are right to 15 nanometres. Steps of a micrometre.
"""

import random
import sys
from fractions import Fraction

from geographiclib.geodesic import Geodesic

from utmost.design.spaces.position_distances import geodesic_steps, great_circle_steps

LENGTHS = (10, 100, 300, 1_000, 3_000, 5_000, 10_000, 20_100)  # km


def main(pairs=4_000):
    draw, worst = random.Random(1), {}
    for _ in range(pairs):
        north, east = (Fraction(draw.randint(-end, end), 10_000) for end in (900_000, 1_800_000))
        far = 10 ** draw.uniform(-2, 2.3)
        up, across = (Fraction(int(draw.gauss(0, far) * 10_000), 10_000) for _ in range(2))
        there = max(Fraction(-90), min(Fraction(90), north + up)), east + across
        true = Geodesic.WGS84.Inverse(*map(float, (north, east, *there)))["s12"]
        if true < 100:
            continue
        positions, step = [(north, east), there], Fraction(1, 10**6)
        by_arc, by_circle = (int(steps(positions, step)[0, 1]) / 1e6 for steps in (geodesic_steps, great_circle_steps))
        assert by_arc <= true + 1e-6, "above the geodesic"
        length = next(length for length in LENGTHS if true <= length * 1000)
        before = worst.get(length, (0.0, 0.0))
        worst[length] = max(before[0], 1 - by_arc / true), max(before[1], 1 - by_circle / true)
    for length in LENGTHS:
        if length in worst:
            arc, circle = worst[length]
            print(f"up to {length:6} km: short by at most {arc:.1e}, great circles by {circle:.1e}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
