"""Histories of a simulated world, or one of them again: `python tests/simulation --first 17 --count 1`."""

import argparse
import gc
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")]
PART = 500
"""Histories that a process lives before it is heard of."""


def lived(seeds, is_in_memory):
    """What happened in some histories, how many items were answered, their noise, and seconds of processor."""
    from memory_disk import in_memory
    from simulation.distribution import Noise
    from simulation.history import History
    from simulation.places import InMemory, OnDisk

    warnings.simplefilter("ignore")
    gc.collect()  # what is frozen is never collected, garbage included
    gc.freeze()
    happened, answers, distribution, began = Counter(), 0, Noise(), time.process_time()
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        for seed in seeds:
            try:
                history = History(folder, seed, InMemory if is_in_memory else OnDisk).run()
            except BaseException:
                again = f"python tests/simulation --first {seed} --count 1{' --memory' if is_in_memory else ''}"
                sys.stdout.write(f"history {seed}: {again}\n")
                raise
            distribution.take(history)
            happened, answers = happened + history.happened, answers + len(history.answers)
    return happened, answers, distribution, time.process_time() - began


def main():
    """Run them, and say what happened; an error where something broke its word."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--first", type=int, default=0, help="the number of the first history")
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--memory", action="store_true", help="files in memory, transaction by transaction")
    options.add_argument("--jobs", type=int, default=1, help="so many processes at once")
    wanted = options.parse_args()
    parts = [
        range(first, min(first + PART, wanted.first + wanted.count))
        for first in range(wanted.first, wanted.first + wanted.count, PART)
    ]
    happened, answers, distribution, seconds, count = Counter(), 0, None, 0.0, 0
    began = time.perf_counter()
    with ProcessPoolExecutor(wanted.jobs, get_context("fork")) as pool:
        for part, each in zip(parts, pool.map(lived, parts, [wanted.memory] * len(parts)), strict=True):
            happened, answers, seconds, count = (
                happened + each[0], answers + each[1], seconds + each[3], count + len(part)
            )  # fmt: skip
            distribution = each[2] if distribution is None else (distribution.add(each[2]) or distribution)
            clock = (time.perf_counter() - began) / 60
            sys.stdout.write(
                f"{count} histories, to {part[-1]}: {answers} items answered, {count / clock:.0f} a minute, "
                f"{60 * count / seconds:.0f} a minute of processor\n"
            )
            if count % (40 * PART) == 0:
                say(distribution, happened)
            sys.stdout.flush()
    say(distribution, happened)


def say(distribution, happened):
    """How the noise fits its distribution, and what happened."""
    sys.stdout.write(f"the least p-value of the noise: {distribution.p_value():.3g}\n")
    sys.stdout.writelines(f"{number:8} {name}\n" for name, number in sorted(happened.items()))


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
