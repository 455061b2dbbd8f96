"""Spark sessions on this machine for the tests that need one: started where pyspark and Java are there."""

import os
import shutil
import signal
import sys
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from running import SOURCES, python

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
    "spark.speculation": "true",
    "spark.log.level": "OFF",
    "spark.sql.warehouse.dir": "/tmp/spark-warehouse",
    "spark.ui.showConsoleProgress": "false",
}
"""Of every session: speculation, small batches, so that there are several, and no compiling of what runs once."""

CONNECT = ("grpc", "grpc_status", "google.rpc", "pandas")
"""The modules that the client of Spark Connect needs beside pyspark: `pip install "pyspark[connect]"`."""

OF_SPARK = [
    pytest.mark.spark,
    *map(
        pytest.mark.filterwarnings,
        (
            "ignore::FutureWarning",
            "ignore:distutils Version classes:DeprecationWarning",  # of pyspark 3.5
            "ignore:unclosed <socket:ResourceWarning",  # of pyspark: a socket that is collected after its JVM has gone
            "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning",
        ),
    ),
]
"""The marks of a test that starts Spark: its name, and warnings of pyspark's own."""


def missing():
    """Why no session can be started here; None where one can."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed: pip install --group spark"
    return None if shutil.which("java") else "there is no Java: apt-get install openjdk-17-jre-headless"


def missing_connect():
    """Why no server of Spark Connect can be started here; None where one can."""
    why = missing()
    if why is not None:
        return why
    if not all(find_spec(name.partition(".")[0]) and find_spec(name) for name in CONNECT):
        return 'the client of Spark Connect is not installed: pip install "pyspark[connect]"'
    import pyspark

    jars = Path(pyspark.__file__).parent / "jars"
    return None if list(jars.glob("spark-connect_*.jar")) else "this Spark comes without a Connect server: 4 has one"


@cache
def session():
    """The session of this process, on two threads, with speculation on and small batches, so that there are several."""
    why = missing()
    if why is not None:
        pytest.skip(why)
    from pyspark.sql import SparkSession

    return started(SparkSession.builder.master("local[2, 4]"))  # a task that fails is tried again


def started(builder):
    """The session of a builder, with the settings of all."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers' Python is that of the driver
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return builder.getOrCreate()


def on(spark, columns, parts=4):
    """Columns as a dataframe of a session, in so many partitions."""
    names, cells = list(columns), list(zip(*columns.values(), strict=True))
    return spark.createDataFrame(cells, names).repartition(parts)


class Losses:
    """Frames that lose a process in the middle of a batch, once whenever they were told to.

    Args:
        folder: that all workers share.
        who: is lost: the "worker" that evaluates Python, or the JVM of its "executor", with all that it has computed.
    """

    def __init__(self, folder, who="worker"):
        self.armed, self.who = str(Path(folder) / "armed"), who

    def frame(self, frame):
        """The frame, of which a part is lost wherever this was asked for."""
        # Parts of a frame are lost where the engine maps them.
        # Tasks fail within the frame that the library makes of a table.
        from utmost.tables.engines.engines import engine_frame

        return engine_frame(frame).mapped(lossy(self.armed, self.who), engine_frame(frame).schema(), {})

    def once(self, work):
        """What the work gives, in which exactly one process was lost."""
        self.arm()
        done = work()
        assert not os.path.exists(self.armed)
        return done

    def arm(self):
        with open(self.armed, "x", encoding="utf-8"):
            pass


def lossy(armed, who):
    """A map of batches as they are, in which one worker finds the file, and kills; nested, so pickled by value."""

    def lost():
        process = os.getpid()
        if isinstance(who, int):
            return who
        while (
            who == "executor" and b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_bytes()
        ):
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        return process

    def lost_where_armed(batch):
        try:
            os.unlink(armed)  # one worker of all finds it
        except FileNotFoundError:
            return batch
        os.kill(lost(), signal.SIGKILL)
        return batch

    return lost_where_armed


def driven(session, work, folder, check=True):
    """A driver in a process of its own: `spark_drivers.py` with a kind of session, and what to do in a folder."""
    here = Path(__file__).parent
    paths = {"PYTHONPATH": os.pathsep.join([str(SOURCES), str(here)])}
    return python(
        here / "spark_drivers.py",
        session,
        work,
        folder,
        check=check,
        env={**os.environ, **paths, "SPARK_LOCAL_IP": "127.0.0.1"},
    )
