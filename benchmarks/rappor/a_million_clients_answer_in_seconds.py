"""First names of a million clients: encoded, answered, relaxed, tallied and decoded against 4 275 candidates.

Run: PYTHONPATH=src python benchmarks/rappor/a_million_clients_answer_in_seconds.py [clients]
"""

import csv
import sys
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np

from utmost.local import BitResponse, Bloom, BloomCounts, PermanentResponses, decode

NAMES = Path(__file__).parents[2] / "examples" / "first_names.csv"


@contextmanager
def timed(what):
    start = perf_counter()
    yield
    print(f"{what:32} {perf_counter() - start:7.2f} s")


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    with NAMES.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names, weights = [row["name"] for row in rows], np.array([int(row["per_100000"]) for row in rows], float)
    who = np.random.default_rng(3).choice(len(names), n, p=weights / weights.sum())
    words, truth = [names[k] for k in who], np.bincount(who, minlength=len(names))
    bloom = Bloom(bits=128, hashes=2, cohorts=16, key=b"benchmark")
    cohorts = bloom.cohort_of(n)
    with timed(f"encode {n} words, 128 bits"):
        clients = PermanentResponses(bloom.encode(words, cohorts))
    for a in ("3/4", "1/2", "1/4"):
        with timed(f"answer at a = {a}"):
            responses = clients.at(a)
        with timed("  tally"):
            tally = BloomCounts.of(responses, cohorts, bloom)
        with timed("  decode"):
            found = decode(tally, BitResponse.permanent(a), bloom, names).found
        off = [(each.count - truth[names.index(each.word)]) / each.error for each in found]
        print(f"  {len(found)} names found; estimate less truth, in standard errors: sd {np.std(off):.2f}")


if __name__ == "__main__":
    main()
