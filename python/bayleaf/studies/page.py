"""A study as one page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from bayleaf.html_page import document, facts, figures, table
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


def page(study: Study, title: str) -> str:
    """The whole page."""
    body = [
        _facts(study),
        f"<p>{escape(verdict(study))}</p>",
        _plots(study),
        "<h2>What each choice does, everything else being equal</h2>",
        _effects(study),
        f"<h2>All {len(study.results)} combinations</h2>",
        f'<p class="soft">{escape(legend(study))}</p>',
        _table(study, study.results),
    ]
    return document(title, body)


def notebook(study: Study) -> str:
    """The best combinations, for the cell of a notebook."""
    return f"<p>{escape(verdict(study))}</p>{_table(study, study.results[:10])}"


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
        "Mean and standard deviation over the folds. = marks what is not significantly different from the "
        "best: the "
        "corrected resampled t-test over the folds or McNemar's test over the answers gives more than "
        f"{LEVEL:g}. {caught}Train: seconds to count (shared by all that look at the texts in the same way) "
        "and to weigh, for all folds; predict: to answer all folds."
    )


def shown(measure: str, value: float) -> str:
    """A value as people read it."""
    return f"{100 * value:.2f} %" if measure in PERCENT else f"{value:.4f}"


def _facts(study: Study) -> str:
    named = [
        ("documents", f"{study.n_documents:,}"),
        ("classes", f"{len(study.classes):,}"),
        ("combinations", f"{len(study.results):,}"),
        ("folds", f"{study.folds}"),
        ("models", f"{study.n_models:,}"),
        ("seconds", f"{study.seconds:.2f}"),
        ("models a second", f"{study.models_per_second:,.0f}"),
    ]
    return facts(named)


def _plots(study: Study) -> str:
    number = min(MOST_MARKS, len(study.results))
    best = f"The best {number}, filled if not significantly different from the first"
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
    return figures(plots)


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
    return table(heads, 3, [(row, False) for row in rows])


def _table(study: Study, results: Sequence[Result]) -> str:
    heads = ["", *FACTOR_NAMES.values(), *(_unit(name) for name in study.measures)]
    heads += ["p folds", "p answers", "train", "predict"]
    pairs = zip(results, study.comparisons, strict=False)
    rows = [(_cells(study, result, comparison), comparison.tie) for result, comparison in pairs]
    return table(heads, 6, rows)


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
