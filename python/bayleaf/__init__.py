"""Naive Bayes for text and tables: exact, explainable and fast.

Names are imported when they are first used: `import bayleaf` takes a few milliseconds, and neither
scikit-learn nor SciPy is loaded until an estimator is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayleaf import plots
    from bayleaf._core import __version__
    from bayleaf.analysis import Normalization, top
    from bayleaf.classifier import NaiveBayes, load
    from bayleaf.counter import TextCounter
    from bayleaf.estimators import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        KernelNB,
        MultinomialNB,
    )
    from bayleaf.explain import Explanation
    from bayleaf.model import Model
    from bayleaf.presets import preset
    from bayleaf.storage import ModelFileError
    from bayleaf.studying import Study, study
    from bayleaf.table_views import bins, category, counts, flag, kernel, normal
    from bayleaf.views import bytes_, chars, words

_HOME = {
    "BernoulliNB": "estimators",
    "CategoricalNB": "estimators",
    "ComplementNB": "estimators",
    "Explanation": "explain",
    "GaussianNB": "estimators",
    "KernelNB": "estimators",
    "Model": "model",
    "ModelFileError": "storage",
    "MultinomialNB": "estimators",
    "NaiveBayes": "classifier",
    "Normalization": "analysis",
    "Study": "studying",
    "TextCounter": "counter",
    "__version__": "_core",
    "bins": "table_views",
    "bytes_": "views",
    "category": "table_views",
    "chars": "views",
    "counts": "table_views",
    "flag": "table_views",
    "kernel": "table_views",
    "load": "classifier",
    "normal": "table_views",
    "plots": "plots",
    "preset": "presets",
    "study": "studying",
    "top": "analysis",
    "words": "views",
}

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "Explanation",
    "GaussianNB",
    "KernelNB",
    "Model",
    "ModelFileError",
    "MultinomialNB",
    "NaiveBayes",
    "Normalization",
    "Study",
    "TextCounter",
    "__version__",
    "bins",
    "bytes_",
    "category",
    "chars",
    "counts",
    "flag",
    "kernel",
    "load",
    "normal",
    "plots",
    "preset",
    "study",
    "top",
    "words",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bayleaf' has no attribute {name!r}")
    module = import_module(f"bayleaf.{_HOME[name]}")
    value = module if _HOME[name] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
