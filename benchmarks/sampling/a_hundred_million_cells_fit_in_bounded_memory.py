"""A release of 1e8 cells: the time, and the memory beside the values and the result.

Run: PYTHONPATH=src python benchmarks/sampling/a_hundred_million_cells_fit_in_bounded_memory.py [cells]
"""

import resource
import sys
from time import perf_counter, process_time

import numpy as np

from utmost.noise import Geometric
from utmost.releases import add_noise


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    cells = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000_000
    distribution = Geometric(epsilon=1)
    values = np.full(cells, 1000)
    add_noise(values[:10_000], distribution, method="table")
    before, start, cpu = peak_bytes(), perf_counter(), process_time()
    released = add_noise(values, distribution)
    wall, cpu = perf_counter() - start, process_time() - cpu
    beside = peak_bytes() - before - released.nbytes
    print(f"{cells:,} cells in {wall:.2f} s ({cpu / cells * 1e9:.1f} ns of processor time a cell)")
    print(
        f"values {values.nbytes / 2**20:,.0f} MiB, result {released.nbytes / 2**20:,.0f} MiB, "
        f"beside both {beside / 2**20:,.1f} MiB"
    )
    noise = released[: 10**6] - 1000
    print(
        f"mean {noise.mean():+.4f}, variance {noise.var():.4f} (distribution: 0, {float(distribution.variance()):.4f})"
    )


if __name__ == "__main__":
    main()
