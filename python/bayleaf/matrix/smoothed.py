"""Shared base of the counting classifiers: smoothing, priors, log shares."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import assert_all_finite

from bayleaf.checks import MAX_ALPHA, MIN_ALPHA
from bayleaf.matrix.base import NaiveBayesBase, checked_priors, class_shares, log
from bayleaf.matrix.counts import Array
from bayleaf.posterior import log_shares

SMALLEST_ALPHA = 1e-10


def refuse_negative(values: Array, name: str) -> None:
    """Raise ValueError if a count is below 0 or NaN."""
    lowest = values.min(initial=0)
    if not lowest >= 0:
        assert_all_finite(values, estimator_name=name, input_name="X")
        raise ValueError(
            f"Negative values in data passed to {name} (input X): the lowest is {lowest}. Counts and numbers "
            "of categories are >= 0; GaussianNB and KernelNB take any number."
        )


class Smoothed(NaiveBayesBase):
    """Smoothed counts: `alpha`, and priors from the classes' shares."""

    _checks: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}

    _alpha_per_feature = True

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

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
        if alpha.max(initial=0) > MAX_ALPHA:
            raise ValueError(f"`alpha` must be at most {MAX_ALPHA:g}, got {self.alpha!r}.")
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
        if ((alpha > 0) & (alpha < MIN_ALPHA)).any():
            raise ValueError(f"`alpha` must be 0 or at least {MIN_ALPHA:g}, got {self.alpha!r}.")
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


def class_log_shares(smoothed: Array, total: Array) -> Array:
    """Return log(smoothed / total) in place of `smoothed`, -inf where there is nothing to have a share in.

    The transpose is contiguous: scoring would otherwise copy it in every call.
    """
    log(smoothed, out=smoothed)
    return np.asfortranarray(log_shares(smoothed, total[:, None], out=smoothed))
