"""The core in Rust: text to terms, terms to integer counts, counts and weights to scores."""

import builtins
from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Analyzer", "NotLearned", "Scorer", "Tally", "__version__", "porter"]

__version__: str

def porter(words: list[str]) -> list[str]:
    """The stems of words by Porter's algorithm of 1980."""

class NotLearned(ValueError):  # noqa: N818
    """These documents were not learned: (term or None, class number)."""

@final
class Analyzer:
    """How one column of text becomes terms."""

    @staticmethod
    def words(
        shortest: int,
        longest: int,
        *,
        lower: bool,
        marks: bool,
        min_length: int,
        max_length: int | None,
        max_bytes: int,
        bigrams: bool,
        tokenizer: str,
        pattern: str | None,
        function: Callable[[str], Iterable[str]] | None,
        keep: str | None,
        sparse: int,
        stop_words: Sequence[str],
        porter: bool,
        normalizer: Callable[[list[str]], list[str | None]] | None,
    ) -> Analyzer:
        """N-grams of words; of the forms, stop words are dropped, the others stemmed, then normalized."""

    @staticmethod
    def letters(shortest: int, longest: int, *, lower: bool, within_words: bool) -> Analyzer:
        """N-grams of letters, inside words (each padded with a space on both sides) or across them."""

    @staticmethod
    def bytes(shortest: int, longest: int) -> Analyzer:
        """N-grams of raw bytes."""

    def parts(self, text: str | builtins.bytes) -> list[tuple[str, int, int]]:
        """The terms of a text, each with its start and end."""

@final
class Tally:
    """Integer counts of terms in classes, which are numbered from 0."""

    def __new__(cls, analyzer: Analyzer) -> Tally: ...
    def add(self, documents: Any, classes: NDArray[np.uint32], threads: int) -> None:
        """Count documents: all of them, or none if one cannot be read."""

    def subtract(self, documents: Any, classes: NDArray[np.uint32]) -> None:
        """Take documents back; raise `NotLearned`, changing nothing, if they cannot have been counted."""

    def merge(self, other: Tally, classes: NDArray[np.uint32]) -> None:
        """Add another tally's counts; its class i is `classes[i]` here."""

    def export(self, order: NDArray[np.uint32]) -> tuple[dict[str, NDArray[Any]], NDArray[np.uint32]]:
        """The counts of the classes in `order`, in one canonical order of terms, and each term's node."""

    @staticmethod
    def restore(analyzer: Analyzer, arrays: dict[str, NDArray[Any]]) -> Tally:
        """The tally that exported these arrays; ValueError if none can have."""

    def scorer(self, value: str, nodes: NDArray[Any], linear: dict[str, NDArray[Any] | None]) -> Scorer:
        """Freeze weights for the terms at `nodes`; `value` is count, binary or share."""

@final
class Scorer:
    """Frozen weights: texts to log joint probabilities."""

    def score(self, documents: Any, threads: int) -> NDArray[np.float64]:
        """One row of scores a document, one column a class."""

    def parts(self, text: str | builtins.bytes) -> list[tuple[str, int, int, int]]:
        """The terms of a text: name, index (-1 if it was never learned), start and end."""
