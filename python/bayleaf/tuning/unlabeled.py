"""Texts without a label, shared out among the classes: expectation maximization on the same counts.

The labeled documents say how probable each class is for a text without a label; shared out by that, and
weighted down, those say what else the words of a class are; and so on, a few times. It moves some corpora by
ten points and harms others, so it is used only where labeled documents, held out of everything, are predicted
better with it. What it found is judgment, kept apart: labeled counts merge and forget as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.columns import as_list
from bayleaf.model_views import NamedViews
from bayleaf.posterior import softmax
from bayleaf.text.counts import TextTally
from bayleaf.text.views import Words
from bayleaf.tuning.class_weights import HeldOut
from bayleaf.tuning.complement import centered, levels
from bayleaf.tuning.judgment import ClassRows, ViewJudgment, taken_class_rows, with_nodes
from bayleaf.tuning.names import as_text
from bayleaf.tuning.scorer import TunedScorer
from bayleaf.types import Arrays, Classes, Floats, Label
from bayleaf.view import Piece

SHARE = 0.3
"""How much a text without a label counts beside one with."""
SURE = 10.0
"""Posteriors are sharpened by this factor before texts are shared out."""
TIMES = 5
"""How often they are shared out."""
ALPHA = 0.1
LEAST = 2
"""Words of fewer texts are left out."""
MOST = 100_000
"""So many texts without a label are used at most: more take longer and say little more."""
WEIGHTS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""What is tried as the weight of what they say."""
PREFIX = "unlabeled_"
"""Of the names of arrays in a file."""
GAIN = 2.0
"""The gain on held-out documents must be so many times its standard error."""


