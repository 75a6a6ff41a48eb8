"""Folds by subtraction: each fold is taken out of the counts of all documents."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from bayleaf.studies.counting import Counted, Numbers, Places, once
from bayleaf.types import Floats

# Up to so many classes it is faster to score one after the other.
FEW = 4
NONE: Places = np.zeros(0, np.intp)


class Fold:
    """The documents of one fold, and the counts without them, of the terms that they hold.

    Tables have one row a class. `tops` says how many terms may be left out as the most frequent: those are
    held here too.
    """

    def __init__(self, counted: Counted, number: int, tops: tuple[int, ...] = ()) -> None:
        self.counted, self.number = counted, number
        self.documents = counted.split.documents(number)
        self.truth = counted.split.truth[self.documents]
        ends = counted.ends[self.documents.start : self.documents.stop + 1]
        cells = slice(int(ends[0]), int(ends[-1]))
        self._ends = (ends - ends[0]).astype(np.int32)
        self.times: Floats = counted.times[cells].astype(np.float64)
        terms = counted.terms[cells]
        dropped = {n: self._most_frequent(n, terms) for n in tops}
        held = np.zeros(counted.n_terms, np.bool_)
        held[terms] = True
        for each in dropped.values():
            held[each] = True
        self.terms = np.flatnonzero(held)
        place = np.zeros(counted.n_terms, np.intp)
        place[self.terms] = np.arange(len(self.terms))
        self._columns = place[terms]
        self._dropped = {n: place[each] for n, each in dropped.items()}
        in_fold = np.bincount(self.truth, minlength=self.n_classes)
        self.class_documents: Places = counted.counts.class_documents.astype(np.intp) - in_fold

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.counted.n_classes

    def _most_frequent(self, n: int, terms: Places) -> Places:
        """The n terms that occur most often in the other folds; ties go to the first term."""
        left = self.counted.occurrences - np.bincount(terms, self.times, self.counted.n_terms)
        exist = np.flatnonzero(left)
        if n >= len(exist):
            return exist
        occurrences = left[exist]
        least = np.partition(occurrences, len(exist) - n)[len(exist) - n]
        above = exist[occurrences > least]
        return np.concatenate([above, exist[occurrences == least][: n - len(above)]])

    @cached_property
    def _row(self) -> Places:
        """The document of each cell."""
        return np.repeat(np.arange(len(self.truth)), np.diff(self._ends))

    @cached_property
    def _places(self) -> Places:
        """Where each cell is in a table of classes and terms."""
        return self.truth[self._row] * len(self.terms) + self._columns

    def _summed(self, values: Floats | None, at: Any = slice(None)) -> Numbers:
        size = self.n_classes * len(self.terms)
        return np.bincount(self._places[at], values, size).reshape(self.n_classes, -1)

    @cached_property
    def _often(self) -> Places:
        return np.flatnonzero(self.times > 1)

    @once
    def values(self, kind: str) -> Floats:
        """What each cell counts for."""
        if kind == "tf":
            return self.times
        if kind == "share":
            return self.times / self.counted.lengths[self.documents][self._row]
        values = np.ones_like(self.times)
        if kind == "log":
            values[self._often] += np.log(self.times[self._often])
        return values

    @cached_property
    def _matrix(self) -> Any:
        parts = (self.times, self._columns.astype(np.int32), self._ends)
        return csr_matrix(parts, shape=(len(self.truth), len(self.terms)))

    def score(self, kind: str, weights: Floats) -> Floats:
        """The sums of weights of each document, one row a class."""
        # To make a matrix for each kind takes longer than to multiply it.
        self._matrix.data = self.values(kind)
        if self.n_classes <= FEW:
            return np.array([self._matrix @ row for row in weights])
        scores: Floats = (self._matrix @ np.ascontiguousarray(weights.T)).T
        return scores

    @once
    def _whole(self, kind: str) -> Numbers:
        return self.counted.rows(kind, self.terms)

    def _held(self, kind: str) -> Numbers:
        """What the fold has in each class of each term."""
        if kind == "share":
            return self._summed(self.values(kind))
        held = self._summed(None)
        if kind == "binary":
            return held
        often = self.times[self._often]
        more = self._summed(often - 1 if kind == "tf" else np.log(often), self._often)
        return held + more if kind == "log" else held + more.astype(np.intp)

    @once
    def left(self, kind: str) -> Numbers:
        """What each class has of each term without this fold."""
        left = self._whole(kind) - self._held(kind)
        if kind in ("share", "log"):
            # A difference of floats is not 0 where nothing is left; counts of documents are whole.
            left[self.left("binary") == 0] = 0.0
        return left

    @once
    def total(self, kind: str) -> Floats:
        """What each class has of all terms without this fold."""
        held = np.bincount(self.truth[self._row], self.values(kind), self.n_classes)
        return np.asarray(self.counted.totals(kind) - held, np.float64)

    @once
    def logs(self, kind_and_alpha: tuple[str, float]) -> Floats:
        """log (count + alpha) of what is left; whole numbers are looked up."""
        kind, alpha = kind_and_alpha
        if kind in ("tf", "binary"):
            return self.counted.logs(alpha).take(self.left(kind))
        mass = self.left("share") * self.idf if kind == "tf-idf" else self.left(kind)
        logs: Floats = np.log(mass + alpha)
        return logs

    @cached_property
    def log_documents(self) -> float:
        """The logarithm of how many documents are left."""
        return float(np.log(max(int(self.class_documents.sum()), 1)))

    @cached_property
    def idf(self) -> Floats:
        """The logarithm of documents / documents with the term, of those that are left."""
        logs: Floats = self.log_documents - np.log(np.maximum(self.left("binary").sum(axis=0), 1))
        return logs

    @cached_property
    def total_tf_idf(self) -> Floats:
        """The sum of share times idf over all terms, without this fold.

        Where the fold has no part in a term, only the number of all documents changes its idf.
        """
        here = self._whole("share")
        elsewhere = self.counted.totals("share") - here.sum(axis=1)
        logs = self.counted.share_logs - here @ self.counted.term_logs[self.terms]
        return np.asarray(self.log_documents * elsewhere - logs + self.left("share") @ self.idf, np.float64)

    @cached_property
    def histogram(self) -> Places:
        """For each class, how many terms are in 0, 1, 2… of its documents, without this fold."""
        changed = self.bars(self.left("binary")) - self.bars(self._whole("binary"))
        changed[:, 0] -= np.count_nonzero(~self._known)
        return self.counted.histogram + changed

    def bars(self, documents: Places) -> Places:
        """For each class, how many of these terms are in 0, 1, 2… of its documents."""
        shape = self.counted.histogram.shape
        places = documents + np.arange(self.n_classes)[:, None] * shape[1]
        return np.bincount(places.ravel(), minlength=shape[0] * shape[1]).reshape(shape)

    @cached_property
    def _known(self) -> NDArray[np.bool_]:
        return np.asarray(self.left("binary").any(axis=0), np.bool_)

    def dropped(self, top: int) -> Places:
        """Which of the terms held here are the most frequent ones."""
        return self._dropped[top] if top else NONE

    @once
    def unused(self, top: int) -> Places:
        """Which of the terms held here are not left in the counts, or among the most frequent."""
        used = self._known.copy()
        used[self.dropped(top)] = False
        return np.flatnonzero(~used)
