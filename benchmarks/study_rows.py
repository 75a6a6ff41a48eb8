"""The row of `bayleaf study`: a grid, cross-validated, against as many refits in scikit-learn."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from measure import Corpus, Duel, race, seconds
from peers import need
from registry import Bench, at_least, row

FOLDS = 10
_WORD = re.compile(r"(?u)\b\w+\b")


def ours(corpus: Corpus) -> float:
    """The whole grid from new strings."""
    import bayleaf

    texts = corpus.strings()
    return seconds(lambda: bayleaf.study(texts, corpus.labels, folds=FOLDS, threads=1))


@cache
def _forms(normalizer: str) -> Callable[[str], str]:
    """A normalizer that looks each different word up once in its life, which scikit-learn would not do."""
    from bayleaf.text.languages import lemmatizer, stemmer

    step = stemmer("porter") if normalizer == "porter" else lemmatizer("english")
    return cache(lambda word: step([word])[0])


def vectorizer(given: Any) -> Any:
    """What looks at texts as the combination does; the most frequent terms are not left out: it is spared."""
    from sklearn.feature_extraction.text import CountVectorizer

    binary = given.weighting == "binary"
    kind, _, span = given.ngrams.rpartition(":")
    first, _, last = span.partition("-")
    ngrams = int(first), int(last or first)
    if kind:
        return CountVectorizer(analyzer="char_wb", ngram_range=ngrams, binary=binary)
    stops = "english" if given.stop_words == "english" else None
    if given.normalizer == "none":
        settings: dict[str, Any] = {"token_pattern": _WORD.pattern}
    else:
        form = _forms(given.normalizer)
        settings = {
            "tokenizer": lambda text: [form(word) for word in _WORD.findall(text)],
            "token_pattern": None,
        }
    return CountVectorizer(ngram_range=ngrams, stop_words=stops, binary=binary, **settings)


def pipeline(given: Any) -> Any:
    """A vectorizer, a weighting where there is one, and a naive Bayes classifier."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.naive_bayes import BernoulliNB, MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    weightings = {
        "normalized": lambda: [Normalizer("l1")],
        "log": lambda: [TfidfTransformer(use_idf=False, norm=None, sublinear_tf=True)],
        "tf-idf": lambda: [TfidfTransformer()],
    }
    model = BernoulliNB() if given.event == "bernoulli" else MultinomialNB()
    return make_pipeline(vectorizer(given), *weightings.get(given.weighting, list)(), model)


def one_fold(corpus: Corpus, given: Any) -> float:
    """Learn nine tenths and ask for the probabilities of one."""
    texts, labels = corpus.strings(), corpus.labels
    train = [i for i in range(len(texts)) if i % FOLDS]
    test, X = texts[::FOLDS], [texts[i] for i in train]
    y = [labels[i] for i in train]
    return seconds(lambda: pipeline(given).fit(X, y).predict_proba(test))


def theirs(corpus: Corpus, step: int) -> float:
    """Every so many of the combinations on one fold each, extrapolated to the whole grid and all folds."""
    import warnings

    from bayleaf.studies.grid import grid

    every = grid()
    sample = every[::step]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for normalizer in ("porter", "lemmas"):
            [_forms(normalizer)(word) for text in corpus.strings() for word in _WORD.findall(text.lower())]
        return sum(one_fold(corpus, each) for each in sample) / len(sample) * len(every) * FOLDS


@row(
    "study",
    "cross-validate the default grid of study, sms",
    "scikit-learn, refitted for each fold",
    at_least(50, 500),
    group="study",
)
def study(bench: Bench) -> Duel:
    """The peer's time is extrapolated from one fold of every so many combinations."""
    need("sklearn")
    sources = [bench.source(f"sms.{part}").read() for part in ("train", "test")]
    corpus = Corpus(
        [text for source in sources for text in source.texts],
        [label for source in sources for label in source.labels],
    )
    ours(corpus)
    step = 11 if bench.quick else 2
    duel = race(lambda: ours(corpus), lambda: theirs(corpus, step), bench.rounds(2, 3))
    duel.remark = f"scikit-learn: extrapolated from one fold of one combination in {step}"
    return duel
