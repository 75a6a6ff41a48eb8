"""Terminal output of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayleaf.cli.show import console, plain, table
from bayleaf.studies.grid import NOTHING
from bayleaf.studies.page import FACTOR_NAMES, NAMES, PERCENT, effect_value, verdict

if TYPE_CHECKING:
    from rich.table import Table

    from bayleaf.studies import Combination, Result, Study
    from bayleaf.studies.comparing import Comparison

MEDIUM, WIDE = 92, 128
"""From so many columns on there is room for MCC, and for everything."""


def show(study: Study, top: int) -> None:
    """The best combinations, what each choice does, the curve, and how long it took."""
    out = console()
    out.print(plain(verdict(study)), _best(study, top, out.width), _note(study, top), "", sep="\n")
    if study.effects:
        out.print(_effects(study))
    if study.curve:
        out.print(_curve(study))
    models = f"{len(study.results)} combinations x {study.folds} folds = {study.n_models:,} models"
    rate = f"{study.models_per_second:,.0f} models a second"
    out.print(f"{models} of {study.n_documents:,} documents in {study.seconds:.2f} s: {rate}.")


def _best(study: Study, top: int, width: int) -> Table:
    measures = _measures(study, width)
    more = ["p folds", "p answers", "train s", "predict s"] if width >= WIDE else []
    made = table("", "model", "n-grams", "words", *(_head(name) for name in measures), *more)
    made.padding = (0, 0)
    for column in made.columns[1:4]:
        column.justify, column.no_wrap = "left", True
    for result, comparison in list(zip(study.results, study.comparisons, strict=True))[:top]:
        values = [_value(result, name, study.by) for name in measures]
        values += [*_tests(comparison), *_seconds(result)] if width >= WIDE else []
        mark = "=" if comparison.tie else ""
        made.add_row(mark, *map(plain, _names(result.combination)), *values)
    return made


def _measures(study: Study, width: int) -> list[str]:
    """Those that fit into the terminal."""
    if width >= WIDE:
        return study.measures
    if study.positive is None:
        narrow = {study.by, "accuracy", "mcc", "macro_f1"}
    else:
        narrow = {study.by, "blocked", "caught", *(["mcc"] if width >= MEDIUM else [])}
    return [name for name in study.measures if name in narrow]


def _names(given: Combination) -> tuple[str, str, str]:
    event = given.event if given.event == "bernoulli" else f"{given.event} {given.weighting}"
    smoothing = "" if given.alpha == 1 else f" {given.alpha:g}"
    forms = [each for each in (given.stop_words, given.normalizer) if each != NOTHING]
    return event + smoothing, given.ngrams, " ".join(forms)


def _head(name: str) -> str:
    return f"{NAMES[name]}{' %' if name in PERCENT else ''}"


def _value(result: Result, name: str, by: str) -> str:
    unit, digits = (100, 2) if name in PERCENT else (1, 4)
    mean = f"{unit * result.mean(name):.{digits}f}"
    return f"{mean} ±{unit * result.deviation(name):.{digits}f}" if name == by else mean


def _tests(comparison: Comparison) -> list[str]:
    return [f"{comparison.p_folds:.3f}", f"{comparison.p_answers:.3f}"]


def _seconds(result: Result) -> list[str]:
    return [f"{result.counting + result.training:.3f}", f"{result.predicting:.3f}"]


def _note(study: Study, top: int) -> str:
    more = len(study.results) - top
    rest = f" {more} more are in --csv and --html." if more > 0 else ""
    caught = f" Caught: of {study.positive}; blocked: of the others." if study.positive is not None else ""
    return f"= not significantly different from the best.{caught}{rest}"


def _effects(study: Study) -> Table:
    made = table("choice", "against", NAMES[study.by], "p", title="Everything else being equal")
    made.columns[1].justify = made.columns[2].justify = "left"
    for each in study.effects:
        name = f"{FACTOR_NAMES[each.factor]} {each.choice}"
        made.add_row(plain(name), plain(each.against), effect_value(each, study.by), f"{each.p:.3f}")
    return made


def _curve(study: Study) -> Table:
    events = list(dict.fromkeys(point.event for point in study.curve))
    made = table("terms", *events, title="Accuracy in % as the vocabulary grows")
    made.columns[0].justify = "right"
    for size in dict.fromkeys(point.terms for point in study.curve):
        points = [point for point in study.curve if point.terms == size]
        cells = [f"{100 * point.accuracy:.2f} ± {100 * point.accuracy_sd:.2f}" for point in points]
        made.add_row(f"{size:,}", *cells)
    return made
