"""Naive Bayes for those who already have a matrix: scikit-learn's classifiers, written from counts.

`MultinomialNB`, `ComplementNB`, `BernoulliNB` and `CategoricalNB` count; `GaussianNB` and `KernelNB`, from
`gaussian.py`, measure. Parameters, attributes and numbers are those of scikit-learn 1.9.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from bayleaf.estimator_base import NaiveBayesBase, checked_priors, class_shares, log
from bayleaf.estimator_counts import (
    ROUNDING,
    Array,
    Categories,
    Tables,
    category_counts,
    class_sums,
    mostly_unseen,
    scattered,
    seen_cells,
    widened,
)
from bayleaf.gaussian import GaussianNB, KernelNB

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "KernelNB", "MultinomialNB"]

SMALLEST_ALPHA = 1e-10


def refuse_negative(X: Any, name: str) -> None:
    """Raise ValueError if a count is below 0."""
    values = X.data if sparse.issparse(X) else X
    lowest = values.min(initial=0)
    if lowest < 0:
        raise ValueError(f"Negative values in data passed to {name} (input X): the lowest is {lowest}.")


class _Counting(NaiveBayesBase):
    """Smoothed counts: `alpha`, and priors from the classes' shares."""

    _checks: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}

    _alpha_per_feature = True

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags

    def _check_alpha(self) -> Any:
        scalar = isinstance(self.alpha, Real)
        alpha = np.asarray(self.alpha)
        if alpha.dtype.kind not in "biuf" or not np.isfinite(alpha).all() or (alpha < 0).any():
            raise ValueError(f"`alpha` is a pseudo-count and must be a number >= 0, got {self.alpha!r}.")
        if not scalar and not (self._alpha_per_feature and alpha.shape == (self.n_features_in_,)):
            each = (
                f" or one for each of the {self.n_features_in_} features" if self._alpha_per_feature else ""
            )
            raise ValueError(f"`alpha` must be one number{each}, got an array of shape {alpha.shape}.")
        if alpha.min() < SMALLEST_ALPHA and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {SMALLEST_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=2,
            )
            alpha = np.maximum(alpha, SMALLEST_ALPHA)
        return float(alpha) if scalar else alpha

    def _derive(self) -> None:
        self._weigh(self._check_alpha())
        if self.class_prior is not None:
            prior = checked_priors(self.class_prior, len(self.classes_), "class_prior")
        else:
            prior = class_shares(self.class_count_ if self.fit_prior else np.ones(len(self.classes_)))
        self.class_log_prior_ = log(prior)

    def _weigh(self, alpha: Any) -> None:
        raise NotImplementedError

    def _log_prior(self) -> Array:
        return self.class_log_prior_


class _Linear(_Counting):
    """Models whose score is a sum over the features of value × weight."""

    feature_count_: Array
    _finite_: bool

    def _count(self, X: Any, codes: Array, weight: Array, n_classes: int) -> Tables:
        rows = np.bincount(codes, weights=weight, minlength=n_classes)
        return Tables(rows, [class_sums(X, codes, weight, n_classes)])

    def _derive(self) -> None:
        self.feature_count_ = self._counts_.tables[0]
        super()._derive()

    def _smoothed_total(self, counts: Array, alpha: Any) -> Array:
        return np.asarray(counts + np.broadcast_to(alpha, self.n_features_in_).sum())

    def _score(self, X: Any, weights: Array) -> Array:
        """Multiply X by the weights; an infinite weight counts where X is not 0, and never as 0 × inf."""
        if self._finite_:
            return np.asarray(X @ weights.T)
        scores = np.asarray(X @ np.where(np.isfinite(weights), weights, 0.0).T, dtype=np.float64)
        for limit in (np.inf, -np.inf):
            scores[X @ (weights == limit).T.astype(np.float64) > 0] = limit
        return scores


