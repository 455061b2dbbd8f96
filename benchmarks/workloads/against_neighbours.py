"""The same people, the same unit, the same level: this package against its neighbours, in one run.

    python benchmarks/workloads/against_neighbours.py opendp=PYTHON pipeline-dp=PYTHON mbi=PYTHON smartnoise=PYTHON

and ``tumult=PYTHON``. Each PYTHON is an interpreter in which that neighbour is installed (`opendp[polars]`,
`pipeline-dp`, `mbi`, `smartnoise-sql`, `tmlt.analytics`); what is not named is left out. Every neighbour bounds the
contributions by its own means, but for mbi, which has none and gets the counted table; all get the same declared
cells, one row an event, and spend epsilon 1. Seconds are of processor, with all threads; of Tumult, whose work is
done by Spark, of the clock.

Data: the aircraft of examples/flights.csv by airline and quarter (an aircraft in at most 4 cells); the applicants of
Berkeley by department, sex and outcome (1 cell); a million events of 100 000 people over 20 x 50 cells (4 cells).
Errors are against the table of all pairs of person and cell, before anything is bounded.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from itertools import product
from pathlib import Path

import numpy as np

import utmost as ut
from utmost import Counting

HERE = Path(__file__).resolve()
EXAMPLES = HERE.parents[2] / "examples"
AIRLINES = ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
REPEATS = {"tumult": 3}
PACKAGES = {
    "opendp": "opendp",
    "pipeline-dp": "pipeline-dp",
    "tumult": "tmlt.analytics",
    "mbi": "mbi",
    "smartnoise": "smartnoise-sql",
}


def flights():
    with (EXAMPLES / "flights.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    axes = {"carrier": AIRLINES, "quarter": ["1", "2", "3", "4"]}
    columns = {
        "carrier": [row["carrier"] for row in rows],
        "quarter": [str((int(row["month"]) + 2) // 3) for row in rows],
    }
    return [row["aircraft"] for row in rows], columns, axes, 4


def berkeley():
    with (EXAMPLES / "berkeley_applicants.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    axes = {"department": list("ABCDEF"), "sex": ["men", "women"], "outcome": ["admitted", "rejected"]}
    return [row["applicant"] for row in rows], {name: [row[name] for row in rows] for name in axes}, axes, 1


def million():
    draws = np.random.default_rng(2013)
    axes = {"region": [f"r{i}" for i in range(20)], "age": [str(i) for i in range(50)]}
    people = draws.integers(0, 100_000, 1_000_000)
    # A person lives in one region and moves seldom; ages have a few years' spread.
    region = np.where(draws.random(len(people)) < 0.97, people % 20, draws.integers(0, 20, len(people)))
    age = (people // 20 + draws.integers(0, 2, len(people))) % 50
    return (
        [f"p{i}" for i in people.tolist()],
        {"region": [f"r{i}" for i in region.tolist()], "age": list(map(str, age.tolist()))},
        axes,
        4,
    )


DATA = {"flights": (flights, 20), "berkeley": (berkeley, 20), "million": (million, 2)}


# ---- the neighbours: from people, the text of each event's cell, all cells and the bound to noisy counts of the cells


def opendp(people, cells, every, bound, shape):
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    frame = pl.LazyFrame({"person": people, "cell": cells})
    margin = dp.polars.Margin(by=["cell"], max_length=10**7, max_groups=len(every))
    context = dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1, identifier="person"),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[margin],
    )
    query = context.query().truncate_per_group(1, by=["cell"]).truncate_per_group(bound)
    query = query.group_by("cell").agg(dp.len(signed=True)).with_keys(pl.LazyFrame({"cell": every}))
    found = query.release().collect()
    return dict(zip(found["cell"], found["len"], strict=True))


def pipeline_dp(people, cells, every, bound, shape):
    import pipeline_dp as neighbour

    accountant = neighbour.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
    engine = neighbour.DPEngine(accountant, neighbour.LocalBackend())
    extractors = neighbour.DataExtractors(
        privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1], value_extractor=lambda row: 0
    )
    params = neighbour.AggregateParams(
        metrics=[neighbour.Metrics.PRIVACY_ID_COUNT],
        noise_kind=neighbour.NoiseKind.LAPLACE,
        max_partitions_contributed=bound,
        max_contributions_per_partition=1,
    )
    found = engine.aggregate(list(zip(people, cells, strict=True)), params, extractors, public_partitions=every)
    accountant.compute_budgets()
    return {cell: metrics.privacy_id_count for cell, metrics in found}


def tumult(people, cells, every, bound, shape, kept={}):  # noqa: B006 - one session of Spark a process
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    import pandas as pd
    from pyspark.sql import SparkSession
    from tmlt.analytics import (
        AddRowsWithID,
        KeySet,
        MaxGroupsPerID,
        MaxRowsPerGroupPerID,
        PureDPBudget,
        QueryBuilder,
        Session,
    )

    if not kept:
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.host", "127.0.0.1")
        builder = builder.config("spark.sql.warehouse.dir", tempfile.mkdtemp())  # not where this is run
        kept["spark"] = builder.config("spark.driver.memory", "4g").getOrCreate()
        kept["spark"].sparkContext.setLogLevel("OFF")
    frame = kept["spark"].createDataFrame(pd.DataFrame({"person": people, "cell": cells}))
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(1), source_id="events", dataframe=frame, protected_change=AddRowsWithID("person")
    )
    query = QueryBuilder("events").enforce(MaxGroupsPerID("cell", bound)).enforce(MaxRowsPerGroupPerID("cell", 1))
    found = session.evaluate(query.groupby(KeySet.from_dict({"cell": every})).count(), PureDPBudget(1)).toPandas()
    return dict(zip(found["cell"], found["count"], strict=True))


def smartnoise(people, cells, every, bound, shape):
    import pandas as pd
    from snsql import Privacy, from_df

    columns = {"person": {"type": "string", "private_id": True}, "cell": {"type": "string"}}
    table = {"max_ids": bound, "row_privacy": False, "censor_dims": False, "sample_max_ids": True, **columns}
    frame = pd.DataFrame({"person": people, "cell": cells})
    reader = from_df(frame, privacy=Privacy(epsilon=1.0, delta=1e-9), metadata={"": {"S": {"E": table}}})
    rows = reader.execute("SELECT cell, COUNT(DISTINCT person) AS n FROM S.E GROUP BY cell")
    return dict(map(tuple, rows[1:]))


def mbi(people, cells, every, bound, shape):
    """Marginals of one axis and all cells, an equal share each, with Laplace noise of NumPy: it draws none itself."""
    from mbi import Domain, LinearMeasurement, estimation

    place = {cell: i for i, cell in enumerate(every)}
    names = tuple("abc"[: len(shape)])
    counts = np.bincount([place[cell] for cell in cells], minlength=len(every)).reshape(shape).astype(float)
    cliques = [names, *((name,) for name in names)]
    draws, scale = np.random.default_rng(), bound * len(cliques)
    measured = []
    for clique in cliques:
        sums = counts.sum(axis=tuple(i for i, name in enumerate(names) if name not in clique))
        noisy = (sums + draws.laplace(scale=scale, size=sums.shape)).ravel()
        measured.append(LinearMeasurement(noisy, clique, stddev=scale * 2**0.5))
    model = estimation.MirrorDescent().estimate(Domain(names, shape), measured, iters=2000)
    return dict(zip(every, np.asarray(model.project(names).datavector()).ravel().tolist(), strict=True))


NEIGHBOURS = {
    "opendp": opendp,
    "pipeline-dp": pipeline_dp,
    "tumult": tumult,
    "mbi": mbi,
    "smartnoise": smartnoise,
}


def alone(name, file):
    """In a neighbour's own interpreter: its noisy counts, again and again, and its seconds."""
    warnings.simplefilter("ignore")
    asked = json.loads(Path(file).read_text(encoding="utf-8"))
    found, seconds = [], []
    for _ in range(min(asked["repeats"], REPEATS.get(name, 99))):
        clock = time.perf_counter if name == "tumult" else time.process_time  # Spark is a process of its own
        started = clock()
        arguments = (asked["people"], asked["cells"], asked["every"], asked["bound"], asked["shape"])
        counts = NEIGHBOURS[name](*arguments)
        seconds.append(clock() - started)
        found.append([float(counts.get(cell, np.nan)) for cell in asked["every"]])
    answer = {"found": found, "seconds": seconds, "version": version(PACKAGES[name])}
    print("ANSWER" + json.dumps(answer))


