"""Command options to an untrained model."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from bayleaf.model import Model
    from bayleaf.model_views import Views
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
LOOKING = (
    *WORD_OPTIONS, "plain", "preset", "lower", "with_words", "chars", "bytes_", "event", "tf", "buckets"
)  # fmt: skip


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """A value that the library refuses is a wrong call."""
    try:
        yield
    except (ValueError, TypeError, ImportError) as error:
        raise click.UsageError(str(error)) from None


def new_model(threads: int | None, options: dict[str, Any], views: Views | None = None) -> Model:
    """The model that the options describe, or with these views."""
    from bayleaf.model import Model

    with refusing():
        return Model(
            views_of(options) if views is None else views,
            alpha=1.0 if options["alpha"] is None else options["alpha"],
            priors=priors_of(options["priors"]),
            unseen=options["unseen"],
            ledger=options.get("ledger", False),
            threads=threads,
        )


def model_like(path: str, threads: int | None, options: dict[str, Any]) -> Model:
    """A model that has learned nothing, with the views and settings of another."""
    from bayleaf.cli.models import load
    from bayleaf.model import Model
    from bayleaf.model_views import as_given

    own = {name for name in ("alpha", "ledger") if options.get(name) not in (None, False)}
    clash = sorted(_given(options) | own)
    if clash:
        raise click.UsageError(
            f"--like takes all from {path}; drop one of --like and --{clash[0].replace('_', '-')}."
        )
    like = load(path, threads)
    settings: dict[str, Any] = {"alpha": like.alpha, "priors": like.priors, "unseen": like.unseen}
    settings["ledger"] = False if like.ledger is None else like.ledger.key or True
    return Model(as_given(like.views), threads=threads, **settings)


def unsaid(options: dict[str, Any]) -> bool:
    """Whether the options leave it open how to look at texts."""
    return not _given(options)


def _given(options: dict[str, Any]) -> set[str]:
    given = {name for name in LOOKING if options[name] not in (None, False, ())}
    return given | ({"lower"} if options["lower"] is False else set())


def views_of(options: dict[str, Any]) -> Views:
    """The views that the options describe; without any, words and pairs."""
    given = _given(options)
    for whole in ("plain", "preset"):
        clash = given - {whole}
        if whole in given and clash:
            other = "--" + sorted(clash)[0].replace("_", "-").removesuffix("-").removeprefix("with-")
            raise click.UsageError(f"--{whole} chooses all terms; drop one of --{whole} and {other}.")
    with refusing():
        return _whole(options) or _views(options, given)


def _whole(options: dict[str, Any]) -> Views | None:
    """What --plain or --preset stands for; an --alpha beside it takes the place of the preset's."""
    from bayleaf.model_views import as_given, named_views, preset
    from bayleaf.text.views import words

    if options["plain"]:
        return [words()]
    if options["preset"] is None:
        return None
    views = preset(options["preset"])
    if options.get("alpha") is None:
        return cast("Views", views)
    return as_given([(name, view.configured(alpha=None)) for name, view in named_views(views)])


def _views(options: dict[str, Any], given: set[str]) -> list[View]:
    from bayleaf.text.views import bytes_, chars, words

    judged = {name: options[name] for name in ("event", "tf", "buckets") if name in given}
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
