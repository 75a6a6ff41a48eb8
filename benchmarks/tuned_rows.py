"""The rows of earned weights: `NaiveBayes().fit`, and leaving documents out of the counts."""

from __future__ import annotations

from typing import Any

from measure import Duel, race, seconds
from peers import sklearn_svm
from registry import Bench, at_most, row
from rows import OUR_BIGRAMS, learned, learning


class Default:
    """`NaiveBayes()` as a learner: one fit, tuning included."""

    def __init__(self, **settings: Any) -> None:
        from bayleaf import NaiveBayes

        self.model = NaiveBayes(**settings)

    def learn(self, texts: list[str], labels: list[str]) -> None:
        self.model.fit(texts, labels)

    def predict(self, texts: list[str]) -> Any:
        return self.model.predict(texts)


def race_to_tune(bench: Bench, name: str) -> Duel:
    corpus = bench.source(f"{name}.train").read()
    return race(
        lambda: learning(Default, corpus),
        lambda: learning(sklearn_svm, corpus),
        bench.rounds(1, 3),
        megabytes=corpus.megabytes,
    )


@row(
    "tuned-imdb", "NaiveBayes().fit, imdb", "tf-idf (1, 2) + LinearSVC", at_most(1 / 5, 1 / 20), group="tuned"
)
def tuned_imdb(bench: Bench) -> Duel:
    return race_to_tune(bench, "imdb")


@row(
    "tuned-20ng", "NaiveBayes().fit, 20ng", "tf-idf (1, 2) + LinearSVC", at_most(1 / 5, 1 / 20), group="tuned"
)
def tuned_20ng(bench: Bench) -> Duel:
    return race_to_tune(bench, "20ng")


@row(
    "leave-one-out",
    "leave each document of 20ng out, words + bigrams",
    "scoring them",
    at_most(1.5, 1),
    group="tuned",
)
def leave_one_out(bench: Bench) -> Duel:
    """bayleaf on both sides, each time with counts that were not asked before."""
    corpus = bench.source("20ng.train").read()
    model: Any = learned(OUR_BIGRAMS, corpus)
    texts = corpus.strings()

    def left_out() -> float:
        fresh = model.copy()
        return seconds(lambda: fresh.loo_log_joint(texts, corpus.labels))

    def scored() -> float:
        fresh = model.copy()
        return seconds(lambda: fresh.log_joint(texts))

    return race(left_out, scored, bench.rounds(3, 7), megabytes=corpus.megabytes)
