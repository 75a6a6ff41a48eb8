"""Views: how to look at one column, and which event model to use for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self, cast

from bayleaf._core import Analyzer
from bayleaf.analysis import Digits, Normalization, Top
from bayleaf.columns import filled, has_missing
from bayleaf.events import Event, TermFrequency, Unseen, check_alpha, check_choice
from bayleaf.scoring import Scorer, compile_text
from bayleaf.tables import Arrays, Tally
from bayleaf.tally import Classes, TextTally, as_documents

MAX_WORD_NGRAM = 8
MAX_LETTERS = 16
NO_NORMALIZATION = Normalization()


class View:
    """How to look at one column: what is counted in it, and what the counts say.

    A view reads a column, keeps a tally of it, and compiles the tally into a scorer. The settings in
    `judgements` only decide what is made of the counts, and can be changed at any time; all others are facts.
    """

    kind: ClassVar[str]
    judgements: ClassVar[frozenset[str]] = frozenset()
    columns: tuple[str, ...] = ()
    """The columns that are looked at together, if it is not one column with the view's own name."""

    def __repr__(self) -> str:
        values = [(field, getattr(self, field.name)) for field in self._fields() if field.repr]
        chosen = [f"{field.name}={value!r}" for field, value in values if value != field.default]
        return f"{self.kind}({', '.join(chosen)})"

    def __getstate__(self) -> dict[str, Any]:
        """The settings alone: what is computed from them is computed again in a copy."""
        return {field.name: getattr(self, field.name) for field in self._fields()}

    def _fields(self) -> tuple[Field[Any], ...]:
        return fields(cast(Any, self))

    def read(self, raw: Any, where: str) -> Any:
        """The column in the form that the tally and the scorer take; `where` names it in errors."""
        raise NotImplementedError

    def tally(self) -> Tally:
        """Counts of nothing yet."""
        raise NotImplementedError

    def restore(self, arrays: Arrays) -> Tally:
        """The counts that a file holds."""
        raise NotImplementedError

    def compile(self, tally: Any, order: Classes, alpha: float, unseen: Unseen) -> Scorer:
        """Make the counts of the classes in this order ready to answer."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """The settings that decide what is counted, ready for JSON."""
        settings = self.to_dict()
        return {name: value for name, value in settings.items() if name not in self.judgements}

    def to_dict(self) -> dict[str, Any]:
        """All settings, ready for JSON."""
        return {"kind": self.kind} | {field.name: getattr(self, field.name) for field in self._fields()}

    @classmethod
    def from_dict(
        cls, settings: Mapping[str, Any], normalizer: Callable[[str], str | None] | None = None
    ) -> Self:
        """The view with these settings."""
        if normalizer is not None:
            raise ValueError(f"A view of {cls.kind} has no normalizer.")
        return cls(**{name: value for name, value in settings.items() if name != "kind"})

    def configured(self, **settings: Any) -> Self:
        """The same view with other judgements; those it does not have are left out."""
        own = {name: value for name, value in settings.items() if name in self.judgements}
        changed: Self = replace(cast(Any, self), **own)
        return changed


@dataclass(frozen=True, repr=False)
class TextView(View):
    """How to look at one column of text; the settings that are the same for all kinds.

    | argument | values | meaning |
    |---|---|---|
    | `event` | "multinomial", "bernoulli", "complement" | the event model |
    | `tf` | "count", "binary", "normalized", "tf-idf" | what a term counts for in a document |
    | `alpha` | number >= 0, None | smoothing of this view; None takes the model's |
    """

    event: Event = "multinomial"
    tf: TermFrequency = "count"
    alpha: float | None = None

    judgements: ClassVar[frozenset[str]] = frozenset({"event", "tf", "alpha"})

    def __post_init__(self) -> None:
        check_choice("event", self.event, ["multinomial", "bernoulli", "complement"])
        check_choice("tf", self.tf, ["count", "binary", "normalized", "tf-idf"])
        if self.alpha is not None:
            object.__setattr__(self, "alpha", check_alpha(self.alpha))

    @cached_property
    def analyzer(self) -> Analyzer:
        """The part of the core that cuts text as this view says."""
        raise NotImplementedError

    def tokens(self, text: str | bytes) -> list[str]:
        """The terms of a text, as this view sees it."""
        return [term for term, _, _ in self.analyzer.parts(text)]

    def read(self, raw: Any, where: str) -> Any:
        """Text in a form that the core can borrow; a missing one in a table is read as empty."""
        return as_documents(raw) if where == "X" or not has_missing(raw) else filled(raw, where)

    def tally(self) -> TextTally:
        """Counts of nothing yet."""
        return TextTally(self.analyzer)

    def restore(self, arrays: Arrays) -> TextTally:
        """The counts that a file holds."""
        return TextTally.restore(self.analyzer, arrays)

    def compile(self, tally: TextTally, order: Classes, alpha: float, unseen: Unseen) -> Scorer:
        """The weights of the event model."""
        return compile_text(
            tally, order, self.event, self.tf, alpha if self.alpha is None else self.alpha, unseen
        )


@dataclass(frozen=True, repr=False)
class Words(TextView):
    """N-grams of words; made by `words()`."""

    shortest: int = 1
    longest: int = 1
    lower: bool = True
    marks: bool = True
    min_length: int = 1
    max_length: int | None = None
    max_token_bytes: int = 256
    normalization: Normalization = NO_NORMALIZATION

    kind: ClassVar[str] = "words"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_range("ngrams", self.shortest, self.longest, MAX_WORD_NGRAM)
        _check_flag("lower", self.lower)
        _check_flag("marks", self.marks)
        _check_count("min_length", self.min_length, 0)
        _check_count("max_token_bytes", self.max_token_bytes, 1)
        if self.max_length is not None:
            _check_count("max_length", self.max_length, self.min_length)

    def __repr__(self) -> str:
        given = {"ngrams": (self.shortest, self.longest)} if (self.shortest, self.longest) != (1, 1) else {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in {"shortest", "longest", "normalization"} and value != field.default:
                given[field.name] = value
        for field in fields(self.normalization):
            value = getattr(self.normalization, field.name)
            if field.default is not MISSING and value != field.default:
                given["normalizer" if field.name == "function" else field.name] = value
        return f"words({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    @cached_property
    def analyzer(self) -> Analyzer:
        """Words, cut in blocks, each form normalized once."""
        stop_words, porter, normalizer = self.normalization.for_core()
        return Analyzer.words(
            self.shortest,
            self.longest,
            lower=self.lower,
            marks=self.marks,
            min_length=self.min_length,
            max_length=self.max_length,
            max_bytes=self.max_token_bytes,
            stop_words=stop_words,
            porter=porter,
            normalizer=normalizer,
        )

    def to_dict(self) -> dict[str, Any]:
        """All settings; of a normalizer of your own only its name."""
        return super().to_dict() | {"normalization": self.normalization.to_dict()}

    @classmethod
    def from_dict(
        cls, settings: Mapping[str, Any], normalizer: Callable[[str], str | None] | None = None
    ) -> Self:
        """The view with these settings; a normalizer of your own must be given again."""
        normalization = Normalization.from_dict(settings["normalization"], normalizer)
        return super().from_dict({**settings, "normalization": normalization})


@dataclass(frozen=True, repr=False)
class Chars(TextView):
    """N-grams of letters; made by `chars()`."""

    shortest: int = 1
    longest: int = 4
    lower: bool = True
    within_words: bool = True

    kind: ClassVar[str] = "chars"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_range("chars", self.shortest, self.longest, MAX_LETTERS)
        _check_flag("lower", self.lower)
        _check_flag("within_words", self.within_words)

    @cached_property
    def analyzer(self) -> Analyzer:
        """Letters, inside words or across them."""
        return Analyzer.letters(self.shortest, self.longest, lower=self.lower, within_words=self.within_words)


@dataclass(frozen=True, repr=False)
class Bytes(TextView):
    """N-grams of raw bytes; made by `bytes_()`."""

    shortest: int = 8
    longest: int = 8

    kind: ClassVar[str] = "bytes_"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_range("bytes_", self.shortest, self.longest, 1 << 16)

    @cached_property
    def analyzer(self) -> Analyzer:
        """Bytes, as they are."""
        return Analyzer.bytes(self.shortest, self.longest)


def words(
    ngrams: int | tuple[int, int] = 1,
    *,
    lower: bool = True,
    marks: bool = True,
    min_length: int = 1,
    max_length: int | None = None,
    max_token_bytes: int = 256,
    stop_words: str | Iterable[str] | Top | None = None,
    stemmer: str | None = None,
    lemmatizer: str | None = None,
    strip_accents: bool = False,
    digits: Digits = "keep",
    normalizer: Callable[[str], str | None] | None = None,
    event: Event = "multinomial",
    tf: TermFrequency = "count",
    alpha: float | None = None,
) -> Words:
    """Look at a column as words.

    `ngrams=2` counts words and pairs of words, `ngrams=(2, 3)` only pairs and triples. A word is a run of
    letters, marks, digits and underscores (`marks=False`: as Python's `\\w`, which tears combining marks
    off), lower-cased, of `min_length` to `max_length` characters; one of more than `max_token_bytes` bytes is
    left out. `stop_words`, `stemmer`, `lemmatizer`, `strip_accents`, `digits` and a `normalizer` of your own
    (a word in; a word, or None to drop it, out) are applied once to each different word, and cost nothing
    after.
    """
    shortest, longest = _range_of(ngrams)
    normalization = Normalization(stop_words, stemmer, lemmatizer, strip_accents, digits, normalizer)
    return Words(
        event,
        tf,
        alpha,
        shortest,
        longest,
        lower,
        marks,
        min_length,
        max_length,
        max_token_bytes,
        normalization,
    )


def chars(
    shortest: int = 1,
    longest: int | None = None,
    *,
    lower: bool = True,
    within_words: bool = True,
    event: Event = "multinomial",
    tf: TermFrequency = "count",
    alpha: float | None = None,
) -> Chars:
    """Look at a column as n-grams of letters, `shortest` to `longest` (default: the same).

    Inside words (what stands between white space) each word gets a space on both sides, so that beginnings
    and endings are told from the middle; `within_words=False` lets n-grams run across.
    """
    return Chars(event, tf, alpha, shortest, shortest if longest is None else longest, lower, within_words)


def bytes_(
    shortest: int,
    longest: int | None = None,
    *,
    event: Event = "multinomial",
    tf: TermFrequency = "count",
    alpha: float | None = None,
) -> Bytes:
    """Look at a column as n-grams of raw bytes: the k-mers of a genome are `bytes_(8)`."""
    return Bytes(event, tf, alpha, shortest, shortest if longest is None else longest)


def _range_of(ngrams: Any) -> tuple[Any, Any]:
    if isinstance(ngrams, tuple | list) and len(ngrams) == 2:
        return ngrams[0], ngrams[1]
    return 1, ngrams


def _check_range(name: str, shortest: Any, longest: Any, most: int) -> None:
    whole = all(isinstance(end, int) and not isinstance(end, bool) for end in (shortest, longest))
    if not whole or not 1 <= shortest <= longest <= most:
        raise ValueError(f"`{name}` must go from 1 up to at most {most}, got {shortest!r} to {longest!r}.")


def _check_flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"`{name}` is True or False, got {value!r}.")


def _check_count(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"`{name}` must be a whole number >= {least}, got {value!r}.")
