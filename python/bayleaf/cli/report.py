"""The page of `bayleaf evaluate --html`: what was measured, plots, the surest mistakes."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayleaf.class_names import name_of
from bayleaf.cli import report_plots
from bayleaf.html_page import document, facts, figures, table

if TYPE_CHECKING:
    from bayleaf.cli.measuring import Measurement, Mistake
    from bayleaf.model import Model

MOST_CURVES = 8
MOST_CELLS = 40


def page(model_file: str, inputs: Sequence[str], measured: Measurement) -> str:
    """The whole page; nothing in it is fetched from elsewhere."""
    body = [
        _facts(measured),
        _by_class(measured),
        _plots(measured),
        _mistakes(measured),
    ]
    return document(f"{model_file} on {', '.join(inputs)}", body)


def _facts(measured: Measurement) -> str:
    card = measured.card
    scores = {"accuracy": card.accuracy, "macro F1": card.macro_f1, "MCC": card.mcc}
    losses = {"log loss": card.log_loss, "ECE": card.ece}
    measured_as = [(name, f"{value:.4f}") for name, value in (scores | losses).items()]
    return facts([*measured_as, ("documents", f"{card.n:,}")])


def _by_class(measured: Measurement) -> str:
    card = measured.card
    heads = ("class", "precision", "recall", "F1", "documents")
    columns = zip(measured.names, card.precision, card.recall, card.f1, card.support, strict=True)
    rows = [(name_of(name), f"{p:.4f}", f"{r:.4f}", f"{f:.4f}", f"{n:,}") for name, p, r, f, n in columns]
    return table(heads, 1, [(row, False) for row in rows])


def _plots(measured: Measurement) -> str:
    card, names = measured.card, [name_of(name) for name in measured.names]
    plots = [
        (
            "Reliability: how often an answer of this confidence is right",
            report_plots.reliability(card.reliability()),
        )
    ]
    if len(names) <= MOST_CELLS:
        plots.insert(
            0,
            (
                "Confusion: truth by row, answer by column",
                report_plots.matrix(card.confusion.tolist(), names),
            ),
        )
    largest = sorted(range(card.n_classes), key=lambda number: -int(card.support[number]))[:MOST_CURVES]
    curves = [
        (names[number], *card.precision_recall(number)) for number in sorted(largest) if card.support[number]
    ]
    plots.append(
        (
            "Precision and recall",
            report_plots.curves([(name, r.tolist(), p.tolist()) for name, p, r in curves]),
        )
    )
    return figures(plots)


def _mistakes(measured: Measurement) -> str:
    if not measured.mistakes:
        return ""
    return "<h2>The surest mistakes</h2>" + "".join(
        _mistake(measured.model, each) for each in measured.mistakes
    )


def _mistake(model: Model, mistake: Mistake) -> str:
    origin, truth = html.escape(mistake.origin), html.escape(str(mistake.truth))
    sure = f"{math.exp(mistake.log_posterior):.4g}"
    explained = model.explain(mistake.document, mistake.answer).to_html()
    head = f"<p><code>{origin}</code> is <b>{truth}</b>; the wrong answer was {sure} sure:</p>"
    return f"<article>{head}{explained}</article>"
