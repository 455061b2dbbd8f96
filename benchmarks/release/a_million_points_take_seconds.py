"""A million points of the plane released at one level, and relaxed: seconds, and how many cells needed intervals.

    python benchmarks/release/a_million_points_take_seconds.py [POINTS]

The first level asked for begins the paths; another costs as much again, and more for each event between, of which
there are 3 |log(e/e0)| a point in the mean. Beside it: planar Laplace noise in plain floats of NumPy.
"""

import sys
import time
from fractions import Fraction

import numpy as np

from utmost.core.sampling.hidden_paths import GridPoints, HiddenPaths, PathBits
from utmost.exact import level
from utmost.releases import PlanarRelease


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def uncertain(count, epsilon, grid):
    """Which share of the cells floats cannot tell, at the level 1 first."""
    paths = HiddenPaths(PathBits(bytes(32)), level(1), 2)
    points = GridPoints(np.random.default_rng(2).uniform(0, 1e6, 2 * count), 2, Fraction(grid))
    target = paths.target(points, level(epsilon))
    return 1 - paths.float_cells(points, target, 0, count)[1].mean()


def naive(count, generator):
    angle, size = generator.uniform(0, 2 * np.pi, count), generator.gamma(2, size=count)
    return np.rint(np.stack([size * np.cos(angle), size * np.sin(angle)], axis=1) * 64) / 64


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    generator = np.random.default_rng(1)
    places = generator.uniform(0, 1e6, (count, 2))
    release = PlanarRelease(places, per=200)
    print(f"{count} points, seconds")
    for epsilon in (1, 1, "1/2", "1/10", 2, 10):
        print(f"  level {epsilon!s:>5} after 1   {seconds(lambda e=epsilon: release.at(epsilon=e)):7.2f}")
    print(f"  NumPy, not certified {seconds(lambda: naive(count, generator)):7.2f}")
    paths = HiddenPaths(PathBits(bytes(32)), level(1), 2)
    few = GridPoints(np.zeros(4000), 2, Fraction(1, 64))
    for epsilon in (1, "1/2", 2, 10):
        target = paths.target(few, level(epsilon))
        spent = seconds(lambda a=target: [paths.exact_cell(few, a, place) for place in range(2000)])
        print(f"  one point by intervals at level {epsilon!s:>4} {spent / 2:7.3f} ms")
    print("cells that floats cannot tell, coordinates up to a million")
    for grid in ("1/64", "1e-3", "1e-6", "1e-9"):
        print(f"  grid {grid:>5} of 1/epsilon: {uncertain(1 << 15, 2, grid):.1e}")


if __name__ == "__main__":
    main()
