"""The accuracy table: the textbook, each level of tuning, and scikit-learn's classifiers on the same corpora.

    python benchmarks/accuracy.py --quick            the small corpora
    python benchmarks/accuracy.py 20ng imdb          these
    python benchmarks/accuracy.py --no-peers         without scikit-learn's

Test accuracy in %, macro F1, log loss, expected calibration error (15 bins), seconds to train and to predict.
Needs BAYLEAF_DATA, a folder of NAME.train.tsv and NAME.test.tsv (label, tab, text).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measure import data_folder

QUICK = ["sms", "trec", "mr", "subj", "webkb", "r8"]
ALL = [*QUICK, "mail", "enron", "imdb", "20ng"]
MUST = {
    "sms": (98.6, 0.07), "mail": (99.5, 0.02), "enron": (99.5, 0.02), "20ng": (86.7, 0.52),
    "imdb": (91.3, 0.23), "r8": (97.3, 0.10), "webkb": (92.5, 0.21), "trec": (87.4, 0.40),
    "mr": (80.5, 0.44), "subj": (93.7, 0.18),
}  # fmt: skip
"""What the default must reach: accuracy and log loss."""
BINS = 15

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Result:
    """One line of the table."""

    accuracy: float
    f1: float
    log_loss: float | None
    calibration: float | None
    train: float
    predict: float

    def line(self, corpus: str, name: str) -> str:
        must = MUST.get(corpus)
        verdict = ""
        if name == "bayleaf" and must is not None:
            reached = self.accuracy >= must[0] and (self.log_loss or 0) <= must[1]
            verdict = "reached" if reached else f"missed {must[0]} / {must[1]}"
        shown = ["" if each is None else f"{each:.3f}" for each in (self.log_loss, self.calibration)]
        shown += [f"{self.train:.2f}", f"{self.predict:.2f}", verdict]
        cells = [corpus, name, f"{self.accuracy:.2f}", f"{self.f1:.3f}", *shown]
        return f"| {' | '.join(cells)} |"


def read(name: str, part: str) -> tuple[list[str], list[str]]:
    lines = (data_folder() / f"{name}.{part}.tsv").read_text("utf-8").split("\n")
    rows = [line.split("\t", 1) for line in lines if line]
    return [text for _, text in rows], [label for label, _ in rows]


def classifiers(peers: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each as a function that makes it: the default first."""
    from bayleaf import NaiveBayes, words

    yield "bayleaf", NaiveBayes
    yield "textbook", lambda: NaiveBayes(words(), tuning=None)
    for level in ("temperature", "views", "terms"):
        yield level, lambda level=level: NaiveBayes(tuning=level)  # type: ignore[misc]
    if peers:
        yield from scikit_learn()


def scikit_learn() -> Iterator[tuple[str, Callable[[], Any]]]:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import ComplementNB, MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    def tfidf(longest: int) -> Any:
        return TfidfVectorizer(sublinear_tf=True, ngram_range=(1, longest))

    yield "MultinomialNB", lambda: make_pipeline(CountVectorizer(), MultinomialNB())
    yield "ComplementNB", lambda: make_pipeline(tfidf(1), ComplementNB())
    yield "LinearSVC", lambda: make_pipeline(tfidf(2), LinearSVC())
    yield "LogisticRegression", lambda: make_pipeline(tfidf(1), LogisticRegression(max_iter=1000))


def measured(make: Callable[[], Any], train: Any, test: Any) -> Result:
    classifier = make()
    started = time.perf_counter()
    classifier.fit(*train)
    trained = time.perf_counter()
    texts, labels = test
    posterior = classifier.predict_proba(texts) if hasattr(classifier, "predict_proba") else None
    classes = list(classifier.classes_)
    if posterior is None:
        answers = np.array([classes.index(answer) for answer in classifier.predict(texts)])
    else:
        answers = posterior.argmax(axis=1)
    done = time.perf_counter()
    truth = np.array([classes.index(label) for label in labels])
    hits = answers == truth
    loss = None if posterior is None else log_loss(posterior, truth)
    error = None if posterior is None else calibration_error(posterior, hits)
    f1 = macro_f1(answers, truth, len(classes))
    return Result(100 * float(hits.mean()), f1, loss, error, trained - started, done - trained)


def log_loss(posterior: Floats, truth: NDArray[np.intp]) -> float:
    return float(-np.log(np.maximum(posterior[np.arange(len(truth)), truth], 1e-300)).mean())


def calibration_error(posterior: Floats, hits: NDArray[np.bool_]) -> float:
    """By how much confidence and accuracy differ, on average over bins of confidence."""
    confidence = posterior.max(axis=1)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, confidence - hits, BINS)
    return float(np.abs(gaps).sum() / len(hits))


def macro_f1(answers: NDArray[np.intp], truth: NDArray[np.intp], classes: int) -> float:
    right = np.bincount(truth[answers == truth], minlength=classes)
    both = np.bincount(truth, minlength=classes) + np.bincount(answers, minlength=classes)
    return float(np.mean(2 * right / np.maximum(both, 1)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="*", help="names of corpora; all by default")
    parser.add_argument("--quick", action="store_true", help="the small corpora only")
    parser.add_argument("--no-peers", action="store_true", help="bayleaf alone")
    parser.add_argument("--only", help="only the classifiers whose name begins like this")
    given = parser.parse_args()
    print("| corpus | classifier | accuracy | macro F1 | log loss | ECE | train s | predict s | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for corpus in given.corpora or (QUICK if given.quick else ALL):
        train, test = read(corpus, "train"), read(corpus, "test")
        for name, make in classifiers(not given.no_peers):
            if given.only is None or name.startswith(given.only):
                print(measured(make, train, test).line(corpus, name), flush=True)


if __name__ == "__main__":
    main()