# ---- this package


def ours(people, columns, axes, bound, repeats):
    """By name of the plan: noisy cells, seconds of counting and of releasing."""
    from utmost.counting import count_table
    from utmost.workloads import Domain, Plan, Workload, choose_plan

    domain = Domain({name: list(labels) for name, labels in axes.items()})
    started = time.process_time()
    counted = count_table({"person": people, **columns}, domain, Counting("person", at_most=bound))
    counting = time.process_time() - started
    *names, total = [domain.marginal_name(marginal) for marginal in wanted(domain)]
    started = time.process_time()
    plan = choose_plan(Workload(domain, dict.fromkeys([*names, total], 1)), counted.unit, epsilon=1)
    choices = {
        "cells alone": Plan(domain, counted.unit, {domain.finest: 1}, plan.workload, plan.level),
        "each table alike": plan,
        "the tables of mbi alike": choose_plan(Workload(domain, dict.fromkeys(names, 1)), counted.unit, epsilon=1),
    }
    planning = time.process_time() - started
    for name, chosen in choices.items():
        found, cleaned, seconds, cleaning = [], [], [], []
        for _ in range(repeats):
            started = time.process_time()
            released = ut.release(counted, chosen, epsilon=1, once=True).table
            found.append(np.asarray(released[domain.columns]["count"], dtype=float))
            seconds.append(time.process_time() - started)
            started = time.process_time()
            cleaned.append(released.clean().cells.ravel().astype(float))
            cleaning.append(time.process_time() - started)
        yield f"utmost, {name}", found, counting + np.median(seconds)
        yield f"utmost, {name}, clean", cleaned, counting + np.median(seconds) + np.median(cleaning)
    print(f"  (utmost counts in {counting:.2f} s, plans in {planning:.2f} s)")