class MultinomialNB(_Linear):
    """Each class draws terms, with replacement, from a bag of its own: for counts of words.

    Parameters: `alpha` >= 0, the pseudo-count of each feature, a number or one per feature (0 is maximum
    likelihood: a term unseen in a class rules the class out); `force_alpha` (False raises an alpha below
    1e-10 to that, with a warning); `fit_prior` (False: uniform); `class_prior`, one per class.

    Attributes: `classes_`, `class_count_`, `feature_count_`, `class_log_prior_`, `feature_log_prob_`.
    """

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _prepare(self, X: Any) -> Any:
        refuse_negative(X, type(self).__name__)
        return X

    def _weigh(self, alpha: Any) -> None:
        total = self._smoothed_total(self.feature_count_.sum(axis=1), alpha)
        if mostly_unseen(self.feature_count_, alpha):
            seen, log_total = seen_cells(self.feature_count_), np.log(total)
            values = np.log(self.feature_count_[seen] + alpha) - log_total[seen[0]]
            unseen = np.log(alpha) - log_total
            self.feature_log_prob_ = scattered(unseen, seen, values, self.n_features_in_)
        else:
            self.feature_log_prob_ = log_shares(self.feature_count_ + alpha, total)
        self._finite_ = np.min(alpha) > 0 or bool(np.isfinite(self.feature_log_prob_).all())

    def _joint(self, X: Any) -> Array:
        return self._score(X, self.feature_log_prob_) + self.class_log_prior_


def log_shares(smoothed: Array, total: Array) -> Array:
    """Return log(smoothed / total) in place of `smoothed`, -inf where there is nothing to have a share in.

    The transpose is contiguous: scoring would otherwise copy it in every call.
    """
    log(smoothed, out=smoothed)
    smoothed -= np.log(np.where(total > 0, total, 1.0))[:, None]
    return np.asfortranarray(smoothed)


class ComplementNB(MultinomialNB):
    """A class is judged by how badly its complement, all other classes, explains the terms.

    Parameters: as `MultinomialNB`, where `fit_prior` and `class_prior` matter only if there is one class;
    `norm` divides the weights of each class by their sum.

    Attributes: as `MultinomialNB`, with the weights in `feature_log_prob_`, and `feature_all_`.
    """

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.norm = norm

    def _weigh(self, alpha: Any) -> None:
        self.feature_all_ = self.feature_count_.sum(axis=0)
        others = self.feature_all_ - self.feature_count_
        total = self._smoothed_total(others.sum(axis=1), alpha)
        others += alpha
        weights = log_shares(others, total)
        if self.norm:
            # As alpha goes to 0, the terms that the complement never saw come to share all of the weight.
            unseen = np.isneginf(weights)
            weights = np.where(unseen.any(axis=1, keepdims=True), unseen, weights)
            whole = weights.sum(axis=1, keepdims=True)
            weights /= np.where(whole == 0, 1.0, whole)
        else:
            np.negative(weights, out=weights)
        self.feature_log_prob_ = weights
        self._finite_ = np.min(alpha) > 0 or bool(np.isfinite(weights).all())

    def _joint(self, X: Any) -> Array:
        scores = self._score(X, self.feature_log_prob_)
        return scores + self.class_log_prior_ if len(self.classes_) == 1 else scores

    def _log_prior(self) -> Array:
        return log(class_shares(np.ones(len(self.classes_))))


class BernoulliNB(_Linear):
    """Each feature is present or absent, and absence is evidence too.

    Parameters: as `MultinomialNB`, and `binarize`: values above it are present; None if X holds 0 and 1
    already (or degrees between them).

    Attributes: as `MultinomialNB`; `feature_count_` is the number of rows with the feature, and
    `feature_log_prob_` the log probability of presence.
    """

    _counting = ("binarize",)

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @property
    def feature_log_prob_(self) -> Array:
        """The log probability that a feature is present, for each class and feature."""
        return np.asarray(-np.logaddexp(0.0, -self._log_odds_))

    def _prepare(self, X: Any) -> Any:
        threshold = self.binarize
        if threshold is None:
            values = X.data if sparse.issparse(X) else X
            if values.min(initial=0) < 0 or values.max(initial=0) > 1:
                raise ValueError(
                    "X must hold 0 and 1 where `binarize` is None. Set `binarize` to a threshold."
                )
            return X
        if not threshold >= 0:
            raise ValueError(f"`binarize` must be None or a number >= 0, got {threshold}.")
        return _present(X, threshold) if sparse.issparse(X) else np.greater(X, threshold).astype(np.float64)

    def _weigh(self, alpha: Any) -> None:
        counts, rows = self.feature_count_, self.class_count_
        if mostly_unseen(counts, alpha):
            seen = seen_cells(counts)
            present, absent = log_presence(counts[seen], rows[seen[0]], alpha)
            never, missing = log_presence(np.zeros(len(rows)), rows, alpha)
            self._log_odds_ = scattered(never - missing, seen, present - absent, self.n_features_in_)
            less = np.bincount(seen[0], weights=missing[seen[0]] - absent, minlength=len(rows))
            self._all_absent_ = self.n_features_in_ * missing - less
            self._finite_ = True
        else:
            present, absent = log_presence(counts, rows[:, None], alpha)
            present -= absent
            self._log_odds_ = np.asfortranarray(present)
            self._finite_ = np.min(alpha) > 0 or bool(np.isfinite(present).all())
            self._all_absent_ = absent.sum(axis=1, where=True if self._finite_ else np.isfinite(absent))

    def _joint(self, X: Any) -> Array:
        bias = self.class_log_prior_ + self._all_absent_
        if self._finite_:
            return np.asarray(self._score(X, self._log_odds_) + bias)
        always = np.isposinf(self._log_odds_)
        scores: Array = self._score(X, np.where(always, 0.0, self._log_odds_)) + bias
        scores[X @ always.T.astype(np.float64) < always.sum(axis=1) * (1 - ROUNDING)] = -np.inf
        return scores


