"""Small releases of every kind, each in a world whose operating system gives the same random bytes every time.

    python tests/goldens/worlds.py          writes tests/goldens/released.json anew, after a change that is meant

What was released, said and answered here is frozen in that file: a reorganisation of the code moves no noise by a bit,
and a statement by no character. Versions, digests of files, times and keys of a place stand in none of it.
"""

import itertools
import json
import os
import sys
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256, shake_256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import utmost as ut
from utmost.design import local
from utmost.design.channels import geometric_channel
from utmost.doors import testing
from utmost.laws.sampling import random_bits
from utmost.publish.promises import keys

KEPT = Path(__file__).with_name("released.json")
KEY = bytes(range(32))
TABLE = {"town": ["Ash", "Elm", "Oak"], "men": [12, 7, 31], "women": [3, 4, 2]}
UNIT = {"sensitivity": 1, "cells": 2}
POINTS = {"x": [1.5, -2.0, 7.25], "y": [0.0, 3.5, 2.0]}
ORDERS = list(itertools.permutations(("1/2", "1", "2")))
LONGEST = 2000


@contextmanager
def same_bytes(seed):
    """The operating system gives bytes that follow from a seed, and no stream of before is left."""
    real, counter = os.urandom, itertools.count()
    os.urandom = lambda count: shake_256(f"{seed} {next(counter)}".encode()).digest(count)
    random_bits.SYSTEM._own.state, random_bits._seen = None, ()
    try:
        yield
    finally:
        os.urandom = real
        random_bits.SYSTEM._own.state, random_bits._seen = None, ()


def plain(value):
    """Whatever was released, as JSON has it."""
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items() if name != "utmost"}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    if isinstance(value, Fraction | ut.laws.exact.Level):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value


def table_release(table=TABLE, **promise):
    """A table released once, and its statement."""
    release = ut.release_table(table, public="town", **{"columns": ["men", "women"], "epsilon": 1, **UNIT, **promise})
    return [{name: plain(np.asarray(release.table[name])) for name in ("town", "men", "women")}, release.sidecar]


def frame_release(kind):
    """The same table as a frame."""
    import pandas
    import polars
    import pyarrow

    made = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "arrow": pyarrow.table}[kind](TABLE)
    return table_release(made)


def by_orders(make, answer):
    """The answers at three levels, in every order of asking."""
    return [[plain(answer(release, level)) for level in order] for order in ORDERS for release in [make()]]


def workload_release():
    """A counted table released by a plan."""
    domain = ut.Domain(sex=["men", "women"], age=["<40", "40+", "65+"])
    strategy = ut.workloads.Strategy(domain, ut.Unit(1, 1), {"sex age": "1/2", "sex": "1/4", "": "1/4"})
    release = ut.release_workload(np.array([[5, 7, 2], [3, 1, 0]]), strategy, epsilon=1)
    return [release.facts(), plain(release["sex"]), release.clean().cells, plain(release.total({"sex": "men"}).margin)]


def counted_table():
    """Thirty events of thirty people."""
    domain = ut.Domain(sex=["men", "women"], outcome=["admitted", "rejected"])
    events = {
        "person": [f"p{k}" for k in range(30)],
        "sex": ["women" if k % 3 else "men" for k in range(30)],
        "outcome": ["admitted" if k % 5 else "rejected" for k in range(30)],
    }
    return ut.count_table(events, person="person", domain=domain, at_most=1, key=KEY)


def counted_release():
    """Events counted, planned and released."""
    counted = counted_table()
    plan = ut.strategy(ut.Workload(counted.domain, {"sex outcome": 1}), counted.unit, epsilon=1)
    return [counted.cells, ut.release_workload(counted, plan, epsilon=1).facts()]


