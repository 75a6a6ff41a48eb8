"""How good the model is on documents drawn at random that it never learned, and whether more labels help."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayleaf.model import Model
from bayleaf.service.documents import Columns, together, unpacked
from bayleaf.service.page.actions import HELD
from bayleaf.service.served import Served, empty_like
from bayleaf.service.store import Store
from bayleaf.tuning import worth_tuning
from bayleaf.types import Floats, Label

MOST_HELD = 2_000
MOST_CURVE = 5_000
FIRST_POINT = 10
FEWEST = 30
"""Below so many held-out documents nothing is said about stopping."""

BINS = 5
LEAST = 1e-15
Pairs = Sequence[tuple[Columns, Label]]


def held(store: Store, served: Served) -> list[tuple[Columns, Label]]:
    """The newest labels of the hold-out; a document that was learned elsewhere since does not count."""
    rows = store.questions.read(
        "SELECT columns, label FROM document d WHERE model = ? AND user = ? AND NOT EXISTS (SELECT 1 FROM "
        "document o WHERE o.model = d.model AND o.user = '' AND o.identity = d.identity) "
        "ORDER BY seq DESC LIMIT ?",
        served.number, HELD, MOST_HELD,
    )  # fmt: skip
    return [(unpacked(columns), json.loads(label)) for columns, label in rows]


def learned(store: Store, served: Served, most: int) -> list[tuple[Columns, Label]]:
    """The documents that the model has learned here, in their order."""
    rows = store.questions.read(
        "SELECT columns, label FROM document WHERE model = ? AND user = '' ORDER BY seq LIMIT ?",
        served.number, most,
    )  # fmt: skip
    return [(unpacked(columns), json.loads(label)) for columns, label in rows]


def measured(model: Model, pairs: Pairs) -> dict[str, Any] | None:
    """Accuracy with its interval, log loss, and how often answers of a sureness are right."""
    if not pairs or not model.n_documents:
        return None
    classes, posterior = _posterior(model, pairs)
    place = {label: number for number, label in enumerate(classes)}
    best = posterior.argmax(axis=1)
    right = np.array([classes[b] == label for b, (_, label) in zip(best.tolist(), pairs, strict=True)])
    given = [posterior[row, place[label]] if label in place else 0.0 for row, (_, label) in enumerate(pairs)]
    low, high = interval(int(right.sum()), len(pairs))
    return {
        "documents": len(pairs),
        "accuracy": float(right.mean()),
        "low": low,
        "high": high,
        "log_loss": float(-np.log(np.maximum(given, LEAST)).mean()),
        "calibration": _calibration(posterior.max(axis=1), right),
    }


def _posterior(model: Model, pairs: Pairs) -> tuple[list[Label], Floats]:
    columns = together([columns for columns, _ in pairs])
    while True:
        classes = model.classes
        posterior = model.posterior(columns)
        if posterior.shape[1] == len(classes):
            return classes, posterior


def _calibration(sure: Floats, right: Any) -> list[dict[str, float]]:
    """Equal parts of the answers by their sureness: how sure on average, and how often right."""
    order = np.argsort(sure, kind="stable")
    parts = [part for part in np.array_split(order, min(BINS, len(order))) if len(part)]
    return [
        {"sure": float(sure[part].mean()), "right": float(right[part].mean()), "documents": len(part)}
        for part in parts
    ]


def interval(right: int, of: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    share, square = right / of, z * z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    # The share is inside, also where rounding would put 20 of 20 a bit above the end.
    return max(min(middle - half, share), 0.0), min(max(middle + half, share), 1.0)


def curve(store: Store, served: Served) -> dict[str, Any]:
    """The accuracy on the hold-out after 10, 20, 40 … labels, as if learned again, and what it says."""
    tests, rows = held(store, served), learned(store, served, MOST_CURVE)
    sizes = [FIRST_POINT << n for n in range(20) if FIRST_POINT << n < len(rows)] + [len(rows)] * bool(rows)
    points = []
    for size in sizes:
        model = taught(served, rows[:size])
        found = measured(model, tests)
        if found is not None:
            points.append(
                {"labels": size} | {key: found[key] for key in ("accuracy", "low", "high", "log_loss")}
            )
    return {"points": points, "held": len(tests), "advice": advice(points, len(tests))}


def taught(served: Served, pairs: Pairs) -> Model:
    """A model of these documents alone, weighed as `bayleaf train` does."""
    model = empty_like(served.seed)
    columns, labels = together([columns for columns, _ in pairs]), [label for _, label in pairs]
    model.learn(columns, labels)
    return model.tune(columns, labels) if worth_tuning(model) else model


def advice(points: Sequence[dict[str, Any]], tests: int) -> str:
    """Whether to go on: what the last doubling brought, against what can be told apart."""
    if tests < FEWEST:
        return f"Go on: {tests} of the {FEWEST} documents are held out that tell how good the model is."
    if len(points) < 3:
        return "Go on: there are too few labels for a learning curve."
    last = points[-1]
    before = max((p for p in points[:-1] if p["labels"] <= last["labels"] * 0.6), key=lambda p: p["labels"])
    gain = last["accuracy"] - before["accuracy"]
    doublings = math.log2(last["labels"] / before["labels"])
    expected = max(gain / doublings / 2, 0.0)
    told = f"{before['labels']:,} → {last['labels']:,} labels brought {100 * gain:+.1f} points"
    if expected < 0.01:
        return f"You may stop: {told}; twice as many may bring about {100 * expected:.1f} more."
    return f"Go on: {told}; twice as many may bring about {100 * expected:.1f} more."
