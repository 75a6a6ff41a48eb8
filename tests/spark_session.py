"""One small Spark session for a process of tests; where Spark or Java cannot be had, the tests say so."""

from __future__ import annotations

import os
import shutil
import sys
from functools import cache
from typing import Any

import pytest

QUIET = ("ignore:PySpark does not yet fully support pandas:FutureWarning", "ignore::ResourceWarning")


def needs_spark() -> Any:
    """Skip without PySpark or Java."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install --group engines")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("Spark needs a Java runtime, and there is none.", allow_module_level=True)


SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "512m",
    "spark.driver.maxResultSize": "4m",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.speculation": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
}


@cache
def session() -> Any:
    """A session with two threads, whose tasks may fail three times."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,4]").appName("bayleaf")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark
