"""Spark: a released table evaluated three times, with speculation on and a Python worker killed in mid-stage.

Run: PYTHONPATH=src python benchmarks/tables/spark_says_the_same_bytes_thrice.py [rows] [threads] [cost|distribution]
    [turns]

The three evaluations must be equal to the byte, by two sums of hashes of all rows; while the second runs, one of the
processes that evaluate Python for Spark is killed. Then, in one run and in turn: the identity map in Arrow, which
costs what Spark costs, the same with a column of ones more, which is what a margin made by a worker costs, and the
released map, whose margin Spark adds, by the clock and by the processor time of Spark and all its workers:
on a machine that others share only the second says what the noise costs. At the end the distribution of the noise at
one level by chi-square over all rows, and of two levels jointly, whose profile dp-accounting judges. `cost` and
`distribution` run alone.
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
from statistics import median

import numpy as np
import pyarrow as arrow
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from scipy.stats import chi2

import utmost as ut
from utmost.exact import level
from utmost.gradual import joint_pmf
from utmost.noise import Geometric

BATCH = 65_536
SAY = {"columns": "visits", "public": "cell", "id_column": "cell", "unit": ut.Unit(1, 1)}
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


def below():
    """This process, and all that it has started, as far as they run."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, more = set(), {os.getpid()}
    while more:
        found |= more
        more = {one for one, up in parents.items() if up in more} - found
    return found


def processor():
    """Seconds of processor of the whole tree, of children that have ended too."""
    ticks = 0
    for one in below():
        try:
            ticks += sum(map(int, Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:15]))
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def seconds(frame):
    """By the clock, and of processor."""
    start, spent = time.perf_counter(), processor()
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start, processor() - spent


def with_ones(batches):
    """The identity, and a column more, made anew in each batch, as a released table has its margin."""
    for batch in batches:
        yield batch.append_column("ones", arrow.array(np.ones(batch.num_rows, np.int64)))


def beside_identity(frame, made, rows, turns=7):
    """Both maps and the identity with a column more, in turn from another one on, after a turn that is not counted."""
    more = frame.mapInArrow(with_ones, "cell long, visits long, ones long")
    maps = {"identity": frame.mapInArrow(identity, frame.schema), "identity and ones": more, "released": made}
    times = {what: [] for what in maps}
    for turn in range(turns + 1):
        order = list(maps)[turn % 3 :] + list(maps)[: turn % 3]
        found = {what: seconds(maps[what]) for what in order}
        told = "; ".join(f"{what} {found[what][0]:.1f} s, {found[what][1]:.2f} of processor" for what in maps)
        print(f"  {'counted' if turn else 'first'}: {told}", flush=True)
        if turn:
            for what, took in found.items():
                times[what].append(took)
    for at, clock in enumerate(("by the clock", "of processor")):
        spent = {what: [each[at] for each in took] for what, took in times.items()}
        for base in ("identity", "identity and ones"):
            compared(clock, base, spent[base], spent["released"], rows)


def compared(clock, base, one, two, rows):
    ratios = [b / a for a, b in zip(one, two, strict=True)]
    print(
        f"  {clock}, beside {base}: medians {median(one):.2f} and {median(two):.2f} s,"
        f" ratio {median(two) / median(one):.3f};"
        f" least {min(one):.2f} and {min(two):.2f} s, ratio {min(two) / min(one):.3f};"
        f" median of the ratios {median(ratios):.3f}; {1e9 * (median(two) - median(one)) / rows:.0f} ns a row more"
    )


def fits(seen, wanted, rows):
    large = wanted >= 10
    seen, wanted = (
        np.append(seen[large], rows - seen[large].sum()),
        np.append(wanted[large], rows - wanted[large].sum()),
    )
    return float(chi2.sf(((seen - wanted) ** 2 / wanted).sum(), wanted.size - 1))


def distributions(lower, higher, rows, reach=12):
    """By chi-square one level and two jointly; and what dp-accounting makes of the two as they were seen."""
    true = F.pmod(F.col("cell"), F.lit(97))
    joint = lower.select("cell", (F.col("visits") - true).alias("x")).join(
        higher.select("cell", (F.col("visits") - true).alias("y")), "cell"
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
    print(f"  distribution at 2: p = {fits(ones, rows * Geometric(levels[1]).pmf(axis), rows):.3f}")
    print(f"  joint distribution at 1/2 and 2: p = {fits(seen.ravel(), wanted.ravel(), rows):.3f}")
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
        alone = float(ut.privacy_types.delta(Geometric(levels[1]), epsilon))
        said = found.get_delta_for_epsilon(epsilon)
        print(f"  delta({epsilon}) of both as seen {said:.4f}, of the higher epsilon alone {alone:.4f}")
        assert abs(said - alone) < 0.01


def main():
    """Rows, threads, which part alone, and for `cost` the number of turns."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    only = sys.argv[3] if len(sys.argv) > 3 else None
    warnings.simplefilter("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = session(threads)
    print(f"Spark {spark.version}, local[{threads}], {rows:,} rows, {BATCH:,} a batch, speculation on", flush=True)
    frame = spark.range(0, rows, 1, 8).selectExpr("id AS cell", "id % 97 AS visits")
    with tempfile.TemporaryDirectory() as here, ut.Ledger.open(f"{here}/l.db", create=True, key=bytes(32)) as ledger:
        start = time.perf_counter()
        lower = ledger.publish("visits", frame, ut.Promise(**SAY), epsilon="1/2").table
        print(f"  checked, committed and published in {time.perf_counter() - start:.1f} s", flush=True)
        if only is None:
            three_times(lower)
        if only != "distribution":
            beside_identity(frame, lower, rows, int(sys.argv[4]) if len(sys.argv) > 4 else 7)
        if only != "cost":
            distributions(lower, ledger.relax("visits", frame, epsilon=2).table, rows)
    spark.stop()


if __name__ == "__main__":
    main()
