"""Drivers of Spark for `spark.driven`: what the session of the tests cannot be, and a driver that dies at a point.

Run: python spark_drivers.py connect|cluster|local WORK FOLDER
"""

import json
import os
import signal
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import utmost as ut
from counting_words import counted_with
from spark import SETTINGS, Losses, on, started

KEY = bytes(range(32))
PROMISE = {"columns": "visits", "public": "ward", "id_column": "ward", "unit": ut.Unit(1, 1)}
COUNTED = {"person": "ward", "at_most": 1, "key": KEY}


def wards(rows=400):
    return {"ward": [f"w{i}" for i in range(rows)], "visits": [i % 97 for i in range(rows)]}


def by_ward(frame):
    return {row["ward"]: row["visits"] for row in frame.collect()}


def connect(folder):
    """A client of Spark Connect, and a server that it starts on this machine."""
    from pyspark.sql import SparkSession

    return started(SparkSession.builder.remote("local[2]"))


def local(folder):
    """A session whose JVM ends with this process."""
    from pyspark.sql import SparkSession

    return started(SparkSession.builder.master("local[2, 4]"))


def cluster(folder):
    """Two executors, each a process with a core; what they write aside lies in the folder, not beside pyspark."""
    import pyspark
    from pyspark.sql import SparkSession

    home = folder / "home"
    home.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    os.environ["SPARK_HOME"] = str(home)
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.executor.memory", "512m")
    builder = builder.config("spark.executor.extraJavaOptions", SETTINGS["spark.driver.extraJavaOptions"])
    return started(builder.config("spark.speculation.multiplier", "1.2").config("spark.locality.wait", "0"))


def ledger_of(folder):
    from utmost.testing import seeded_ledger

    return seeded_ledger(folder / "there.db", 0, key=KEY)


def answers(spark, folder, once=lambda work: work(), lossy=lambda frame: frame):
    """Published, evaluated twice, relaxed and viewed; in each of the first stages a process may be lost."""
    frame = lossy(on(spark, wards()))
    with ledger_of(folder) as ledger:
        lower = once(
            lambda: ledger.publish("visits", frame, ut.Promise(**PROMISE), epsilon="1/2", request="monday").table
        )
        found = {"published": once(lambda: by_ward(lower)), "repartitioned": by_ward(lower.repartition(5))}
        higher = once(lambda: ledger.relax("visits", frame, epsilon=2).table)
        found["relaxed"] = by_ward(higher)
        found["viewed"] = by_ward(ledger.view("visits", table=higher, table_at=2, epsilon=1).table)
    return found


def lose_executors(spark, folder):
    """The answers, while an executor is killed as it is published, evaluated and relaxed: three in all."""
    losses = Losses(folder, "executor")
    return answers(spark, folder, losses.once, losses.frame)


def everything(spark, folder):
    """Through all doors: counted, its keys, published, relaxed, viewed, kept; and what is refused, by its error."""
    from utmost.counting import count_keys
    from utmost.errors import UtmostError
    from utmost.ledger import ResponseFolder
    from utmost.workloads import Domain, plain

    domain, frame = Domain(visits=plain(list(range(97)))), on(spark, wards())
    found = answers(spark, folder)
    found["counted"] = counted_with(frame, domain=domain, **COUNTED).cells.tolist()
    found["keys"] = count_keys(frame, column="visits", **COUNTED)
    made = ut.release(frame, ut.Promise(**PROMISE), epsilon=1, once=True).table
    found["same twice"] = by_ward(made) == by_ward(made.repartition(2))
    with ledger_of(folder) as ledger:
        kept = ResponseFolder(ledger, folder / "responses")
        kept.keep("visits", ledger.relax("visits", frame, epsilon=2).table, epsilon=2)
        found["kept"] = by_ward(spark.read.parquet(*kept.files("visits", epsilon=2)))

    def refused(work):
        try:
            work()
        except UtmostError as error:
            return f"{type(error).__name__}: {error}"

    nobody = on(spark, {"ward": ["a", None], "visits": [1, 2]})
    with ledger_of(folder) as ledger:
        found["refused"] = [
            refused(lambda: ledger.relax("visits", frame.limit(399), epsilon=3).table),
            refused(lambda: ledger.relax("visits", frame.union(frame.limit(1)), epsilon=3).table),
            refused(lambda: ledger.relax("visits", frame.drop("visits"), epsilon=3).table),
            refused(lambda: counted_with(nobody, domain=domain, **COUNTED)),
            refused(lambda: ut.release(nobody, ut.Promise(**PROMISE), epsilon=1, once=True)),
        ]
    return found


def dies(call, when):
    """A function around which this process is killed, "before" or "after" what it does."""

    def dying(*arguments, **options):
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        call(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    return dying


def die(what, when):
    """Work of a driver that is killed: "during" a stage, "before" or "after" a commit, or before a folder is named."""

    def work(spark, folder):
        from utmost.ledger import ResponseFolder
        from utmost.publish.ledger import response_folder, sqlite_store

        losses = Losses(folder, os.getpid())
        frame = losses.frame(on(spark, wards()))
        with ledger_of(folder) as ledger:
            if what == "keep":
                made = ledger.publish("visits", frame, ut.Promise(**PROMISE), epsilon="1/2", request="monday").table
            if when == "during":
                losses.arm()
            elif what == "keep":
                response_folder.os = Renaming(dies(os.replace, when))
            else:
                sqlite_store.transaction = around_commit(sqlite_store.transaction, when)
            if what == "publish":
                ledger.publish("visits", frame, ut.Promise(**PROMISE), epsilon="1/2", request="monday")
            elif what == "relax":
                ledger.relax("visits", frame, epsilon=2)
            else:
                ResponseFolder(ledger, folder / "responses").keep("visits", made, epsilon="1/2")
        return "nobody died"

    return work


class Renaming:
    """The module os with another `replace`."""

    def __init__(self, replace):
        self.replace = replace

    def __getattr__(self, name):
        return getattr(os, name)


def around_commit(transaction, when):
    """SQLite's transactions, the first of which that writes kills this process before or after its COMMIT."""

    @contextmanager
    def dying(path, timeout, *, write):
        with transaction(path, timeout, write=write) as connection:
            yield connection
            if write and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
        if write:
            os.kill(os.getpid(), signal.SIGKILL)

    return dying


WORKS = {"everything": everything, "lose_executors": lose_executors} | {
    f"{what}-{when}": die(what, when) for what in ("publish", "relax", "keep") for when in ("during", "before", "after")
}


def main(session, work, folder):
    warnings.simplefilter("ignore")
    place = Path(folder)
    spark = {"connect": connect, "cluster": cluster, "local": local}[session](place)
    found = WORKS[work](spark, place)
    spark.stop()
    (place / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
