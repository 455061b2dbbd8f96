"""Spark's dataframes, in a session on this machine: the answers of one machine, whatever Spark does with its tasks."""

import os
import signal

import numpy as np
import pytest

from spark import session
from utmost.errors import BadTable
from utmost.tables import count_keys, count_table
from utmost.tables.engines import engine_frame
from utmost.workloads import Domain, bins, plain

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::FutureWarning")]

KEY = bytes(range(32))
DOMAIN = Domain(age=bins(0, 40, width=10), page=plain([f"p{i}" for i in range(5)], other="elsewhere"))


def random_events(seed=9, persons=40, events=1500):
    rng = np.random.default_rng(seed)
    return {
        "user": [f"u{user}" for user in rng.integers(-5, persons, events)],
        "page": [None if page == 8 else f"p{page}" for page in rng.integers(0, 9, events)],
        "age": rng.integers(-5, 50, events).tolist(),
        "amount": rng.integers(-4, 9, events).tolist(),
    }


def on_spark(columns, parts=4):
    names, cells = list(columns), list(zip(*columns.values(), strict=True))
    return session().createDataFrame(cells, names).repartition(parts)


def test_spark_counts_as_one_machine_does():
    """The table of one machine under the same key, by counts and by values; an event of nobody is refused as there."""
    events = random_events()
    frame = on_spark(events)
    for values in (None, "amount"):
        say = {"person": "user", "domain": DOMAIN, "at_most": 3, "per_atom": (-2, 3), "values": values, "key": KEY}
        here, there = count_table(events, **say), count_table(frame, **say)
        assert there.atoms.tolist() == here.atoms.tolist()
        assert there.atoms.any()
    say = {"person": "user", "column": "page", "at_most": 2, "key": KEY}
    assert count_keys(frame, **say) == count_keys(events, **say)
    nobody = on_spark({"user": ["a", None], "page": ["p1", "p1"], "age": [1, 1]}, 2)
    with pytest.raises(BadTable, match="must name its person"):
        count_table(nobody, person="user", domain=DOMAIN, at_most=1)


@pytest.mark.slow
def test_a_worker_that_is_lost_changes_nothing(tmp_path):
    """The first worker is killed in the middle of a stage; its task is evaluated again by another."""
    flag = str(tmp_path / "killed")

    def killed_once(batch):
        if not os.path.exists(flag):
            with open(flag, "x", encoding="utf-8"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        return batch

    frame = on_spark(random_events())
    made = engine_frame(frame).mapped(killed_once, engine_frame(frame).schema())
    assert sorted(map(str, made.collect())) == sorted(map(str, frame.collect()))
    assert (tmp_path / "killed").exists()
