"""Labels that are needed to come near the full accuracy: in random order, and as `ask` asks for them.

    python benchmarks/asking.py                    sms, trec, imdb and 20ng, three draws
    python benchmarks/asking.py trec --seeds 5     these
    python benchmarks/asking.py --json asking.json keep the figures

A model starts with 30 random documents and gets a fifth more labels, at least 10, at each step, from the
training documents in random order or from those it asks for. The labels needed for 90 and 95 % of the
accuracy with all training documents are read off between two steps; test sets are cut to 2,000.
Needs BAYLEAF_DATA, a folder of NAME.train.tsv and NAME.test.tsv (label, tab, text).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from accuracy import read
from bayleaf import NaiveBayes
from few import Texts, cut, drawn

CORPORA = ["sms", "trec", "imdb", "20ng"]
START = 30
SHARES = (0.9, 0.95)
MOST_LABELS = 4000


@dataclass(frozen=True)
class Needed:
    """Labels of a corpus that reach a share of the full accuracy: medians over the draws."""

    corpus: str
    share: float
    accuracy: float
    at_random: float
    asked: float


def accuracy(model: NaiveBayes, test: Texts) -> float:
    return 100 * float(np.mean(model.predict(test[0]) == np.array(test[1])))


def curve(train: Texts, test: Texts, seed: int, asks: bool, enough: float) -> Iterator[tuple[int, float]]:
    """Labels and accuracy, step by step, until it is enough."""
    texts, labels = train
    known = drawn(labels, len(labels), seed)
    left, known = known[START:], known[:START]
    while True:
        model = NaiveBayes().fit([texts[row] for row in known], [labels[row] for row in known])
        reached = accuracy(model, test)
        yield len(known), reached
        if reached >= enough or len(known) >= MOST_LABELS or not left:
            return
        more = max(10, len(known) // 5)
        new = left[:more]
        if asks:
            new = [left[each.row] for each in model.ask([texts[row] for row in left], more, seed=seed)]
        known, taken = known + new, set(new)
        left = [row for row in left if row not in taken]


def needed(points: list[tuple[int, float]], bar: float) -> float:
    """Where the best so far passes the bar, on a straight line between two steps; infinite if never."""
    for (before, low), (after, high) in zip([(0, 0.0), *points], points, strict=False):
        if high >= bar:
            return float(after) if high <= low else before + (after - before) * (bar - low) / (high - low)
    return float("inf")


def measured(corpus: str, seeds: int) -> list[Needed]:
    train, test = read(corpus, "train"), cut(read(corpus, "test"))
    full = accuracy(NaiveBayes().fit(*train), test)
    bars = [share * full for share in SHARES]
    curves = {
        asks: [list(curve(train, test, seed, asks, bars[-1])) for seed in range(seeds)]
        for asks in (False, True)
    }
    return [
        Needed(corpus, share, full, *(
            float(np.median([needed(points, bar) for points in curves[asks]])) for asks in (False, True)
        ))
        for share, bar in zip(SHARES, bars, strict=True)
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help=f"{', '.join(CORPORA)} by default")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="draws (3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in this file as well")
    given = parser.parse_args()
    print("| corpus | accuracy with all | bar | labels in random order | labels asked for |")
    print("|---|---|---|---|---|")
    kept = []
    for corpus in given.corpora or CORPORA:
        for row in measured(corpus, given.seeds):
            cells = [corpus, f"{row.accuracy:.1f}", f"{row.share * row.accuracy:.1f}"]
            print(f"| {' | '.join([*cells, f'{row.at_random:.0f}', f'{row.asked:.0f}'])} |", flush=True)
            kept.append(row)
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in kept], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
