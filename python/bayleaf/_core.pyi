"""The core in Rust: text to terms, terms to integer counts, counts and weights to scores."""

import builtins
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

__all__ = [
    "Analyzer",
    "Asking",
    "ByClass",
    "Division",
    "Features",
    "Journal",
    "Lessons",
    "NotLearned",
    "QuickModel",
    "Rows",
    "Scorer",
    "Sizes",
    "SpamdServer",
    "Standing",
    "Tally",
    "Together",
    "Turn",
    "__version__",
    "block_checksums",
    "cells_by_term",
    "exponentials",
    "header_checksum",
    "leave_one_out",
    "log_posterior_of_one",
    "log_shares",
    "log_softmax",
    "logs",
    "porter",
    "powers",
    "read_mail",
    "repeats",
    "shared_scores",
    "step_curvature",
    "step_slope",
    "sum_of_arrays",
]

__version__: str

def porter(words: list[str]) -> list[str]:
    """The stems of words by Porter's algorithm of 1980."""

def repeats(row_ends: NDArray[np.integer[Any]], columns: NDArray[np.integer[Any]], width: int) -> bool:
    """Whether a row of a sparse matrix names a column twice."""

def read_mail(
    raw: bytes,
) -> (
    tuple[
        tuple[str, str, str, str, str, str, str, str],
        tuple[list[tuple[str, str]], list[str], list[tuple[str, bool]]] | None,
    ]
    | None
):
    """The columns of an ordinary mail, and None if that is all; None of other mail.

    What may be left to be read: the headers if words of them are encoded, flags of its parts, and the texts,
    each with whether character references are left in it, if they are in one.
    """

def block_checksums(pieces: Sequence[NDArray[np.uint8]]) -> bytes:
    """The CRC-32 of each KiB of pieces that stand one behind the other, four bytes each."""

def header_checksum(header: bytes, sums: bytes) -> int:
    """The CRC-32 of a header, in which its own digits do not count, and of the checksums of the blocks."""

def log_softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores as log probabilities, row by row."""

def log_posterior_of_one(scores: Sequence[float]) -> list[float]:
    """The scores of one document as log probabilities."""

def exponentials(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Powers of e, of an array in one dimension."""

def powers(logs: Sequence[float]) -> list[float]:
    """Powers of e, without NumPy."""

def log_shares(values: Sequence[float]) -> NDArray[np.float64]:
    """The logarithm of each value's share of their sum."""

def logs(values: Sequence[float]) -> list[float]:
    """Natural logarithms, without NumPy."""

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
        normalizer: Callable[[list[str]], list[str | None]] | str | None,
        buckets: int | None = None,
    ) -> Analyzer:
        """N-grams of words; of the forms, stop words are dropped, the others stemmed, then normalized.

        The normalizer "zero" writes every digit as 0 without calling Python.
        """

    @staticmethod
    def letters(
        shortest: int, longest: int, *, lower: bool, within_words: bool, buckets: int | None = None
    ) -> Analyzer:
        """N-grams of letters, inside words (each padded with a space on both sides) or across them."""

    @staticmethod
    def bytes(shortest: int, longest: int, *, bases: bool, buckets: int | None = None) -> Analyzer:
        """N-grams of raw bytes, or of bases, in capitals and U as T."""

    def matrix(self, documents: Any) -> list[NDArray[Any]]:
        """How often each term occurs in each document: names and their ends, row ends, columns, counts."""

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

    def check_merge(self, other: Tally, classes: NDArray[np.uint32]) -> None:
        """Raise what `merge` would raise, and change nothing."""

    @property
    def changes(self) -> int:
        """How often the counts have changed."""

    def export(
        self, order: NDArray[np.uint32], *, documents: bool, occurrences: bool, shares: bool
    ) -> tuple[dict[str, NDArray[Any]], NDArray[np.uint32]]:
        """Some counts of the classes in `order`, in one canonical order of terms, and each term's node."""

    @staticmethod
    def check(analyzer: Analyzer, arrays: dict[str, NDArray[Any]]) -> None:
        """Raise what `restore` would raise."""

    @staticmethod
    def restore(analyzer: Analyzer, arrays: dict[str, NDArray[Any]]) -> Tally:
        """The tally that exported these arrays; ValueError if none can have."""

    def scorer(self, value: str, nodes: NDArray[Any], linear: dict[str, NDArray[Any] | None]) -> Scorer:
        """Freeze weights for the terms at `nodes`; `value` is count, binary or share."""

