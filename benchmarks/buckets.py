"""What a view of fixed size costs in accuracy: words and pairs, as they are and in buckets, tuned.

    BAYLEAF_DATA=~/corpora python benchmarks/buckets.py

Prints the table of docs/scale.md: terms, megabytes of the file, test accuracy and log loss.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from bayleaf import NaiveBayes, words
from measure import data_folder

BUCKETS = (None, 2**20, 2**18, 2**16, 2**14)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="*", default=["imdb", "20ng"], metavar="CORPUS")
    parser.add_argument(
        "--buckets", nargs="+", type=int, metavar="N", help="instead of 2^20, 2^18, 2^16, 2^14"
    )
    given = parser.parse_args()
    print("| | buckets | terms | file | accuracy | log loss |\n|---|---|---|---|---|---|")
    for corpus in given.corpora:
        for buckets in BUCKETS if given.buckets is None else given.buckets:
            print(row(corpus, buckets), flush=True)


def row(corpus: str, buckets: int | None) -> str:
    """One line of the table."""
    texts, labels = read(corpus, "train")
    model = NaiveBayes([words(2, buckets=buckets)]).fit(texts, labels)
    texts, labels = read(corpus, "test")
    posterior = model.predict_proba(texts)
    truth = np.searchsorted(model.classes_, np.array(labels))
    right = np.mean(posterior.argmax(axis=1) == truth)
    lost = -np.log(np.maximum(posterior[np.arange(len(truth)), truth], 1e-15)).mean()
    name = "no" if buckets is None else f"{buckets:,}"
    terms, size = model.model_.counts().n_terms, len(model.model_.to_bytes()) / 1e6
    return f"| {corpus} | {name} | {terms:,} | {size:.1f} MB | {100 * right:.2f} | {lost:.3f} |"


def read(corpus: str, part: str) -> tuple[list[str], Sequence[str]]:
    """Texts and labels of a corpus."""
    lines = (data_folder() / f"{corpus}.{part}.tsv").read_text("utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return list(texts), labels


if __name__ == "__main__":
    main()
