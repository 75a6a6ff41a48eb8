"""The hold-out: a tenth at random that is never learned, and what it says about the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayleaf import Model
from bayleaf.service.page.actions import in_hold_out
from bayleaf.service.page.holdout import advice, interval
from teaching_process import TEXTS, rows_of, session, teaching, with_key


def test_the_hold_out_is_a_tenth_drawn_at_random_and_never_learned(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=with_key(tmp_path / "held")) as page:
        session(page, 150)
        rows = rows_of(page)
        held = [row for row in rows if row["held"]]
        assert 4 <= len(held) <= 30
        assert {row["how"] for row in held} == {"hold-out"}
        assert all(row["chance"] == pytest.approx(1 / len(TEXTS)) for row in held)
        assert {row["how"] for row in rows if not row["held"]} <= {"ask", "random"}
        learned = [row for row in rows if not row["held"]]
        views = page.get("/models/texts").json["views"]
        found, data = {}, b""
        while data != (data := page.get("/models/texts/file").body):  # weights may be renewed meanwhile
            found = page.page("progress")["hold_out"]
        model = Model.from_bytes(data)
        assert model.n_documents == len(learned)
        assert views == [repr(view) for _, view in model.views]
        assert found["documents"] == len(held)
        right = sum(
            a == row["label"] for a, row in zip(model.predict([r["text"] for r in held]), held, strict=True)
        )
        assert found["accuracy"] == pytest.approx(right / len(held))
        assert (found["low"], found["high"]) == pytest.approx(interval(right, len(held)))


def test_the_interval_is_wilsons() -> None:
    """Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    for right, of, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605),
                                 (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)):  # fmt: skip
        assert interval(right, of) == pytest.approx((low, high), abs=5e-5)


def test_the_advice_says_when_to_stop() -> None:
    points = [{"labels": n, "accuracy": a} for n, a in ((10, 0.5), (20, 0.7), (40, 0.8), (80, 0.9))]
    assert advice(points, 10).startswith("Go on: 10 of the 30 ")
    assert advice(points, 100).startswith("Go on: 40 → 80 labels brought +10.0 points")
    points += [{"labels": 160, "accuracy": 0.905}]
    assert advice(points, 100).startswith("You may stop")


def test_the_learning_curve_ends_where_the_model_is(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=with_key(tmp_path / "curve")) as page:
        session(page, 60)
        curve = page.page("curve")
        learned = sum(page.get("/models/texts").json["documents"].values())
        assert [point["labels"] for point in curve["points"]] == [10, 20, 40, learned]
        rows = rows_of(page)
        known, held = ([row for row in rows if row["held"] == which] for which in (False, True))
        texts, labels = [row["text"] for row in known], [row["label"] for row in known]
        views = [view for _, view in Model.from_bytes(page.get("/models/texts/file").body).views]
        model = Model(views).learn(texts, labels).tune(texts, labels)
        right = model.predict([row["text"] for row in held]) == [row["label"] for row in held]
        assert curve["points"][-1]["accuracy"] == pytest.approx(right.mean())


def test_the_tenth_is_a_tenth() -> None:
    share = sum(in_hold_out(bytes([first])) for first in range(256)) / 256
    assert abs(share - 0.1) < 0.005
