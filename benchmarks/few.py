"""The table of few labels: the default and its peers on 30 to 1,000 documents of each corpus.

    python benchmarks/few.py                        all corpora and sizes, 20 draws
    python benchmarks/few.py 20ng --sizes 100 300   these
    python benchmarks/few.py subj mail              corpora that no constant was settled on
    python benchmarks/few.py --unlabeled            with the rest of the training documents as unlabeled text
    python benchmarks/few.py --json docs/few.json   keep the figures

Mean test accuracy in % and log loss over random draws of so many training documents; a draw with a single
class is drawn again. The mean of five draws of 30 documents may be off by three points (of 100, by one), so
20 are taken. Test sets are cut to 2,000. What the peers reached is kept in a file (`--cache`), since
it does not change.
Needs BAYLEAF_DATA, a folder of NAME.train.tsv and NAME.test.tsv (label, tab, text).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from accuracy import log_loss, read

SIZES = (30, 100, 300, 1000)
MUST: dict[str, tuple[float, ...]] = {
    "sms": (88.5, 94.0, 97.5), "trec": (44.5, 59.0, 71.0, 80.5), "mr": (53.5, 57.5, 62.5, 70.2),
    "r8": (82.0, 89.0, 93.1, 96.0), "webkb": (65.5, 77.5, 86.4, 90.2), "20ng": (22.0, 43.0, 62.0, 76.0),
    "imdb": (61.0, 70.0, 79.0, 85.0),
}  # fmt: skip
"""What the default must reach with 30, 100, 300 and 1,000 labels."""
UNTOUCHED = ("subj", "mail")
"""Corpora that had no part in any constant of the method that was kept."""
MOST_TESTS = 2000
AHEAD = 3.0
"""By so many points the mean of the default must be ahead of the mean of the best peers."""
MOST_LOST = 0.5
"""Unlabeled text may cost so many points at most."""

Texts = tuple[list[str], list[str]]
Make = Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """What one classifier reached with so many labels of one corpus: means over the draws."""

    corpus: str
    labels: int
    classifier: str
    accuracy: float
    log_loss: float | None


def peers() -> Iterator[tuple[str, Make]]:
    """The classifiers of scikit-learn on tf-idf."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import ComplementNB
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    def tfidf(longest: int) -> Any:
        return TfidfVectorizer(sublinear_tf=True, ngram_range=(1, longest))

    yield "LinearSVC", lambda: make_pipeline(tfidf(2), LinearSVC())
    yield "LogisticRegression", lambda: make_pipeline(tfidf(1), LogisticRegression(C=10, max_iter=1000))
    yield "ComplementNB", lambda: make_pipeline(tfidf(1), ComplementNB())


def drawn(labels: list[str], size: int, seed: int) -> list[int]:
    """Rows of a random draw; a larger one with the same seed contains it."""
    for again in range(100):
        rows = np.random.default_rng((seed, again)).permutation(len(labels))
        if len({labels[row] for row in rows[:30]}) > 1:
            return [int(row) for row in rows[:size]]
    raise ValueError("100 draws of 30 documents had one class each")


def cut(test: Texts) -> Texts:
    """The same 2,000 test documents for everybody."""
    texts, labels = test
    rows = np.sort(np.random.default_rng(0).permutation(len(texts))[:MOST_TESTS]).tolist()
    return [texts[row] for row in rows], [labels[row] for row in rows]


def scored(classifier: Any, test: Texts) -> tuple[float, float | None]:
    """Accuracy in % and log loss; a class that was not drawn has the probability 0."""
    texts, labels = test
    names = list(classifier.classes_)
    place = {label: i for i, label in enumerate(names)}
    truth = np.array([place.get(label, len(names)) for label in labels])
    if not hasattr(classifier, "predict_proba"):
        return 100 * float(
            np.mean([a == b for a, b in zip(classifier.predict(texts), labels, strict=True)])
        ), None
    posterior = classifier.predict_proba(texts)
    known = truth < len(names)
    accuracy = 100 * float((posterior.argmax(axis=1) == truth).mean())
    return accuracy, log_loss(posterior[known], truth[known])


def fitted(make: Make, train: Texts, rows: list[int], unlabeled: bool) -> Any:
    """A classifier that has learned these rows, the others without their labels if they are given as well."""
    texts, labels = train
    if not unlabeled:
        return make().fit([texts[row] for row in rows], [labels[row] for row in rows])
    shown = set(rows)
    return make().fit(texts, [label if row in shown else None for row, label in enumerate(labels)])


def measured(name: str, make: Make, corpus: str, size: int, seeds: int, unlabeled: bool = False) -> Row:
    train, test = read(corpus, "train"), cut(read(corpus, "test"))
    found = [
        scored(fitted(make, train, drawn(train[1], size, seed), unlabeled), test) for seed in range(seeds)
    ]
    accuracies, losses = zip(*found, strict=True)
    known = [loss for loss in losses if loss is not None]
    return Row(corpus, size, name, float(np.mean(accuracies)), float(np.mean(known)) if known else None)


