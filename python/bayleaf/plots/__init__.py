"""Plots of a model, of its answers and of how naive Bayes works, with matplotlib.

Each function draws into the `ax` it is given, or into a figure of its own, and gives the Axes (or the
Figure, where there are several panels). They keep to the colors and fonts of the session, except for the
colors of the classes, which color-blind people can tell apart; `with plots.neutral():` draws for pages that
are light for some readers and dark for others. matplotlib comes with `pip install "bayleaf[plots]"` and is
loaded by the first plot.
"""

from bayleaf.plots.answers import confusion_matrix, reliability
from bayleaf.plots.flow import model_building
from bayleaf.plots.priors import effect_of_priors
from bayleaf.plots.problems import decision_regions, linear_nonlinear
from bayleaf.plots.style import COLORS, neutral
from bayleaf.plots.terms import explanation, top_terms
from bayleaf.plots.toy import toy_samples

__all__ = [
    "COLORS",
    "confusion_matrix",
    "decision_regions",
    "effect_of_priors",
    "explanation",
    "linear_nonlinear",
    "model_building",
    "neutral",
    "reliability",
    "top_terms",
    "toy_samples",
]
