"""The page of `bayleaf evaluate --html`: one file, its plots drawn as SVG."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bayleaf.cli import svg

if TYPE_CHECKING:
    from bayleaf.cli.measuring import Measurement, Mistake
    from bayleaf.model import Model

MOST_CURVES = 8
MOST_CELLS = 40

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}
body{overflow-wrap:anywhere}svg{max-width:100%;height:auto}.wide{overflow-x:auto}
table{border-collapse:collapse;margin:1rem 0;white-space:nowrap}
td,th{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #ddd}
td:first-child,th:first-child{text-align:left}.facts{display:flex;flex-wrap:wrap;gap:1rem}
.facts div{border:1px solid #ddd;border-radius:.5rem;padding:.5rem 1rem}
.facts b{display:block;font-size:1.5rem}
.plots{display:flex;flex-wrap:wrap;gap:1.5rem}figure{margin:0}figcaption{font-weight:600}
article{border-top:1px solid #ddd;margin-top:1rem}code{background:#f4f4f4;padding:0 .2rem}
@media(max-width:30rem){td,th{padding:.2rem .4rem}}
:root{color-scheme:light dark}
@media(prefers-color-scheme:dark){
body{color:#e4e9eb;background:#15191b}td,th,.facts div,article{border-color:#353d41}code{background:#22282b}
svg text:not([fill]),svg text[fill="#333"]{fill:#c9d1d4}svg [stroke="#eee"]{stroke:#2a3033}
svg [stroke="#ddd"]{stroke:#353d41}
svg polyline,svg circle,svg text[text-anchor="start"]{filter:brightness(1.9)}
}
"""


def page(model_file: str, inputs: Sequence[str], measured: Measurement) -> str:
    """The whole page; nothing in it is fetched from elsewhere."""
    title = f"{model_file} on {', '.join(inputs)}"
    body = [
        f"<h1>{html.escape(title)}</h1>",
        _facts(measured),
        _by_class(measured),
        f'<div class="plots">{_plots(measured)}</div>',
        _mistakes(measured),
    ]
    return document(title, "".join(body))


def document(title: str, body: str) -> str:
    """A page that nothing is fetched for, as wide as the screen it is read on."""
    head = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style>"
    )
    return f"{head}{body}</html>\n"


def _facts(measured: Measurement) -> str:
    card = measured.card
    facts = [
        ("accuracy", f"{card.accuracy:.4f}"),
        ("macro F1", f"{card.macro_f1:.4f}"),
        ("MCC", f"{card.mcc:.4f}"),
        ("log loss", f"{card.log_loss:.4f}"),
        ("ECE", f"{card.ece:.4f}"),
        ("documents", f"{card.n:,}"),
    ]
    return f'<div class="facts">{"".join(f"<div>{name}<b>{value}</b></div>" for name, value in facts)}</div>'


def _by_class(measured: Measurement) -> str:
    card = measured.card
    heads = ("class", "precision", "recall", "F1", "documents")
    columns = zip(measured.names, card.precision, card.recall, card.f1, card.support, strict=True)
    rows = [
        (html.escape(str(name)), f"{p:.4f}", f"{r:.4f}", f"{f:.4f}", f"{n:,}") for name, p, r, f, n in columns
    ]
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{_cells("th", heads)}</tr>{body}</table></div>'


def _cells(tag: str, values: Iterable[str]) -> str:
    return "".join(f"<{tag}>{value}</{tag}>" for value in values)


def _plots(measured: Measurement) -> str:
    card, names = measured.card, [str(name) for name in measured.names]
    plots = [
        ("Reliability: how often an answer of this confidence is right", svg.reliability(card.reliability()))
    ]
    if len(names) <= MOST_CELLS:
        plots.insert(
            0, ("Confusion: truth by row, answer by column", svg.matrix(card.confusion.tolist(), names))
        )
    largest = sorted(range(card.n_classes), key=lambda number: -int(card.support[number]))[:MOST_CURVES]
    curves = [
        (names[number], *card.precision_recall(number)) for number in sorted(largest) if card.support[number]
    ]
    plots.append(
        ("Precision and recall", svg.curves([(name, r.tolist(), p.tolist()) for name, p, r in curves]))
    )
    return "".join(f"<figure><figcaption>{caption}</figcaption>{plot}</figure>" for caption, plot in plots)


def _mistakes(measured: Measurement) -> str:
    if not measured.mistakes:
        return ""
    return "<h2>The surest mistakes</h2>" + "".join(
        _mistake(measured.model, each) for each in measured.mistakes
    )


def _mistake(model: Model, mistake: Mistake) -> str:
    origin, truth = html.escape(mistake.origin), html.escape(str(mistake.truth))
    sure = f"{math.exp(mistake.log_posterior):.4g}"
    explained = model.explain(mistake.text, mistake.answer).to_html()
    head = f"<p><code>{origin}</code> is <b>{truth}</b>; the wrong answer was {sure} sure:</p>"
    return f"<article>{head}{explained}</article>"
