"""How speed and memory are measured: rivals take turns in one run, heavy work has a process of its own."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class UnavailableError(Exception):
    """A row cannot be measured here, for a reason that is no failure: a peer or a corpus is absent."""


class Learner(Protocol):
    """What bayleaf and every peer that works on strings in this process look like to a row."""

    def learn(self, texts: list[str], labels: list[str]) -> None: ...

    def predict(self, texts: list[str]) -> Sequence[Any]: ...


@dataclass(frozen=True)
class Source:
    """Which documents of which file: the first, and then every so-many-th, so that all classes stay in."""

    name: str
    share: float = 1.0

    def read(self) -> Corpus:
        return _read(self)


@dataclass(frozen=True)
class Corpus:
    """Documents as UTF-8 bytes, from which each repetition makes strings of its own."""

    texts: list[bytes]
    labels: list[str]

    def strings(self) -> list[str]:
        """New strings: CPython remembers a string's UTF-8 form, and a repetition must not find it made."""
        return [text.decode() for text in self.texts]

    @property
    def megabytes(self) -> float:
        return sum(map(len, self.texts)) / 1e6


@cache
def _read(source: Source) -> Corpus:
    path = data_folder() / f"{source.name}.tsv"
    if not path.is_file():
        raise UnavailableError(f"{path.name} is not in the folder BAYLEAF_DATA names")
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n")[:: round(1 / source.share)]
    pairs = [line.partition(b"\t") for line in lines]
    return Corpus([text for _, _, text in pairs], [label.decode() for label, _, _ in pairs])


def data_folder() -> Path:
    """The folder of corpora, or an end to the run that says how to name it."""
    folder = os.environ.get("BAYLEAF_DATA", "")
    if not folder or not Path(folder).is_dir():
        print(
            f"BAYLEAF_DATA must name the folder that holds imdb.train.tsv and the other corpora "
            f"(label, tab, text on each line), but it is {folder!r}. "
            f"Set it, for example: BAYLEAF_DATA=~/corpora python benchmarks/speed.py --quick",
            file=sys.stderr,
        )
        raise SystemExit(2)
    return Path(folder)


@dataclass
class Duel:
    """What both sides took, in seconds or bytes; `best` of the repetitions, or the median."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    best: bool = True
    unit: str = "s"
    megabytes: float | None = None
    failure: str = ""
    remark: str = ""

    def pick(self, times: list[float]) -> float | None:
        if not times:
            return None
        return min(times) if self.best else statistics.median(times)

    def ratio(self, more_is_better: bool) -> float | None:
        """How many times faster we are, or, where less is better, our share of the peer's figure."""
        ours, theirs = self.pick(self.ours), self.pick(self.theirs)
        if not ours or not theirs:
            return None
        return theirs / ours if more_is_better else ours / theirs


def race(
    ours: Callable[[], float], theirs: Callable[[], float], rounds: int, *, best: bool = True, **about: Any
) -> Duel:
    """Both sides in turn, `rounds` times, so that a slow spell of the machine falls on both.

    Each side prepares what it needs, times only the work itself and returns that. If our side fails, the
    message is kept and the peer is measured all the same.
    """
    duel = Duel(best=best, **about)
    for _ in range(rounds):
        duel.theirs.append(theirs())
        attempt(duel, lambda: duel.ours.append(ours()))
    return duel


def attempt(duel: Duel, work: Callable[[], object]) -> None:
    """Do our side's work, unless it failed before; a failure is written down, not raised."""
    if duel.failure:
        return
    try:
        work()
    except UnavailableError:
        raise
    except Exception as error:
        duel.failure = in_a_line(error)


def in_a_line(error: Exception) -> str:
    """What an error is and the first line of what it says."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes, with earlier garbage out of the way."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one core, where the system allows it, for a peer that has threads of its own."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def process_seconds(command: Sequence[str | Path]) -> float:
    """How long a whole process takes, from start to end; if it fails, what it said last is the error.

    Python may keep its bytecode, as an installed package has it, whatever this process was told.
    """
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False, env=settings
    )
    elapsed = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return elapsed


def in_fresh_process(function: Callable[..., T], *arguments: Any) -> T:
    """Call it in a new interpreter, whose memory has seen nothing else."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        return pool.submit(function, *arguments).result()


@dataclass(frozen=True)
class Trial:
    """One learner, one corpus, one process: seconds to learn and classify, bytes that learning added.

    `in_all` is the most that learning and classifying added.
    """

    learn: float
    added: int
    classify: float | None = None
    accuracy: float | None = None
    in_all: int | None = None


def trial(make: Callable[[], Learner], train: Source, test: Source | None = None) -> Trial:
    """Learn (and classify) once, in the process it is called in; run it through `in_fresh_process`."""
    learner = make()
    corpus = train.read()
    texts, labels = corpus.strings(), corpus.labels
    questions = [] if test is None else test.read().strings()
    before = settle_memory()
    learn = seconds(lambda: learner.learn(texts, labels))
    added = max(peak_memory() - before, 0)
    if test is None:
        return Trial(learn, added)
    predicted: list[Sequence[Any]] = []
    classify = seconds(lambda: predicted.append(learner.predict(questions)))
    in_all = max(peak_memory() - before, 0)
    return Trial(learn, added, classify, accuracy(predicted[0], test.read().labels), in_all)


@dataclass
class Contest:
    """The trials of both sides on one corpus, from which several rows are read."""

    ours: list[Trial] = field(default_factory=list)
    theirs: list[Trial] = field(default_factory=list)
    failed: Duel = field(default_factory=Duel)


def contest(
    kept: dict[str, Contest],
    ours: Callable[[], Learner],
    theirs: Callable[[], Learner],
    train: Source,
    test: Source | None = None,
) -> Contest:
    """Ours, the peer, ours twice more, each in a process of its own; kept, as a peer may take minutes."""
    if train.name in kept:
        return kept[train.name]
    held = Contest()

    def try_ours() -> None:
        attempt(held.failed, lambda: held.ours.append(in_fresh_process(trial, ours, train, test)))

    try_ours()
    held.theirs.append(in_fresh_process(trial, theirs, train, test))
    try_ours()
    try_ours()
    kept[train.name] = held
    return held


def weighed(held: Contest, quantity: Callable[[Trial], float | None], **about: Any) -> Duel:
    """One quantity of a contest as a duel: the median of ours against the peer's one run."""
    ours, theirs = ([float(quantity(each) or 0) for each in side] for side in (held.ours, held.theirs))
    return Duel(ours, theirs, best=False, failure=held.failed.failure, **about)


def accuracy(predicted: Sequence[Any], answers: Sequence[str]) -> float:
    """The share of predictions that are right."""
    return sum(str(guess) == answer for guess, answer in zip(predicted, answers, strict=True)) / len(answers)


def settle_memory() -> int:
    """Give free memory back, start the peak anew where the system allows it, and say what is in use.

    Without the trim, memory freed while the texts were read would be used again by learning and not show.
    """
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS") or peak_memory()


def peak_memory() -> int:
    """The most memory this process has held since `settle_memory`, in bytes (else since it began)."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return _status("VmHWM") or most * (1 if sys.platform == "darwin" else 1024)


def _status(name: str) -> int | None:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    return None
