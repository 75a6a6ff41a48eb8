"""Naive Bayes for text and tables: exact, explainable and fast.

Names are imported when they are first used: `import bayleaf` takes a few milliseconds, and neither
scikit-learn nor SciPy is loaded until an estimator is asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` alone takes longer to import than to answer a message
if TYPE_CHECKING:
    from typing import Any

    from bayleaf import export, plots
    from bayleaf._core import __version__
    from bayleaf.explanation import Explanation
    from bayleaf.matrix import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        KernelNB,
        MultinomialNB,
    )
    from bayleaf.matrix.text_counter import TextCounter
    from bayleaf.model import Model
    from bayleaf.model_views import preset
    from bayleaf.multilabel import MultiLabel
    from bayleaf.naive_bayes import NaiveBayes, load
    from bayleaf.storage import ModelFileError
    from bayleaf.streams import Window
    from bayleaf.studies import Study, study
    from bayleaf.table.dates import date_part
    from bayleaf.table.pairs import pairs
    from bayleaf.table.views import bins, category, counts, flag, kernel, normal
    from bayleaf.text.mail import mail_columns
    from bayleaf.text.normalization import Normalization, top
    from bayleaf.text.views import bytes_, chars, words

_HOME = {
    "BernoulliNB": "matrix",
    "CategoricalNB": "matrix",
    "ComplementNB": "matrix",
    "Explanation": "explanation",
    "GaussianNB": "matrix",
    "KernelNB": "matrix",
    "Model": "model",
    "ModelFileError": "storage",
    "MultiLabel": "multilabel",
    "MultinomialNB": "matrix",
    "NaiveBayes": "naive_bayes",
    "Normalization": "text.normalization",
    "Study": "studies",
    "TextCounter": "matrix.text_counter",
    "Window": "streams",
    "__version__": "_core",
    "bins": "table.views",
    "bytes_": "text.views",
    "category": "table.views",
    "chars": "text.views",
    "counts": "table.views",
    "date_part": "table.dates",
    "export": "export",
    "flag": "table.views",
    "kernel": "table.views",
    "load": "naive_bayes",
    "mail_columns": "text.mail",
    "normal": "table.views",
    "pairs": "table.pairs",
    "plots": "plots",
    "preset": "model_views",
    "study": "studies",
    "top": "text.normalization",
    "words": "text.views",
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
    "MultiLabel",
    "MultinomialNB",
    "NaiveBayes",
    "Normalization",
    "Study",
    "TextCounter",
    "Window",
    "__version__",
    "bins",
    "bytes_",
    "category",
    "chars",
    "counts",
    "date_part",
    "export",
    "flag",
    "kernel",
    "load",
    "mail_columns",
    "normal",
    "pairs",
    "plots",
    "preset",
    "study",
    "top",
    "words",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bayleaf' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"bayleaf.{_HOME[name]}")
    value = module if _HOME[name] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
