"""`bayleaf tokens`: how text becomes terms."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from bayleaf.cli import options


@click.command("tokens")
@click.argument("text", required=False)
@click.option("--model", "model_file", metavar="MODEL", help="Look as this model does.")
@options.looking
@options.as_json
def tokens_command(text: str | None, model_file: str | None, as_json: bool, **given: Any) -> None:
    """Show the terms of a text, one a line.

    TEXT is one document; without it, or as '-', all of standard input is. The options are those of 'train',
    so that what is counted can be seen before it is learned.

    \b
    Examples:
      bayleaf tokens "He swims in the Oceans" --stop-words english --stemmer porter
      bayleaf tokens "Der Bär" --chars 2-3
    """
    from bayleaf.cli.explain import one_text
    from bayleaf.cli.views import views_of
    from bayleaf.model_views import named_views

    if model_file:
        from bayleaf.cli.models import load

        views = [view for _, view in load(model_file).views]
    else:
        views = [view for _, view in named_views(views_of(given))]
    document = one_text(text)
    terms = [term for view in views if hasattr(view, "tokens") for term in view.tokens(document)]
    if sys.stdout.isatty():
        from bayleaf.cli.show import visible

        terms = [visible(term) for term in terms]
    click.echo(json.dumps(terms, ensure_ascii=False) if as_json else "\n".join(terms))
