"""Naive Bayes for a matrix of counts or flags: multinomial, complement and Bernoulli."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite

from bayleaf._core import repeats
from bayleaf.matrix.base import class_shares, log
from bayleaf.matrix.counts import (
    ROUNDING,
    Array,
    Tables,
    class_sums,
    mostly_unseen,
    products,
    scattered,
    seen_cells,
)
from bayleaf.matrix.smoothed import Smoothed, class_log_shares, refuse_negative
from bayleaf.posterior import log_shares

__all__ = ["BernoulliNB", "ComplementNB", "MultinomialNB"]


class _Linear(Smoothed):
    """Models whose score is a sum over the features of value × weight."""

    feature_count_: Array
    _finite_: bool
    _look: Callable[[Array], None] | None = None

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
            return products(X, weights, self._look)
        scores = products(X, np.where(np.isfinite(weights), weights, 0.0), self._look)
        for limit in (np.inf, -np.inf):
            scores[products(X, (weights == limit).astype(np.float64)) > 0] = limit
        return scores


class MultinomialNB(_Linear):
    """Each class draws terms, with replacement, from a bag of its own: for counts of words.

    Parameters: `alpha` >= 0, the pseudo-count of each feature, a number or one per feature (0 is maximum
    likelihood: a term unseen in a class rules the class out); `force_alpha` (False raises an alpha below
    1e-10 to that, with a warning); `fit_prior` (False: uniform); `class_prior`, one per class.

    Attributes: `classes_`, `class_count_`, `feature_count_`, `class_log_prior_`, `feature_log_prob_`.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    # Infinite counts show in what is made of them, so that X is looked through once and not twice.
    _checks: ClassVar[dict[str, Any]] = {"accept_sparse": "csr", "ensure_all_finite": False}

    def _look(self, values: Array) -> None:
        refuse_negative(values, type(self).__name__)

    def _count(self, X: Any, codes: Array, weight: Array, n_classes: int) -> Tables:
        self._look(X.data if sparse.issparse(X) else X)
        with np.errstate(over="ignore", invalid="ignore"):
            counts = super()._count(X, codes, weight, n_classes)
            self._refuse_infinite(X, counts.tables[0])
        return counts

    def _score(self, X: Any, weights: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = super()._score(X, weights)
        self._refuse_infinite(X, scores)
        return scores

    def _refuse_infinite(self, X: Any, made: Array) -> None:
        if not np.isfinite(made).all():
            values = X.data if sparse.issparse(X) else X
            assert_all_finite(values, estimator_name=type(self).__name__, input_name="X")

    def _weigh(self, alpha: Any) -> None:
        total = self._smoothed_total(self.feature_count_.sum(axis=1), alpha)
        if mostly_unseen(self.feature_count_, alpha):
            seen = seen_cells(self.feature_count_)
            values = log_shares(np.log(self.feature_count_[seen] + alpha), total[seen[0]])
            unseen = log_shares(np.log(alpha), total)
            self.feature_log_prob_ = scattered(unseen, seen, values, self.n_features_in_)
        else:
            self.feature_log_prob_ = class_log_shares(self.feature_count_ + alpha, total)
        self._finite_ = np.min(alpha) > 0 or bool(np.isfinite(self.feature_log_prob_).all())

    def _joint(self, X: Any) -> Array:
        return self._score(X, self.feature_log_prob_) + self.class_log_prior_


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
        weights = class_log_shares(others, total)
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
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.binarize = binarize

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
        return _present(X, threshold) if sparse.issparse(X) else np.greater(X, threshold)

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
        scores[products(X, always.astype(np.float64)) < always.sum(axis=1) * (1 - ROUNDING)] = -np.inf
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
    if not X.has_canonical_format and repeats(X.indptr[1:], X.indices, X.shape[1]):
        X = X.copy()
        X.sum_duplicates()  # of two entries for one cell the sum is the value, not each of them
    above = X.data > threshold
    present = sparse.csr_array((above.astype(np.float64), X.indices, X.indptr), shape=X.shape)
    if not above.all():
        present = present.copy()
        present.eliminate_zeros()
    return present
