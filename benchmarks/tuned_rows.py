"""The rows of earned weights: `NaiveBayes().fit`, and leaving documents out of the counts."""

from __future__ import annotations

import random
from itertools import accumulate
from typing import Any

from measure import Corpus, Duel, race, seconds
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


def small_classes(classes: int, of_each: int = 6) -> Corpus:
    """Texts of 30 words, a few of which their class has of its own."""
    draw = random.Random(0)
    common = [f"w{i}" for i in range(20_000)]
    odds = list(accumulate(1 / (i + 1) for i in range(len(common))))
    texts, labels = list[bytes](), list[str]()
    for number in range(classes):
        own = draw.sample(common, 8)
        for _ in range(of_each):
            telling = draw.choices(own, k=draw.randint(2, 7))
            words = draw.choices(common, cum_weights=odds, k=30 - len(telling)) + telling
            draw.shuffle(words)
            texts.append(" ".join(words).encode())
            labels.append(f"c{number}")
    return Corpus(texts, labels)
