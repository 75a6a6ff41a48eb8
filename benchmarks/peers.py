"""Whom bayleaf is compared with, each at its best: what a peer need not do for its answer is left out."""

from __future__ import annotations

import locale
import os
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from measure import Corpus, UnavailableError, process_seconds, seconds

PACKAGES = {
    "sklearn": ["scikit-learn"],
    "vowpalwabbit": ["vowpalwabbit"],
    "fasttext": ["fasttext", "fasttext-wheel"],
    "river": ["river"],
}


def need(module: str) -> None:
    """Leave the row out, with a remark, where a peer is not installed."""
    if find_spec(module) is None:
        raise UnavailableError(f"{PACKAGES[module][0]} is not installed (pip install {PACKAGES[module][-1]})")


def versions() -> dict[str, str]:
    """The release of each peer that is installed."""
    found = {}
    for package in ["bayleaf", "numpy", *(name for names in PACKAGES.values() for name in names)]:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


class Sklearn:
    """A vectorizer and a MultinomialNB with alpha 1."""

    def __init__(self, vectorizer: Any) -> None:
        from sklearn.naive_bayes import MultinomialNB

        self.vectorizer = vectorizer
        self.model = MultinomialNB()

    def learn(self, texts: list[str], labels: list[str]) -> None:
        self.model.fit(self.vectorizer.fit_transform(texts), labels)

    def predict(self, texts: list[str]) -> Sequence[Any]:
        answers: Sequence[Any] = self.model.predict(self.vectorizer.transform(texts))
        return answers


def sklearn_words() -> Sklearn:
    return _sklearn_counts()


def sklearn_bigrams() -> Sklearn:
    return _sklearn_counts(ngram_range=(1, 2))


def sklearn_svm() -> Sklearn:
    """A linear SVM on tf-idf of words and pairs: what naive Bayes is measured by."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    learner = Sklearn(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True))
    learner.model = LinearSVC()
    return learner


def sklearn_letters() -> Sklearn:
    return _sklearn_counts(analyzer="char_wb", ngram_range=(1, 4))


def sklearn_language() -> Sklearn:
    """The counts of bayleaf's preset `language`."""
    return _sklearn_counts(analyzer="char_wb", ngram_range=(1, 5))


def sklearn_kmers() -> Sklearn:
    """The setting of QIIME 2's taxonomy classifier, spared its row norm and lower-casing."""
    need("sklearn")
    from sklearn.feature_extraction.text import HashingVectorizer

    return Sklearn(
        HashingVectorizer(
            analyzer="char",
            ngram_range=(7, 7),
            n_features=8192,
            alternate_sign=False,
            norm=None,
            lowercase=False,
        )
    )


def _sklearn_counts(**settings: Any) -> Sklearn:
    need("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer

    return Sklearn(CountVectorizer(**settings))


def wc_words(path: Path) -> float:
    """Seconds of `wc -w`, process included, on a file the system has just written or read."""
    return process_seconds(["wc", "-w", path])


def wc_locale() -> str:
    """The locale `wc` counts in: in a UTF-8 locale it decodes, in the C locale it does not."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    return next((name for name in names if name), None) or locale.getlocale()[0] or "C"


_WORD = re.compile(r"\b\w\w+\b")


def tokenized(corpus: Corpus) -> list[str]:
    """Lower-case words between blanks: the tokenizing that these peers leave to whoever writes their file."""
    return [_words(text) for text in corpus.strings()]


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


class VowpalWabbit:
    """One pass over a file tokenized beforehand, two classes.

    Its table of weights is chosen so large that fewer than one term in ten shares its weight with another,
    as bayleaf counts every term apart: 2^20 for the 75 thousand words of imdb, 2^24 for its 1.5 million words
    and bigrams.
    """

    def __init__(self, corpus: Corpus, folder: Path, *, bigrams: bool = False) -> None:
        need("vowpalwabbit")
        self.file = folder / "tokens.vw"
        self.settings = ["--ngram", "2", "-b", "24"] if bigrams else ["-b", "20"]
        first = min(corpus.labels)
        signs = [1 if label == first else -1 for label in corpus.labels]
        lines = [f"{sign} | {text}\n" for sign, text in zip(signs, tokenized(corpus), strict=True)]
        self.file.write_text("".join(lines), "utf-8")

    def learn(self) -> float:
        return self._run("--loss_function", "logistic", *self.settings)

    def learn_and_keep(self, model: Path) -> None:
        self._run("--loss_function", "logistic", *self.settings, "-f", str(model))

    def predict(self, model: Path) -> float:
        return self._run("-t", "-i", str(model), "--binary", "-p", f"{model}.answers")

    def _run(self, *arguments: str) -> float:
        from vowpalwabbit import Workspace

        command = ["--quiet", "-d", str(self.file), *arguments]
        return seconds(lambda: Workspace(arg_list=command).finish())


class FastText:
    """Its default setting (five passes) on one thread, on a file tokenized beforehand."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        need("fasttext")
        self.file = folder / "tokens.fasttext"
        lines = zip(corpus.labels, tokenized(corpus), strict=True)
        self.file.write_text("".join(f"__label__{label} {text}\n" for label, text in lines), "utf-8")
        self.model: Any = None

    settings: ClassVar[dict[str, Any]] = {}

    def learn(self) -> float:
        import fasttext

        def train() -> None:
            self.model = fasttext.train_supervised(input=str(self.file), thread=1, verbose=0, **self.settings)

        return seconds(train)

    def predict(self, texts: list[str]) -> float:
        return seconds(lambda: self.model.predict(texts))


class FastTextPairs(FastText):
    """The same with pairs of words."""

    settings: ClassVar[dict[str, Any]] = {"wordNgrams": 2}


def river_words() -> Any:
    """River's naive Bayes, one document at a time: its own words, lower-cased, and alpha 1."""
    need("river")
    from river.feature_extraction import BagOfWords
    from river.naive_bayes import MultinomialNB

    return BagOfWords(lowercase=True) | MultinomialNB(alpha=1)  # type: ignore[no-untyped-call]


class FastTextClassifier:
    """fastText as its tutorial advises: words and pairs, 25 passes, learning rate 1; one thread, so that all
    runs are the same. Texts are tokenized as above, which is part of the time.

    Its own `predict` asks NumPy for something that NumPy 2 no longer has, so the function below it is called.
    """

    def __init__(self) -> None:
        need("fasttext")
        self.classes_: list[str] = []
        self._model: Any = None

    def fit(self, texts: list[str], labels: list[str]) -> None:
        import tempfile

        import fasttext

        self.classes_ = sorted(set(labels))
        number = {label: i for i, label in enumerate(self.classes_)}
        lines = (f"__label__{number[y]} {_words(x)}\n" for x, y in zip(texts, labels, strict=True))
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.writelines(lines)
            file.flush()
            self._model = fasttext.train_supervised(
                input=file.name, lr=1.0, epoch=25, wordNgrams=2, bucket=200_000, dim=50, thread=1, verbose=0
            )

    def predict_proba(self, texts: list[str]) -> Any:
        import numpy as np

        posterior = np.zeros((len(texts), len(self.classes_)))
        for row, text in zip(posterior, texts, strict=True):
            for probability, label in self._model.f.predict(_words(text) + "\n", -1, 0.0, "strict"):
                row[int(label.removeprefix("__label__"))] = probability
        return posterior / posterior.sum(axis=1, keepdims=True)
