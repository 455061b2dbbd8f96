"""Arrays of 10, 100 and 1 000 draws: microseconds of processor a call, and times NumPy's insecure floats in one run.

Run with PYTHONPATH=src, and OMP_NUM_THREADS=1. "Plan anew" forgets what draws the distribution, and what was drawn
ahead, before each call.
"""

import time

import numpy as np

from utmost.core.sampling import draw
from utmost.noise import Geometric, Laplace
from utmost.sampling import sample


def microseconds(work, times=2000):
    """Of one call, the least of five runs."""
    runs = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(times // 5):
            work()
        runs.append((time.process_time() - start) / (times // 5) * 1e6)
    return min(runs)


def main():
    insecure = np.random.default_rng()
    for distribution in (Geometric(1), Laplace(1)):
        for count in (10, 100, 1000):

            def anew(distribution=distribution, count=count):
                draw._samplers.clear()
                draw._many.cache_clear()
                draw.SYSTEM.ahead.clear()
                sample(distribution, count)

            ours = microseconds(lambda distribution=distribution, count=count: sample(distribution, count))
            numpy = microseconds(lambda count=count: np.rint(insecure.laplace(size=count)))
            print(f"{distribution}: {count:4d} draws {ours:5.1f} us, {ours / numpy:4.1f} times NumPy's", end="; ")
            print(f"plan anew {microseconds(anew, 50):.0f} us")


if __name__ == "__main__":
    main()
