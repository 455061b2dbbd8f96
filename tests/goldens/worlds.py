"""Small releases of every kind, and every command, in a world whose operating system gives the same random bytes.

    PYTHONPATH=tests python tests/goldens/worlds.py     prints the sha256 of all values, and freezes new worlds

`values.json` holds what was drawn, and each number that a statement states, and no sentence, field name or file byte: a
change of words and forms leaves it alone, and a change of the noise by one bit is seen. A value that is frozen is never
written again: where a change of the noise is meant, its line is deleted by hand first.
"""

import csv
import functools
import itertools
import json
import os
import re
import sys
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256, shake_256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import command_lines
import utmost as ut
from asking import asked
from running import called
from utmost import local, testing
from utmost.channels import geometric_channel

# Random bits are planted where the library takes them; keys and sums are drawn without a release around them.
from utmost.core.sampling import random_bits
from utmost.core.sampling.random_bits import secure
from utmost.promises import key_noise, selected_cell_noise, together_noise
from utmost.publish.promises import partition_selection as keys
from utmost.publish.promises.rotated_sums import columns_of, ratios_of, sums_of
from utmost.publish.promises.together_at_level import noise_together_at

KEPT = Path(__file__).with_name("values.json")
KEY = bytes(range(32))
TABLE = {"town": ["Ash", "Elm", "Oak"], "men": [12, 7, 31], "women": [3, 4, 2]}
UNIT = {"unit": ut.Unit(1, 2)}
POINTS = {"x": [1.5, -2.0, 7.25], "y": [0.0, 3.5, 2.0]}
ORDERS = list(itertools.permutations(("1/2", "1", "2")))
LONGEST = 60
SPELLED = re.compile(r"-?[0-9]{1,20}([./][0-9]{1,30})?")


@contextmanager
def same_bytes(seed, first=0):
    """The operating system gives bytes that follow from a seed, from the first block on; no earlier stream is left."""
    real, counter = os.urandom, itertools.count(first)
    os.urandom = lambda count: shake_256(f"{seed} {next(counter)}".encode()).digest(count)
    random_bits.SYSTEM._thread.state, random_bits._seen = None, ()
    try:
        yield
    finally:
        os.urandom = real
        random_bits.SYSTEM._thread.state, random_bits._seen = None, ()


def number(value):
    """The number that a value is or spells, as text; None where it is a word, a digest, or a truth."""
    if isinstance(value, bool | np.bool) or value is None:
        return None
    if isinstance(value, str):
        if not SPELLED.fullmatch(value):
            return None
        value = Fraction(value)
    if isinstance(value, float | np.floating):
        return repr(float(value)) if value != int(value) else str(int(value))
    return str(Fraction(value)) if isinstance(value, int | np.integer | Fraction) else None


def drawn(value):
    """Every number in a value, in order: columns of a table, cells, answers at several levels."""
    if isinstance(value, ut.exact.Level):
        value = str(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [found for part in value for found in drawn(part)]
    if isinstance(value, str) and not SPELLED.fullmatch(value):
        return []
    return [] if (text := number(value)) is None else [text]


def stated(facts):
    """The distinct numbers that a statement states, smallest first; a fact said twice counts once."""
    if isinstance(facts, dict):
        facts = [part for name, part in facts.items() if name not in ("format", "utmost", "version")]
    if isinstance(facts, list | tuple):
        found = {text for part in facts for text in stated(part)}
        return sorted(found, key=lambda text: (Fraction(text), text))
    return [] if (text := number(facts)) is None else [text]


def table_release(table=TABLE, **promise):
    """A table released once, and its statement."""
    release = ut.release(
        table, **asked(public="town", **{"columns": ["men", "women"], "epsilon": 1, **UNIT, **promise}), once=True
    )
    return [drawn([np.asarray(release.table[name]) for name in ("men", "women")]), stated(release.statement)]


def frame_release(kind):
    """The same table as a frame."""
    import pandas
    import polars
    import pyarrow

    made = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "arrow": pyarrow.table}[kind](TABLE)
    return table_release(made)


