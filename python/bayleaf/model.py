"""The learned thing: views, their counts, and the settings that turn counts into answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf import events, inputs, storage
from bayleaf._core import NotLearned
from bayleaf.compiled import Compiled
from bayleaf.events import Priors, Unseen
from bayleaf.explain import Explanation
from bayleaf.inputs import WHOLE, Views
from bayleaf.judgement import Judgement
from bayleaf.labels import Label, Labels, as_list
from bayleaf.table_views import view_from_dict
from bayleaf.tables import NotCounted, Tally
from bayleaf.tally import Classes, Floats, length_of
from bayleaf.tuning import Tunable
from bayleaf.views import View, words


class Model(Tunable):
    """Naive Bayes on texts and tables: learns by counting, forgets by subtracting, explains by addition.

    | argument | values | meaning |
    |---|---|---|
    | `views` | list of views, or mapping from column to view or views | how to look at the documents |
    | `alpha` | number >= 0 | smoothing: 1 is Laplace's, less is Lidstone's, 0 is maximum likelihood |
    | `priors` | "empirical", "uniform", mapping from class to probability | the classes before looking |
    | `unseen` | "ignore", "smooth" | what a term says that was never learned |
    | `classes` | labels, None | close the set of classes; None lets new ones in |
    | `threads` | number >= 1, None | None takes all processors; the result does not depend on it |

    `alpha`, `priors`, `unseen` and what the views make of their counts can be changed at any time with
    `configure`, without another look at the documents. `notes`, a mapping ready for JSON, goes into the file.
    """

    def __init__(
        self,
        views: Views | None = None,
        *,
        alpha: float = 1.0,
        priors: Priors = "empirical",
        unseen: Unseen = "ignore",
        classes: Any = None,
        threads: int | None = None,
    ) -> None:
        self.views: list[tuple[str, View]] = inputs.named_views([words()] if views is None else views)
        self._labels = Labels()
        if classes is not None:
            self._labels.close(classes)
        self._tallies: list[Tally] = [view.tally() for _, view in self.views]
        self._documents = np.zeros(0, np.int64)
        self.notes: dict[str, Any] = {}
        self.alpha, self.priors, self.unseen = alpha, priors, unseen
        self.threads = events.check_threads(threads)
        self.judgement: Judgement | None = None
        self._compiled: Compiled | None = None
        self.configure()

    def __repr__(self) -> str:
        views = inputs.as_given(self.views)
        learned = f"{len(self.classes)} classes, {self.n_documents} documents"
        return f"Model({views!r}, alpha={self.alpha:g}, {learned})"

    @property
    def _one_column(self) -> bool:
        return self.views[0][0] == WHOLE

    @property
    def classes(self) -> list[Label]:
        """The labels, numbers before strings, in sorted order."""
        return [self._labels.names[number] for number in self._order.tolist()]

    @property
    def n_documents(self) -> int:
        """How many documents have been learned and not forgotten."""
        return int(self._documents.sum())

    @property
    def _order(self) -> Classes:
        return self._labels.order(self._documents)

    @property
    def class_documents(self) -> dict[Label, int]:
        """How many documents each class has."""
        padded = np.zeros(len(self._labels.names), np.int64)
        padded[: len(self._documents)] = self._documents
        return {self._labels.names[number]: int(padded[number]) for number in self._order.tolist()}

    def configure(self, *, view: int | str | None = None, **settings: Any) -> Self:
        """Change `alpha`, `priors`, `unseen`, or the `event`, `tf`, `alpha`… of one view (or all)."""
        own = {
            name: settings.pop(name)
            for name in ("alpha", "priors", "unseen")
            if name in settings and view is None
        }
        alpha = events.check_alpha(own.get("alpha", self.alpha))
        unseen = own.get("unseen", self.unseen)
        events.check_choice("unseen", unseen, ["ignore", "smooth"])
        priors = own.get("priors", self.priors)
        events.check_priors(priors)
        chosen = self._chosen(view)
        unknown = set(settings).difference(*(self.views[i][1].judgements for i in chosen))
        if unknown:
            raise TypeError(
                f"configure() has no setting {sorted(unknown)[0]!r}. What is counted cannot be changed later."
            )
        views = [
            (name, each.configured(**settings) if i in chosen else each)
            for i, (name, each) in enumerate(self.views)
        ]
        if (views, alpha, unseen) != (self.views, self.alpha, self.unseen):
            self.judgement = None
        self.views, self.alpha, self.priors, self.unseen = views, alpha, priors, unseen
        self._compiled = None
        return self

    def _chosen(self, view: int | str | None) -> set[int]:
        if view is None:
            return set(range(len(self.views)))
        found = {
            i for i, (name, _) in enumerate(self.views) if view == (name if isinstance(view, str) else i)
        }
        if not found:
            names = list(range(len(self.views))) if self._one_column else [name for name, _ in self.views]
            raise ValueError(f"There is no view {view!r}. The views are {names}.")
        return found

    def learn(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Count documents and their classes; new ones are welcome, until `classes` closes their set."""
        labels = self._labels.copy()
        if classes is not None:
            labels.close(classes)
            left_out = [label for label in self.classes if label not in as_list(classes)]
            if left_out:
                raise ValueError(f"`classes` lacks {left_out!r}, which are there already. Name all classes.")
        columns, numbers = self._input(X, y, labels)
        done: list[int] = []
        self._compiled = None
        try:
            for i, (tally, column) in enumerate(zip(self._tallies, columns, strict=True)):
                tally.add(column, numbers, self.threads)
                done.append(i)
        except BaseException:
            for i in done:
                self._tallies[i].subtract(columns[i], numbers)
            raise
        self._labels = labels
        self._documents = _added(self._documents, np.bincount(numbers, minlength=len(labels.names)))
        return self

    def forget(self, X: Any, y: Any) -> Self:
        """Undo `learn` exactly; documents that were not learned are refused, and nothing changes."""
        columns, numbers = self._input(X, y, self._labels.copy(), grow=False)
        left = _added(self._documents, -np.bincount(numbers, minlength=len(self._documents)))
        if left.min(initial=0) < 0:
            raise ValueError(self._not_learned(None, int(left.argmin())))
        done: list[int] = []
        self._compiled = None
        try:
            for i, (tally, column) in enumerate(zip(self._tallies, columns, strict=True)):
                tally.subtract(column, numbers)
                done.append(i)
        except BaseException as error:
            for i in done:
                self._tallies[i].add(columns[i], numbers, self.threads)
            if isinstance(error, NotLearned | NotCounted):
                term, number = error.args
                column = self.views[len(done)][0] if isinstance(error, NotCounted) else ""
                raise ValueError(self._not_learned(term, number, column)) from None
            raise
        self._documents = left
        return self

    def _not_learned(self, term: str | None, number: int, column: str = "") -> str:
        label = self._labels.names[number]
        if term is None:
            return f"X has more documents of the class {label!r} than were learned. Nothing was forgotten."
        what = f"{term} in the column {column!r}" if column else f"the term {term!r}"
        return (
            f"X was not learned like this: {what} occurs in it more often than in all documents learned as "
            f"{label!r}. Nothing was forgotten."
        )

    def merge(self, other: Model) -> Self:
        """Add everything that another model has learned with the same views."""
        if not isinstance(other, Model):
            raise TypeError(f"A model can be merged with a model, got {type(other).__name__}.")
        ours, theirs = ([(name, view.facts()) for name, view in model.views] for model in (self, other))
        if ours != theirs:
            raise ValueError(
                f"The models look at their documents differently: {self.views} and {other.views}."
            )
        source = other.copy() if other is self else other
        labels = self._labels.copy()
        numbers = labels.number(source._labels.names)
        self._compiled = None
        for mine, yours in zip(self._tallies, source._tallies, strict=True):
            mine.merge(yours, numbers)
        self._labels = labels
        moved = np.zeros(len(labels.names), np.int64)
        moved[numbers[: len(source._documents)]] = source._documents
        self._documents = _added(self._documents, moved)
        return self

    def copy(self) -> Model:
        """The same model, to be changed on its own."""
        return _unpickled(self.to_bytes(), inputs.normalizers_of(self.views), self.threads)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.to_bytes(), inputs.normalizers_of(self.views), self.threads)

    def _input(self, X: Any, y: Any, labels: Labels, grow: bool = True) -> tuple[list[Any], Classes]:
        columns = inputs.read(self.views, X)
        numbers = labels.number(y, grow)
        documents = length_of(columns[0])
        if documents != len(numbers):
            raise ValueError(
                f"X has {documents} documents and y has {len(numbers)} labels; each document needs one."
            )
        return columns, numbers

    def _ready(self) -> Compiled:
        if self._compiled is None:
            if self.n_documents == 0:
                raise ValueError("The model has learned nothing yet. Call `learn(X, y)` first.")
            events.check_priors(self.priors, self.classes)
            self._compiled = Compiled(self.views, self._tallies, self._order, self)
        return self._compiled

    def counts(self, view: int = 0) -> Any:
        """The integer counts of one view, classes in the order of `classes`."""
        return self._tallies[view].counts(self._order)

    def log_joint(self, X: Any) -> Floats:
        """log P(document, class), one row a document, one column a class."""
        compiled = self._ready()
        return compiled.log_joint(inputs.read(self.views, X), self.threads)

    def log_evidence(self, X: Any) -> Floats:
        """log P(document): the joint, summed over the classes."""
        return events.log_evidence(self.log_joint(X))

    def log_posterior(self, X: Any) -> Floats:
        """log P(class | document): the joint divided by the evidence."""
        return events.log_posterior(self.log_joint(X), self._ready().log_prior)

    def posterior(self, X: Any) -> Floats:
        """P(class | document)."""
        return np.exp(self.log_posterior(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each document; of equals, the first in `classes`."""
        compiled = self._ready()
        best = compiled.best(inputs.read(self.views, X), self.threads)
        answers: NDArray[Any] = compiled.labels[best]
        return answers

    def explain(self, x: Any, label: Label | None = None) -> Explanation:
        """Take the score of one document apart: the parts sum to `log_joint`."""
        compiled = self._ready()
        classes = self.classes
        if label is not None and label not in classes:
            raise ValueError(f"There is no class {label!r}. The classes are {classes!r}.")
        columns = inputs.read_row(self.views, x)
        joint = compiled.log_joint(columns, self.threads)
        posterior = np.exp(events.log_posterior(joint, compiled.log_prior))[0]
        chosen = int(posterior.argmax()) if label is None else classes.index(label)
        others = [i for i in np.argsort(-joint[0], kind="stable").tolist() if i != chosen]
        text, parts = compiled.parts(columns)
        return Explanation(
            text=text,
            classes=classes,
            log_prior=compiled.log_prior,
            bias=compiled.bias,
            parts=parts,
            log_joint=joint[0],
            posterior=posterior,
            label=classes[chosen],
            against=classes[others[0]] if others else None,
        )

    def top_terms(self, label: Label, n: int = 10, view: int = 0) -> list[tuple[str, float]]:
        """The terms that speak most for a class, with their log odds against the mean of the others."""
        classes = self.classes
        if label not in classes:
            raise ValueError(f"There is no class {label!r}. The classes are {classes!r}.")
        return self._ready().scorers[view].top(classes.index(label), n)

    def to_bytes(self) -> bytes:
        """The model as a file would hold it; equal counts and settings give equal bytes."""
        counts = [tally.counts(self._order) for tally in self._tallies]
        arrays = [own.arrays for own in counts]
        if self.judgement is not None:
            arrays = self.judgement.beside(counts)
        return storage.pack(self._settings(), arrays)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, completely or not at all."""
        storage.write(path, self.to_bytes())

    def _settings(self) -> dict[str, Any]:
        given = self.priors
        priors = sorted(map(list, given.items()), key=repr) if isinstance(given, Mapping) else given
        return {
            "views": [[name, view.to_dict()] for name, view in self.views],
            "classes": self.classes,
            "closed": self._labels.closed,
            "documents": list(self.class_documents.values()),
            "alpha": self.alpha,
            "priors": priors,
            "unseen": self.unseen,
            **({"notes": self.notes} if self.notes else {}),
            **({} if self.judgement is None else {"judgement": self.judgement.to_dict()}),
        }  # fmt: skip

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        normalizer: Callable[[str], str | None] | None = None,
        threads: int | None = None,
    ) -> Model:
        """Read a model; one that was learned with a normalizer of your own needs that function again."""
        settings, arrays = storage.read(path)
        return cls._restored(settings, arrays, str(path), [normalizer] * len(arrays), threads)

    @classmethod
    def from_bytes(cls, data: bytes, normalizer: Callable[[str], str | None] | None = None) -> Model:
        """The model that `to_bytes` wrote."""
        settings, arrays = storage.unpack(data, "the bytes")
        return cls._restored(settings, arrays, "the bytes", [normalizer] * len(arrays), None)

    @classmethod
    def _restored(
        cls,
        settings: dict[str, Any],
        arrays: list[dict[str, NDArray[Any]]],
        origin: str,
        normalizers: Sequence[Callable[[str], str | None] | None],
        threads: int | None,
    ) -> Model:
        with storage.reading(origin):
            both = zip(settings["views"], normalizers, strict=True)
            views = [
                (name, view_from_dict(view, fn if inputs.needs_normalizer(view) else None))
                for (name, view), fn in both
            ]
            priors: Any = settings["priors"]
            model = cls(
                inputs.as_given(views),
                alpha=settings["alpha"],
                priors=dict(priors) if isinstance(priors, list) else priors,
                unseen=settings["unseen"],
                threads=threads,
            )
            model._labels.number(settings["classes"])
            model._labels.closed = settings["closed"]
            model._documents = np.array(settings["documents"], np.int64)
            if "judgement" in settings:
                model.judgement = Judgement.from_dict(settings["judgement"], arrays)
            model._tallies = [view.restore(own) for (_, view), own in zip(views, arrays, strict=True)]
            model.notes = dict(settings.get("notes", {}))
            model._check_restored(settings, arrays)
            return model

    def _check_restored(self, settings: dict[str, Any], arrays: list[dict[str, NDArray[Any]]]) -> None:
        if not isinstance(settings["closed"], bool):
            raise ValueError(f"`closed` is {settings['closed']!r}, not true or false")
        if self.classes != settings["classes"] or len(self.classes) != len(self._documents):
            raise ValueError("its classes are not in order")
        if [name for name, _ in self.views] != [name for name, _ in settings["views"]]:
            raise ValueError("the views of a column are not together")
        for own in arrays:
            if own["class_documents"].tolist() != self._documents.tolist():
                raise ValueError("the views have counted different documents")


def _unpickled(data: bytes, normalizers: list[Callable[[str], str | None] | None], threads: int) -> Model:
    settings, arrays = storage.unpack(data, "the bytes")
    return Model._restored(settings, arrays, "the bytes", normalizers, threads)


def _added(documents: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    total = np.zeros(max(len(documents), len(more)), np.int64)
    total[: len(documents)] += documents
    total[: len(more)] += more
    return total
