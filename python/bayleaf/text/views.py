"""Views of text: words, letters or bytes, and which event model to use for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Self, TypedDict, Unpack

from bayleaf._core import Analyzer
from bayleaf.checks import check_alpha, check_choice, check_count, check_flag, check_range
from bayleaf.columns import as_documents, filled, has_missing, holds_texts
from bayleaf.text.counts import TextTally
from bayleaf.text.event_models import Event, TermFrequency, check_complement_alpha
from bayleaf.text.normalization import Digits, Normalization, Top, function_name, top
from bayleaf.text.scorers import Asked, TextScorer
from bayleaf.text.selection import Selection
from bayleaf.text.tokenizers import (
    Alphabet,
    Spaceless,
    Tokenizer,
    analyzer,
    checked_keep,
    checked_tokenizer,
    restored_functions,
)
from bayleaf.types import Arrays, Classes, Unseen
from bayleaf.view import Scorer, View

__all__ = ["Bytes", "Chars", "TextView", "View", "Words", "bytes_", "chars", "words"]

MAX_WORD_NGRAM = 8
MAX_LETTERS = 16
MAX_SPARSE = 64
MAX_BUCKETS = 2**31
NO_NORMALIZATION = Normalization()


@dataclass(frozen=True, repr=False)
class TextView(View):
    """How to look at one column of text; the settings that are the same for all kinds.

    | argument | values | meaning |
    |---|---|---|
    | `event` | "multinomial", "bernoulli", "complement" | the event model |
    | `tf` | "count", "binary", "normalized", "tf-idf" | what a term counts for in a document |
    | `alpha` | number >= 0, None | smoothing of this view; None takes the model's |
    | `stop_words` | `top(n)`, None | leave out the n terms that occur most often |
    | `min_df`, `max_df` | whole number >= 1, share from 0.0 to 1.0, None | leave out terms of fewer, of more documents |
    | `max_terms` | whole number >= 1, None | of the others, use those that occur most often |
    | `buckets` | whole number >= 1, None | count so many buckets, into which terms fall by their hash, instead of terms |

    All but `buckets` are judgments on the counts: a model can change them at any time with `configure`.
    """  # noqa: E501

    event: Event = "multinomial"
    tf: TermFrequency = "count"
    alpha: float | None = None
    stop_words: Top | None = None
    min_df: int | float | None = None
    max_df: int | float | None = None
    max_terms: int | None = None
    buckets: int | None = None

    judgments: ClassVar[frozenset[str]] = frozenset(
        {"event", "tf", "alpha", "stop_words", "min_df", "max_df", "max_terms"}
    )

    @property
    def selection(self) -> Selection:
        """Which terms are used."""
        return Selection(self.stop_words, self.min_df, self.max_df, self.max_terms)

    def to_dict(self) -> dict[str, Any]:
        """All settings, ready for JSON."""
        settings = super().to_dict() | {"stop_words": None if self.stop_words is None else self.stop_words.n}
        if self.buckets is None:
            del settings["buckets"]  # as in files from before there were any
        return settings

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], normalizer: Any = None) -> Self:
        """The view with these settings."""
        n = settings.get("stop_words")
        return super().from_dict({**settings, "stop_words": None if n is None else top(n)}, normalizer)

    def __post_init__(self) -> None:
        _ = self.selection
        check_choice("event", self.event, ["multinomial", "bernoulli", "complement"])
        check_choice("tf", self.tf, ["count", "binary", "normalized", "tf-idf"])
        if self.alpha is not None:
            object.__setattr__(self, "alpha", check_alpha(self.alpha))
        if self.buckets is not None:
            check_count("buckets", self.buckets, 1, MAX_BUCKETS)

    @cached_property
    def analyzer(self) -> Analyzer:
        """The part of the core that cuts text as this view says."""
        raise NotImplementedError

    def tokens(self, text: str | bytes) -> list[str]:
        """The terms of a text, as this view sees it."""
        return [term for term, _, _ in self.analyzer.parts(text)]

    def read(self, raw: Any, where: str) -> Any:
        """Text in a form that the core can borrow; a missing one is read as empty: it is no evidence."""
        if type(raw) is list and len(raw) == 1 and type(raw[0]) is str:
            return (raw[0],)  # as services ask: looking for what may be odd would take longer than the answer
        if holds_texts(raw):
            return tuple(raw)  # a list could change meanwhile
        documents = filled(raw, where) if has_missing(raw) else as_documents(raw)
        if isinstance(documents, list) and has_missing(documents):
            documents = filled(documents, where)
        return tuple(documents) if isinstance(documents, list) else documents

    def tally(self) -> TextTally:
        """Counts of nothing yet."""
        return TextTally(self.analyzer)

    def restore(self, arrays: Arrays) -> TextTally:
        """The counts that a file holds."""
        return TextTally.restore(self.analyzer, arrays)

    def compile(self, tally: TextTally, order: Classes, alpha: float, unseen: Unseen) -> Scorer:
        """The weights of the event model."""
        chosen = alpha if self.alpha is None else self.alpha
        if self.event == "complement":
            check_complement_alpha(chosen)
        return TextScorer(tally, order, Asked(self.event, self.tf, chosen, unseen, self.selection))


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
    tokenizer: Tokenizer = "words"
    keep: tuple[str, ...] = ()
    spaceless: Spaceless = "bigrams"
    sparse: int = 0

    kind: ClassVar[str] = "words"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("ngrams", self.shortest, self.longest, MAX_WORD_NGRAM)
        check_flag("lower", self.lower)
        check_flag("marks", self.marks)
        check_count("min_length", self.min_length, 0)
        check_count("max_token_bytes", self.max_token_bytes, 1)
        if self.max_length is not None:
            check_count("max_length", self.max_length, self.min_length)
        check_count("sparse", self.sparse, 0, MAX_SPARSE)
        check_choice("spaceless", self.spaceless, ["bigrams", "keep"])
        object.__setattr__(self, "tokenizer", checked_tokenizer(self.tokenizer))
        object.__setattr__(self, "keep", checked_keep(self.keep))

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
        return analyzer(
            self.shortest,
            self.longest,
            lower=self.lower,
            marks=self.marks,
            lengths=(self.min_length, self.max_length),
            max_bytes=self.max_token_bytes,
            tokenizer=self.tokenizer,
            keep=self.keep,
            spaceless=self.spaceless,
            sparse=self.sparse,
            steps=self.normalization.for_core(),
            buckets=self.buckets,
        )

    @property
    def deepest(self) -> int:
        """Of how many words, gaps among them, a term is made at most."""
        return max(self.longest, self.sparse + 1) if self.buckets is None else 1

    @property
    def functions(self) -> Any:
        """The functions of your own that a file cannot hold: one, a mapping of both, or None."""
        normalizer = self.normalization.function
        if isinstance(self.tokenizer, str):
            return normalizer
        own = {"tokenizer": self.tokenizer, "normalizer": normalizer}
        return own if normalizer is not None else self.tokenizer

    def to_dict(self) -> dict[str, Any]:
        """All settings; of functions of your own only their names."""
        settings = super().to_dict() | {
            "normalization": self.normalization.to_dict(),
            "keep": list(self.keep),
        }
        if not isinstance(self.tokenizer, str):
            settings["tokenizer"] = {"function": function_name(self.tokenizer)}
        return settings

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], normalizer: Any = None) -> Self:
        """The view with these settings; functions of your own must be given again."""
        own, cut = restored_functions(settings, normalizer)
        normalization = Normalization.from_dict(settings["normalization"], own)
        return super().from_dict({**settings, "normalization": normalization, "tokenizer": cut})


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
        check_range("chars", self.shortest, self.longest, MAX_LETTERS)
        check_flag("lower", self.lower)
        check_flag("within_words", self.within_words)

    @cached_property
    def analyzer(self) -> Analyzer:
        """Letters, inside words or across them."""
        return Analyzer.letters(
            self.shortest,
            self.longest,
            lower=self.lower,
            within_words=self.within_words,
            buckets=self.buckets,
        )


@dataclass(frozen=True, repr=False)
class Bytes(TextView):
    """N-grams of raw bytes; made by `bytes_()`."""

    shortest: int = 8
    longest: int = 8
    alphabet: Alphabet | None = None

    kind: ClassVar[str] = "bytes_"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("bytes_", self.shortest, self.longest, 1 << 16)
        if self.alphabet is not None:
            check_choice("alphabet", self.alphabet, ["dna"])

    def to_dict(self) -> dict[str, Any]:
        """All settings; an alphabet only if there is one, as in files from before there were any."""
        return {name: value for name, value in super().to_dict().items() if name != "alphabet" or value}

    @cached_property
    def analyzer(self) -> Analyzer:
        """Bytes, as they are or as bases."""
        bases = self.alphabet == "dna"
        return Analyzer.bytes(self.shortest, self.longest, bases=bases, buckets=self.buckets)


class Judgments(TypedDict, total=False):
    """The settings of every view of text: `buckets`, and what only decides what is made of the counts."""

    event: Event
    tf: TermFrequency
    alpha: float | None
    min_df: int | float | None
    max_df: int | float | None
    max_terms: int | None
    buckets: int | None


class LetterJudgments(Judgments, total=False):
    """The same, and the stop words that are found by counting."""

    stop_words: Top | None


def words(
    ngrams: int | tuple[int, int] = 1,
    *,
    lower: bool = True,
    marks: bool = True,
    min_length: int = 1,
    max_length: int | None = None,
    max_token_bytes: int = 256,
    tokenizer: Tokenizer = "words",
    keep: str | Iterable[str] = (),
    spaceless: Spaceless = "bigrams",
    sparse: int = 0,
    stop_words: str | Iterable[str] | Top | None = None,
    stemmer: str | None = None,
    lemmatizer: str | None = None,
    strip_accents: bool = False,
    digits: Digits = "keep",
    normalizer: Callable[[str], str | None] | None = None,
    **judgments: Unpack[Judgments],
) -> Words:
    """Look at a column as words.

    | argument | values | meaning |
    |---|---|---|
    | `ngrams` | n, (m, n) | words and what up to n of them in a row say, or m to n; `ngrams=2`: words and pairs |
    | `sparse` | number | also pairs of words that stand up to so many apart, told apart by their distance |
    | `tokenizer` | "words", "words+punctuation", "whitespace", regular expression, function | what a token is |
    | `lower`, `marks` | True, False | lower-case the text; let combining marks be part of words |
    | `min_length`, `max_length` | number of characters | leave out shorter, longer words |
    | `max_token_bytes` | number of bytes | leave out what is longer, whatever it is |
    | `keep` | "url", "email", "money", "emoji", "hashtag", "mention" | tokens of their own, not normalized |
    | `spaceless` | "bigrams", "keep" | scripts without spaces: cut into pairs of letters, or not at all |
    | `stop_words` | language, words, `top(n)` | words that are not counted, or the n most frequent, not used |
    | `stemmer`, `lemmatizer`, `strip_accents`, `digits` | as in `Normalization` | what happens to a word |
    | `normalizer` | function | your own last step: a word in; a word, or None to drop it, out |
    | `buckets` | number | count so many buckets, into which terms fall by their hash: a model of fixed size |

    What happens to a word happens once to each different one, and costs nothing after. The judgments (`event`,
    `tf`, `alpha`, `min_df`, `max_df`, `max_terms`, and `top(n)`) can be changed when all is counted.
    """  # noqa: E501
    shortest, longest = _range_of(ngrams)
    listed = None if isinstance(stop_words, Top) else stop_words
    return Words(
        shortest=shortest,
        longest=longest,
        lower=lower,
        marks=marks,
        min_length=min_length,
        max_length=max_length,
        max_token_bytes=max_token_bytes,
        normalization=Normalization(listed, stemmer, lemmatizer, strip_accents, digits, normalizer),
        tokenizer=tokenizer,
        keep=checked_keep(keep),
        spaceless=spaceless,
        sparse=sparse,
        stop_words=stop_words if isinstance(stop_words, Top) else None,
        **judgments,
    )


def chars(
    shortest: int = 1,
    longest: int | None = None,
    *,
    lower: bool = True,
    within_words: bool = True,
    **judgments: Unpack[LetterJudgments],
) -> Chars:
    """Look at a column as n-grams of letters, `shortest` to `longest` (default: the same).

    Inside words (what stands between white space) each word gets a space on both sides, so that beginnings
    and endings are told from the middle; `within_words=False` lets n-grams run across.
    """
    last = shortest if longest is None else longest
    return Chars(shortest=shortest, longest=last, lower=lower, within_words=within_words, **judgments)


def bytes_(
    shortest: int,
    longest: int | None = None,
    *,
    alphabet: Alphabet | None = None,
    **judgments: Unpack[LetterJudgments],
) -> Bytes:
    """Look at a column as n-grams of raw bytes: the k-mers of a genome are `bytes_(8, alphabet="dna")`.

    That alphabet has no case (a lower-case letter marks a repeat), and U is T, as in RNA, unless other
    letters show that the sequence is a protein.
    """
    last = shortest if longest is None else longest
    return Bytes(shortest=shortest, longest=last, alphabet=alphabet, **judgments)


def _range_of(ngrams: Any) -> tuple[Any, Any]:
    if isinstance(ngrams, tuple | list) and len(ngrams) == 2:
        return ngrams[0], ngrams[1]
    return 1, ngrams