def by_orders(make, answer):
    """The answers at three levels, in every order of asking."""
    return [[drawn(answer(release, level)) for level in order] for order in ORDERS for release in [make()]]


def workload_release():
    """A counted table released by a plan."""
    domain = ut.Domain(sex=["men", "women"], age=["<40", "40+", "65+"])
    plan = ut.workloads.Plan(domain, ut.Unit(1, 1), {"sex age": "1/2", "sex": "1/4", "": "1/4"})
    release = ut.release(np.array([[5, 7, 2], [3, 1, 0]]), plan, epsilon=1, once=True).table
    sums, total = release["sex"], release.total({"sex": "men"})
    answers = [*release.measured.values(), sums["count"], sums["count_margin"], total.value, total.margin]
    return [drawn([*answers, release.clean().cells]), stated(release.facts())]


def counted_table():
    """Thirty events of thirty people."""
    domain = ut.Domain(sex=["men", "women"], outcome=["admitted", "rejected"])
    events = {
        "person": [f"p{k}" for k in range(30)],
        "sex": ["women" if k % 3 else "men" for k in range(30)],
        "outcome": ["admitted" if k % 5 else "rejected" for k in range(30)],
    }
    return ut.count_table(events, domain, ut.Counting("person", at_most=1, key=KEY))


def counted_release():
    """Events counted, planned and released."""
    counted = counted_table()
    plan = ut.choose_plan(ut.Workload(counted.domain, {"sex outcome": 1}), counted.unit, epsilon=1)
    release = ut.release(counted, plan, epsilon=1, once=True).table
    return [drawn([counted.cells, *release.measured.values()]), stated(release.facts())]


def one_draw_release():
    """All cells of the table in one draw."""
    promise = ut.Promise(["men", "women"], public="town", noise=ut.OneDraw(ut.Unit(1, 2), 6))
    answer = ut.release(TABLE, promise, epsilon=1, once=True)
    return [drawn([answer.table["men"], answer.table["women"]]), stated(answer.statement)]


def one_way_release():
    """All one-way tables of a counted table, and its total."""
    cells = np.array([[12, 7], [31, 3]])
    domain = ut.Domain(town=["Ash", "Elm"], sex=["men", "women"])
    counted = ut.counting.CountedTable(domain, cells, ut.Unit(1, 1))
    noise = ut.OneWayDraw.of_counted(counted)
    answer = ut.release(counted, ut.Promise.of_counted(counted, noise=noise), epsilon=1, once=True)
    return [drawn(answer.table), stated(answer.statement)]


def named_release(noise):
    """Words that nobody listed, by the number of the letters a in them, and their noisy counts."""
    answer = ut.release({"word": ["a", "b", "aa"], "count": [40, 1, 30]}, ut.Promise(noise=noise), epsilon=1)
    return [[len(word) for word in answer.table["word"]], drawn(answer.table["count"]), stated(answer.statement)]


def trust_views():
    """The answers of recipients with levels of their own."""
    release = ut.GradualRelease([10, 20], 1)
    return {recipient: release.at(epsilon) for recipient, epsilon in {"a": 1, "b": "1/2", "c": 2}.items()}


def pair_by_hand():
    """A pair of columns at any levels: its sum and its difference as two series, halves by a coin for each level."""
    way, coins = noise_together_at(list(PAIR), 1, noise="rotated", halves="toss", unit=ut.Unit(1, 2)).way, secure(None)
    (distribution,) = way.distributions
    sums = sums_of(distribution, [np.array(column) for column in PAIR.values()])
    releases, read = [ut.GradualRelease(row, 1, randomness=coins) for row in sums], {}

    def at(epsilon):
        if epsilon not in read:
            levels = ratios_of(way.at(ut.level(epsilon), ut.Unit(1, 2)).distributions[0])
            answers = [release.at(level) for release, level in zip(releases, levels, strict=True)]
            columns = columns_of(distribution, answers, halves="toss", randomness=coins)
            read[epsilon] = dict(zip(PAIR, columns, strict=True))
        return read[epsilon]

    return at


