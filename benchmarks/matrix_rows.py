"""The rows of the matrix classifiers: scikit-learn's own against those of the same name, dense and sparse.

One thread: on a busy machine, those of a matrix product wait for each other, on either side. Memory is what a
call allocates besides X, as NumPy tells Python's tracemalloc.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from bayleaf import matrix
from measure import Duel, Source, race, seconds
from peers import need
from registry import Bench, at_least, at_most, row

ROUNDS = (7, 15)
ROWS, COLUMNS, CLASSES = 100_000, 20, 4


@cache
def reviews() -> tuple[Any, Any]:
    """The counts of imdb.train as CountVectorizer gives them: whole numbers in a CSR matrix."""
    need("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer

    corpus = Source("imdb.train").read()
    return CountVectorizer().fit_transform(corpus.strings()), np.array(corpus.labels)


@cache
def dense_reviews() -> tuple[Any, Any]:
    """2,000 reviews by 5,000 words, as floats."""
    X, y = reviews()
    return np.ascontiguousarray(X[:: X.shape[0] // 2000, :5000].toarray(), dtype=np.float64), y[
        :: X.shape[0] // 2000
    ]


@cache
def categories() -> tuple[Any, Any]:
    """Made: 20 columns of 8 categories."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, size=(ROWS, COLUMNS))
    return X, (X[:, 0] + rng.integers(0, 3, ROWS)) % CLASSES


@cache
def measurements() -> tuple[Any, Any]:
    """Made: 20 columns of normal numbers."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, ROWS)
    return rng.normal(size=(ROWS, COLUMNS)) + y[:, None], y


CONTESTS: list[tuple[str, str, Callable[[], tuple[Any, Any]]]] = [
    *((name, "sparse", reviews) for name in ("MultinomialNB", "ComplementNB", "BernoulliNB")),
    *((name, "dense", dense_reviews) for name in ("MultinomialNB", "ComplementNB", "BernoulliNB")),
    ("CategoricalNB", "dense", categories),
    ("GaussianNB", "dense", measurements),
]


def sides(name: str) -> tuple[Any, Any]:
    """Ours and theirs."""
    import sklearn.naive_bayes

    return getattr(matrix, name)(), getattr(sklearn.naive_bayes, name)()


def fit(name: str, table: Callable[[], tuple[Any, Any]], bench: Bench) -> Duel:
    X, y = table()
    ours, theirs = sides(name)
    return race_of(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), bench)


def predict(name: str, table: Callable[[], tuple[Any, Any]], bench: Bench) -> Duel:
    X, y = table()
    ours, theirs = (side.fit(X, y) for side in sides(name))
    return race_of(lambda: ours.predict(X), lambda: theirs.predict(X), bench)


def race_of(ours: Callable[[], Any], theirs: Callable[[], Any], bench: Bench) -> Duel:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1):
        return race(lambda: seconds(ours), lambda: seconds(theirs), bench.rounds(*ROUNDS))


def memory(name: str, table: Callable[[], tuple[Any, Any]], _: Bench) -> Duel:
    """The more hungry of both calls."""
    X, y = table()
    peaks = [
        max(allocated(partial(side.fit, X, y)), allocated(partial(side.predict_proba, X)))
        for side in sides(name)
    ]
    return Duel([peaks[0]], [peaks[1]], unit="B")


def allocated(call: Callable[[], Any]) -> float:
    tracemalloc.start()
    try:
        call()
        return float(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


for _name, _form, _table in CONTESTS:
    _short = f"{_name.removesuffix('NB').lower()}-{_form}"
    _enter = partial(row, against="scikit-learn", group="matrix")
    _enter(f"fit-{_short}", f"{_name}.fit, {_form}", bar=at_least(1, 1.5))(partial(fit, _name, _table))
    _enter(f"predict-{_short}", f"{_name}.predict, {_form}", bar=at_least(1, 1.5))(
        partial(predict, _name, _table)
    )
    _enter(f"memory-{_short}", f"{_name}, memory, {_form}", bar=at_most(1, 0.5))(
        partial(memory, _name, _table)
    )
