"""R8: workers that were forked, spawned or forked from one that had a ledger open draw no equal streams."""

import json
import multiprocessing
import os
from pathlib import Path

import pytest

import utmost as ut
from reliability import workers
from running import SOURCES, python
from spark import missing
from utmost.ledger import Ledger

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def all_differ(noise):
    cells = [cell for one in noise for cell in one]
    return len(set(cells)) == len(cells) > 0


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_draw_noise_of_their_own(tmp_path, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    place = str(tmp_path / "l.db")
    with Ledger.open(place, create=True, key=bytes(32)) as ledger:
        mine = [
            list(
                ledger.publish(
                    "mine",
                    workers.VALUES,
                    ut.Promise(columns=["n"], unit=ut.Unit(1, 1)),
                    epsilon=workers.WIDE,
                    dataset="all",
                ).table["n"]
            )
        ]
    with multiprocessing.get_context(method).Pool(2) as pool:
        theirs = pool.map(workers.publish, [(place, number) for number in range(8)], chunksize=1)
    assert all_differ(mine + theirs)
    with Ledger.open(place, key=bytes(32)) as ledger:
        assert ledger.verify().responses == 9


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_workers_forked_with_an_open_ledger(store, monkeypatch):
    """As a server forks its workers after it has read its configuration, opened its ledger and drawn something."""
    place, options = store
    with Ledger.open(place, create=True, **options | {"key": bytes(32)}) as ledger:
        ledger.publish(
            "first",
            workers.VALUES,
            ut.Promise(columns=["n"], unit=ut.Unit(1, 1)),
            epsilon=workers.WIDE,
            dataset="all",
        )
        monkeypatch.setattr(workers, "opened", ledger)
        with multiprocessing.get_context("fork").Pool(4) as pool:
            theirs = pool.map(workers.publish, [(place, number) for number in range(12)], chunksize=1)
        mine = [workers.publish((place, "mine"))]
        assert all_differ(mine + theirs)
        assert ledger.verify().responses == 14
        assert [ledger.view(f"w{number}", epsilon=workers.WIDE)["n"] for number in range(12)] == theirs


SPARK = """
import json
from pyspark.sql import SparkSession
from spark import started
from streams import drawn_elsewhere

with started(SparkSession.builder.master("local[4]")) as spark:
    words = spark.sparkContext.parallelize(range(64), 64).map(drawn_elsewhere).collect()
print(json.dumps([[int(word) for word in one] for one in words]))
"""


@pytest.mark.slow
@pytest.mark.spark
def test_spark_executors_draw_noise_of_their_own():
    """In a process of its own: a session that is stopped would be stopped for the tests that share one, too."""
    why = missing()
    if why is not None:
        pytest.skip(why)
    paths = {"PYTHONPATH": os.pathsep.join([str(SOURCES), str(Path(__file__).parents[1])])}
    said = python("-c", SPARK, env={**os.environ, **paths, "SPARK_LOCAL_IP": "127.0.0.1"}).stdout
    words = json.loads(said)
    assert len(words) == 64
    assert all_differ(words)
