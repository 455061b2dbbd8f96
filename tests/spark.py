"""A Spark session on this machine for the tests that need one: started where pyspark and Java are there."""

import shutil
import warnings
from functools import cache
from importlib.util import find_spec

import pytest


def missing():
    """Why no session can be started here; None where one can."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed: pip install --group spark"
    return None if shutil.which("java") else "there is no Java: apt-get install openjdk-17-jre-headless"


@cache
def session():
    """The session of this process, on two threads, with speculation on and small batches, so that there are several."""
    why = missing()
    if why is not None:
        pytest.skip(why)
    from pyspark.sql import SparkSession

    said = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
        "spark.speculation": "true",
        "spark.log.level": "OFF",
        "spark.sql.warehouse.dir": "/tmp/spark-warehouse",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2, 4]")  # a task that fails is tried again
    for name, value in said.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return builder.getOrCreate()
