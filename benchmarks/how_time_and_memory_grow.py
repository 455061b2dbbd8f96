"""How time and memory grow with the size of the work, and which of the two ends first: public calls, as Markdown.

Run: PYTHONPATH=src python benchmarks/how_time_and_memory_grow.py [--small] [WORK ...]

Every size of every work is done in a process of its own, after one a tenth as large or a quarter, so that nothing is
loaded or compiled while it counts. Seconds are of processor, in one thread. An exponent is that between the last two
sizes: 1 is linear. What ends first is told from there on: sixteen GiB of memory, or ten minutes, and at which size.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for library in ("OPENBLAS", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402

MEMORY, PATIENCE = 16 * 2**30, 600.0


def noise(size):
    """Numbers of geometric noise: `sample`."""
    import utmost as ut

    distribution = ut.noise.Geometric(1)
    return lambda: ut.sample(distribution, size)


def count(size):
    """Events of a Parquet file, 16 a person, into 1 200 cells: `count_table`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import utmost as ut

    draw = np.random.default_rng(size)
    persons = np.char.add("user ", draw.integers(0, max(1, size // 16), size).astype(str))
    path = Path(tempfile.mkdtemp(dir=FOLDER)) / "events.parquet"
    pq.write_table(pa.table({"user": persons, "page": draw.integers(0, 1200, size)}), path)
    domain = ut.Domain(page=list(range(1200)))
    return lambda: ut.count_table(path, domain, ut.Counting("user", at_most=10))


def clean(size):
    """A released two-way table with marginals and total, made whole: `NoisySums.clean`."""
    import utmost as ut

    draw, side = np.random.default_rng(0), round(math.sqrt(size))
    domain = ut.Domain(row=list(range(side)), column=list(range(side)))
    cells = draw.poisson(np.exp(draw.normal(0.3, 1.5, (side, side))))
    plan = ut.workloads.Plan(domain, ut.Unit(1, 1), dict.fromkeys(domain.marginals(), "1/4"))
    return ut.release(cells, plan, epsilon=1, once=True).clean


def design(size):
    """The best mechanism for random places with any prior, with its proof: `optimal_mechanism`."""
    import utmost as ut

    draw = np.random.default_rng(size)
    space = ut.spaces.points((draw.random((size, 2)) * math.sqrt(size)).round(3).tolist())
    ptype = ut.PrivacyType(space, epsilon=1)
    consumer = ut.Consumer(draw.dirichlet(np.ones(size)), ut.losses.distance(space))
    return lambda: ut.optimal_mechanism(ptype, consumer)


def items(size):
    """Rows with text identifiers, published by item in a ledger: `Ledger.publish`."""
    import pyarrow as pa

    import utmost as ut

    draw = np.random.default_rng(size)
    keys = [f"person-{key:012d}" for key in draw.permutation(size)]
    table = pa.table({"id": keys, "x": draw.integers(0, 100, size)})
    ledger = ut.Ledger.open(Path(tempfile.mkdtemp(dir=FOLDER)) / "l.db", create=True)
    promise = ut.Promise("x", unit=ut.Unit(1, 1), keyed_by_id=True, drop="id", id_column="id")
    return lambda: ledger.publish("visits", table, promise, epsilon=1).table


def cumulative(size):
    """All cumulative sums of a plan of prefixes, with margins: `Answer.cumulative`."""
    import utmost as ut

    domain = ut.Domain(age=ut.workloads.edges(list(range(size + 1))))
    plan = ut.choose_plan(ut.workloads.Workload.prefixes(domain), ut.Unit(1, 1), epsilon=1)
    answer = ut.release(np.arange(size), plan, epsilon=1)
    return lambda: answer.cumulative("age")


def one_draw(size):
    """Noise of one draw for cells that one person may all change: the variance and the margin of a cell."""
    import utmost as ut

    noise = ut.OneDraw(ut.Unit(1, size, nonnegative=True), size)
    return lambda: (float(noise.at(ut.level(1)).distribution.variance), noise.margin(ut.level(1), "0.95"))


FOLDER = tempfile.gettempdir()
WORKS = {
    "noise": (noise, "numbers", (10**6, 10**7, 10**8), 10),
    "count": (count, "events", (10**5, 10**6, 4 * 10**6), 10),
    "clean": (clean, "cells", (4 * 10**4, 16 * 10**4, 10**6), 4),
    "design": (design, "places", (49, 100, 196), 2),
    "cumulative": (cumulative, "sums", (100, 300, 1000), 10),
    "one_draw": (one_draw, "cells", (25, 50, 100), 5),
    "items": (items, "rows", (10**5, 4 * 10**5, 16 * 10**5), 4),
}


def held(kind):
    """The memory that this process holds (VmRSS), or has held at most (VmHWM), in bytes."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith(kind))


def measured(name, size):
    """Seconds, and bytes at the most beyond what is held before the work, whatever making its input took."""
    work, _, _, smaller = WORKS[name]
    work(size // smaller)()
    call = work(size)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the most from here on
    before = held("VmRSS")
    start = time.process_time()
    call()
    return time.process_time() - start, held("VmHWM") - before


def apart(name, size):
    """One size, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--one", name, str(size), folder]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def ends(sizes, seconds, memory):
    """What ends first, and about at which size, if the last two sizes say how it goes on."""
    by_time = sizes[1] * (PATIENCE / seconds[1]) ** (1 / max(exponent(sizes, seconds), 0.5))
    by_memory = math.inf
    if min(memory) > 2**21:
        by_memory = sizes[1] * (MEMORY / memory[1]) ** (1 / max(exponent(sizes, memory), 0.5))
    return f"{'ten minutes' if by_time < by_memory else '16 GiB'} at {min(by_time, by_memory):.0e}"


def exponent(sizes, values):
    """Of growth between two sizes."""
    return math.log(values[1] / values[0]) / math.log(sizes[1] / sizes[0])


def main():
    arguments = [word for word in sys.argv[1:] if word != "--small"]
    print("| work | sizes | seconds | exponent | memory of the last | ends first |\n|---|---|---|---|---|---|")
    for name in arguments or WORKS:
        work, unit, sizes, _ = WORKS[name]
        sizes = sizes[:-1] if "--small" in sys.argv else sizes
        found = [apart(name, size) for size in sizes]
        seconds, memory = zip(*found[-2:], strict=True)
        shown = ", ".join(f"{size:,}" for size in sizes), ", ".join(f"{took:.2g}" for took, _ in found)
        last = f"{memory[1] / 2**20:.0f} MiB | {ends(sizes[-2:], seconds, memory)} {unit}"
        print(
            f"| {work.__doc__.rstrip('.')} | {shown[0]} | {shown[1]} | {exponent(sizes[-2:], seconds):.2f} | {last} |",
            flush=True,
        )


if __name__ == "__main__":
    if "--one" in sys.argv:
        FOLDER = sys.argv[4]
        print(json.dumps(measured(sys.argv[2], int(sys.argv[3]))))
    else:
        main()
