"""The learned thing: views, their counts, and the settings that turn counts into answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf import events, storage
from bayleaf._core import NotLearned
from bayleaf.events import Priors, Unseen, Weights
from bayleaf.explain import Explanation, Part
from bayleaf.labels import Label, Labels, as_array
from bayleaf.tally import ClassCounts, Classes, Floats, TextTally, as_documents, length_of
from bayleaf.views import View, view_from_dict, words

Views = Sequence[View] | Mapping[str, View]
WHOLE = ""
"""The name of the column when X is one column of text."""


class Model:
    """Naive Bayes on texts: learns by counting, forgets by subtracting, explains by addition.

    | argument | values | meaning |
    |---|---|---|
    | `views` | list of views, or mapping from column to view | how to look at the documents |
    | `alpha` | number >= 0 | smoothing: 1 is Laplace's, less is Lidstone's, 0 is maximum likelihood |
    | `priors` | "empirical", "uniform", mapping from class to probability | the classes before looking |
    | `unseen` | "ignore", "smooth" | what a term says that was never learned |
    | `classes` | labels, None | close the set of classes; None lets new ones in |
    | `threads` | number >= 1, None | None takes all processors; the result does not depend on it |

    `alpha`, `priors`, `unseen` and the views' event models and term frequencies can be changed at any time with
    `configure`, without another look at the texts.
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
        self.views: list[tuple[str, View]] = _named_views([words()] if views is None else views)
        self._labels = Labels()
        if classes is not None:
            self._labels.close(classes)
        self._tallies = [TextTally(view.analyzer) for _, view in self.views]
        self._documents = np.zeros(0, np.int64)
        self.alpha, self.priors, self.unseen = alpha, priors, unseen
        self.threads = _checked_threads(threads)
        self._compiled: _Compiled | None = None
        self.configure()

    def __repr__(self) -> str:
        views = [view for _, view in self.views] if self._one_column else dict(self.views)
        return f"Model({views!r}, alpha={self.alpha:g}, {len(self.classes)} classes, {self.n_documents} documents)"

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
        """Change `alpha`, `priors`, `unseen`, or of one view (or all) `event`, `tf` and `alpha`, from the same counts."""
        own = {name: settings.pop(name) for name in ("alpha", "priors", "unseen") if name in settings and view is None}
        alpha = events.check_alpha(own.get("alpha", self.alpha))
        unseen = own.get("unseen", self.unseen)
        events.check_choice("unseen", unseen, ["ignore", "smooth"])
        priors = own.get("priors", self.priors)
        events.check_priors(priors)
        chosen = self._chosen(view)
        unknown = set(settings) - View.judgements
        if unknown:
            raise TypeError(f"configure() has no setting {sorted(unknown)[0]!r}. What is counted cannot be changed later.")
        views = [(name, each.configured(**settings) if i in chosen else each) for i, (name, each) in enumerate(self.views)]
        self.views, self.alpha, self.priors, self.unseen = views, alpha, priors, unseen
        self._compiled = None
        return self

    def _chosen(self, view: int | str | None) -> set[int]:
        if view is None:
            return set(range(len(self.views)))
        found = {i for i, (name, _) in enumerate(self.views) if view == (name if isinstance(view, str) else i)}
        if not found:
            names = list(range(len(self.views))) if self._one_column else [name for name, _ in self.views]
            raise ValueError(f"There is no view {view!r}. The views are {names}.")
        return found

    def learn(self, X: Any, y: Any) -> Self:
        """Count documents and their classes; new terms and new classes are welcome."""
        labels = self._labels.copy()
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
        done: list[int] = []
        self._compiled = None
        try:
            for i, (tally, column) in enumerate(zip(self._tallies, columns, strict=True)):
                tally.subtract(column, numbers)
                done.append(i)
        except BaseException as error:
            for i in done:
                self._tallies[i].add(columns[i], numbers, self.threads)
            if isinstance(error, NotLearned):
                raise ValueError(self._not_learned(*error.args)) from None
            raise
        self._documents = _added(self._documents, -np.bincount(numbers, minlength=len(self._documents)))
        return self

    def _not_learned(self, term: str | None, number: int) -> str:
        label = self._labels.names[number]
        if term is None:
            return f"X has more documents of the class {label!r} than were learned. Nothing was forgotten."
        return (
            f"X was not learned like this: the term {term!r} occurs in it more often than in all documents learned as "
            f"{label!r}. Nothing was forgotten."
        )

    def merge(self, other: Model) -> Self:
        """Add everything that another model has learned with the same views."""
        if not isinstance(other, Model):
            raise TypeError(f"A model can be merged with a model, got {type(other).__name__}.")
        ours, theirs = ([(name, view.facts()) for name, view in model.views] for model in (self, other))
        if ours != theirs:
            raise ValueError(f"The models look at their documents differently: {self.views} and {other.views}.")
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
        return Model.from_bytes(self.to_bytes(), _normalizers(self.views))

    def _input(self, X: Any, y: Any, labels: Labels, grow: bool = True) -> tuple[list[Any], Classes]:
        columns = self._columns(X)
        numbers = labels.number(y, grow)
        documents = length_of(columns[0])
        if documents != len(numbers):
            raise ValueError(f"X has {documents} documents and y has {len(numbers)} labels; each document needs one.")
        return columns, numbers

    def _columns(self, X: Any) -> list[Any]:
        """The column that each view looks at."""
        if self._one_column:
            column = as_documents(X)
            return [column] * len(self.views)
        names = _column_names(X)
        missing = [name for name, _ in self.views if name not in names]
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}. Its columns are {names}.")
        return [as_documents(X[name]) for name, _ in self.views]

    def _ready(self) -> _Compiled:
        if self._compiled is None:
            if self.n_documents == 0:
                raise ValueError("The model has learned nothing yet. Call `learn(X, y)` first.")
            events.check_priors(self.priors, self.classes)
            self._compiled = _Compiled(self)
        return self._compiled

    def counts(self, view: int = 0) -> ClassCounts:
        """The integer counts of one view, classes in the order of `classes`."""
        return self._tallies[view].counts(self._order)

    def log_joint(self, X: Any) -> Floats:
        """log P(document, class), one row a document, one column a class."""
        compiled = self._ready()
        columns = self._columns(X)
        scores = compiled.scores(0, columns[0], self.threads)
        for i, column in enumerate(columns[1:], 1):
            scores += compiled.scores(i, column, self.threads)
        scores += compiled.log_prior
        return scores

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
        joint = self.log_joint(X)
        best = joint.argmax(axis=1)
        if compiled.may_rule_out and np.isneginf(joint.max(axis=1)).any():
            best = events.log_posterior(joint, compiled.log_prior).argmax(axis=1)
        return compiled.labels[best]

    def explain(self, x: Any, label: Label | None = None) -> Explanation:
        """Take the score of one document apart: the parts sum to `log_joint`."""
        compiled = self._ready()
        row = [x] if self._one_column else {name: [x[name]] for name, _ in self.views}
        joint = self.log_joint(row)
        posterior = np.exp(events.log_posterior(joint, compiled.log_prior))[0]
        classes = self.classes
        if label is not None and label not in classes:
            raise ValueError(f"There is no class {label!r}. The classes are {classes!r}.")
        chosen = int(posterior.argmax()) if label is None else classes.index(label)
        others = [i for i in np.argsort(-joint[0], kind="stable").tolist() if i != chosen]
        texts = {name: x if self._one_column else x[name] for name, _ in self.views}
        parts = [part for i, (name, _) in enumerate(self.views) for part in compiled.parts(i, texts[name])]
        return Explanation(
            text=_as_text(next(iter(texts.values()))) if len(texts) == 1 else "\n".join(map(_as_text, texts.values())),
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
        """The terms that speak most for a class, with their log odds against the mean of the other classes."""
        classes = self.classes
        if label not in classes:
            raise ValueError(f"There is no class {label!r}. The classes are {classes!r}.")
        compiled = self._ready()
        counts, finite = compiled.counts[view], compiled.weights[view].finite
        chosen = classes.index(label)
        candidates = counts.term[counts.class_ == chosen].astype(np.intp)
        rows = finite.rows(counts, candidates)
        others = np.delete(rows, chosen, axis=1)
        odds = rows[:, chosen] - (others.mean(axis=1) if len(classes) > 1 else 0.0)
        best = np.argsort(-odds, kind="stable")[:n]
        names = counts.term_names
        return [(names[candidates[i]], float(odds[i])) for i in best.tolist()]

    def to_bytes(self) -> bytes:
        """The model as a file would hold it; equal counts and settings give equal bytes."""
        return storage.pack(self._settings(), [tally.counts(self._order).arrays for tally in self._tallies])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, completely or not at all."""
        storage.write(Path(path), self.to_bytes())

    def _settings(self) -> dict[str, Any]:
        return {
            "views": [[name, view.to_dict()] for name, view in self.views],
            "classes": self.classes,
            "closed": self._labels.closed,
            "documents": list(self.class_documents.values()),
            "alpha": self.alpha,
            "priors": sorted(map(list, self.priors.items()), key=repr) if isinstance(self.priors, Mapping) else self.priors,
            "unseen": self.unseen,
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
        return cls._restored(*storage.read(Path(path)), str(path), normalizer, threads)

    @classmethod
    def from_bytes(cls, data: bytes, normalizer: Callable[[str], str | None] | None = None) -> Model:
        """The model that `to_bytes` wrote."""
        return cls._restored(*storage.unpack(data, "the bytes"), "the bytes", normalizer, None)

    @classmethod
    def _restored(
        cls,
        settings: dict[str, Any],
        arrays: list[dict[str, NDArray[Any]]],
        origin: str,
        normalizer: Callable[[str], str | None] | None,
        threads: int | None,
    ) -> Model:
        with storage.reading(origin):
            own = [normalizer if _needs_normalizer(view) else None for _, view in settings["views"]]
            views = [(name, view_from_dict(view, fn)) for (name, view), fn in zip(settings["views"], own, strict=True)]
            priors = settings["priors"]
            model = cls(
                [view for _, view in views] if views[0][0] == WHOLE else dict(views),
                alpha=settings["alpha"],
                priors=priors if isinstance(priors, str) else {label: p for label, p in priors},
                unseen=settings["unseen"],
                threads=threads,
            )
            model._labels = Labels(settings["classes"], settings["closed"])
            model._documents = np.array(settings["documents"], np.int64)
            both = zip(views, arrays, strict=True)
            model._tallies = [TextTally.restore(view.analyzer, own) for (_, view), own in both]
            model._check_restored(arrays)
            return model

    def _check_restored(self, arrays: list[dict[str, NDArray[Any]]]) -> None:
        for own in arrays:
            if own["class_documents"].tolist() != self._documents.tolist():
                raise ValueError("the views have counted different documents")


class _Compiled:
    """Everything that is derived from the counts to answer questions."""

    def __init__(self, model: Model) -> None:
        order = model._order
        self.labels = as_array(model.classes)
        self.counts = [tally.counts(order) for tally in model._tallies]
        self.weights = [
            events.weights(counts, view.event, view.tf, model.alpha if view.alpha is None else view.alpha, model.unseen)
            for counts, (_, view) in zip(self.counts, model.views, strict=True)
        ]
        self.names = [f"{name}: {view.kind}" if name else view.kind for name, view in model.views]
        self._finite = self._scorers(model, [weights.finite for weights in self.weights])
        self._zeros = self._scorers(model, [weights.zeros for weights in self.weights])
        self.log_prior = _log_prior(model, self.counts[0])
        self.may_rule_out = any(weights.zeros for weights in self.weights)
        self.bias: Floats = np.sum([_ruled_out(w.finite.bias, w.zeros and w.zeros.bias) for w in self.weights], axis=0)

    def _scorers(self, model: Model, linears: Sequence[events.Linear | None]) -> list[Any]:
        return [
            linear and tally.scorer(linear.value, counts, linear.arrays())
            for tally, counts, linear in zip(model._tallies, self.counts, linears, strict=True)
        ]

    def scores(self, view: int, column: Any, threads: int) -> Floats:
        """The log likelihood of each document in each class, as one view sees it."""
        finite: Floats = self._finite[view].score(column, threads)
        zeros = self._zeros[view]
        return finite if zeros is None else _ruled_out(finite, zeros.score(column, threads))

    def parts(self, view: int, text: Any) -> list[Part]:
        """Each occurrence of a term with what it adds to the scores."""
        weights, counts = self.weights[view], self.counts[view]
        found = self._finite[view].parts(_as_text(text))
        terms = np.array([index for _, index, _, _ in found], np.intp)
        known, place = np.unique(terms[terms >= 0], return_inverse=True)
        scores = np.zeros((len(found), counts.n_classes))
        scores[terms >= 0] = _ruled_out_rows(weights, counts, known)[place]
        if weights.finite.unseen is not None:
            unseen = weights.finite.unseen
            scores[terms < 0] = unseen if weights.zeros is None else np.full_like(unseen, -np.inf)
        scores /= _repeats(found, weights.finite.value)[:, None]
        pairs = zip(found, scores, strict=True)
        return [Part(term, start, end, self.names[view], row) for (term, _, start, end), row in pairs]


def _repeats(found: list[tuple[str, int, int, int]], value: str) -> Floats:
    """By what each occurrence's weight is divided."""
    if value == "count":
        return np.ones(len(found))
    if value == "share":
        return np.full(len(found), float(len(found)))
    names, place, counts = np.unique([term for term, *_ in found], return_inverse=True, return_counts=True)
    repeats: Floats = counts[place].astype(np.float64) if len(names) else np.ones(0)
    return repeats


def _ruled_out(finite: Floats, zeros: Floats | None) -> Floats:
    return finite if zeros is None else np.where(zeros > 0.5, -np.inf, finite)


def _ruled_out_rows(weights: Weights, counts: ClassCounts, terms: NDArray[np.intp]) -> Floats:
    finite = weights.finite.rows(counts, terms)
    return finite if weights.zeros is None else _ruled_out(finite, weights.zeros.rows(counts, terms))


def _log_prior(model: Model, counts: ClassCounts) -> Floats:
    """The prior; the complement model by itself has none unless one is given."""
    if model.priors == "empirical" and all(view.event == "complement" for _, view in model.views):
        return np.zeros(counts.n_classes)
    return events.log_prior(model.priors, model.classes, counts.class_documents)


def _named_views(views: Any) -> list[tuple[str, View]]:
    if isinstance(views, View):
        views = [views]
    named = list(views.items()) if isinstance(views, Mapping) else [(WHOLE, view) for view in views]
    if not named:
        raise ValueError("`views` is empty; a model needs at least one view, for example [words()].")
    for name, view in named:
        if not isinstance(view, View):
            raise TypeError(f"`views` holds {view!r}, which is not a view such as words() or chars(3, 5).")
        if isinstance(views, Mapping) and (not isinstance(name, str) or name == WHOLE):
            raise TypeError(f"`views` maps column names to views; {name!r} is not a name.")
    facts = [(name, view.facts()) for name, view in named]
    for i, fact in enumerate(facts):
        if fact in facts[:i]:
            raise ValueError(f"The views clash: {named[i][1]!r} is there twice, and would count the same terms twice.")
    return named


def _checked_threads(threads: int | None) -> int:
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise ValueError(f"`threads` must be a whole number >= 1, or None for all processors, got {threads!r}.")
    return threads


def _needs_normalizer(view: Mapping[str, Any]) -> bool:
    return (view.get("normalization") or {}).get("function") is not None


def _normalizers(views: list[tuple[str, View]]) -> Callable[[str], str | None] | None:
    functions = [view.normalization.function for _, view in views if hasattr(view, "normalization")]
    own = [function for function in functions if function is not None]
    return own[0] if own else None


def _column_names(X: Any) -> list[Any]:
    names = X.keys() if isinstance(X, Mapping) else getattr(X, "column_names", getattr(X, "columns", None))
    if names is None:
        raise TypeError(f"The views name columns, so X must be a table with named columns, got {type(X).__name__}.")
    return list(names)


def _added(documents: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    total = np.zeros(max(len(documents), len(more)), np.int64)
    total[: len(documents)] += documents
    total[: len(more)] += more
    return total


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
