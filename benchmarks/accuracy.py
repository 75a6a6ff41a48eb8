"""The accuracy table: bayleaf's levels of tuning and its peers on the same corpora.

    python benchmarks/accuracy.py --quick                     the small corpora
    python benchmarks/accuracy.py 20ng imdb                   these
    python benchmarks/accuracy.py --no-peers                  bayleaf alone
    python benchmarks/accuracy.py --json docs/accuracy.json   keep the figures, line by line

Test accuracy in %, macro F1, log loss, expected calibration error (15 bins), seconds to train and to predict.
Needs BAYLEAF_DATA, a folder of NAME.train.tsv and NAME.test.tsv (label, tab, text).
`docs/accuracy_page.py` makes the tables of docs/benchmarks.md, `docs/figures.py` the figures.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measure import UnavailableError, data_folder

QUICK = ["sms", "trec", "mr", "subj", "webkb", "r8"]
TEXTS = [*QUICK, "mail", "enron", "imdb", "20ng"]
PRESETS = {"languages": "language", "taxa": "dna"}
ALL = [*TEXTS, *PRESETS]
MUST = {
    "sms": (98.6, 0.07), "mail": (99.5, 0.02), "enron": (99.5, 0.02), "20ng": (86.7, 0.52),
    "imdb": (91.3, 0.23), "r8": (97.3, 0.10), "webkb": (92.5, 0.21), "trec": (87.4, 0.40),
    "mr": (80.5, 0.44), "subj": (93.7, 0.18), "languages": (97.5, None), "taxa": (95.5, None),
}  # fmt: skip
"""What the default must reach: accuracy and log loss."""
BINS = 15
LONG = 600
"""Documents of more characters, on average, are long."""

Floats = NDArray[np.float64]
Make = Callable[[], Any]


@dataclass(frozen=True)
class Result:
    """One line of the table."""

    corpus: str
    classifier: str
    accuracy: float
    macro_f1: float
    log_loss: float | None
    calibration_error: float | None
    train_seconds: float
    predict_seconds: float

    def verdict(self) -> str:
        """Whether the default has reached what it must."""
        if self.classifier != "bayleaf" or self.corpus not in MUST:
            return ""
        accuracy, loss = MUST[self.corpus]
        if self.accuracy >= accuracy and (loss is None or (self.log_loss or 0) <= loss):
            return "reached"
        return f"missed {accuracy}" + ("" if loss is None else f" / {loss}")

    def line(self) -> str:
        shown = ["" if each is None else f"{each:.3f}" for each in (self.log_loss, self.calibration_error)]
        shown += [f"{self.train_seconds:.2f}", f"{self.predict_seconds:.2f}", self.verdict()]
        cells = [self.corpus, self.classifier, f"{self.accuracy:.2f}", f"{self.macro_f1:.3f}", *shown]
        return f"| {' | '.join(cells)} |"


def read(name: str, part: str) -> tuple[list[str], list[str]]:
    lines = (data_folder() / f"{name}.{part}.tsv").read_text("utf-8").split("\n")
    rows = [line.split("\t", 1) for line in lines if line]
    return [text for _, text in rows], [label for label, _ in rows]


def classifiers(corpus: str, peers: bool) -> Iterator[tuple[str, Make]]:
    """Each as a function that makes it: the default first."""
    from bayleaf import NaiveBayes, preset, words

    if corpus in PRESETS:
        yield "bayleaf", lambda: NaiveBayes(preset(PRESETS[corpus]))
        return
    yield "bayleaf", NaiveBayes
    yield "textbook", lambda: NaiveBayes(words(), tuning=None)
    for level in ("temperature", "views", "terms"):
        yield level, lambda level=level: NaiveBayes(tuning=level)  # type: ignore[misc]
    yield "richest", Richest
    if peers:
        yield from scikit_learn()
        yield from fast_text()


def rich_views(long: bool) -> list[Any]:
    """Ways to look at words, stems and letters; letters of long documents take minutes and gain little."""
    from bayleaf import chars, words

    signs, stems = "words+punctuation", "english"
    if long:
        return [[words(3)], [words(2, tokenizer=signs)], [words(3, tokenizer=signs), words(stemmer=stems)]]
    return [
        [words(3), chars(3, 5)],
        [words(2, tokenizer=signs), chars(2, 6)],
        [words(3, tokenizer=signs), words(stemmer=stems), chars(2, 6)],
        [words(2, tokenizer=signs), words(2, stemmer=stems), chars(3, 6)],
    ]


class Richest:
    """Of several sets of views, the one that predicts held-out training data best."""

    def __init__(self) -> None:
        self.classes_: Any = None
        self._best: Any = None

    def fit(self, texts: list[str], labels: list[str]) -> None:
        from bayleaf import NaiveBayes

        loss = float("inf")
        for views in rich_views(sum(map(len, texts)) > LONG * len(texts)):
            fitted = NaiveBayes(views).fit(texts, labels)
            judgment = fitted.model_.judgment
            if judgment is not None and judgment.loss < loss:
                loss, self._best, self.classes_ = judgment.loss, fitted, fitted.classes_

    def predict_proba(self, texts: list[str]) -> Any:
        return self._best.predict_proba(texts)


def scikit_learn() -> Iterator[tuple[str, Make]]:
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
    yield "LogisticRegression", lambda: make_pipeline(tfidf(1), LogisticRegression(C=10, max_iter=1000))


def fast_text() -> Iterator[tuple[str, Make]]:
    from peers import FastTextClassifier

    try:
        FastTextClassifier()
    except UnavailableError as absent:
        print(f"fastText is left out: {absent}")
        return
    yield "fastText", FastTextClassifier


def measured(corpus: str, name: str, make: Make, train: Any, test: Any) -> Result:
    """Train and predict, with the clock running for nothing else."""
    classifier = make()
    started = time.perf_counter()
    classifier.fit(*train)
    trained = time.perf_counter()
    texts, labels = test
    posterior = classifier.predict_proba(texts) if hasattr(classifier, "predict_proba") else None
    answers: Any = classifier.predict(texts) if posterior is None else None
    done = time.perf_counter()
    # A label that training data lack is a class that nobody can answer.
    place = {label: i for i, label in enumerate(dict.fromkeys([*classifier.classes_, *labels]))}
    known = len(place) == len(classifier.classes_)
    truth = np.array([place[label] for label in labels])
    chosen = (
        np.array([place[answer] for answer in answers]) if posterior is None else posterior.argmax(axis=1)
    )
    hits = chosen == truth
    return Result(
        corpus,
        name,
        100 * float(hits.mean()),
        macro_f1(chosen, truth, len(place)),
        log_loss(posterior, truth) if posterior is not None and known else None,
        None if posterior is None else calibration_error(posterior, hits),
        trained - started,
        done - trained,
    )


def log_loss(posterior: Floats, truth: NDArray[np.intp]) -> float:
    """With scikit-learn's floor, below which a probability counts as that of rounding."""
    return float(-np.log(np.maximum(posterior[np.arange(len(truth)), truth], np.finfo(float).eps)).mean())


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