def process_history(table, promise):
    """What this process answers at three levels, in two orders, and with which margins."""
    answers = []
    for first, *later in (("1/2", "2", "1"), ("2", "1/2", "1")):
        release = ut.release(table, promise, epsilon=first).release
        answers += [drawn(release.at(level).table) for level in (first, *later)] + [str(release.spent.epsilon)]
    return answers


def ledger_history(folder, derived, **promise):
    """What a ledger answers for a release asked at three levels and a view between, in two orders."""
    told = []
    for order in (("1/2", "2", "1"), ("2", "1/2", "1")):
        place = folder / f"{len(list(folder.iterdir()))}.db"
        given = {"columns": ["men", "women"], "public": "town", "dataset": "d", **UNIT, **promise}
        with ut.Ledger.open(place, create=True, key=KEY, witness=False, derived=derived) as ledger:
            answers = [ledger.publish("towns", TABLE, **asked(**given, epsilon=order[0])).table]
            answers += [ledger.relax("towns", TABLE, epsilon=level).table for level in order[1:]]
            answers.append(ledger.view("towns", epsilon="3/4").table)
            told.append([drawn(answer) for answer in answers] + [str(ledger.spent("towns").epsilon)])
    return told


def ledger_items(folder):
    """Noise by item: a function of the key's secret, the identifier and the level alone."""
    with ut.Ledger.open(folder / "items.db", create=True, key=KEY, witness=False) as ledger:
        promise = {"columns": ["men", "women"], "public": "town", "id_column": "town", "keyed_by_id": True, **UNIT}
        answers = [ledger.publish("towns", TABLE, **asked(**promise, epsilon="1/2", dataset="d")).table]
        answers += [ledger.relax("towns", TABLE, epsilon=2).table, ledger.view("towns", epsilon=1).table]
    return [drawn(answer) for answer in answers]


def ledger_points(folder):
    """Points kept in a ledger."""
    with ut.Ledger.open(folder / "points.db", create=True, key=KEY, witness=False) as ledger:
        promise = {"columns": ["x", "y"], "noise": ut.PointNoise(2), "dataset": "d"}
        answers = [ledger.publish("places", POINTS, **asked(**promise, epsilon="1/2")).table]
        answers += [ledger.relax("places", POINTS, epsilon=level).table for level in (2, 1)]
    return [drawn(answer) for answer in answers]


def ledger_distribution(folder):
    """Noise of a named distribution, drawn and derived, of two columns and in a release without a ledger."""
    promise = ut.Promise(
        ["men", "women"], public="town", noise=ut.promises.DistributionNoise(ut.Unit(3, 2), "DiscreteStaircase(step=1)")
    )
    answers = [ut.release(TABLE, promise, epsilon=1, once=True)]
    for derived in (False, True):
        with ut.Ledger.open(folder / f"{derived}.db", create=True, key=KEY, witness=False, derived=derived) as ledger:
            answers.append(ledger.publish("towns", TABLE, promise, epsilon=1))
    return [[drawn(answer.table), stated(answer.statement)] for answer in answers]


def ledger_plan(folder):
    """A counted table kept in a ledger, by a plan."""
    counted = counted_table()
    plan = ut.workloads.Plan(counted.domain, counted.unit, {"sex outcome": "1/2", "sex": "1/2"})
    with ut.Ledger.open(folder / "plan.db", create=True, key=KEY, witness=False) as ledger:
        answers = [ledger.publish("sums", counted, ut.Promise(noise=plan), epsilon="1/2", dataset="d").table]
        answers += [ledger.relax("sums", counted, epsilon=2).table, ledger.view("sums", epsilon=1).table]
    return [[drawn(list(answer.measured.values())), stated(answer.facts())] for answer in answers]


def ledger_rule(folder):
    """A table that climbs a ladder of levels, in a ledger of drawn and in one of derived noise."""
    promise = ut.Promise(["men", "women"], public="town", unit=ut.Unit(1, 2), until=ut.within("50 %", steps=5))
    answers = []
    for derived in (False, True):
        with ut.Ledger.open(folder / f"{derived}.db", create=True, key=KEY, witness=False, derived=derived) as ledger:
            answer = ledger.publish("towns", TABLE, promise, epsilon=4)
            answers += [drawn(answer.table), stated(answer.statement), str(answer.level.epsilon), answer.is_met]
    return answers


