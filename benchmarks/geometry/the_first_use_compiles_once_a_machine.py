"""Seconds of processor of the first search for kernels, and of the first large design, with nothing compiled and after.

Run: PYTHONPATH=src python benchmarks/geometry/the_first_use_compiles_once_a_machine.py

Each in a process of its own: where nothing is compiled, where it was compiled by an earlier process, and once more in
that one. Beside them, what is not numba's: the same calls where it is not installed, by the searches without it.
"""

import os
import subprocess
import sys
import tempfile
import time

CALLS = {
    "kernels of the 3-bit cube": ("ut.PrivacyType(ut.spaces.hamming(3), alpha='1/2')", "len(kernels(of))"),
    "kernels of a line of 6": ("ut.PrivacyType(ut.spaces.counts(5), alpha='1/2')", "len(kernels(of))"),
    "design of 49 places": (
        "ut.spaces.grid(7, 7)",
        "ut.optimal_mechanism(ut.PrivacyType(of, epsilon=1), "
        "ut.Consumer(ut.priors.uniform(49), ut.losses.distance(of)))",
    ),
    "design of 64 places": (
        "ut.spaces.grid(8, 8)",
        "ut.optimal_mechanism(ut.PrivacyType(of, epsilon=1), "
        "ut.Consumer(ut.priors.uniform(64), ut.losses.distance(of)))",
    ),
}


def inside(name, numba):
    """In this process: the call, twice."""
    if numba == "none":
        sys.modules["numba"] = None
    import utmost as ut
    from utmost.geometry import kernels

    start, call = CALLS[name]
    of = eval(start)
    seconds = []
    for _ in range(1 if numba == "none" else 2):
        began = time.process_time()
        eval(call, {"ut": ut, "kernels": kernels, "of": of})
        seconds.append(f"{time.process_time() - began:.2f}")
    print(" ".join(seconds))


def main():
    for name in CALLS:
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"NUMBA_CACHE_DIR": folder}
            runs = [
                subprocess.run(
                    [sys.executable, __file__, name, numba], env=environment, check=True, capture_output=True, text=True
                ).stdout.split()
                for numba in ("here", "here", "none")
            ]
        (first, _), (loaded, again), (pure,) = runs
        print(
            f"{name}: nothing compiled {first} s, compiled before {loaded} s, once more {again} s; "
            f"without numba {pure} s",
            flush=True,
        )


if __name__ == "__main__":
    inside(*sys.argv[1:]) if len(sys.argv) > 1 else main()
