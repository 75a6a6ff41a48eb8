"""NaiveBayes: texts, tables and arrays behind scikit-learn's contract."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayleaf import estimator_file
from bayleaf.answering import Compiled
from bayleaf.checks import check_threads
from bayleaf.column_views import paired, views_for
from bayleaf.columns import length_of
from bayleaf.estimator_input import TableInput, checked_labels
from bayleaf.estimator_settings import Settled, SettledAnswers, warn_of_counts
from bayleaf.explanation import Explanation
from bayleaf.labels import PLAIN
from bayleaf.model import Model
from bayleaf.model_views import as_given, named_views
from bayleaf.next_labels import AT_RANDOM, Question
from bayleaf.posterior import decide, probabilities, unless_unsure
from bayleaf.row_weights import ClassSizes, Labeled, Rows, check_class_weight, prior_of
from bayleaf.streams import OneByOne
from bayleaf.text.views import View
from bayleaf.tuning import FEW, Tuning, check_tuning, default_views, worth_tuning
from bayleaf.tuning.leave_one_out import Suspect
from bayleaf.types import Floats, Label
from bayleaf.view_parameters import ViewParameters

T = TypeVar("T")
_ALL = object()
"""In place of classes: there is one batch, of all rows."""


class NaiveBayes(TableInput, OneByOne, SettledAnswers, ViewParameters, ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn is untyped
    """Naive Bayes for texts, tables with mixed columns, and arrays of numbers.

    | parameter | values | meaning |
    |---|---|---|
    | `views` | None, a view, list of views, mapping from column to view or views | how to look at X |
    | `alpha` | number >= 0, "auto" | smoothing: 1 is Laplace's, less is Lidstone's, 0 is maximum likelihood |
    | `priors` | "empirical", "uniform", mapping from class to probability | class priors |
    | `unseen` | "ignore", "smooth" | how to score terms and categories not seen in training |
    | `costs` | None, {true: {answer: cost}}, matrix | answer what costs least, not what is most probable |
    | `thresholds` | None, mapping from class to probability | answer a class only if it reaches so much |
    | `tuning` | "auto", "terms", "views", "temperature", None | weighs the evidence; None: the textbook |
    | `class_weight` | None, "balanced", mapping from class to weight | how much rows of a class count |
    | `pairs` | True, False | look at the columns of categories of a table two by two (AODE) |
    | `ledger` | False, True, a key | remember a hash of each row learned, and forget by identity |
    | `threads` | number >= 1, None | None takes all processors; the result does not depend on it |
    | `verbose` | True, False | tell on standard error which step the fit has come to |

    `fit` weighs the evidence by rows left out of the counts (`Model.tune`), so that the probabilities can be
    trusted; tables of fewer than 30 rows, or 4 a class, stay as counted (from 30 on, a warning says so).
    `partial_fit` and `forget` count only; `retune` weighs anew, and `stale_` says when that is due.
    `alpha="auto"` predicts rows best that are left out, view by view. With weights, the `alpha` of texts is
    0.5 instead of the textbook's 1, for "auto" as well; any other number is taken as it is.

    Without `views`, a sequence of strings is looked at as words and pairs of words, and by `fit` as letters 3
    to 5 as well if they are short (fewer than 60 words on average); each column of a
    table by what is in it: categories (with the values they declare) and booleans as `category()`, strings as
    `category()` if at most half of them are different and as texts if not, numbers as `normal()`, dates as
    `date_part()` of each part. One view is for all columns. `views_` shows all. Missing values (None, NaN,
    NaT) are left out of the sum; a row of texts alone must have one to be learned. `alpha`, `priors`,
    `unseen`, `costs`, `thresholds` and `tuning` can be set at any time without fitting again; what the
    weights were earned with warns, and keeps them.

    Attributes: `classes_`, `views_`, `model_` (the `Model` inside), and of tables and arrays `n_features_in_`
    and `feature_names_in_`.
    """

    classes_: NDArray[Any]
    views_: list[View] | dict[str, Any]
    model_: Model
    n_features_in_: int
    _names_: list[str]
    _sizes_: ClassSizes
    _weighed_with_: dict[str, Any]

    def __init__(
        self,
        views: Any = None,
        *,
        alpha: Any = 1.0,
        priors: Any = "empirical",
        unseen: str = "ignore",
        costs: Any = None,
        thresholds: Any = None,
        tuning: Tuning | None = "auto",
        class_weight: Any = None,
        pairs: bool = False,
        ledger: bool | str | bytes = False,
        threads: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.views = views
        self.alpha = alpha
        self.priors = priors
        self.unseen = unseen
        self.costs = costs
        self.thresholds = thresholds
        self.tuning = tuning
        self.class_weight = class_weight
        self.pairs = pairs
        self.ledger = ledger
        self.threads = threads
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from X and y alone, whatever was learned before.

        `sample_weight` says how much each row counts when the evidence is weighed, and in the prior; what is
        counted is each row once, or not at all if its weight is 0. Rows of the same name in `groups` are left
        out together. Texts whose label is None (or -1 among whole numbers, as in scikit-learn) have none:
        they are not counted, and help to weigh the evidence if that predicts labeled ones better
        (`model_.judgment.unlabeled`).
        """
        labeled = Labeled.of(X, y, sample_weight, groups)
        X, y, sample_weight, groups = labeled.X, labeled.y, labeled.sample_weight, labeled.groups
        self._start(X, y, _ALL, sample_weight)
        return self._judged(self._rows(X, y, sample_weight, groups), labeled.unlabeled)

    def _judged(self, rows: Rows, unlabeled: list[Any] | None = None) -> Self:
        if self.alpha == "auto" and self.tuning in (None, "temperature"):
            self.views_ = as_given(self.model_.choose_alpha(rows.X, rows.y).views)
        if self.tuning == "auto" and not worth_tuning(self.model_):
            if self.model_.n_documents >= FEW:
                warn_of_counts(self.model_)
            return self
        return self._weigh(rows, unlabeled)

    def retune(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Weigh the evidence anew, on rows that were learned: all of them at best."""
        self._ready(warn=False)
        return self._weigh(self._rows(X, y, sample_weight, groups))

    def _weigh(self, rows: Rows, unlabeled: list[Any] | None = None) -> Self:
        if self.tuning is None:
            return self
        model = self.model_
        tell = (lambda step: print(f"bayleaf: {step}", file=sys.stderr)) if self.verbose else None
        weights = rows.weighed(self.class_weight)
        model.tune(
            rows.X, rows.y, self.tuning, tell, weights=weights, groups=rows.groups, unlabeled=unlabeled
        )
        self._weighed_with_ = self._judgeable()
        model.configure(priors=self._settings(model.alpha)["priors"])
        return self

    @property
    def stale_(self) -> bool:
        """Whether rows were learned or forgotten since the evidence was weighed; `retune` mends it."""
        return bool(self._ready().stale)

    def loo_log_joint(self, X: Any, y: Any, groups: Any = None) -> Floats:
        """log P(row, class) of rows that were learned, each under the counts without it or its group."""
        return self._ready().loo_log_joint(*self._examples(X, y), groups)

    def suspects(self, X: Any, y: Any, least: float = 0.0) -> list[Suspect]:
        """The rows whose label the others contradict, most first: perhaps they are mislabeled."""
        return self._ready().suspects(*self._examples(X, y), least)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from X and y as well; naming the `classes` closes their set, otherwise new ones may come."""
        if not self.__sklearn_is_fitted__():
            return self._start(X, y, classes, sample_weight)
        model = self._ready()
        rows = self._rows(X, y, sample_weight)
        before = self._sizes_.before(rows.weights, model)
        labels = rows.labels
        model.learn(rows.X, labels, classes)
        self._sizes_.change(labels, rows.weights, 1, before)
        return self._refreshed()

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Undo having learned X and y; ValueError, and no change, if they cannot have been learned."""
        model = self._ready()
        rows = self._rows(X, y, sample_weight)
        before = self._sizes_.before(rows.weights, model)
        labels = rows.labels
        model.forget(rows.X, labels)
        self._sizes_.change(labels, rows.weights, -1, before)
        return self._refreshed()

    def learned(self, X: Any) -> list[dict[Label, int]]:
        """How often each row was learned with each class, if there is a `ledger`."""
        return self._ready().learned(self._columns(X, reset=False))

    def merge(self, other: NaiveBayes) -> Self:
        """Learn at once all that `other` has learned with the same views."""
        if not isinstance(other, NaiveBayes):
            raise TypeError(f"Only another NaiveBayes can be merged, got {type(other).__name__}.")
        check_is_fitted(other)
        model = self._ready()
        before, theirs = model.class_documents, other.model_.class_documents
        model.merge(other.model_)
        self._sizes_.merge(other._sizes_, before, theirs)
        return self._refreshed()

    def _start(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        check_tuning("tuning", self.tuning)
        check_class_weight(self.class_weight)
        if len(checked_labels(y)) == 0:
            raise ValueError("There is nothing to learn: y has no labels. Give at least one row.")
        for name in ("_names_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        rows = Rows.of(self._columns(X, reset=True), checked_labels(y), sample_weight)
        views = self._chosen_views(rows.X, self.tuning if classes is _ALL else None)
        settings: Any = {"alpha": 1.0 if self.alpha == "auto" else self.alpha, "unseen": self.unseen}
        settings |= {"classes": None if classes is _ALL else classes, "threads": self.threads}
        settings["ledger"] = self.ledger
        model = Model(views, priors=self.priors, **settings)
        model.learn(rows.X, rows.y)
        self.views_, self.model_, self._sizes_, self._settled_ = views, model, ClassSizes(), Settled()
        self._weighed_with_ = {}
        self._sizes_.change(rows.labels, rows.weights, 1, {})
        return self._refreshed()

    def _refreshed(self) -> Self:
        self._settled_.classes(self)
        return self

    def _settings(self, automatic: float) -> dict[str, Any]:
        alpha = automatic if self.alpha == "auto" else self.alpha
        priors, judged = self.priors, self.model_.judgment
        weighs = self._sizes_.sums is not None or self.class_weight is not None
        if weighs and priors == "empirical" and (judged is None or not judged.views):
            sizes = self._sizes_.of(self.model_.class_documents)
            priors = prior_of(sizes, self.class_weight, self.model_.class_documents)
        return {"alpha": alpha, "priors": priors, "unseen": self.unseen}

    def _judgeable(self) -> dict[str, Any]:
        """The settings that weights were earned with."""
        return {name: getattr(self, name) for name in ("alpha", "unseen", "tuning", "class_weight")}

    def _ready(self, warn: bool = True) -> Model:
        """The model with the estimator's current settings applied."""
        if "model_" not in self.__dict__:
            check_is_fitted(self)
        model = self.model_
        if self._settled_.is_known(self):
            return model
        if model.weighed != (self.tuning is not None):
            model.weigh(self.tuning is not None)
        changed = {
            name: value
            for name, value in self._settings(model.alpha).items()
            if value is not getattr(model, name) and np.any(getattr(model, name) != value)
        }
        if changed:
            model.configure(**changed)
        if warn and model.judgment is not None and self._judgeable() != self._weighed_with_:
            self._warn_of_settings()
        model.threads = check_threads(self.threads)
        if warn:
            self._settled_.note(self)
        return model

    def _warn_of_settings(self) -> None:
        then, now = self._weighed_with_, self._judgeable()
        changed = [
            f"with {name}={was!r}, not {now[name]!r}" for name, was in then.items() if was != now[name]
        ]
        if not changed or changed == self.__dict__.get("_warned_"):
            return
        self._warned_ = changed
        warnings.warn(
            f"The evidence stays weighed as it was: {', '.join(changed)}. Call `retune(X, y)` to weigh it "
            "anew, or set `tuning=None` for the textbook.",
            stacklevel=4,
        )

    # Input

    def _examples(self, X: Any, y: Any) -> tuple[Any, Any]:
        return self._columns(X, reset=False), checked_labels(y)

    def _rows(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Rows:
        return Rows.of(*self._examples(X, y), sample_weight, groups)

    def _chosen_views(self, X: Any, level: Tuning | None) -> list[View] | dict[str, Any]:
        views = self._views_of(X, level)
        return paired(views) if self.pairs else views

    def _views_of(self, X: Any, level: Tuning | None) -> list[View] | dict[str, Any]:
        views = self.views
        if isinstance(X, Mapping):
            if views is None or isinstance(views, View):
                # Below so many rows a table is not tuned, and letters would count again what words said.
                counted = len(X) > 1 and length_of(next(iter(X.values()))) < FEW
                texts = partial(default_views, level=None if counted else level)
                return views_for(views, list(X), list(X.values()), texts)
            return as_given(named_views(views))
        return as_given(named_views(default_views(X, level) if views is None else views))

    # Deciding

    def predict(self, X: Any, unsure: float | None = None, unsure_label: Label | None = None) -> NDArray[Any]:
        """The class of each row; where its posterior is below `unsure`, None or `unsure_label`."""
        if unsure is None and self.costs is None and self.thresholds is None:
            answer = self._answer_to(X, Compiled.label_of_text)
            return self._ready().predict(self._columns(X, reset=False)) if answer is None else answer
        posterior = self.predict_proba(X)
        chosen = decide(posterior, self.classes_.tolist(), self.costs, self.thresholds)
        answers: NDArray[Any] = self.classes_[chosen]
        if unsure is None:
            return answers
        return unless_unsure(answers, posterior[np.arange(len(chosen)), chosen], unsure, unsure_label)

    def predict_proba(self, X: Any) -> Floats:
        """The posterior of each class, a column for each in `classes_`."""
        posterior = self._answer_to(X, Compiled.posterior_of_text)
        return probabilities(self.predict_log_proba(X)) if posterior is None else posterior

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of the posterior: the joint minus the evidence."""
        return self._ready().log_posterior(self._columns(X, reset=False))

    def decision_function(self, X: Any) -> Floats:
        """The log odds of the second class; of more than two classes, the log posterior of each."""
        scores = self.predict_log_proba(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """The logarithm of P(row, class): the prior and the likelihood."""
        return self._ready().log_joint(self._columns(X, reset=False))

    def log_evidence(self, X: Any) -> Floats:
        """The logarithm of P(row), whatever its class."""
        return self._ready().log_evidence(self._columns(X, reset=False))

    def ask(self, pool: Any, n: int = 10, *, at_random: float = AT_RANDOM, seed: int = 0) -> list[Question]:
        """Which rows of a pool to label next: unsure ones, unlike each other, some at random (`Model.ask`).

        It need not be fitted: then rows at random, no copies of each other, are a start.
        """
        if self.__sklearn_is_fitted__():
            return self._ready().ask(self._columns(pool, reset=False), n, at_random=at_random, seed=seed)
        fresh = clone(self)
        columns = fresh._columns(pool, reset=True)
        return Model(fresh._chosen_views(columns, None)).ask(columns, n, at_random=at_random, seed=seed)

    def _learn_rows(self, X: Any, y: list[Any]) -> Any:
        plain = type(y[0]) in PLAIN and "model_" in self.__dict__ and isinstance(self.views_, list)
        if not plain or not self._settled_.is_known(self):
            return self.partial_fit(X, y)
        self.model_.learn(X, y)
        return self._refreshed()

    def _ask_one(self, X: Any, question: Callable[[Compiled, list[Any], int], T]) -> T | None:
        if "model_" not in self.__dict__:
            return None
        return self._ready()._ask_one(self._columns(X, reset=False), question)

    def top_terms(self, label: Label, n: int = 10, view: int = 0) -> list[tuple[str, float]]:
        """The terms of a view that speak most for a class, with their log odds against the others' mean."""
        return self._ready().top_terms(label, n, view)

    def explain(self, x: Any, label: Label | None = None) -> Explanation:
        """Take the score of one text or one row apart, for the most probable class or for `label`."""
        model = self._ready()
        return model.explain(x if isinstance(self.views_, list) else self._row(x), label)

    # Keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, completely or not at all; `load` reads it."""
        estimator_file.save(self, self._ready(), path)


def load(
    path: str | os.PathLike[str],
    *,
    normalizer: Callable[[str], str | None] | None = None,
    threads: int | None = None,
) -> NaiveBayes:
    """Read a fitted NaiveBayes; one learned with a normalizer of your own needs that function again."""
    model = Model.load(Path(path), normalizer=normalizer, threads=threads)
    return estimator_file.restored(NaiveBayes, model, threads)
