"""TextCounter: texts to a sparse matrix of counts, as scikit-learn's CountVectorizer, counted by the core."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from operator import lt
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from bayleaf._core import Analyzer
from bayleaf.columns import as_documents
from bayleaf.text.tokenizers import analyzer

__all__ = ["TextCounter"]

_SHORTEST_WORD = {r"(?u)\b\w\w+\b": 2, r"\b\w\w+\b": 2, r"(?u)\b\w+\b": 1, r"\b\w+\b": 1, r"\w+": 1}
"""The patterns of tokens that the core cuts itself, and how long a word must be."""
_NO_LIMIT = 1 << 31


class TextCounter(CountVectorizer):  # type: ignore[misc]
    """Texts to counts of terms: CountVectorizer, parameter by parameter, with bayleaf's core in the loop.

    The core cuts words (with the usual patterns), `char` and `char_wb`, and takes stop words; with a
    tokenizer, an analyzer or a pattern of your own, the text is cut by scikit-learn, and the result is the
    same. A column of a table can be given as it is. `partial_fit` adds the terms of more texts as columns.
    """

    def partial_fit(self, raw_documents: Iterable[Any], y: Any = None) -> Self:  # noqa: ARG002
        """Learn the terms of more texts: those that are new get the columns after the known ones."""
        chosen = (self.min_df, self.max_df, self.max_features, self.vocabulary)
        if chosen != (1, 1.0, None, None):
            raise ValueError(
                "`partial_fit` takes every term: leave out `min_df`, `max_df`, `max_features`, `vocabulary`."
            )
        known: dict[str, int] = getattr(self, "vocabulary_", {})
        more = type(self)(**self.get_params()).fit(raw_documents).vocabulary_
        new = sorted(term for term in more if term not in known)
        self.fixed_vocabulary_ = False
        self.vocabulary_ = known | {term: len(known) + i for i, term in enumerate(new)}
        return self

    def _core(self) -> tuple[Analyzer, Callable[[Any], str]] | None:
        """The core's analyzer for these settings and what reads a document for it, if the core can do it."""
        if callable(self.analyzer) or self.tokenizer is not None:
            return None
        plain = self.preprocessor is None and self.strip_accents is None
        lower = plain and bool(self.lowercase)
        prepare = self.build_preprocessor()
        read = self.decode if plain else lambda document: prepare(self.decode(document))
        shortest, longest = self.ngram_range
        if self.analyzer in ("char", "char_wb"):
            within = self.analyzer == "char_wb"
            return Analyzer.letters(shortest, longest, lower=lower, within_words=within), read
        least = _SHORTEST_WORD.get(self.token_pattern)
        if least is None:
            return None
        stops = sorted(self.get_stop_words() or ())
        cut = analyzer(
            shortest,
            longest,
            lower=lower,
            marks=False,
            lengths=(least, None),
            max_bytes=_NO_LIMIT,
            spaceless="keep",
            steps=(stops, False, None),
        )
        return cut, read

    def _count_vocab(self, raw_documents: Any, fixed_vocab: bool) -> tuple[dict[str, int], Any]:
        """The place where CountVectorizer reads the texts."""
        documents = as_documents(raw_documents)
        # Checks the settings, and warns of stop words that the preprocessing changes.
        self.build_analyzer()
        core = self._core()
        if core is None:
            return super()._count_vocab(documents, fixed_vocab)  # type: ignore[no-any-return]
        cut, read = core
        names, name_ends, ends, columns, counts = cut.matrix([read(document) for document in documents])
        blob = names.tobytes()
        terms = [blob[a:b].decode("utf-8") for a, b in pairwise([0, *name_ends.tolist()])]
        rows = np.concatenate([np.zeros(1, ends.dtype), ends])
        if fixed_vocab:
            known: dict[str, int] = self.vocabulary_
            return known, self._matrix(*_known(terms, known, rows, columns, counts), len(known))
        if not terms:
            raise ValueError("empty vocabulary; perhaps the documents only contain stop words")
        vocabulary = dict(zip(terms, range(len(terms)), strict=True))
        return vocabulary, self._matrix(rows, columns, counts, len(terms))

    def _sort_features(self, X: Any, vocabulary: dict[str, int]) -> Any:
        """The columns in the order of their terms, in which the core has put them already."""
        terms = list(vocabulary)
        if all(map(lt, terms, terms[1:])) and list(vocabulary.values()) == list(range(len(terms))):
            return X
        return super()._sort_features(X, vocabulary)

    def _matrix(self, rows: NDArray[Any], columns: NDArray[Any], counts: NDArray[Any], width: int) -> Any:
        small = len(columns) <= np.iinfo(np.int32).max
        kind = np.int32 if small else np.int64
        parts = (counts.astype(self.dtype), columns.astype(kind), rows.astype(kind))
        made = csr_matrix(parts, shape=(len(rows) - 1, width), dtype=self.dtype)
        made.sort_indices()
        return made


def _known(
    terms: list[str],
    vocabulary: dict[str, int],
    rows: NDArray[Any],
    columns: NDArray[Any],
    counts: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The cells of the terms that have a column."""
    place = np.array([vocabulary.get(term, -1) for term in terms], np.int64)
    mapped = place[columns] if len(terms) else columns
    kept = mapped >= 0
    return np.concatenate([[0], np.cumsum(kept)])[rows], mapped[kept], counts[kept]
