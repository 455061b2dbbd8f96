"""Histories of a simulated world, or one of them again: `python tests/simulation --first 17 --count 1`."""

import argparse
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")]


def main():
    """Run them, and say what happened; 1 where something broke its word."""
    from memory_disk import in_memory
    from simulation.history import History

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--first", type=int, default=0, help="the number of the first history")
    options.add_argument("--count", type=int, default=1000)
    wanted = options.parse_args()
    warnings.simplefilter("ignore")
    happened, answers, began = Counter(), 0, time.perf_counter()
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        for seed in range(wanted.first, wanted.first + wanted.count):
            try:
                history = History(folder, seed).run()
            except BaseException:
                sys.stdout.write(f"history {seed}: python tests/simulation --first {seed} --count 1\n")
                raise
            happened, answers = happened + history.happened, answers + len(history.answers)
    minutes = (time.perf_counter() - began) / 60
    sys.stdout.write(f"{wanted.count} histories, {answers} items answered, {wanted.count / minutes:.0f} a minute\n")
    sys.stdout.writelines(f"{count:8} {name}\n" for name, count in sorted(happened.items()))


if __name__ == "__main__":
    main()
