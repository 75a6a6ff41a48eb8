"""Integer counts of terms in classes, which add, subtract and merge exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf import _core
from bayleaf.columns import as_documents
from bayleaf.types import Classes, Floats
from bayleaf.view import as_floats

GAP = "_"
"""How a word that was left out of a sparse pair is shown."""

QUANTITIES = frozenset({"documents", "occurrences", "shares"})
"""What is counted of each term in each class."""


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """The counts of one view: an entry for each nonzero (term, class) cell, class by class, terms sorted."""

    arrays: dict[str, NDArray[Any]]
    nodes: NDArray[Any]
    dropped: NDArray[Any] = field(default_factory=lambda: np.zeros(0, np.uint32))
    """The nodes of terms that are counted but not used."""

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.arrays["class_documents"])

    @property
    def n_terms(self) -> int:
        """How many terms have a count."""
        return len(self.arrays["terms"])

    @property
    def term(self) -> NDArray[Any]:
        """The term of each cell."""
        return self.arrays["term"]

    @cached_property
    def class_(self) -> NDArray[np.intp]:
        """The class of each cell."""
        return np.repeat(np.arange(self.n_classes), self._class_sizes)

    @property
    def _class_sizes(self) -> NDArray[np.intp]:
        ends = self.arrays["class_ends"].astype(np.intp)
        sizes: NDArray[np.intp] = np.subtract(ends, np.append(0, ends[:-1]))
        return sizes

    class_documents = as_floats("class_documents")
    """How many documents each class has."""
    occurrences = as_floats("occurrences")
    """How often the term of each cell occurs in its class."""
    documents = as_floats("documents")
    """How many documents of its class have the term of each cell."""

    @cached_property
    def shares(self) -> Floats:
        """The sum of tf / length over the documents of each cell's class."""
        whole, part = self.arrays["shares_whole"], self.arrays["shares_part"]
        return whole.astype(np.float64) + part.astype(np.float64) * 2.0**-64

    def by_class(self, cells: NDArray[Any]) -> Floats:
        """Sum the cells of each class."""
        sizes, sums = self._class_sizes, np.zeros(self.n_classes)
        filled = sizes > 0
        if filled.any():
            starts = (np.cumsum(sizes) - sizes)[filled]
            sums[filled] = np.add.reduceat(cells, starts, dtype=np.float64)
        return sums

    def by_term(self, cells: NDArray[Any]) -> Floats:
        """Sum the cells of each term."""
        return _summed(self.term, cells, self.n_terms)

    def words(self) -> list[str]:
        """The words among which n-grams are formed, or the n-grams of letters or bytes, in sorted order."""
        blob = self.arrays["words"].tobytes()
        ends = self.arrays["word_ends"].tolist()
        return [blob[a:b].decode("utf-8", "backslashreplace") or GAP for a, b in pairwise([0, *ends])]

    @cached_property
    def term_names(self) -> list[str]:
        """The terms: n-grams of words are joined by a space."""
        names = self.words()
        for left, right in self.arrays["pairs"].reshape(-1, 2).tolist():
            names.append(f"{names[left]} {names[right]}")
        terms = self.arrays["terms"]
        return names if len(terms) == len(names) else [names[i] for i in terms.tolist()]

    def rows(self, terms: NDArray[np.intp], cells: NDArray[Any]) -> NDArray[Any]:
        """The cells of some terms as a dense table, one row a term, 0 where there is no cell."""
        table = np.zeros((len(terms), self.n_classes), cells.dtype)
        place = np.full(self.n_terms, -1)
        place[terms] = np.arange(len(terms))
        row = place[self.term]
        found = row >= 0
        table[row[found], self.class_[found]] = cells[found]
        return table


def _summed(places: NDArray[Any], cells: NDArray[Any], size: int) -> Floats:
    # Of no cells at all, NumPy returns integers.
    return np.bincount(places, cells, size).astype(np.float64, copy=False)


