"""The rows of the speed table that are about the command line: whole processes, files, pipes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from measure import Duel, UnavailableError, data_folder, process_seconds, race
from peers import wc_words
from registry import Bench, at_least, at_most, row

COMMAND = [sys.executable, "-m", "bayleaf"]

# Reads lines, answers them a thousand at a time, as one would write it for speed.
SCRIPT = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    counter, model = pickle.load(file)
lines = []
def answer():
    sys.stdout.write("".join(label + "\\n" for label in model.predict(counter.transform(lines))))
    lines.clear()
for line in sys.stdin:
    lines.append(line)
    if len(lines) == 1000:
        answer()
if lines:
    answer()
"""


def train_file(name: str) -> Path:
    path = data_folder() / f"{name}.tsv"
    if not path.is_file():
        raise UnavailableError(f"{path.name} is not in the folder BAYLEAF_DATA names")
    return path


@cache
def repeated(folder: Path, times: int) -> Path:
    """imdb.train.tsv several times over; removed with the folder of the run."""
    path, once = folder / "long.tsv", train_file("imdb.train").read_bytes()
    with path.open("wb") as file:
        for _ in range(times):
            file.write(once)
    return path


def training(source: Path, model: Path) -> list[str | Path]:
    return [*COMMAND, "train", "--quiet", "--plain", source, "-o", model]


@row(
    "command-train",
    "bayleaf train --plain, imdb.train 20 times over, start included",
    "wc -w",
    at_least(1, 2),
    group="command line",
)
def command_train(bench: Bench) -> Duel:
    """Quick runs take the file four times over."""
    long = repeated(bench.folder, bench.rounds(4, 20))
    wc_words(long)
    ours = partial(process_seconds, training(long, bench.folder / "long.bayleaf"))
    return race(ours, partial(wc_words, long), bench.rounds(3, 5), megabytes=long.stat().st_size / 1e6)


@row(
    "command-memory",
    "peak memory of bayleaf train, imdb.train 20 times over",
    "the same, once",
    at_most(1.2, 1.05),
    group="command line",
)
def command_memory(bench: Bench) -> Duel:
    long, model = repeated(bench.folder, bench.rounds(4, 20)), bench.folder / "memory.bayleaf"
    ours, theirs = (partial(peak, training(source, model)) for source in (long, train_file("imdb.train")))
    return race(ours, theirs, bench.rounds(2, 5), best=False, unit="B")


def peak(command: list[str | Path]) -> float:
    """The most memory that a process held."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}")
    return used.ru_maxrss * (1.0 if sys.platform == "darwin" else 1024.0)


@row(
    "command-classify",
    "bayleaf classify as a filter, imdb.test 4 times over",
    "scikit-learn script",
    at_least(20, 40),
    group="command line",
)
def command_classify(bench: Bench) -> Duel:
    """Whole processes at the end of `cat`; both have learned imdb.train by words."""
    lines, folder = bench.folder / "lines.txt", bench.folder
    texts = [line.partition(b"\t")[2] for line in train_file("imdb.test").read_bytes().splitlines()]
    lines.write_bytes((b"\n".join(texts) + b"\n") * bench.rounds(1, 4))
    script = sklearn_filter(folder)
    process_seconds(training(train_file("imdb.train"), folder / "filter.bayleaf"))
    ours: list[str | Path] = [*COMMAND, "classify", "--quiet", folder / "filter.bayleaf"]
    theirs: list[str | Path] = [sys.executable, script, folder / "filter.pickle"]
    return race(
        filtering(ours, lines),
        filtering(theirs, lines),
        bench.rounds(2, 3),
        megabytes=lines.stat().st_size / 1e6,
    )


def filtering(command: list[str | Path], lines: Path) -> Callable[[], float]:
    """Seconds of `cat lines | command`."""
    quoted = " ".join(f"'{part}'" for part in command)
    return partial(process_seconds, ["/bin/sh", "-c", f"cat '{lines}' | {quoted}"])


def sklearn_filter(folder: Path) -> Path:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    rows = [line.partition("\t") for line in train_file("imdb.train").read_text("utf-8").splitlines()]
    counter = CountVectorizer(token_pattern=r"\w+")
    model = MultinomialNB().fit(
        counter.fit_transform([text for _, _, text in rows]), [label for label, _, _ in rows]
    )
    (folder / "filter.pickle").write_bytes(pickle.dumps((counter, model)))
    script = folder / "filter.py"
    script.write_text(SCRIPT)
    return script
