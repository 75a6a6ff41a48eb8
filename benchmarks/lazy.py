"""Lazy against eager: k-nearest neighbors and bayleaf as the corpus grows.

    BAYLEAF_DATA=~/corpora python benchmarks/lazy.py
    BAYLEAF_DATA=~/corpora python benchmarks/lazy.py --quick --json lazy.json

Each run has a process of its own. `held` is what the process keeps when it has learned, `added` the most that
learning added to the loaded corpus, `stored` the size of the learner as a pickle. Times are the best of the
rounds, memory the least.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from measure import (
    Source,
    UnavailableError,
    data_folder,
    in_fresh_process,
    peak_memory,
    seconds,
    settle_memory,
)

NEIGHBORS = 15
QUESTIONS = 2000
SIZES = {"imdb": [1000, 2000, 4000, 8000, 16000, 25000], "adult": [1000, 2000, 4000, 8000, 16000, 32000]}
NUMBERS = (0, 2, 4, 10, 11, 12)
"""The columns of the census table that are numbers."""

Example = tuple[Any, Any]


@dataclass(frozen=True)
class Run:
    """One learner on one slice of one corpus."""

    corpus: str
    learner: str
    documents: int
    learn: float
    predict: float
    held: int
    added: int
    stored: int
    accuracy: float


# Corpora


def reviews(documents: int) -> tuple[Example, Example]:
    """Film reviews, as strings."""
    train, test = (Source(f"imdb.{part}").read() for part in ("train", "test"))
    chosen, asked = shuffled(len(train.texts))[:documents], shuffled(len(test.texts))[:QUESTIONS]
    return (
        ([train.texts[i].decode() for i in chosen], [train.labels[i] for i in chosen]),
        ([test.texts[i].decode() for i in asked], [test.labels[i] for i in asked]),
    )


def census(documents: int) -> tuple[Example, Example]:
    """The numbers of the Adult census table: does a person earn more than 50,000 dollars?"""
    (X, y), (questions, answers) = (_census(part) for part in ("data", "test"))
    chosen, asked = shuffled(len(y))[:documents], shuffled(len(answers))[:QUESTIONS]
    return (X[chosen], y[chosen]), (questions[asked], answers[asked])


def _census(part: str) -> Example:
    places = [data_folder() / "uci", data_folder().parent / "shared" / "data" / "uci"]
    path = next((found for place in places if (found := place / f"adult.{part}.gz").is_file()), None)
    if path is None:
        raise UnavailableError(f"adult.{part}.gz is not in the folder uci of BAYLEAF_DATA")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.strip().rstrip(".").split(", ") for line in file if line.count(",") == 14]
    return np.array([[float(row[i]) for i in NUMBERS] for row in rows]), np.array([row[14] for row in rows])


def shuffled(length: int) -> list[int]:
    """The same order in every run."""
    order: list[int] = np.random.default_rng(0).permutation(length).tolist()
    return order


CORPORA: dict[str, Callable[[int], tuple[Example, Example]]] = {"imdb": reviews, "adult": census}


# Learners


def neighbors_of_texts() -> Any:
    """k-NN on tf-idf vectors, by the cosine; all documents are looked at for every question."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    return make_pipeline(
        TfidfVectorizer(sublinear_tf=True),
        KNeighborsClassifier(NEIGHBORS, metric="cosine", algorithm="brute"),
    )


