"""Learn and score film reviews on Spark: bayleaf from rows and from files, against Spark ML, in one run.

Each side has a Spark session of its own on two cores (`local-cluster[1,2,...]`), so that the driver's memory
is its own, and does all of its work once on 2,000 rows before anything is measured: on either side classes
are loaded and Python workers started. Times are of learning and of scoring all rows, best of the rounds.
Memory is what the driver's processes (the JVM, after a collection of its garbage, and Python) grow by from
there to their peak while they learn rows and score.

    BAYLEAF_DATA=~/corpora python benchmarks/engines.py            # imdb.train 20 times over, 665 MB
    BAYLEAF_DATA=~/corpora python benchmarks/engines.py --copies 1 # a first look
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from measure import data_folder

MUSTS = {"learn, rows": 10.0, "learn, files": 20.0, "score": 10.0}
MEMORY_MUST = 0.25
FILES = 4


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--copies", type=int, default=20, help="how often imdb.train is there")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--side", choices=["ours", "theirs"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        print(json.dumps(side(given.side, Path(given.folder), given.rounds)))
        return
    with tempfile.TemporaryDirectory() as folder:
        megabytes = prepare(Path(folder), given.copies)
        found = {name: measured(name, folder, given.rounds) for name in ("theirs", "ours")}
    report(found, megabytes)


def prepare(folder: Path, copies: int) -> float:
    """The reviews as Parquet, for both sides, in some files; gives the megabytes of text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    lines = (data_folder() / "imdb.train.tsv").read_text("utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    numbers = {name: float(i) for i, name in enumerate(sorted(set(labels)))}
    table = pa.table({"text": texts, "label": labels, "number": [numbers[label] for label in labels]})
    for part in range(FILES):
        rows = table.slice(len(table) * part // FILES, len(table) // FILES)
        with pq.ParquetWriter(folder / f"part-{part}.parquet", rows.schema, compression="zstd") as writer:
            for _ in range(copies):
                writer.write_table(rows)
    return copies * sum(len(text.encode()) for text in texts) / 1e6


def measured(name: str, folder: str, rounds: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--side", name, "--folder", folder, "--rounds", str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def session() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[1,2,3072]").appName("bayleaf benchmark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.executor.memory": "3g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def side(name: str, folder: Path, rounds: int) -> dict[str, Any]:
    spark = session()
    df = spark.read.parquet(str(folder))
    df.select("number").summary("count").collect()  # the executor has started, and knows the files
    work = ours if name == "ours" else theirs
    import_module("bayleaf.spark" if name == "ours" else "pyspark.ml.classification")  # is no work
    work(spark, df.limit(2000))
    before = driver_memory(spark, reset=True)
    runs = [work(spark, df) for _ in range(rounds)]
    memory = driver_memory(spark) - before
    if name == "ours":
        runs += [files(spark, folder) for _ in range(rounds + 1)][1:]
    names = {key for run in runs for key in run}
    found: dict[str, Any] = {key: min(run[key] for run in runs if key in run) for key in names}
    found["memory"] = memory
    spark.stop()
    return found


def ours(_spark: Any, df: Any) -> dict[str, float]:
    import bayleaf.spark
    from bayleaf import words

    times: dict[str, float] = {}
    with clock(times, "learn, rows"):
        model = bayleaf.spark.learn(df, views=[words()], merge_tasks=(1,))
    with clock(times, "score"):
        answers = bayleaf.spark.score(df.select("text", "number"), model)
        answers.groupBy("prediction").count().collect()
    return times


def files(spark: Any, folder: Path) -> dict[str, float]:
    import bayleaf.spark
    from bayleaf import words

    times: dict[str, float] = {}
    with clock(times, "learn, files"):
        model = bayleaf.spark.learn_files(
            spark, folder, text="text", label="label", views=[words()], tasks=FILES
        )
    assert model.n_documents
    return times


def theirs(_spark: Any, df: Any) -> dict[str, float]:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import CountVectorizer, RegexTokenizer

    times: dict[str, float] = {}
    with clock(times, "learn"):
        stages = [
            RegexTokenizer(inputCol="text", outputCol="tokens", pattern=r"\w+", gaps=False),
            CountVectorizer(inputCol="tokens", outputCol="features"),
            NaiveBayes(labelCol="number", featuresCol="features"),
        ]
        model = Pipeline(stages=stages).fit(df)
    with clock(times, "score"):
        model.transform(df.select("text", "number")).groupBy("prediction").count().collect()
    return times


class clock:  # noqa: N801 (a context manager, named like one)
    """Puts the seconds of a block into a dictionary."""

    def __init__(self, times: dict[str, float], name: str) -> None:
        self.times, self.name = times, name

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.times[self.name] = time.perf_counter() - self.start


def driver_memory(spark: Any, reset: bool = False) -> int:
    """The peak of the resident memory of the driver's JVM and of this process, in bytes.

    With `reset`, only what comes from now on counts.
    """
    jvm = spark.sparkContext._jvm
    pids = (jvm.java.lang.ProcessHandle.current().pid(), os.getpid())
    if reset:
        gc.collect()
        jvm.java.lang.System.gc()
        for pid in pids:
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak is what is there now
    return sum(_peak(pid) for pid in pids)


def _peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def report(found: dict[str, dict[str, Any]], megabytes: float) -> None:
    mine, peer = found["ours"], found["theirs"]
    print(f"{megabytes:.0f} MB of text, two cores; seconds; must in parentheses")
    for name, must in MUSTS.items():
        other = peer["score" if name == "score" else "learn"]
        ratio = other / mine[name]
        verdict = "reached" if ratio >= must else "missed"
        seconds, rate = mine[name], megabytes / mine[name]
        print(
            f"{name:14} Spark ML {other:8.1f}  bayleaf {seconds:8.1f} ({rate:.0f} MB/s)  "
            f"{ratio:5.1f} x (>= {must:g}) {verdict}"
        )
    share = mine["memory"] / max(peer["memory"], 1)
    verdict = "reached" if share <= MEMORY_MUST else "missed"
    print(
        f"driver memory  Spark ML {peer['memory'] / 1e6:6.0f} MB  bayleaf {mine['memory'] / 1e6:6.0f} MB  "
        f"{share:.2f} (<= {MEMORY_MUST:g}) {verdict}"
    )


if __name__ == "__main__":
    main()
