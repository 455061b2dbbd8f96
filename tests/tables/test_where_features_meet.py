"""Where features of counting meet: measures, dates, listed keys, weights, bounds in all, rows, parts, engines."""

import random
from datetime import date

import numpy as np
import pytest

import utmost as ut
from counting_words import counted_with
from utmost.workloads import edges, listed, periods

KEYS = [("N", "a"), ("N", "b"), ("S", "c")]
AXES = {
    "place": listed(KEYS, names=["region", "place"]),
    "day": periods("2024", "2025", every="quarter", missing="no date"),
    "age": edges([0, 18, None], missing="not stated"),
}
DOMAIN = ut.Domain(AXES)
MEASURES = {
    "visits": ut.count(2),
    "few": ut.count(in_total=2),
    "weight": ut.sum("weight", per_cell=5, in_total=7),
    "paid": ut.sum("paid", step="0.5", each=(-1, 4), per_cell=(-2, 6)),
    "both": ut.sum("paid", step="0.5", each=(0, 4), most_events=2, in_total=3),
    "kinds": ut.distinct("kind", of=["x", "y", "z"], at_most=2),
}


def events_of(draw, rows, people=3):
    days = [None, date(2025, 1, 1), *(date(2024, month, 15) for month in range(1, 13))]
    return {
        "user": [f"p{draw.randrange(people)}" for _ in range(rows)],
        "region": [draw.choice("NS") for _ in range(rows)],
        "place": [draw.choice("abcd") for _ in range(rows)],
        "day": [draw.choice(days) for _ in range(rows)],
        "age": [draw.choice([None, 3, 17, 18, 90]) for _ in range(rows)],
        "weight": [draw.randrange(9) for _ in range(rows)],
        "paid": [draw.randrange(-6, 20) / 4 for _ in range(rows)],
        "kind": [draw.choice("xyzw") for _ in range(rows)],
    }


def without(events, person):
    others = [at for at, user in enumerate(events["user"]) if user != person]
    return {name: [cells[at] for at in others] for name, cells in events.items()}


@pytest.mark.filterwarnings("ignore::utmost.errors.NothingCounted")
def test_no_person_changes_more_than_the_unit_of_any_measure():
    """All neighbours of small tables of every feature at once: each bound holds, and most are reached."""
    draw, largest = random.Random(24), {name: [0, 0, 0] for name in MEASURES}
    for turn in range(40):
        events, key = events_of(draw, 14), bytes([turn]) * 32
        words = {"person": "user", "domain": DOMAIN, "at_most": 3, "measures": MEASURES, "key": key}
        whole = counted_with(events, **words)
        for person in ("p0", "p1", "p2"):
            less = counted_with(without(events, person), **words)
            for name, table in whole.items():
                change = np.abs(np.asarray(table.cells - less[name].cells, dtype=object)).ravel()
                unit, seen = table.unit, (max(change), sum(value != 0 for value in change), sum(change))
                most = unit.sensitivity, unit.cells * (2 if unit.is_shared else 1), unit.reach
                assert all(one <= bound for one, bound in zip(seen, most, strict=True)), (name, seen, unit)
                largest[name] = [max(pair) for pair in zip(largest[name], seen, strict=True)]
    assert all(largest[name][2] == whole[name].unit.reach for name in ("few", "weight", "both"))
    assert all(largest[name][0] == whole[name].unit.sensitivity for name in ("visits", "weight", "paid"))
