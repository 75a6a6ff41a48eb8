"""bayleaf on Dask: learn, score and filter DataFrames and files.

Needs `pip install "bayleaf[dask]"`. See docs/scale.md.
"""

from bayleaf.engines.dask import filter, learn, learn_files, score, tune

__all__ = ["filter", "learn", "learn_files", "score", "tune"]
