"""The rows of the model that people run: the default, one document at a time, learning in between.

*default* is `NaiveBayes()` as it comes, tuning included; *plain* is `Model([words()])`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from measure import Contest, Corpus, Duel, Source, contest, one_core, race, seconds, weighed
from peers import FastTextPairs, VowpalWabbit, need, river_words, sklearn_letters, sklearn_svm, tokenized
from registry import Bench, at_least, at_most, row
from rows import OUR_BIGRAMS, OUR_LETTERS, OUR_WORDS, learned, learning, race_to_learn
from tuned_rows import Default, small_classes

living = partial(row, group="living")
SAMPLE = 100
"""So many documents are asked one by one; the figure is the mean."""


ON_ONE_THREAD = partial(Default, threads=1)


@cache
def default_of(source: Source) -> Any:
    """The default, fitted once for all rows."""
    return learned(ON_ONE_THREAD, source.read())


@cache
def pairs_of(source: Source) -> Any:
    """Words and pairs, learned once for all rows that put back what they change."""
    return learned(OUR_BIGRAMS, source.read())


@cache
def svm_of(source: Source) -> Any:
    need("sklearn")
    return learned(sklearn_svm, source.read())


# One document


def sample(source: Source, least: int = 0, most: int = 1 << 30) -> Corpus:
    """Documents of about the same length, and their labels."""
    corpus = source.read()
    chosen = [i for i, text in enumerate(corpus.texts) if least <= len(text) <= most][:SAMPLE]
    return Corpus([corpus.texts[i] for i in chosen], [corpus.labels[i] for i in chosen])


def reviews() -> Corpus:
    return sample(Source("imdb.test"), 1250, 1350)


def each_alone(learner: Any, corpus: Corpus) -> float:
    """Seconds a document, each asked by itself, of a model in use."""
    texts = corpus.strings()
    learner.predict(texts[:1])
    return seconds(lambda: [learner.predict([text]) for text in texts]) / len(texts)


def against_plain(bench: Bench, name: str, asked: Corpus) -> Duel:
    source = bench.source(f"{name}.train", 0.25)
    ours, plain = default_of(source), learned(OUR_WORDS, source.read())
    return race(lambda: each_alone(ours, asked), lambda: each_alone(plain, asked), bench.rounds(9, 25))


@living("one-review", "default, one review of imdb", "plain, the same", at_most(3, 1.5))
def one_review(bench: Bench) -> Duel:
    return against_plain(bench, "imdb", reviews())


@living("one-sentence", "default, one sentence of mr", "plain, the same", at_most(3, 1.5))
def one_sentence(bench: Bench) -> Duel:
    return against_plain(bench, "mr", sample(Source("mr.test")))


@living("one-post", "default, one post of 20ng", "plain, the same", at_most(3, 1.5))
def one_post(bench: Bench) -> Duel:
    return against_plain(bench, "20ng", sample(Source("20ng.test"), 500, 4000))


@living("one-review-svm", "default, one review of imdb", "tf-idf (1, 2) + LinearSVC", at_least(60, 200))
def one_review_svm(bench: Bench) -> Duel:
    source = bench.source("imdb.train", 0.25)
    ours, peer, asked = default_of(source), svm_of(source), reviews()
    return race(lambda: each_alone(ours, asked), lambda: each_alone(peer, asked), bench.rounds(5, 9))


# Many documents


def classifying(learner: Any, corpus: Corpus) -> float:
    texts = corpus.strings()
    return seconds(lambda: learner.predict(texts))


@living("classify-default-fasttext", "default, classify imdb.test", "fastText with pairs", at_least(8, 20))
def classify_default_fasttext(bench: Bench) -> Duel:
    """The peer from texts tokenized beforehand, bayleaf from raw text."""
    source, test = bench.source("imdb.train", 0.25), bench.source("imdb.test", 0.25).read()
    peer, texts = FastTextPairs(source.read(), bench.folder), tokenized(test)
    peer.learn()
    return race(
        lambda: classifying(default_of(source), test),
        lambda: peer.predict(texts),
        bench.rounds(2, 3),
        megabytes=test.megabytes,
    )


@living("classify-default-vw", "default, classify imdb.test", "Vowpal Wabbit with pairs", at_least(1, 2))
def classify_default_vw(bench: Bench) -> Duel:
    """The peer from a file tokenized beforehand, bayleaf from raw text."""
    source, test = bench.source("imdb.train", 0.25), bench.source("imdb.test", 0.25).read()
    ours, model = default_of(source), bench.folder / "pairs.vw"
    VowpalWabbit(source.read(), bench.folder, bigrams=True).learn_and_keep(model)
    peer = VowpalWabbit(test, bench.folder, bigrams=True)
    with one_core():
        return race(
            lambda: classifying(ours, test),
            lambda: peer.predict(model),
            bench.rounds(3, 7),
            megabytes=test.megabytes,
        )


@living("classify-default-20ng", "default, classify 20ng.test", "tf-idf (1, 2) + LinearSVC", at_least(20, 60))
def classify_default_20ng(bench: Bench) -> Duel:
    source, test = bench.source("20ng.train", 0.25), bench.source("20ng.test", 0.25).read()
    ours, peer = default_of(source), svm_of(source)
    return race(
        lambda: classifying(ours, test),
        lambda: classifying(peer, test),
        bench.rounds(2, 8),
        megabytes=test.megabytes,
    )


# The first answer


def first_and_second(bench: Bench, name: str, make: Callable[[], Any]) -> Duel:
    """The test set after `fit`, and once more: what is made at the first question is what lies between.

    Of as many first times as second ones the best: the best of more would be of a quieter moment.
    """
    train, test = bench.source(f"{name}.train", 0.25).read(), bench.source(f"{name}.test", 0.25).read()
    duel = Duel(megabytes=test.megabytes)
    for _ in range(bench.rounds(1, 4)):
        fitted = learned(make, train)
        duel.ours.append(classifying(fitted, test))
        duel.theirs.append(classifying(fitted, test))
    return duel


def our_language() -> Default:
    """The preset for languages, tuned."""
    import bayleaf

    return Default(views=bayleaf.preset("language"), threads=1)


def our_language_untuned() -> Default:
    import bayleaf

    return Default(views=bayleaf.preset("language"), tuning=None, threads=1)


FIRST = ("the second time", at_most(1.3, 1.1))


@living("first-answer-imdb", "default, imdb.test for the first time after fit", *FIRST)
def first_answer_imdb(bench: Bench) -> Duel:
    return first_and_second(bench, "imdb", ON_ONE_THREAD)


@living("first-answer-20ng", "default, 20ng.test for the first time after fit", *FIRST)
def first_answer_20ng(bench: Bench) -> Duel:
    return first_and_second(bench, "20ng", ON_ONE_THREAD)


@living("first-answer-languages", "preset language, languages.test for the first time after fit", *FIRST)
def first_answer_languages(bench: Bench) -> Duel:
    return first_and_second(bench, "languages", our_language)


# Learning in between


def learning_in_turn(model: Any, learned: Corpus, asked: Corpus) -> float:
    """Seconds to learn one document and classify another, in turn; what was learned is forgotten after."""
    texts, questions = learned.strings(), asked.strings()
    model.predict(questions[:1])

    def turns() -> None:
        for text, label, question in zip(texts, learned.labels, questions, strict=False):
            model.learn([text], [label])
            model.predict([question])

    elapsed = seconds(turns)
    turned = min(len(texts), len(questions))
    for text, label in zip(texts[:turned], learned.labels, strict=False):
        model.forget([text], [label])
    return elapsed / turned


def new_reviews() -> Corpus:
    """Reviews of the usual length that are not among those that are asked."""
    corpus = sample(Source("imdb.test"), 1150, 1249)
    return Corpus(corpus.texts, corpus.labels)


@living(
    "learn-and-classify",
    "learn one review, classify one, in turn; words + pairs of imdb",
    "classify one review",
    at_most(3, 2),
)
def learn_and_classify(bench: Bench) -> Duel:
    model, asked, new = pairs_of(bench.source("imdb.train", 0.25)), reviews(), new_reviews()
    return race(
        lambda: learning_in_turn(model, new, asked),
        lambda: each_alone(model, asked),
        bench.rounds(9, 25),
    )


_WORD = re.compile(r"\w+")


def ten_vocabularies(corpus: Corpus) -> Any:
    """Words and pairs of a corpus, and of nine copies with words of their own."""
    model: Any = learned(OUR_BIGRAMS, corpus)
    for copy in range(9):
        changed = _WORD.sub(rf"\g<0>q{copy}", "\x01".join(corpus.strings())).split("\x01")
        model.learn(changed, corpus.labels)
    return model


@living(
    "learn-and-classify-10",
    "the same with ten times the vocabulary",
    "with the vocabulary of imdb",
    at_most(1.5, 1.2),
)
def learn_and_classify_ten(bench: Bench) -> Duel:
    source = bench.source("imdb.train", 0.25)
    one, ten, asked, new = pairs_of(source), ten_vocabularies(source.read()), reviews(), new_reviews()
    return race(
        lambda: learning_in_turn(ten, new, asked),
        lambda: learning_in_turn(one, new, asked),
        bench.rounds(9, 15),
    )


def correcting(model: Any, corpus: Corpus) -> float:
    """Seconds to forget a learned document, learn it with another label, and classify it."""
    texts = corpus.strings()
    other = {label: next(each for each in corpus.labels if each != label) for label in set(corpus.labels)}
    model.predict(texts[:1])

    def turns() -> None:
        for text, label in zip(texts, corpus.labels, strict=True):
            model.forget([text], [label])
            model.learn([text], [other[label]])
            model.predict([text])

    elapsed = seconds(turns)
    for text, label in zip(texts, corpus.labels, strict=True):
        model.forget([text], [other[label]])
        model.learn([text], [label])
    return elapsed / len(texts)


@living(
    "correct-one",
    "forget one review, learn it with another label, classify it",
    "learn one and classify one",
    at_most(2, 1.5),
)
def correct_one(bench: Bench) -> Duel:
    model, asked, new = pairs_of(bench.source("imdb.train", 0.25)), reviews(), new_reviews()
    known = new_reviews()
    model.learn(known.strings(), known.labels)
    duel = race(
        lambda: correcting(model, known),
        lambda: learning_in_turn(model, new, asked),
        bench.rounds(9, 25),
    )
    model.forget(known.strings(), known.labels)
    return duel


def test_then_learn(model: Any, texts: Sequence[str], labels: Sequence[str]) -> float:
    """Seconds a document to answer it, then to learn it, from the first on."""

    def turns() -> None:
        for text, label in zip(texts, labels, strict=True):
            model.predict_one(text)
            model.learn_one(text, label)

    return seconds(turns) / len(texts)


def against_river(bench: Bench, corpus: Corpus, ours: Callable[[], Any]) -> Duel:
    need("river")
    return race(
        lambda: test_then_learn(ours(), corpus.strings(), corpus.labels),
        lambda: test_then_learn(river_words(), corpus.strings(), corpus.labels),
        bench.rounds(1, 2),
    )


def stream_of(bench: Bench, *parts: str, step: int = 1) -> Corpus:
    sources = [bench.source(part).read() for part in parts]
    texts = [text for source in sources for text in source.texts][::step]
    return Corpus(texts, [label for source in sources for label in source.labels][::step])


def our_default() -> Any:
    import bayleaf

    return bayleaf.NaiveBayes()


RIVER = ("River: BagOfWords + MultinomialNB", at_least(10, 40))


@living("stream-sms", "test, then learn, sms, default", *RIVER)
def stream_sms(bench: Bench) -> Duel:
    return against_river(bench, stream_of(bench, "sms.train", "sms.test"), our_default)


@living("stream-sms-plain", "test, then learn, sms, plain", *RIVER)
def stream_sms_plain(bench: Bench) -> Duel:
    return against_river(bench, stream_of(bench, "sms.train", "sms.test"), OUR_WORDS)


@living("stream-20ng", "test, then learn, 20ng, default", *RIVER)
def stream_20ng(bench: Bench) -> Duel:
    return against_river(bench, stream_of(bench, "20ng.train", step=20 if bench.quick else 4), our_default)


@living("stream-20ng-plain", "test, then learn, 20ng, plain", *RIVER)
def stream_20ng_plain(bench: Bench) -> Duel:
    return against_river(bench, stream_of(bench, "20ng.train", step=20 if bench.quick else 4), OUR_WORDS)


# Tuning many classes


def languages_contest() -> Contest:
    """Tuned against untuned, each in a process of its own; of all documents, as fixed costs would decide.

    A slice of a fifth has a fifth of the documents that are counted, but as many that are weighed.
    """
    return contest(TUNED, our_language, our_language_untuned, Source("languages.train"))


TUNED: dict[str, Contest] = {}


@living("tune-languages", "default fit, preset language, 79 classes", "untuned fit", at_most(8, 4))
def tune_languages(_: Bench) -> Duel:
    return weighed(languages_contest(), lambda each: each.learn)


@living("tune-languages-memory", "memory that the default fit adds", "untuned fit", at_most(3, 2))
def tune_languages_memory(_: Bench) -> Duel:
    return weighed(languages_contest(), lambda each: each.added, unit="B")


@living("learn-letters-living", "learn letters 1–4, languages", "scikit-learn", at_least(50, 100))
def learn_letters_living(bench: Bench) -> Duel:
    """In a warm process, as this group is measured; `learn-letters-sklearn` is the same in fresh ones."""
    source = bench.source("languages.train", 0.2)
    peer = partial(learning, sklearn_letters, source.read())
    return race_to_learn(source, OUR_LETTERS, peer, bench.rounds(1, 3))


@living(
    "tune-small-classes", "default fit, 2,000 classes of six texts", "untuned fit, same views", at_most(10, 5)
)
def tune_small_classes(bench: Bench) -> Duel:
    corpus = small_classes(500 if bench.quick else 2000)
    of_few: Any = learned(ON_ONE_THREAD, small_classes(50))
    untuned = partial(Default, views=of_few.model.views_, tuning=None, threads=1)
    return race(
        lambda: learning(ON_ONE_THREAD, corpus), lambda: learning(untuned, corpus), bench.rounds(1, 3)
    )
