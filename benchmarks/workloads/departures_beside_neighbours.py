"""Real events to counts and means, each aircraft protected: this package, OpenDP and PipelineDP, in one run.

    python benchmarks/workloads/departures_beside_neighbours.py opendp=PYTHON pipeline-dp=PYTHON

Each PYTHON is an interpreter in which that neighbour is installed (`opendp[polars]`, `pipeline-dp`); what is not named
is left out. Data: examples/departures.csv.gz. Two tasks:

- counts: flights by age and delay, 30 cells, epsilon 2: root mean square error of a cell;
- means: miles of a flight by age, of 0 to 3000, epsilon 4/5: root mean square of the relative error.

How many flights of an aircraft count is each package's best of three bounds, which is printed: in all, or of
PipelineDP in a cell. Errors are against the file, before anything is bounded, so what bounds cut is in them; over 12
runs. Seconds are of processor, from events to answers, of the second run on. Lines are those of the code in between.
"""

import csv
import gzip
import inspect
import json
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from itertools import product
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve()
AGES = ["0 to 4", "5 to 9", "10 to 14", "15 to 19", "20+", "not stated"]
DELAYS = ["under 0", "0 to 14", "15 to 59", "60+", "cancelled"]
EDGES = [0, 15, 60]
EVERY = ["|".join(labels) for labels in product(AGES, DELAYS)]
RUNS = 12
PACKAGES = {"opendp": "opendp", "pipeline-dp": "pipeline-dp"}


def events():
    """Of each flight the aircraft, its cell, its age, miles and delay, which is None where it was cancelled."""
    path = HERE.parents[2] / "examples" / "departures.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {"aircraft": [], "cell": [], "age": [], "miles": [], "delay": []}
    for row in rows:
        age = AGES[min(int(row["age"]) // 5, 4)] if row["age"] else AGES[5]
        delay = float(row["delay"]) if row["delay"] else None
        values = (row["aircraft"], f"{age}|{group(delay)}", age, int(row["distance"]), delay)
        for name, value in zip(columns, values, strict=True):
            columns[name].append(value)
    return columns


def group(delay):
    return DELAYS[4] if delay is None else DELAYS[sum(delay >= edge for edge in EDGES)]


# ---- from events to counts by cell, means by age, medians by age


def opendp_counts(columns, bound):
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=pl.LazyFrame({"aircraft": columns["aircraft"], "cell": columns["cell"]}),
        privacy_unit=dp.unit_of(contributions=1, identifier="aircraft"),
        privacy_loss=dp.loss_of(epsilon=2.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["cell"], max_length=10**6, max_groups=len(EVERY))],
    )
    query = context.query().truncate_per_group(bound).group_by("cell").agg(dp.len(signed=True))
    counts = query.with_keys(pl.LazyFrame({"cell": EVERY})).release().collect()
    return dict(zip(counts["cell"], counts["len"], strict=True))


def opendp_means(columns, bound):
    import opendp.prelude as dp
    import polars as pl

    context = dp.Context.compositor(
        data=pl.LazyFrame({"aircraft": columns["aircraft"], "age": columns["age"], "miles": columns["miles"]}),
        privacy_unit=dp.unit_of(contributions=1, identifier="aircraft"),
        privacy_loss=dp.loss_of(epsilon=0.8),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["age"], max_length=10**6, max_groups=len(AGES))],
    )
    query = context.query().truncate_per_group(bound).group_by("age")
    query = query.agg(pl.col("miles").fill_null(0).dp.sum((0, 3000)).alias("sum"), dp.len(signed=True).alias("n"))
    sums = query.with_keys(pl.LazyFrame({"age": AGES})).release().collect()
    return {age: total / n for age, total, n in zip(sums["age"], sums["sum"], sums["n"], strict=True)}


def pipeline_dp_counts(columns, bound):
    return pipeline_dp_of(columns["cell"], [0] * len(columns["cell"]), columns, "COUNT", EVERY, 2, 5, bound)


def pipeline_dp_means(columns, bound):
    return pipeline_dp_of(columns["age"], columns["miles"], columns, "MEAN", AGES, 0.8, 1, bound, (0, 3000))


def pipeline_dp_of(keys, values, columns, metric, every, epsilon, cells, per_cell, ends=None):
    import pipeline_dp as dp

    accountant = dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=0)
    engine = dp.DPEngine(accountant, dp.LocalBackend())
    extractors = dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    params = dp.AggregateParams(
        metrics=[getattr(dp.Metrics, metric)],
        noise_kind=dp.NoiseKind.LAPLACE,
        max_partitions_contributed=cells,
        max_contributions_per_partition=per_cell,
        **({} if ends is None else {"min_value": ends[0], "max_value": ends[1]}),
    )
    rows = list(zip(columns["aircraft"], keys, values, strict=True))
    answers = engine.aggregate(rows, params, extractors, public_partitions=every)
    accountant.compute_budgets()
    return {key: metrics[0] for key, metrics in answers}


