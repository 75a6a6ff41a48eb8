"""The grid of a study: all valid combinations of factors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from importlib.util import find_spec
from itertools import product
from typing import Any

from bayleaf.checks import check_alpha, check_choice
from bayleaf.text.languages import Step, lemmatizer
from bayleaf.text.languages import stop_words as listed
from bayleaf.text.normalization import top
from bayleaf.text.views import TextView, Words, chars, words

EVENTS = ("bernoulli", "multinomial")
WEIGHTINGS = ("tf", "binary", "normalized", "log", "tf-idf")
NGRAMS = ("1", "1-2", "letters:3", "letters:4", "letters:3-4")
STOP_WORDS = ("none", "english", "top:50")
NORMALIZERS = ("none", "porter", "lemmas")
NOTHING = "none"
FACTORS = ("event", "weighting", "ngrams", "stop_words", "normalizer", "alpha")

_SPAN = re.compile(r"(letters:|across:)?(\d+)(?:-(\d+))?")
_TOP = re.compile(r"top:(\d+)")


@dataclass(frozen=True)
class Looking:
    """How text becomes terms: what is counted once, whatever is made of the counts."""

    ngrams: str
    stop_words: str = NOTHING
    normalizer: str = NOTHING

    def view(self) -> TextView:
        """The view that counts these terms."""
        kind, shortest, longest = _span(self.ngrams)
        if kind:
            return chars(shortest, longest, within_words=kind == "letters:")
        stops = None if self.stop_words == NOTHING else self.stop_words
        return words((shortest, longest), stop_words=stops, **_normalizing(self.normalizer))

    def shared_view(self) -> TextView:
        """The same terms for less: lists of words are loaded once, and each word is looked up once."""
        view = self.view()
        if not isinstance(view, Words):
            return view
        normalization, changed = view.normalization, dict[str, Any]()
        if isinstance(normalization.stop_words, str):
            changed["stop_words"] = _stop_words(normalization.stop_words)
        if normalization.lemmatizer:
            changed |= {"lemmatizer": None, "function": partial(_lemma, normalization.lemmatizer)}
        return replace(view, normalization=replace(normalization, **changed))


@dataclass(frozen=True)
class Combination:
    """One choice of every factor."""

    event: str = "multinomial"
    weighting: str = "tf"
    ngrams: str = "1"
    stop_words: str = NOTHING
    normalizer: str = NOTHING
    alpha: float = 1.0

    def __str__(self) -> str:
        weighting = [] if self.event == "bernoulli" else [self.weighting]
        words_only = [f"stop words {self.stop_words}", self.normalizer]
        chosen = [each for each in words_only if not each.endswith(NOTHING)]
        smoothing = [] if self.alpha == 1 else [f"alpha {self.alpha:g}"]
        return ", ".join([self.event, *weighting, self.ngrams, *chosen, *smoothing])

    @property
    def top(self) -> int:
        """How many of the most frequent terms of the training documents are left out."""
        found = _TOP.fullmatch(self.stop_words)
        return int(found[1]) if found else 0

    @property
    def looking(self) -> Looking:
        """What has to be counted; the most frequent terms are counted and then not used."""
        return Looking(self.ngrams, NOTHING if self.top else self.stop_words, self.normalizer)

    def view(self) -> TextView:
        """The view of a model that does the same, but for the weighting "log", which no view has."""
        tf = {"tf": "count", "log": "count"}.get(self.weighting, self.weighting)
        settings: dict[str, Any] = {"event": self.event, "tf": tf, "alpha": self.alpha}
        if self.top:
            settings["stop_words"] = top(self.top)
        return self.looking.view().configured(**settings)

    def estimator(self) -> Any:
        """A `NaiveBayes` that does the same, not fitted; the textbook's, without earned weights."""
        from bayleaf.naive_bayes import NaiveBayes

        if self.weighting == "log":
            raise ValueError(
                'No view weighs terms by 1 + log tf, so "log" has no estimator. Take another of the `ties`, '
                "or NaiveBayes(), which counts terms so and weighs them."
            )
        return NaiveBayes([self.view()], tuning=None)