def log_presence(counts: Array, rows: Array, alpha: Any) -> tuple[Array, Array]:
    """Return the log probabilities that a feature is present and that it is absent."""
    absent, present = np.maximum(rows - counts, 0.0), counts + alpha
    if not np.min(alpha) > 0:
        absent[absent <= ROUNDING * rows] = 0.0
        # A class without rows has no odds: it gets those of a feature never seen.
        absent[(absent + alpha == 0) & (present == 0)] = 1.0
    absent += alpha
    # Divided before the logarithm: the rounding of log(rows) would add up over 100,000 absent features.
    total = np.where(rows + 2 * alpha > 0, rows + 2 * alpha, 1.0)
    for part in (absent, present):
        part /= total
        log(part, out=part)
    return present, absent


def _present(X: Any, threshold: float) -> Any:
    """Return 1 where a sparse X is above the threshold, sharing the indices where it can."""
    above = X.data > threshold
    present = sparse.csr_array((above.astype(np.float64), X.indices, X.indptr), shape=X.shape)
    if not above.all():
        present = present.copy()
        present.eliminate_zeros()
    return present


class CategoricalNB(_Counting):
    """Each feature is one of its own categories, numbered from 0.

    Parameters: as `MultinomialNB` (one `alpha`), and `min_categories`: how many categories a feature has at
    the least, seen or not, a number or one per feature.

    Attributes: `classes_`, `class_count_`, `class_log_prior_`, `n_categories_`, and a list with an array for
    each feature in `category_count_` and `feature_log_prob_`.
    """

    _checks: ClassVar[dict[str, Any]] = {"accept_sparse": False, "dtype": "int"}
    _alpha_per_feature = False

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def _prepare(self, X: Any) -> Any:
        refuse_negative(X, "CategoricalNB")
        return X

    def _count(self, X: Any, codes: Array, weight: Array, n_classes: int) -> Tables:
        rows = np.bincount(codes, weights=weight, minlength=n_classes)
        return Categories(rows, [category_counts(column, codes, weight, n_classes) for column in X.T])

    def _weigh(self, alpha: Any) -> None:
        least = _least_categories(self.min_categories, self.n_features_in_)
        widths = np.maximum([table.shape[1] for table in self._counts_.tables], least)
        pairs = zip(self._counts_.tables, widths, strict=True)
        self.category_count_ = [widened(table, width) for table, width in pairs]
        self.n_categories_ = widths
        self.feature_log_prob_ = [
            log_shares(table + alpha, table.sum(axis=1) + alpha * table.shape[1])
            for table in self.category_count_
        ]

    def _joint(self, X: Any) -> Array:
        beyond = X.max(axis=0) >= self.n_categories_
        if beyond.any():
            i = int(beyond.argmax())
            raise ValueError(
                f"X has the category {X[:, i].max()} in column {i}, which has {self.n_categories_[i]} "
                f"categories numbered from 0. Fit with `min_categories` to leave room for unseen ones."
            )
        scores = np.tile(self.class_log_prior_, (X.shape[0], 1))
        for column, log_prob in zip(X.T, self.feature_log_prob_, strict=True):
            scores += log_prob.T[column]
        return scores


def _least_categories(least: Any, n_features: int) -> Array:
    if least is None:
        return np.zeros(n_features, dtype=np.int64)
    values = np.asarray(least)
    if not np.issubdtype(values.dtype, np.integer) or values.min(initial=1) < 1:
        raise ValueError(f"'min_categories' should be integers >= 1, got {least!r}.")
    if values.shape not in ((), (n_features,)):
        raise ValueError(
            f"'min_categories' should have shape ({n_features},) or be one integer, got {values.shape}."
        )
    return np.broadcast_to(values, n_features)