def sum_of_arrays(
    left: dict[str, NDArray[Any]],
    right: dict[str, NDArray[Any]],
    left_classes: NDArray[np.uint32],
    right_classes: NDArray[np.uint32],
    classes: int,
    *,
    same_documents: bool,
) -> dict[str, NDArray[Any]]:
    """The sum of two tallies that were exported; class i of either is class `classes[i]` of so many.

    With `same_documents`, both have counted other terms of the same documents.
    """

@final
class Division:
    """The counts of a tally that was exported, divided by a hash of its terms."""

    def __new__(cls, arrays: dict[str, NDArray[Any]], parts: int) -> Division: ...
    def part(self, part: int) -> dict[str, NDArray[Any]]:
        """One of the parts: all documents, its own terms, in canonical order."""

@final
class Asking:
    """Rows made of a tally's counts, which change with them: texts to log likelihoods."""

    def __new__(cls, tally: Tally, settings: dict[str, Any], order: NDArray[np.uint32]) -> Asking: ...
    def ordered(self, order: NDArray[np.uint32]) -> Asking:
        """The same for other classes, or in another order."""

    def score(self, documents: Any, threads: int) -> NDArray[np.float64]:
        """One row of scores a document, one column a class."""

    def best(self, documents: Any, prior: NDArray[np.float64], threads: int) -> NDArray[np.uint32]:
        """The class with the highest score and prior of each document; ties go to the first class."""

    def bias(self) -> NDArray[np.float64]:
        """What every document gets, whatever is in it."""

    def explain(
        self, text: str | builtins.bytes
    ) -> tuple[list[tuple[str, int, int, int]], NDArray[np.float64]]:
        """The terms of a text (name, row of its weights, start, end), and the rows; last that of an unknown.

        Instead of a row: -1 for a term that was never learned, -2 for one that is not used.
        """

@disjoint_base
class Turn:
    """Whose turn it is to change a model; refuses instead of waiting for ever."""

    changes: int
    """How often the model was changed."""

    def __enter__(self) -> None:
        """Take the turn; RuntimeError if this thread has it already, or is in a callback and would wait."""

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        """Give it back."""

    def forked(self) -> None:
        """Forget the threads that are not in this process; what one of them was changing is lost."""

@final
class Sizes:
    """How many documents each class has, by its number."""

    array: NDArray[np.int64]
    """The same as an array that stays as it is; after a change there is another."""

    @property
    def exist(self) -> bytes:
        """For each class whether it has documents."""

@final
class Lessons:
    """What learns and forgets one text that all views look at, in one call."""

    def __new__(
        cls,
        turn: Turn,
        numbers: dict[Any, int],
        sizes: Sizes,
        tallies: list[Tally],
        answering: Any,
        drift: Any,
    ) -> Lessons:
        """Change `tallies`, `sizes`, the `changes` of what answers and the `value` of what has drifted."""

    def learn(self, x: Any, y: Any) -> bool:
        """Learn the only text of a list; False, and nothing has changed, if it takes the long way."""

    def forget(self, x: Any, y: Any) -> bool:
        """Forget the only text of a list; False, and nothing has changed, if it takes the long way."""

@final
class Together:
    """One document that several views look at, in one call: scores times temperature, and prior.

    With None the prior is each class's share of the documents, times the temperature.
    """

    def __new__(
        cls, askings: Sequence[Asking], temperature: float, prior: NDArray[np.float64] | None
    ) -> Together: ...
    def joint(self, columns: list[Any]) -> list[float]:
        """The log joint of each class; a column of one text for each view."""

    def posterior(self, columns: list[Any]) -> list[float]:
        """The posterior of each class."""

    def best(self, columns: list[Any]) -> int:
        """The place of the most probable class; ties go to the first class."""

    def posterior_of_text(self, text: str) -> list[float]:
        """The posterior of each class for a text that all views look at."""

    def best_of_text(self, text: str) -> int:
        """The place of its most probable class."""

@final
class Standing:
    """What answers SPAMD without Python between two changes of a model."""

    def __new__(cls) -> Standing: ...
    def stand(
        self, together: Together, places: Sequence[int], classes: Sequence[str], spam: int, version: int
    ) -> None:
        """Answer by these counts until they are about to change; of each view, the place of its column."""

    def withdraw(self) -> None:
        """Wait for the answer that is being given, and give no other."""

