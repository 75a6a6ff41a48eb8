"""Models in files for the tests that ask and change them without loading them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayleaf import Model, bytes_, chars, words
from bayleaf._core import powers
from bayleaf.model_views import preset
from bayleaf.quick import QuickModel
from cli_process import messages

MESSAGES = messages()
TEXTS, LABELS = [text for _, text in MESSAGES], [label for label, _ in MESSAGES]
ODD = ["", " ", "zzqqxx", "Ünï cödé 日本語 テスト", "win win WIN 2024 $5", "a\0b", "x" * 3000, "free " * 4000]

VIEWS: dict[str, Any] = {
    "words": [words()],
    "pairs": [words(2)],
    "three words": [words((2, 3))],
    "sparse": [words(sparse=3)],
    "letters": [chars(1, 4)],
    "words and letters": [words(2), chars(3, 5)],
    "letters across": [chars(2, 3, within_words=False)],
    "bytes": [bytes_(4, tf="binary", alpha=0.01)],
    "binary": [words(tf="binary")],
    "selected": [words(min_df=2, max_df=200)],
    "stems": [words(stop_words="english", stemmer="porter")],
    "buckets": [words(2, buckets=2000), chars(3, 4, buckets=3000)],
    "messages": preset("messages"),
}


def made(path: Path, views: Any, tuned: bool, **how: Any) -> Model:
    """A model of the first messages, in a file."""
    model = Model(views, **how).learn(TEXTS[:600], LABELS[:600])
    if tuned:
        model.tune(TEXTS[:600], LABELS[:600], "terms")
    model.save(path)
    return Model.load(path)


def check_alike(path: Path, whole: Model, texts: list[str]) -> None:
    quick = QuickModel(str(path))
    for text in texts:
        asked = quick.log_posterior([text] * len(quick.columns))
        assert asked == whole.log_posterior([text])[0].tolist()
        assert powers(asked) == whole.posterior([text])[0].tolist()


def of_three_classes() -> tuple[Model, list[str], list[str]]:
    """A model with a weight for each word and class, and what it has learned."""
    texts = TEXTS[:300]
    labels = [
        f"{label} {'long' if len(text) > 80 else 'short'}" for text, label in zip(texts, LABELS, strict=False)
    ]
    model = Model([words(2)]).learn(texts, labels).tune(texts, labels)
    assert model.judgment is not None
    assert model.judgment.views[0].by_class is not None
    return model, texts, labels
