"""Spark: a released table evaluated three times, with speculation on and a Python worker killed in mid-stage.

Run: PYTHONPATH=src python benchmarks/tables/spark_says_the_same_bytes_thrice.py [rows] [threads]

The three evaluations must be equal to the byte, by two sums of hashes of all rows; while the second runs, one of the
processes that evaluate Python for Spark is killed. Then, in one run and in turn: the identity map in Arrow, which
costs what Spark costs, beside the released map. At the end the law of the noise at one level by chi-square over all
rows, and of two levels jointly, whose profile dp-accounting judges.
"""

import math
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from scipy.stats import chi2

import utmost as ut
from utmost.exact import level
from utmost.gradual import joint_pmf
from utmost.noise import Geometric

BATCH = 65_536
SAY = {"columns": "visits", "public": "cell", "id_column": "cell", "sensitivity": 1, "cells": 1}
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH),
    "spark.sql.shuffle.partitions": "4",
    "spark.speculation": "true",
    "spark.speculation.multiplier": "1.2",
    "spark.log.level": "OFF",
    "spark.ui.showConsoleProgress": "false",
}


def session(threads):
    builder = SparkSession.builder.master(f"local[{threads}, 4]")  # a task that fails is tried again, up to 4 times
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def digest(frame):
    """Of all rows in any order: their number, and two sums of hashes of 64 bits."""
    hashed = [F.sum(F.xxhash64(F.lit(seed), "cell", "visits").cast("decimal(38,0)")) for seed in (1, 2)]
    return tuple(frame.agg(F.count("*"), *hashed).collect()[0])


def python_workers():
    """The processes below this one that evaluate Python for Spark: children of its daemon."""
    parents, names = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            stat, said = (place / "stat").read_text(), (place / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(place.name)], names[int(place.name)] = int(stat.rpartition(")")[2].split()[1]), said

    def is_ours(one):
        while one in parents and one != os.getpid():
            one = parents[one]
        return one == os.getpid()

    return [
        one
        for one, up in parents.items()
        if b"daemon" in names[one] and b"daemon" in names.get(up, b"") and is_ours(one)
    ]


def killing_one(done, killed):
    """Wait until the stage runs, and kill a worker."""
    time.sleep(1)
    while not done.is_set() and not killed:
        for worker in python_workers()[-1:]:
            os.kill(worker, signal.SIGKILL)
            killed.append(worker)
        time.sleep(0.05)


def three_times(made):
    found, killed = [], []
    for turn in range(3):
        done = threading.Event()
        thread = threading.Thread(target=killing_one, args=(done, killed))
        if turn == 1:
            thread.start()
        start = time.perf_counter()
        found.append(digest(made if turn < 2 else made.repartition(7)))
        done.set()
        if turn == 1:
            thread.join()
        what = ("as it is", f"worker {'killed' if killed else 'NOT killed'}", "in other partitions")[turn]
        print(f"  evaluation {turn + 1}, {what}: {time.perf_counter() - start:.1f} s, {found[-1]}", flush=True)
    assert found[0] == found[1] == found[2]
    assert killed


def identity(batches):
    yield from batches


def seconds(frame):
    start = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def beside_identity(frame, made, rows, turns=5):
    plain = frame.mapInArrow(identity, frame.schema)
    times = [(seconds(plain), seconds(made)) for _ in range(turns)]
    least = [min(one[at] for one in times) for at in (0, 1)]
    ratio = sorted(two / one for one, two in times)[turns // 2]
    print(f"  identity map {least[0]:.2f} s, released {least[1]:.2f} s ({1e9 * least[1] / rows:.0f} ns a row)")
    print(f"  ratio of the least {least[1] / least[0]:.3f}, median of the ratios {ratio:.3f}", flush=True)


def fits(seen, wanted, rows):
    large = wanted >= 10
    seen, wanted = (
        np.append(seen[large], rows - seen[large].sum()),
        np.append(wanted[large], rows - wanted[large].sum()),
    )
    return float(chi2.sf(((seen - wanted) ** 2 / wanted).sum(), wanted.size - 1))


def laws(frame, strict, loose, rows, reach=12):
    """By chi-square one level and two jointly; and what dp-accounting makes of the two as they were seen."""
    true = F.pmod(F.col("cell"), F.lit(97))
    joint = strict.select("cell", (F.col("visits") - true).alias("x")).join(
        loose.select("cell", (F.col("visits") - true).alias("y")), "cell"
    )
    counts = joint.groupBy("x", "y").count().collect()
    axis = np.arange(-reach, reach + 1)
    seen = np.zeros((axis.size, axis.size))
    for x, y, count in counts:
        if abs(x) <= reach and abs(y) <= reach:
            seen[x + reach, y + reach] = count
    levels = [level("1/2"), level(2)]
    wanted = rows * joint_pmf(np.meshgrid(axis, axis, indexing="ij"), levels)
    ones = np.zeros(axis.size)
    for _, y, count in counts:
        if abs(y) <= reach:
            ones[y + reach] += count
    print(f"  law at 2: p = {fits(ones, rows * Geometric(levels[1]).pmf(axis), rows):.3f}")
    print(f"  joint law at 1/2 and 2: p = {fits(seen.ravel(), wanted.ravel(), rows):.3f}")
    judge(seen / rows, levels)


def judge(seen, levels):
    from dp_accounting.pld import privacy_loss_distribution as accounting

    here, there = seen[1:, 1:], seen[:-1, :-1]  # the same answers of a neighbour are one more

    def logs(mass):
        flat = np.append(mass.ravel(), 1 - mass.sum())
        return {at: math.log(p) for at, p in enumerate(flat.tolist()) if p > 0}

    both = set(logs(here)) & set(logs(there))
    one, two = ({at: value for at, value in logs(mass).items() if at in both} for mass in (here, there))
    found = accounting.from_two_probability_mass_functions(one, two, value_discretization_interval=1e-4)
    for epsilon in (0.5, 1.0, 1.5):
        alone = float(ut.privacy.delta(Geometric(levels[1]), epsilon))
        said = found.get_delta_for_epsilon(epsilon)
        print(f"  delta({epsilon}) of both as seen {said:.4f}, of the looser alone {alone:.4f}")
        assert abs(said - alone) < 0.01


def main():
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    warnings.simplefilter("ignore")
    spark = session(threads)
    print(f"Spark {spark.version}, local[{threads}], {rows:,} rows, {BATCH:,} a batch, speculation on", flush=True)
    frame = spark.range(0, rows, 1, 8).selectExpr("id AS cell", "id % 97 AS visits")
    with tempfile.TemporaryDirectory() as here, ut.Ledger.open(f"{here}/l.db", create=True, key=bytes(32)) as ledger:
        start = time.perf_counter()
        strict = ledger.publish("visits", frame, **SAY, epsilon="1/2")
        print(f"  checked, committed and published in {time.perf_counter() - start:.1f} s", flush=True)
        three_times(strict)
        beside_identity(frame, strict, rows)
        laws(frame, strict, ledger.relax("visits", frame, epsilon=2), rows)
    spark.stop()


if __name__ == "__main__":
    main()