@final
class SpamdServer:
    """The thread of SPAMD connections; it hands over what it cannot answer."""

    def __new__(
        cls,
        *,
        headers: int,
        body: int,
        seconds: float,
        too_slow: str,
        connections: int,
        threshold: float,
        personal: bool,
        uid: int,
        questions: int,
        bounds: Sequence[float],
    ) -> SpamdServer: ...
    @property
    def failed(self) -> bool:
        """Whether the thread has ended although it was not told to."""

    def listen(self, socket: int, is_unix: bool) -> None:
        """Take connections from a socket that is bound and listens, and belongs to this from now on."""

    def answer_by(self, standing: Standing) -> None:
        """Answer ordinary CHECK by this model, whenever it stands; the first that is given counts."""

    def fileno(self) -> int:
        """What becomes readable when something was handed over."""

    def handed(
        self,
    ) -> list[
        tuple[int, str, tuple[int, int], list[tuple[str, str]], builtins.bytes, int | None, builtins.float]
    ]:
        """Connection, method, version, headers, body, user and seconds so far of what waits for an answer."""

    def answer(self, connection: int, answer: builtins.bytes) -> None:
        """The answer to one of them."""

    def questions(
        self, most: int
    ) -> list[tuple[list[str], str, str, str, list[tuple[str, float]], int, float]]:
        """The newest: columns, Message-ID, sender, answer, probabilities by class, version and time."""

    def tally(
        self,
    ) -> tuple[list[tuple[str, int, list[int], float]], list[tuple[str, int]], list[str]]:
        """Requests since the last call, how often each class was answered before, and the last answers."""

    def close(self) -> None:
        """Take no new connections."""

    def stop(self) -> None:
        """Write what is answered, and end the thread."""

@final
class Scorer:
    """Frozen weights: texts to log joint probabilities."""

    def score(self, documents: Any, threads: int) -> NDArray[np.float64]:
        """One row of scores a document, one column a class."""

    def best(self, documents: Any, prior: NDArray[np.float64], threads: int) -> NDArray[np.uint32]:
        """The class with the highest score and prior of each document; of equals, the first."""

    def parts(self, text: str | builtins.bytes) -> list[tuple[str, int, int, int]]:
        """The terms of a text: name, index (-1 if it was never learned), start and end."""