def ours_counts(columns, bound):
    import utmost as ut

    flights = {name: columns[name] for name in ("aircraft", "age", "delay")}
    late = ut.workloads.edges([None, 0, 15, 60, None], missing="cancelled")
    domain = ut.Domain(age=AGES, delay=late)
    counted = ut.count_table(flights, domain, ut.Counting("aircraft"), measure=ut.count(in_total=bound))
    plan = ut.workloads.Plan(domain, counted.unit, {"age delay": 1})
    table = ut.release(counted, plan, epsilon=2, once=True).table["age delay"]
    return dict(zip(EVERY, table["count"], strict=True))


def ours_means(columns, bound):
    import utmost as ut

    miles = {name: columns[name] for name in ("aircraft", "age", "miles")}
    measure = ut.sum("miles", each=(0, 3000), most_events=bound)
    counted = ut.count_table(miles, {"age": AGES}, ut.Counting("aircraft", at_most=1), measure=measure)
    plan = ut.workloads.Plan(counted.domain, counted.unit, {"age miles": 1})
    both = ut.release(counted, plan, epsilon="4/5", once=True)
    table = both["age"]
    return dict(zip(AGES, table["miles"] / table["count"], strict=True))


TASKS = {
    "utmost": {"counts": [ours_counts], "means": [ours_means]},
    "opendp": {"counts": [opendp_counts], "means": [opendp_means]},
    "pipeline-dp": {"counts": [pipeline_dp_counts, pipeline_dp_of], "means": [pipeline_dp_means, pipeline_dp_of]},
}
IN_TOTAL = {"counts": (160, 320, 480), "means": (100, 200, 400)}
BOUNDS = {
    "utmost": IN_TOTAL,
    "opendp": IN_TOTAL,
    "pipeline-dp": {"counts": (64, 100, 150), "means": (100, 200, 400)},
}


def alone(name, file):
    """In an interpreter of its own: the answers to each task at each bound, again and again, and their seconds."""
    warnings.simplefilter("ignore")
    columns, answers = json.loads(Path(file).read_text(encoding="utf-8")), {}
    for task, (answer, *_) in TASKS[name].items():
        answers[task] = {}
        for bound in BOUNDS[name][task]:
            found, seconds = [], []
            for _ in range(RUNS):
                started = time.process_time()
                values = answer(columns, bound)
                seconds.append(time.process_time() - started)
                found.append({key: float(value) for key, value in values.items()})
            answers[task][bound] = {"found": found, "seconds": float(np.median(seconds[1:]))}
    print("ANSWER" + json.dumps({"tasks": answers, "version": installed(name)}))


def installed(name):
    if name in PACKAGES:
        return version(PACKAGES[name])
    import utmost

    return utmost.__version__


def lines(functions):
    """The lines of code of a task, without blank ones."""
    source = "".join(map(inspect.getsource, functions)).splitlines()
    return sum(bool(line.strip()) for line in source)


def truth(columns):
    """By cell the flights; by age the mean of miles."""
    counts, miles = dict.fromkeys(EVERY, 0), {age: [] for age in AGES}
    for cell, age, far in zip(*(columns[name] for name in ("cell", "age", "miles")), strict=True):
        counts[cell] += 1
        miles[age].append(far)
    return {"counts": counts, "means": {age: np.mean(far) for age, far in miles.items()}}


def error(task, found, true):
    """The root mean square error, of means the relative one."""
    off = np.array([[run[key] - true[key] for key in true] for run in found])
    return np.sqrt(((off if task == "counts" else off / np.array(list(true.values()))) ** 2).mean())


def main(pythons):
    columns = events()
    true = truth(columns)
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(columns, file)
        file.flush()
        for name, python in {"utmost": sys.executable, **pythons}.items():
            command = [python, "-W", "ignore", str(HERE), "--alone", name, file.name]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
            line = next((line for line in ended.stdout.splitlines() if line.startswith("ANSWER")), None)
            if line is None:
                print(f"{name}: failed: {ended.stderr.strip().splitlines()[-1:]}", flush=True)
                continue
            answer = json.loads(line[len("ANSWER") :])
            for task, results in answer["tasks"].items():
                errors = {bound: error(task, result["found"], true[task]) for bound, result in results.items()}
                best = min(errors, key=errors.get)
                size = f"{errors[best]:.0f} flights" if task == "counts" else f"{100 * errors[best]:.1f} %"
                shown = f"{name} {answer['version']:8} {task:6} {lines(TASKS[name][task]):3} lines  bound {best:>3}"
                print(f"{shown}  {size:>12}  {results[best]['seconds']:6.2f} s", flush=True)


if __name__ == "__main__":
    if "--alone" in sys.argv:
        alone(*sys.argv[sys.argv.index("--alone") + 1 :])
    else:
        main(dict(argument.split("=", 1) for argument in sys.argv[1:]))