class Cache:
    """What the peers reached, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}

    def measured(self, name: str, make: Make, corpus: str, size: int, seeds: int) -> Row:
        key = f"{corpus} {size} {name} {seeds}"
        if key not in self.known:
            self.known[key] = asdict(measured(name, make, corpus, size, seeds))
            self.path.write_text(json.dumps(self.known, indent=1), "utf-8")
        return Row(**self.known[key])


def sizes_of(corpus: str, sizes: list[int]) -> Iterator[tuple[int, float | None]]:
    """The sizes that are asked for, each with what must be reached, if anything must."""
    musts: tuple[float | None, ...] = MUST.get(corpus, (None,) * len(SIZES))
    return ((size, must) for size, must in zip(SIZES, musts, strict=False) if size in sizes)


def line(rows: list[Row], must: float | None) -> str:
    own, others = rows[0], rows[1:]
    best = max(others, key=lambda row: row.accuracy, default=None)
    losses = [row.log_loss for row in others if row.log_loss is not None]
    above = any(own.log_loss is None or own.log_loss >= loss for loss in losses)
    cells = [own.corpus, str(own.labels), f"{own.accuracy:.1f}"]
    cells += [f"{own.log_loss:.4f}{' missed' if above else ''}"]
    cells += ["", ""] if best is None else [f"{best.accuracy:.1f} {best.classifier}", f"{min(losses):.4f}"]
    cells += ["", ""] if must is None else [f"{must:g}", "reached" if own.accuracy >= must else "missed"]
    return f"| {' | '.join(cells)} |"


def compare(corpora: list[str], sizes: list[int], seeds: int, cache: Cache) -> list[Row]:
    """The default against the peers, line by line, and the means over the lines.

    Each log loss must be below those of all peers.
    """
    from bayleaf import NaiveBayes

    print("| corpus | labels | bayleaf | log loss | best peer | its best log loss | must | |")
    print("|---|---|---|---|---|---|---|---|")
    kept, ours, best = list[Row](), list[float](), list[float]()
    for corpus in corpora:
        for size, must in sizes_of(corpus, sizes):
            rows = [measured("bayleaf", NaiveBayes, corpus, size, seeds)]
            rows += [cache.measured(name, make, corpus, size, seeds) for name, make in peers()]
            print(line(rows, must), flush=True)
            kept += rows
            ours.append(rows[0].accuracy)
            best.append(max(row.accuracy for row in rows[1:]))
    ahead = float(np.mean(ours) - np.mean(best))
    verdict = "reached" if ahead >= AHEAD else "missed"
    means = f"mean {np.mean(ours):.2f}, best peers {np.mean(best):.2f}"
    print(f"\n{means}: {ahead:+.2f} (must {AHEAD:+g}) {verdict}")
    return kept


def compare_unlabeled(corpora: list[str], sizes: list[int], seeds: int) -> list[Row]:
    """The default with and without the rest of the training documents, unlabeled."""
    from bayleaf import NaiveBayes

    print("| corpus | labels | labeled only | with unlabeled | log loss | with unlabeled | |")
    print("|---|---|---|---|---|---|---|")
    kept = []
    for corpus in corpora:
        for size, _ in sizes_of(corpus, sizes):
            without = measured("bayleaf", NaiveBayes, corpus, size, seeds)
            beside = measured("with unlabeled", NaiveBayes, corpus, size, seeds, unlabeled=True)
            verdict = "" if beside.accuracy >= without.accuracy - MOST_LOST else "missed"
            cells = [corpus, str(size), f"{without.accuracy:.1f}", f"{beside.accuracy:.1f}"]
            cells += [f"{without.log_loss:.3f}", f"{beside.log_loss:.3f}", verdict]
            print(f"| {' | '.join(cells)} |", flush=True)
            kept += [without, beside]
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = [*MUST, *UNTOUCHED]
    parser.add_argument(
        "corpora", nargs="*", metavar="CORPUS", help=f"of {', '.join(known)}; those with a must by default"
    )
    parser.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=list(SIZES), metavar="N")
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="draws (20)")
    parser.add_argument("--unlabeled", action="store_true", help="compare with unlabeled text beside")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in this file as well")
    kept = Path(tempfile.gettempdir()) / "bayleaf-few-peers.json"
    parser.add_argument("--cache", type=Path, default=kept, metavar="FILE", help=f"of the peers ({kept})")
    given = parser.parse_args()
    unknown = [name for name in given.corpora if name not in known]
    if unknown:
        parser.error(f"there is no corpus {unknown[0]!r}; choose of {', '.join(known)}")
    corpora = given.corpora or list(MUST)
    if given.unlabeled:
        rows = compare_unlabeled(corpora, given.sizes, given.seeds)
    else:
        rows = compare(corpora, given.sizes, given.seeds, Cache(given.cache))
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
