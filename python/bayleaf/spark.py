"""bayleaf on Spark: learn, score and filter DataFrames and files; classic and Spark Connect.

Needs `pip install "bayleaf[spark]"`. See docs/scale.md.
"""

from bayleaf.engines.spark import filter, learn, learn_files, score, tune
from bayleaf.engines.spark_ml import NaiveBayesEstimator, NaiveBayesModel

__all__ = ["NaiveBayesEstimator", "NaiveBayesModel", "filter", "learn", "learn_files", "score", "tune"]