_stop_words, _lemmatizer = cache(listed), cache(lemmatizer)


@lru_cache(maxsize=1 << 18)
def _lemma(language: str, word: str) -> str:
    step: Step = _lemmatizer(language)
    return step([word])[0]


def grid(
    events: Iterable[str] | None = None,
    weightings: Iterable[str] | None = None,
    ngrams: Iterable[str] | None = None,
    stop_words: Iterable[str] | None = None,
    normalizers: Iterable[str] | None = None,
    alphas: Iterable[float] | None = None,
) -> list[Combination]:
    """Every combination of the choices that means something, each once.

    The Bernoulli model knows only whether a term is there, so it has one weighting, "binary". Letters have
    neither stop words nor word forms.
    """
    chosen: list[list[Any]] = [
        _checked("events", events, EVENTS, EVENTS),
        _checked("weightings", weightings, WEIGHTINGS, WEIGHTINGS),
        _ngrams(ngrams),
        _checked("stop_words", stop_words, _installed(STOP_WORDS, "english", "stopwordsiso")),
        _checked("normalizers", normalizers, _installed(NORMALIZERS, "lemmas", "simplemma")),
        [check_positive(alpha) for alpha in ((1.0,) if alphas is None else alphas)],
    ]
    made = list(dict.fromkeys(_meant(Combination(*each)) for each in product(*chosen)))
    for looking in dict.fromkeys(each.looking for each in made):
        looking.view()
    return made


def _installed(choices: Sequence[str], optional: str, package: str) -> list[str]:
    """The default choices that can be made; word lists come with `pip install "bayleaf[text]"`."""
    return [choice for choice in choices if choice != optional or find_spec(package)]


def check_positive(alpha: float) -> float:
    """`alpha`, if it smooths."""
    if check_alpha(alpha) == 0:
        raise ValueError(
            "`alpha` must be above 0 in a study, got 0: a term unseen in a class would rule it out. "
            "Use a small number such as 1e-3."
        )
    return float(alpha)


def _meant(given: Combination) -> Combination:
    letters = bool(_span(given.ngrams)[0])
    return Combination(
        given.event,
        "binary" if given.event == "bernoulli" else given.weighting,
        given.ngrams,
        NOTHING if letters else given.stop_words,
        NOTHING if letters else given.normalizer,
        given.alpha,
    )


def _checked(
    name: str, given: Iterable[str] | None, default: Sequence[str], choices: Sequence[str] | None = None
) -> list[str]:
    if isinstance(given, str):
        raise TypeError(f"`{name}` is a list of choices, got the string {given!r}. Write [{given!r}].")
    values = list(default if given is None else given)
    if not values:
        raise ValueError(f"`{name}` is empty. Leave it out, or name at least one choice.")
    for value in values:
        if choices is not None:
            check_choice(name, value, choices)
        elif not isinstance(value, str):
            raise TypeError(f"`{name}` takes names such as {default[-1]!r}, got {value!r}.")
    return values


def _ngrams(given: Iterable[str] | None) -> list[str]:
    values = _checked("ngrams", given, NGRAMS)
    for value in values:
        Looking(value).view()
    return values


def _span(ngrams: str) -> tuple[str, int, int]:
    found = _SPAN.fullmatch(ngrams)
    if found is None:
        raise ValueError(
            f"`ngrams` takes words in a row, such as '1' or '1-2', or letters: 'letters:3-4' inside words, "
            f"'across:4' across them; got {ngrams!r}."
        )
    return found[1] or "", int(found[2]), int(found[3] or found[2])


def _normalizing(normalizer: str) -> dict[str, Any]:
    """Porter's stems, English lemmas, or those of a language: "stems:german", "lemmas:german"."""
    kind, _, language = normalizer.partition(":")
    if normalizer == NOTHING:
        return {}
    if normalizer == "porter" or (kind == "stems" and language):
        return {"stemmer": language or normalizer}
    if kind == "lemmas":
        return {"lemmatizer": language or "english"}
    raise ValueError(
        "`normalizers` are 'none', 'porter', 'lemmas' (English), or of a language 'stems:german' and "
        f"'lemmas:german'; got {normalizer!r}."
    )