def keep(path: Path, result: Result) -> None:
    """Write a result down in the place of the one before, so that a table can be measured in pieces."""
    known = json.loads(path.read_text("utf-8")) if path.exists() else []
    new = {name: round(each, 4) if isinstance(each, float) else each for name, each in asdict(result).items()}
    others = [
        each for each in known if (each["corpus"], each["classifier"]) != (result.corpus, result.classifier)
    ]
    rows = sorted([*others, new], key=lambda each: ALL.index(each["corpus"]))
    path.write_text("[\n" + ",\n".join(json.dumps(each) for each in rows) + "\n]\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help=f"of {', '.join(ALL)}; all by default")
    parser.add_argument("--quick", action="store_true", help="the small corpora only")
    parser.add_argument("--no-peers", action="store_true", help="bayleaf alone")
    parser.add_argument(
        "--only", metavar="NAME", nargs="+", default=[""], help="only the classifiers whose name begins so"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in this file as well")
    given = parser.parse_args()
    unknown = [name for name in given.corpora if name not in ALL]
    if unknown:
        parser.error(f"there is no corpus {unknown[0]!r}; choose of {', '.join(ALL)}")
    print("| corpus | classifier | accuracy | macro F1 | log loss | ECE | train s | predict s | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for corpus in given.corpora or (QUICK if given.quick else ALL):
        train, test = read(corpus, "train"), read(corpus, "test")
        for name, make in classifiers(corpus, not given.no_peers):
            if name.startswith(tuple(given.only)):
                result = measured(corpus, name, make, train, test)
                print(result.line(), flush=True)
                if given.json:
                    keep(given.json, result)


if __name__ == "__main__":
    main()
