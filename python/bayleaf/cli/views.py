"""From the options of a command to a model that has learned nothing yet."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bayleaf.model import Model
    from bayleaf.text.views import View

WORD_OPTIONS = (
    "ngrams",
    "sparse",
    "tokenizer",
    "keep",
    "stop_words",
    "stemmer",
    "lemmatizer",
    "min_length",
    "max_length",
    "strip_accents",
    "digits",
)
LOOKING = (*WORD_OPTIONS, "plain", "preset", "lower", "with_words", "chars", "bytes_", "event", "tf")

# The best of 1, 0.1, 0.01, 0.001 on a tenth held out of 79 languages (97.7 %) and of 1,739 genera (95.0 %).
ALPHA = {"languages": 0.01, "sequences": 0.01}


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """A value that the library refuses is a wrong call."""
    try:
        yield
    except (ValueError, TypeError, ImportError) as error:
        raise click.UsageError(str(error)) from None


def new_model(threads: int | None, options: dict[str, Any]) -> Model:
    """The model that the options describe."""
    from bayleaf.model import Model

    with refusing():
        return Model(
            views_of({name: options[name] for name in LOOKING}),
            alpha=ALPHA.get(options["preset"], 1.0) if options["alpha"] is None else options["alpha"],
            priors=priors_of(options["priors"]),
            unseen=options["unseen"],
            threads=threads,
        )


def views_of(options: dict[str, Any]) -> list[View]:
    """The views that the options describe."""
    given = {name for name, value in options.items() if value not in (None, False, ())}
    given |= {"lower"} if options["lower"] is False else set()
    for whole in ("plain", "preset"):
        clash = given - {whole}
        if whole in given and clash:
            other = "--" + sorted(clash)[0].replace("_", "-").removesuffix("-").removeprefix("with-")
            raise click.UsageError(f"--{whole} says everything about the terms; leave out it or {other}.")
    with refusing():
        return _preset("plain" if "plain" in given else options["preset"]) or _views(options, given)


def _preset(name: str | None) -> list[View]:
    from bayleaf.text.views import bytes_, chars, words

    made: dict[str, list[View]] = {
        "plain": [words()],
        "text": [words(ngrams=2)],
        "languages": [chars(1, 4)],
        "sequences": [bytes_(8)],
    }
    return made[name] if name else []


def _views(options: dict[str, Any], given: set[str]) -> list[View]:
    from bayleaf.text.views import bytes_, chars, words

    judged = {name: options[name] for name in ("event", "tf") if name in given}
    case: dict[str, Any] = {"lower": options["lower"]} if options["lower"] is not None else {}
    views: list[View] = []
    if not given & {"chars", "bytes_"} or given & {"with_words", *WORD_OPTIONS}:
        views.append(words(**_word_settings(options, given), **case, **judged))
    if "chars" in given:
        shortest, longest = _span("--chars", options["chars"])
        views.append(chars(shortest, longest, **case, **judged))
    if "bytes_" in given:
        views.append(bytes_(*_span("--bytes", options["bytes_"]), **judged))
    return views


def _word_settings(options: dict[str, Any], given: set[str]) -> dict[str, Any]:
    settings = {name: options[name] for name in WORD_OPTIONS if name in given}
    settings["ngrams"] = _ngrams(options["ngrams"])
    if "stop_words" in given:
        settings["stop_words"] = _stop_words(options["stop_words"])
    return settings


def _stop_words(value: str) -> Any:
    """A language, the lines of a file, or the most frequent terms."""
    from bayleaf.text.normalization import top

    if value.startswith("top:") and value[4:].isdecimal():
        return top(int(value[4:]))
    if not os.path.isfile(value):
        return value
    with open(value, encoding="utf-8") as file:
        return [word for line in file if (word := line.strip())]


def _ngrams(value: str | None) -> int | tuple[int, int]:
    if value is None:
        return 2
    shortest, longest = _span("--ngrams", value)
    return (shortest, longest) if "-" in value else longest


def _span(option: str, value: str) -> tuple[int, int]:
    first, dash, last = value.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise click.UsageError(
            f"{option} takes a number or two with a dash between them, such as 2 or 2-4, got {value!r}."
        )
    return int(first), int(last if dash else first)


def priors_of(value: str) -> Any:
    """`empirical`, `uniform`, or the probability of each class."""
    if "=" not in value:
        return value
    priors = {}
    for part in value.split(","):
        name, _, number = part.rpartition("=")
        try:
            priors[name.strip()] = float(number)
        except ValueError:
            raise click.UsageError(f"--priors takes class=probability, got {part!r}.") from None
    return priors
