"""A model above 1 GB, which Spark does not bring to the driver at once: one process, and Spark with `ranges`.

Random texts of random words have pairs that hardly repeat, so that the model grows with them. One process
learns them; then Spark on two cores (`local[2]`, driver and executors in one JVM), by ranges of terms, from
the same files. Printed are seconds and the peak of the resident memory of each kind of process; the models
must be equal, byte for byte. Then the same without `ranges`: it must be refused, and say what to do.

    python benchmarks/engines_large.py                 # 48,000 texts, 1.2 GB, some minutes and 8 GB of memory
    python benchmarks/engines_large.py --texts 4000    # a first look, 100 MB
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from engines import peak, processes, processor_time, session

FILES = 8
WORDS, VOCABULARY = 1000, 40_000
STEPS = ("one process", "ranges", "without ranges")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=48_000)
    parser.add_argument("--ranges", type=int, default=8)
    parser.add_argument("--memory", default="3g", help="of the JVM")
    parser.add_argument("--folder", help="where the texts are, or are written")
    parser.add_argument("--step", choices=STEPS, help="only this one, in this process")
    given = parser.parse_args()
    if given.step:
        print(json.dumps(step(given, Path(given.folder))))
        return
    with tempfile.TemporaryDirectory() as made:
        given.folder = given.folder or str(Path(made) / "texts")
        write(Path(given.folder), given.texts)
        found = {name: measured(given, name) for name in STEPS}
    digests = {own["digest"] for own in found.values() if "digest" in own}
    print("SHA-256", "equal" if len(digests) == 1 else "DIFFERENT")


def write(folder: Path, texts: int) -> None:
    """The texts as Parquet, with two labels in turn."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if folder.exists():
        return
    folder.mkdir()
    draw = np.random.default_rng(1)
    names = np.array([f"w{i:x}" for i in range(VOCABULARY)])
    for part in range(FILES):
        rows = draw.integers(0, VOCABULARY, (texts // FILES, WORDS))
        table = {
            "text": [" ".join(names[row]) for row in rows],
            "label": ["ab"[i % 2] for i in range(len(rows))],
        }
        pq.write_table(pa.table(table), folder / f"{part}.parquet", compression="zstd")


def measured(given: argparse.Namespace, name: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--step", name, "--folder", given.folder]
    command += ["--texts", str(given.texts), "--ranges", str(given.ranges), "--memory", given.memory]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    report(name, found)
    return found


def step(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    if given.step == "one process":
        return learned(lambda: here(folder))
    spark = session("local[2]", given.memory)
    import bayleaf.spark
    from bayleaf import words

    ranges = given.ranges if given.step == "ranges" else 1
    asked: dict[str, Any] = {"text": "text", "label": "label", "views": [words(2)], "tasks": FILES}
    start = time.perf_counter()
    try:
        return learned(lambda: bayleaf.spark.learn_files(spark, folder, ranges=ranges, **asked))
    except RuntimeError as error:
        return {"refused": str(error), "seconds": time.perf_counter() - start}
    finally:
        spark.stop()


def here(folder: Path) -> Any:
    from bayleaf import Model, words
    from bayleaf.corpus import open_corpus

    model = Model([words(2)], threads=2)
    with open_corpus(str(folder), text="text", label="label", batch_bytes=16 << 20) as corpus:
        for batch in corpus:
            model.learn(batch.texts, batch.labels)
    return model


def learned(learn: Callable[[], Any]) -> dict[str, Any]:
    """Seconds, peaks of memory, and what was learned."""
    with Watch() as watch:
        start, before = time.perf_counter(), processor_time()
        model = learn()
        seconds, processor = time.perf_counter() - start, processor_time() - before
    data = model.to_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return {
        "seconds": seconds,
        "processor": processor,
        "bytes": len(data),
        "digest": digest,
        "peaks": watch.peaks,
    }


class Watch(threading.Thread):
    """The peak of the resident memory of this process, of Java and of the largest Python worker below it."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peaks: dict[str, int] = {}
        self._done = threading.Event()

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self.join()

    def run(self) -> None:
        while not self._done.wait(0.2):
            self._look()
        self._look()

    def _look(self) -> None:
        for process in processes():
            with suppress(OSError, StopIteration):  # it has ended meanwhile
                kind = "Python" if process == os.getpid() else _kind(process)
                self.peaks[kind] = max(self.peaks.get(kind, 0), peak(process))


def _kind(process: int) -> str:
    return "JVM" if Path(f"/proc/{process}/comm").read_text().strip() == "java" else "worker"


def report(name: str, own: dict[str, Any]) -> None:
    if "refused" in own:
        print(f"{name:15} {own['seconds']:6.1f} s  refused: {own['refused']}", flush=True)
        return
    peaks = ", ".join(f"{kind} {peak / 1e9:.1f}" for kind, peak in own["peaks"].items())
    print(
        f"{name:15} {own['seconds']:6.1f} s ({own['processor']:.1f} s of processors)  "
        f"{own['bytes'] / 1e6:.0f} MB  {own['digest'][:12]}  peaks in GB: {peaks}",
        flush=True,
    )


if __name__ == "__main__":
    main()