class TextTally:
    """Integer counts of one column of text."""

    def __init__(self, analyzer: _core.Analyzer, restored: ClassCounts | None = None) -> None:
        self._analyzer = analyzer
        self._restored = restored
        self._made = _core.Tally(analyzer) if restored is None else None

    @classmethod
    def restore(cls, analyzer: _core.Analyzer, arrays: dict[str, NDArray[Any]]) -> TextTally:
        """The tally whose counts are these arrays."""
        _core.Tally.check(analyzer, arrays)
        # In a restored tally terms stand where they stood in the file: to ask it takes no export.
        return cls(analyzer, ClassCounts(arrays, arrays["terms"]))

    @property
    def _own(self) -> _core.Tally:
        """The counts with a table of their terms, made when first needed: to save or ship them takes none.

        Whoever needs it first has the model's turn.
        """
        if self._made is None:
            restored = self._restored
            assert restored is not None
            self._made = _core.Tally.restore(self._analyzer, restored.arrays)
        return self._made

    def changing(self) -> _core.Tally:
        """The counts, which will no longer be those of a file."""
        own = self._own
        self._restored = None
        return own

    def add(self, column: Any, classes: Classes, threads: int) -> None:
        """Count documents; if one cannot be read, none is counted."""
        self.changing().add(as_documents(column), classes, threads)

    def subtract(self, column: Any, classes: Classes) -> None:
        """Take documents back, if all of them can have been counted."""
        self.changing().subtract(as_documents(column), classes)

    def merge(self, other: TextTally, classes: Classes) -> None:
        """Add the counts of another tally, whose class i is `classes[i]` here."""
        self.changing().merge(other._own, classes)

    def replay(self, journal: _core.Journal, view: int) -> None:
        """Put changes in that were written behind the file these counts are from."""
        journal.replay(view, self.changing())

    def check_merge(self, other: TextTally, classes: Classes) -> None:
        """Raise what `merge` would raise."""
        self._own.check_merge(other._own, classes)

    @property
    def changes(self) -> int:
        """How often the counts have changed."""
        own = self._made
        return (self._own if own is None else own).changes

    def counts(self, order: Classes, quantities: frozenset[str] = QUANTITIES) -> ClassCounts:
        """The counts of the classes in this order; of each cell, these quantities at least."""
        restored = self._restored
        if restored is not None and np.array_equal(order, np.arange(restored.n_classes)):
            return restored
        return ClassCounts(*self._own.export(order, **{name: name in quantities for name in QUANTITIES}))

    def scorer(self, value: str, counts: ClassCounts, linear: dict[str, NDArray[Any] | None]) -> _core.Scorer:
        """Freeze weights for the terms of `counts`."""
        places = {name: counts.arrays[name] for name in ("class_ends", "term")}
        return self._own.scorer(value, *_silenced(counts, {**places, **linear}))

    def asking(self, settings: dict[str, Any], order: Classes) -> _core.Asking:
        """What answers by rows that change with the counts."""
        return _core.Asking(self._own, settings, order)

    def rows(self, column: Any, nodes: NDArray[Any], threads: int) -> _core.Rows:
        """Which of the terms at these nodes each document holds, and how often."""
        return _core.Rows.read(self._own, as_documents(column), nodes.astype(np.uint32), threads)

    def leave_one_out(
        self, column: Any, counts: ClassCounts, labels: Classes, facts: dict[str, Any], threads: int
    ) -> Floats:
        """The log likelihood of each document without itself; NaN if it was not counted with its label."""
        documents, nodes = as_documents(column), counts.nodes.astype(np.uint32)
        return _core.leave_one_out(self._own, documents, nodes, labels, facts, threads)


def _silenced(
    counts: ClassCounts, linear: dict[str, NDArray[Any] | None]
) -> tuple[NDArray[Any], dict[str, NDArray[Any] | None]]:
    """Terms that are not used weigh nothing, even where terms that were never learned do."""
    if not len(counts.dropped):
        return counts.nodes, linear
    used, dropped = counts.n_terms, len(counts.dropped)
    offset, scale = linear.get("offset"), linear.get("scale")
    padded = {
        "offset": None if offset is None else np.concatenate([offset, np.zeros(dropped)]),
        "scale": np.concatenate([np.ones(used) if scale is None else scale, np.zeros(dropped)]),
    }
    return np.concatenate([counts.nodes, counts.dropped]), {**linear, **padded}
