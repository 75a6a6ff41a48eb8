"""Whether judgment holds: every figure of the promise, before (recorded) and after, and tables against peers.

BAYLEAF_DATA=data python benchmarks/judgment.py [--rows weights tables ...] [--json results.json]

`before` is what the code of the first release of `tuning` gave for the same lines, recorded once.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, recall_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from bayleaf import Model, NaiveBayes, category, mail_columns, normal, pairs, words

DATA = Path(os.environ.get("BAYLEAF_DATA", "data"))
UCI = {
    "house-votes-84.data": 0,
    "agaricus-lepiota.data": 0,
    "car.data": 6,
    "nursery.data.gz": 8,
    "pima-indians-diabetes.data": 8,
}
Row = tuple[str, str, str]
"""What was done, what it gave before (or what a peer gives), and what it gives now."""


def corpus(name: str, part: str) -> tuple[list[str], list[str]]:
    lines = (DATA / f"{name}.{part}.tsv").read_text("utf-8").split("\n")
    rows = [line.split("\t", 1) for line in lines if line]
    return [text for _, text in rows], [label for label, _ in rows]


def figures(posterior: Any, classes: Any, y: Any) -> tuple[float, float]:
    """Accuracy in %, and log loss."""
    posterior = np.clip(posterior, 1e-15, 1)
    posterior = posterior / posterior.sum(axis=1, keepdims=True)
    right = 100 * float(np.mean(np.asarray(classes)[posterior.argmax(axis=1)] == np.asarray(y)))
    return right, float(log_loss(y, posterior, labels=classes))


def judged(classifier: Any, X: Any, y: Any) -> str:
    right, loss = figures(classifier.predict_proba(X), classifier.classes_, y)
    return f"{right:.2f} / {loss:.4f}"


def weights() -> Iterator[Row]:
    """Weights of rows: the same for all, and more for a class."""
    for name, before in (("mr", "75.01"), ("webkb", "89.1")):
        (A, b), (T, t) = corpus(name, "train"), corpus(name, "test")
        ones = judged(NaiveBayes().fit(A, b), T, t)
        twos = judged(NaiveBayes().fit(A, b, sample_weight=[2] * len(b)), T, t)
        yield f"{name}, weights 2 for all rows (without weights {ones})", before, twos
    (A, b), (T, t) = messages()
    recalls = [
        recall_score(t, NaiveBayes().fit(A, b, sample_weight=each).predict(T), pos_label="spam")
        for each in (None, [5 if label == "spam" else 1 for label in b])
    ]
    yield "recall of spam without weights", "0.831", f"{recalls[0]:.3f}"
    yield "recall of spam with weight 5", "0.695", f"{recalls[1]:.3f}"


def messages() -> tuple[tuple[list[str], list[str]], tuple[list[str], list[str]]]:
    """The first 800 of the bundled messages, and the others."""
    from importlib.resources import files

    lines = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
    labels, texts = map(list, zip(*(line.split("\t", 1) for line in lines), strict=True))
    return (texts[:800], labels[:800]), (texts[800:], labels[800:])


def settings() -> Iterator[Row]:
    """Settings after fitting, and a second look at the wrong documents."""
    (A, b), (T, t) = messages()
    found = NaiveBayes().fit(A, b)
    for what, before, alpha in (
        ("log loss after fit", "0.178", 1.0),
        ("after set_params(alpha=0.5)", "1.086", 0.5),
        ("set back", "1.119", 1.0),
    ):  # fmt: skip
        found.set_params(alpha=alpha)
        yield what, before, f"{figures(found.predict_proba(T), found.classes_, t)[1]:.3f}"
    (A, b), (T, t) = corpus("sms", "train"), corpus("sms", "test")
    found = NaiveBayes().fit(A, b)
    one = [text for text, label in zip(A, b, strict=True) if label == "spam"]
    for what, X, y in (
        ("documents of one class", one, ["spam"] * len(one)),
        ("others", T[: len(A)], t[: len(A)]),
    ):
        try:
            found.retune(X, y)
            answer = "retuned"
        except ValueError as error:
            answer = f"refused: {str(error)[:60]}…"
        yield f"sms, retune with {what}", "13 %", f"{100 * found.score(T, t):.2f} %, {answer}"


def with_length() -> Iterator[Row]:
    """One more column."""
    (A, b), (T, t) = corpus("webkb", "train"), corpus("webkb", "test")
    yield "webkb, texts", "93.1 / 0.197", judged(NaiveBayes().fit(A, b), T, t)
    train, test = (pd.DataFrame({"text": each, "length": list(map(len, each))}) for each in (A, T))
    yield "webkb, texts and their length", "83.2 / 3.70", judged(NaiveBayes().fit(train, b), test, t)
    only = NaiveBayes().fit(train[["text"]], b)
    yield "webkb, a frame with the texts alone", "", judged(only, test[["text"]], t)


def uci() -> Iterator[tuple[str, Any, Any]]:
    for name, label in UCI.items():
        table = pd.read_csv(DATA / "uci" / name, header=None, na_values="?")
        X = table.drop(columns=label)
        X.columns = [f"c{column}" for column in X.columns]
        y = table[label].astype(str)
        kept = (y.map(y.value_counts()) >= 5).to_numpy()
        yield name.partition(".")[0], X[kept], y[kept].to_numpy()


def crossed(estimator: Any, X: Any, y: Any) -> str:
    classes = np.unique(y)
    posterior = np.zeros((len(y), len(classes)))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        posterior[test] = clone(estimator).fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])
    right, loss = figures(posterior, classes, y)
    return f"{right:.1f} / {loss:.3f}"


def theirs(X: Any) -> Any:
    """Naive Bayes of scikit-learn for a table of numbers, or of categories; code 0 is for the unseen."""
    if of_numbers(X):
        return make_pipeline(SimpleImputer(), GaussianNB())
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    sizes = [X[name].nunique() + 1 for name in X]
    return make_pipeline(encoder, FunctionTransformer(add_one), CategoricalNB(min_categories=sizes))


def add_one(codes: Any) -> Any:
    return codes + 1


def of_numbers(X: Any) -> bool:
    return all(kind.kind in "if" for kind in X.dtypes)


def tables() -> Iterator[Row]:
    """Tables without text: accuracy / log loss, five folds; scikit-learn's, the same calibrated, and ours."""
    for name, X, y in uci():
        plain = X if of_numbers(X) else X.astype(object).where(X.notna(), "?").astype(str)
        peer = theirs(plain)
        own = crossed(peer, plain, y)
        calibrated = crossed(CalibratedClassifierCV(peer, cv=5), plain, y)
        yield f"{name}, weighed", f"{own}; calibrated {calibrated}", crossed(NaiveBayes(), X, y)
        if not of_numbers(X):
            yield f"{name}, pairs", "", crossed(NaiveBayes(pairs=True), X.astype(object), y)
    for name, expected in (("house-votes-84.data", "94.3"), ("agaricus-lepiota.data", "99.98")):
        lines = [line.split(",") for line in (DATA / "uci" / name).read_text().split()]
        columns = {f"c{i}": [line[i] for line in lines] for i in range(1, len(lines[0]))}
        labels = np.array([line[0] for line in lines])
        model = Model({"all": pairs(*columns)}).learn(columns, labels)
        answers = np.array(model.classes)[model.loo_log_joint(columns, labels).argmax(axis=1)]
        yield f"{name}, AODE, leave-one-out", expected, f"{100 * np.mean(answers == labels):.2f}"