def ledger_answers(folder):
    """One answer for each person."""
    channel = ut.channels.Channel([["2/3", "1/3"], ["1/3", "2/3"]], secrets=["yes", "no"], outcomes=["yes", "no"])
    coin = ut.local.read_mechanism(channel, ut.spaces.discrete(2))
    with ut.Ledger.open(folder / "persons.db", create=True, key=KEY, witness=False) as ledger:
        persons = {f"p{k}": "yes" if k % 2 else "no" for k in range(20)}
        answers = ledger.respond("smokes", coin, persons)
        return [int(answer == "yes") for answer in answers.values()]


def permanent(answer):
    """Permanent answers at three parameters, in every order."""
    bits = np.array([[0, 1, 1, 0], [1, 0, 0, 1]])
    orders = itertools.permutations(("1/2", "1/4", "1/8"))
    return [[drawn(made.at(a).astype(int)) for a in order] for order in orders for made in [answer(bits)]]


def rounded(text):
    """A long number to six digits: what a solver finds differs by its version beyond them."""
    value = Fraction(text)
    return text if value.denominator < 10**6 else f"{float(value):.6g}"


def without_promises(answer):
    """An answer without the promises in its statements: their truths are what was asked."""
    if isinstance(answer, list):
        return [without_promises(part) for part in answer]
    if not isinstance(answer, dict):
        return answer
    is_statement = answer.get("kind") == "utmost statement"
    return {name: without_promises(part) for name, part in answer.items() if not (is_statement and name == "promise")}


def told(answer):
    """What a command answers: its distinct numbers, smallest first, and which truths are among it."""
    truths = re.findall(r"\b(?:true|false)\b", json.dumps(without_promises(answer)))
    return [*map(rounded, stated(answer)), *sorted({"01"[truth == "true"] for truth in truths})]


def written(path):
    """The numbers of the table that a command wrote."""
    return drawn(list(csv.reader(path.read_text(encoding="utf-8").splitlines())))


@functools.cache
def commands():
    """What every command answers with `--json`, and the table that it writes, one after another in one folder."""
    answers = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in command_lines.FILES.items():
            (folder / file).write_text(content, encoding="utf-8")
        for number, line in enumerate(command_lines.READY.strip().splitlines()):
            for ready, first in zip(line.split(" && "), (0, 2), strict=False):  # after two blocks of the creation
                with same_bytes(f"ready {number}", first):
                    assert not called(*ready.split(), cwd=folder).returncode, ready
        for command, words in command_lines.JSON.items():
            line = [*command.split(), *words.split(), "--json"]
            with same_bytes(command):
                ended = called(*line, cwd=folder)
            assert not ended.returncode, (line, ended.stderr)
            answers[command] = [told(json.loads(ended.stdout))]
            if "--out" in line and (out := line[line.index("--out") + 1]).endswith(".csv"):
                answers[command].append(written(folder / out))
    return answers


