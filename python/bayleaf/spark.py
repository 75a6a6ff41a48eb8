"""bayleaf on Spark: learn, score and filter DataFrames and files; classic and Spark Connect.

Needs `pip install "bayleaf[spark]"`. See docs/scale.md.
"""

try:
    from bayleaf.engines.spark import filter, learn, learn_files, score, tune
    from bayleaf.engines.spark_ml import NaiveBayesEstimator, NaiveBayesModel
except ImportError as error:
    raise ImportError(
        f'bayleaf.spark needs PySpark 3.5 or later and pyarrow ({error}): pip install "bayleaf[spark]"'
    ) from error

__all__ = ["NaiveBayesEstimator", "NaiveBayesModel", "filter", "learn", "learn_files", "score", "tune"]
