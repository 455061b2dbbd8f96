"""Kernels by the compiled search and by double description: seconds of processor, without the time to compile.

Run: PYTHONPATH=src python benchmarks/geometry/the_compiled_search_pays_from_a_thousand_kernels.py

It says from where the extra `geometry` (numba) is worth its size, and what can be had without it.
"""

import time

import numpy as np

import utmost as ut
from utmost.design.geometry.kernel_search import kernels_by_double_description
from utmost.design.geometry.kernel_walk import walk_kernels

SPACES = {
    "counts(3)": ut.spaces.counts(3),
    "counts(4)": ut.spaces.counts(4),
    "discrete(4)": ut.spaces.discrete(4),
    "grid(2, 2)": ut.spaces.grid(2, 2),
    "cycle(5)": ut.spaces.cycle(5),
    "grid(2, 3), Manhattan": ut.spaces.grid(2, 3, metric="manhattan"),
    "counts(5)": ut.spaces.counts(5),
}


def main():
    list(walk_kernels(ut.geometry.vertices(ut.PrivacyType(ut.spaces.counts(3), alpha="1/2"))))
    for name, space in SPACES.items():
        listed = ut.geometry.vertices(ut.PrivacyType(space, alpha="1/2"))
        start = time.process_time()
        walked = np.concatenate([block.supports for block in walk_kernels(listed)])
        middle = time.process_time()
        described = kernels_by_double_description(listed)
        end = time.process_time()
        assert len(walked) == len(described)
        print(
            f"{name:24} {len(listed):4} vertices, {len(walked):8,} kernels: compiled {middle - start:8.3f} s, "
            f"double description {end - middle:8.3f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
