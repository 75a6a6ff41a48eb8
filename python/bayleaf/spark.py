"""bayleaf on Spark: learn, score and filter DataFrames and files; classic and Spark Connect.

Needs `pip install "bayleaf[spark]"`. See docs/scale.md.
"""

from bayleaf.engines.spark import filter, learn, learn_files, score

__all__ = ["filter", "learn", "learn_files", "score"]
