"""NaiveBayes: texts, tables and arrays behind scikit-learn's contract."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d, validate_data

from bayleaf import columns
from bayleaf.checks import check_threads
from bayleaf.explanation import Explanation
from bayleaf.labels import as_array, plain_labels
from bayleaf.model import Model
from bayleaf.model_views import as_given, columns_of, named_views, views_for
from bayleaf.posterior import decide, unless_unsure
from bayleaf.text.views import View
from bayleaf.tuning import Tuning, check_tuning, default_views
from bayleaf.tuning.leave_one_out import Suspect
from bayleaf.types import Floats, Label

MOST_ROWS = 1 << 26
"""Weights are counted as repetitions, at most so many."""


class NaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn is untyped
    """Naive Bayes for texts, tables with mixed columns, and arrays of numbers.

    | parameter | values | meaning |
    |---|---|---|
    | `views` | None, a view, list of views, mapping from column to view or views | how to look at X |
    | `alpha` | number >= 0, "auto" | smoothing: 1 is Laplace's, less is Lidstone's, 0 is maximum likelihood |
    | `priors` | "empirical", "uniform", mapping from class to probability | class priors |
    | `unseen` | "ignore", "smooth" | how to score terms and categories not seen in training |
    | `costs` | None, {true: {answer: cost}}, matrix | answer what costs least, not what is most probable |
    | `thresholds` | None, mapping from class to probability | answer a class only if it reaches so much |
    | `tuning` | "auto", "terms", "views", "temperature", None | how texts are weighed; None is the textbook |
    | `threads` | number >= 1, None | None takes all processors; the result does not depend on it |

    `fit` weighs the evidence of texts by documents left out of the counts (`Model.tune`), so that the
    probabilities can be trusted; fewer than 30 documents, or 4 a class, and tables, stay as counted.
    `partial_fit` and `forget` count only; `retune` weighs anew. `alpha="auto"` predicts documents best that
    are left out, view by view; with weights of terms or views it is 0.5.

    Without `views`, a sequence of strings is looked at as words and pairs of words, and as letters 3 to 5 as
    well if they are short (fewer than 60 words on average) and there are 30 or more, each column of a table
    by what is in it: categories and booleans as `category()`, strings as `category()` if at most half of them
    are different and as words if not, numbers as `normal()`. One view is for all columns. `views_` shows all.
    Missing values (None, NaN, NaT) are left out of the sum. `alpha`, `priors`, `unseen`, `costs` and
    `thresholds` can be set at any time, without fitting again.

    Attributes: `classes_`, `views_`, `model_` (the `Model` inside), and of tables and arrays `n_features_in_`
    and `feature_names_in_`.
    """

    classes_: NDArray[Any]
    views_: list[View] | dict[str, Any]
    model_: Model
    n_features_in_: int
    _names_: list[str]

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
        threads: int | None = None,
    ) -> None:
        self.views = views
        self.alpha = alpha
        self.priors = priors
        self.unseen = unseen
        self.costs = costs
        self.thresholds = thresholds
        self.tuning = tuning
        self.threads = threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from X and y alone, whatever was learned before."""
        self._start(X, y, None, sample_weight)
        rows, labels = self._examples(X, y, sample_weight)
        if self.alpha == "auto" and self.tuning in (None, "temperature"):
            self.views_ = as_given(self.model_.choose_alpha(rows, labels).views)
        if self.tuning not in (None, "auto") or (self.tuning == "auto" and self.model_.worth_tuning):
            self.model_.tune(rows, labels, self.tuning)
        return self

    def retune(self, X: Any, y: Any) -> Self:
        """Weigh the evidence anew, on documents that were learned: all of them at best."""
        model = self._ready()
        model.tune(*self._examples(X, y, None), self.tuning)
        return self

    def loo_log_joint(self, X: Any, y: Any, groups: Any = None) -> Floats:
        """log P(row, class) of rows that were learned, each under the counts without it or its group."""
        return self._ready().loo_log_joint(*self._examples(X, y, None), groups)

    def suspects(self, X: Any, y: Any, least: float = 0.0) -> list[Suspect]:
        """The rows whose label the others contradict, most first: perhaps they are mislabeled."""
        return self._ready().suspects(*self._examples(X, y, None), least)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from X and y as well; naming the `classes` closes their set, otherwise new ones may come."""
        if not self.__sklearn_is_fitted__():
            return self._start(X, y, classes, sample_weight)
        model = self._ready()
        rows, labels = self._examples(X, y, sample_weight)
        model.learn(rows, labels, classes)
        return self._refreshed()

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Undo having learned X and y; ValueError, and no change, if they cannot have been learned."""
        model = self._ready()
        model.forget(*self._examples(X, y, sample_weight))
        return self._refreshed()

    def merge(self, other: NaiveBayes) -> Self:
        """Learn at once all that `other` has learned with the same views."""
        if not isinstance(other, NaiveBayes):
            raise TypeError(f"Only another NaiveBayes can be merged, got {type(other).__name__}.")
        check_is_fitted(other)
        self._ready().merge(other.model_)
        return self._refreshed()

    def _start(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        check_tuning("tuning", self.tuning)
        labels = _checked_labels(y)
        if len(labels) == 0:
            raise ValueError("There is nothing to learn: y has no labels. Give at least one row.")
        for name in ("_names_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        columns = self._columns(X, reset=True)
        views = self._chosen_views(columns)
        model = Model(views, classes=classes, threads=self.threads, **self._settings(1.0))
        model.learn(*_repeated(columns, labels, sample_weight))
        self.views_, self.model_ = views, model
        return self._refreshed()

    def _refreshed(self) -> Self:
        self.classes_ = as_array(self.model_.classes)
        return self

    def _settings(self, automatic: float) -> dict[str, Any]:
        alpha = automatic if self.alpha == "auto" else self.alpha
        return {"alpha": alpha, "priors": self.priors, "unseen": self.unseen}

    def _ready(self) -> Model:
        """The model with the estimator's current settings applied."""
        if "model_" not in self.__dict__:
            check_is_fitted(self)
        model = self.model_
        settings = self._settings(model.alpha)
        changed = {name: value for name, value in settings.items() if np.any(getattr(model, name) != value)}
        if changed:
            model.configure(**changed)
        if self.tuning is None and model.judgment is not None:
            model.drop_judgment()
        model.threads = check_threads(self.threads)
        return model

    # Input

    def _examples(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        return _repeated(self._columns(X, reset=False), _checked_labels(y), sample_weight)

    def _chosen_views(self, X: Any) -> list[View] | dict[str, Any]:
        views = self.views
        if isinstance(X, Mapping):
            if views is None or isinstance(views, View):
                return views_for(views, list(X), list(X.values()))
            return as_given(named_views(views))
        return as_given(named_views(default_views(X, self.tuning) if views is None else views))

    def _columns(self, X: Any, reset: bool) -> Any:
        """X as one column of texts, or as a mapping of columns that agrees with what was learned."""
        if self._is_one_column(X, reset):
            if columns.is_table(X):
                raise TypeError(
                    f"The views {self.views if reset else self.views_} look at one column, and X is a "
                    "table. Give its column, X['text'], or a mapping from columns to views."
                )
            return X
        if not reset and columns.is_text(X):
            raise TypeError(
                f"X is one column of texts, and a table with the columns {self._names_} was learned. Give a "
                "table, or a mapping from columns to lists."
            )
        if isinstance(X, Mapping) and columns.is_table(X):
            return self._mapping(X, reset)
        if columns.is_table(X) or columns.has_texts(X):
            X = np.asarray(X, object) if isinstance(X, list | tuple) else X
            validate_data(self, X, reset=reset, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=reset, ensure_all_finite="allow-nan")
        if reset:
            self._names_ = columns.names_in(X)
        return dict(zip(self._names_, columns.columns_in(X), strict=True))

    def _is_one_column(self, X: Any, reset: bool) -> bool:
        if not reset:
            return isinstance(self.views_, list)
        if isinstance(self.views, list | tuple):
            return True
        return not isinstance(self.views, Mapping) and columns.is_text(X)

    def _mapping(self, X: Mapping[str, Any], reset: bool) -> Mapping[str, Any]:
        if reset:
            self._names_ = columns.names_in(X)
            self.n_features_in_ = len(X)
            self.feature_names_in_ = np.array(self._names_, object)
            return dict(zip(self._names_, X.values(), strict=True))
        missing = [name for name in self._names_ if name not in X]
        extra = [name for name in X if name not in self._names_]
        if missing or extra:
            raise ValueError(
                f"X has other columns than those learned: {missing} are missing, {extra} are extra."
            )
        return X

    # Deciding

    def predict(self, X: Any, unsure: float | None = None, unsure_label: Label | None = None) -> NDArray[Any]:
        """The class of each row; where its posterior is below `unsure`, None or `unsure_label`."""
        model = self._ready()
        if unsure is None and self.costs is None and self.thresholds is None:
            return model.predict(self._columns(X, reset=False))
        posterior = self.predict_proba(X)
        chosen = decide(posterior, self.classes_.tolist(), self.costs, self.thresholds)
        answers: NDArray[Any] = self.classes_[chosen]
        if unsure is None:
            return answers
        return unless_unsure(answers, posterior[np.arange(len(chosen)), chosen], unsure, unsure_label)

    def predict_proba(self, X: Any) -> Floats:
        """The posterior of each class, a column for each in `classes_`."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of the posterior: the joint minus the evidence."""
        return self._ready().log_posterior(self._columns(X, reset=False))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """The logarithm of P(row, class): the prior and the likelihood."""
        return self._ready().log_joint(self._columns(X, reset=False))

    def log_evidence(self, X: Any) -> Floats:
        """The logarithm of P(row), whatever its class."""
        return self._ready().log_evidence(self._columns(X, reset=False))

    def explain(self, x: Any, label: Label | None = None) -> Explanation:
        """Take the score of one text or one row apart, for the most probable class or for `label`."""
        model = self._ready()
        return model.explain(x if isinstance(self.views_, list) else self._row(x), label)

    def _row(self, x: Any) -> Mapping[str, Any]:
        if isinstance(x, Mapping):
            return x
        if hasattr(x, "iloc") and not hasattr(x, "columns"):
            return dict(zip(map(str, x.index), x, strict=True))
        if columns.is_table(x):
            return {name: next(iter(column)) for name, column in self._columns(x, reset=False).items()}
        return dict(zip(self._names_, np.ravel(np.asarray(x, object)).tolist(), strict=True))

    # Keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, completely or not at all; `load` reads it."""
        model = self._ready()
        notes: dict[str, Any] = {
            "names": getattr(self, "_names_", None),
            "named": hasattr(self, "feature_names_in_"),
        }
        for name in ("costs", "thresholds"):
            if getattr(self, name) is not None:
                notes[name] = _plain(getattr(self, name))
        model.notes = notes
        try:
            model.save(path)
        finally:
            model.notes = {}


def load(
    path: str | os.PathLike[str],
    *,
    normalizer: Callable[[str], str | None] | None = None,
    threads: int | None = None,
) -> NaiveBayes:
    """Read a fitted NaiveBayes; one learned with a normalizer of your own needs that function again."""
    model = Model.load(Path(path), normalizer=normalizer, threads=threads)
    views: Any = as_given(model.views)
    kept = {name: _restored(model.notes.get(name)) for name in ("costs", "thresholds")}
    settings: Any = {"alpha": model.alpha, "priors": model.priors, "unseen": model.unseen}
    settings["tuning"] = None if model.judgment is None else model.judgment.level
    found = NaiveBayes(views, threads=threads, **settings, **kept)
    found.views_, found.model_ = views, model
    if isinstance(views, dict):
        found._names_ = model.notes.get("names") or columns_of(model.views)
        found.n_features_in_ = len(found._names_)
        if model.notes.get("named", True):
            found.feature_names_in_ = np.array(found._names_, object)
    model.notes = {}
    return found._refreshed()


def _plain(value: Any) -> Any:
    """Mappings as lists of pairs, because JSON would make strings of their keys."""
    if isinstance(value, Mapping):
        return {"pairs": [[key, _plain(each)] for key, each in value.items()]}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _restored(each) for key, each in value["pairs"]}
    return value


def _checked_labels(y: Any) -> NDArray[Any]:
    if y is None:
        raise ValueError("NaiveBayes requires y to be passed, but the target y is None.")
    labels: NDArray[Any] = column_or_1d(plain_labels(y), warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
    return labels


def _repeated(X: Any, y: NDArray[Any], sample_weight: Any) -> tuple[Any, NDArray[Any]]:
    """Rows as often as their weights say."""
    if sample_weight is None:
        return X, y
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != y.shape:
        raise ValueError(
            f"`sample_weight` has shape {weights.shape}; give one weight for each of {len(y)} rows."
        )
    wrong = ~((weights >= 0) & (weights == np.floor(weights)))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"sample_weight[{row}] is {weights[row]:g}; a weight says how often a row is counted: a "
            "whole number >= 0. Multiply fractions up, or use an estimator such as MultinomialNB."
        )
    if weights.sum() > MOST_ROWS:
        raise ValueError(
            f"The sample weights sum to {weights.sum():g}, more than {MOST_ROWS:,}. Scale them down."
        )
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    rows = np.repeat(np.arange(len(y)), weights.astype(np.intp))
    return columns.rows_of(X, rows), y[rows]
