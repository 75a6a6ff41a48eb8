# ruff: noqa: E501
"""What is fuzzed in Python: each target takes any bytes, and raises nothing but what a user is promised."""

from __future__ import annotations

import copy
import io
import os
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import service_targets

from bayleaf import (
    Model,
    bins,
    bytes_,
    category,
    chars,
    counts,
    flag,
    kernel,
    mail_columns,
    normal,
    storage,
    words,
)
from bayleaf.corpus import CorpusError, open_corpus
from bayleaf.storage import ModelFileError
from bayleaf.text.mail_html import link_domains, visible_text
from bayleaf.text.normalization import FunctionNeeded
from bayleaf.text.views import TextView
from bayleaf.tuning import Tuning

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 2**31, 2**32, 2**63, -(2**63), 2**64, 10**30, 0.0, 0.5, -1.5, 1e308, 1e-320,
    "", "a", "\0", "x" * 50, [], [1], ["a"], [[]], [["a", 1]], {}, {"a": 1}, {"function": "f"}, "words", "(", r"(\w+)",
    "porter", "english", "bernoulli", "tf-idf", "terms", "smooth", 64, 65, 9, 17,
]  # fmt: skip
TYPES = (np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64)


@cache
def models() -> list[tuple[dict[str, Any], list[dict[str, Any]], Any]]:
    """Models of every kind of view and tuning: settings, arrays, and what to ask them."""
    texts = [
        "win a prize win now",
        "see you at noon",
        "a prize a day",
        "noon café tea",
        "日本語 テスト",
        "",
    ] * 6
    labels = ["spam", "ham", "spam", "ham", 3, 1.5] * 6
    rows = 36
    noise = np.random.default_rng(0).normal(size=rows).round(2)
    table: dict[str, Any] = {"c": ["u", "v", None, "w"] * 9, "f": ["yes", "no"] * 18, "n": noise, "k": noise, "b": noise,
             "cc": np.arange(2 * rows).reshape(rows, 2) % 5, "t": texts}  # fmt: skip
    views: dict[str, Any] = {"c": category(values=["z"]), "f": flag(), "n": normal(), "k": kernel(), "b": bins(4),
             "cc": counts(), "t": [words(), chars(3)]}  # fmt: skip
    made: list[tuple[Model, Any]] = [
        (Model([words()]).learn(texts, labels), texts[:3]),
        (Model([words(2, sparse=3), chars(2, 3, event="bernoulli"), bytes_(3, tf="normalized")], unseen="smooth")
         .learn(texts, labels), texts[:3]),
        (Model([words(event="complement", tf="tf-idf")], alpha=0).learn(texts, labels), texts[:3]),
        (Model(views).learn(table, ["p", "q", "r"] * 12), {name: own[:3] for name, own in table.items()}),
    ]  # fmt: skip
    levels: tuple[Tuning, ...] = ("temperature", "views", "terms")
    for level in levels:
        tuned = Model([words(2), chars(3)]).learn(texts, labels).tune(texts, labels, level)
        made.append((tuned, texts[:3]))
    return [(*storage.unpack(model.to_bytes(), "a seed"), asked) for model, asked in made]


def model_file(data: bytes) -> None:
    """A file by an author who can write its checksum is refused in a sentence, or a model like any other."""
    chance = random.Random(data)
    settings, arrays, asked = copy.deepcopy(chance.choice(models()))
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        chance.choice([_change_settings, _change_array])(chance, settings, arrays)
    try:
        file = storage.pack(settings, arrays)
    except (ValueError, TypeError, OverflowError, KeyError, AttributeError, UnicodeError):
        return
    for each in (file, _cut(chance, file)):
        try:
            model = Model.from_bytes(each)
        except (ModelFileError, FunctionNeeded):
            continue
        _use(model, asked)


def _change_settings(chance: random.Random, settings: Any, _: Any) -> None:
    at: Any = settings
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = chance.choice(keys)
        if isinstance(at[key], dict | list) and at[key] and chance.random() < 0.8:
            at = at[key]
            continue
        if chance.random() < 0.1:
            del at[key]
        else:
            at[key] = copy.deepcopy(chance.choice(VALUES))
        return


def _change_array(chance: random.Random, _: Any, arrays: list[dict[str, Any]]) -> None:
    own = chance.choice(arrays)
    name = chance.choice(sorted(own))
    array = np.array(own[name])
    with np.errstate(all="ignore"):
        match chance.randrange(6):
            case 0:
                array = array[: chance.randrange(len(array) + 1)]
            case 1:
                array = np.concatenate([array, array[:1]])
            case 2:
                array = array.astype(chance.choice(TYPES))
            case 3:
                array = np.array(own[chance.choice(sorted(own))])
            case _ if len(array):
                wide = array if array.dtype.kind == "f" else array.astype(np.uint64)
                wide[chance.randrange(len(wide))] = chance.choice(
                    [0, 1, 2, 255, 2**31, 2**32 - 1, 2**47, 2**48, 2**63]
                )
                array = wide
    own[name] = array