@final
class Rows:
    """Documents as rows of terms, read once."""

    @staticmethod
    def read(tally: Tally, documents: Any, nodes: NDArray[np.uint32], threads: int) -> Rows:
        """Which of the terms at `nodes` each document holds, and how often."""

    @property
    def nonzeros(self) -> int:
        """How many pairs of a document and a term there are."""

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """How many tokens each document has, of whatever terms."""

    @property
    def unknown(self) -> NDArray[np.uint32]:
        """How many tokens of each document are terms that were never learned."""

    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
        """The end of each row, its terms, and how often each occurs."""

    @property
    def keys(self) -> NDArray[np.uint64]:
        """A number for each document, equal for those that have the same tokens, in any order."""

    def holders(self, documents: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """How many of these documents hold each term."""

    def group_holders(self, documents: NDArray[np.uint32], groups: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """How many groups of these documents hold each term."""

    def counts(
        self,
        documents: NDArray[np.uint32],
        labels: NDArray[np.uint32],
        classes: int,
        place: NDArray[np.uint32],
        terms: int,
    ) -> NDArray[np.uint32]:
        """How many of these documents of each class hold each term, renumbered by `place`."""

@final
class Features:
    """Documents, each left out of the counts, as sums over terms: what weights of terms are fitted on."""

    def __new__(
        cls,
        views: list[tuple[Rows, NDArray[np.uint32], NDArray[np.uint32], float]],
        documents: NDArray[np.uint32],
        labels: NDArray[np.uint32],
        weights: NDArray[np.float64],
        groups: NDArray[np.uint32],
        dense: NDArray[np.float64],
        leave_out: bool,
        threads: int,
    ) -> Features: ...
    @property
    def nonzeros(self) -> int:
        """How many pairs of a document and a term there are."""

    def slope(
        self, weights: NDArray[np.float64], bias: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """The mean log loss, and its gradient in the weights and in the biases."""

    def curvature(self, weights: NDArray[np.float64], bias: NDArray[np.float64]) -> NDArray[np.float64]:
        """The diagonal of the Hessian of the summed loss, roughly for more than two classes."""

    def loss(self, weights: NDArray[np.float64], bias: NDArray[np.float64]) -> float:
        """The mean log loss."""

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Documents x classes: the scores with these weights, without the biases."""

    def group_scores(self, group: NDArray[np.uint8], groups: int) -> NDArray[np.float64]:
        """Documents x groups x classes: the scores if every term of the group had the weight 1."""

@final
class ByClass:
    """Documents as rows of terms beside known scores: what a weight for each term and class is fitted on."""

    def __new__(
        cls,
        ends: NDArray[np.uint64],
        terms: NDArray[np.uint32],
        values: NDArray[np.float32],
        labels: NDArray[np.uint32],
        weights: NDArray[np.float64],
        known: NDArray[np.float64],
        n_terms: int,
    ) -> ByClass: ...
    def slope(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The summed log loss, and its gradient; weights are terms x classes, flat."""

    def loss(self, weights: NDArray[np.float64]) -> float:
        """The summed log loss."""

def shared_scores(
    views: list[
        tuple[
            Rows,
            NDArray[np.uint32],
            NDArray[np.uint64],
            NDArray[np.uint32],
            NDArray[np.uint32],
            NDArray[np.uint8],
            float,
        ]
    ],
    documents: NDArray[np.uint32],
    labels: NDArray[np.uint32],
    groups: NDArray[np.uint32],
    shape: tuple[int, int],
    threads: int,
) -> NDArray[np.float32]:
    """Documents x steps x classes (`shape`): what the terms of each step say of documents left out."""

def cells_by_term(
    term: NDArray[np.uint32],
    class_ends: NDArray[np.uint64],
    documents: NDArray[np.uint32],
    place: NDArray[np.uint32],
    terms: int,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """The cells of some terms, term by term: where those of each end, their classes, their documents."""

_Left: TypeAlias = tuple[NDArray[np.float32] | NDArray[np.float64], NDArray[np.uint32], NDArray[np.float64]]
"""Documents x steps x classes; the classes of the documents, and how much each counts."""
_Place: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Weights of steps, and biases of classes."""

def step_slope(
    left: _Left, place: _Place, threads: int
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """The summed log loss of weights of steps and biases of classes, and its gradient."""

def step_curvature(left: _Left, place: _Place) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The Hessian of that loss in the weights of steps, and its diagonal in the biases."""

def leave_one_out(
    tally: Tally,
    documents: Any,
    nodes: NDArray[np.uint32],
    labels: NDArray[np.uint32],
    facts: dict[str, Any],
    threads: int,
) -> NDArray[np.float64]:
    """The log likelihoods of documents, each left out of the counts; NaN for one that is not part of them."""

@final
class Journal:
    """The changes behind a model file, each whole and verified."""

    def __new__(cls, behind: bytes, seed: int, views: int, classes: int) -> Journal: ...
    def __len__(self) -> int: ...
    def facts(self) -> tuple[list[int], str] | None:
        """The documents of each class after the last change, and the drift since tuning."""

    def replay(self, view: int, tally: Tally) -> None:
        """Put the changes of a view into the tally that its counts were restored to."""

@final
class QuickModel:
    """A model file that is asked without being loaded."""

    def __new__(cls, path: str | os.PathLike[str]) -> QuickModel: ...
    @property
    def header(self) -> bytes:
        """The header as it is in the file."""

    def verify(self, length: int, documents: Sequence[int], views: Sequence[dict[str, Any]]) -> None:
        """Verify the header and read the changes behind `length` bytes of counts."""

    def log_joint(self, texts: Sequence[str], temperature: float, log_prior: Sequence[float]) -> list[float]:
        """log P(document, class) of one document, of which each view reads one of the texts."""

    def facts(self) -> tuple[list[int], int, int, int]:
        """Documents of each class, terms, occurrences, and the bytes of changes."""

    @property
    def drift(self) -> str | None:
        """The drift since tuning, if there are changes."""

    def append(self, parts: Sequence[tuple[bool, int, list[list[str]]]], drift: str) -> bool:
        """Learn or forget documents and write that behind the file; False if it takes the whole model."""
