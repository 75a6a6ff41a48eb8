"""A study as one page of HTML: nothing is fetched, nothing runs, light or dark, as narrow as a phone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from bayleaf.studies import drawing
from bayleaf.studies.comparing import LEVEL, Effect
from bayleaf.studies.drawing import Curve, Mark

if TYPE_CHECKING:
    from bayleaf.studies.comparing import Comparison
    from bayleaf.studies.judging import Result
    from bayleaf.studies.result import Study

MOST_MARKS = 24
NAMES = {
    "accuracy": "accuracy", "mcc": "MCC", "macro_f1": "macro F1", "log_loss": "log loss",
    "blocked": "blocked", "caught": "caught",
}  # fmt: skip
FACTOR_NAMES = {
    "event": "event", "weighting": "weighting", "ngrams": "n-grams", "stop_words": "stop words",
    "normalizer": "forms", "alpha": "alpha",
}  # fmt: skip
PERCENT = frozenset({"accuracy", "blocked", "caught"})
"""The measures that are shown in percent."""

STYLE = """
:root{color-scheme:light dark;--ink:#1d2326;--soft:#5d676c;--rule:#d9dee0;--paper:#fff;--card:#f5f7f7;
--good:#1b7837;--other:#8a9499;--l0:#1b7837;--l1:#9a4fa8;--l2:#2f74b5;--l3:#b5543b}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9eb;--soft:#9aa5aa;--rule:#353d41;--paper:#15191b;
--card:#1e2427;--good:#5fc27e;--other:#7d888d;--l0:#5fc27e;--l1:#cf94da;--l2:#7db4e6;--l3:#e29a84}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem;color:var(--ink);
background:var(--paper)}
h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .3rem}p{margin:.3rem 0}
.soft{color:var(--soft)}.facts{display:flex;flex-wrap:wrap;gap:.7rem;margin:1rem 0}
.facts div{background:var(--card);border-radius:.5rem;padding:.4rem .9rem;font-size:.85rem}
.facts b{display:block;font-size:1.25rem}
.wide{overflow-x:auto;margin:.6rem 0}table{border-collapse:collapse;font-size:.85rem;white-space:nowrap}
td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--rule)}
td.name,th.name{text-align:left}tr.tie td:first-child{color:var(--good);font-weight:700}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,23rem),1fr));gap:1.5rem}
figure{margin:0;min-width:0}figcaption{font-weight:600;margin-bottom:.3rem}
svg{width:100%;max-width:32rem;height:auto;display:block;font:11px system-ui,sans-serif}
svg text{fill:var(--ink)}svg .small{font-size:9.5px;fill:var(--soft)}.grid{stroke:var(--rule);fill:none}
.axis{stroke:var(--soft);fill:none}.bar{stroke-width:2;fill:none}.thick{stroke-width:5;fill:none}
circle.good{fill:var(--good)}circle.other{fill:var(--paper);stroke:var(--other);stroke-width:1.6}
path.good{stroke:var(--good)}path.other{stroke:var(--other)}
polyline{fill:none;stroke-width:2}.band{stroke:none;fill-opacity:.15}
polyline.line0{stroke:var(--l0)}polygon.line0,svg text.line0{fill:var(--l0)}
polyline.line1{stroke:var(--l1)}polygon.line1,svg text.line1{fill:var(--l1)}
svg text.name{font-weight:600}
"""


def page(study: Study, title: str) -> str:
    """The whole page."""
    body = [
        f"<h1>{escape(title)}</h1>",
        _facts(study),
        f"<p>{escape(verdict(study))}</p>",
        f'<div class="plots">{_plots(study)}</div>',
        "<h2>What each choice does, everything else being equal</h2>",
        _effects(study),
        f"<h2>All {len(study.results)} combinations</h2>",
        f'<p class="soft">{escape(legend(study))}</p>',
        _table(study, study.results),
    ]
    return f"{_head(title)}<body><main>{''.join(body)}</main></body></html>\n"


def notebook(study: Study) -> str:
    """The best combinations, for the cell of a notebook."""
    return f"<p>{escape(verdict(study))}</p>{_table(study, study.results[:10])}"


def _head(title: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style></head>'
    )


def verdict(study: Study) -> str:
    """Who is best, and how many are as good for all that can be told."""
    best, ties = study.best, len(study.ties) - 1
    value = shown(study.by, best.mean(study.by))
    others = f"{ties} other combination{'' if ties == 1 else 's'} of {len(study.results) - 1}"
    can = "no other can" if not ties else f"{others} cannot"
    told = f"{can} be told from it" if ties else "every other can be told from it"
    return f"Best by {NAMES[study.by]}: {best.combination} ({value}); {told}."


def legend(study: Study) -> str:
    """What the columns mean."""
    caught = (
        f"Blocked: documents of other classes that were taken for {study.positive}; caught: documents of "
        f"{study.positive} that were found. "
        if study.positive is not None
        else ""
    )
    return (
        "Mean and standard deviation over the folds. = marks what cannot be told from the best: the "
        "corrected resampled t-test over the folds or McNemar's test over the answers gives more than "
        f"{LEVEL:g}. {caught}Train: seconds to count (shared by all that look at the texts in the same way) "
        "and to weigh, for all folds; predict: to answer all folds."
    )


def shown(measure: str, value: float) -> str:
    """A value as people read it."""
    return f"{100 * value:.2f} %" if measure in PERCENT else f"{value:.4f}"


def _facts(study: Study) -> str:
    facts = [
        ("documents", f"{study.n_documents:,}"),
        ("classes", f"{len(study.classes):,}"),
        ("combinations", f"{len(study.results):,}"),
        ("folds", f"{study.folds}"),
        ("models", f"{study.n_models:,}"),
        ("seconds", f"{study.seconds:.2f}"),
        ("models a second", f"{study.models_per_second:,.0f}"),
    ]
    return f'<div class="facts">{"".join(f"<div>{name}<b>{value}</b></div>" for name, value in facts)}</div>'


def _plots(study: Study) -> str:
    best = f"The best {min(MOST_MARKS, len(study.results))}, filled if they cannot be told from the first"
    plots = [(f"{best} ({_unit(study.by)})", drawing.whiskers(_marks(study), best, study.by in PERCENT))]
    if study.effects:
        about = "What each choice changes, filled if the difference is real"
        plots.append((f"{about} ({_unit(study.by)})", drawing.differences(_effect_marks(study), about)))
    if study.curve:
        plots.append(("Accuracy as the vocabulary grows (%)", drawing.curves(_curves(study), "accuracy")))
    if study.positive is not None:
        names = "blocked, % of the others", f"caught, % of {study.positive}"
        about = "What is caught, and what is blocked for it"
        plots.append((about, drawing.scatter(_dots(study), names, about)))
    return "".join(f"<figure><figcaption>{escape(said)}</figcaption>{plot}</figure>" for said, plot in plots)


def _unit(measure: str) -> str:
    return f"{NAMES[measure]}{', %' if measure in PERCENT else ''}"


def _marks(study: Study) -> list[Mark]:
    pairs = zip(study.results[:MOST_MARKS], study.comparisons, strict=False)
    by = study.by
    return [
        Mark(str(each.combination), each.mean(by), each.deviation(by), comparison.tie, _spread(each, by))
        for each, comparison in pairs
    ]


def _spread(result: Result, measure: str) -> str:
    """Mean and deviation; the head of the column has the unit."""
    unit, digits = (100, 2) if measure in PERCENT else (1, 4)
    return f"{unit * result.mean(measure):.{digits}f} ± {unit * result.deviation(measure):.{digits}f}"


def _effect_marks(study: Study) -> list[Mark]:
    return [
        Mark(effect_name(each), each.median, 0, each.p <= LEVEL, effect_value(each, study.by))
        for each in study.effects
    ]


def effect_name(effect: Effect) -> str:
    """The factor, and the two choices."""
    return f"{FACTOR_NAMES[effect.factor]}: {effect.choice} − {effect.against}"


def effect_value(effect: Effect, by: str) -> str:
    """The median difference, and how often the choice was better."""
    value = f"{100 * effect.median:+.2f} points" if by in PERCENT else f"{effect.median:+.4f}"
    return f"{value}, wins {effect.wins} of {effect.pairs}"


def _curves(study: Study) -> list[Curve]:
    events = list(dict.fromkeys(point.event for point in study.curve))
    return [
        Curve(
            event,
            [point.terms for point in study.curve if point.event == event],
            [point.accuracy for point in study.curve if point.event == event],
            [point.accuracy_sd for point in study.curve if point.event == event],
        )
        for event in events
    ]


def _dots(study: Study) -> list[tuple[float, float, bool, str]]:
    pairs = zip(study.results, study.comparisons, strict=True)
    return [
        (each.mean("blocked"), each.mean("caught"), comparison.tie, str(each.combination))
        for each, comparison in pairs
    ]


def _effects(study: Study) -> str:
    heads = [
        "factor",
        "choice",
        "against",
        f"median {_unit(study.by)}",
        "mean",
        "wins",
        "losses",
        "pairs",
        "p",
    ]
    unit = 100 if study.by in PERCENT else 1
    rows = [
        [
            FACTOR_NAMES[each.factor], each.choice, each.against, f"{unit * each.median:+.3f}",
            f"{unit * each.mean:+.3f}",
            f"{each.wins}", f"{each.losses}", f"{each.pairs}", f"{each.p:.3f}",
        ]
        for each in study.effects
    ]  # fmt: skip
    return _html_table(heads, 3, [(row, False) for row in rows])


def _table(study: Study, results: Sequence[Result]) -> str:
    heads = ["", *FACTOR_NAMES.values(), *(_unit(name) for name in study.measures)]
    heads += ["p folds", "p answers", "train", "predict"]
    pairs = zip(results, study.comparisons, strict=False)
    rows = [(_cells(study, result, comparison), comparison.tie) for result, comparison in pairs]
    return _html_table(heads, 6, rows)


def _cells(study: Study, result: Result, comparison: Comparison) -> list[str]:
    choices = [getattr(result.combination, factor) for factor in FACTOR_NAMES]
    return [
        "=" if comparison.tie else "",
        *(f"{choice:g}" if isinstance(choice, float) else choice for choice in choices),
        *(_spread(result, name) for name in study.measures),
        f"{comparison.p_folds:.3f}",
        f"{comparison.p_answers:.3f}",
        f"{result.counting + result.training:.3f} s",
        f"{result.predicting:.3f} s",
    ]


def _html_table(heads: Sequence[str], names: int, rows: Iterable[tuple[Sequence[str], bool]]) -> str:
    """A table whose first columns are names and whose others are numbers."""

    def cells(tag: str, values: Sequence[str]) -> str:
        kinds = [' class="name"' if number < names else "" for number in range(len(values))]
        return "".join(
            f"<{tag}{kind}>{escape(value)}</{tag}>" for kind, value in zip(kinds, values, strict=True)
        )

    opened = {True: '<tr class="tie">', False: "<tr>"}
    body = "".join(f"{opened[tie]}{cells('td', row)}</tr>" for row, tie in rows)
    return f'<div class="wide"><table><tr>{cells("th", heads)}</tr>{body}</table></div>'