HEADER = re.compile(r"From: (\S+).*?Subject: (.*?) (?:Organization: (.*?) )?Lines: (\d+) (.*)", re.DOTALL)


def news(texts: list[str]) -> pd.DataFrame:
    """Subject, organization, number of lines and body of posts that were written in one line."""
    found = [HEADER.match(text) for text in texts]
    rows = [
        (m[2], m[3] or "", float(m[4]), m[5]) if m else ("", "", np.nan, text)
        for m, text in zip(found, texts, strict=True)
    ]
    return pd.DataFrame(rows, columns=["subject", "organization", "lines", "body"])


def mails(texts: list[str]) -> pd.DataFrame:
    columns = mail_columns(texts)
    frame = pd.DataFrame({name: columns[name] for name in ("subject", "from_domain", "body")})
    return frame.assign(length=[len(text) for text in texts])


def short(texts: list[str]) -> pd.DataFrame:
    digits = [sum(char.isdigit() for char in text) for text in texts]
    shout = [sum(char.isupper() for char in text) / max(len(text), 1) for text in texts]
    return pd.DataFrame({"text": texts, "length": list(map(len, texts)), "digits": digits, "capitals": shout})


def pages(texts: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"text": texts, "length": list(map(len, texts))})


MIXED: dict[str, tuple[str, Callable[[list[str]], pd.DataFrame], list[str], list[str], int]] = {
    "webkb + length": ("webkb", pages, ["text"], [], 1),
    "sms + length, digits, capitals": ("sms", short, ["text"], [], 1),
    "mail: subject, sender, body, length": ("mail", mails, ["subject", "body"], ["from_domain"], 1),
    "20ng: subject, organization, lines, body": ("20ng", news, ["subject", "organization", "body"], [], 6),
}
"""The corpus, how it becomes a table, its columns of text and of categories, and which rows: every n-th."""


def logistic(texts: list[str], categories: list[str], numbers: list[str], C: float) -> Any:
    columns = ColumnTransformer(
        [
            *((name, TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), name) for name in texts),
            ("categories", OneHotEncoder(handle_unknown="ignore"), categories),
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        ]
    )
    return make_pipeline(columns, LogisticRegression(C=C, max_iter=300))


def mixed() -> Iterator[Row]:
    """Tables with text: accuracy / log loss of ColumnTransformer + logistic regression (C 1; 10); ours."""
    for title, (name, framed, texts, categories, step) in MIXED.items():
        (A, b), (T, t) = corpus(name, "train"), corpus(name, "test")
        A, b, T, t = A[::step], b[::step], T[::step], t[::step]
        train, test = framed(A), framed(T)
        numbers = [column for column in train if column not in (*texts, *categories)]
        peers = [judged(logistic(texts, categories, numbers, C).fit(train, b), test, t) for C in (1.0, 10.0)]
        views: Any = {column: words(2) for column in texts} | {column: category() for column in categories}
        views |= {column: normal() for column in numbers}
        ours = NaiveBayes(views if categories else None).fit(train, b)
        yield title, "; ".join(peers), judged(ours, test, t)


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "weights": weights, "settings": settings, "length": with_length, "tables": tables, "mixed": mixed,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", nargs="*", choices=sorted(ROWS), default=list(ROWS))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found = []
    for name in given.rows:
        print(f"\n{ROWS[name].__doc__}")
        for what, before, after in ROWS[name]():
            print(f"  {what:60} {before:32} {after}", flush=True)
            found.append({"rows": name, "what": what, "before": before, "after": after})
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
