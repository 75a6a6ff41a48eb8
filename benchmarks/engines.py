"""Learn and score film reviews on Spark: bayleaf from rows and from files, against Spark ML, in one run.

Each side has a Spark session of its own on two cores (`local-cluster[1,2,...]`), so that the driver's memory
is its own, and does all of its work ten times on 2,000 rows before anything is measured: on either side
classes are loaded, code is compiled and Python workers are started. Then each does all of its work, on all
rows, as often as there are rounds and for a minute at least; times are the best of them, with the processor
time of all processes beside them, which says more on a machine with other work. What rows, files and a single
process have learned must be equal, byte for byte.

Memory is measured in two ways, each the same for both sides. *Live*, in a session of its own, three rounds
on imdb once, whose words are those of all copies: what is left in the driver's JVM after a full collection,
at its peak, with all that grows outside its heap (`live_memory.py`), and Python's resident peak, all over
what was there after the rounds on 2,000 rows. A collection meets a peak by luck, so the largest round counts.
Spark needs some of it itself, for plans, metrics and generated code: as much as it takes to count the rows in
the same session, as often. What the work takes over that decides.
*Resident*, while times are taken: what the driver's processes grow by from the first round on to their peak.
That is mostly garbage which Spark's default collector has not collected yet: with 75,000 words it was 5 to
268 MB for Spark ML, and 9 to 53 for bayleaf. So it is told, and decides nothing.

`--pairs` learns pairs of words, too (1.5 million terms; NGram beside the tokens for Spark ML), where the
model is most of what a driver holds; with `--driver-memory` one sees which heap is enough.

    BAYLEAF_DATA=~/corpora python benchmarks/engines.py            # imdb.train 20 times over, 665 MB
    BAYLEAF_DATA=~/corpora python benchmarks/engines.py --copies 1 # a first look
    BAYLEAF_DATA=~/corpora python benchmarks/engines.py --copies 1 --rounds 1 --pairs --driver-memory 512m
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from live_memory import PAUSE, LivePeak, java_options
from measure import data_folder

MUSTS = {"learn, rows": 10.0, "learn, files": 20.0, "score": 10.0}
MEMORY_MUST = 0.25
FILES = 4
WARM_ROWS = 2000
WARM_ROUNDS = 10
COUNTED = 4
"""So often rows are counted in a round."""
LIVE_ROUNDS = 3
LEAST_SECONDS = 60.0
"""Rounds go on for so long at least: until then the JVM is still compiling what it has seen to be hot."""
SMALL_BUFFERS = {"spark.broadcast.blockSize": "256k"}
"""Every stage takes a buffer of this size for its tasks, 4 MB if nothing is said, which a collection meets or
not: of a driver that holds ten, chance would decide."""
MOST_PAIRS = 1 << 22
"""More terms than words and pairs of imdb have: neither side leaves one out."""
ALL, ONCE, WARM = "all", "once", "warm"
"""The folders of the files."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--copies", type=int, default=20, help="how often imdb.train is there")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", action="store_true", help="pairs of words, too")
    parser.add_argument("--driver-memory", default="2g", help="the heap of the driver")
    parser.add_argument("--pause", type=float, default=PAUSE, help="seconds between full collections")
    parser.add_argument("--live", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--side", choices=["ours", "theirs"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        print(json.dumps(live_side(given) if given.live else side(given)))
        return
    with tempfile.TemporaryDirectory() as folder:
        megabytes = prepare(Path(folder), given.copies)
        found = {name: measured(name, folder, given) for name in ("theirs", "ours")}
        live = {name: measured(name, folder, given, ["--live"]) for name in found}
        found["ours"]["hashes"]["one process"] = learned_here(Path(folder) / ALL, 1 + given.pairs)
    report(found, megabytes)
    for name in ("counting rows", "all of it"):
        report_memory(f"live, {name}", {side: own[name] for side, own in live.items()})
    over = {
        side: {part: size - own["counting rows"][part] for part, size in own["all of it"].items()}
        for side, own in live.items()
    }
    report_memory("driver, live", over, MEMORY_MUST)
    report_memory("resident", {name: own["memory"] for name, own in found.items()})
    report_hashes(found["ours"]["hashes"])


def prepare(folder: Path, copies: int) -> float:
    """The reviews as Parquet, for both sides, in some files; gives the megabytes of text."""
    import pyarrow as pa

    lines = (data_folder() / "imdb.train.tsv").read_text("utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    numbers = {name: float(i) for i, name in enumerate(sorted(set(labels)))}
    table = pa.table({"text": texts, "label": labels, "number": [numbers[label] for label in labels]})
    write(table, folder / ALL, copies)
    write(table, folder / ONCE, 1)
    write(table.slice(0, WARM_ROWS), folder / WARM, 1)
    return copies * sum(len(text.encode()) for text in texts) / 1e6


def write(table: Any, folder: Path, copies: int) -> None:
    import pyarrow.parquet as pq

    folder.mkdir()
    for part in range(FILES):
        rows = table.slice(len(table) * part // FILES, len(table) // FILES)
        with pq.ParquetWriter(folder / f"part-{part}.parquet", rows.schema, compression="zstd") as writer:
            for _ in range(copies):
                writer.write_table(rows)


def measured(name: str, folder: str, given: argparse.Namespace, more: Sequence[str] = ()) -> dict[str, Any]:
    command = [sys.executable, __file__, "--side", name, "--folder", folder, "--rounds", str(given.rounds)]
    command += ["--driver-memory", given.driver_memory, "--pause", str(given.pause)]
    command += [*(["--pairs"] if given.pairs else []), *more]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} did not end with a heap of {given.driver_memory} for the driver.")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def session(master: str = "local-cluster[1,2,3072]", memory: str = "2g", java: str = "", **more: str) -> Any:
    """Spark; the memory and the options are those of the driver's JVM."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("bayleaf benchmark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": f"-XX:+ExitOnOutOfMemoryError {java}",
        "spark.executor.memory": "3g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        **more,
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def side(given: argparse.Namespace) -> dict[str, Any]:
    spark = session(memory=given.driver_memory)
    work = warmed(spark, given)
    before = driver_memory(spark, reset=True)
    runs, start = list[dict[str, Any]](), time.perf_counter()
    while len(runs) < given.rounds or time.perf_counter() - start < LEAST_SECONDS:
        runs.append(work(ALL))
    after = driver_memory(spark)
    spark.stop()
    found: dict[str, Any] = {key: min(run[key] for run in runs) for key in runs[0] if key != "hashes"}
    found["memory"] = {key: after[key] - before[key] for key in after}
    return {**found, "hashes": runs[0].get("hashes")}


def live_side(given: argparse.Namespace) -> dict[str, dict[str, int]]:
    """What the driver must hold in the largest of some rounds, and to count the rows."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "collections"
        spark = session(memory=given.driver_memory, java=java_options(log), **SMALL_BUFFERS)
        work = warmed(spark, given)
        rows = spark.read.parquet(str(Path(given.folder) / ONCE))

        def count_rows() -> None:
            for _ in range(COUNTED):
                rows.groupBy("number").count().collect()

        def growth(job: Callable[[], object]) -> dict[str, int]:
            driver_memory(spark, reset=True)
            with LivePeak(spark, log, given.pause) as live:
                job()
                after = driver_memory(spark)["Python"]  # before the log is read
            found = {**live.growth, "Python": after - idle}
            print({part: round(size / 1e6, 1) for part, size in found.items()}, file=sys.stderr)
            return found

        count_rows()
        idle = driver_memory(spark, reset=True)["Python"]  # what it has had once, it keeps
        jobs = {"counting rows": count_rows, "all of it": lambda: work(ONCE)}
        found = {
            name: max((growth(job) for _ in range(LIVE_ROUNDS)), key=total) for name, job in jobs.items()
        }
        spark.stop()
    return found


def warmed(spark: Any, given: argparse.Namespace) -> Callable[[str], dict[str, Any]]:
    """The work of a side on the files in a folder, done often enough on few rows."""
    import_module("bayleaf.spark" if given.side == "ours" else "pyspark.ml.classification")  # is no work
    does = partial(ours, check=not given.live) if given.side == "ours" else theirs

    def work(name: str) -> dict[str, Any]:
        return does(spark, Path(given.folder) / name, 1 + given.pairs)

    for _ in range(WARM_ROUNDS):
        work(WARM)
    return work


def ours(spark: Any, folder: Path, longest: int, check: bool = True) -> dict[str, Any]:
    """Learn rows and score, then learn files; with `check`, save both models for their hashes."""
    import bayleaf.spark
    from bayleaf import words

    times: dict[str, float] = {}
    df = spark.read.parquet(str(folder))
    with clock(times, "learn, rows"):
        model = bayleaf.spark.learn(df, views=[words(longest)], merge_tasks=(1,))
    with clock(times, "score"):
        bayleaf.spark.score(df.select("text", "number"), model).groupBy("prediction").count().collect()
    hashes = {"rows": sha(model)} if check else {}
    del model
    with clock(times, "learn, files"):
        model = bayleaf.spark.learn_files(
            spark, folder, text="text", label="label", views=[words(longest)], tasks=FILES
        )
    return {**times, "hashes": hashes | ({"files": sha(model)} if check else {})}


def learned_here(folder: Path, longest: int) -> str:
    """What one process learns from the same files."""
    from bayleaf import Model, words
    from bayleaf.corpus import open_corpus

    model = Model([words(longest)])
    with open_corpus(str(folder), text="text", label="label") as corpus:
        for batch in corpus:
            model.learn(batch.texts, batch.labels)
    return sha(model)


def sha(model: Any) -> str:
    """The hash of the model's file, so that no copy for this check alone counts as the driver's memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bayleaf"
        model.save(path)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def theirs(spark: Any, folder: Path, longest: int) -> dict[str, Any]:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import CountVectorizer, NGram, RegexTokenizer, SQLTransformer

    times: dict[str, float] = {}
    df = spark.read.parquet(str(folder))
    with clock(times, "learn"):
        tokens = RegexTokenizer(inputCol="text", outputCol="tokens", pattern=r"\w+", gaps=False)
        pairs = [
            NGram(inputCol="tokens", outputCol="pairs", n=2),
            SQLTransformer(statement="SELECT *, concat(tokens, pairs) AS terms FROM __THIS__"),
        ]
        column, size = ("tokens", 1 << 18) if longest == 1 else ("terms", MOST_PAIRS)
        stages = [
            *([tokens] if longest == 1 else [tokens, *pairs]),
            CountVectorizer(inputCol=column, outputCol="features", vocabSize=size),
            NaiveBayes(labelCol="number", featuresCol="features"),
        ]
        model = Pipeline(stages=stages).fit(df)
    with clock(times, "score"):
        model.transform(df.select("text", "number")).groupBy("prediction").count().collect()
    return times


class clock:  # noqa: N801 (a context manager, named like one)
    """Puts the seconds of a block into a dictionary, and the processor time of this process and all below."""

    def __init__(self, times: dict[str, float], name: str) -> None:
        self.times, self.name = times, name

    def __enter__(self) -> None:
        self.before, self.start = processor_time(), time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.times[self.name] = time.perf_counter() - self.start
        self.times[f"{self.name}, processor"] = processor_time() - self.before
        print(self.name, round(self.times[self.name], 2), file=sys.stderr)


def processor_time() -> float:
    """Seconds of this process and of all below it, with those that have ended."""
    ticks = (sum(map(int, fields[11:15])) for fields in processes().values())
    return sum(ticks) / os.sysconf("SC_CLK_TCK")


def processes() -> dict[int, list[str]]:
    """This process and all below it; of each, what the system says of it, from its state on."""
    below: dict[int, list[int]] = {}
    said: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            own, fields = int(path.parent.name), path.read_text().rpartition(")")[2].split()
            below.setdefault(int(fields[1]), []).append(own)
            said[own] = fields
    every = [os.getpid()]
    for process in every:
        every += below.get(process, [])
    return {process: said[process] for process in every if process in said}


def driver_memory(spark: Any, reset: bool = False) -> dict[str, int]:
    """The peak of the resident memory of the driver's JVM and of this process, in bytes.

    With `reset`, only what comes from now on counts.
    """
    jvm = spark.sparkContext._jvm
    pids = {"JVM": jvm.java.lang.ProcessHandle.current().pid(), "Python": os.getpid()}
    if reset:
        gc.collect()
        for _ in range(3):
            jvm.java.lang.System.gc()
            time.sleep(2)  # what was collected is given back to the system little by little
        for pid in pids.values():
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak is what is there now
    return {name: peak(pid) for name, pid in pids.items()}


def peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def report(found: dict[str, dict[str, Any]], megabytes: float) -> None:
    mine, peer = found["ours"], found["theirs"]
    print(f"{megabytes:.0f} MB of text, two cores; seconds; must in parentheses")
    for name, must in MUSTS.items():
        key = "score" if name == "score" else "learn"
        other, work = peer[key], peer[f"{key}, processor"] / mine[f"{name}, processor"]
        ratio = other / mine[name]
        verdict = "reached" if ratio >= must else "missed"
        seconds, rate = mine[name], megabytes / mine[name]
        print(
            f"{name:14} Spark ML {other:8.1f}  bayleaf {seconds:8.1f} ({rate:.0f} MB/s)  "
            f"{ratio:5.1f} x (>= {must:g}) {verdict}; processor time {work:.1f} x"
        )


def report_memory(name: str, found: dict[str, dict[str, int]], must: float | None = None) -> None:
    both = [found["theirs"], found["ours"]]
    peer, mine = (total(own) / 1e6 for own in both)
    share = mine / max(peer, 1e-6)
    said = "decides nothing" if must is None else f"(<= {must:g}) {'reached' if share <= must else 'missed'}"
    print(f"{name:19} Spark ML {peer:6.1f} MB  bayleaf {mine:6.1f} MB  {share:.2f} {said}")
    for side, own in zip(("Spark ML", "bayleaf"), both, strict=True):
        print(f"{'':19} {side}: " + ", ".join(f"{part} {size / 1e6:.1f}" for part, size in own.items()))


def total(parts: dict[str, int]) -> int:
    return sum(parts.values())


def report_hashes(hashes: dict[str, str]) -> None:
    verdict = "equal" if len(set(hashes.values())) == 1 else "DIFFERENT"
    print("SHA-256       ", "  ".join(f"{name} {own[:12]}" for name, own in hashes.items()), verdict)


if __name__ == "__main__":
    main()
