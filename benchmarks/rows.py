"""The rows of the speed table, one function each.

To add a row, write a function that takes the `Bench` and returns a `Duel`, and put `@row(...)` above it: its
name, group, the work, the peer, and the bar (`at_least` times as fast, or `at_most` that share of the peer).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from measure import (
    Contest,
    Corpus,
    Duel,
    Learner,
    Source,
    accuracy,
    contest,
    one_core,
    process_seconds,
    race,
    seconds,
    weighed,
)
from peers import (
    FastText,
    VowpalWabbit,
    sklearn_bigrams,
    sklearn_kmers,
    sklearn_language,
    sklearn_letters,
    sklearn_words,
    tokenized,
    wc_words,
)
from registry import Bench, at_least, at_most, row

# bayleaf's side


def bayleaf(view: str, *arguments: Any, threads: int = 1, **settings: Any) -> Any:
    """A model with one view; imported here, so that a broken build fails rows and not the run."""
    import bayleaf

    return bayleaf.Model(views=[getattr(bayleaf, view)(*arguments, **settings)], threads=threads)


OUR_WORDS = partial(bayleaf, "words")
OUR_BIGRAMS = partial(bayleaf, "words", ngrams=(1, 2))
OUR_LETTERS = partial(bayleaf, "chars", 1, 4)
OUR_KMERS = partial(bayleaf, "bytes_", 8, alpha=0.005)


def our_language() -> Any:
    """The preset for languages."""
    import bayleaf

    return bayleaf.Model(bayleaf.preset("language"), threads=1)


def learning(make: Callable[[], Learner], corpus: Corpus) -> float:
    """Seconds to learn a corpus from new strings into a new model."""
    learner, texts = make(), corpus.strings()
    return seconds(lambda: learner.learn(texts, corpus.labels))


def learned(make: Callable[[], Learner], corpus: Corpus) -> Learner:
    learner = make()
    learner.learn(corpus.strings(), corpus.labels)
    return learner


def race_to_learn(
    source: Source, ours: Callable[[], Learner], theirs: Callable[[], float], rounds: int
) -> Duel:
    corpus = source.read()
    return race(partial(learning, ours, corpus), theirs, rounds, megabytes=corpus.megabytes)


# words


@cache
def text_file(folder: Path, source: Source) -> Path:
    """The texts alone, a line each, read once so that the file is in memory."""
    path = folder / f"{source.name}.txt"
    path.write_bytes(b"\n".join(source.read().texts) + b"\n")
    wc_words(path)
    return path


@row("learn-words-wc", "learn words, imdb.train", "wc -w", at_least(1.5, 2.5))
def learn_words_wc(bench: Bench) -> Duel:
    source = bench.source("imdb.train")
    counting = partial(wc_words, text_file(bench.folder, source))
    return race_to_learn(source, OUR_WORDS, counting, bench.rounds(7, 15))


@row("learn-words-wc-2", "the same on two threads", "wc -w", at_least(2.5, 4))
def learn_words_wc_two_threads(bench: Bench) -> Duel:
    source = bench.source("imdb.train")
    counting = partial(wc_words, text_file(bench.folder, source))
    return race_to_learn(source, partial(OUR_WORDS, threads=2), counting, bench.rounds(7, 15))


@row("learn-words-sklearn", "learn words, imdb.train", "scikit-learn", at_least(30, 50))
def learn_words_sklearn(bench: Bench) -> Duel:
    source = bench.source("imdb.train", 0.25)
    peer = partial(learning, sklearn_words, source.read())
    return race_to_learn(source, OUR_WORDS, peer, bench.rounds(3, 4))


@row("classify-sklearn", "classify imdb.test", "scikit-learn", at_least(30, 50))
def classify_sklearn(bench: Bench) -> Duel:
    """Ours has learned anew each time: what it prepares when first asked is part of the first answer."""
    train, test = bench.source("imdb.train", 0.25).read(), bench.source("imdb.test", 0.25).read()
    peer, right = learned(sklearn_words, train), dict[str, float]()

    def classify(side: str, learner: Learner) -> float:
        texts, answers = test.strings(), list[Any]()
        elapsed = seconds(lambda: answers.extend(learner.predict(texts)))
        right[side] = accuracy(answers, test.labels)
        return elapsed

    duel = race(
        lambda: classify("bayleaf", learned(OUR_WORDS, train)),
        lambda: classify("scikit-learn", peer),
        bench.rounds(3, 4),
        megabytes=test.megabytes,
    )
    duel.remark = right_answers(right)
    return duel


def right_answers(right: dict[str, float]) -> str:
    return "right answers: " + ", ".join(f"{side} {share:.2%}" for side, share in sorted(right.items()))


@row("learn-bigrams-sklearn", "learn words + bigrams, imdb.train", "scikit-learn", at_least(20, 40))
def learn_bigrams_sklearn(bench: Bench) -> Duel:
    source = bench.source("imdb.train", 0.25)
    peer = partial(learning, sklearn_bigrams, source.read())
    return race_to_learn(source, OUR_BIGRAMS, peer, 2)


@row("learn-words-vw", "learn words, imdb.train", "Vowpal Wabbit", at_least(4, 8))
def learn_words_vw(bench: Bench) -> Duel:
    source = bench.source("imdb.train")
    peer = VowpalWabbit(source.read(), bench.folder)
    with one_core():
        return race_to_learn(source, OUR_WORDS, peer.learn, bench.rounds(3, 7))


@row("learn-bigrams-vw", "learn words + bigrams, imdb.train", "Vowpal Wabbit", at_least(2, 4))
def learn_bigrams_vw(bench: Bench) -> Duel:
    source = bench.source("imdb.train")
    peer = VowpalWabbit(source.read(), bench.folder, bigrams=True)
    with one_core():
        return race_to_learn(source, OUR_BIGRAMS, peer.learn, bench.rounds(3, 7))


@row("classify-one", "classify one review, in process", "scikit-learn", at_least(40, 100))
def classify_one(bench: Bench) -> Duel:
    """The mean over 100 reviews of about 1.3 kB, each asked alone."""
    train, test = bench.source("imdb.train", 0.25).read(), Source("imdb.test").read()
    reviews = Corpus([text for text in test.texts if 1250 <= len(text) <= 1350][:100], [])
    peer, ours = learned(sklearn_words, train), cache(lambda: learned(OUR_WORDS, train))

    def one_by_one(learner: Learner) -> float:
        texts = reviews.strings()
        learner.predict(texts[:1])
        return seconds(lambda: [learner.predict([text]) for text in texts]) / len(texts)

    return race(lambda: one_by_one(ours()), lambda: one_by_one(peer), bench.rounds(7, 15))


# letters and k-mers: heavy, so that each run has a process of its own


def words_contest(bench: Bench) -> Contest:
    return contest(bench.contests, OUR_WORDS, sklearn_words, bench.source("imdb.train"), None)


def letters_contest(bench: Bench) -> Contest:
    return contest(bench.contests, OUR_LETTERS, sklearn_letters, bench.source("languages.train", 0.2), None)


def taxa_contest(bench: Bench) -> Contest:
    train, test = bench.source("taxa.train", 0.05), bench.source("taxa.test", 0.05)
    return contest(bench.contests, OUR_KMERS, sklearn_kmers, train, test)


@row("learn-letters-sklearn", "learn letters 1–4, languages", "scikit-learn", at_least(15, 30))
def learn_letters(bench: Bench) -> Duel:
    megabytes = bench.source("languages.train", 0.2).read().megabytes
    return weighed(letters_contest(bench), lambda each: each.learn, megabytes=megabytes)


@row("memory-words", "memory learning adds, words, imdb", "scikit-learn", at_most(1 / 4, 1 / 8))
def memory_words(bench: Bench) -> Duel:
    return weighed(words_contest(bench), lambda each: each.added, unit="B")


@row("memory-letters", "memory learning adds, letters, languages", "scikit-learn", at_most(1 / 5, 1 / 20))
def memory_letters(bench: Bench) -> Duel:
    return weighed(letters_contest(bench), lambda each: each.added, unit="B")


@row(
    "memory-language",
    "memory learning and classifying add, preset language",
    "scikit-learn",
    at_most(1 / 5, 1 / 20),
    group="text",
)
def memory_language(bench: Bench) -> Duel:
    """The same counts on both sides."""
    train, test = bench.source("languages.train", 0.2), bench.source("languages.test", 0.2)
    contested = contest({}, our_language, sklearn_language, train, test)
    duel = weighed(contested, lambda each: each.in_all, unit="B")
    sides = {"bayleaf": contested.ours, "scikit-learn": contested.theirs}
    duel.remark = right_answers({side: trials[0].accuracy or 0 for side, trials in sides.items() if trials})
    return duel


@row("start", "process start to first answer, words + bigrams", "import numpy", at_most(3, 1.5))
def start(bench: Bench) -> Duel:
    """Whole processes of this interpreter, the model file in memory, the median of many turns."""
    source, model = bench.source("imdb.train"), bench.folder / "imdb.bayleaf"
    question = "A film to see twice, if only for the ending."
    answer = f"from bayleaf import Model; Model.load({str(model)!r}).predict([{question!r}])"

    def ours() -> float:
        if not model.exists():
            saved = bayleaf("words", ngrams=(1, 2))
            saved.learn(source.read().strings(), source.read().labels)
            saved.save(model)
            process_seconds([sys.executable, "-c", answer])
        return process_seconds([sys.executable, "-c", answer])

    peer = partial(process_seconds, [sys.executable, "-c", "import numpy"])
    peer()
    return race(ours, peer, bench.rounds(15, 41), best=False)


@row("learn-taxa", "learn 8-mers, taxa, 1,739 classes", "scikit-learn", at_least(10, 50))
def learn_taxa(bench: Bench) -> Duel:
    megabytes = bench.source("taxa.train", 0.05).read().megabytes
    return weighed(taxa_contest(bench), lambda each: each.learn, megabytes=megabytes)


@row("memory-taxa", "memory learning adds, 8-mers, taxa", "scikit-learn", at_most(1 / 4, 1 / 4))
def memory_taxa(bench: Bench) -> Duel:
    return weighed(taxa_contest(bench), lambda each: each.added, unit="B")


@row("classify-taxa", "classify taxa", "scikit-learn", at_least(10, 50))
def classify_taxa(bench: Bench) -> Duel:
    megabytes = bench.source("taxa.test", 0.05).read().megabytes
    contested = taxa_contest(bench)
    sides = {"bayleaf": contested.ours, "scikit-learn": contested.theirs}
    right = {side: trials[0].accuracy or 0 for side, trials in sides.items() if trials}
    duel = weighed(contested, lambda each: each.classify, megabytes=megabytes)
    duel.remark = right_answers(right)
    return duel


# normalizing


def against_plain(bench: Bench, **settings: Any) -> Duel:
    """bayleaf on both sides: words that are normalized, and words as they come."""
    source = bench.source("imdb.train")
    plain = partial(learning, OUR_WORDS, source.read())
    return race_to_learn(source, partial(bayleaf, "words", **settings), plain, bench.rounds(5, 25))


@row(
    "learn-stemmed",
    "stop words + Porter while learning imdb",
    "plain learning",
    at_most(1.15, 1.05),
    group="text",
)
def learn_stemmed(bench: Bench) -> Duel:
    return against_plain(bench, stop_words="english", stemmer="porter")


@row(
    "learn-function",
    "a Python callback for each word while learning imdb",
    "plain learning",
    at_most(1.3, 1.1),
    group="text",
)
def learn_function(bench: Bench) -> Duel:
    """The function is called once for each surface form."""
    return against_plain(bench, normalizer=str.casefold)


# peers without a bar, for the record


@row("classify-vw", "classify imdb.train", "Vowpal Wabbit", group="more")
def classify_vw(bench: Bench) -> Duel:
    """The peer from a file tokenized beforehand, bayleaf from raw text."""
    corpus, model = bench.source("imdb.train").read(), bench.folder / "model.vw"
    peer = VowpalWabbit(corpus, bench.folder)
    peer.learn_and_keep(model)
    with one_core():
        return race(
            partial(classifying, corpus, corpus),
            lambda: peer.predict(model),
            bench.rounds(3, 7),
            megabytes=corpus.megabytes,
        )


def classifying(train: Corpus, test: Corpus) -> float:
    ours, texts = learned(OUR_WORDS, train), test.strings()
    return seconds(lambda: ours.predict(texts))


@row("learn-words-fasttext", "learn words, imdb.train", "fastText", group="more")
def learn_words_fasttext(bench: Bench) -> Duel:
    source = bench.source("imdb.train", 0.25)
    peer = FastText(source.read(), bench.folder)
    return race_to_learn(source, OUR_WORDS, peer.learn, bench.rounds(1, 2))


@row("classify-fasttext", "classify imdb.test", "fastText", group="more")
def classify_fasttext(bench: Bench) -> Duel:
    train, test = bench.source("imdb.train", 0.25).read(), bench.source("imdb.test", 0.25).read()
    peer, texts = FastText(train, bench.folder), tokenized(test)
    peer.learn()
    return race(
        partial(classifying, train, test),
        lambda: peer.predict(texts),
        bench.rounds(2, 3),
        megabytes=test.megabytes,
    )
