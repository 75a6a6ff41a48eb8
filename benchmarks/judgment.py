"""Whether judgment holds: tables by level of tuning, and texts with equal weights or one more column.

BAYLEAF_DATA=data python benchmarks/judgment.py
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from bayleaf import NaiveBayes

DATA = Path(os.environ.get("BAYLEAF_DATA", "data"))
TABLES = {
    "house-votes-84.data": 0,
    "agaricus-lepiota.data": 0,
    "car.data": 6,
    "pima-indians-diabetes.data": 8,
}
LEVELS: dict[str, Any] = {"textbook": None, "temperature": "temperature", "weighed": "auto"}


def tables() -> Iterator[tuple[str, Any, Any]]:
    for name, label in TABLES.items():
        table = pd.read_csv(DATA / "uci" / name, header=None, na_values="?")
        X = table.drop(columns=label)
        X.columns = [f"c{column}" for column in X.columns]
        yield name, X, table[label].astype(str).to_numpy()


def judged(classifier: Any, X: Any, y: Any) -> str:
    posterior = np.clip(classifier.predict_proba(X), 1e-15, 1)
    posterior /= posterior.sum(axis=1, keepdims=True)
    right = 100 * np.mean(classifier.classes_[posterior.argmax(axis=1)] == np.asarray(y))
    return f"{right:.2f} / {log_loss(y, posterior, labels=classifier.classes_):.4f}"


def corpus(name: str, part: str) -> tuple[list[str], list[str]]:
    lines = (DATA / f"{name}.{part}.tsv").read_text("utf-8").split("\n")
    rows = [line.split("\t", 1) for line in lines if line]
    return [text for _, text in rows], [label for label, _ in rows]


def main() -> None:
    for name, X, y in tables():
        for train, test in list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))[:1]:
            for level, tuning in LEVELS.items():
                classifier = NaiveBayes(tuning=tuning).fit(X.iloc[train], y[train])
                print(f"{name:28} first fold, {level:12} {judged(classifier, X.iloc[test], y[test])}")
    for name in ("webkb", "mr"):
        (A, b), (T, t) = corpus(name, "train"), corpus(name, "test")
        twos = NaiveBayes().fit(A, b, sample_weight=[2] * len(b))
        print(f"{name:28} texts {judged(NaiveBayes().fit(A, b), T, t)}; weights 2 {judged(twos, T, t)}")
        frames = [pd.DataFrame({"text": each, "length": list(map(len, each))}) for each in (A, T)]
        print(f"{name:28} with their length {judged(NaiveBayes().fit(frames[0], b), frames[1], t)}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