def _cut(chance: random.Random, file: bytes) -> bytes:
    damaged = bytearray(file)
    damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged[: chance.choice([len(file), chance.randrange(len(file))])])


def _use(model: Model, asked: Any) -> None:
    """Everything that a user does with a loaded model; what does not fit it is refused in a sentence."""
    before = model.to_bytes()
    assert Model.from_bytes(before).to_bytes() == before
    label = model.classes[0] if model.classes else "new"
    row = {name: own[0] for name, own in asked.items()} if isinstance(asked, dict) else asked[0]
    for work in (
        lambda: _posterior(model, asked),
        lambda: model.predict(asked),
        lambda: str(model.explain(row)),
        lambda: model.top_terms(label),
        lambda: model.copy().learn(asked, [label] * 3).forget(asked, [label] * 3),
        lambda: model.copy().merge(model),
        lambda: model.loo_log_joint(asked, [label] * 3),
    ):
        try:
            work()
        except (ValueError, TypeError) as error:
            _is_a_sentence(error)
    assert model.to_bytes() == before


def _is_a_sentence(error: Exception, about: str = "") -> None:
    said = str(error)
    assert about in said
    assert said[:1].isupper() or said[:1] in "`[\"'/0123456789", said
    assert said.endswith((".", "?", "…")), said


def _posterior(model: Model, asked: Any) -> None:
    posterior = model.posterior(asked)
    assert np.isfinite(posterior).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1, atol=1e-6)


VIEWS: list[TextView] = [
    words(), words(2, sparse=4), words(tokenizer="words+punctuation", keep=["url", "email", "money", "emoji", "hashtag"]),
    words(tokenizer="whitespace", lower=False), words(tokenizer=r"\w[\w']*"), words(spaceless="keep", marks=False),
    words(stemmer="porter", stop_words="english", strip_accents=True, digits="zero"), words(max_token_bytes=5),
    words(normalizer=lambda word: word[::-1] if len(word) > 2 else None), words(tokenizer=str.split),
    chars(1, 3), chars(2, 4, within_words=False, lower=False), bytes_(1, 3),
]  # fmt: skip


def text(data: bytes) -> None:
    """What a view counts is what it shows, and what is learned and forgotten leaves no trace."""
    view = VIEWS[data[0] % len(VIEWS)] if data else VIEWS[0]
    document = data[1:].decode("utf-8", "replace") if len(data) % 3 else data[1:]
    model = Model([view], threads=1).learn(["a b"], ["x"])
    before = model.to_bytes()
    try:
        terms = view.tokens(document)
        model.learn([document], ["y"])
    except ValueError as error:
        _is_a_sentence(error, "UTF-8")
        return
    counted = model.counts()
    assert counted.by_class(counted.occurrences)[1] == len(terms)
    model.explain(document)
    assert model.forget([document], ["y"]).to_bytes() == before


def mail(data: bytes) -> None:
    """Any bytes are a mail."""
    columns = mail_columns([data, data.decode("latin-1")])
    assert all(isinstance(each, str) for column in columns.values() for each in column)
    shown = data.decode("utf-8", "replace")
    visible_text(shown)
    list(link_domains(shown))


FORMATS = ["tsv", "csv", "jsonl", "fasttext", "mbox", "fasta", "lines", None]


def corpus(data: bytes) -> None:
    """Any bytes are documents, or an error that says where."""
    if len(data) < 2:
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "input"
        file.write_bytes(data[2:])
        settings: dict[str, Any] = {
            "format": FORMATS[data[0] % len(FORMATS)],
            "on_error": ["stop", "skip", "replace"][data[1] % 3],
            "batch_bytes": [1, 7, 64, 1 << 20][data[1] // 3 % 4],
        }
        try:
            for batch in open_corpus(os.fspath(file), **settings):
                documents = batch.texts
                _ = documents.to_pylist() if hasattr(documents, "to_pylist") else documents.tolist()
                io.StringIO().write(str(batch.origin(0)) if len(batch) else "")
        except CorpusError as error:
            assert len(str(error)) > 10  # noqa: PT017


TARGETS: dict[str, Callable[[bytes], None]] = {
    "model_file": model_file,
    "text": text,
    "mail": mail,
    "corpus": corpus,
    "spamd": service_targets.spamd,
    "http": service_targets.http,
}
