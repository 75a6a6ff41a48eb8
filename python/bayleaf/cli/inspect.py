"""`bayleaf inspect`: what is in a model."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

import click

from bayleaf.class_names import by_name, name_of
from bayleaf.cli import options
from bayleaf.cli.reading import finite, size
from bayleaf.cli.weighing import facts as weights
from bayleaf.cli.weighing import named, of_names

if TYPE_CHECKING:
    from bayleaf.model import Model
    from bayleaf.types import Label


@click.command("inspect")
@click.argument("model_file", metavar="MODEL")
@click.option(
    "--terms", type=click.IntRange(0), default=8, show_default=True, help="Terms to show of each class."
)
@click.option("--class", "label", metavar="CLASS", help="Show the terms of this class only.")
@options.as_json
def inspect_command(model_file: str, terms: int, label: str | None, as_json: bool) -> None:
    """Show the settings, the classes and the strongest terms of a model.

    MODEL is a file that 'train' wrote. The log odds of a term compare its class with the mean of the others.

    \b
    Examples:
      bayleaf inspect spam.bayleaf
      bayleaf inspect spam.bayleaf --class spam --terms 40
    """
    from bayleaf.cli.models import load

    model = load(model_file)
    known = by_name(model.classes)
    chosen = list(model.classes) if label is None else [known[label]] if label in known else []
    if label is not None and not chosen:
        listed = ", ".join(repr(name_of(name)) for name in model.classes)
        raise click.ClickException(f"{model_file} has no class {label!r}. Its classes are {listed}.")
    if as_json:
        click.echo(json.dumps(finite(_facts(model_file, model, chosen, terms))))
    else:
        _show(model_file, model, chosen, terms)


def _facts(path: str, model: Model, chosen: list[Label], terms: int) -> dict[str, Any]:
    from bayleaf.cli.show import views_with_terms
    from bayleaf.storage import format_of

    priors = _priors(model)
    return {
        "file": path,
        "bytes": os.path.getsize(path),
        "format": format_of(path),
        "views": [{"column": name or None, **view.to_dict()} for name, view in model.views],
        "terms": [getattr(model.counts(view), "n_terms", None) for view in range(len(model.views))],
        "alpha": model.alpha,
        "unseen": model.unseen,
        "tuning": weights(model),
        "ledger": model.ledger is not None,
        "documents": model.n_documents,
        "classes": [
            {"class": name, "documents": count, "prior": priors[name]}
            for name, count in model.class_documents.items()
        ],
        "top_terms": {
            name_of(name): [model.top_terms(name, terms, view) for view in views_with_terms(model)]
            for name in chosen
        },
    }


def outcome(loss: float) -> str:
    """How well the evidence was weighed; all documents may be copies, or the only one of their class."""
    if not loss > 0:
        return "nothing could be judged: no document was left that others had anything to say about"
    return f"log loss {loss:.3g} on documents left out"


def _priors(model: Model) -> dict[Label, float]:
    """The prior probability of each class; 1 where the model has no priors."""
    import numpy as np

    from bayleaf.model_views import has_no_prior
    from bayleaf.posterior import log_prior

    if has_no_prior(model.views, model.priors):
        return dict.fromkeys(model.classes, 1.0)
    documents = np.array(list(model.class_documents.values()), np.float64)
    logs = log_prior(model.priors, model.classes, documents).tolist()
    return dict(zip(model.classes, map(math.exp, logs), strict=True))


def _show(path: str, model: Model, chosen: list[Label], terms: int) -> None:
    from bayleaf.cli.show import console, plain, table, top_terms
    from bayleaf.storage import format_of

    show = console()
    show.print(plain(f"{path}: {size(os.path.getsize(path))}, format {format_of(path)}"), style="bold")
    for number, (name, view) in enumerate(model.views):
        column = f"{name}: " if name else ""
        judged = ", ".join(str(getattr(view, name)) for name in ("event", "tf") if hasattr(view, name))
        terms_of = getattr(model.counts(number), "n_terms", None)
        counted = f", {judged}, {terms_of:,} terms" if terms_of is not None else ""
        show.print(plain(f"{column}{view!r}{counted}"))
    priors_named = model.priors if isinstance(model.priors, str) else "given"
    show.print(plain(f"alpha {model.alpha:g}, {priors_named} priors, unseen terms: {model.unseen}"))
    if model.ledger is not None:
        show.print(plain("Ledger: a hash of each document; what was never learned cannot be forgotten"))
    if model.judgment is not None:
        show.print(plain(f"Tuned: {named(model)}{of_names(model)}; {outcome(model.judgment.loss)}"))
    priors = _priors(model)
    rows = table("class", "documents", "prior")
    for label, count in model.class_documents.items():
        rows.add_row(plain(label), f"{count:,}", f"{priors[label]:.4g}")
    show.print(rows)
    if terms:
        show.print(top_terms(model, terms, chosen))