@dataclass(frozen=True, eq=False)
class Unlabeled:
    """What texts without a label were found to say, and whether it helps."""

    documents: int
    """How many there were."""
    loss: float
    """The mean log loss of labeled documents held out of everything, without these texts …"""
    loss_with: float
    """… and with them."""
    view: int = 0
    """Of the views of the model, the one whose column they are."""
    labels: Sequence[Label] = ()
    look: Words | None = None
    tally: TextTally | None = None
    """The texts, each counted with its most probable class, and the labeled ones: apart from the model's."""
    rows: ClassRows | None = None
    """What each word adds for each class."""

    @property
    def helps(self) -> bool:
        """Whether they are used."""
        return self.rows is not None

    def to_dict(self) -> dict[str, Any]:
        """Everything but arrays, ready for JSON."""
        return {
            "documents": self.documents,
            "loss": self.loss,
            "loss_with": self.loss_with,
            "view": self.view,
            "labels": list(self.labels),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """For a file: the counts of the texts, and the weights of their words."""
        if self.tally is None or self.rows is None:
            return {}
        counts = self.tally.counts(np.arange(len(self.labels), dtype=np.uint32))
        found = {**counts.arrays, **self.rows.arrays(counts.nodes)}
        return {PREFIX + name: array for name, array in found.items()}

    @classmethod
    def restored(cls, settings: dict[str, Any], views: NamedViews, arrays: Sequence[Arrays]) -> Unlabeled:
        """What a file holds; its arrays, beside those of the counts, are taken away from these."""
        found = cls(*(settings[name] for name in ("documents", "loss", "loss_with", "view", "labels")))
        if type(found.view) is not int or not 0 <= found.view < len(views) or not found.labels:
            raise ValueError("texts without a label are of no view, or of no class")
        if type(found.documents) is not int or not {type(found.loss), type(found.loss_with)} <= {int, float}:
            raise ValueError("how many texts have no label, or what they gain, is no number")
        beside = arrays[found.view]
        own = {
            name.removeprefix(PREFIX): beside.pop(name) for name in list(beside) if name.startswith(PREFIX)
        }
        if not own:
            return found
        view = views[found.view][1]
        rows = taken_class_rows(own, len(found.labels))
        if rows is None or not isinstance(view, Words) or len(own["class_documents"]) != len(found.labels):
            raise ValueError("texts without a label have no weights, or not those of their classes")
        look = _look(view)
        return replace(found, look=look, tally=look.restore(own), rows=with_nodes(rows, own["terms"]))

    @cached_property
    def scorer(self) -> TunedScorer:
        """What they say, for the classes of then."""
        if self.look is None or self.tally is None or self.rows is None:
            raise ValueError("The texts without a label say nothing.")
        numbers = range(len(self.labels))
        judged = ViewJudgment(ALPHA, (0.0,), least=LEAST, by_class=self.rows)
        return TunedScorer(self.tally, np.array(numbers, np.uint32), self.look, judged, numbers)


class Beside:
    """What texts without a label say, for the classes of now: those that are new get nothing."""

    may_rule_out = False

    def __init__(self, unlabeled: Unlabeled, classes: Sequence[Label]) -> None:
        self._scorer, self._classes = unlabeled.scorer, len(classes)
        place = {label: i for i, label in enumerate(classes)}
        both = [(i, place[label]) for i, label in enumerate(unlabeled.labels) if label in place]
        self._then, self._now = (np.array(each, np.intp) for each in zip(*both, strict=True))

    def _placed(self, scores: Floats) -> Floats:
        found = np.zeros((len(scores), self._classes))
        found[:, self._now] = scores[:, self._then]
        return found

    def scores(self, column: Any, threads: int) -> Floats:
        """What is added to the score of each document in each class."""
        return self._placed(self._scorer.scores(column, threads))

    def parts(self, column: Any, name: str) -> list[Piece]:
        """The parts of that, of the only document of a column."""
        pieces = self._scorer.parts(column, name)
        return [piece._replace(scores=self._placed(piece.scores[None])[0]) for piece in pieces]


class Texts:
    """Labeled and other texts as rows of words, ready to be shared out."""

    def __init__(
        self, look: Words, labeled: list[Any], y: Classes, others: Any, classes: int, threads: int
    ) -> None:
        self.look, self.threads, self.y, self.classes = look, threads, y, classes
        self.column = [*labeled, *as_list(others, "X")]
        tally = look.tally()
        tally.add(self.column, np.zeros(len(self.column), np.uint32), threads)
        counts = tally.counts(np.zeros(1, np.uint32))
        holders = counts.by_term(counts.documents)
        self.terms = np.flatnonzero(holders >= LEAST)
        self.worth = np.log((len(self.column) + 1) / (holders[self.terms] + 1)) + 1
        self.rows = self._rows(tally, counts.nodes[self.terms])
        self.size = float(np.sqrt(self.rows.power(2).sum() / max(len(self.column), 1))) or 1.0
        self.rows = self.rows / self.size

    def _rows(self, tally: TextTally, nodes: NDArray[Any]) -> Any:
        from scipy.sparse import csr_array

        ends, terms, times = tally.rows(self.column, nodes, self.threads).arrays()
        starts = np.concatenate([[0], ends]).astype(np.int64)
        values = 1 + np.log(times)
        document = np.repeat(np.arange(len(ends)), np.diff(starts))
        squares = np.bincount(document, values**2, len(ends))
        values = values / np.sqrt(np.maximum(squares[document], 1.0)) * self.worth[terms]
        return csr_array((values, terms.astype(np.int64), starts), (len(ends), len(nodes)))

    def shared_out(self, labeled: NDArray[Any]) -> tuple[Floats, Floats]:
        """From these labeled rows: words x classes, and the posterior of the texts without a label."""
        own = np.zeros((len(labeled), self.classes))
        own[np.arange(len(labeled)), self.y[labeled]] = 1
        others = self.rows[len(self.y) :]
        counted = self.rows[labeled].T @ own
        mass, posterior = counted, np.zeros((others.shape[0], self.classes))
        for _ in range(TIMES):
            posterior = softmax(SURE * (others @ _weights(mass)))
            mass = counted + SHARE * (others.T @ posterior)
        return _weights(mass), posterior


def _weights(mass: Floats) -> Floats:
    """Minus the log of the share of each word in the complement of each class."""
    elsewhere = mass.sum(axis=1, keepdims=True) - mass + ALPHA
    weights = np.log(elsewhere.sum(axis=0)) - np.log(elsewhere)
    weights = centered(weights)
    return weights * levels(weights)


def judged(
    look: Words, view: int, columns: tuple[Any, Any], y: Classes, labels: Sequence[Label],
    folds: Sequence[HeldOut], threads: int,
) -> Unlabeled:  # fmt: skip
    """Whether texts without a label help, and what they say if they do.

    `columns` are the labeled texts and the others; `folds` what is said of labeled ones without the others.
    """
    look = _look(look)
    documents = len(columns[1])
    others = columns[1] if documents <= MOST else as_list(columns[1], "X")[:: -(-documents // MOST)]
    texts = Texts(look, *_with_names(columns[0], y, labels), others, len(labels), threads)
    names = np.arange(len(y), len(texts.y))
    known = np.concatenate([fold.scores for fold in folds])
    truth = np.concatenate([y[fold.judging] for fold in folds])
    fitted = [np.concatenate([fold.fitted, names]).astype(np.intp) for fold in folds]
    both = zip(folds, fitted, strict=True)
    said = np.concatenate([texts.rows[fold.judging] @ texts.shared_out(own)[0] for fold, own in both])
    weight, loss, loss_with = _chosen(known, said, truth)
    found = Unlabeled(documents, loss, loss_with, view, labels)
    return found if weight == 0 else _used(found, texts, weight)


def _with_names(labeled: Any, y: Classes, labels: Sequence[Label]) -> tuple[list[Any], Classes]:
    """Labeled texts and their classes, and of each class its name, as one more text of it.

    Texts without a label have words of names that no labeled one has yet.
    """
    named = [(text, number) for number, text in enumerate(map(as_text, labels)) if text]
    numbers = np.array([number for _, number in named], y.dtype)
    return [*as_list(labeled, "X"), *(text for text, _ in named)], np.concatenate([y, numbers])


def _look(view: Words) -> Words:
    """The view, at single words."""
    return replace(view, shortest=1, longest=1, sparse=0)


def _losses(scores: Floats, truth: Classes) -> Floats:
    posterior = softmax(scores)[np.arange(len(truth)), truth]
    losses: Floats = -np.log(np.maximum(posterior, 1e-300))
    return losses


def _chosen(known: Floats, said: Floats, truth: Classes) -> tuple[float, float, float]:
    """The weight of what they say, 0 if that is no clear gain, and the mean loss without and with."""
    without = _losses(known, truth)
    tried = [(float(_losses(known + weight * said, truth).mean()), weight) for weight in WEIGHTS]
    loss_with, weight = min(tried)
    gains = without - _losses(known + weight * said, truth)
    clear = gains.sum() > GAIN * np.sqrt(np.einsum("i,i", gains, gains))
    right = [int((scores.argmax(axis=1) == truth).sum()) for scores in (known, known + weight * said)]
    return (weight if clear and right[1] >= right[0] else 0.0), float(without.mean()), loss_with


def _used(found: Unlabeled, texts: Texts, weight: float) -> Unlabeled:
    words, posterior = texts.shared_out(np.arange(len(texts.y)))
    tally = texts.look.tally()
    tally.add(
        texts.column, np.concatenate([texts.y, posterior.argmax(axis=1)]).astype(np.uint32), texts.threads
    )
    # The same texts in canonical order have the same words.
    nodes = tally.counts(np.arange(texts.classes, dtype=np.uint32)).nodes[texts.terms].astype(np.uint32)
    order = np.argsort(nodes)
    rows = (words * (weight * texts.worth / texts.size)[:, None])[order]
    own = ClassRows(nodes[order], np.ascontiguousarray(rows, np.float32))
    return replace(found, look=texts.look, tally=tally, rows=own)