def ledger_history(folder, derived, **promise):
    """What a ledger answers for a release asked at three levels and a view between, in two orders."""
    told = []
    for order in (("1/2", "2", "1"), ("2", "1/2", "1")):
        place = folder / f"{len(list(folder.iterdir()))}.db"
        given = {"columns": ["men", "women"], "public": "town", "dataset": "d", **UNIT, **promise}
        with ut.Ledger.open(place, create=True, key=KEY, witness=False, derived=derived) as ledger:
            answers = [ledger.publish("towns", TABLE, **given, epsilon=order[0]).table]
            answers += [ledger.relax("towns", TABLE, epsilon=level) for level in order[1:]]
            answers.append(ledger.view("towns", epsilon="3/4"))
            told.append([plain(answer) for answer in answers] + [str(ledger.spent("towns"))])
    return told


def ledger_items(folder):
    """Noise by item: a function of the key's secret, the identifier and the level alone."""
    with ut.Ledger.open(folder / "items.db", create=True, key=KEY, witness=False) as ledger:
        promise = {"columns": ["men", "women"], "public": "town", "id_column": "town", "noise": "items", **UNIT}
        answers = [ledger.publish("towns", TABLE, **promise, epsilon="1/2", dataset="d").table]
        answers += [ledger.relax("towns", TABLE, epsilon=2), ledger.view("towns", epsilon=1)]
    return [plain(answer) for answer in answers]


def ledger_points(folder):
    """Points kept in a ledger."""
    with ut.Ledger.open(folder / "points.db", create=True, key=KEY, witness=False) as ledger:
        promise = {"columns": ["x", "y"], "per": 2, "dataset": "d"}
        answers = [ledger.publish("places", POINTS, **promise, epsilon="1/2").table]
        answers += [ledger.relax("places", POINTS, epsilon=level) for level in (2, 1)]
    return [plain(answer) for answer in answers]


def ledger_strategy(folder):
    """A counted table kept in a ledger, by a plan."""
    counted = counted_table()
    strategy = ut.workloads.Strategy(counted.domain, counted.unit, {"sex outcome": "1/2", "sex": "1/2"})
    with ut.Ledger.open(folder / "plan.db", create=True, key=KEY, witness=False) as ledger:
        answers = [ledger.publish("sums", counted, strategy=strategy, epsilon="1/2", dataset="d").table]
        answers += [ledger.relax("sums", counted, epsilon=2), ledger.view("sums", epsilon=1)]
    return [plain(answer.facts()) if hasattr(answer, "facts") else plain(answer) for answer in answers]


def ledger_answers(folder):
    """One answer for each person."""
    coin = ut.channels.Channel([["2/3", "1/3"], ["1/3", "2/3"]], secrets=["yes", "no"], outcomes=["yes", "no"])
    with ut.Ledger.open(folder / "persons.db", create=True, key=KEY, witness=False) as ledger:
        persons = {f"p{k}": "yes" if k % 2 else "no" for k in range(20)}
        return plain(ledger.respond("smokes", coin, persons, space=ut.spaces.discrete(2)))


def permanent(answer):
    """Permanent answers at three parameters, in every order."""
    bits = np.array([[0, 1, 1, 0], [1, 0, 0, 1]])
    orders = itertools.permutations(("1/2", "1/4", "1/8"))
    return [[plain(made.at(a).astype(int)) for a in order] for order in orders for made in [answer(bits)]]