def wanted(domain):
    """The cells, each axis by itself, and the total."""
    alone_on = [tuple(0 if a == b else 1 for b in range(len(domain.shape))) for a in range(len(domain.shape))]
    return [domain.finest, *alone_on, tuple(1 for _ in domain.shape)]


def true_cells(people, cells, every):
    place = {cell: i for i, cell in enumerate(every)}
    pairs = {(person, cell) for person, cell in zip(people, cells, strict=True)}
    return np.bincount([place[cell] for _, cell in pairs if cell in place], minlength=len(every)).astype(float)


def report(name, found, seconds, truth, shape):
    """rms error of each table, and how many cells are negative or not there."""
    x = np.array(found).reshape(len(found), *shape)
    missing = int(np.isnan(x[0]).sum())
    off = np.nan_to_num(x) - truth.reshape(shape)
    errors = [np.sqrt((off**2).mean())]
    for a in range(len(shape)):
        sums = off.sum(axis=tuple(1 + b for b in range(len(shape)) if b != a))
        errors.append(np.sqrt((sums**2).mean()))
    errors.append(np.sqrt((off.reshape(len(off), -1).sum(axis=1) ** 2).mean()))
    negative = float((np.nan_to_num(x) < 0).reshape(len(x), -1).sum(axis=1).mean())
    shown = "  ".join(f"{error:8.2f}" for error in errors)
    left = f", {missing} cells missing" if missing else ""
    print(f"  {name:34} {shown}   {negative:6.1f} negative  {seconds:7.2f} s{left}", flush=True)


def main(pythons):
    for title, (data, repeats) in DATA.items():
        people, columns, axes, bound = data()
        shape = [len(labels) for labels in axes.values()]
        rows = list(zip(*columns.values(), strict=True))
        cells = ["|".join(row) for row in rows]
        every = ["|".join(labels) for labels in product(*axes.values())]
        truth = true_cells(people, cells, every)
        print(f"\n{title}: {len(people)} events, {len(every)} cells, {bound} a person")
        print(f"  root mean square error of the cells, of {', '.join(axes)}, of the total")
        for name, found, seconds in ours(people, columns, axes, bound, repeats):
            report(name, found, seconds, truth, shape)
        for name, python in pythons.items():
            given = bounded(people, cells, bound) if name == "mbi" else (people, cells)
            asked = {"people": given[0], "cells": given[1], "every": every, "bound": bound, "shape": shape}
            with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
                json.dump({**asked, "repeats": repeats}, file)
                file.flush()
                command = [python, "-W", "ignore", str(HERE), "--alone", name, file.name]
                try:
                    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
                except subprocess.TimeoutExpired:
                    print(f"  {name}: not done in 240 s", flush=True)
                    continue
            line = next((line for line in ended.stdout.splitlines() if line.startswith("ANSWER")), None)
            if line is None:
                print(f"  {name}: failed: {ended.stderr.strip().splitlines()[-1:]}", flush=True)
                continue
            answer = json.loads(line[len("ANSWER") :])
            shown = f"{name} {answer['version']}"
            report(shown, answer["found"], float(np.median(answer["seconds"])), truth, shape)


def bounded(people, cells, bound):
    """One row for each cell that a person is counted in: what mbi counts, as it bounds nothing."""
    kept, found = {}, []
    for pair in dict.fromkeys(zip(people, cells, strict=True)):
        if kept.get(pair[0], 0) < bound:
            kept[pair[0]] = kept.get(pair[0], 0) + 1
            found.append(pair)
    return [person for person, _ in found], [cell for _, cell in found]


if __name__ == "__main__":
    if "--alone" in sys.argv:
        alone(*sys.argv[sys.argv.index("--alone") + 1 :])
    else:
        main(dict(argument.split("=", 1) for argument in sys.argv[1:]))