def neighbors_of_rows() -> Any:
    """k-NN on numbers of unit variance; scikit-learn chooses a tree."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), KNeighborsClassifier(NEIGHBORS))


def counted() -> Any:
    """The textbook: counts of words, multinomial."""
    from bayleaf import NaiveBayes, words

    return NaiveBayes([words()], tuning=None, threads=1)


def tuned() -> Any:
    """The default: words, pairs, and weights from documents left out."""
    from bayleaf import NaiveBayes

    return NaiveBayes(threads=1)


def normal_curves() -> Any:
    from bayleaf.matrix import GaussianNB

    return GaussianNB()


def kernels() -> Any:
    from bayleaf.matrix import KernelNB

    return KernelNB()


LEARNERS: dict[str, dict[str, Callable[[], Any]]] = {
    "imdb": {"k-NN": neighbors_of_texts, "bayleaf": counted, "bayleaf, tuned": tuned},
    "adult": {"k-NN": neighbors_of_rows, "bayleaf": normal_curves, "bayleaf, kernels": kernels},
}


# Measuring


def run(corpus: str, learner: str, documents: int) -> Run:
    """Learn and classify once, in the process it is called in."""
    model = LEARNERS[corpus][learner]()
    warm_up(corpus, learner)
    (X, y), (questions, answers) = CORPORA[corpus](documents)
    before = settle_memory()
    learn = seconds(lambda: model.fit(X, y))
    added = peak_memory() - before
    held = settle_memory() - before
    predicted: list[Any] = []
    predict = seconds(lambda: predicted.append(model.predict(questions)))
    right = float(np.mean(np.asarray(predicted[0]) == np.asarray(answers)))
    return Run(corpus, learner, len(y), learn, predict, held, added, len(pickle.dumps(model)), right)


def warm_up(corpus: str, learner: str) -> None:
    """What a library does the first time (imports, threads) is no part of learning."""
    X: Any = ["one two", "two three"] * 20 if corpus == "imdb" else np.arange(120.0).reshape(40, 3)
    LEARNERS[corpus][learner]().fit(X, ["a", "b"] * 20).predict(X)


def best_of(runs: list[Run]) -> Run:
    """The least of each figure: what disturbs a run only adds."""
    least = {
        name: min(getattr(each, name) for each in runs) for name in ("learn", "predict", "held", "added")
    }
    return Run(**(asdict(runs[0]) | least))


def measure(quick: bool, rounds: int) -> list[Run]:
    """All learners in turn on ever larger slices."""
    found = []
    for corpus, sizes in SIZES.items():
        for size in sizes[:3] if quick else sizes:
            for learner in LEARNERS[corpus]:
                print(f"{corpus}, {size:,} documents, {learner}", file=sys.stderr)
                runs = [in_fresh_process(run, corpus, learner, size) for _ in range(rounds)]
                found.append(best_of(runs))
    return found


# Showing

HEADS = ("corpus", "documents", "learner", "learn", "predict", "held", "added", "stored", "right")


def cells(found: Run) -> tuple[str, ...]:
    """A run as a reader expects it: milliseconds to learn, microseconds an answer, megabytes."""
    return (
        found.corpus,
        f"{found.documents:,}",
        found.learner,
        f"{found.learn * 1e3:,.0f} ms",
        f"{found.predict / QUESTIONS * 1e6:,.0f} µs",
        *(f"{size / 1e6:,.1f} MB" for size in (found.held, found.added, found.stored)),
        f"{found.accuracy:.1%}",
    )


def show(found: list[Run]) -> None:
    table = Table(title="Lazy against eager", box=SIMPLE_HEAD)
    for head in HEADS:
        table.add_column(head, justify="left" if head in ("corpus", "learner") else "right", no_wrap=True)
    for each in found:
        table.add_row(*cells(each))
    (Console() if sys.stdout.isatty() else Console(width=120)).print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, show and, if asked, keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--quick", action="store_true", help="the three smallest slices only")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="runs of each; default: 2")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to this file")
    options = parser.parse_args(arguments)
    data_folder()
    # One thread for each side: the neighbors' vectors are multiplied by as many as there are otherwise.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    try:
        found = measure(options.quick, options.rounds)
    except UnavailableError as reason:
        print(f"This cannot be measured here: {reason}.", file=sys.stderr)
        return 1
    show(found)
    if options.json:
        kept = {"neighbors": NEIGHBORS, "questions": QUESTIONS, "runs": [asdict(each) for each in found]}
        options.json.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