PAIR = {"men": [12, 7, 31], "women": [3, 4, 2]}
DISTRIBUTIONS = {
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
        [drawn(release.table), stated(release.statement)]
        for relaxable in (False, True)
        for release in [
            ut.release(
                PAIR,
                ut.Promise(
                    ["men", "women"],
                    noise=ut.promises.once_together(["men", "women"], unit=ut.Unit(1, 2), relaxable=relaxable),
                ),
                epsilon=1,
                once=True,
            )
        ]
    ],
    "points": lambda folder: [
        [drawn(release.table), stated(release.statement)]
        for release in [ut.release(POINTS, ut.Promise(["x", "y"], noise=ut.PointNoise(2)), epsilon=1, once=True)]
    ],
    "a plan": lambda folder: workload_release(),
    "events": lambda folder: counted_release(),
    "keys at deltas": lambda folder: [
        [int(key[1:]) for key in selection.at(delta).keys]
        for selection in [keys.KeySelection({f"k{n}": n for n in range(20)}, epsilon=1)]
        for delta in ("1/100", "1/10", "1/2")
    ],
    "values": lambda folder: [
        drawn(ut.releases.add_noise(np.arange(20), distribution)) for distribution in DISTRIBUTIONS.values()
    ],
    "draws": lambda folder: [
        drawn(ut.sample(distribution, 50, randomness=testing.SeededRandomness("draws"), method=method))
        for distribution in DISTRIBUTIONS.values()
        for method in ("constant", "table")
    ],
    "a channel": lambda folder: testing.seeded_draw(geometric_channel(9, alpha="1/2"), 4, seed=7, shape=60),
    "seeded values": lambda folder: [
        testing.seeded_release(np.arange(20), distribution, seed=7) for distribution in DISTRIBUTIONS.values()
    ],
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
    "gradual together": lambda folder: by_orders(pair_by_hand, lambda answer, level: answer(level)),
    "gradual points": lambda folder: by_orders(
        lambda: testing.seeded_planar_release([[1, 2], [3, 4]], seed=7), lambda release, level: release.at(level)
    ),
    "trust": lambda folder: drawn(trust_views()),
    "permanent answers": lambda folder: permanent(lambda bits: testing.seeded_responses(bits, seed=7)),
    "categories": lambda folder: local.report_categories([0, 1, 2, 3, 4] * 3, local.best_report(5, epsilon=1)),
    "a process": lambda folder: process_history(TABLE, ut.Promise(["men", "women"], public="town", **UNIT)),
    "a process in half steps": lambda folder: process_history(
        TABLE, ut.Promise(["men", "women"], public="town", noise=ut.CellNoise(ut.Unit(3, 2), half_step=True))
    ),
    "a process of reals": lambda folder: process_history(
        TABLE, ut.Promise(["men", "women"], public="town", noise=ut.CellNoise(ut.Unit(1, 2), "reals", grid="1/4"))
    ),
    "a process of changed records": lambda folder: process_history(
        TABLE, ut.Promise(["men", "women"], public="town", unit=ut.Unit(2, 3, "change-one"))
    ),
    "a process of points": lambda folder: process_history(POINTS, ut.Promise(["x", "y"], noise=ut.PointNoise(2))),
    "a process of columns together": lambda folder: process_history(
        {"men": [12, 7, 31], "women": [3, 4, 2]},
        ut.Promise(["men", "women"], noise=together_noise(["men", "women"], unit=ut.Unit(1, 2))),
    ),
    "a ledger": lambda folder: ledger_history(folder, derived=False),
    "a derived ledger": lambda folder: ledger_history(folder, derived=True),
    "a ledger in half steps": lambda folder: ledger_history(folder, derived=True, sensitivity=3, half_step=True),
    "a ledger of reals": lambda folder: ledger_history(folder, derived=True, numbers="reals", grid="1/4"),
    "a ledger by items": ledger_items,
    "a ledger of points": ledger_points,
    "cells of a distribution": ledger_distribution,
    "a ledger of a plan": ledger_plan,
    "a ledger of persons": ledger_answers,
    "a rule that stops": ledger_rule,
    "one draw": lambda folder: one_draw_release(),
    "one-way tables in one draw": lambda folder: one_way_release(),
    "named cells": lambda folder: named_release(
        selected_cell_noise(["word", "count"], ut.releases.Texts("ab", most=3))
    ),
    "named keys": lambda folder: named_release(key_noise(["word", "count"], delta="1/100")),
} | {
    f"utmost {command}": lambda folder, command=command: commands()[command]
    for command in command_lines.JSON
    if command != "doctor"  # which tells of the machine
}


def released(name):
    """The values of a world, or their digest where they are many."""
    with TemporaryDirectory() as folder, same_bytes(name):
        values = drawn(WORLDS[name](Path(folder)))
    return values if len(values) <= LONGEST else sha256(json.dumps(values).encode()).hexdigest()


def main():
    """Freeze what worlds that are new release, and print the digest of all."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    kept |= {name: released(name) for name in WORLDS if name not in kept}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(values)}" for name, values in kept.items())
    KEPT.write_text("{\n" + lines + "\n}\n", encoding="utf-8")
    sys.stdout.write(sha256(KEPT.read_bytes()).hexdigest() + "\n")


if __name__ == "__main__":
    main()
