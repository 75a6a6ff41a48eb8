"""Models as JSON and ONNX, earned weights included: read by others, they answer alike."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

import bayleaf
from bayleaf import (
    Model,
    NaiveBayes,
    bins,
    bytes_,
    category,
    chars,
    counts,
    date_part,
    export,
    flag,
    kernel,
    normal,
    pairs,
    words,
)  # fmt: skip

LINES = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
LABELS, TEXTS = map(list, zip(*(line.split("\t", 1) for line in LINES), strict=True))
A, B = TEXTS[:500], LABELS[:500]
ASKED = [*TEXTS[800:], "", "never seen zzz", "free " * 40]


def table(texts: list[str]) -> pd.DataFrame:
    lengths: list[Any] = [len(text) if len(text) % 7 else None for text in texts]
    return pd.DataFrame(
        {
            "text": texts,
            "length": lengths,
            "words": [len(text.split()) for text in texts],
            "first": [text[:1] or None for text in texts],
            "shout": [text.isupper() for text in texts],
            "blanks": [text.count(" ") for text in texts],
            "dots": [text.count(".") for text in texts],
            "sent": pd.date_range("2026-01-01", periods=len(texts), freq="7h"),
        }
    )


COLUMNS: dict[str, Any] = {
    "text": [words(), chars(2, 3)],
    "length": normal(),
    "words": [kernel(), bins(4)],
    "first": category(),
    "shout": flag(),
    "marks": counts("blanks", "dots"),
    "sent": [date_part("hour"), date_part("weekday"), date_part("month")],
}
MODELS: dict[str, Any] = {
    "the default": lambda: NaiveBayes().fit(A, B),
    "a temperature": lambda: NaiveBayes(tuning="temperature").fit(A, B),
    "a weighed table": lambda: NaiveBayes(COLUMNS).fit(table(A), B),
    "a table": lambda: NaiveBayes(COLUMNS, tuning=None, priors="uniform").fit(table(A), B),
    "numbers as classes": lambda: NaiveBayes().fit(A, [len(text) % 3 for text in A]),
    "bytes": lambda: Model([bytes_(3)]).learn(A, B),
    **{
        f"{event}, {tf}": lambda event=event, tf=tf: Model([words(2, event=event, tf=tf, min_df=2)]).learn(
            A, B
        )
        for event in ("multinomial", "bernoulli", "complement")
        for tf in ("count", "binary", "normalized", "tf-idf")
    },
}


def asked_of(model: Any) -> Any:
    inner = model if isinstance(model, Model) else model.model_
    return table(ASKED) if inner.views[0][0] else ASKED


def joint(model: Any, X: Any) -> Any:
    return model.log_joint(X) if isinstance(model, Model) else model.predict_joint_log_proba(X)


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_onnx_gives_the_same_labels_and_scores(kind: str) -> None:
    model = MODELS[kind]()
    X = asked_of(model)
    data = export.to_onnx(model)
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    label, probabilities, scores = session.run(None, export.onnx_inputs(model, X))
    assert label.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(scores, joint(model, X), rtol=1e-9, atol=1e-9)
    expected = model.posterior(X) if isinstance(model, Model) else model.predict_proba(X)
    np.testing.assert_allclose(probabilities, expected, atol=1e-9)


def score(found: dict[str, Any], row: dict[str, Any], terms: Any) -> list[float]:
    """What the layout on the page says, and nothing else."""
    total = list(found["intercept"])
    for number, view in enumerate(found["views"]):
        for place, part in enumerate(of_view(view, row, terms(number), len(total))):
            total[place] += part
    return total


def of_view(view: dict[str, Any], row: dict[str, Any], terms: list[str], classes: int) -> list[float]:
    value = row.get(view["column"])
    nothing = [0.0] * classes
    if view["kind"] == "terms":
        return of_terms(view, terms, nothing)
    if view["kind"] == "counts":
        sums = zip(
            *(
                [row[name] * w for w in weights]
                for name, weights in zip(view["columns"], view["weights"], strict=True)
            ),
            strict=True,
        )
        return [sum(each) for each in sums]
    if value is None or value != value:
        return nothing
    if view["kind"] == "values":
        text = {True: "yes", False: "no"}.get(value, value)
        return list(dict(zip(view["values"], view["weights"], strict=True)).get(text, view["unseen"]))
    if view["kind"] == "dates":
        part = {"weekday": value.weekday(), "hour": value.hour, "month": value.month - 1}
        return list(view["weights"][part[view["settings"]["part"]]])
    if view["kind"] == "bins":
        return list(view["weights"][sum(cut < value for cut in view["cuts"])])
    if view["kind"] == "normal":
        both = zip(view["means"], view["variances"], strict=True)
        return [view["weight"] * (-((value - m) ** 2) / v - math.log(2 * math.pi * v)) / 2 for m, v in both]
    return [view["weight"] * density(value, *curve) for curve in view["curves"]]


def of_terms(view: dict[str, Any], terms: list[str], nothing: list[float]) -> list[float]:
    place = {term: number for number, term in enumerate(view["terms"])}
    known = Counter(term for term in terms if term in place)
    kinds: dict[str, dict[str, float]] = {
        "count": dict(known),
        "binary": dict.fromkeys(known, 1.0),
        "share": {term: count / max(len(terms), 1) for term, count in known.items()},
        "earned": {term: 1 + math.log(count) for term, count in known.items()},
    }
    values = kinds[view["value"]]
    length = math.sqrt(sum(value**2 for value in values.values())) if view["value"] == "earned" else 1.0
    total = list(nothing)
    for term, value in values.items():
        for j, weight in enumerate(view["weights"][place[term]]):
            total[j] += value / length * weight
    if view["unseen"] is not None:
        for j, weight in enumerate(view["unseen"]):
            total[j] += weight * sum(term not in place for term in terms)
    return total


def density(x: float, points: list[float], masses: list[float], width: float) -> float:
    each = [
        -(((x - p) / width) ** 2) / 2 + math.log(m / sum(masses)) for p, m in zip(points, masses, strict=True)
    ]
    highest = max(each)
    return (
        highest
        + math.log(sum(math.exp(e - highest) for e in each))
        - math.log(width * math.sqrt(2 * math.pi))
    )


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_the_numbers_of_the_json_are_enough_to_score(kind: str) -> None:
    model = MODELS[kind]()
    inner = model if isinstance(model, Model) else model.model_
    found = json.loads(export.to_json(model))
    assert (found["format"], found["version"], found["classes"]) == ("bayleaf-weights", 1, inner.classes)
    X = asked_of(model)
    expected = joint(model, X)
    for i, text in list(enumerate(ASKED))[-25:]:
        row = X.iloc[i].to_dict() if inner.views[0][0] else {"": text}

        def terms(view: int, text: str = text) -> list[str]:
            looked: Any = inner.views[view][1]
            return looked.tokens(text) if hasattr(looked, "tokens") else []

        np.testing.assert_allclose(score(found, row, terms), expected[i], rtol=1e-9, atol=1e-9)


def test_terms_that_were_never_seen_have_their_row_in_json_and_are_refused_by_onnx() -> None:
    model = Model([words()], unseen="smooth").learn(A, B)
    found = json.loads(export.to_json(model))
    tokens = words().tokens("never seen zzz free")
    np.testing.assert_allclose(
        score(found, {}, lambda _: tokens), model.log_joint(["never seen zzz free"])[0], rtol=1e-9
    )
    with pytest.raises(ValueError, match='unseen="ignore" only'):
        export.to_onnx(model)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: Model([words()], alpha=0).learn(A, B), "alpha above 0"),
        (lambda: Model({"p": pairs("a", "b")}).learn({"a": ["x"], "b": ["y"]}, ["c"]), "view of pairs"),
        (lambda: Model([words()]), "learned nothing"),
        (
            lambda: Model({"a": category()}).learn({"a": ["<NA>", "y"]}, ["c", "d"]),
            "stands for a missing one",
        ),
    ],
)
def test_what_no_table_of_weights_says_is_refused_with_the_remedy(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        export.to_onnx(model())
    with pytest.raises(TypeError, match="got dict"):
        export.to_json({})


def test_columns_without_a_value_and_classes_alone_are_exported(tmp_path: Path) -> None:
    X = {"a": [None, None], "b": [math.nan, math.nan], "c": [1.0, 2.0]}
    model = Model({"a": category(), "b": normal(), "c": normal()}).learn(X, ["x", "y"])
    export.save_onnx(model, tmp_path / "model.onnx")
    export.save_json(model, tmp_path / "model.json")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    scores = session.run(["log_joint"], export.onnx_inputs(model, X))[0]
    np.testing.assert_allclose(scores, model.log_joint(X), rtol=1e-9)
    assert [view["kind"] for view in json.loads((tmp_path / "model.json").read_text())["views"]][1:] == [
        "nothing",
        "normal",
    ]


def test_the_command_line_exports_weights(tmp_path: Path) -> None:
    NaiveBayes().fit(A, B).save(tmp_path / "spam")
    for ending in ("json", "onnx"):
        command = [
            sys.executable,
            "-m",
            "bayleaf",
            "export",
            str(tmp_path / "spam"),
            "-o",
            str(tmp_path / f"w.{ending}"),
        ]
        subprocess.run(command, check=True, capture_output=True)
    loaded = bayleaf.load(tmp_path / "spam")
    session = onnxruntime.InferenceSession(tmp_path / "w.onnx", providers=["CPUExecutionProvider"])
    assert (
        session.run(["label"], export.onnx_inputs(loaded, ASKED))[0].tolist()
        == loaded.predict(ASKED).tolist()
    )
    assert json.loads((tmp_path / "w.json").read_text())["classes"] == ["ham", "spam"]
    Model([words()], alpha=0).learn(A, B).save(tmp_path / "zero")
    command = [
        sys.executable,
        "-m",
        "bayleaf",
        "export",
        str(tmp_path / "zero"),
        "-o",
        str(tmp_path / "zero.onnx"),
    ]
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert failed.returncode != 0
    assert "alpha above 0" in failed.stderr
    assert not (tmp_path / "zero.onnx").exists()