PAIR = {"men": [12, 7, 31], "women": [3, 4, 2]}
LAWS = {
    "geometric": ut.noise.Geometric(epsilon=1, sensitivity=2),
    "staircase": ut.noise.DiscreteStaircase(1, 5),
    "laplace": ut.noise.Laplace(1, 2),
    "real staircase": ut.noise.Staircase(1, 2),
}
WORLDS = {
    "a table": lambda folder: table_release(),
    "a table of staircases": lambda folder: table_release(sensitivity=5, cost="squared"),
    "a table in half steps": lambda folder: table_release(sensitivity=3, relaxable=True),
    "a table of reals": lambda folder: table_release(numbers="reals", sensitivity="5/2", neighbours="change-one"),
    "a table on a grid": lambda folder: table_release(numbers="reals", grid="1/8"),
    "a pandas frame": lambda folder: frame_release("pandas"),
    "a Polars frame": lambda folder: frame_release("polars"),
    "an Arrow table": lambda folder: frame_release("arrow"),
    "columns together": lambda folder: [
        [plain(release.table), release.sidecar]
        for relaxable in (False, True)
        for release in [
            ut.publish.releases.release_together(
                PAIR, columns=["men", "women"], epsilon=1, sensitivity=1, relaxable=relaxable
            )
        ]
    ],
    "points": lambda folder: [
        [plain(release.table), release.sidecar]
        for release in [ut.release_table(POINTS, ut.Promise(["x", "y"], per=2), epsilon=1)]
    ],
    "a plan": lambda folder: workload_release(),
    "events": lambda folder: counted_release(),
    "keys": lambda folder: ut.publish.releases.select_keys(
        {f"k{n}": n for n in range(40)}, epsilon=1, delta="1e-3"
    ).said(),
    "keys at deltas": lambda folder: [
        selection.at(delta).keys
        for selection in [keys.KeySelection({f"k{n}": n for n in range(20)}, epsilon=1)]
        for delta in ("1/100", "1/10", "1/2")
    ],
    "values": lambda folder: [plain(ut.publish.releases.add_noise(np.arange(20), law)) for law in LAWS.values()],
    "draws": lambda folder: [
        plain(ut.sample(law, 50, randomness=testing.SeededRandomness("draws"), method=method))
        for law in LAWS.values()
        for method in ("constant", "table")
    ],
    "a channel": lambda folder: testing.seeded_draw(geometric_channel(9, alpha="1/2"), 4, seed=7, shape=60),
    "seeded values": lambda folder: [testing.seeded_release(np.arange(20), law, seed=7) for law in LAWS.values()],
    "gradual": lambda folder: by_orders(
        lambda: testing.seeded_gradual_release([10, 20, 30], 1, seed=7), lambda release, level: release.at(level)
    ),
    "gradual in half steps": lambda folder: by_orders(
        lambda: testing.seeded_gradual_release([10, 20, 30], 3, seed=7, half_step=True),
        lambda release, level: release.at(level),
    ),
    "gradual reals": lambda folder: by_orders(
        lambda: testing.seeded_gradual_release([0.5, -2.25], 1, seed=7, numbers="reals"),
        lambda release, level: release.at(level),
    ),
    "gradual together": lambda folder: by_orders(
        lambda: ut.publish.releases.gradual_together.GradualTogether(PAIR, sensitivity=1),
        lambda release, level: release.at(level),
    ),
    "gradual points": lambda folder: by_orders(
        lambda: testing.seeded_planar_release([[1, 2], [3, 4]], seed=7), lambda release, level: release.at(level)
    ),
    "trust": lambda folder: plain(
        ut.publish.releases.TrustRelease([10, 20], 1, levels={"a": 1, "b": "1/2", "c": 2}).views()
    ),
    "permanent answers": lambda folder: permanent(lambda bits: testing.seeded_responses(bits, seed=7)),
    "categories": lambda folder: local.report_categories([0, 1, 2, 3, 4] * 3, local.best_report(5, epsilon=1)),
    "a ledger": lambda folder: ledger_history(folder, derived=False),
    "a derived ledger": lambda folder: ledger_history(folder, derived=True),
    "a ledger in half steps": lambda folder: ledger_history(folder, derived=True, sensitivity=3, half_step=True),
    "a ledger of reals": lambda folder: ledger_history(folder, derived=True, numbers="reals", grid="1/4"),
    "a ledger by items": ledger_items,
    "a ledger of points": ledger_points,
    "a ledger of a plan": ledger_strategy,
    "a ledger of persons": ledger_answers,
}


def released(name):
    """What a world releases, or its digest where that is long."""
    with TemporaryDirectory() as folder, same_bytes(name):
        text = json.dumps(plain(WORLDS[name](Path(folder))), ensure_ascii=False)
    return json.loads(text) if len(text) <= LONGEST else sha256(text.encode()).hexdigest()


def main():
    """Write what every world releases."""
    sys.stdout.write(f"{KEPT}\n")
    made = {name: released(name) for name in WORLDS}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in made.items())
    KEPT.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
