"""`bayleaf demo`: the whole round in a few seconds, on the messages that come with the package."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from bayleaf.model import Model

TEST = 5
"""Every fifth message is for testing."""


@click.command("demo")
def demo_command() -> None:
    """Learn the bundled messages, measure, explain one, forget it and learn it again.

    Nothing is read but the package's own corpus, and nothing is left behind.

    \b
    Examples:
      bayleaf demo
      bayleaf demo | less
    """
    from bayleaf.cli.show import console

    show = console()
    messages = bundled()
    train = [row for number, row in enumerate(messages) if number % TEST != TEST - 1]
    test = [row for number, row in enumerate(messages) if number % TEST == TEST - 1]
    model = _learn(show, train)
    _measure(show, model, test)
    message = next(text for label, text in test if label == "spam")
    _explain(show, model, message)
    _forget(show, model, train)
    _keep(show, model, message)


def bundled() -> list[tuple[str, str]]:
    """Label and text of each message."""
    from importlib.resources import files

    lines = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
    return [(label, text) for label, _, text in (line.partition("\t") for line in lines)]


def _learn(show: Console, train: list[tuple[str, str]]) -> Model:
    from bayleaf.model import Model
    from bayleaf.text.views import words

    started = time.perf_counter()
    model = Model([words(ngrams=2)])
    model.learn([text for _, text in train], [label for label, _ in train])
    took = time.perf_counter() - started
    terms = model.counts().n_terms
    of_classes = ", ".join(f"{count} {label}" for label, count in model.class_documents.items())
    show.rule("[bold]Learn", align="left")
    show.print(
        f"{model.n_documents} messages ({of_classes}) in {took * 1000:.0f} ms: {terms:,} words and pairs.\n"
    )
    return model


def _measure(show: Console, model: Model, test: list[tuple[str, str]]) -> None:
    import numpy as np

    from bayleaf.cli.show import confusion, scores, top_terms
    from bayleaf.metrics import Scorecard

    classes = model.classes
    card = Scorecard(len(classes))
    card.add(
        np.array([classes.index(label) for label, _ in test]), model.log_posterior([text for _, text in test])
    )
    show.rule(f"[bold]Measure[/] on {len(test)} messages it has not seen", align="left")
    show.print(*scores(card, classes), *confusion(card, classes, show.width), sep="\n")
    show.print(top_terms(model, 6))


def _explain(show: Console, model: Model, message: str) -> None:
    from bayleaf.cli.show import colored, reasons

    explanation = model.explain(message)
    show.rule("[bold]Explain[/]: each term has its part in the score, and the parts sum to it", align="left")
    show.print(colored(explanation), "", reasons(explanation, 8), sep="\n")


def _forget(show: Console, model: Model, train: list[tuple[str, str]]) -> None:
    label, text = train[0]
    before = model.to_bytes()
    model.forget([text], [label])
    without = len(model.to_bytes())
    model.learn([text], [label])
    same = "the same model, byte for byte" if model.to_bytes() == before else "ANOTHER MODEL"
    show.rule("[bold]Forget and learn again", align="left")
    show.print(
        f"With a message {len(before):,} bytes, without it {without:,}; learned again: [bold]{same}[/].\n"
    )


def _keep(show: Console, model: Model, message: str) -> None:
    import os
    import tempfile

    from bayleaf.model import Model

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "spam.bayleaf")
        model.save(path)
        size = os.path.getsize(path)
        started = time.perf_counter()
        answer = Model.load(path).predict([message])[0]
        took = time.perf_counter() - started
    show.rule("[bold]Keep", align="left")
    show.print(f"Saved in {size:,} bytes; loaded and asked again in {took * 1000:.0f} ms: {answer}.")
    show.print(
        "\nNow yours: [bold]bayleaf train mail.tsv -o my.model[/], then [bold]bayleaf classify my.model[/].\n"
        "As a service that learns while it answers: [bold]bayleaf serve --demo[/]."
    )
